"""The conditional sampler of MOCCTREE: for each feature a conditional inference tree on the other features.

1. A node tests every other feature x for association with the response y, on its rows that have both, by the tests of
   `association.py`: first for a dependence of means, as is usual, then for one of means and spreads. A number counts in
   the first by itself, in the second also by its squared deviation from the mean. Ordered levels count as numbers,
   their codes; unordered ones as they are in both. Degrees of freedom, k and l being the levels that the node has:

   | x and y | means | means and spreads |
   |---|---|---|
   | two numbers | 1 | 4 |
   | a number and k levels | k − 1 | 2 (k − 1) |
   | k and l levels | (k − 1)(l − 1) | the same test |

   A number with two values is one column in the second test too.
2. P-values are multiplied by the number of tests that can be made in the node (Bonferroni). The feature with the
   smallest one of the first tests splits the node if that is at most `alpha`; if none is, that of the second tests; if
   none is again, and at `max_depth`, the node is a leaf. A ring or a funnel has no dependence of means, and where means
   depend on x, cuts between them are better than cuts that also look at spreads.
3. Of all cuts of x that leave `min_samples_leaf` rows on both sides, the one with the largest two-sample statistic
   splits: that of the test, with two levels, the sides, in the place of x. Unordered levels are first brought into an
   order: by y's mean, by the share of y's most frequent level, or, in the second test, by their place on the line
   through the plane of mean and spread on which they differ most. A significant feature without such a cut gives way
   to the next one.
4. Rows that lack x, or have a level of it that the node has not, go to the larger side. Rows that lack y are left out.
5. A new value is drawn from the rows of the leaf that a candidate falls into: a level by its share; a number from a
   kernel density, one of the leaf's values plus Gaussian noise of bandwidth 0.9 min(s, IQR / 1.34) n^(−1/5), truncated
   to the range of the data and rounded to the column's grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit

from countarfactuals.arf.sampling import round_inside
from countarfactuals.arf.truncnorm import log_interval_mass_, truncated_ppf_
from countarfactuals.explainers.association import association, columns_of, first_of, log_chi2_sf
from countarfactuals.schema import Kind, Schema

_NOTHING = 1e-300  # weight of a node whose values can not reach what is allowed


class ConditionalTree(NamedTuple):
    """One tree in flat arrays over its nodes, parents before children; node 0 is the root.

    The response's values lie in `values` so that those of every node, inner ones too, are one stretch.
    """

    feature: np.ndarray  # that splits the node; −1 for a leaf
    cut: np.ndarray  # numbers up to it go left; NaN for levels
    first_level: np.ndarray  # place of the split's level 0 in `goes_left`; −1 for numbers
    goes_left: np.ndarray  # whether a level goes left, one stretch per split on levels
    missing_left: np.ndarray  # whether rows that lack the feature go left
    left: np.ndarray
    right: np.ndarray
    parent: np.ndarray  # −1 for the root
    start: np.ndarray  # the node's stretch of `values`
    stop: np.ndarray
    bandwidth: np.ndarray  # of the node's kernel density; 0 draws its values as they are
    log_p: np.ndarray  # adjusted p-value of the split; NaN for a leaf
    values: np.ndarray


class _Split(NamedTuple):
    """How a node is split, and which of its rows go left."""

    feature: int
    cut: float
    levels: np.ndarray | None
    missing_left: bool
    log_p: float
    left: np.ndarray


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
            tree = _grow(self.matrix, j, n_levels, log_alpha, self.max_depth, self.min_samples_leaf)
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
            ends = _on_grid(max(low, float(allowed[0])), min(high, float(allowed[1])), column.step)
            is_free = ends == (low, high)
            if ends[0] >= ends[1]:
                return np.full(len(rows), ends[0]) if ends[0] == ends[1] else rows[:, j].copy()
        elif allowed is not None:
            levels = np.array(allowed, np.bool_)
        return _draw(tree, rows, j, uniform, levels, is_free, ends, (low, high), column.step)


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
    some = np.arange(len(matrix))
    if len(matrix) > max_rows:
        some = np.sort(rng.choice(len(matrix), max_rows, replace=False))
    return ConditionalTrees(
        schema=schema,
        matrix=np.array(matrix[some], np.float64),
        low=np.min(matrix, axis=0, where=seen, initial=math.inf),
        high=np.max(matrix, axis=0, where=seen, initial=-math.inf),
        alpha=alpha,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
    )


# Growing


def _grow(
    matrix: np.ndarray, j: int, n_levels: np.ndarray, log_alpha: float, max_depth: int, min_samples_leaf: int
) -> ConditionalTree:
    """The tree of column j; `n_levels` is 0 for what counts as a number."""
    matrix = matrix[~np.isnan(matrix[:, j])]
    splits: list[_Split | None] = []
    leaves: list[np.ndarray] = []
    parents, starts, sizes = [], [], []
    todo = [(np.arange(len(matrix)), 0, -1)]
    while todo:  # left before right, so that a node's values follow on those of all leaves to its left
        rows, depth, parent = todo.pop()
        parents.append(parent)
        starts.append(sum(len(leaf) for leaf in leaves))
        sizes.append(len(rows))
        split = None
        if depth < max_depth and len(rows) >= 2 * min_samples_leaf:
            split = _find_split(matrix[rows], j, n_levels, log_alpha, min_samples_leaf)
        if split is None:
            leaves.append(rows)
        else:
            here = len(splits)
            todo += [(rows[~split.left], depth + 1, here), (rows[split.left], depth + 1, here)]
        splits.append(split)
    values = matrix[np.concatenate(leaves), j]
    return _flat(splits, np.array(parents), np.array(starts), np.array(sizes), values)


def _flat(
    splits: list[_Split | None], parent: np.ndarray, start: np.ndarray, size: np.ndarray, values: np.ndarray
) -> ConditionalTree:
    """The tree as arrays."""
    left, right = np.full((2, len(splits)), -1)
    for child in range(len(splits) - 1, 0, -1):  # the left child of a node comes first
        left[parent[child]], right[parent[child]] = child, max(right[parent[child]], child)
    levels = [np.zeros(0, np.bool_) if s is None or s.levels is None else s.levels for s in splits]
    place = np.cumsum([0, *map(len, levels)])[:-1]
    return ConditionalTree(
        feature=np.array([-1 if s is None else s.feature for s in splits]),
        cut=np.array([math.nan if s is None else s.cut for s in splits]),
        first_level=np.where([len(some) > 0 for some in levels], place, -1),
        goes_left=np.concatenate(levels),
        missing_left=np.array([s is not None and s.missing_left for s in splits]),
        left=left,
        right=right,
        parent=parent,
        start=start,
        stop=start + size,
        bandwidth=np.array([_bandwidth(values[a : a + n]) for a, n in zip(start, size, strict=True)]),
        log_p=np.array([math.nan if s is None else s.log_p for s in splits]),
        values=values,
    )


def _bandwidth(values: np.ndarray) -> float:
    """Silverman's rule of thumb; by the standard deviation alone where half of the values are equal."""
    if len(values) < 2 or values.min() == values.max():
        return 0.0
    first, third = np.quantile(values, [0.25, 0.75])
    sd = float(values.std(ddof=1))
    return 0.9 * (min(sd, (third - first) / 1.34) if third > first else sd) * len(values) ** -0.2


def _find_split(
    matrix: np.ndarray, j: int, n_levels: np.ndarray, log_alpha: float, min_samples_leaf: int
) -> _Split | None:
    """Steps 2 and 3 for the rows of one node."""
    y, is_level = matrix[:, j], n_levels > 0
    tests = _tests(matrix, j, is_level)
    n_tests = int((tests[0, :, 1] > 0).sum() + (tests[1, :, 1] > tests[0, :, 1]).sum())
    for rank, (statistic, df) in enumerate(np.moveaxis(tests, 2, 1), start=1):
        log_p = np.minimum(log_chi2_sf(statistic, df) + math.log(max(n_tests, 1)), 0.0)
        log_p[df == 0] = math.inf
        for f in np.argsort(log_p, kind="stable").tolist():
            if log_p[f] > log_alpha:
                break
            known = ~np.isnan(matrix[:, f])
            response = columns_of(y[known], is_level[j], rank)
            split = _split_on(f, matrix[:, f], known, response, int(n_levels[f]), min_samples_leaf, float(log_p[f]))
            if split is not None:
                return split
    return None


def _tests(matrix: np.ndarray, j: int, is_level: np.ndarray) -> np.ndarray:
    """Statistic and degrees of freedom of each feature in both tests of step 1, (2, p, 2); zeros for column j."""
    known = ~np.isnan(matrix)
    response = columns_of(matrix[:, j], is_level[j])
    tests = np.zeros((2, matrix.shape[1], 2))
    for f in range(matrix.shape[1]):
        if f != j:
            has = known[:, f]
            x = columns_of(matrix[has, f], is_level[f])
            y = response if has.all() else columns_of(matrix[has, j], is_level[j])
            tests[0, f] = association(first_of(x), first_of(y))
            tests[1, f] = association(x, y)
    return tests


def _split_on(
    f: int, x: np.ndarray, known: np.ndarray, response: np.ndarray, n_levels: int, min_samples_leaf: int, log_p: float
) -> _Split | None:
    """The best split on one feature, None where no cut leaves enough rows on both sides; `response` of known rows."""
    x_known = x[known]
    rank, is_present = np.zeros(0), np.zeros(0, np.bool_)
    if n_levels > 0:
        code = x_known.astype(np.int64)
        rank, is_present = _level_ranks(code, n_levels, response)
        x_known = rank[code]
    cut = _best_cut(x_known, response, min_samples_leaf)
    if cut is None:
        return None
    left = np.zeros(len(x), np.bool_)
    left[known] = x_known <= cut
    missing_left = bool(2 * np.count_nonzero(left) >= np.count_nonzero(known))
    left[~known] = missing_left
    if n_levels == 0:
        return _Split(f, cut, None, missing_left, log_p, left)
    return _Split(f, math.nan, np.where(is_present, rank <= cut, missing_left), missing_left, log_p, left)


def _level_ranks(code: np.ndarray, n_levels: int, response: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The place of each level in the order of step 3, and which levels occur."""
    count = np.bincount(code, minlength=n_levels)
    if response.ndim == 1:
        response = (response == np.bincount(response).argmax())[:, None]
    total = np.stack([np.bincount(code, column, n_levels) for column in response.T], axis=1)
    mean = total / np.maximum(count, 1)[:, None]
    worth = mean[:, 0]
    if response.shape[1] > 1:  # the line on which levels differ most; upwards it has the larger means
        line = np.linalg.eigh(total.T @ mean)[1][:, -1]
        worth = mean @ (-line if line[0] < 0 else line)
    rank = np.empty(n_levels)
    rank[np.argsort(worth, kind="stable")] = np.arange(n_levels)
    return rank, count > 0


def _best_cut(x: np.ndarray, response: np.ndarray, min_samples_leaf: int) -> float | None:
    """The cut with the largest two-sample statistic, half-way between the values beside it."""
    n = len(x)
    order = np.argsort(x, kind="stable")
    x, response = x[order], response[order]
    n_left = np.arange(1, n)
    possible = (x[1:] > x[:-1]) & (n_left >= min_samples_leaf) & (n - n_left >= min_samples_leaf)
    if not possible.any():
        return None
    # both statistics but for a factor that all cuts share
    if response.ndim == 1:
        excess = _level_excess(response)[:-1]
    else:
        excess = (np.cumsum(response, axis=0)[:-1] ** 2).sum(axis=1)
    best = int(np.argmax(np.where(possible, excess / (n_left * (n - n_left)), -1.0)))
    middle = x[best] + (x[best + 1] - x[best]) / 2
    return float(middle if middle < x[best + 1] else x[best])


def _level_excess(y: np.ndarray) -> np.ndarray:
    """Σ_k (L_k − m c_k / n)² / c_k after each of the first m rows: L_k of c_k rows of level k are among them.

    It is Σ_k L_k² / c_k − m² / n, and the t-th row of a level adds (t² − (t − 1)²) / c_k to the sum.
    """
    n, count = len(y), np.bincount(y)
    order = np.argsort(y, kind="stable")
    t = np.empty(n)
    t[order] = np.arange(n) - np.repeat(np.cumsum(count) - count, count) + 1
    return np.cumsum((2 * t - 1) / count[y]) - np.arange(1, n + 1) ** 2 / n


# Drawing


def _on_grid(low: float, high: float, step: float) -> tuple[float, float]:
    """The first and last grid point in [low, high]; the first is larger where there is none."""
    if step == 0.0 or not low <= high:
        return low, high
    scale = np.rint(1.0 / step)
    first, last = np.rint(low * scale), np.rint(high * scale)
    first += first / scale < low
    last -= last / scale > high
    return float(first / scale), float(last / scale)


@njit(nogil=True, cache=True)
def find_leaf(tree, row):  # type: ignore[no-untyped-def]
    """The leaf that a row falls into."""
    node = 0
    while tree.feature[node] >= 0:
        x, place = row[tree.feature[node]], tree.first_level[node]
        if math.isnan(x):
            is_left = tree.missing_left[node]
        elif place < 0:
            is_left = x <= tree.cut[node]
        else:
            is_left = tree.goes_left[place + np.int64(x)]
        node = tree.left[node] if is_left else tree.right[node]
    return node


@njit(nogil=True, cache=True)
def _draw(tree, rows, j, uniform, levels, is_free, ends, data_range, step):  # type: ignore[no-untyped-def]
    drawn = np.empty(len(rows))
    half = 0.5 * step  # what rounds to a grid point at the end lies half a step around it
    low, high = ends[0] - half, ends[1] + half
    a, b = data_range[0] - half, data_range[1] + half
    for i in range(len(rows)):
        drawn[i] = rows[i, j]
        node = find_leaf(tree, rows[i])
        while node >= 0:
            k = _pick(tree, node, levels, is_free, low, high, a, b, uniform[i, 0])
            if k >= 0:
                drawn[i] = tree.values[k]
                if tree.bandwidth[node] > 0.0:
                    noisy = truncated_ppf_(uniform[i, 1], max(low, a), min(high, b), drawn[i], tree.bandwidth[node])
                    drawn[i] = round_inside(noisy, ends[0], ends[1], step)
                break
            node = tree.parent[node]
    return drawn


@njit(nogil=True, cache=True)
def _pick(tree, node, levels, is_free, low, high, a, b, u):  # type: ignore[no-untyped-def]
    """Place of one of a node's values, by how much of what is drawn around it is allowed; −1 where nothing is."""
    start, stop = tree.start[node], tree.stop[node]
    if is_free or stop == start:
        return min(start + np.int64(u * (stop - start)), stop - 1) if stop > start else -1
    weight = np.empty(stop - start)
    for k in range(start, stop):
        value, bandwidth = tree.values[k], tree.bandwidth[node]
        if len(levels) > 0:
            weight[k - start] = 1.0 if levels[np.int64(value)] else 0.0
        elif bandwidth > 0.0:
            weight[k - start] = math.exp(log_interval_mass_(low, high, a, b, value, bandwidth))
        else:
            weight[k - start] = 1.0 if low <= value <= high else 0.0
    cumulated = np.cumsum(weight)
    if cumulated[-1] < _NOTHING:
        return -1
    return start + np.searchsorted(cumulated, u * cumulated[-1], side="right")
