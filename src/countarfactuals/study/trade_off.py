"""RQ1, the trade-off: what higher plausibility costs in changes and distance.

1. *At most k changes*: per instance the highest true log density among the non-dominated counterfactuals that change at
   most k features, k the smaller of 3 and the number of features; then the median over instances. An instance without
   such a counterfactual counts as minus infinity.
2. *Changes and distance*: medians over all non-dominated counterfactuals.
3. *Median attainment surfaces*: what half of the explanations attain or beat. For each instance the non-dominated
   counterfactuals are a set of points, both coordinates to be minimised: minus the true log density, and the distance
   to x or the share of features changed. moocore's `eaf` gives the points that half of the sets attain, the corners of
   the surface. An instance without a counterfactual attains nothing, and counts.
4. Of the corners of MOC's, MOCCTREE's and NICE's surfaces the share that a method's own surface attains, and the share
   of its corners that theirs attain together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import moocore
import numpy as np
import pandas as pd

from countarfactuals.study.design import OTHERS, OURS
from countarfactuals.study.tables import PAIR

MOST_CHANGES = 3
COORDINATES = ("distance", "share_changed")
_NOTHING = 1e30  # the coordinates of an instance without a counterfactual


def trade_off(candidates: pd.DataFrame, instances: pd.DataFrame, n_features: Mapping[str, int]) -> pd.DataFrame:
    """One line per data set and method, in the order of `instances`.

    Parameters
    ----------
    candidates, instances : see `tables`.
    n_features : of each data set.
    """
    best = candidates[candidates["nondominated"]]
    table = instances.groupby(PAIR, sort=False).size().index.to_frame(index=False)
    table["most_changes"] = [min(MOST_CHANGES, n_features[name]) for name in table["dataset"]]
    values = [_sparse_density(best, instances, *line) for line in table.itertuples(index=False, name=None)]
    table["log_density_within"] = values
    table = table.join(best.groupby(PAIR, sort=False)[["n_changed", "distance"]].median(), on=PAIR)
    for column in COORDINATES:
        table = table.join(_attained(candidates, instances, column), on=PAIR)
    return table


def _sparse_density(best: pd.DataFrame, instances: pd.DataFrame, name: str, method: str, most: int) -> float:
    every = instances.loc[(instances["dataset"] == name) & (instances["method"] == method), "instance"]
    mine = best[(best["dataset"] == name) & (best["method"] == method) & (best["n_changed"] <= most)]
    highest = mine.groupby("instance")["log_density"].max().reindex(every, fill_value=-np.inf)
    low, high = np.quantile(highest, 0.5, method="lower"), np.quantile(highest, 0.5, method="higher")
    return float(low if np.isinf(low) else (low + high) / 2.0)  # infinities have no middle


def _attained(candidates: pd.DataFrame, instances: pd.DataFrame, column: str) -> pd.DataFrame:
    """Of each of our methods: the share of the others' corners that it attains, and the reverse."""
    by_pair = surfaces(candidates, instances, column)
    lines = []
    for (name, method), surface in by_pair.items():
        others = [by_pair[name, other] for other in OTHERS if (name, other) in by_pair]
        if method in OURS and others:
            theirs = share_attained(together(others), [surface])
            lines.append((name, method, share_attained(surface, others), theirs))
    names = [*PAIR, f"{column}_attained", f"{column}_attained_by_others"]
    return pd.DataFrame(lines, columns=names).set_index(PAIR)


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
    is_finite = np.isfinite(points).all(axis=1)
    absent = np.setdiff1d(np.arange(1, n_instances + 1), instance[is_finite])
    every = np.concatenate([points[is_finite], np.full((len(absent), 2), _NOTHING)])
    sets = np.concatenate([instance[is_finite], absent])
    if len(every) == 0:
        return Surface(np.empty(0), np.empty(0))
    order = np.argsort(sets, kind="stable")
    corners = moocore.eaf(every[order], sets[order], percentiles=[50])[:, :2]
    corners = corners[(corners < _NOTHING).all(axis=1)]
    corners = corners[np.lexsort((corners[:, 1], corners[:, 0]))]
    return Surface(corners[:, 0], corners[:, 1])


def surfaces(candidates: pd.DataFrame, instances: pd.DataFrame, column: str) -> dict[tuple[str, str], Surface]:
    """The surface of each data set and method, against the distance or the share of features changed."""
    best = candidates[candidates["nondominated"]]
    groups = dict(iter(best.groupby(PAIR, sort=False)))
    found = {}
    for pair, n_instances in instances.groupby(PAIR, sort=False)["instance"].max().items():
        rows = groups.get(pair, best.iloc[:0])
        points = np.column_stack([rows[column].to_numpy(float), -rows["log_density"].to_numpy(float)])
        found[pair] = median_surface(points, rows["instance"].to_numpy(int), int(n_instances))
    return found


def share_attained(surface: Surface, others: list[Surface]) -> float:
    """The share of the others' corners that a surface attains or beats; NaN where there are none.

    >>> low = Surface(np.array([0.1, 0.5]), np.array([3.0, 1.0]))
    >>> high = Surface(np.array([0.2, 0.3]), np.array([4.0, 2.0]))
    >>> share_attained(low, [high]), share_attained(high, [low])
    (0.5, 0.0)
    """
    x, y = together(others)
    if len(x) == 0:
        return float("nan")
    is_attained = (surface.first[None] <= x[:, None]) & (surface.second[None] <= y[:, None])
    return float(is_attained.any(axis=1).mean())


def together(surfaces: list[Surface]) -> Surface:
    """The corners of several surfaces."""
    return Surface(*(np.concatenate([surface[k] for surface in surfaces] or [np.empty(0)]) for k in (0, 1)))
