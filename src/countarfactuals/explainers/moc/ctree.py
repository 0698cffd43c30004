"""A conditional inference tree: how one column, the response y, depends on the others.

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
5. Every node, inner ones too, keeps the values that y has in it, and the bandwidth of their kernel density,
   0.9 min(s, IQR / 1.34) n^(−1/5).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from countarfactuals._kernels import inner
from countarfactuals._tables import by_reference
from countarfactuals.explainers.moc.association import association, columns_of, first_of, log_chi2_sf


@by_reference
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


def grow_conditional_tree(
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


@inner
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
        first_level=np.where([len(codes) > 0 for codes in levels], place, -1),
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
