"""Which rows to ask the model about: those that promise to widen the Pareto set most.

The worth of a set is the hypervolume it dominates in the cube of Gower distance, share of features changed and share
of real rows that are at least as plausible. As the second takes the values 1/p … 1 only, the volume is a stack of
areas, one per number of changed features, each bounded by a staircase.

1. The promise of a candidate is P(valid) times the volume that it would add to the set.
2. The most promising candidate is chosen. With probability P(valid) it then counts as part of the set, so that the
   next ones do not repeat it, and are still tried near it where it may fail.
3. A promise only shrinks as the set grows, so that old promises are bounds: only a candidate whose bound is the
   largest needs a new look.
4. Where no other adds anything, or the objectives are others, candidates are chosen by Pareto layer.
"""

from __future__ import annotations

import numpy as np

from countarfactuals._kernels import inner, kernel
from countarfactuals.explainers.problem import Problem
from countarfactuals.objectives import DISTANCE, IMPLAUSIBILITY, N_CHANGED, dominated_by, pareto_layers

_OF_VOLUME = (DISTANCE, N_CHANGED, IMPLAUSIBILITY)
_BELOW_ALL = 0.05  # worth of plausibility among candidates beside that among real rows, where all are implausible


def choose(problem: Problem, objectives: np.ndarray, p_valid: np.ndarray, found: np.ndarray, n: int) -> np.ndarray:
    """Which candidates to evaluate: by promise, and where that is exhausted, by Pareto layer."""
    p, rng = len(problem.x), problem.rng
    if len(found) == 0 and len(p_valid) and p_valid.min() == p_valid.max():  # the forest knows nothing of the outcome
        return rng.permutation(len(objectives))[:n]
    chosen = np.empty(0, np.int64)
    if len(problem.objective_names) == len(_OF_VOLUME) and problem.distance is None:
        distance, n_changed, cost = (objectives[:, problem.at(name)] for name in _OF_VOLUME)
        front_distance, front_changed, front_cost = (found[:, problem.at(name)] for name in _OF_VOLUME)
        implausibility = _implausibility(problem, np.concatenate([cost, front_cost]))
        chosen = most_promising(
            distance,
            n_changed.astype(np.int64),
            implausibility[: len(objectives)],
            p_valid,
            np.column_stack([front_distance, front_changed, implausibility[len(objectives) :]]),
            p,
            rng.random(min(n, len(objectives))),
        )
    rest = np.setdiff1d(np.arange(len(objectives)), chosen)
    rest = rest[~dominated_by(objectives[rest], found)]
    if len(chosen) < n and len(rest):
        layer = pareto_layers(objectives[rest])
        order = np.lexsort((rng.random(len(rest)), layer))
        chosen = np.concatenate([chosen, rest[order[: n - len(chosen)]]])
    return chosen


def _implausibility(problem: Problem, costs: np.ndarray) -> np.ndarray:
    """Share of real rows that are at least as plausible, and a little of the rank among the candidates themselves."""
    among_real = 1.0 - problem.background.plausibility.rank(-costs)
    among_all = np.searchsorted(np.sort(costs), costs) / max(len(costs), 1)
    return (1.0 - _BELOW_ALL) * among_real + _BELOW_ALL * among_all


@kernel
def most_promising(distance, n_changed, implausibility, p_valid, front, n_features, uniform):  # type: ignore[no-untyped-def]
    """Positions of up to len(uniform) candidates, most promising first; fewer if no other adds anything.

    `front` (m, 3) holds distance, number of changed features and implausibility of the set so far; all three lie in
    [0, 1] or 1 … p. The reference is one more change than there are features, so that no row is worthless by that.
    """
    n, most = len(distance), len(front) + len(uniform)
    stair_x, stair_y = np.empty((n_features + 1, most)), np.empty((n_features + 1, most))
    size = np.zeros(n_features + 1, np.int64)
    for k in range(len(front)):
        for level in range(round(front[k, 1]), n_features + 1):
            _insert(stair_x[level], stair_y[level], size, level, front[k, 0], front[k, 2])
    promise, is_fresh = np.empty(n), np.zeros(n, np.int64)
    for i in range(n):
        promise[i] = p_valid[i] * _added(stair_x, stair_y, size, n_changed[i], distance[i], implausibility[i])
    chosen, n_chosen = np.empty(len(uniform), np.int64), 0
    heap = np.argsort(-promise)
    # a binary heap of candidates by promise, largest first; a sorted list is one
    for step in range(len(uniform)):
        while True:
            if len(heap) == 0 or promise[heap[0]] <= 0.0:
                return chosen[:n_chosen]
            i = heap[0]
            if is_fresh[i] == step:
                break
            promise[i] = p_valid[i] * _added(stair_x, stair_y, size, n_changed[i], distance[i], implausibility[i])
            is_fresh[i] = step
            _sift_down(heap, promise)
        chosen[n_chosen] = i
        n_chosen += 1
        heap[0] = heap[-1]
        heap = heap[:-1]
        _sift_down(heap, promise)
        if uniform[step] < p_valid[i]:
            for level in range(n_changed[i], n_features + 1):
                _insert(stair_x[level], stair_y[level], size, level, distance[i], implausibility[i])
    return chosen[:n_chosen]


@inner
def _sift_down(heap, promise):  # type: ignore[no-untyped-def]
    at = 0
    while 2 * at + 1 < len(heap):
        child = 2 * at + 1
        if child + 1 < len(heap) and promise[heap[child + 1]] > promise[heap[child]]:
            child += 1
        if promise[heap[at]] >= promise[heap[child]]:
            break
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@inner
def _insert(x, y, size, level, new_x, new_y):  # type: ignore[no-untyped-def]
    """Add a point to a staircase (x ascending, y descending) and drop what it dominates."""
    n = size[level]
    at = 0
    while at < n and x[at] < new_x:
        at += 1
    if (at > 0 and y[at - 1] <= new_y) or (at < n and x[at] == new_x and y[at] <= new_y):
        return
    end = at
    while end < n and y[end] >= new_y:
        end += 1
    shift = at + 1 - end
    if shift > 0:
        for k in range(n - 1, end - 1, -1):
            x[k + 1], y[k + 1] = x[k], y[k]
    elif shift < 0:
        for k in range(end, n):
            x[k + shift], y[k + shift] = x[k], y[k]
    x[at], y[at] = new_x, new_y
    size[level] = n + shift


@inner
def _added(stair_x, stair_y, size, first_level, x, y):  # type: ignore[no-untyped-def]
    """Volume that a point adds: at every level from its own, the area right of x and above y that no stair covers."""
    total = 0.0
    for level in range(first_level, stair_x.shape[0]):
        sx, sy, n = stair_x[level], stair_y[level], size[level]
        top, left = 1.0, x
        for k in range(n):
            if sx[k] <= x:
                top = min(top, sy[k])
                continue
            if top <= y:
                break
            total += (min(sx[k], 1.0) - left) * (top - y)
            left, top = sx[k], sy[k]
        if top > y and left < 1.0:
            total += (1.0 - left) * (top - y)
    return total
