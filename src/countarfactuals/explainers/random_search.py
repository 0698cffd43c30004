"""Random search, the simplest baseline.

1. How many features change is uniform from one to the most that is allowed; which ones is uniform too. Columns that
   must change together are one feature here.
2. A changed number is uniform on the column's grid within the range of the data and the limits; a changed level is
   uniform among the allowed ones that occur, without x's own. Of `exactly_one` columns a random one gets the 1.
3. Rows that obey the constraints are evaluated, each once, in batches, until the budget is spent or draws give
   nothing new. The Pareto set of the valid ones is the result.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from countarfactuals.constraints.parts import ExactlyOne
from countarfactuals.explainers.background import canonical
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.problem import Problem
from countarfactuals.explainers.proposals import admissible, unit_of

_BATCH, _POOLS = 100, 20  # rows per model call; pools that are drawn at most to fill one


class RandomSearchExplainer(Explainer):
    """Counterfactuals among uniformly drawn rows.

    It has the parameters of `Explainer` and no other.
    """

    method: ClassVar[str] = "random"

    def _search(self, problem: Problem) -> None:
        if not problem.limits.may_change.any():
            return
        seen: set[bytes] = set()
        while problem.left > 0:
            rows = _batch(problem, seen)
            if len(rows) == 0:
                return
            problem.evaluate(rows)


def _batch(problem: Problem, seen: set[bytes]) -> np.ndarray:
    """Up to a batch of candidates that were not seen before; fewer where the constraints leave little."""
    rows: list[np.ndarray] = []
    for _ in range(_POOLS):
        pool = admissible(problem, uniform_rows(problem, _BATCH))
        for row in canonical(pool[problem.is_candidate(pool)]):
            if len(rows) < _BATCH and row.tobytes() not in seen:
                seen.add(row.tobytes())
                rows.append(row)
        if len(rows) == _BATCH:
            break
    return np.array(rows).reshape(-1, len(problem.x))


def uniform_rows(problem: Problem, n: int) -> np.ndarray:
    """n rows of which some features are drawn uniformly and the others are x's; not yet checked for constraints."""
    limits, rng, x = problem.limits, problem.rng, problem.x
    rows = np.repeat(x[None], n, axis=0)
    for j in np.flatnonzero(limits.may_change).tolist():
        rows[:, j] = _uniform_cells(problem, j, n)
    for part in limits.parts:
        if isinstance(part, ExactlyOne):  # independent draws would seldom give just one 1
            is_one = np.arange(len(part.columns)) == rng.integers(len(part.columns), size=(n, 1))
            rows[:, part.columns] = np.where(is_one, part.one, part.zero)
    unit = unit_of(limits)
    units, place = np.unique(unit, return_inverse=True)
    may = np.isin(units, unit[limits.may_change])
    order = np.where(may, rng.random((n, len(units))), 2.0)
    n_changed = rng.integers(1, min(limits.max_changed, int(may.sum())) + 1, (n, 1))
    is_drawn = (np.argsort(np.argsort(order, axis=1), axis=1) < n_changed)[:, place]
    return np.where(is_drawn, rows, x)


def _uniform_cells(problem: Problem, j: int, n: int) -> np.ndarray:
    """n values of a column that may replace x's own; x's own where there is none."""
    background, limits, rng = problem.background, problem.limits, problem.rng
    column = background.schema.columns[j]
    if not column.is_number:
        codes = background.distinct[j]
        codes = codes[limits.allowed_values(j, codes) & (codes != problem.x[j])]
        return rng.choice(codes, n) if len(codes) else np.full(n, problem.x[j])
    low, high = max(background.low[j], limits.low[j]), min(background.high[j], limits.high[j])
    if column.decimals is not None:
        scale = 10.0**column.decimals
        # 0.07 · 100 is a little more than 7: without rounding the first grid point would be lost
        first, last = math.ceil(round(low * scale, 6)), math.floor(round(high * scale, 6))
        return rng.integers(first, last + 1, n) / scale if first <= last else np.full(n, problem.x[j])
    return rng.uniform(low, high, n) if low <= high else np.full(n, problem.x[j])
