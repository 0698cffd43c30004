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
from countarfactuals.arf.leaves import HIGH, LOG_NORM, LOW, MU, SIGMA, LeafTable, reaches
from countarfactuals.arf.truncnorm import log_interval_mass_

FREE, POINT, IS_MISSING, PRESENT, INTERVALS, ANY_OF = range(6)


class Evidence(NamedTuple):
    """Conditions on the columns of the matrix, one per row."""

    kind: np.ndarray  # int8 (n, p)
    value: np.ndarray  # float64 (n, p), of points
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
        kind = self.kind.copy()
        kind[:, column] = FREE
        return self._replace(kind=kind)


class LeafWeights(NamedTuple):
    """Per condition the leaves that can meet it, and log π_l + Σ_j log p_lj(C_j), not normalised."""

    start: np.ndarray  # int64 (n + 1,)
    leaf: np.ndarray  # int32
    log_weight: np.ndarray  # float64
    log_total: np.ndarray  # float64 (n,), log probability (or density) of each condition


def leaf_weights(forest: Forest, leaves: LeafTable, evidence: Evidence) -> LeafWeights:
    """The leaves' weights under each condition."""
    return LeafWeights(*_leaf_weights(forest, leaves, evidence, *conditioned_columns(evidence.kind)))


def conditioned_columns(kind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per condition the columns that are not free (first in each row of the matrix), and their number."""
    order = np.argsort(kind == FREE, axis=1, kind="stable").astype(np.int32)
    return order, (kind != FREE).sum(axis=1)


@njit(nogil=True, cache=True)
def _log_level(forest, leaves, leaf, column, level):  # type: ignore[no-untyped-def]
    """Log probability of a level that is known to reach the leaf unless it is not listed there."""
    c = leaves.category_of[column]
    cell = leaf * leaves.rest_logp.shape[1] + c
    low, high = leaves.level_start[cell], leaves.level_start[cell + 1]
    while low < high:
        middle = (low + high) >> 1
        if leaves.level[middle] < level:
            low = middle + 1
        else:
            high = middle
    if low < leaves.level_start[cell + 1] and leaves.level[low] == level:
        return leaves.level_logp[low]
    if leaves.rest_logp[leaf, c] > -math.inf and reaches(forest, leaf, column, level):
        return leaves.rest_logp[leaf, c]
    return -math.inf


@njit(nogil=True, cache=True, inline="always")
def _log_point(numbers, x):  # type: ignore[no-untyped-def]
    """Log density of a present number."""
    if not (x > numbers[LOW] and x <= numbers[HIGH]):
        return -math.inf
    z = (x - numbers[MU]) / numbers[SIGMA]
    return numbers[LOG_NORM] - 0.5 * z * z


@njit(nogil=True, cache=True, inline="always")
def log_add(a: float, b: float) -> float:
    """Log (eᵃ + eᵇ)."""
    if a < b:
        a, b = b, a
    return a + math.log1p(math.exp(b - a)) if b > -math.inf else a


@njit(nogil=True, cache=True)
def log_alternative(forest, leaves, evidence, k, j, leaf):  # type: ignore[no-untyped-def]
    """Log probability (density) of the k-th interval or alternative, for column j in a leaf."""
    low, high = evidence.low[k], evidence.high[k]
    place = leaves.number_of[j]
    if place < 0:
        return _log_level(forest, leaves, leaf, j, np.int64(low))
    numbers = leaves.numbers[leaf, place]
    if low == high:
        return _log_point(numbers, low)
    return log_interval_mass_(low, high, numbers[LOW], numbers[HIGH], numbers[MU], numbers[SIGMA])


@njit(nogil=True, cache=True)
def _log_factor(forest, leaves, evidence, i, j, leaf):  # type: ignore[no-untyped-def]
    """Log p_lj(C_j)."""
    kind = evidence.kind[i, j]
    m = leaves.missing_of[j]
    if kind == IS_MISSING:
        return leaves.missing[leaf, m, 0] if m >= 0 else -math.inf
    log_present = leaves.missing[leaf, m, 1] if m >= 0 else 0.0
    if kind == PRESENT:
        return log_present
    if kind == POINT:
        place = leaves.number_of[j]
        if place >= 0:
            return log_present + _log_point(leaves.numbers[leaf, place], evidence.value[i, j])
        return log_present + _log_level(forest, leaves, leaf, j, np.int64(evidence.value[i, j]))
    total = -math.inf
    for k in range(evidence.start[i, j], evidence.stop[i, j]):
        total = log_add(total, log_alternative(forest, leaves, evidence, k, j, leaf))
    return log_present + total


@njit(nogil=True, cache=True)
def _open_branches(forest, evidence, i, node):  # type: ignore[no-untyped-def]
    """Which branches of a node the condition leaves open."""
    j = forest.feature[node]
    kind = evidence.kind[i, j]
    if kind == FREE or kind == PRESENT:
        return True, True
    if kind == IS_MISSING:
        return forest.missing_left[node], not forest.missing_left[node]
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
def visit(forest, leaves, evidence, i, columns, tree, stack, leaf_found, log_found):  # type: ignore[no-untyped-def]
    """List the leaves of a tree that condition i can end in, with their log weights; returns how many."""
    found = 0
    depth = 1
    stack[0] = forest.root[tree]
    while depth > 0:
        depth -= 1
        node = stack[depth]
        while forest.feature[node] >= 0:
            j = forest.feature[node]
            if evidence.kind[i, j] == POINT:
                node = forest.child[node] + (not goes_left(forest, node, evidence.value[i, j]))
                continue
            left, right = _open_branches(forest, evidence, i, node)
            if left and right:
                stack[depth] = forest.child[node] + 1
                depth += 1
            node = forest.child[node] + (not left)
        leaf = forest.child[node]
        total = leaves.log_weight[leaf]
        for j in columns:
            total += _log_factor(forest, leaves, evidence, i, j, leaf)
            if total == -math.inf:
                break
        if total > -math.inf:
            leaf_found[found] = leaf
            log_found[found] = total
            found += 1
    return found


@njit(nogil=True, cache=True)
def scratch(forest: Forest) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Room for `visit`: a stack, the leaves found and their log weights."""
    most = 1
    for tree in range(len(forest.root)):
        most = max(most, forest.leaf_start[tree + 1] - forest.leaf_start[tree])
    return np.empty(forest.depth + 2, np.int64), np.empty(most, np.int32), np.empty(most)


@njit(nogil=True, cache=True)
def log_sum(values: np.ndarray) -> float:
    """Log Σ eᵛ, −∞ for none."""
    largest = -math.inf
    for value in values:
        largest = max(largest, value)
    if largest == -math.inf:
        return largest
    total = 0.0
    for value in values:
        total += math.exp(value - largest)
    return largest + math.log(total)


@njit(nogil=True, cache=True)
def _leaf_weights(forest, leaves, evidence, columns, n_columns):  # type: ignore[no-untyped-def]
    n = len(evidence.kind)
    stack, leaf_found, log_found = scratch(forest)
    start = np.zeros(n + 1, np.int64)
    leaf, log_weight = np.empty(4096, np.int32), np.empty(4096)
    log_total = np.empty(n)
    used = 0
    for i in range(n):
        for tree in range(len(forest.root)):
            chosen = columns[i, : n_columns[i]]
            found = visit(forest, leaves, evidence, i, chosen, tree, stack, leaf_found, log_found)
            if used + found > len(leaf):
                more_leaf, more_log = np.empty(2 * (used + found), np.int32), np.empty(2 * (used + found))
                more_leaf[:used], more_log[:used] = leaf[:used], log_weight[:used]
                leaf, log_weight = more_leaf, more_log
            leaf[used : used + found] = leaf_found[:found]
            log_weight[used : used + found] = log_found[:found]
            used += found
        start[i + 1] = used
        log_total[i] = log_sum(log_weight[start[i] : used])
    return start, leaf[:used].copy(), log_weight[:used].copy(), log_total
