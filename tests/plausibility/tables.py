"""Small tables whose dependence is known, and the judges fitted to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from countarfactuals import AdversarialRandomForest
from countarfactuals.objectives import Gower
from countarfactuals.plausibility import Plausibility, fit_plausibility
from countarfactuals.plausibility.cells import Cells
from countarfactuals.schema import Schema


class Judged(NamedTuple):
    """A table with its judges."""

    schema: Schema
    matrix: np.ndarray
    panel: Plausibility


def judged(X: pd.DataFrame, measure: str | None = None, seed: int = 0, **forest: Any) -> Judged:
    """The judges of a table, with a small forest of the features alone."""
    schema = Schema.infer(X)
    matrix = schema.encode(X)
    fitted = AdversarialRandomForest(**{"n_estimators": 20, "random_state": 1} | forest)
    fitted.fit_encoded(schema, matrix, quiet=True)
    gower = Gower.of(schema, matrix)
    return Judged(schema, matrix, fit_plausibility(fitted, schema, matrix, measure, gower, np.random.default_rng(seed)))


def read(X: pd.DataFrame) -> tuple[Schema, np.ndarray, Cells]:
    """The schema of a table, its matrix, and how judges read it."""
    schema = Schema.infer(X)
    matrix = schema.encode(X)
    return schema, matrix, Cells.of(schema, matrix)


def thirds(n: int, seed: int = 0) -> np.ndarray:
    """A part for each row."""
    return np.random.default_rng(seed).permutation(n) % 3


def all_states(n: int = 900, seed: int = 3) -> pd.DataFrame:
    """Numbers of all kinds that depend on a hidden group: continuous, with an atom, of few values; levels; and gaps."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    debt = np.exp(rng.normal(6.0 + group, 0.5)).round(2)
    debt[rng.random(n) < 0.3 - 0.1 * group] = 0.0
    X = pd.DataFrame(
        {
            "height": rng.normal(170.0 + 8.0 * group, 5.0),
            "debt": debt,
            "term": 12.0 * (1 + np.minimum(group + rng.integers(2, size=n), 3)),
            "job": np.array(["clerk", "nurse", "smith"], object)[np.where(rng.random(n) < 0.8, group, 0)],
            "owner": rng.random(n) < 0.2 + 0.3 * group,
        }
    )
    X.loc[rng.random(n) < 0.05, "debt"] = np.nan
    X.loc[rng.random(n) < 0.1, "height"] = np.nan
    X["job"] = X["job"].mask(rng.random(n) < 0.05)
    return X


def sums(n: int, seed: int = 0) -> pd.DataFrame:
    """c is a + b but for a little noise, d is all its own, and whoever is a child has no licence."""
    rng = np.random.default_rng(seed)
    a, b, is_child = rng.normal(10.0, 2.0, n), rng.normal(-3.0, 2.0, n), rng.random(n) < 0.3
    return pd.DataFrame(
        {
            "a": a,
            "b": b,
            "c": a + b + rng.normal(0.0, 0.1, n),
            "d": rng.normal(0.0, 1.0, n),
            "child": np.where(is_child, "yes", "no"),
            "licence": np.where(~is_child & (rng.random(n) < 0.8), "yes", "no"),
        }
    )
