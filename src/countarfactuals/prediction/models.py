"""How a model of each library is asked for scores; the only file that knows their interfaces.

1. xgboost's and lightgbm's `Booster` say by their objective what they predict.
2. CatBoost's untyped `CatBoost` says it by its classes.
3. Everything with `predict` is asked as scikit-learn does: `predict_proba`, else `decision_function`, both in the
   order of `classes_`; else `predict`, which is a regression unless the model has classes. One of scikit-learn's own
   that was fitted on an array of numbers gets arrays, as it would complain of names with every call.
4. A URL is asked over HTTP (`remote`), an `async def` function in a loop of its own (`asynchronous`).
5. A callable is called; what it returns tells the rest.

Libraries are told by the modules of the model's classes, so none is imported that the model does not come from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import softmax

from countarfactuals.exceptions import ModelError, ModelTypeError, listed
from countarfactuals.prediction.asynchronous import AsyncModel, is_asynchronous
from countarfactuals.prediction.remote import RemoteModel
from countarfactuals.schema import Schema
from countarfactuals.schema.column import plain_scalar

BINARY, MULTICLASS, REGRESSION = "binary", "multiclass", "regression"
_ALLOWED = (
    "Pass a fitted scikit-learn estimator or Pipeline, an xgboost, lightgbm or catboost model, the URL of a service, "
    "or a callable that takes a frame and returns scores."
)


@dataclass(frozen=True)
class Source:
    """A model as something to ask; None where only its scores can tell.

    Parameters
    ----------
    name : of its type, for messages.
    ask : frame to raw scores.
    task : what it was made for.
    classes : its own labels, in the order of its scores; () if it has none.
    is_probability : whether scores are probabilities.
    threshold : above it a binary score means the second class, where the model has one of its own.
    predict : frame to labels, where the model has an opinion of its own on them.
    may_be_margin : one score outside [0, 1] is a decision function, not a mistake.
    """

    name: str
    ask: Callable[[Any], Any]
    task: str | None = None
    classes: tuple[Any, ...] = ()
    is_probability: bool | None = None
    threshold: float | None = None
    predict: Callable[[Any], Any] | None = None
    may_be_margin: bool = False


def recognise(model: Any, schema: Schema, task: str | None) -> Source:
    """The way to ask `model`; with task "regression" by its plain `predict`."""
    if isinstance(model, type):
        raise ModelTypeError(f"The model is the class {model.__name__}, not a fitted object of it. {_ALLOWED}")
    if _comes_from(model, "xgboost", "Booster"):
        return _xgboost_booster(model, schema, task)
    if _comes_from(model, "lightgbm", "Booster"):
        return _lightgbm_booster(model, task)
    if _comes_from(model, "catboost", "CatBoost"):
        return _catboost(model, task)
    if callable(getattr(model, "predict", None)):
        source = _estimator(model, task)
        return _taking_arrays(source, schema) if _wants_array(model, schema) else source
    if getattr(model, "__name__", "") == "predict_proba" and hasattr(getattr(model, "__self__", None), "classes_"):
        owner = model.__self__  # the method of an estimator: its classes are known
        classes = _classes_of(owner)
        name = f"{type(owner).__name__}.predict_proba"
        return Source(name, model, _task_of(classes), classes, is_probability=True)
    if isinstance(model, str) and "://" in model:
        model = RemoteModel(model)
    elif is_asynchronous(model):
        model = AsyncModel(model)
    if callable(model):
        return Source(getattr(model, "__name__", type(model).__name__), model, may_be_margin=True)
    raise ModelTypeError(f"The model is of type {type(model).__name__}, which can not be asked for scores. {_ALLOWED}")


def as_label(value: Any) -> Any:
    """A label as a plain Python scalar if it has one, else as it is.

    >>> as_label(np.int64(3)), as_label(np.str_("good")), as_label((1, 2))
    (3, 'good', (1, 2))
    """
    try:
        return plain_scalar(value)
    except TypeError:
        return value


def _comes_from(model: Any, library: str, name: str) -> bool:
    bases = type(model).__mro__
    return any(base.__name__ == name and base.__module__.partition(".")[0] == library for base in bases)


def _xgboost_booster(model: Any, schema: Schema, task: str | None) -> Source:
    learner = json.loads(model.save_config())["learner"]
    objective = learner["objective"]["name"]
    matrix_of = _xgboost_matrix(model, schema)

    def predict(frame: Any) -> Any:
        return model.predict(matrix_of(frame))

    def margin(frame: Any) -> Any:
        return model.predict(matrix_of(frame), output_margin=True)

    def probabilities(frame: Any) -> np.ndarray:
        # softmax as an objective predicts labels; its margins give the probabilities that softprob predicts
        return softmax(np.asarray(margin(frame), np.float64), axis=1)

    source = Source("xgboost Booster", predict, REGRESSION)
    if task == REGRESSION or not objective.startswith(("binary:", "multi:")):
        return source
    if objective == "binary:logistic":
        return replace(source, task=BINARY, classes=(0, 1), is_probability=True)
    if objective.startswith("binary:"):
        return replace(source, ask=margin, task=BINARY, classes=(0, 1), is_probability=False)
    classes = tuple(range(int(learner["learner_model_param"]["num_class"])))
    return replace(source, ask=probabilities, task=_task_of(classes), classes=classes, is_probability=True)


def _xgboost_matrix(model: Any, schema: Schema) -> Callable[[Any], Any]:
    """Frame to DMatrix; names and types of an array are those of the model, position by position."""
    import xgboost

    is_array = schema.backend == "numpy"
    with_levels = [c.name for c in schema.columns if not c.is_number and c.levels != (False, True)]
    if model.feature_names is None and not is_array and with_levels:
        raise ModelError(
            f"The xgboost Booster has no feature names, so it takes an array of numbers, but {listed(with_levels)} "
            "hold(s) levels. Train it on `DMatrix(frame, enable_categorical=True)`, or pass a callable that turns a "
            "frame into what it was trained on."
        )

    def matrix_of(frame: Any) -> Any:
        if model.feature_names is not None and not is_array:
            return xgboost.DMatrix(frame, enable_categorical=True)
        return xgboost.DMatrix(
            frame if is_array else schema.encode(frame),
            feature_names=model.feature_names,
            feature_types=model.feature_types,
            enable_categorical=True,
        )

    return matrix_of


def _lightgbm_booster(model: Any, task: str | None) -> Source:
    # an objective of the user's own is not in the dump, and its booster predicts raw scores
    objective = model.dump_model(num_iteration=1).get("objective", "").partition(" ")[0]
    source = Source("lightgbm Booster", model.predict, REGRESSION)
    if task == REGRESSION or objective not in ("binary", "multiclass", "multiclassova"):
        return source
    classes = (0, 1) if objective == "binary" else tuple(range(model.num_model_per_iteration()))
    return replace(source, task=_task_of(classes), classes=classes, is_probability=True)


def _catboost(model: Any, task: str | None) -> Source:
    classes = _classes_of(model)
    if task == REGRESSION or not classes:
        return Source(type(model).__name__, model.predict, REGRESSION)

    def probabilities(frame: Any) -> Any:
        return model.predict(frame, prediction_type="Probability")

    has_threshold = len(classes) == 2 and hasattr(model, "get_probability_threshold")
    return Source(
        type(model).__name__,
        probabilities,
        _task_of(classes),
        classes,
        is_probability=True,
        threshold=model.get_probability_threshold() if has_threshold else None,
        predict=lambda frame: model.predict(frame, prediction_type="Class"),
    )


def _estimator(model: Any, task: str | None) -> Source:
    source = Source(type(model).__name__, model.predict, REGRESSION)
    if task == REGRESSION:
        return source
    classes = _classes_of(model)
    source = replace(source, task=_task_of(classes), classes=classes, threshold=_own_threshold(model, classes))
    if hasattr(model, "predict_proba"):
        return replace(source, ask=model.predict_proba, is_probability=True, predict=model.predict)
    if hasattr(model, "decision_function"):
        _refuse_pairwise(model, classes)
        return replace(source, ask=model.decision_function, is_probability=False, predict=model.predict)
    if classes:
        return replace(source, ask=_indicator(model, classes), is_probability=True)
    return replace(source, task=REGRESSION)


def _wants_array(model: Any, schema: Schema) -> bool:
    """Whether scikit-learn saw columns without names when it fitted the model, and ours can become such an array.

    Only scikit-learn's own classes are judged: others may take columns by name and never note which they saw. Levels
    stay in a frame, as the array that they came from is not known.
    """
    return (
        schema.backend != "numpy"
        and type(model).__module__.partition(".")[0] == "sklearn"
        and hasattr(model, "n_features_in_")
        and not hasattr(model, "feature_names_in_")
        and all(column.is_number or column.levels == (False, True) for column in schema.columns)
    )


def _taking_arrays(source: Source, schema: Schema) -> Source:
    """The same, asked with the frame's numbers in the order of its columns; booleans are 0 and 1."""

    def with_array(ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda frame: ask(schema.encode(frame))

    predict = None if source.predict is None else with_array(source.predict)
    return replace(source, ask=with_array(source.ask), predict=predict)


def _task_of(classes: tuple[Any, ...]) -> str | None:
    if not classes:
        return None
    return BINARY if len(classes) == 2 else MULTICLASS


def _classes_of(model: Any) -> tuple[Any, ...]:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return ()
    if any(np.ndim(label) for label in classes):
        raise ModelError(
            f"{type(model).__name__} predicts {len(classes)} outcomes at once, one is allowed. Pass a callable that "
            "returns the scores of one of them."
        )
    return tuple(as_label(label) for label in classes)


def _own_threshold(model: Any, classes: tuple[Any, ...]) -> float | None:
    """Of scikit-learn's classifiers that move it; they predict the second class from the threshold on, not above it."""
    last = _innermost(model)
    if not _comes_from(last, "sklearn", "BaseThresholdClassifier") or len(classes) != 2:
        return None
    threshold = getattr(last, "best_threshold_", getattr(last, "threshold", None))
    return float(np.nextafter(float(threshold), -np.inf)) if isinstance(threshold, Real) else None


def _innermost(model: Any) -> Any:
    """The estimator that decides: the last step of a pipeline, the best one of a search."""
    while hasattr(model, "steps") or hasattr(model, "best_estimator_"):
        model = model.steps[-1][1] if hasattr(model, "steps") else model.best_estimator_
    return model


def _refuse_pairwise(model: Any, classes: tuple[Any, ...]) -> None:
    """Scores of pairs of classes: with three classes there are three of them, which would pass for those of classes."""
    last = _innermost(model)
    if len(classes) > 2 and getattr(last, "decision_function_shape", "ovr") == "ovo":
        raise ModelError(
            f"{type(last).__name__} with decision_function_shape='ovo' scores pairs of classes, one score per class "
            "is needed. Set decision_function_shape='ovr'."
        )


def _indicator(model: Any, classes: Iterable[Any]) -> Callable[[Any], np.ndarray]:
    """1 for the class that a model without scores predicts, 0 for the others."""
    labels = np.array(list(classes), dtype=object)

    def indicator(frame: Any) -> np.ndarray:
        return (np.asarray(model.predict(frame), dtype=object).reshape(-1, 1) == labels).astype(np.float64)

    return indicator
