"""Who is better than whom: fronts, crowding, survival and the choice of parents. Objectives are minimised.

1. A row's rank is its front: 0 for rows that no other dominates, 1 for those that none dominates without them, …
   Rows under a penalty come behind all fronts, those nearest to the target (`TO_GOAL`) first.
2. Crowding tells rows of one front apart: how far a row is from its neighbours, in objectives and in features. Both
   parts are divided by the front's largest and added. Larger is more diverse, and more diverse is better.
   - Objectives: Σ_m (f_m(next) − f_m(previous)) / (max f_m − min f_m), neighbours in the order of f_m; a row at either
     end of an objective is infinitely far, so that the best values found are not lost.
   - Features: mean distance to the two nearest rows of the front.
3. The n best by rank, then by crowding, survive.
4. A parent is the better of two rows drawn at random, by validity (`TO_GOAL`), then rank, then crowding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from countarfactuals.objectives import pareto_layers

TO_GOAL = 0  # the column of the distance to validity; what the others are is for the caller to say
_NEIGHBOURS = 2  # as many as a row has along one objective

Distances = Callable[[np.ndarray, np.ndarray], np.ndarray]


def front_ranks(objectives: np.ndarray, penalty: np.ndarray | None = None) -> np.ndarray:
    """The rank of each row, (n,), 0 is best; rows whose `penalty` is true rank behind all others, by `TO_GOAL`.

    >>> front_ranks(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
    array([0, 0, 1])
    >>> front_ranks(np.array([[0.2, 1.0], [0.9, 0.0], [0.8, 0.0]]), np.array([False, True, True]))
    array([0, 2, 1])
    """
    if penalty is None or not penalty.any():
        return pareto_layers(objectives).astype(np.int64)
    ranks = np.empty(len(objectives), np.int64)
    ranks[~penalty] = pareto_layers(objectives[~penalty])
    n_fronts = ranks[~penalty].max(initial=-1) + 1
    ranks[penalty] = n_fronts + np.unique(objectives[penalty, TO_GOAL], return_inverse=True)[1]
    return ranks


def crowding(objectives: np.ndarray, rows: np.ndarray, ranks: np.ndarray, feature_distance: Distances) -> np.ndarray:
    """How far each row is from the others of its front, (n,), infinite at the ends of an objective.

    Parameters
    ----------
    objectives, rows, ranks : of the same n candidates.
    feature_distance : distances of two sets of rows, (n, n), as a function of both.
    """
    if len(rows) == 0:
        return np.empty(0)
    front = np.unique(ranks, return_inverse=True)[1]
    return _relative(_in_objectives(objectives, front), front) + _relative(
        _in_features(feature_distance(rows, rows), front), front
    )


def _in_objectives(objectives: np.ndarray, front: np.ndarray) -> np.ndarray:
    total = np.zeros(len(objectives))
    for values in _finite(objectives).T:
        order = np.lexsort((values, front))  # front after front, each in the order of the objective
        sorted_values, sorted_front = values[order], front[order]
        starts = np.flatnonzero(np.diff(sorted_front, prepend=-1))
        ends = np.append(starts[1:], len(values)) - 1
        span = (sorted_values[ends] - sorted_values[starts])[sorted_front]
        gap = np.zeros(len(values))
        gap[1:-1] = sorted_values[2:] - sorted_values[:-2]
        gap[starts] = gap[ends] = np.inf
        # an objective in which a front does not differ has no ends
        total[order] += np.divide(gap, span, out=np.zeros(len(values)), where=span > 0.0)
    return total


def _in_features(distances: np.ndarray, front: np.ndarray) -> np.ndarray:
    distances = np.where(front[:, None] == front, distances, np.inf)
    np.fill_diagonal(distances, np.inf)
    k = min(_NEIGHBOURS, len(front))
    nearest = np.partition(distances, k - 1, axis=1)[:, :k]
    is_row = np.isfinite(nearest)  # small fronts have fewer neighbours
    return np.where(is_row, nearest, 0.0).sum(axis=1) / np.maximum(is_row.sum(axis=1), 1)


def _finite(objectives: np.ndarray) -> np.ndarray:
    """Infinite values as the largest and smallest finite ones of their column: differences stay numbers."""
    is_finite = np.isfinite(objectives)
    if is_finite.all():
        return objectives
    low = np.where(is_finite, objectives, np.inf).min(axis=0)
    high = np.where(is_finite, objectives, -np.inf).max(axis=0)
    return np.where(low <= high, np.clip(objectives, low, np.maximum(low, high)), 0.0)


def _relative(values: np.ndarray, front: np.ndarray) -> np.ndarray:
    """Values over the largest finite one of their front."""
    largest = np.zeros(front.max() + 1)
    np.maximum.at(largest, front, np.where(np.isfinite(values), values, 0.0))
    return values / np.where(largest > 0.0, largest, 1.0)[front]


def survivors(ranks: np.ndarray, crowding: np.ndarray, n: int) -> np.ndarray:
    """Positions of the n best, best first: by rank, then the most diverse, then by position.

    >>> survivors(np.array([1, 0, 0, 1]), np.array([np.inf, 0.1, 0.2, 0.3]), 3)
    array([2, 1, 0])
    """
    return np.lexsort((-crowding, ranks))[:n]


def tournament(validity: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Positions of n parents among rows that stand best first, as `survivors` has them, and whose validity is given.

    Each is the better of two drawn at random.
    """
    place = np.empty(len(validity), np.int64)
    place[np.argsort(validity, kind="stable")] = np.arange(len(validity))
    first, second = rng.integers(len(validity), size=(2, n))
    return np.where(place[first] <= place[second], first, second)
