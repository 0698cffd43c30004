"""ICE curves: what the model says of rows that differ from x in one feature.

A curve runs through up to 20 values that the data has, evenly spaced in their order, and x's own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from countarfactuals.explainers.background import Background

MOST_POINTS = 20


class Curve(NamedTuple):
    """The model's scores along one feature: the values asked for, without x's own, and the scores there, (n, s)."""

    values: np.ndarray
    scores: np.ndarray


def ice_curves(background: Background, x: np.ndarray, *, hides_rare: bool = False) -> list[Curve]:
    """One curve for each feature; the model is asked once about all of them.

    With `hides_rare` values that few rows of the data have are left out, or have their stand-ins.
    """
    grids = [_grid(background, x, j, hides_rare) for j in range(len(x))]
    feature = np.repeat(np.arange(len(grids)), [len(grid) for grid in grids])
    rows = np.repeat(x[None], len(feature), axis=0)
    rows[np.arange(len(rows)), feature] = np.concatenate(grids)
    scores = background.predictor.scores(background.representable(rows))
    return [Curve(grid, scores[feature == j]) for j, grid in enumerate(grids)]


def points_along(
    background: Background, x: np.ndarray, j: int, n: int, limits: tuple[float, float], *, hides_rare: bool = False
) -> np.ndarray:
    """Values of a column to ask at, ascending: all levels, or about n permitted numbers within limits; and x's own."""
    low, high = limits
    column = background.schema.columns[j]
    if column.is_number:
        even = np.linspace(low, high, n)
        values = column.permitted.nearest(even, low, high, even)
    else:
        values = np.arange(column.n_levels, dtype=np.float64)
    if hides_rare and len(column.values):
        values = background.veil.shared(j, values)
    return np.unique(np.append(values, x[[j]][~np.isnan(x[[j]])]))


def _grid(background: Background, x: np.ndarray, j: int, hides_rare: bool) -> np.ndarray:
    """Values of the data that differ from x's own, at most so many."""
    values = background.distinct[j]
    if hides_rare:
        values = background.veil.shared(j, values)
    values = values[values != x[j]]
    if len(values) <= MOST_POINTS:
        return values
    return values[((np.arange(MOST_POINTS) + 0.5) * len(values) / MOST_POINTS).astype(np.int64)]
