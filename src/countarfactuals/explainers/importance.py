"""Local importance of features: the standard deviation of the score that is wanted along each feature's ICE curve.

A curve runs through values that the data has and the constraints allow, evenly spaced in their order.
The rows on it differ from x in one feature, so that most are candidates themselves. Curves may take a tenth of the
budget: with more free features than that all count alike.
"""

from __future__ import annotations

import numpy as np

from countarfactuals.explainers.problem import Problem

_SHARE_OF_BUDGET, _MOST_POINTS = 0.1, 20


def local_importance(problem: Problem) -> np.ndarray:
    """Standard deviation of the desired score along each feature, (p,); 0 for features that can not change."""
    n_free = int(problem.limits.may_change.sum())
    most = min(_MOST_POINTS, int(_SHARE_OF_BUDGET * problem.budget) // max(n_free, 1))
    if most < 1:
        return problem.limits.may_change.astype(np.float64)
    grids = [_grid(problem, j, most) for j in range(len(problem.x))]
    rows = np.repeat(problem.x[None], sum(map(len, grids)), axis=0)
    feature = np.repeat(np.arange(len(grids)), [len(grid) for grid in grids])
    rows[np.arange(len(rows)), feature] = np.concatenate(grids)
    scores = problem.evaluate(rows)[:, problem.goal.column]
    own = problem.x_scores[problem.goal.column]
    # features that the budget did not reach count as flat
    return np.array([np.std(np.append(scores[feature[: len(scores)] == j], own)) for j in range(len(grids))])


def _grid(problem: Problem, j: int, most: int) -> np.ndarray:
    """Up to `most` values of a column that may replace x's own."""
    if not problem.limits.may_change[j]:
        return np.empty(0)
    values = problem.background.distinct[j]
    values = values[problem.limits.allowed_values(j, values) & (values != problem.x[j])]
    if len(values) <= most:
        return values
    return values[((np.arange(most) + 0.5) * len(values) / most).astype(np.int64)]
