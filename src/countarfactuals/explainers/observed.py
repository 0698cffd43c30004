"""Improvement instead of acceptance: the observed outcome takes the model's place.

The forest learns features and outcome together; its conditional probability of a class (or conditional mean of a
number) given the features is the score that a counterfactual must bring to the target.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.multiclass import type_of_target

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.arf.evidence import POINT
from countarfactuals.arf.expectation import expect_number
from countarfactuals.arf.tree_walk import leaf_weights, log_density
from countarfactuals.exceptions import DataError, listed
from countarfactuals.parameters import check_choice
from countarfactuals.plausibility import points
from countarfactuals.prediction import Predictor
from countarfactuals.prediction.models import BINARY, MULTICLASS, REGRESSION
from countarfactuals.prediction.predictor import TASKS
from countarfactuals.schema import Column, Kind, Schema, free_name

_NAME = "observed outcome"
_MANY_CLASSES = 20


def fit_observed(
    schema: Schema, matrix: np.ndarray, y: Any, forest: AdversarialRandomForest, task: str | None
) -> tuple[Predictor, np.ndarray, AdversarialRandomForest, np.ndarray]:
    """The forest over features and outcome, the predictor it makes, its scores of the rows, and the forest's rows."""
    outcome = checked_outcome(y, len(matrix))
    name, task = free_name(_NAME, schema.names), _settled_task(outcome, task)
    classes: tuple[Any, ...] = ()
    if task == REGRESSION:
        column, codes = Column(name, Kind.REAL), _numbers(outcome)
    else:
        classes, codes = _classes(outcome)
        task = BINARY if len(classes) == 2 else MULTICLASS
        column = Column(name, Kind.CATEGORY, tuple(range(len(classes))))
    full = np.column_stack([matrix, codes])
    forest.fit_encoded(schema.append(column), full)
    predictor = observed_predictor(schema, forest, task, classes)
    return predictor, predictor.scores(matrix), forest, full


def checked_outcome(y: Any, n: int) -> np.ndarray:
    """y as an array, (n,); one outcome for each of n rows, none missing."""
    if y is None:
        raise DataError("`outcome='observed'` needs the outcome: call `fit(X, y)`.")
    outcome = np.asarray(y)
    if outcome.ndim != 1 or len(outcome) != n:
        raise DataError(f"y must hold one outcome for each of the {n} rows, got shape {outcome.shape}.")
    if pd.isna(outcome).any():
        raise DataError("y has missing values. Drop these rows.")
    return outcome


def _settled_task(outcome: np.ndarray, task: str | None) -> str:
    """What was asked for, or what the outcome looks like."""
    if task is not None:
        check_choice("task", task, (None, *TASKS))
        return task
    try:
        kind = type_of_target(outcome)
    except (TypeError, ValueError):  # mixed values, which `_classes` refuses
        return MULTICLASS
    if kind.startswith("continuous"):
        return REGRESSION
    n_values = len(set(outcome.tolist()))
    if outcome.dtype.kind in "iu" and n_values > _MANY_CLASSES:
        warnings.warn(
            f"y holds {n_values} different whole numbers, which are taken for classes. Pass task='regression' if they "
            "are amounts.",
            UserWarning,
            stacklevel=4,
        )
    return BINARY if kind == "binary" else MULTICLASS


def _numbers(outcome: np.ndarray) -> np.ndarray:
    try:
        numbers = outcome.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"With task='regression' y must hold numbers: {error}.") from error
    if not np.isfinite(numbers).all():
        raise DataError("y holds infinite values. Drop these rows.")
    return numbers


def _classes(outcome: np.ndarray) -> tuple[tuple[Any, ...], np.ndarray]:
    """The classes in order, and the code of each row's."""
    try:
        labels, codes = np.unique(outcome, return_inverse=True)
    except TypeError as error:
        kinds = listed(dict.fromkeys(type(value).__name__ for value in outcome.tolist()))
        raise DataError(f"y mixes values that have no order among them ({kinds}). Make them all strings.") from error
    if len(labels) < 2:
        raise DataError(f"y has the one value {labels.tolist()[0]!r}: there is no other outcome to reach.")
    return tuple(labels.tolist()), codes.astype(np.float64)


def observed_predictor(
    schema: Schema, forest: AdversarialRandomForest, task: str, classes: tuple[Any, ...]
) -> Predictor:
    """The forest, whose last column is the outcome, as a predictor of it."""

    def ask(frame: Any) -> np.ndarray:
        return _conditional(forest, schema.encode(frame), len(classes))

    return Predictor(
        schema=schema,
        task=task,
        classes=classes,
        threshold=0.5 if classes else 0.0,
        is_probability=bool(classes),
        model_name=_NAME,
        ask=ask,
        n_raw=max(len(classes), 1),
    )


def _conditional(forest: AdversarialRandomForest, rows: np.ndarray, n_classes: int) -> np.ndarray:
    """P(class | row) for each class, (n, K), or E(outcome | row), (n, 1)."""
    evidence = points(forest, rows)
    last = rows.shape[1]
    if n_classes == 0:
        weights = leaf_weights(forest.forest_, forest.leaves_, evidence)
        return expect_number(forest.forest_, forest.leaves_, evidence, weights, last)[:, None]
    log_joint = np.empty((len(rows), n_classes))
    for code in range(n_classes):
        evidence.kind[:, last], evidence.value[:, last] = POINT, code
        log_joint[:, code] = log_density(forest.forest_, forest.leaves_, evidence, 1)
    impossible = np.isneginf(log_joint.max(axis=1))  # far outside of the data no class is likelier
    log_joint[impossible] = 0.0
    log_joint -= log_joint.max(axis=1, keepdims=True)
    joint = np.exp(log_joint)
    return joint / joint.sum(axis=1, keepdims=True)
