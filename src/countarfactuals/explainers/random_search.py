"""Random search, the simplest baseline.

1. How many features change is uniform from one to the most that is allowed; which ones is uniform too. Columns that
   must change together are one feature here.
2. A changed number is uniform on the column's grid within the range of the data and the limits; a changed level is
   uniform among the allowed ones that occur, without x's own. Of `exactly_one` columns a random one gets the 1.
3. Rows that obey the constraints are evaluated, each once, in batches, until the budget is spent or draws give
   nothing new. The Pareto set of the valid ones is the result.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.problem import Problem
from countarfactuals.explainers.proposals import admissible, uniform_rows
from countarfactuals.objectives import canonical

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
