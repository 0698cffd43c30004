"""A fitted explainer in a file, without pickle; the model and other callables are handed in again.

What a method learns besides the background it hands over as arrays by `_extra_arrays`, and takes back by `_restore`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.arf.archive import pack, unpack
from countarfactuals.arf.storage import read_archive, write_archive
from countarfactuals.exceptions import ModelError, ParameterError, StorageError, listed
from countarfactuals.explainers.background import Background
from countarfactuals.explainers.observed import observed_predictor
from countarfactuals.objectives import Gower
from countarfactuals.plausibility import ForestJudge, Plausibility
from countarfactuals.plausibility import archive as judges
from countarfactuals.prediction import make_predictor
from countarfactuals.schema import Schema

if TYPE_CHECKING:
    from countarfactuals.explainers.base import Explainer

_FORMAT, _VERSION, _OLDER = "countarfactuals.Explainer", 2, (1,)
_HANDED_IN = ("model", "density", "distance", "extra_objectives")
_JUDGES = "judges."
_OWN = "method."  # before the names of a method's own arrays
_COMPARED = 20  # rows whose scores tell whether the model is the one that was fitted with


def save(explainer: Explainer, path: str | os.PathLike[str]) -> None:
    """Write a fitted explainer."""
    background = explainer.background_
    forest = background.plausibility.forest
    parameters = {
        name: value.tolist() if isinstance(value, np.generic | np.ndarray) else value
        for name, value in explainer.get_params(deep=False).items()
        if name not in _HANDED_IN
    }
    parameters["random_state"] = explainer.seed_
    parameters["classes"] = None if explainer.classes is None else list(explainer.classes)
    forest_parameters = forest.get_params()
    forest_parameters["always_split"] = list(forest_parameters["always_split"])
    forest_parameters["never_split"] = list(forest_parameters["never_split"])
    state = forest_parameters["random_state"]
    forest_parameters["random_state"] = int(state) if isinstance(state, Integral) else None
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
        "forest_schema": forest.schema_.to_dict(),
        "forest_parameters": forest_parameters,
        "accuracies": list(forest.accuracies_),
        "min_samples_leaf": int(forest.min_samples_leaf_),
        "dependence": forest.dependence_,
        "measure": background.plausibility.measure,
        "judges": panel,
        "task": background.predictor.task,
        "classes": list(background.predictor.classes) if explainer.outcome == "observed" else None,
        **packed,
    }
    arrays |= {
        "matrix": background.matrix,
        "scores": background.scores,
        "gower.scale": background.gower.scale,
    }
    arrays |= {f"{_JUDGES}{name}": array for name, array in judged.items()}
    arrays |= {f"{_OWN}{name}": array for name, array in explainer._extra_arrays().items()}
    write_archive(path, meta, arrays)


def load(cls: Any, path: str | os.PathLike[str], model: Any, callables: Mapping[str, Any]) -> Any:
    """Read an explainer of class `cls`; of any method if that is the base class."""
    meta, arrays = read_archive(path, _FORMAT, _VERSION, _OLDER)
    cls = _class_of(cls, meta.get("method"), os.fspath(path))
    if unknown := sorted(set(callables) - {"distance", "extra_objectives"}):
        raise ParameterError(f"load takes distance and extra_objectives besides the model, got {listed(unknown)}.")
    if absent := [name for name in meta.get("needs", ()) if name not in callables]:
        raise ParameterError(
            f"The explainer was made with {listed(absent)}; functions are not stored, pass them again."
        )
    try:
        parameters = {**meta["parameters"], "classes": _as_labels(meta["parameters"]["classes"])}
        explainer = cls(model, **{**parameters, **callables})
        schema = Schema.from_dict(meta["schema"])
        independent = {"dependence": None, "values": None}  # of files of version 0.1
        forest = AdversarialRandomForest(**independent | meta["forest_parameters"])
        forest_schema = Schema.from_dict(meta["forest_schema"])
        trees, leaves = unpack(meta, arrays, len(forest_schema.columns))
        forest._set_fitted(
            forest_schema,
            trees,
            leaves,
            meta["accuracies"],
            int(meta["min_samples_leaf"]),
            meta.get("dependence"),
        )
        matrix, scores, scale = arrays["matrix"], arrays["scores"], arrays["gower.scale"]
        plausibility = _plausibility(meta, arrays, ForestJudge(forest, len(schema.columns), meta["measure"]), schema)
        task, classes = meta["task"], _as_labels(meta["classes"])
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(f"{os.fspath(path)!r} lacks or garbles a part: {error}. Save it again.") from error
    if classes is not None:
        predictor = observed_predictor(schema, forest, task, classes)
    else:  # all rows tell what kind of model it is, as they did in `fit`
        predictor = make_predictor(model, schema, schema.decode(matrix), classes=explainer.classes, task=explainer.task)
    if not np.allclose(predictor.scores(matrix[:_COMPARED]), scores[:_COMPARED], atol=1e-6, rtol=1e-6):
        raise ModelError(
            "The model gives other scores than the one this explainer was fitted with. Hand in that model, or fit the "
            "explainer anew."
        )
    gower = Gower(scale, np.full(len(scale), 1.0 / len(scale)))
    background = Background(schema, matrix, scores, predictor, gower, plausibility)
    explainer._set_fitted(background, meta["parameters"]["random_state"])
    own = {name.removeprefix(_OWN): array for name, array in arrays.items() if name.startswith(_OWN)}
    try:
        explainer._restore(own)
    except KeyError as error:
        raise StorageError(f"{os.fspath(path)!r} lacks a part: {error}. Save it again.") from error
    return explainer


def _plausibility(
    meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray], forest: ForestJudge, schema: Schema
) -> Plausibility:
    if meta["version"] in _OLDER:
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
        for one in level:
            known.setdefault(getattr(one, "method", ""), one)
        level = [below for one in level for below in one.__subclasses__()]
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
