"""What-if: real rows that have the wanted outcome, as they are.

1. Of the real rows those remain that reach the goal and are what was asked for: they obey the constraints, are
   plausible enough, and differ from x.
2. The k nearest to x are evaluated and handed out, dominated ones too.

If none remains, the nearest are evaluated all the same, so that the diagnosis can say what they fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.problem import Objective, Problem, first_of_each
from countarfactuals.parameters import RandomState, check_int


class WhatIfExplainer(Explainer):
    """The nearest real rows with the wanted prediction.

    Parameters
    ----------
    model, density, max_evaluations, classes, task, outcome, distance, extra_objectives, measure, min_plausibility,
    allow_real_rows, trade_off, n_jobs, random_state : see `Explainer`; `allow_real_rows` must be True.
    n_counterfactuals : int
        Most rows that are handed out.
    """

    method: ClassVar[str] = "whatif"

    def __init__(
        self,
        model: Any,
        *,
        density: AdversarialRandomForest | None = None,
        max_evaluations: int = 1000,
        n_counterfactuals: int = 10,
        classes: Sequence[Any] | None = None,
        task: str | None = None,
        outcome: str = "predicted",
        distance: Objective | None = None,
        extra_objectives: Mapping[str, Objective] | None = None,
        measure: str | None = None,
        min_plausibility: float = 0.0,
        allow_real_rows: bool = True,
        trade_off: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            model,
            density=density,
            max_evaluations=max_evaluations,
            classes=classes,
            task=task,
            outcome=outcome,
            distance=distance,
            extra_objectives=extra_objectives,
            measure=measure,
            min_plausibility=min_plausibility,
            allow_real_rows=allow_real_rows,
            trade_off=trade_off,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.n_counterfactuals = n_counterfactuals

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_int("n_counterfactuals", self.n_counterfactuals, 1)
        if not self.allow_real_rows:
            raise ParameterError(
                "allow_real_rows is False, but this method hands out nothing but real rows. Leave it True, or take "
                "another method."
            )

    def _is_pareto(self) -> bool:
        return False

    def _invents_rows(self) -> bool:
        return False

    def _search(self, problem: Problem) -> None:
        background = problem.background
        order = by_closeness(problem, np.arange(len(background.matrix)))
        rows = background.matrix[order]
        good = problem.is_counterfactual(rows, background.scores[order])
        chosen = rows[good] if good.any() else rows
        problem.evaluate(chosen[first_of_each(chosen)[: self.n_counterfactuals]])


def by_closeness(problem: Problem, among: np.ndarray) -> np.ndarray:
    """The positions `among` the real rows that reach the goal, nearest to x first; ties by position.

    If none reaches it, all of them, by distance to the goal and then to x.
    """
    background = problem.background
    to_goal = problem.goal.distance(background.scores[among])
    if (to_goal == 0).any():
        among, to_goal = among[to_goal == 0], to_goal[to_goal == 0]
    return among[np.lexsort((problem.proximity(background.matrix[among]), to_goal))]
