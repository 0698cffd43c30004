"""The simplest searches, which others are measured by.

*What-if* hands out real rows that have the wanted outcome, as they are:

1. Of the real rows those remain that reach the goal and are what was asked for: they obey the constraints, are
   plausible enough, and differ from x.
2. The k nearest to x are evaluated and handed out, dominated ones too.

If none remains, the nearest are evaluated all the same, so that the diagnosis can say what they fail.

*Random search* draws:

1. How many features change is uniform from one to the most that is allowed; which ones is uniform too. Columns that
   must change together are one feature here.
2. A changed number is uniform on the column's grid within the range of the data and the limits; a changed level is
   uniform among the allowed ones that occur, without x's own. Of `exactly_one` columns a random one gets the 1.
3. Rows that obey the constraints are evaluated, each once, in batches, until the budget is spent or draws give
   nothing new. The Pareto set of the valid ones is the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.problem import REAL_ROWS, Problem, first_of_each
from countarfactuals.explainers.proposals import admissible, by_closeness, uniform_rows
from countarfactuals.explainers.questions import Asking
from countarfactuals.explainers.registry import Method, register
from countarfactuals.objectives import canonical
from countarfactuals.parameters import check_int

_BATCH, _POOLS = 100, 20  # rows per model call; pools that are drawn at most to fill one


@dataclass(kw_only=True, eq=False, repr=False)
class WhatIfExplainer(Explainer):
    """The nearest real rows with the wanted prediction.

    Parameters
    ----------
    model, density, max_evaluations, classes, task, outcome, distance, extra_objectives, measure, min_typicality,
    allow_real_rows, relations, trade_off, n_jobs, random_state : see `Explainer`; `allow_real_rows` must be True.
    n_counterfactuals : int
        Most rows that are handed out.
    """

    method: ClassVar[str] = "whatif"
    hands_out: ClassVar[str] = REAL_ROWS
    is_pareto: ClassVar[bool] = False

    n_counterfactuals: int = 10

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_int("n_counterfactuals", self.n_counterfactuals, 1)
        if not self.allow_real_rows:
            raise ParameterError(
                "allow_real_rows is False, but this method hands out nothing but real rows. Leave it True, or take "
                "another method."
            )

    def _search(self, problem: Problem) -> Asking[None]:
        background = problem.background
        order = by_closeness(problem, np.arange(len(background.matrix)))
        rows = background.matrix[order]
        good = problem.is_counterfactual(rows, background.scores[order])
        chosen = rows[good] if good.any() else rows
        yield from problem.ask(chosen[first_of_each(chosen)[: self.n_counterfactuals]])


class RandomSearchExplainer(Explainer):
    """Counterfactuals among uniformly drawn rows.

    It has the parameters of `Explainer` and no other.
    """

    method: ClassVar[str] = "random"
    takes_back: ClassVar[bool] = False  # what others are compared with

    def _search(self, problem: Problem) -> Asking[None]:
        if not problem.searched.any():
            return
        seen: set[bytes] = set()
        while problem.left > 0:
            rows = _batch(problem, seen)
            if len(rows) == 0:
                return
            yield from problem.ask(rows)


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


register(Method(WhatIfExplainer, "WhatIf", "the nearest real rows with the outcome", "#56B4E9", is_compared=True))
register(Method(RandomSearchExplainer, "random search", "rows drawn uniformly", "#767676"))
