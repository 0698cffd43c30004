"""What `fit` leaves on disk: one folder with the explainer, the model, and what is known of both.

    explainer.npz   the fitted explainer, without the model
    model.skops     the model, or a copy of the user's file with its own suffix
    meta.json       versions, outcome, columns, kinds, classes, how it was made, checksum of the model's file

1. The folder is written beside its place and moved there when complete, so a crash leaves none that is half written.
2. An existing folder is replaced only on demand, and only if it is empty or such a folder itself. It is set aside for
   the moment of the move; where `fit` was killed in that moment, whoever looks for the folder next puts it back. What
   killed ones left besides is removed by a later `fit`, after a day.
3. Reading compares the checksum: a model's file that was changed since would explain something else. Of the meta file
   only what is used is looked at, and refused where it is of another type than was written.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import textwrap
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from countarfactuals._optional import versions_of
from countarfactuals.cli import model_files
from countarfactuals.cli.arguments import AUTO, MISSING, OBSERVED, Dialect
from countarfactuals.cli.formats import ROWS
from countarfactuals.exceptions import CountarfactualsError, StorageError
from countarfactuals.explainers import Explainer
from countarfactuals.files import checksum, flush, is_unfinished, unfinished_beside
from countarfactuals.language.vocabulary import Unit

_FORMAT, _VERSION = "countarfactuals.folder", 1
_EXPLAINER, _META = "explainer.npz", "meta.json"
_REPLACED = ".replaced"
_ATTEMPTS = 5
_OLD = 24 * 60 * 60.0  # seconds after which nobody writes any more
_SIGNS = ("delimiter", "decimal")
_PACKAGES = ("countarfactuals", "numpy", "pandas", "scikit-learn", "skops", "xgboost", "lightgbm", "catboost")


class Opened(NamedTuple):
    """A folder that was read: the explainer, and what its meta file says."""

    explainer: Explainer
    meta: dict[str, Any]

    @property
    def dialect(self) -> Dialect:
        """How the training data was written."""
        stored = self.meta.get("dialect") or {}
        names = {field.name for field in fields(Dialect)} & set(stored)
        missing = tuple(stored.get("missing", MISSING))
        return Dialect(**{**{name: stored[name] for name in names}, "missing": missing})

    @property
    def units(self) -> dict[str, Unit]:
        """Units by column, as told to `fit`."""
        found = {name: restored(unit) for name, unit in (self.meta.get("units") or {}).items()}
        return {name: unit for name, unit in found.items() if unit is not None}

    @property
    def rows(self) -> Unit:
        """What rows are called."""
        return restored(self.meta.get("rows")) or ROWS

    @property
    def known_columns(self) -> set[str]:
        """Columns of the training data that are no features."""
        return {*self.meta.get("dropped", ()), *([self.meta["outcome"]] if self.meta.get("outcome") else [])}


def restored(unit: Any) -> Unit | None:
    """A unit from JSON, where a pair of words is a list; None if it is none."""
    if isinstance(unit, str) and unit.strip():
        return unit
    if isinstance(unit, list) and len(unit) == 2 and all(isinstance(word, str) and word.strip() for word in unit):
        return unit[0], unit[1]
    return None


def check_place(path: str, *, force: bool) -> Path:
    """Refuse a place where nothing should be written, before anything is fitted."""
    place = Path(path)
    if not place.absolute().parent.is_dir():
        raise StorageError(
            f"There is no folder {str(place.absolute().parent)!r} to write {path!r} to. Create it first."
        )
    _put_back(place)
    if place.is_file():
        raise StorageError(f"{path!r} is a file; the explainer is written to a folder. Choose another name.")
    if not place.is_dir():
        return place
    if not force:
        raise StorageError(f"The folder {path!r} exists. Choose another name, or pass --force to replace it.")
    if any(place.iterdir()) and not _is_ours(place):
        raise StorageError(f"The folder {path!r} holds something else than an explainer, so --force leaves it alone.")
    return place


def write(place: Path, explainer: Explainer, model: Any, model_file: str | None, facts: Mapping[str, Any]) -> None:
    """Write the folder.

    Parameters
    ----------
    place : from `check_place`.
    explainer : fitted.
    model, model_file : the model that was trained here, or the user's file that is copied.
    facts : what the meta file says besides versions, columns and checksum.
    """
    place = place.absolute()
    unfinished = unfinished_beside(place)
    try:
        unfinished.mkdir()
        stored = unfinished / ("model.skops" if model_file is None else f"model{Path(model_file).suffix.lower()}")
        if model is None:
            stored.touch()  # the observed outcome is explained: there is no model to keep
        elif model_file is None:
            model_files.store(model, stored)
        else:
            shutil.copyfile(model_file, stored)
        explainer.save(unfinished / _EXPLAINER)
        meta = _meta(explainer, stored, facts)
        (unfinished / _META).write_text(json.dumps(meta, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        for path in (stored, unfinished / _META, unfinished):
            flush(path)
        _put(unfinished, place)
    except OSError as error:
        raise StorageError(f"The folder {str(place)!r} can not be written: {error}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    _sweep(place)


def _put(unfinished: Path, place: Path) -> None:
    """Move a finished folder to its place; the one that is there is set aside and then removed."""
    replaced = unfinished.with_suffix(_REPLACED)
    for attempt in range(_ATTEMPTS):
        if place.is_dir():
            place.rename(replaced)
        try:
            unfinished.rename(place)
            break
        except OSError:  # in between someone has put the old one back, or written another
            if attempt + 1 == _ATTEMPTS or not place.is_dir():
                if not place.is_dir() and replaced.is_dir():
                    replaced.rename(place)
                raise
            shutil.rmtree(replaced, ignore_errors=True)
    flush(place.parent)
    shutil.rmtree(replaced, ignore_errors=True)


def _put_back(place: Path) -> None:
    """Put back the folder that a killed `fit` has set aside, the newest where there are several."""
    if os.path.lexists(place):
        return
    aside = [path for path in _left(place) if path.suffix == _REPLACED and _is_ours(path)]
    for path in sorted(aside, key=lambda path: path.stat().st_mtime, reverse=True)[:1]:
        with suppress(OSError):  # whoever set it aside lives and was faster
            path.rename(place)


def _sweep(place: Path) -> None:
    """Remove what killed ones left beside a place, but nothing that may be in the making."""
    for path in _left(place):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _OLD:
                shutil.rmtree(path, ignore_errors=True)


def _left(place: Path) -> list[Path]:
    """Folders beside a place that a `fit` of it has begun or set aside."""
    parent = place.absolute().parent
    there = list(parent.iterdir()) if parent.is_dir() else []
    return [path for path in there if is_unfinished(path.with_suffix(".unfinished").name, re.escape(place.name[:50]))]


def _meta(explainer: Explainer, model: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    predictor = explainer.background_.predictor
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "model_file": model.name,
        "model_sha256": checksum(model),
        "method": explainer.method,
        "seed": explainer.seed_,
        "task": predictor.task,
        "classes": list(predictor.classes),
        "columns": [{"name": column.name, "kind": str(column.kind)} for column in explainer.schema_.columns],
        "n_rows": len(explainer.background_.matrix),
        "date": datetime.now(UTC).date().isoformat(),
        **facts,
        "versions": {"python": platform.python_version(), **versions_of(_PACKAGES)},
    }


def read(path: str, *, trusted: bool) -> Opened:
    """The explainer of a folder, with its model; `trusted` as in `model_files.load`."""
    place = Path(path)
    meta = read_meta(place)
    model_file = place / str(meta.get("model_file"))
    if model_file.parent != place or not model_file.is_file():
        raise StorageError(f"The folder {path!r} lacks its model {model_file.name!r}. Fit the explainer again.")
    if checksum(model_file) != meta.get("model_sha256"):
        raise StorageError(
            f"The model {str(model_file)!r} was changed since the explainer was fitted. Fit the explainer again."
        )
    try:
        made = meta.get("made")
        loaded = None if made == OBSERVED else model_files.load(model_file, trusted=trusted, is_ours=made == AUTO)
        return Opened(Explainer.load(place / _EXPLAINER, loaded), meta)
    except CountarfactualsError as error:
        written = meta.get("versions", {})
        differing = {name: now for name, now in versions_of(_PACKAGES).items() if written.get(name, now) != now}
        if not differing:
            raise
        changes = ", ".join(f"{name} {written[name]} (now {now})" for name, now in differing.items())
        raise type(error)("{error} It was written with {changes}.", error=error, changes=changes) from error


def read_meta(place: Path) -> dict[str, Any]:
    """What the meta file of a folder says, checked."""
    _put_back(place)
    if not place.is_dir():
        raise StorageError(f"There is no folder {str(place)!r}. Give what was passed to `countarfactuals fit --out`.")
    try:
        meta = json.loads((place / _META).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StorageError(
            f"The folder {str(place)!r} holds no {_META}, so it is no explainer of `countarfactuals fit`."
        ) from None
    except ValueError as error:
        raise StorageError(f"{str(place / _META)!r} is damaged ({error}). Fit the explainer again.") from error
    if not isinstance(meta, dict) or meta.get("format") != _FORMAT:
        raise StorageError(f"{str(place / _META)!r} is not of `countarfactuals fit`. Give the folder that it wrote.")
    if meta.get("version") != _VERSION:
        raise StorageError(
            f"{str(place)!r} has version {meta.get('version')!r} of the folder's format, this package reads version "
            f"{_VERSION}. Fit the explainer again."
        )
    if damaged := [name for name, is_right in _CHECKS.items() if name in meta and not is_right(meta[name])]:
        raise StorageError(
            f"{str(place / _META)!r} is damaged: {damaged[0]!r} is {textwrap.shorten(repr(meta[damaged[0]]), 60)}. Fit "
            "the explainer again."
        )
    return meta


def _is_dialect(stored: Any) -> bool:
    if not isinstance(stored, dict):
        return stored is None
    one_sign = all(isinstance(stored.get(name, ","), str) and len(stored.get(name, ",")) == 1 for name in _SIGNS)
    return one_sign and isinstance(stored.get("encoding", ""), str) and _are_texts(stored.get("missing", []))


def _are_texts(stored: Any) -> bool:
    return isinstance(stored, list) and all(isinstance(text, str) for text in stored)


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "dialect": _is_dialect,
    "dropped": _are_texts,
    "outcome": lambda stored: stored is None or isinstance(stored, str),
    "versions": lambda stored: isinstance(stored, dict) and _are_texts(list(stored.values())),
    "units": lambda stored: isinstance(stored, dict) and None not in map(restored, stored.values()),
    "rows": lambda stored: restored(stored) is not None,
}


def _is_ours(place: Path) -> bool:
    try:
        return bool(read_meta(place))
    except StorageError:
        return False
