"""The first population of MOC.

| strategy | which features differ from x | their values |
|---|---|---|
| icecurve | by a chance that grows with the standard deviation of the ICE curve, linearly from .01 to .99 | uniform |
| random | each by a chance of one half | uniform |
| sd | each by a chance of one half | uniform, numbers within a standard deviation of x |
| traindata | each by a chance of one half | those of a real row, one with the outcome if there is any |

Uniform is within the range of the data and the constraints, on the column's grid or among observed levels. Rows that
violate a constraint are drawn again. If all of them do, real rows with the outcome, as far as x may become like them,
are the population.
"""

from __future__ import annotations

import numpy as np

from countarfactuals.explainers.problem import Problem, first_of_each
from countarfactuals.explainers.proposals import admissible
from countarfactuals.explainers.space import Space

STRATEGIES = ("icecurve", "random", "sd", "traindata")
_LEAST, _MOST, _HALF = 0.01, 0.99, 0.5
_POOLS = 20  # that are drawn at most to fill the population


def first_rows(problem: Problem, space: Space, n: int, strategy: str, importance: np.ndarray | None) -> np.ndarray:
    """Up to n different candidates, fewer where the constraints leave little.

    Parameters
    ----------
    problem, space : what is searched.
    n : size of the population.
    strategy : see above.
    importance : of the columns, for "icecurve".
    """
    share: float | np.ndarray = _HALF if importance is None else chance(space, importance)
    rows = np.empty((0, len(problem.x)))
    for _ in range(_POOLS):
        pool = candidates(problem, _drawn(problem, space, n, strategy, share))
        rows = np.concatenate([rows, pool])
        rows = rows[first_of_each(rows)][:n]
        if len(rows) == n:
            break
    if len(rows) == 0:
        rows = candidates(problem, _real_rows(problem, _POOLS * n))
        rows = rows[first_of_each(rows)][:n]
    return rows


def chance(space: Space, importance: np.ndarray) -> np.ndarray:
    """By unit, a probability from .01 to .99 that grows with its importance, the largest of its columns'."""
    worth = np.zeros(space.n_units)
    np.maximum.at(worth, space.place, importance)
    low, high = worth[space.free_units].min(), worth[space.free_units].max()
    if low == high:
        return np.full(space.n_units, _HALF)
    return np.asarray(_LEAST + (_MOST - _LEAST) * np.clip((worth - low) / (high - low), 0.0, 1.0))


def candidates(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The rows, made to obey what can be obeyed, that are candidates; if some are as plausible as asked, only those."""
    rows = admissible(problem, rows)
    rows = rows[problem.is_candidate(rows)]
    plausible = problem.is_plausible(rows)
    return rows[plausible] if plausible.any() else rows


def _drawn(problem: Problem, space: Space, n: int, strategy: str, share: float | np.ndarray) -> np.ndarray:
    rng = problem.rng
    rows = np.repeat(problem.x[None], n, axis=0)
    chosen = space.chosen(n, share, rng)
    if strategy == "traindata":
        return np.where(chosen, _real_rows(problem, n), rows)
    return space.uniform(rows, chosen, rng, space.sd if strategy == "sd" else None)


def _real_rows(problem: Problem, n: int) -> np.ndarray:
    """n real rows drawn at random, with the outcome if there are any."""
    real = problem.background.with_outcome(problem.goal)
    if len(real) == 0:
        real = np.arange(len(problem.background.matrix))
    return problem.background.matrix[problem.rng.choice(real, n)]
