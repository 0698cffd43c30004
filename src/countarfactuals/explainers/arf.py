"""Algorithm 2: counterfactuals from the adversarial random forest.

`preset="paper"` is the plain algorithm:

1. Local importance of the features, by ICE curves.
2. Repeatedly draw how many and which features may change, condition on the others and on the score lying in the
   target range, and draw rows with FORGE.
3. Keep unique, valid, non-dominated rows.

The default spends the same budget of model evaluations better, in stages. Each makes a pool of candidates, which costs
no evaluation: draws of step 2, and crossings of x (later of the best rows found so far) with the nearest real rows that
have the outcome. The forest tells of each candidate how plausible it is and how likely it has the outcome; those that
promise to widen the Pareto set most are evaluated (see `improvement`). Where two stages have found nothing with few
changes, which happens with very many features, real rows are shortened (see `shortening`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.arf.leaves import LeafTable
from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.importance import local_importance
from countarfactuals.explainers.improvement import most_promising
from countarfactuals.explainers.problem import Objective, Problem, first_of_each
from countarfactuals.explainers.proposals import (
    admissible,
    crossings,
    draws,
    most_changed,
    outcome_shares,
    presentable,
    trees_of_turn,
    uniform_rows,
    unit_of,
    weighed_leaves,
)
from countarfactuals.explainers.shortening import shorten
from countarfactuals.objectives import changed, dominated_by, nondominated, pareto_layers
from countarfactuals.parameters import RandomState, check_choice, check_int

_STAGES, _NEAR = 7, 50
_PATIENT_STAGES = 4  # without success, after which the search looks everywhere
_POOL, _FEW_FEATURES = 600, 5  # candidates per stage; twice as many where few features leave many of them dominated
_SHARE_DRAWN, _SETS = 0.15, 10  # of a pool, at least; different choices of features that change
_SHARE_OF_TREES = 0.25  # that a stage draws from: few draws need no more
_NEIGHBOURS_TRIED = 10
_STAGE_OF_SHORTENING, _FEW_CHANGES, _SHORTENED = 2, 2, 3  # when, if none has so few changes, and how many real rows
_BELOW_ALL = 0.05  # worth of plausibility among candidates beside that among real rows, where all are implausible
_CAUTION = 2.0  # power of P(valid): leaves are small and their shares optimistic
_PAPER_ITERATIONS, _PAPER_DRAWS = 50, 20


class ARFExplainer(Explainer):
    """Counterfactuals by conditional sampling from an adversarial random forest.

    Parameters
    ----------
    model, density, max_evaluations, classes, task, outcome, distance, extra_objectives, measure, min_plausibility,
    allow_real_rows, trade_off, n_jobs, random_state : see `Explainer`.
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

    def __init__(
        self,
        model: Any,
        *,
        density: AdversarialRandomForest | None = None,
        max_evaluations: int = 1000,
        max_changed: int | None = None,
        feature_selection: str = "importance",
        leaf_selection: str = "coverage",
        preset: str | None = None,
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
        self.max_changed = max_changed
        self.feature_selection = feature_selection
        self.leaf_selection = leaf_selection
        self.preset = preset

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("feature_selection", self.feature_selection, ("random", "importance", "top"))
        check_choice("leaf_selection", self.leaf_selection, ("coverage", "closeness"))
        check_choice("preset", self.preset, (None, "paper"))
        if self.max_changed is not None:
            check_int("max_changed", self.max_changed, 1, "None or ")

    def fit_like(self, other: Explainer) -> Self:
        """As in `Explainer`; the paper's preset needs a background of the paper's preset."""
        if self.preset == "paper":
            learned = other._fitted()
            splits_on_scores = not set(learned.plausibility.forest.never_split) & set(learned.predictor.score_names)
            if learned.plausibility.measure != "density" or not splits_on_scores:
                raise ParameterError(
                    "preset='paper' judges by the density of a forest that splits on scores, which the other explainer "
                    "has not learned. Fit the other one with preset='paper' too, or call `fit`."
                )
        return super().fit_like(other)

    def _default_forest(self) -> AdversarialRandomForest:
        if self.preset == "paper":
            return AdversarialRandomForest(
                n_estimators=10, min_samples_leaf=2, leaf_fit="moments", dependence=None, values=None
            )
        return AdversarialRandomForest()

    def _default_measure(self) -> str | None:
        return "density" if self.preset == "paper" else None

    def _splits_on_scores(self) -> bool:
        return self.preset == "paper"

    def _learns_values(self) -> bool:
        return self.preset != "paper"

    def _search(self, problem: Problem) -> None:
        shares = outcome_shares(problem)
        leaves = self._weighed(problem, shares)
        importance = None if self.feature_selection == "random" else local_importance(problem)
        if self.preset == "paper":
            self._sample(problem, leaves, importance)
        else:
            self._search_in_stages(problem, leaves, shares, importance)

    def _weighed(self, problem: Problem, shares: np.ndarray) -> LeafTable:
        """The leaves, weighed by their share of rows with the outcome and, if asked, by their closeness to x."""
        leaves = weighed_leaves(problem, shares)
        if self.leaf_selection == "coverage":
            return leaves
        return leaves._replace(log_weight=leaves.log_weight + np.log(_closeness(problem, leaves)))

    # The plain algorithm

    def _sample(self, problem: Problem, leaves: LeafTable, importance: np.ndarray | None) -> None:
        free = self._free_sets(problem, _PAPER_ITERATIONS, importance)
        bases = np.repeat(problem.x[None], len(free), axis=0)
        forest = problem.background.plausibility.forest.forest_
        rows = admissible(problem, draws(problem, leaves, bases, free, _PAPER_DRAWS, forest))
        rows = rows[first_of_each(rows)]
        problem.evaluate(rows[problem.is_candidate(rows)])

    def _free_sets(self, problem: Problem, n: int, importance: np.ndarray | None) -> np.ndarray:
        """Which features each draw may change, (n, p)."""
        limits, rng, p = problem.limits, problem.rng, len(problem.x)
        unit = unit_of(limits)
        units = np.unique(unit[limits.may_change])
        if len(units) == 0:
            return np.zeros((0, p), np.bool_)
        most = most_changed(p) if self.max_changed is None else self.max_changed
        most = max(1, min(most, limits.max_changed, len(units)))
        worth = np.ones(len(units)) if importance is None else _worth(importance, unit, units)
        # sorting by log worth plus Gumbel noise draws without replacement, by worth
        noise = 0.0 if self.feature_selection == "top" else rng.gumbel(size=(n, len(units)))
        rank = np.argsort(np.argsort(-(np.log(worth) + noise) * np.ones((n, 1)), axis=1), axis=1)
        is_free = rank < rng.integers(1, most + 1, (n, 1))
        return is_free[:, np.searchsorted(units, np.where(limits.may_change, unit, units[0]))] & limits.may_change

    # In stages

    def _search_in_stages(
        self, problem: Problem, leaves: LeafTable, shares: np.ndarray, importance: np.ndarray | None
    ) -> None:
        near = _nearest_with_outcome(problem)
        unit = unit_of(problem.limits)
        self._try_neighbours(problem, near)
        found, values, tried = _so_far(problem)
        plausibility = problem.background.plausibility
        for stage in range(_STAGES):
            if stage == _STAGE_OF_SHORTENING and not (changed(found, problem.x).sum(axis=1) <= _FEW_CHANGES).any():
                _shorten_some(problem, near)
                found, values, tried = _so_far(problem)
            if len(found) == 0 and stage >= _PATIENT_STAGES:
                near = _some_with_outcome(problem)  # those near x have not helped: any may
            pool = self._pool(problem, leaves, stage, found, near, unit, importance)
            if len(found) == 0 and stage >= _PATIENT_STAGES:
                pool = _with_uniform_rows(problem, pool)
            pool = pool[[row.tobytes() not in tried for row in pool]]
            if len(pool) == 0:
                continue
            measure, p_valid = plausibility.judge(pool, shares)
            plausible = problem.is_plausible(pool)
            pool, p_valid = pool[plausible], p_valid[plausible]
            objectives = problem.objectives(pool, measure[plausible])
            n = math.ceil(problem.left / (_STAGES - stage))
            if len(found) == 0 and stage >= _PATIENT_STAGES:  # what the forest promised has not come true
                chosen = problem.rng.permutation(len(pool))[:n]
            else:
                chosen = _choose(problem, objectives, p_valid**_CAUTION, values, n)
            pool, objectives = pool[chosen], objectives[chosen]
            scores = problem.evaluate(pool)
            tried.update(row.tobytes() for row in pool)
            good = problem.is_counterfactual(pool, scores)
            found, values = np.concatenate([found, pool[good]]), np.concatenate([values, objectives[good]])
            best = nondominated(values)
            found, values = found[best], values[best]

    def _try_neighbours(self, problem: Problem, near: np.ndarray) -> None:
        """Evaluate the nearest rows with the outcome as they are: where they are allowed, there is no empty result."""
        rows = admissible(problem, near[: max(1, min(_NEIGHBOURS_TRIED, problem.left // 10))])
        rows = rows[first_of_each(rows)]
        problem.evaluate(rows[problem.is_candidate(rows)])

    def _pool(
        self,
        problem: Problem,
        leaves: LeafTable,
        stage: int,
        found: np.ndarray,
        near: np.ndarray,
        unit: np.ndarray,
        importance: np.ndarray | None,
    ) -> np.ndarray:
        """New candidates: crossings, and draws for the rest of the pool, as few columns allow few crossings."""
        x, rng = problem.x[None], problem.rng
        size = 2 * _POOL if x.shape[1] <= _FEW_FEATURES else _POOL
        n = round((1.0 - _SHARE_DRAWN) * size)
        if len(found) == 0:
            first = crossings(x, near, n // 2, unit, rng)
            # what no single neighbour has, two may have together
            parts = [
                first,
                crossings(first, near, n // 2, unit, rng) if stage else crossings(x, near, n // 2, unit, rng),
            ]
            bases = x
        else:
            parts = [crossings(found, donors, n // 3, unit, rng) for donors in (found, x, near)]
            bases = np.concatenate([found, np.repeat(x, len(found), axis=0)])
        rows = np.concatenate(parts)
        rows = rows[first_of_each(rows)]
        free = self._free_sets(problem, _SETS, importance)
        if len(free):
            bases = bases[rng.integers(len(bases), size=len(free))]
            n_each = max(1, (size - len(rows)) // _SETS)
            rows = np.concatenate(
                [rows, draws(problem, leaves, bases, free, n_each, trees_of_turn(problem, stage, _SHARE_OF_TREES))]
            )
        rows = admissible(problem, rows)
        rows = rows[first_of_each(rows)]
        return rows[problem.is_candidate(rows)]


def _worth(importance: np.ndarray, unit: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Importance of each unit, the largest of its columns'; nothing is without any chance."""
    worth = np.array([importance[unit == one].max() for one in units])
    return worth + max(0.01 * worth.max(), 1e-12)


def _so_far(problem: Problem) -> tuple[np.ndarray, np.ndarray, set[bytes]]:
    """The counterfactuals, their objectives, and all rows that the model was asked about."""
    rows, scores = problem.ledger()
    found = rows[problem.is_counterfactual(rows, scores)]
    return found, problem.objectives(found), {row.tobytes() for row in rows}


def _shorten_some(problem: Problem, near: np.ndarray) -> None:
    """Take back what is not needed of real rows with the outcome; they may change more than is allowed."""
    for number, row in enumerate(near[:_NEIGHBOURS_TRIED]):
        if number >= _SHORTENED and problem.found:
            break
        if problem.goal.reached(problem.evaluate(row[None])).all():
            shorten(problem, row)


def _nearest_with_outcome(problem: Problem) -> np.ndarray:
    """The real rows with the outcome that are nearest to x, as far as the constraints let x become like them."""
    background = problem.background
    real = background.matrix[background.with_outcome(problem.goal)]
    if len(real) == 0:  # then those that come closest to it
        real = background.matrix[np.argsort(problem.goal.distance(background.scores), kind="stable")[: 10 * _NEAR]]
        return presentable(problem, real)
    real = presentable(problem, real)
    _, places = problem.gower.nearest(problem.x[None], real, _NEAR)
    return real[places[0]]


def _some_with_outcome(problem: Problem) -> np.ndarray:
    """Real rows with the outcome from anywhere, as far as the constraints let x become like them."""
    real = problem.background.with_outcome(problem.goal)
    if len(real) == 0:
        real = np.arange(len(problem.background.matrix))
    return presentable(problem, problem.background.matrix[problem.rng.choice(real, 10 * _NEAR)])


def _with_uniform_rows(problem: Problem, pool: np.ndarray) -> np.ndarray:
    """The pool and as many rows whose features are drawn uniformly."""
    if not problem.limits.may_change.any():
        return pool
    rows = admissible(problem, uniform_rows(problem, max(len(pool), _POOL)))
    rows = np.concatenate([pool, rows[problem.is_candidate(rows)]])
    return rows[first_of_each(rows)]


def _closeness(problem: Problem, leaves: LeafTable) -> np.ndarray:
    """1 − Gower distance of x to the means of each leaf's numbers; categories do not count."""
    numbers = np.flatnonzero(leaves.number_of[: len(problem.x)] >= 0)
    centre = np.repeat(problem.x[None], len(leaves.log_weight), axis=0)
    centre[:, numbers] = leaves.mu[:, leaves.number_of[numbers]]
    return np.maximum(1.0 - problem.gower.to(problem.x, centre), 1e-12)


def _choose(problem: Problem, objectives: np.ndarray, p_valid: np.ndarray, found: np.ndarray, n: int) -> np.ndarray:
    """Which candidates to evaluate: by promise, and where that is exhausted, by Pareto layer."""
    p, rng = len(problem.x), problem.rng
    if len(found) == 0 and len(p_valid) and p_valid.min() == p_valid.max():  # the forest knows nothing of the outcome
        return rng.permutation(len(objectives))[:n]
    chosen = np.empty(0, np.int64)
    if objectives.shape[1] == 3 and problem.distance is None:
        implausibility = _implausibility(problem, np.concatenate([objectives[:, 2], found[:, 2]]))
        chosen = most_promising(
            objectives[:, 0],
            np.rint(objectives[:, 1] * p).astype(np.int64),
            implausibility[: len(objectives)],
            p_valid,
            np.column_stack([found[:, 0], found[:, 1] * p, implausibility[len(objectives) :]]),
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
