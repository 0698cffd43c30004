"""The conditional sampler of MOCCTREE: for each feature a conditional inference tree on the other features.

1. The tree of a feature is grown when it is first asked for, by the steps of `ctree.py`.
2. A new value is drawn from the rows of the leaf that a candidate falls into: a level by its share; a number from a
   kernel density, one of the leaf's values plus Gaussian noise of the leaf's bandwidth, truncated to the range of the
   data and moved to the nearest value that is permitted. A value that has a probability of its own gets no noise.
3. Where only some values are allowed, draws follow the leaf's distribution given that they are. Where the leaf has
   nothing allowed, that of the nearest node above that has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from countarfactuals._kernels import inner, kernel
from countarfactuals.arf.sampling import round_inside
from countarfactuals.arf.truncnorm import log_interval_mass_, truncated_ppf_
from countarfactuals.explainers.moc.ctree import ConditionalTree, find_leaf, grow_conditional_tree
from countarfactuals.schema import Column, Kind, Schema

_NOTHING = 1e-300  # weight of a node whose values can not reach what is allowed


@dataclass(frozen=True, eq=False)
class ConditionalTrees:
    """A conditional inference tree per column, each grown when it is first asked for.

    Parameters
    ----------
    schema : of the columns.
    matrix : the rows that trees are grown from.
    low, high : range of each column that draws stay in.
    alpha, max_depth, min_samples_leaf : see `fit_conditional_trees`.
    """

    schema: Schema
    matrix: np.ndarray
    low: np.ndarray
    high: np.ndarray
    alpha: float
    max_depth: int
    min_samples_leaf: int

    @cached_property
    def _grown(self) -> dict[int, ConditionalTree]:
        return {}

    def tree(self, j: int) -> ConditionalTree:
        """The tree whose response is column j."""
        if j not in self._grown:
            columns = self.schema.columns
            n_levels = np.array([0 if column.kind is Kind.ORDERED else column.n_levels for column in columns])
            log_alpha = math.log(self.alpha) if self.alpha > 0.0 else -math.inf
            tree = grow_conditional_tree(self.matrix, j, n_levels, log_alpha, self.max_depth, self.min_samples_leaf)
            if not columns[j].is_number:
                tree = tree._replace(bandwidth=np.zeros(len(tree.feature)))
            self._grown[j] = tree
        return self._grown[j]

    def draw(
        self,
        rows: np.ndarray,
        j: int,
        rng: np.random.Generator,
        allowed: tuple[float, float] | np.ndarray | None = None,
    ) -> np.ndarray:
        """A new value of column j for each row, (n,), given the row's other cells.

        Parameters
        ----------
        rows : (n, p), their cells in column j do not matter.
        j : the column.
        rng : what chance comes from.
        allowed : for a number the smallest and largest value, for levels which of them; None for all. Draws follow the
            leaf's distribution given that they are allowed. Where the leaf has nothing allowed, they follow that of the
            nearest node above that has; where there is none, the row keeps its cell.
        """
        rows = np.array(
            rows, np.float64, order="C"
        )  # a copy, as kernels are compiled anew for arrays that are read-only
        column, tree = self.schema.columns[j], self.tree(j)
        uniform = rng.random((len(rows), 2))
        low, high = float(self.low[j]), float(self.high[j])
        levels, is_free = np.zeros(0, np.bool_), allowed is None
        ends = low, high
        if allowed is not None and column.is_number:
            ends = _on_grid(max(low, float(allowed[0])), min(high, float(allowed[1])), column.unit)
            is_free = ends == (low, high)
            if ends[0] >= ends[1]:
                only = np.full(len(rows), ends[0]) if ends[0] == ends[1] else rows[:, j].copy()
                return _settled(column, only, ends, rows[:, j])
        elif allowed is not None:
            levels = np.array(allowed, np.bool_)
        drawn = _draw(tree, rows, j, uniform, levels, is_free, ends, (low, high), column.unit, column.permitted.atoms)
        return _settled(column, drawn, ends, rows[:, j])


def fit_conditional_trees(
    matrix: np.ndarray,
    schema: Schema,
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    max_depth: int = 5,
    min_samples_leaf: int = 20,
    max_rows: int = 5_000,
) -> ConditionalTrees:
    """The conditional sampler of a matrix in the schema's codes; trees are grown when they are first used.

    Parameters
    ----------
    matrix : (n, p), NaN for missing cells.
    schema : of its columns.
    rng : chooses the rows that trees see where there are more than `max_rows`; not used otherwise.
    alpha : largest adjusted p-value at which a node is split.
    max_depth : most splits between the root and a leaf.
    min_samples_leaf : fewest rows of a leaf; a density of fewer is little more than its bandwidth.
    max_rows : most rows that trees see.
    """
    seen = ~np.isnan(matrix)
    places = np.arange(len(matrix))
    if len(matrix) > max_rows:
        places = np.sort(rng.choice(len(matrix), max_rows, replace=False))
    return ConditionalTrees(
        schema=schema,
        matrix=np.array(matrix[places], np.float64),
        low=np.min(matrix, axis=0, where=seen, initial=math.inf),
        high=np.max(matrix, axis=0, where=seen, initial=-math.inf),
        alpha=alpha,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
    )


def _settled(column: Column, drawn: np.ndarray, ends: tuple[float, float], own: np.ndarray) -> np.ndarray:
    """The drawn cells as values that are permitted; a row keeps its own where there is none between the ends."""
    if not column.is_restricted:
        return drawn
    settled = column.permitted.nearest(drawn, *ends, own)
    return np.where(drawn == own, own, settled)


def _on_grid(low: float, high: float, step: float) -> tuple[float, float]:
    """The first and last grid point in [low, high]; the first is larger where there is none."""
    if step == 0.0 or not low <= high:
        return low, high
    scale = np.rint(1.0 / step)
    first, last = np.rint(low * scale), np.rint(high * scale)
    first += first / scale < low
    last -= last / scale > high
    return float(first / scale), float(last / scale)


@kernel
def _draw(tree, rows, j, uniform, levels, is_free, ends, data_range, step, atoms):  # type: ignore[no-untyped-def]
    drawn = np.empty(len(rows))
    half = 0.5 * step  # what rounds to a grid point at the end lies half a step around it
    low, high = ends[0] - half, ends[1] + half
    a, b = data_range[0] - half, data_range[1] + half
    for i in range(len(rows)):
        drawn[i] = rows[i, j]
        node = find_leaf(tree, rows[i])
        while node >= 0:
            k = _pick(tree, node, levels, is_free, low, high, a, b, uniform[i, 0], atoms)
            if k >= 0:
                drawn[i] = tree.values[k]
                if tree.bandwidth[node] > 0.0 and not _is_among(drawn[i], atoms):
                    noisy = truncated_ppf_(uniform[i, 1], max(low, a), min(high, b), drawn[i], tree.bandwidth[node])
                    drawn[i] = round_inside(noisy, ends[0], ends[1], step)
                break
            node = tree.parent[node]
    return drawn


@inner
def _is_among(value, atoms):  # type: ignore[no-untyped-def]
    return (atoms == value).any()


@inner
def _pick(tree, node, levels, is_free, low, high, a, b, u, atoms):  # type: ignore[no-untyped-def]
    """Place of one of a node's values, by how much of what is drawn around it is allowed; −1 where nothing is."""
    start, stop = tree.start[node], tree.stop[node]
    if is_free or stop == start:
        return min(start + np.int64(u * (stop - start)), stop - 1) if stop > start else -1
    weight = np.empty(stop - start)
    for k in range(start, stop):
        value, bandwidth = tree.values[k], tree.bandwidth[node]
        if len(levels) > 0:
            weight[k - start] = 1.0 if levels[np.int64(value)] else 0.0
        elif bandwidth > 0.0 and not _is_among(value, atoms):
            weight[k - start] = math.exp(log_interval_mass_(low, high, a, b, value, bandwidth))
        else:
            weight[k - start] = 1.0 if low <= value <= high else 0.0
    cumulated = np.cumsum(weight)
    if cumulated[-1] < _NOTHING:
        return -1
    return start + np.searchsorted(cumulated, u * cumulated[-1], side="right")
