"""A fitted explainer in a file, without pickle; the model and other callables are handed in again.

What a method learns besides the background it hands over as arrays by `_extra_arrays`, and takes back by `_restore`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.arf.archive import faults_named, pack, read_archive, unpack, write_archive
from countarfactuals.exceptions import ModelError, ParameterError, StorageError, listed
from countarfactuals.explainers.background import Background
from countarfactuals.explainers.observed import observed_predictor
from countarfactuals.objectives import Gower
from countarfactuals.plausibility import ForestJudge, Plausibility
from countarfactuals.plausibility import saved_judges as judges
from countarfactuals.plausibility.forest_judge import MEASURES
from countarfactuals.prediction import make_predictor
from countarfactuals.prediction.predictor import TASKS
from countarfactuals.relations import Relations
from countarfactuals.schema import Schema, check_rows
from countarfactuals.schema.sketches import SampledRows
from countarfactuals.stored_arrays import taken

if TYPE_CHECKING:
    from countarfactuals.explainers.base import Explainer

_FORMAT, _VERSION, _OLDER = "countarfactuals.Explainer", 3, (1, 2)
_HANDED_IN = ("model", "density", "distance", "extra_objectives")
_JUDGES = "judges."
_OWN = "method."  # before the names of a method's own arrays
_KEPT = "kept_rows"
_COMPARED = 20  # rows whose scores tell whether the model is the one that was fitted with


def save(explainer: Explainer, path: str | os.PathLike[str]) -> None:
    """Write a fitted explainer."""
    write_archive(path, *contents(explainer))


def contents(explainer: Explainer) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What is stored of a fitted explainer: JSON types, and arrays."""
    background = explainer.background_
    forest = background.plausibility.forest
    parameters = {
        name: value.tolist() if isinstance(value, np.generic | np.ndarray) else value
        for name, value in explainer._plain_parameters().items()
        if name not in _HANDED_IN
    }
    parameters["random_state"] = explainer.seed_
    parameters["classes"] = None if explainer.classes is None else list(explainer.classes)
    packed, arrays = pack(forest.forest_, forest.leaves_)
    panel, judged = judges.pack(background.plausibility)
    meta = {
        "format": _FORMAT,
        "version": _VERSION,
        "written_by": f"countarfactuals {version('countarfactuals')}",
        "method": explainer.method,
        "parameters": parameters,
        "needs": [name for name in ("distance", "extra_objectives") if getattr(explainer, name) is not None],
        "schema": background.schema.to_dict(),
        **_forest_meta(forest),
        "measure": background.plausibility.measure,
        "relations": background.relations.to_list() if "relations" in vars(background) else None,
        "rows_of_data": background.n_rows,
        "judges": panel,
        "task": background.predictor.task,
        "classes": list(background.predictor.classes) if explainer.outcome == "observed" else None,
        **packed,
    }
    arrays |= {"matrix": background.matrix, "scores": background.scores, "gower.scale": background.gower.scale}
    arrays |= {} if background.sampled is None else {_KEPT: background.sampled.places}
    arrays |= {f"{_JUDGES}{name}": array for name, array in judged.items()}
    arrays |= {f"{_OWN}{name}": array for name, array in explainer._extra_arrays().items()}
    return meta, arrays


def check_whole(path: str | os.PathLike[str]) -> None:
    """Refuse a file that was damaged since it was written."""
    read_archive(path, _FORMAT, _VERSION, _OLDER)


def load(cls: Any, path: str | os.PathLike[str], model: Any, callables: Mapping[str, Any]) -> Any:
    """Read an explainer of class `cls`; of any method if that is the base class."""
    meta, arrays = read_archive(path, _FORMAT, _VERSION, _OLDER)
    if unknown := sorted(set(callables) - {"distance", "extra_objectives"}):
        raise ParameterError(f"load takes distance and extra_objectives besides the model, got {listed(unknown)}.")
    with faults_named(path):
        cls = _class_of(cls, meta["method"], os.fspath(path))
        absent = [name for name in _needs(meta) if name not in callables]
    if absent:
        raise ParameterError(
            f"The explainer was made with {listed(absent)}; functions are not stored, pass them again."
        )
    with faults_named(path):
        explainer = _unfitted(cls, meta["parameters"], model, callables)
        learned = _learned(meta, arrays)
    try:
        predictor = _predictor(explainer, learned)
    except ParameterError as error:  # the classes or the task that are stored can not be
        raise StorageError(f"{os.fspath(path)!r} garbles a part: {error} Save it again.") from error
    if not _agree(predictor.scores(learned.matrix[:_COMPARED]), learned.scores[:_COMPARED]):
        raise ModelError(
            f"The model gives other scores than the one the explainer in {os.fspath(path)!r} was fitted with. Hand in "
            "that model, or fit the explainer anew."
        )
    gower = Gower(learned.scale, np.full(len(learned.scale), 1.0 / len(learned.scale)))
    known = learned.schema, learned.matrix, learned.scores, predictor, gower, learned.plausibility
    background = Background(*known, learned.found, learned.sampled)
    with faults_named(path):
        explainer._set_fitted(background, _seed(meta["parameters"]["random_state"]))
        explainer._restore({name.removeprefix(_OWN): arrays[name] for name in arrays if name.startswith(_OWN)})
    return explainer


def _needs(meta: Mapping[str, Any]) -> list[str]:
    """The functions that have to be handed in again."""
    needs = list(meta.get("needs", ()))
    if not set(needs) <= {"distance", "extra_objectives"}:
        raise ValueError(f"it needs {needs!r}")
    return needs


class _Learned(NamedTuple):
    """What a file says of the data."""

    schema: Schema
    matrix: np.ndarray
    scores: np.ndarray
    scale: np.ndarray
    plausibility: Plausibility
    found: Relations | None
    sampled: SampledRows | None
    task: Any
    classes: tuple[Any, ...] | None


def _unfitted(cls: Any, stored: Mapping[str, Any], model: Any, callables: Mapping[str, Any]) -> Any:
    """The explainer with its parameters."""
    parameters = {**cls._from_plain(stored), "classes": _as_labels(stored["classes"])}
    if parameters.get("task") not in (None, *TASKS):
        raise ValueError(f"its task is {parameters['task']!r}")
    explainer = cls(model, **{**parameters, **callables})
    explainer._check_parameters()
    return explainer


def _learned(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> _Learned:
    schema = Schema.from_dict(meta["schema"])
    forest = _forest_of(meta, arrays)
    matrix = check_rows(schema.columns, arrays["matrix"])
    _check_fit(schema, forest.schema_, matrix)
    if meta["measure"] not in MEASURES:
        raise ValueError(f"it is judged by {meta['measure']!r}")
    plausibility = _plausibility(meta, arrays, ForestJudge(forest, len(schema.columns), meta["measure"]), schema)
    stored = meta.get("relations")  # not in files of earlier versions
    return _Learned(
        schema=schema,
        matrix=matrix,
        scores=taken(arrays, "scores", np.float64, (len(matrix), None)),
        scale=taken(arrays, "gower.scale", np.float64, (len(schema.columns),), -1.0),
        plausibility=plausibility,
        found=None if stored is None else Relations.from_list(schema, stored),
        sampled=_sampled(meta["rows_of_data"], arrays, len(matrix)) if _KEPT in arrays else None,
        task=meta["task"],
        classes=_as_labels(meta["classes"]),
    )


def _sampled(n_rows: Any, arrays: Mapping[str, np.ndarray], n_kept: int) -> SampledRows:
    """Which rows of data larger than memory were kept."""
    if type(n_rows) is not int:
        raise ValueError(f"{n_rows!r} is no number of rows")
    places = taken(arrays, _KEPT, np.int64, (n_kept,), 0, n_rows - 1)
    if (np.diff(places) <= 0).any():
        raise ValueError("the rows that were kept do not ascend")
    return SampledRows(places, n_rows)


def _predictor(explainer: Any, learned: _Learned) -> Any:
    """The model as explainers ask it."""
    if learned.classes is not None:
        return observed_predictor(learned.schema, learned.plausibility.forest, learned.task, learned.classes)
    rows = learned.schema.decode(learned.matrix)  # all rows tell what kind of model it is, as they did in `fit`
    return make_predictor(explainer.model, learned.schema, rows, classes=explainer.classes, task=explainer.task)


def _agree(scores: np.ndarray, stored: np.ndarray) -> bool:
    return scores.shape == stored.shape and np.allclose(scores, stored, atol=1e-6, rtol=1e-6)


def _seed(stored: Any) -> int:
    if type(stored) is not int or stored < 0:
        raise ValueError(f"{stored!r} is no seed")
    return stored


def _check_fit(schema: Schema, of_forest: Schema, matrix: np.ndarray) -> None:
    """Refuse rows that can not have been fitted to, and a forest of other columns than the features first."""
    if len(matrix) == 0 or np.isnan(matrix).all(axis=0).any():
        raise ValueError("a column has no value in any row")
    if schema.columns != of_forest.columns[: len(schema.columns)]:
        raise ValueError("its forest is of other columns")


def _forest_meta(forest: AdversarialRandomForest) -> dict[str, Any]:
    parameters = forest.get_params()
    state = parameters["random_state"]
    parameters |= {name: list(parameters[name]) for name in ("always_split", "never_split")}
    return {
        "forest_schema": forest.schema_.to_dict(),
        "forest_parameters": parameters | {"random_state": int(state) if isinstance(state, Integral) else None},
        "accuracies": list(forest.accuracies_),
        "min_samples_leaf": int(forest.min_samples_leaf_),
        "dependence": forest.dependence_,
    }


def _forest_of(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> AdversarialRandomForest:
    independent = {"dependence": None, "values": None}  # of files of version 0.1
    forest = AdversarialRandomForest(**independent | meta["forest_parameters"])
    schema = Schema.from_dict(meta["forest_schema"])
    trees, leaves = unpack(meta, arrays, schema)
    least = int(meta["min_samples_leaf"])
    forest._set_fitted(schema, trees, leaves, meta["accuracies"], least, meta.get("dependence"))
    return forest


def _plausibility(
    meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray], forest: ForestJudge, schema: Schema
) -> Plausibility:
    if meta["version"] == 1:
        return judges.of_version_1(arrays["real"], forest)
    judged = {name.removeprefix(_JUDGES): array for name, array in arrays.items() if name.startswith(_JUDGES)}
    return judges.unpack(meta["judges"], judged, forest, schema)


def _class_of(cls: Any, method: Any, path: str) -> Any:
    """The class to read the file with: `cls`, or of the base class the subclass with the file's method."""
    if hasattr(cls, "method"):
        if method != cls.method:
            raise StorageError(
                f"{path!r} holds an explainer {method!r}, not {cls.method!r}. Load it by its own class or by "
                "`Explainer.load`, which takes every method."
            )
        return cls
    known: dict[str, Any] = {}
    level = cls.__subclasses__()
    while level:  # the nearest class of a method comes first, so that a user's subclass does not take its place
        for subclass in level:
            known.setdefault(getattr(subclass, "method", ""), subclass)
        level = [below for subclass in level for below in subclass.__subclasses__()]
    if method not in known:
        raise StorageError(
            f"{path!r} holds an explainer {method!r}, but only {listed(known)} are known. Import its class first."
        )
    return known[method]


def _as_labels(stored: Sequence[Any] | None) -> tuple[Any, ...] | None:
    """Labels from JSON, which knows lists where labels are tuples."""
    if stored is None:
        return None
    return tuple(tuple(label) if isinstance(label, list) else label for label in stored)
