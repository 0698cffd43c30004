"""Evidence, and the weight each leaf has under it.

    π'_l ∝ π_l ∏_j p_lj(C_j)

1. `Evidence` holds one condition per row: for each column nothing, a point, missing, present, intervals, or any of
   several points or levels.
2. A condition walks every tree and takes both branches where its column leaves them open, so only leaves that can
   meet it are visited.
3. In a leaf, each conditioned column contributes log p_lj(C_j): a log density for a point of a number, a log
   probability otherwise. The sum over leaves is the evidence's log probability (or density), `LeafWeights` its parts;
   normalised over *all* leaves they are π'.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from countarfactuals.arf.forest import Forest, goes_left
from countarfactuals.arf.leaves import LeafTable, reaches
from countarfactuals.arf.truncnorm import log_interval_mass_, truncated_logpdf_

FREE, POINT, IS_MISSING, PRESENT, INTERVALS, ANY_OF = range(6)


class Evidence(NamedTuple):
    """Conditions on the columns of the matrix, one per row."""

    kind: np.ndarray  # int8 (n, p)
    value: np.ndarray  # float64 (n, p), of points, NaN elsewhere
    start: np.ndarray  # int32 (n, p), where intervals or alternatives start in `low`, `high`
    stop: np.ndarray  # int32 (n, p)
    low: np.ndarray  # float64, an interval's end, or an alternative (low = high)
    high: np.ndarray  # float64

    @classmethod
    def empty(cls, n: int, p: int) -> Evidence:
        """Conditions that ask nothing."""
        return cls(
            np.zeros((n, p), np.int8),
            np.full((n, p), np.nan),
            np.zeros((n, p), np.int32),
            np.zeros((n, p), np.int32),
            np.empty(0),
            np.empty(0),
        )

    @classmethod
    def points(cls, matrix: np.ndarray, missing_is_event: np.ndarray) -> Evidence:
        """Each row as a condition: cells are points; a missing one is an event where the column has such, else free."""
        evidence = cls.empty(*matrix.shape)
        blank = np.isnan(matrix)
        evidence.kind[~blank] = POINT
        evidence.kind[blank & missing_is_event] = IS_MISSING
        evidence.value[:] = matrix
        return evidence

    def rows(self, chosen: np.ndarray | slice) -> Evidence:
        """Some of the conditions."""
        return self._replace(
            kind=self.kind[chosen], value=self.value[chosen], start=self.start[chosen], stop=self.stop[chosen]
        )

    def repeated(self, n: int) -> Evidence:
        """One condition n times."""
        return self.rows(np.zeros(n, np.int64))

    def without(self, column: int) -> Evidence:
        """The same conditions with one column free."""
        kind, value = self.kind.copy(), self.value.copy()
        kind[:, column], value[:, column] = FREE, np.nan
        return self._replace(kind=kind, value=value)


class LeafWeights(NamedTuple):
    """Per condition the leaves that can meet it, and log π_l + Σ_j log p_lj(C_j), not normalised."""

    start: np.ndarray  # int64 (n + 1,)
    leaf: np.ndarray  # int32
    log_weight: np.ndarray  # float64
    log_total: np.ndarray  # float64 (n,), log probability (or density) of each condition


def leaf_weights(forest: Forest, leaves: LeafTable, evidence: Evidence) -> LeafWeights:
    """The leaves' weights under each condition."""
    per_tree, condition, leaf, log_weight = _walk(forest, leaves, evidence, _plan(forest, leaves, evidence), True)
    return _by_condition(condition, leaf, log_weight, log_sum_columns(per_tree))


def visits(
    forest: Forest, leaves: LeafTable, evidence: Evidence
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """`tree_log_weights`, and every leaf that a condition can end in: condition, leaf, log weight, tree by tree."""
    return _walk(forest, leaves, evidence, _plan(forest, leaves, evidence), True)


def tree_log_weights(forest: Forest, leaves: LeafTable, evidence: Evidence) -> np.ndarray:
    """The log of the leaves' summed weights, (trees, conditions)."""
    return _walk(forest, leaves, evidence, _plan(forest, leaves, evidence), False)[0]


class _Plan(NamedTuple):
    """Evidence laid out for leaves, so that the common conditions take one pass over neighbouring cells."""

    one_leaf: bool  # whether every condition says of every column that is split where it goes: one leaf per tree
    point: np.ndarray  # float64 (n, q), values of numbers that are asked for, 0 where none is
    is_asked: np.ndarray  # float64 (n, q), 1 where a value is asked for, else 0
    asks_all: np.ndarray  # bool (n,)
    level: np.ndarray  # int32 (n, c), levels that are asked for, −1 where none is
    presence: np.ndarray  # int8 (n, m), 0 asked to be missing, 1 asked to be present, −1 free
    others: np.ndarray  # int32 (n, p), the columns with intervals or alternatives, first in each row
    n_others: np.ndarray  # int64 (n,)


def _plan(forest: Forest, leaves: LeafTable, evidence: Evidence) -> _Plan:
    kind, is_number = evidence.kind, leaves.number_of >= 0
    is_point, is_other = kind == POINT, (kind == INTERVALS) | (kind == ANY_OF)
    presence = np.where(kind == FREE, -1, kind != IS_MISSING)

    def chosen(cells: np.ndarray, columns: np.ndarray, dtype: type) -> np.ndarray:
        return np.ascontiguousarray(cells[:, columns], dtype)  # NumPy gives the choice column by column

    return _Plan(
        one_leaf=bool((is_point | (kind == IS_MISSING))[:, forest.split].all()),
        point=chosen(np.where(is_point, evidence.value, 0.0), is_number, np.float64),
        is_asked=chosen(is_point, is_number, np.float64),
        asks_all=is_point[:, is_number].all(axis=1),
        level=chosen(np.where(is_point, evidence.value, -1.0), ~is_number, np.int32),
        presence=chosen(presence, leaves.missing_of >= 0, np.int8),
        others=np.argsort(~is_other, axis=1, kind="stable").astype(np.int32),
        n_others=is_other.sum(axis=1),
    )


@njit(nogil=True, cache=True, inline="always")
def log_add(a: float, b: float) -> float:
    """Log (eᵃ + eᵇ)."""
    if a < b:
        a, b = b, a
    return a + math.log1p(math.exp(b - a)) if b > -math.inf else a


@njit(nogil=True, cache=True)
def log_sum_columns(matrix: np.ndarray) -> np.ndarray:
    """Log Σ eᵛ of each column, −∞ for nothing but −∞."""
    n_rows, n = matrix.shape
    largest, total = np.full(n, -math.inf), np.zeros(n)
    for r in range(n_rows):
        for i in range(n):
            largest[i] = max(largest[i], matrix[r, i])
    for r in range(n_rows):
        for i in range(n):
            if matrix[r, i] > -math.inf:
                total[i] += math.exp(matrix[r, i] - largest[i])
    for i in range(n):
        if total[i] > 0.0:
            largest[i] += math.log(total[i])
    return largest


@njit(nogil=True, cache=True, inline="always")
def _is_outside(point, is_asked, low, high, i, leaf):  # type: ignore[no-untyped-def]
    """Whether a number asked for lies outside the closed bounds of the leaf."""
    for k in range(point.shape[1]):
        if is_asked[i, k] > 0.0 and not (point[i, k] > low[leaf, k] and point[i, k] <= high[leaf, k]):
            return True
    return False


@njit(nogil=True, cache=True)
def _find_level(start, level, cell, wanted):  # type: ignore[no-untyped-def]
    """Where a level is listed in a cell (leaf and category), −1 if it is not."""
    low, end = start[cell], start[cell + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if level[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and level[low] == wanted else -1


@njit(nogil=True, cache=True)
def log_alternative(forest, leaves, evidence, k, j, leaf):  # type: ignore[no-untyped-def]
    """Log probability (density) of the k-th interval or alternative, for column j in a leaf."""
    low, high = evidence.low[k], evidence.high[k]
    q, c = leaves.number_of[j], leaves.category_of[j]
    if q >= 0:
        a, b, mu, sigma = leaves.low[leaf, q], leaves.high[leaf, q], leaves.mu[leaf, q], leaves.sigma[leaf, q]
        if low == high:
            return truncated_logpdf_(low, a, b, mu, sigma)
        return log_interval_mass_(low, high, a, b, mu, sigma)
    listed = _find_level(leaves.level_start, leaves.level, leaf * leaves.rest_logp.shape[1] + c, np.int64(low))
    if listed >= 0:
        return leaves.level_logp[listed]
    return leaves.rest_logp[leaf, c] if reaches(forest, leaf, j, low) else -math.inf


@njit(nogil=True, cache=True)
def _log_others(forest, leaves, evidence, plan, i, leaf):  # type: ignore[no-untyped-def]
    """Σ log probability of the intervals and alternatives."""
    total = 0.0
    for o in range(plan.n_others[i]):
        j = plan.others[i, o]
        either = -math.inf
        for k in range(evidence.start[i, j], evidence.stop[i, j]):
            either = log_add(either, log_alternative(forest, leaves, evidence, k, j, leaf))
        total += either
    return total


@njit(nogil=True, cache=True)
def _open_branches(forest, evidence, i, node):  # type: ignore[no-untyped-def]
    """Which branches of a node the condition leaves open."""
    j = forest.feature[node]
    kind = evidence.kind[i, j]
    if kind == PRESENT:
        return True, True
    if kind == IS_MISSING:
        return forest.missing_left[node], not forest.missing_left[node]
    if kind == POINT:
        left = goes_left(forest, node, evidence.value[i, j])
        return left, not left
    left = right = False
    for k in range(evidence.start[i, j], evidence.stop[i, j]):
        if kind == ANY_OF:
            goes = goes_left(forest, node, evidence.low[k])
            left, right = left or goes, right or not goes
        else:
            left = left or evidence.low[k] < forest.threshold[node]
            right = right or evidence.high[k] > forest.threshold[node]
    return left, right


@njit(nogil=True, cache=True)
def _walk(forest, leaves, evidence, plan, listing):  # type: ignore[no-untyped-def]
    """Visit the leaves that each condition can end in, tree by tree, so that a tree's nodes and leaves stay at hand.

    Returns the log of the leaves' summed weights per tree and condition, and, if `listing`, every visit: condition,
    leaf and log weight, tree by tree.
    """
    n, n_trees = len(evidence.kind), len(forest.root)
    per_tree = np.full((n_trees, n), -math.inf)
    seen, seen_leaf, seen_log, n_seen = np.empty(4096, np.int32), np.empty(4096, np.int32), np.empty(4096), 0
    visitor, visited = np.empty(2 * n, np.int32), np.empty(2 * n, np.int32)
    order, log_visit = np.empty(2 * n, np.int32), np.empty(2 * n)
    for tree in range(n_trees):
        if plan.one_leaf:
            n_visits = _reach_one(forest, evidence.value, tree, visitor, visited)
        else:
            visitor, visited, n_visits = _reach_some(forest, leaves.log_weight, evidence, tree, visitor, visited)
        if len(log_visit) < n_visits:
            order, log_visit = np.empty(len(visitor), np.int32), np.empty(len(visitor))
        _order_by_leaf(visited, n_visits, forest.leaf_start[tree], forest.leaf_start[tree + 1], order)
        _weigh(forest, leaves, evidence, plan, visitor, visited, order[:n_visits], log_visit)
        _sum_visits(visitor, log_visit, n_visits, per_tree[tree])
        if listing:
            while n_seen + n_visits > len(seen):
                seen, seen_leaf, seen_log = _doubled(seen), _doubled(seen_leaf), _doubled(seen_log)
            for v in range(n_visits):
                if log_visit[v] > -math.inf:
                    seen[n_seen], seen_leaf[n_seen], seen_log[n_seen] = visitor[v], visited[v], log_visit[v]
                    n_seen += 1
    return per_tree, seen[:n_seen], seen_leaf[:n_seen], seen_log[:n_seen]


@njit(nogil=True, cache=True)
def _weigh(forest, leaves, evidence, plan, visitor, visited, order, log_visit):  # type: ignore[no-untyped-def]
    """Log weight of each visited leaf under the visitor's condition.

    Arrays are unpacked first, since taking one out of a tuple inside the loop costs more than the density of a column.
    """
    point, is_asked, asks_all, n_others = plan.point, plan.is_asked, plan.asks_all, plan.n_others
    wanted, presence = plan.level, plan.presence
    log_weight, log_norms, low, high = leaves.log_weight, leaves.log_norms, leaves.low, leaves.high
    mu, inverse, log_norm, missing = leaves.mu, leaves.inverse, leaves.log_norm, leaves.missing
    level_start, level, level_logp, rest_logp = leaves.level_start, leaves.level, leaves.level_logp, leaves.rest_logp
    few_start, few_logp, closed = leaves.few_start, leaves.few_logp, leaves.closed
    n_categories, n_presences = wanted.shape[1], presence.shape[1]
    for v in order:
        i, leaf = np.uint64(visitor[v]), np.uint64(visited[v])
        total = log_weight[leaf]
        if asks_all[i]:
            total += log_norms[leaf] - 0.5 * _squares(point, mu, inverse, i, leaf)
        else:
            total += _log_numbers(point, is_asked, mu, inverse, log_norm, i, leaf)
        for c in range(n_categories):
            if wanted[i, c] < 0:
                continue
            if few_start[c] >= 0:
                total += few_logp[leaf, np.uint64(few_start[c] + wanted[i, c])]
            else:
                k = _find_level(level_start, level, np.int64(leaf) * n_categories + c, wanted[i, c])
                total += level_logp[k] if k >= 0 else rest_logp[leaf, c]
        for m in range(n_presences):
            if presence[i, m] >= 0:
                total += missing[leaf, m, presence[i, m]]
        if n_others[i] > 0:
            total += _log_others(forest, leaves, evidence, plan, i, leaf)
        if closed and _is_outside(point, is_asked, low, high, i, leaf):
            total = -math.inf
        log_visit[v] = total


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _squares(point, mu, inverse, i, leaf):  # type: ignore[no-untyped-def]
    """Σ ((x − μ)/σ)²: free of branches and free to be reordered, so that it runs in vector registers."""
    total = 0.0
    for k in range(point.shape[1]):
        z = (point[i, k] - mu[leaf, k]) * inverse[leaf, k]
        total += z * z
    return total


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _log_numbers(point, is_asked, mu, inverse, log_norm, i, leaf):  # type: ignore[no-untyped-def]
    """Log density of those numbers that are asked for, without branches too."""
    total = 0.0
    for k in range(point.shape[1]):
        z = (point[i, k] - mu[leaf, k]) * inverse[leaf, k]
        total += is_asked[i, k] * (log_norm[leaf, k] - 0.5 * z * z)
    return total


_ABREAST = 8


@njit(nogil=True, cache=True)
def _reach_one(forest, value, tree, visitor, visited):  # type: ignore[no-untyped-def]
    """The one leaf of each condition. Several go down abreast, as each would wait for memory at every node; indices
    are unsigned, which spares the test whether one counts from the end.
    """
    feature, threshold, child, n = forest.feature, forest.threshold, forest.child, len(value)
    at = np.empty(_ABREAST, np.uint64)
    for start in range(0, n, _ABREAST):
        at[:] = forest.root[tree]
        inside = True
        while inside:
            inside = False
            for k in range(_ABREAST):
                node = at[k]
                j = feature[node]
                if j >= 0:
                    x = value[np.uint64(min(start + k, n - 1)), np.uint64(j)]
                    go_left, go_right = x <= threshold[node], x > threshold[node]
                    if not (go_left | go_right):  # a set of levels, or missing: a NaN on one side
                        go_right = not goes_left(forest, node, x)
                    at[k] = np.uint64(child[node] + go_right)
                    inside = True
        for k in range(min(_ABREAST, n - start)):
            visitor[start + k], visited[start + k] = start + k, child[at[k]]
    return n


@njit(nogil=True, cache=True)
def _reach_some(forest, log_weight, evidence, tree, visitor, visited):  # type: ignore[no-untyped-def]
    """The leaves of each condition, one condition after the other; the lists of visits are grown as needed.

    Leaves without weight are left out.
    """
    feature, threshold, child = forest.feature, forest.threshold, forest.child
    kind, value = evidence.kind, evidence.value
    waiting = np.empty(forest.depth + 2, np.uint64)
    n_leaves, n_visits = forest.leaf_start[tree + 1] - forest.leaf_start[tree], 0
    for i in range(len(value)):
        while n_visits + n_leaves > len(visitor):
            visitor, visited = _doubled(visitor), _doubled(visited)
        waiting[0], n_waiting = forest.root[tree], 1
        while n_waiting > 0:
            n_waiting -= 1
            node, is_open = waiting[n_waiting], True
            j = feature[node]
            while j >= 0:
                x = value[i, np.uint64(j)]
                go_left, go_right = x <= threshold[node], x > threshold[node]
                if not (go_left | go_right):  # no point at a cut: a NaN on one side
                    asked = kind[i, np.uint64(j)]
                    if asked in (FREE, PRESENT):
                        go_left = go_right = True
                    else:
                        go_left, go_right = _open_branches(forest, evidence, i, node)
                if go_left and go_right:
                    waiting[n_waiting] = np.uint64(child[node] + 1)
                    n_waiting += 1
                elif not (go_left or go_right):
                    is_open = False
                    break
                node = np.uint64(child[node] + (not go_left))
                j = feature[node]
            if is_open and log_weight[np.uint64(child[node])] > -math.inf:
                visitor[n_visits], visited[n_visits] = i, child[node]
                n_visits += 1
    return visitor, visited, n_visits


@njit(nogil=True, cache=True)
def _order_by_leaf(visited, n_visits, first, end, order):  # type: ignore[no-untyped-def]
    """Visits in the order of leaves, whose parameters are then read in one sweep."""
    place = np.zeros(end - first + 1, np.int32)
    for v in range(n_visits):
        place[visited[v] - first + 1] += 1
    for k in range(1, len(place)):
        place[k] += place[k - 1]
    for v in range(n_visits):
        k = visited[v] - first
        order[place[k]] = v
        place[k] += 1


@njit(nogil=True, cache=True)
def _sum_visits(visitor, log_visit, n_visits, log_sum):  # type: ignore[no-untyped-def]
    """Log of the summed weights of each condition's visits, which stand together."""
    v = 0
    while v < n_visits:
        i, start, largest = visitor[v], v, log_visit[v]
        v += 1
        while v < n_visits and visitor[v] == i:
            largest = max(largest, log_visit[v])
            v += 1
        log_sum[i] = largest
        if v - start > 1 and largest > -math.inf:
            total = 0.0
            for k in range(start, v):
                total += math.exp(log_visit[k] - largest)
            log_sum[i] = largest + math.log(total)


@njit(nogil=True, cache=True)
def _by_condition(condition, leaf, log_weight, log_total):  # type: ignore[no-untyped-def]
    """Visits in the order of conditions, and of leaves within each."""
    start = np.zeros(len(log_total) + 1, np.int64)
    for i in condition:
        start[i + 1] += 1
    for i in range(len(log_total)):
        start[i + 1] += start[i]
    place, by_leaf, by_weight = start[:-1].copy(), np.empty_like(leaf), np.empty_like(log_weight)
    for v in range(len(condition)):
        k = place[condition[v]]
        by_leaf[k], by_weight[k] = leaf[v], log_weight[v]
        place[condition[v]] = k + 1
    return LeafWeights(start, by_leaf, by_weight, log_total)


@njit(nogil=True, cache=True)
def _doubled(array):  # type: ignore[no-untyped-def]
    grown = np.empty(2 * len(array), array.dtype)
    grown[: len(array)] = array
    return grown
