"""Which leaves can meet a condition, and what they weigh under it.

    π'_l ∝ π_l ∏_j p_lj(C_j)

A condition walks every tree and takes both branches where its column leaves them open, so only leaves that can meet it
are visited. The sum of their weights is the evidence's log probability (or density), `LeafWeights` its parts;
normalised over *all* leaves they are π'.

A row is the condition that every column has its value. Columns left free are summed out, so the same walk gives joint
and marginal densities, and log p(a | b) = log p(a, b) − log p(b).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from joblib import delayed, effective_n_jobs

from countarfactuals._kernels import inner, kernel
from countarfactuals._parallel import threads
from countarfactuals._tables import by_reference
from countarfactuals.arf.evidence import ANY_OF, FREE, IS_MISSING, POINT, PRESENT, Evidence
from countarfactuals.arf.forest import Forest, goes_left
from countarfactuals.arf.leaf_weights import log_sum_columns, plan_of, weigh
from countarfactuals.arf.leaves import LeafTable

_ABREAST = 8
_BLOCK = 1024  # conditions per task: many share one reading of the leaves, few enough to share out


@by_reference
class LeafWeights(NamedTuple):
    """Per condition the leaves that can meet it, and log π_l + Σ_j log p_lj(C_j), not normalised."""

    start: np.ndarray  # int64 (n + 1,)
    leaf: np.ndarray  # int32
    log_weight: np.ndarray  # float64
    log_total: np.ndarray  # float64 (n,), log probability (or density) of each condition


def leaf_weights(forest: Forest, leaves: LeafTable, evidence: Evidence) -> LeafWeights:
    """The leaves' weights under each condition."""
    per_tree, condition, leaf, log_weight = _walk(forest, leaves, evidence, plan_of(forest, leaves, evidence), True)
    return _by_condition(condition, leaf, log_weight, log_sum_columns(per_tree))


def visits(
    forest: Forest, leaves: LeafTable, evidence: Evidence
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """`tree_log_weights`, and every leaf that a condition can end in: condition, leaf, log weight, tree by tree."""
    return _walk(forest, leaves, evidence, plan_of(forest, leaves, evidence), True)


def tree_log_weights_and_means(
    forest: Forest, leaves: LeafTable, evidence: Evidence, leaf_value: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """`tree_log_weights`, and the mean over all leaves that a condition can end in of a value that each leaf has."""
    return _walk_and_average(forest, leaves, evidence, plan_of(forest, leaves, evidence), leaf_value)


def tree_log_weights(forest: Forest, leaves: LeafTable, evidence: Evidence) -> np.ndarray:
    """The log of the leaves' summed weights, (trees, conditions)."""
    return _walk(forest, leaves, evidence, plan_of(forest, leaves, evidence), False)[0]


class _Visits(NamedTuple):
    """What the conditions find in one tree; used again for the next."""

    condition: np.ndarray  # int32
    leaf: np.ndarray  # int32
    log_weight: np.ndarray  # float64
    order: np.ndarray  # int32, by leaf


@inner
def _empty_visits(n):  # type: ignore[no-untyped-def]
    return _Visits(np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n), np.empty(n, np.int32))


@inner
def _visit(forest, leaves, evidence, plan, tree, visits, log_sum):  # type: ignore[no-untyped-def]
    """Visit the leaves of a tree that each condition can end in; the log of their summed weights goes to `log_sum`."""
    if plan.one_leaf:
        condition, leaf = visits.condition, visits.leaf
        n_visits = _reach_one(forest, evidence.value, tree, condition, leaf)
    else:
        condition, leaf, n_visits = _reach_some(
            forest, leaves.log_weight, evidence, tree, visits.condition, visits.leaf
        )
    order, log_weight = visits.order, visits.log_weight
    if len(order) < n_visits:
        order, log_weight = np.empty(len(condition), np.int32), np.empty(len(condition))
    _order_by_leaf(leaf, n_visits, forest.leaf_start[tree], forest.leaf_start[tree + 1], order)
    weigh(forest, leaves, evidence, plan, condition, leaf, order[:n_visits], log_weight)
    _sum_visits(condition, log_weight, n_visits, log_sum)
    return _Visits(condition, leaf, log_weight, order), n_visits


@kernel
def _walk(forest, leaves, evidence, plan, listing):  # type: ignore[no-untyped-def]
    """Visit the leaves that each condition can end in, tree by tree, so that a tree's nodes and leaves stay at hand.

    Returns the log of the leaves' summed weights per tree and condition, and, if `listing`, every visit: condition,
    leaf and log weight, tree by tree.
    """
    n, n_trees = len(evidence.kind), len(forest.root)
    per_tree = np.full((n_trees, n), -math.inf)
    seen, seen_leaf, seen_log, n_seen = np.empty(4096, np.int32), np.empty(4096, np.int32), np.empty(4096), 0
    visits = _empty_visits(2 * n)
    for tree in range(n_trees):
        visits, n_visits = _visit(forest, leaves, evidence, plan, tree, visits, per_tree[tree])
        if listing:
            while n_seen + n_visits > len(seen):
                seen, seen_leaf, seen_log = _doubled(seen), _doubled(seen_leaf), _doubled(seen_log)
            for v in range(n_visits):
                if visits.log_weight[v] > -math.inf:
                    seen[n_seen], seen_leaf[n_seen] = visits.condition[v], visits.leaf[v]
                    seen_log[n_seen] = visits.log_weight[v]
                    n_seen += 1
    return per_tree, seen[:n_seen], seen_leaf[:n_seen], seen_log[:n_seen]


@kernel
def _walk_and_average(forest, leaves, evidence, plan, leaf_value):  # type: ignore[no-untyped-def]
    """As `_walk`, but nothing is listed: the visited leaves' values are averaged on the way."""
    n, n_trees = len(evidence.kind), len(forest.root)
    per_tree, total, count = np.full((n_trees, n), -math.inf), np.zeros(n), np.zeros(n)
    visits = _empty_visits(n)
    for tree in range(n_trees):
        visits, n_visits = _visit(forest, leaves, evidence, plan, tree, visits, per_tree[tree])
        for v in range(n_visits):
            if visits.log_weight[v] > -math.inf:
                total[visits.condition[v]] += leaf_value[visits.leaf[v]]
                count[visits.condition[v]] += 1.0
    for i in range(n):
        total[i] = total[i] / count[i] if count[i] > 0.0 else 0.0
    return per_tree, total


@inner
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


@inner
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


@inner
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


@inner
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


@inner
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


@kernel
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


@inner
def _doubled(array):  # type: ignore[no-untyped-def]
    grown = np.empty(2 * len(array), array.dtype)
    for k in range(len(array)):
        grown[k] = array[k]
    return grown


@kernel
def mean_of_leaves(forest, rows, leaf_value):  # type: ignore[no-untyped-def]
    """The mean, over the trees, of the value that the leaf of each row has."""
    n, n_trees = len(rows), len(forest.root)
    visitor, visited, total = np.empty(n, np.int32), np.empty(n, np.int32), np.zeros(n)
    for tree in range(n_trees):
        _reach_one(forest, rows, tree, visitor, visited)
        for i in range(n):
            total[i] += leaf_value[visited[i]]
    return total / n_trees


def log_density(forest: Forest, leaves: LeafTable, evidence: Evidence, n_jobs: int | None = None) -> np.ndarray:
    """Log probability (or density of the point parts) of each condition: the mixture over all trees."""

    def block(start: int) -> np.ndarray:
        return log_sum_columns(tree_log_weights(forest, leaves, evidence.rows(slice(start, start + _BLOCK))))

    starts = range(0, max(len(evidence.kind), 1), _BLOCK)
    if effective_n_jobs(n_jobs) == 1 or len(starts) == 1:
        return np.concatenate([block(start) for start in starts])
    return np.concatenate(threads(n_jobs)(delayed(block)(start) for start in starts))
