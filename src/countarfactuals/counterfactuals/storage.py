"""Results as JSON and back, to the last bit.

1. Finite floats are written by their shortest exact text. JSON has no others: in arrays NaN is null and ±∞ the strings
   "Infinity" and "-Infinity"; elsewhere they are tagged, `{"$float": "nan"}`, as null means None there.
2. Tuples and times, which labels of rows may be, are tagged alike: `{"$tuple": […]}`, `{"$time": "…"}`. A dict that
   looks like a tag is wrapped: `{"$dict": {…}}`.
3. "format" and "version" are checked first, so that foreign and newer files are told from damaged ones. A text of
   version 2 has a digest of all the rest, so that a flipped bit is found; version 1 had none, and kept its target and
   notes as sentences and its scores by their names.

What stands where is told by the documentation, and by a JSON Schema that is kept with it.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals.diagnosis import Diagnosis
from countarfactuals.counterfactuals.remarks import TEXT, Note, Oddity
from countarfactuals.exceptions import CountarfactualsError, DataTypeError, StorageError
from countarfactuals.files import write_whole
from countarfactuals.prediction import Score, Target
from countarfactuals.prediction.scores import MARGIN, PREDICTION, PROBABILITY
from countarfactuals.schema import Schema

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.batch import CounterfactualsBatch
    from countarfactuals.counterfactuals.result import Counterfactuals

RESULT, BATCH = "countarfactuals.Counterfactuals", "countarfactuals.CounterfactualsBatch"
_VERSION = 2
_TEXTS = {"Infinity": math.inf, "-Infinity": -math.inf}
_FLOAT_ARRAYS = ("x", "rows", "x_scores", "scores", "log_density", "typicality", "x_log_density", "x_typicality")
_LABELS = ("x_label", "labels", "provenance")
_RENAMED = {  # since version 1
    "proximity": "distance",
    "sparsity": "n_changed",
    "plausibility": "implausibility",
    "min_plausibility": "min_typicality",
}
_JSON_CELLS = (bool, int, float, str, type(None))  # subclasses, such as `np.str_`, would come back as these
_PLAIN = ("method", "status", "measure", "error")


class Stored(ABC):
    """What has a form in JSON, by which two are equal: a result, or a batch."""

    __hash__ = None  # type: ignore[assignment]

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types, with the name and version of the format."""

    @classmethod
    @abstractmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, type(self)) else NotImplemented

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """As JSON text, also written to a file if a path is given."""
        return write_json(self.to_dict(), path)

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Self:
        """The inverse of `to_json`: from its text, or from the path of its file."""
        return cls.from_dict(read_json(source))


def result_to_dict(result: Counterfactuals, schema: Any = None) -> dict[str, Any]:
    """One result as JSON types; `schema` stands in for its schema where that is stored elsewhere."""
    diagnosis = result.diagnosis
    return {
        "format": RESULT,
        "version": _VERSION,
        "schema": result.schema.to_dict() if schema is None else schema,
        "target": None if result.target is None else _tagged(result.target.to_dict()),
        "constraints": result.constraints.to_dict(),
        "score_columns": [{"kind": score.kind, "label": _tagged(score.label)} for score in result.score_columns],
        "notes": [
            {"code": note.code, "columns": _tagged(list(note.columns)), "values": _tagged(note.values)}
            for note in result.notes
        ],
        **{name: _listed(getattr(result, name)) for name in _PLAIN},
        **{name: _floats(getattr(result, name)) for name in _FLOAT_ARRAYS},
        **{name: _tagged(getattr(result, name)) for name in _LABELS},
        "objectives": {name: _floats(values) for name, values in result.objectives.items()},
        "is_real_row": result.is_real_row.tolist(),
        "n_found": result.n_found,
        "typicality_range": _floats(result.typicality_range),
        "objectors": list(result.objectors),
        "oddities": [[list(cell) for cell in cells] for cells in result.oddities],
        **_stored_cells(result),
        "consequences": [np.flatnonzero(row).tolist() for row in result.consequence],
        "diagnosis": None if diagnosis is None else _diagnosis_to_dict(diagnosis),
    }


def result_from_dict(stored: Mapping[str, Any], schema: Schema | None = None) -> Counterfactuals:
    """The inverse of `result_to_dict`."""
    from countarfactuals.counterfactuals.result import Counterfactuals

    _check_format(stored, RESULT)
    with _Reading("counterfactuals"):
        stored = stored if stored["version"] > 1 else _of_version_1(stored)
        read: dict[str, Any] = {name: stored[name] for name in _PLAIN}
        read |= {name: _array(stored[name]) for name in _FLOAT_ARRAYS}
        read |= {name: _untagged(stored[name]) for name in _LABELS}
        p, s = len(read["x"]), len(read["x_scores"])
        schema = Schema.from_dict(stored["schema"]) if schema is None else schema
        return Counterfactuals(
            **{
                **read,
                "target": None if stored["target"] is None else Target.from_dict(_untagged(stored["target"])),
                "constraints": Constraints.from_dict(stored["constraints"]),
                "score_columns": tuple(
                    Score(score["kind"], _untagged(score["label"]), k)
                    for k, score in enumerate(stored["score_columns"])
                ),
                "notes": tuple(
                    Note(note["code"], tuple(_untagged(note["columns"])), _untagged(note["values"]))
                    for note in stored["notes"]
                ),
                "schema": schema,
                "rows": read["rows"].reshape(-1, p) if read["rows"].size == 0 else read["rows"],
                "scores": read["scores"].reshape(len(stored["rows"]), s) if not read["scores"].size else read["scores"],
                "labels": tuple(read["labels"]),
                "objectives": {name: _array(values) for name, values in stored["objectives"].items()},
                "is_real_row": stored["is_real_row"],
                **_said_since(stored, schema),
                "diagnosis": None if stored["diagnosis"] is None else _diagnosis_from_dict(stored["diagnosis"]),
            }
        )


def _of_version_1(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The same in the terms of version 2, which the labels and the record of how it was made tell."""
    target = stored["provenance"].get("target")
    labels = [stored["x_label"], *stored["labels"], *([target.get("outcome")] if target else [])]

    def column(name: str) -> dict[str, Any]:
        if name == PREDICTION:
            return {"kind": PREDICTION, "label": None}
        text = name[name.index("(") + 1 : -1]
        known = [label for label in labels if str(_untagged(label)) == text]
        return {"kind": PROBABILITY if name.startswith("P(") else MARGIN, "label": [*known, text][0]}

    p, objectives, diagnosis = len(stored["x"]), dict(stored["objectives"]), stored["diagnosis"]
    if "sparsity" in objectives:
        objectives["sparsity"] = [round(share * p) for share in objectives["sparsity"]]
    settings = stored["provenance"].get("settings")
    return {
        **stored,
        "objectives": _renamed(objectives),
        "diagnosis": diagnosis
        and {**diagnosis, **{key: _renamed(diagnosis[key]) for key in ("n_violating", "lifting")}},
        "provenance": {**stored["provenance"], **({} if settings is None else {"settings": _renamed(settings)})},
        "target": target,
        "constraints": stored["provenance"].get("constraints", {}),
        "score_columns": [column(name) for name in stored["score_names"]],
        "notes": [{"code": TEXT, "columns": [], "values": {"text": note}} for note in stored["notes"]],
    }


def _renamed(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {_RENAMED.get(name, name): value for name, value in stored.items()}


def _said_since(stored: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """What files of earlier versions do not say."""
    known: dict[str, Any] = {"n_found": stored.get("n_found"), "objectors": tuple(stored.get("objectors", ()))}
    if "typicality_range" in stored:
        known["typicality_range"] = _array(stored["typicality_range"])
    if "consequences" in stored:
        known["consequence"] = _cells(stored["consequences"], len(stored["x"]))
    known["x_cells"] = _cells_as_came(stored.get("x_cells", ()), schema, _array(stored["x"]))
    known["oddities"] = tuple(tuple(map(Oddity.from_list, cells)) for cells in stored.get("oddities", ()))
    return known


def _stored_cells(result: Counterfactuals) -> dict[str, Any]:
    """Cells of x as they came, of those that JSON can say."""
    cells = {j: cell for j, cell in result.x_cells.items() if type(cell) in _JSON_CELLS}
    return {"x_cells": [[j, _tagged(cell)] for j, cell in cells.items()]} if cells else {}


def _cells_as_came(stored: Sequence[Any], schema: Schema, x: np.ndarray) -> dict[int, Any]:
    """The inverse of `_stored_cells`; ValueError for a cell that is another than x has."""
    cells = {j: _untagged(cell) for j, cell in stored}
    for j, cell in cells.items():
        if isinstance(j, bool) or not isinstance(j, int) or not 0 <= j < len(x):
            raise ValueError(f"`x_cells` names column {j!r} of {len(x)} features.")
        code = schema.encode_value(j, cell)
        if code != x[j] and not (math.isnan(code) and math.isnan(x[j])):
            raise ValueError(f"`x_cells` has {cell!r} in column {j}, where x has {schema.decode_value(j, x[j])!r}.")
    return cells


def _cells(stored: Sequence[Sequence[int]], p: int) -> np.ndarray:
    """A table of cells of p columns, of which those at the stored positions are chosen."""
    if any(not isinstance(j, int) or not 0 <= j < p for row in stored for j in row):
        raise ValueError(f"`consequences` name columns beyond the {p} features.")
    return np.array([np.isin(np.arange(p), row) for row in stored], np.bool_).reshape(len(stored), p)


def batch_to_dict(batch: CounterfactualsBatch) -> dict[str, Any]:
    """A batch as JSON types; the schema, the same for all, is stored once."""
    return {
        "format": BATCH,
        "version": _VERSION,
        "schema": batch.results[0].schema.to_dict() if batch.results else None,
        "index": _tagged(batch.index),
        "unfinished": _tagged(batch.unfinished),
        "results": [result_to_dict(result, schema="of the batch") for result in batch.results],
    }


def batch_from_dict(stored: Mapping[str, Any]) -> CounterfactualsBatch:
    """The inverse of `batch_to_dict`."""
    from countarfactuals.counterfactuals.batch import CounterfactualsBatch

    _check_format(stored, BATCH)
    with _Reading("batch"):
        schema = Schema.from_dict(stored["schema"]) if stored["schema"] is not None else None
        return CounterfactualsBatch(
            results=tuple(result_from_dict(result, schema) for result in stored["results"]),
            index=_untagged(stored["index"]),
            unfinished=_untagged(stored["unfinished"]),
        )


def _check_format(stored: Any, wanted: str) -> None:
    """Refuse what is not ours, not this kind, or newer than this library."""
    found = stored.get("format") if isinstance(stored, Mapping) else None
    found = found if isinstance(found, str) else None  # anything may stand there, also what can not be compared
    if found in (RESULT, BATCH) and found != wanted:
        raise StorageError(f"This holds {found!r}. Read it with `{found.rpartition('.')[2]}.from_json`.")
    if found != wanted:
        raise StorageError(f"This is no {wanted!r} (its format is {found!r}). Pass what `to_json` wrote.")
    version = stored.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise StorageError(f"The version of {wanted!r} is {version!r}, expected a whole number. It is damaged.")
    if version > _VERSION:
        raise StorageError(
            f"This {wanted!r} has version {version}; this countarfactuals reads up to {_VERSION}. Update the package."
        )


class _Reading:
    """Turns what damaged contents raise into a `StorageError`."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, StorageError):
            return
        if isinstance(error, KeyError):
            raise StorageError(
                f"The stored {self.what} lack the key {error}. They are damaged: write them anew."
            ) from error
        if isinstance(
            error, CountarfactualsError | ValueError | TypeError | AttributeError | IndexError | OverflowError
        ):
            raise StorageError(f"The stored {self.what} are damaged: {error} Write them anew.") from error


def write_json(stored: Mapping[str, Any], path: str | os.PathLike[str] | None) -> str:
    """Strict JSON text, written to a file too if a path is given; a crash leaves no half-written file."""
    try:
        text = json.dumps({**stored, "digest": _digest(stored)}, allow_nan=False, default=_numpy_scalar)
    except (TypeError, ValueError) as error:
        raise StorageError(f"The result can not be written as JSON: {error}. Use names of str or int.") from error
    if path is not None:
        write_whole(path, text)
    return text


def read_json(source: str | os.PathLike[str]) -> Any:
    """What a JSON text, or the file at a path, holds."""
    if not isinstance(source, str | os.PathLike):
        raise StorageError(f"Pass JSON text or a path, got {type(source).__name__}.")
    text = source if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("{") else _file_text(source)
    try:
        stored = json.loads(text.lstrip("\ufeff"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"This is not JSON, or cut off: {error}. Pass what `to_json` wrote.") from error
    is_ours = isinstance(stored, dict) and stored.get("format") in (RESULT, BATCH) and stored.get("version") == _VERSION
    if is_ours and stored.pop("digest", None) != _digest(stored):
        raise StorageError("The digest does not fit what is stored: it is damaged or was edited. Write it anew.")
    return stored


def _digest(stored: Mapping[str, Any]) -> str:
    text = json.dumps(stored, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_numpy_scalar)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _file_text(source: str | os.PathLike[str]) -> str:
    shown = os.fspath(source)
    shown = repr(shown if len(shown) <= 80 else f"{shown[:80]}…")
    try:
        return Path(source).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise StorageError(f"{shown} is neither JSON text (which begins with '{{') nor a file that exists.") from None
    except (OSError, ValueError) as error:
        raise StorageError(f"Can not read {shown}: {error}. Pass JSON text or the path of its file.") from error


def _refuse(token: str) -> None:
    raise ValueError(f"it holds {token}, which JSON does not have")


def plain_label(value: Any) -> Any:
    """A label without numpy around it."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


def plain_number(value: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return float(value) if math.isfinite(value) else None


def plain_json(value: Any, where: str) -> Any:
    """JSON types only: numpy unpacked, tuples as lists."""
    value = value.tolist() if isinstance(value, np.ndarray) else plain_label(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain_json(part, f"{where}[{key!r}]") for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(part, f"{where}[{i}]") for i, part in enumerate(value)]
    raise DataTypeError(f"`{where}` holds {value!r} of type {type(value).__name__}; JSON types are allowed.")


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _floats(values: Any) -> Any:
    """Floats, nested as the array is, without the ones that JSON lacks."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, list):
        return [_floats(value) for value in values]
    if math.isfinite(values):
        return values
    return None if math.isnan(values) else ("Infinity" if values > 0 else "-Infinity")


def _array(stored: Any) -> Any:
    if isinstance(stored, list):
        return np.array([_array(part) for part in stored], dtype=np.float64)
    if stored is None:
        return math.nan
    if isinstance(stored, str):
        if stored not in _TEXTS:
            raise ValueError(f"{stored!r} stands where a number should.")
        return _TEXTS[stored]
    if isinstance(stored, bool) or not isinstance(stored, int | float):
        raise ValueError(f"{stored!r} stands where a number should.")
    return float(stored)


def _tagged(value: Any) -> Any:
    value = plain_label(value)
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime.datetime | np.datetime64):
        return {"$time": pd.Timestamp(value).isoformat()}
    if isinstance(value, tuple):
        return {"$tuple": [_tagged(part) for part in value]}
    if isinstance(value, list):
        return [_tagged(part) for part in value]
    if isinstance(value, Mapping):
        tagged = {key: _tagged(part) for key, part in value.items()}
        return {"$dict": tagged} if len(tagged) == 1 and next(iter(tagged)).startswith("$") else tagged
    raise StorageError(
        f"{value!r} of type {type(value).__name__} can not be written as JSON. Use labels of type str, int or float."
    )


def _untagged(stored: Any) -> Any:
    if isinstance(stored, list):
        return [_untagged(part) for part in stored]
    if not isinstance(stored, dict):
        return stored
    if len(stored) == 1:
        (tag, inner), *_ = stored.items()
        if tag == "$float":
            return float(inner)
        if tag == "$time":
            return pd.Timestamp(inner)
        if tag == "$tuple":
            return tuple(_untagged(part) for part in inner)
        if tag == "$dict":
            return {key: _untagged(part) for key, part in inner.items()}
    return {key: _untagged(part) for key, part in stored.items()}


def _numpy_scalar(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is of type {type(value).__name__}")


def _diagnosis_to_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    stored = {field.name: getattr(diagnosis, field.name) for field in fields(diagnosis)}
    for name in ("nearest_miss", "nearest_miss_scores"):
        stored[name] = None if stored[name] is None else _floats(stored[name])
    distance = stored["nearest_miss_distance"]
    stored["nearest_miss_distance"] = None if distance is None else _tagged(float(distance))
    return stored


def _diagnosis_from_dict(stored: Mapping[str, Any]) -> Diagnosis:
    stored = {"is_spent": True, "n_real": 0, **stored}  # files of earlier versions do not say it
    known = {field.name: stored[field.name] for field in fields(Diagnosis)}
    for name in ("nearest_miss", "nearest_miss_scores"):
        known[name] = None if known[name] is None else _array(known[name])
    return Diagnosis(**{**known, "nearest_miss_distance": _untagged(known["nearest_miss_distance"])})
