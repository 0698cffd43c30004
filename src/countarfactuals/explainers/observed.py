"""Improvement instead of acceptance: the observed outcome takes the model's place.

The forest learns features and outcome together; its conditional probability of a class (or conditional mean of a
number) given the features is the score that a counterfactual must bring to the target.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.multiclass import type_of_target

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.arf.density import log_density
from countarfactuals.arf.evidence import POINT, leaf_weights
from countarfactuals.arf.expectation import expect_number
from countarfactuals.exceptions import DataError
from countarfactuals.plausibility import points
from countarfactuals.prediction import Predictor
from countarfactuals.schema import Column, Kind, Schema

_NAME = "observed outcome"


def fit_observed(
    schema: Schema, matrix: np.ndarray, y: Any, forest: AdversarialRandomForest, task: str | None
) -> tuple[Predictor, np.ndarray, AdversarialRandomForest, np.ndarray]:
    """The forest over features and outcome, the predictor it makes, its scores of the rows, and the forest's rows."""
    outcome = _checked(y, len(matrix))
    if task is None:
        kind = type_of_target(outcome)
        task = "regression" if kind.startswith("continuous") else "binary" if kind == "binary" else "multiclass"
    name = _NAME
    while name in schema.names:
        name += "_"
    classes: tuple[Any, ...] = ()
    if task == "regression":
        column, codes = Column(name, Kind.REAL), outcome.astype(np.float64)
    else:
        labels, positions = np.unique(outcome, return_inverse=True)
        codes = positions.astype(np.float64)
        classes = tuple(labels.tolist())
        if len(classes) < 2:
            raise DataError(f"y has the one value {classes[0]!r}: there is no other outcome to reach.")
        task = "binary" if len(classes) == 2 else "multiclass"
        column = Column(name, Kind.CATEGORY, tuple(range(len(classes))))
    full = np.column_stack([matrix, codes])
    forest.fit_encoded(schema.append(column), full)
    predictor = observed_predictor(schema, forest, task, classes)
    return predictor, predictor.scores(matrix), forest, full


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


def _checked(y: Any, n: int) -> np.ndarray:
    if y is None:
        raise DataError("`outcome='observed'` needs the outcome: call `fit(X, y)`.")
    outcome = np.asarray(y)
    if outcome.ndim != 1 or len(outcome) != n:
        raise DataError(f"y must hold one outcome for each of the {n} rows, got shape {outcome.shape}.")
    if pd.isna(outcome).any():
        raise DataError("y has missing values. Drop these rows.")
    return outcome


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
