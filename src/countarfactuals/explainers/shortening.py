"""Short ways to the outcome: changes of a row that are not needed are taken back.

With many features few changes are hard to hit by chance, and the forest's idea of an outcome is too coarse to tell
which of many changes matter. The model knows:

1. Begin with a row that has the outcome, such as the nearest real one. It may change more than is allowed.
2. Ask the model, in one call, about all rows that put one of its changes back to x.
3. Put changes back one after the other, the least needed first, and ask about all rows on this way in one more call.
4. Go on with the shortest of them that has the outcome, as long as it gets shorter.
"""

from __future__ import annotations

import numpy as np

from countarfactuals.explainers.problem import Problem
from countarfactuals.explainers.proposals import unit_of
from countarfactuals.objectives import changed
from countarfactuals.search import reset

_SHARE_OF_BUDGET = 0.25  # of what is left, at most


def shorten(problem: Problem, row: np.ndarray) -> None:
    """Evaluate rows between a row with the outcome and x, which have fewer and fewer changes."""
    unit = unit_of(problem.limits)
    while True:
        units = np.unique(unit[changed(row[None], problem.x)[0]])
        if len(units) < 2 or 2 * len(units) > _SHARE_OF_BUDGET * problem.left:
            return
        scores = problem.evaluate(reset(row, problem.x, unit == units[:, None]))
        least_needed = units[np.argsort(-_margin(problem, scores), kind="stable")]
        # row k has the k + 1 least needed changes put back; the last would be x itself
        way = np.array([reset(row, problem.x, np.isin(unit, least_needed[: k + 1])) for k in range(len(units) - 1)])
        reached = np.flatnonzero(problem.goal.reached(problem.evaluate(way)))
        if len(reached) == 0:
            return
        row = way[reached[-1]]


def _margin(problem: Problem, scores: np.ndarray) -> np.ndarray:
    """How far inside the goal each row is, negative outside: what the distance to it does not tell of valid rows."""
    goal = problem.goal
    score = scores[:, goal.column]
    if goal.wins:
        return score
    low, high = goal.open_interval(problem.background.predictor)
    return np.minimum(score - low, high - score)
