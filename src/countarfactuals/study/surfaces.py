"""Median attainment surfaces: what half of the explanations attain or beat, per method and data set.

1. For each instance the non-dominated counterfactuals are a set of points, both coordinates to be minimised: minus the
   true log density, and the distance to x or the share of features changed.
2. moocore's `eaf` gives the points that half of the sets attain, the corners of the surface. An instance without a
   counterfactual attains nothing, and counts.
3. Two surfaces are compared by the share of the one's corners that the other attains.
"""

from __future__ import annotations

from typing import NamedTuple

import moocore
import numpy as np
import pandas as pd

_NOTHING = 1e30  # the coordinates of an instance without a counterfactual
COORDINATES = ("distance", "share_changed")


class Surface(NamedTuple):
    """The corners of a median attainment surface, by ascending first coordinate."""

    first: np.ndarray
    second: np.ndarray


def median_surface(points: np.ndarray, instance: np.ndarray, n_instances: int) -> Surface:
    """What half of the instances attain.

    Parameters
    ----------
    points : shape (n, 2), both minimised.
    instance : which instance each point belongs to, from 1 on.
    n_instances : how many there are, those without points included.
    """
    known = np.isfinite(points).all(axis=1)
    absent = np.setdiff1d(np.arange(1, n_instances + 1), instance[known])
    every = np.concatenate([points[known], np.full((len(absent), 2), _NOTHING)])
    sets = np.concatenate([instance[known], absent])
    if len(every) == 0:
        return Surface(np.empty(0), np.empty(0))
    order = np.argsort(sets, kind="stable")
    found = moocore.eaf(every[order], sets[order], percentiles=[50])[:, :2]
    found = found[(found < _NOTHING).all(axis=1)]
    found = found[np.lexsort((found[:, 1], found[:, 0]))]
    return Surface(found[:, 0], found[:, 1])


def surfaces(candidates: pd.DataFrame, instances: pd.DataFrame, column: str) -> dict[tuple[str, str], Surface]:
    """The surface of each data set and method."""
    best = candidates[candidates["nondominated"]]
    groups = dict(iter(best.groupby(["dataset", "method"], sort=False)))
    found = {}
    for pair, some in instances.groupby(["dataset", "method"], sort=False):
        rows = groups.get(pair, best.iloc[:0])
        points = np.column_stack([rows[column].to_numpy(float), -rows["log_density"].to_numpy(float)])
        found[pair] = median_surface(points, rows["instance"].to_numpy(int), int(some["instance"].max()))
    return found


def share_attained(surface: Surface, others: list[Surface]) -> float:
    """The share of the others' corners that a surface attains or beats; NaN where there are none.

    >>> low = Surface(np.array([0.1, 0.5]), np.array([3.0, 1.0]))
    >>> high = Surface(np.array([0.2, 0.3]), np.array([4.0, 2.0]))
    >>> share_attained(low, [high]), share_attained(high, [low])
    (0.5, 0.0)
    """
    x, y = (np.concatenate([one[k] for one in others]) if others else np.empty(0) for k in (0, 1))
    if len(x) == 0:
        return float("nan")
    is_attained = (surface.first[None] <= x[:, None]) & (surface.second[None] <= y[:, None])
    return float(is_attained.any(axis=1).mean())
