"""`Predictor`: any model as a function from the matrix to a score matrix.

    matrix ─ Schema.decode ─ frame ─ model ─ raw scores ─ checks ─ scores (n, s) float64

| task | scores | predicted |
|---|---|---|
| binary | one: of `classes[1]` | `classes[1]` where it is above `threshold`, else `classes[0]` |
| multiclass | one per class | the first class of the largest score |
| regression | one | the score |

What the model does not say itself is told by its scores on some rows: two columns are the probabilities of two
classes, more are one per class, and a single one is a regression unless `classes` or `task` says otherwise. A single
score of two classes is a probability if it lies in [0, 1] on all of these rows, else, from a callable, a decision
function with threshold 0.
"""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from countarfactuals.exceptions import ModelError, ParameterError, Setting, listed
from countarfactuals.prediction.models import BINARY, MULTICLASS, REGRESSION, Source, as_label, recognise
from countarfactuals.prediction.scores import MARGIN, PREDICTION, PROBABILITY, Score
from countarfactuals.schema import Schema

TASKS = (BINARY, MULTICLASS, REGRESSION)
_ROUNDING = 1e-6  # by how much a probability of single precision may leave [0, 1]
_SUM_ROUNDING = 1e-3
_CELLS_SHOWN = 8


@dataclass(frozen=True)
class Predictor:
    """A model that takes rows of the matrix.

    Parameters
    ----------
    schema : of the features; the model gets frames that it decodes.
    task : "binary", "multiclass" or "regression".
    classes : labels in the order of the scores; () for a regression.
    threshold : a binary score above it means `classes[1]`.
    is_probability : whether scores are probabilities.
    model_name : for messages.
    ask : frame to raw scores.
    n_raw : how many raw scores the model returns per row.
    """

    schema: Schema
    task: str
    classes: tuple[Any, ...]
    threshold: float
    is_probability: bool
    model_name: str = field(repr=False)
    ask: Callable[[Any], Any] = field(repr=False, compare=False)
    n_raw: int = field(repr=False)

    @property
    def n_scores(self) -> int:
        """Columns of the score matrix."""
        return len(self.classes) if self.task == MULTICLASS else 1

    @property
    def score_columns(self) -> tuple[Score, ...]:
        """What the columns of the score matrix are."""
        if self.task == REGRESSION:
            return (Score(PREDICTION),)
        kind = PROBABILITY if self.is_probability else MARGIN
        return tuple(Score(kind, label, k) for k, label in enumerate(self.classes[-self.n_scores :]))

    @property
    def score_names(self) -> tuple[str, ...]:
        """Names of the scores: `P(good)`, `score(good)` if they are no probabilities, `prediction`."""
        return tuple(score.name for score in self.score_columns)

    def scores(self, matrix: np.ndarray) -> np.ndarray:
        """The scores of encoded rows, shape (n, s)."""
        if len(matrix) == 0:
            return np.empty((0, self.n_scores))
        return self._checked(_raw_scores(self.ask, self.schema, matrix, self.model_name))

    def scores_of_each(self, matrices: Sequence[np.ndarray]) -> list[np.ndarray | Exception]:
        """The scores of each matrix, asked on its own, or the exception that it gave; at a time if the model can."""
        ask_each = getattr(self.ask, "ask_each", None)
        if ask_each is None or len(matrices) < 2:
            return [_outcome(lambda: self.scores(matrix)) for matrix in matrices]  # noqa: B023  # called at once
        returned = ask_each([self.schema.decode(matrix) for matrix in matrices])
        return [
            _outcome(lambda: self._checked(_raw_scores(_giving(scores), self.schema, matrix, self.model_name)))  # noqa: B023
            for scores, matrix in zip(returned, matrices, strict=True)
        ]

    def _checked(self, raw: np.ndarray) -> np.ndarray:
        if raw.shape[1] != self.n_raw:
            raise ModelError(
                f"The model ({self.model_name}) returned {raw.shape[1]} score(s) per row, but {self.n_raw} before. "
                "It must return the same number each time."
            )
        if self.is_probability:
            raw = self._checked_probabilities(raw)
        return raw[:, -self.n_scores :]

    def _checked_probabilities(self, raw: np.ndarray) -> np.ndarray:
        if not _in_unit_interval(raw):
            worst = raw.flat[np.argmax(np.abs(raw - 0.5))]
            raise ModelError(
                f"The model ({self.model_name}) returned {worst:g} as a probability; its scores are taken for "
                "probabilities, by its kind or because all of the first rows had scores from 0 to 1. Return "
                "probabilities, or show rows with the whole range of scores."
            )
        return np.clip(raw, 0.0, 1.0)

    def labels(self, scores: np.ndarray) -> np.ndarray:
        """The predicted labels as an object array; for a regression the numbers themselves."""
        if self.task == REGRESSION:
            return scores[:, 0].copy()
        known = np.empty(len(self.classes), dtype=object)
        for k, label in enumerate(self.classes):  # one by one, as numpy would take labels that are tuples apart
            known[k] = label
        winner = scores.argmax(axis=1) if self.task == MULTICLASS else (scores[:, 0] > self.threshold).astype(np.intp)
        return known[winner]


def make_predictor(
    model: Any, schema: Schema, X: Any, *, classes: Sequence[Any] | None = None, task: str | None = None
) -> Predictor:
    """The predictor of a model.

    Parameters
    ----------
    model : scikit-learn estimator or Pipeline, xgboost, lightgbm or catboost model, or a callable frame → scores.
    schema : of the features.
    X : some rows, to see what the model returns.
    classes : labels in the order of the model's scores, instead of its own.
    task : "binary", "multiclass" or "regression", instead of what the model and its scores suggest.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"income": [1.0, 2.0, 3.0]})
    >>> schema = Schema.infer(X)
    >>> predictor = make_predictor(lambda frame: frame["income"] / 4, schema, X, classes=("bad", "good"))
    >>> predictor.task, predictor.score_names, predictor.labels(predictor.scores(schema.encode(X))).tolist()
    ('binary', ('P(good)',), ['bad', 'bad', 'good'])
    """
    if task is not None and task not in TASKS:
        raise ParameterError(
            "{parameter} is {got!r}; allowed are {allowed}, or None to tell it by the model.",
            parameter=Setting("task"),
            got=task,
            allowed=listed(TASKS),
        )
    given = None if classes is None else _checked_classes(classes)
    source = recognise(model, schema, task)
    matrix = schema.encode(X)
    raw = _raw_scores(source.ask, schema, matrix, source.name)
    settled = _settled_task(source, raw.shape[1], given, task)
    is_probability = _is_probability(source, raw, settled)
    default = 0.5 if is_probability else 0.0
    predictor = Predictor(
        schema=schema,
        task=settled,
        classes=_settled_classes(source, raw.shape[1], given, settled),
        threshold=default if source.threshold is None else source.threshold,
        is_probability=is_probability,
        model_name=source.name,
        ask=source.ask,
        n_raw=raw.shape[1],
    )
    _compare_with_own_labels(predictor, source, matrix)
    return predictor


def _checked_classes(classes: Any) -> tuple[Any, ...]:
    if isinstance(classes, str | bytes) or not hasattr(classes, "__iter__"):
        raise _unusable_classes("is {got!r}; pass the labels as a sequence, such as ('bad', 'good')", classes)
    labels = tuple(as_label(label) for label in classes)
    try:
        distinct = len(set(labels))
    except TypeError:
        raise _unusable_classes("holds labels that can not be compared: {got}", listed(labels)) from None
    if distinct < len(labels) or any(label is None or label != label for label in labels):
        raise _unusable_classes("must name each class once and none as missing, got {got}", listed(labels))
    if len(labels) < 2:
        raise _unusable_classes("must name at least two classes, got {got}", listed(labels) or "none")
    return labels


def _unusable_classes(why: str, got: Any) -> ParameterError:
    return ParameterError(f"{{parameter}} {why}.", parameter=Setting("classes"), got=got)


def _outcome(call: Callable[[], np.ndarray]) -> np.ndarray | Exception:
    try:
        return call()
    except Exception as error:
        return error


def _giving(returned: Any) -> Callable[[Any], Any]:
    """A model that has answered already."""

    def give(frame: Any) -> Any:
        if isinstance(returned, BaseException):
            raise returned
        return returned

    return give


def _answer(ask: Callable[[Any], Any], schema: Schema, matrix: np.ndarray, name: str) -> Any:
    """What the model returns for rows as a frame."""
    frame = schema.decode(matrix)
    try:
        return ask(frame)
    except ModelError:  # of a model that says itself what went wrong
        raise
    except Exception as error:
        message = textwrap.shorten(str(error), 300, placeholder=" …").rstrip(".")
        raise ModelError(
            "The model ({model}) failed on {n_rows} row(s) with {error}. It got the {backend} data that the explainer "
            "was fitted on, columns {columns}. Check that it is fitted and takes such rows{otherwise}.",
            model=name,
            n_rows=len(matrix),
            error=f"{type(error).__name__}: {message}",
            backend=schema.backend,
            columns=listed(schema.names),
            otherwise=", or pass a callable that prepares them",
        ) from error


def _raw_scores(ask: Callable[[Any], Any], schema: Schema, matrix: np.ndarray, name: str) -> np.ndarray:
    """What the model returns, as finite numbers of shape (n, columns)."""
    returned = _answer(ask, schema, matrix, name)
    raw = _numbers(returned, name)
    if raw.ndim == 1:
        raw = raw[:, np.newaxis]
    if raw.ndim != 2 or len(raw) != len(matrix) or raw.shape[1] == 0:
        raise ModelError(
            f"The model ({name}) returned scores of shape {np.shape(returned)} for {len(matrix)} row(s). Allowed are "
            f"({len(matrix)},) and ({len(matrix)}, number of scores)."
        )
    unusable = ~np.isfinite(raw)
    if unusable.any():
        row = int(np.argmax(unusable.any(axis=1)))
        cells = {name: schema.decode_value(j, matrix[row, j]) for j, name in enumerate(schema.names[:_CELLS_SHOWN])}
        raise ModelError(
            f"The model ({name}) returned {raw[unusable][0]} as a score in row {row} of {len(matrix)} (from 0), which "
            f"begins with {cells}. Scores must be finite; check how it treats missing and extreme values."
        )
    return raw


def _numbers(returned: Any, name: str) -> np.ndarray:
    try:
        raw = np.asarray(returned)
    except ValueError as error:  # lists of unequal lengths
        raise ModelError(f"The model ({name}) returned what is no array: {error}") from error
    if raw.dtype.kind not in "biuf":
        strangers = [cell for cell in raw.ravel().tolist() if not isinstance(cell, Real)]
        if strangers or raw.dtype != object:
            raise ModelError(
                f"The model ({name}) returned {listed(strangers, 3)} of type {type(strangers[0]).__name__}, but scores "
                "must be numbers. Return probabilities (`predict_proba`), not labels."
            )
    return raw.astype(np.float64)


def _settled_task(source: Source, n_raw: int, given: tuple[Any, ...] | None, task: str | None) -> str:
    by_shape = {1: REGRESSION if given is None else BINARY, 2: BINARY}.get(n_raw, MULTICLASS)
    if source.task == REGRESSION and given is None:
        by_shape = REGRESSION
    settled = task or (source.task if source.classes and source.task else by_shape)
    fits = {BINARY: n_raw <= 2, MULTICLASS: n_raw >= 2, REGRESSION: n_raw == 1}[settled]
    if not fits:
        needed = {BINARY: "one score per row, or two", MULTICLASS: "a score per class", REGRESSION: "one score per row"}
        raise ModelError(
            "The model ({model}) returned {got} score(s) per row, but the task {task!r} needs {needed}. Set "
            "{parameter} to one of {allowed}, or pass a callable that returns such scores.",
            model=source.name,
            got=n_raw,
            task=settled,
            needed=needed[settled],
            parameter=Setting("task"),
            allowed=listed(TASKS),
        )
    if settled == REGRESSION and given is not None:
        raise ParameterError(
            "A regression has no classes, got {got}. Leave {parameter} or {task} out.",
            got=listed(given),
            parameter=Setting("classes"),
            task=Setting("task"),
        )
    return settled


def _settled_classes(source: Source, n_raw: int, given: tuple[Any, ...] | None, task: str) -> tuple[Any, ...]:
    if task == REGRESSION:
        return ()
    needed = 2 if task == BINARY else n_raw
    classes = given or source.classes or tuple(range(needed))
    if len(classes) != needed:
        whose = "{parameter} names" if given else "it has"
        raise ModelError(
            f"The model ({{model}}) returned {n_raw} score(s) per row, which is {needed} classes, but {whose} "
            f"{len(classes)}: {{got}}. Name as many classes as the model scores, in the order of its scores.",
            model=source.name,
            parameter=Setting("classes"),
            got=listed(classes),
        )
    return classes


def _is_probability(source: Source, raw: np.ndarray, task: str) -> bool:
    if task == REGRESSION:
        return False
    inside = _in_unit_interval(raw)
    sums_to_one = inside and bool(np.allclose(raw.sum(axis=1), 1.0, rtol=0, atol=_SUM_ROUNDING))
    if task == BINARY and raw.shape[1] == 2:
        usable = sums_to_one
    elif task == BINARY:
        usable = inside or source.may_be_margin or source.is_probability is False
    else:
        usable = inside or not source.is_probability
    if not usable:
        raise _not_probabilities(source, raw)
    if source.is_probability is not None:
        return source.is_probability
    return inside if task == BINARY else sums_to_one


def _in_unit_interval(raw: np.ndarray) -> bool:
    return bool((raw >= -_ROUNDING).all() and (raw <= 1 + _ROUNDING).all())


def _not_probabilities(source: Source, raw: np.ndarray) -> ModelError:
    needed, got = "probabilities, from 0 to 1", f"scores from {raw.min():g} to {raw.max():g}"
    if raw.shape[1] == 2:
        sums = raw.sum(axis=1)
        needed, got = f"{needed} and with sum 1", f"{got} and sums from {sums.min():g} to {sums.max():g}"
    return ModelError(
        f"The scores of the model ({source.name}) must be {needed}, but the first rows have {got}. Pass a callable "
        "that returns probabilities or, for two classes, one column that is above 0 for the second class."
    )


def _compare_with_own_labels(predictor: Predictor, source: Source, matrix: np.ndarray) -> None:
    """Warn if the model's own `predict` does not follow its scores; refuse several labels per row."""
    if source.predict is None or predictor.task == REGRESSION or not source.classes:
        return
    own = np.asarray(_answer(source.predict, predictor.schema, matrix, source.name), dtype=object)
    if own.size != len(matrix):
        raise ModelError(
            f"The model ({source.name}) predicts {own.shape[-1]} labels per row, one is allowed. Pass a callable that "
            "returns the scores of one outcome."
        )
    own_names = dict(zip(predictor.classes, source.classes, strict=True))
    ours = [own_names[label] for label in predictor.labels(predictor.scores(matrix))]
    differ = sum(as_label(a) != b and str(a) != str(b) for a, b in zip(own.ravel(), ours, strict=True))
    if differ:
        warnings.warn(
            f"`predict` of the model ({source.name}) disagrees with its scores in {differ} of {len(matrix)} rows. "
            "Outcomes are judged by the scores. Pass a callable to judge by something else.",
            UserWarning,
            stacklevel=3,
        )
