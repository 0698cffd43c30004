"""What makes a counterfactual good, as pure functions of arrays.

An `Objective` has a name, a function and a direction; searches minimise its cost. Its name is how results, tables and
pictures address it, and is written here only.

| objective | of a row c for the row x |
|---|---|
| validity | distance of the model's score to the target range (`prediction.Goal.distance`) |
| distance | Gower distance d(c, x) = Σ_j w_j d_j(c_j, x_j), Σ_j w_j = 1 |
| n_changed | number of features that differ |
| implausibility | −log density by the forest, or Σ_i w_i d(c, x⁽ⁱ⁾) over the k nearest real rows |

d_j is |c_j − x_j| over the range of the data, cut to [0, 1], for numbers and the ranks of ordered levels; 0 or 1 for
other levels and where either is missing. Both missing are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import moocore
import numpy as np
from numba import njit

from countarfactuals._kernels import kernel
from countarfactuals.schema import Kind, Schema

VALIDITY, DISTANCE, N_CHANGED, IMPLAUSIBILITY = KEYS = ("validity", "distance", "n_changed", "implausibility")
MINIMISE, MAXIMISE = "minimise", "maximise"

_ROUNDING = 1e-12  # by which sums of the same terms may differ
_BLOCK = 256  # rows whose neighbours are sought in one pass over the data


class Objective(NamedTuple):
    """One number for each encoded row, and whether it shall be small or large."""

    name: str
    function: Callable[[np.ndarray], np.ndarray]
    direction: str = MINIMISE

    def cost(self, rows: np.ndarray) -> np.ndarray:
        """What is minimised of each row, (n,)."""
        values = self.function(rows)
        return values if self.direction == MINIMISE else -values


class Gower(NamedTuple):
    """The Gower distance, in numbers that kernels take."""

    scale: np.ndarray  # (p,) range of numbers and ordered levels, −1 for unordered ones
    weight: np.ndarray  # (p,) sums to 1

    @classmethod
    def of(cls, schema: Schema, matrix: np.ndarray, weight: np.ndarray | None = None) -> Gower:
        """The distance whose ranges are those of a matrix; ordered levels range from the first to the last."""
        low = np.nanmin(matrix, axis=0)
        scale = np.nanmax(matrix, axis=0) - low
        for j, column in enumerate(schema.columns):
            if column.kind is Kind.ORDERED:
                scale[j] = column.n_levels - 1
            elif not column.is_number:
                scale[j] = -1.0
        weights = np.ones(len(scale)) if weight is None else np.asarray(weight, np.float64)
        return cls(scale, weights / weights.sum())

    def weighted(self, weight: np.ndarray) -> Gower:
        """The same distance with other weights."""
        return self._replace(weight=weight / weight.sum())

    def to(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Distance of each row to x."""
        return _gower_to(np.ascontiguousarray(rows), np.ascontiguousarray(x), self.scale, self.weight)

    def between(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Distances of all pairs, (n, m)."""
        return _gower_between(np.ascontiguousarray(rows), np.ascontiguousarray(others), self.scale, self.weight)

    def around(self, x: np.ndarray, data: np.ndarray) -> Surroundings:
        """The data in the order of its distance to x, for neighbours of many rows that are not far from x."""
        distance = self.to(x, data)
        order = np.argsort(distance, kind="stable")
        return Surroundings(self, np.array(x), np.ascontiguousarray(data[order]), distance[order])

    def nearest(self, rows: np.ndarray, data: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest rows of `data` for each row, (n, k) distances, ascending, and positions; ties by position.

        Distances are not kept for all pairs: memory is n · k.
        """
        return _nearest(np.ascontiguousarray(rows), np.ascontiguousarray(data), self.scale, self.weight, k)


class Surroundings(NamedTuple):
    """Data in the order of its distance to a row x, which tells most of it apart from the neighbours of rows near x.

    Gower's distance obeys the triangle inequality: d(c, r) ≥ |d(r, x) − d(c, x)|. From the place that a row c would
    have in the order, the search goes to both sides until this bound exceeds what was found.
    """

    gower: Gower
    x: np.ndarray
    data: np.ndarray
    distance: np.ndarray  # of the data to x, ascending

    def nearest(self, rows: np.ndarray, k: int) -> np.ndarray:
        """Distances of each row to its k nearest rows of the data, (n, k), ascending."""
        rows = np.ascontiguousarray(rows)
        own = self.gower.to(self.x, rows)
        return np.asarray(_nearest_around(rows, own, self.data, self.distance, self.gower.scale, self.gower.weight, k))

    def cost(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Σ_i w_i d(c, x⁽ⁱ⁾) of each row, over as many nearest rows as there are weights; they sum to 1.

        Where there is less data the weights of what there is are raised.
        """
        distance = self.nearest(rows, len(weights))
        w = weights[: distance.shape[1]]
        return np.asarray(distance @ (w / w.sum()))


@njit(inline="always")
def _term(a: float, b: float, scale: float) -> float:
    """The distance of two cells."""
    if a == b or (a != a and b != b):
        return 0.0
    if scale <= 0.0 or a != a or b != b:  # levels, a column without range, or one of two missing
        return 1.0
    return min(abs(a - b) / scale, 1.0)


@kernel
def _gower_to(rows, x, scale, weight):  # type: ignore[no-untyped-def]
    distance = np.zeros(len(rows))
    for i in range(len(rows)):
        for j in range(len(x)):
            distance[i] += weight[j] * _term(rows[i, j], x[j], scale[j])
    return distance


@kernel
def _gower_between(rows, others, scale, weight):  # type: ignore[no-untyped-def]
    distance = np.zeros((len(rows), len(others)))
    for i in range(len(rows)):
        for k in range(len(others)):
            for j in range(len(scale)):
                distance[i, k] += weight[j] * _term(rows[i, j], others[k, j], scale[j])
    return distance


@kernel
def _nearest(rows, data, scale, weight, k):  # type: ignore[no-untyped-def]
    k = min(k, len(data))
    best, place = np.full((len(rows), k), math.inf), np.zeros((len(rows), k), np.int64)
    for first in range(0, len(data), _BLOCK):  # a block of data stays in cache for all rows
        for i in range(len(rows)):
            for d in range(first, min(first + _BLOCK, len(data))):
                total = 0.0
                for j in range(len(scale)):
                    total += weight[j] * _term(rows[i, j], data[d, j], scale[j])
                    if total >= best[i, k - 1]:
                        break
                if total < best[i, k - 1]:
                    m = k - 1
                    while m > 0 and best[i, m - 1] > total:
                        best[i, m], place[i, m] = best[i, m - 1], place[i, m - 1]
                        m -= 1
                    best[i, m], place[i, m] = total, d
    return best, place


@kernel
def _nearest_around(rows, own, data, distance, scale, weight, k):  # type: ignore[no-untyped-def]
    n = len(data)
    k = min(k, n)
    best = np.full((len(rows), k), math.inf)
    for i in range(len(rows)):
        above = np.searchsorted(distance, own[i])
        below = above - 1
        while below >= 0 or above < n:
            gap_below = own[i] - distance[below] if below >= 0 else math.inf
            gap_above = distance[above] - own[i] if above < n else math.inf
            if min(gap_below, gap_above) > best[i, k - 1] + _ROUNDING:
                break
            if gap_below < gap_above:
                d, below = below, below - 1
            else:
                d, above = above, above + 1
            total = 0.0
            for j in range(len(scale)):
                total += weight[j] * _term(rows[i, j], data[d, j], scale[j])
                if total >= best[i, k - 1]:
                    break
            if total < best[i, k - 1]:
                m = k - 1
                while m > 0 and best[i, m - 1] > total:
                    best[i, m] = best[i, m - 1]
                    m -= 1
                best[i, m] = total
    return best


def canonical(rows: np.ndarray) -> np.ndarray:
    """Rows whose equal cells have equal bytes: one zero, one NaN."""
    rows = np.ascontiguousarray(rows, np.float64) + 0.0
    rows[np.isnan(rows)] = np.nan
    return rows


def changed(rows: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Which cells differ from x, (n, p); two missing cells do not."""
    return (rows != x) & ~(np.isnan(rows) & np.isnan(x))


def n_changed(rows: np.ndarray, x: np.ndarray, follows: np.ndarray | bool = False) -> np.ndarray:
    """Number of features that differ from x, but for cells that follow from others; floats, which objectives are."""
    return np.asarray((changed(rows, x) & ~np.asarray(follows)).sum(axis=1, dtype=np.float64))


def nondominated(objectives: np.ndarray) -> np.ndarray:
    """Which rows no other row dominates, (n,); of equal ones the first is kept."""
    if len(objectives) == 0:
        return np.zeros(0, np.bool_)
    return np.asarray(moocore.is_nondominated(np.ascontiguousarray(objectives)))


def dominated_by(objectives: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which rows some other row equals or beats in every objective."""
    return _dominated_by(np.ascontiguousarray(objectives), np.ascontiguousarray(others))


@kernel
def _dominated_by(objectives, others):  # type: ignore[no-untyped-def]
    result = np.zeros(len(objectives), np.bool_)
    for i in range(len(objectives)):
        for k in range(len(others)):
            beats = True
            for m in range(objectives.shape[1]):
                if others[k, m] > objectives[i, m]:
                    beats = False
                    break
            if beats:
                result[i] = True
                break
    return result


def pareto_layers(objectives: np.ndarray) -> np.ndarray:
    """The layer of each row: 0 for the non-dominated ones, 1 for those that are so without them, …"""
    return np.asarray(moocore.pareto_rank(np.ascontiguousarray(objectives)))


def hypervolume(objectives: np.ndarray, reference: np.ndarray) -> float:
    """Volume between the rows and the reference point, minimising; 0 for no rows."""
    if len(objectives) == 0:
        return 0.0
    return float(moocore.hypervolume(np.ascontiguousarray(objectives), ref=reference))
