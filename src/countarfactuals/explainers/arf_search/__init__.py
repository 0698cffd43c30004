"""Algorithm 2: counterfactuals from the adversarial random forest.

`preset="paper"` is the plain algorithm:

1. Local importance of the features, by ICE curves.
2. Repeatedly draw how many and which features may change, condition on the others and on the score lying in the
   target range, and draw rows with FORGE.
3. Keep unique, valid, non-dominated rows.

The default spends the same budget of model evaluations better, in stages (see `stages` and `improvement`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np

from countarfactuals.arf.leaves import LeafTable
from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers.arf_search.stages import search_in_stages
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.problem import Problem, first_of_each
from countarfactuals.explainers.proposals import (
    admissible,
    draws,
    local_importance,
    most_changed,
    outcome_shares,
    unit_of,
    weighed_leaves,
)
from countarfactuals.explainers.questions import Asking
from countarfactuals.explainers.registry import Method, register
from countarfactuals.parameters import check_choice, check_int

_PAPER_ITERATIONS, _PAPER_DRAWS = 50, 20


@dataclass(kw_only=True, eq=False, repr=False)
class ARFExplainer(Explainer):
    """Counterfactuals by conditional sampling from an adversarial random forest.

    Parameters
    ----------
    model, density, max_evaluations, classes, task, outcome, distance, extra_objectives, measure, min_typicality,
    allow_real_rows, relations, trade_off, n_jobs, random_state : see `Explainer`.
    max_changed : int or None
        Most features that a counterfactual may change. None limits draws only, to min(⌈√p⌉ + 3, p) features each.
    feature_selection : "importance", "random" or "top"
        Which features a draw may change: by chance that grows with local importance, any, or the most important ones.
    leaf_selection : "coverage" or "closeness"
        Whether draws come from leaves by coverage alone, or also by their closeness to x.
    preset : None or "paper"
        "paper" is the plain algorithm with 10 trees and 2 rows per leaf, 50 times 20 draws, and the density as measure.
    """

    method: ClassVar[str] = "arf"

    max_changed: int | None = None
    feature_selection: str = "importance"
    leaf_selection: str = "coverage"
    preset: str | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("feature_selection", self.feature_selection, ("random", "importance", "top"))
        check_choice("leaf_selection", self.leaf_selection, ("coverage", "closeness"))
        check_choice("preset", self.preset, (None, "paper"))
        if self.max_changed is not None:
            check_int("max_changed", self.max_changed, 1, "None or ")

    def fit_like(self, other: Explainer) -> Self:
        """As in `Explainer`; the paper's preset needs a background of the paper's preset."""
        if self._as_published:
            learned = other._fitted()
            splits_on_scores = not set(learned.plausibility.forest.never_split) & set(learned.predictor.score_names)
            if learned.plausibility.measure != "density" or not splits_on_scores:
                raise ParameterError(
                    "preset='paper' judges by the density of a forest that splits on scores, which the other explainer "
                    "has not learned. Fit the other one with preset='paper' too, or call `fit`."
                )
        return super().fit_like(other)

    @property
    def _as_published(self) -> bool:
        return self.preset == "paper"

    def _search(self, problem: Problem) -> Asking[None]:
        shares = outcome_shares(problem)
        leaves = self._weighed(problem, shares)
        importance = None if self.feature_selection == "random" else (yield from local_importance(problem))
        if self._as_published:
            yield from self._sample(problem, leaves, importance)
        else:
            free_sets = partial(self._free_sets, problem, importance=importance)
            yield from search_in_stages(problem, leaves, shares, free_sets)

    def _weighed(self, problem: Problem, shares: np.ndarray) -> LeafTable:
        """The leaves, weighed by their share of rows with the outcome and, if asked, by their closeness to x."""
        leaves = weighed_leaves(problem, shares)
        if self.leaf_selection == "coverage":
            return leaves
        return leaves._replace(log_weight=leaves.log_weight + np.log(_closeness(problem, leaves)))

    def _sample(self, problem: Problem, leaves: LeafTable, importance: np.ndarray | None) -> Asking[None]:
        """The plain algorithm."""
        free = self._free_sets(problem, _PAPER_ITERATIONS, importance=importance)
        bases = np.repeat(problem.x[None], len(free), axis=0)
        forest = problem.background.plausibility.forest.forest_
        rows = admissible(problem, draws(problem, leaves, bases, free, _PAPER_DRAWS, forest))
        rows = rows[first_of_each(rows)]
        yield from problem.ask(rows[problem.is_candidate(rows)])

    def _free_sets(self, problem: Problem, n: int, importance: np.ndarray | None) -> np.ndarray:
        """Which features each draw may change, (n, p)."""
        limits, rng, p = problem.limits, problem.rng, len(problem.x)
        unit, searched = unit_of(limits), problem.searched
        units = np.unique(unit[searched])
        if len(units) == 0:
            return np.zeros((0, p), np.bool_)
        most = most_changed(p) if self.max_changed is None else self.max_changed
        most = max(1, min(most, limits.max_changed, len(units)))
        worth = np.ones(len(units)) if importance is None else _worth(importance, unit, units)
        # sorting by log worth plus Gumbel noise draws without replacement, by worth
        noise = 0.0 if self.feature_selection == "top" else rng.gumbel(size=(n, len(units)))
        rank = np.argsort(np.argsort(-(np.log(worth) + noise) * np.ones((n, 1)), axis=1), axis=1)
        is_free = rank < rng.integers(1, most + 1, (n, 1))
        return is_free[:, np.searchsorted(units, np.where(searched, unit, units[0]))] & searched


def _worth(importance: np.ndarray, unit: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Importance of each unit, the largest of its columns'; nothing is without any chance."""
    worth = np.array([importance[unit == number].max() for number in units])
    return worth + max(0.01 * worth.max(), 1e-12)


def _closeness(problem: Problem, leaves: LeafTable) -> np.ndarray:
    """1 − Gower distance of x to the means of each leaf's numbers; categories do not count."""
    numbers = np.flatnonzero(leaves.number_of[: len(problem.x)] >= 0)
    centre = np.repeat(problem.x[None], len(leaves.log_weight), axis=0)
    centre[:, numbers] = leaves.mu[:, leaves.number_of[numbers]]
    return np.maximum(1.0 - problem.gower.to(problem.x, centre), 1e-12)


_SUMMARY = "draws from the forest, and crossings with real rows"
register(Method(ARFExplainer, "ARF", _SUMMARY, "#0072B2", dearness=2, is_compared=True))
