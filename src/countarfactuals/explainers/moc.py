"""MOC, MOCCTREE and MOCARF: counterfactuals by multi-objective evolution (Algorithm 1 of the paper).

1. The first population differs from x in some features (see `initial`).
2. Objectives, all minimised: distance of the score to the goal, proximity, sparsity, implausibility, the user's own.
   Implausibility is the distance to the nearest real rows, or minus the forest's measure.
3. Parents are chosen by validity, and recombined in pairs: real numbers by simulated binary crossover, other cells by
   exchange.
4. Some features are put back to x. Then some features of some children are mutated: each by itself (MOC), given the
   others by conditional inference trees (MOCCTREE), or jointly by the adversarial random forest given the rest and the
   outcome (MOCARF). See `mutation`. Values are drawn last, so that they fit all that stays.
5. Changes beyond `max_changed` and what the constraints forbid are put back to x. Children that still violate a
   constraint are no children: only rows that may leave cost an evaluation.
6. The best of parents and children survive, by front and crowding (see `search`). The next generation begins with 3.
7. The result is the non-dominated set of the counterfactuals of all generations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers.background import Background
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.ctree_sampler import ConditionalTrees, fit_conditional_trees
from countarfactuals.explainers.importance import local_importance
from countarfactuals.explainers.initial import STRATEGIES, candidates, chance, first_rows
from countarfactuals.explainers.mutation import ByForest, ByTrees, Independent, Mutation
from countarfactuals.explainers.problem import Cost, GiveUp, Objective, Problem
from countarfactuals.explainers.space import Space
from countarfactuals.parameters import RandomState, check_choice, check_float, check_int
from countarfactuals.search import Evolution, evolve, reset, sbx

_METHODS = {"independent": "moc", "ctree": "mocctree", "arf": "mocarf"}
_ETA = 20.0  # how near recombined real numbers stay to those of their parents
_PROBABILITIES = ("p_recombination", "p_recombination_feature", "p_mutation", "p_mutation_feature", "p_reset")


class MOCExplainer(Explainer):
    """Counterfactuals by multi-objective evolution.

    Parameters
    ----------
    model, density, max_evaluations, classes, task, outcome, distance, extra_objectives, measure, min_plausibility,
    allow_real_rows, trade_off, n_jobs, random_state : see `Explainer`.
    mutation : "independent", "ctree", "arf" or None
        Whether a feature is mutated by itself, given the others by conditional inference trees, or features jointly by
        the forest; results are named moc, mocctree and mocarf by it. None for what the class is named after.
    plausibility : None, "gower" or "arf"
        Whether a row is judged by its distance to the nearest real rows or by the forest; None for the forest with its
        mutation and for the distance with the others.
    population_size, n_generations : int
        Rows per generation, and most generations after the first. The budget of evaluations may end the search before.
    max_changed : int or None
        Most features that a counterfactual may change.
    initial : "icecurve", "random", "sd" or "traindata"
        Which rows the search begins with: features differ from x by their local importance and have uniform values;
        any feature, uniform; the same within a standard deviation of x; or parts of real rows with the outcome.
    p_recombination, p_recombination_feature : float
        How likely a pair of parents is recombined, and each feature of it.
    p_mutation, p_mutation_feature : float
        How likely a child is mutated, and each feature of it; with kept="importance" the latter goes by importance.
    p_reset : float
        How likely each feature of a child is put back to x, before it is mutated.
    epsilon : float or None
        Rows whose score is farther than this from the goal rank behind all others. None for no such rule.
    patience : int or None
        How many generations may pass without a row, nearer to the goal than x, that no row of the evolution dominates.
        None for any number.
    n_neighbours : int
        Real rows that the distance is taken to.
    neighbour_weights : sequence of floats or None
        Their weights, nearest first; None for equal ones.
    kept : "random" or "importance"
        Which features the forest's mutation keeps: any, or rather those of little local importance.
    n_draws : int
        How many draws the forest's mutation makes for a row, of which the most plausible is taken; 1 as published.
    """

    method: ClassVar[str] = "moc"
    _mutation: ClassVar[str] = "independent"

    def __init__(
        self,
        model: Any,
        *,
        density: AdversarialRandomForest | None = None,
        max_evaluations: int = 1000,
        mutation: str | None = None,
        plausibility: str | None = None,
        population_size: int = 20,
        n_generations: int = 175,
        max_changed: int | None = None,
        initial: str = "icecurve",
        p_recombination: float = 0.71,
        p_recombination_feature: float = 0.62,
        p_mutation: float = 0.73,
        p_mutation_feature: float = 0.5,
        p_reset: float = 0.4,
        epsilon: float | None = None,
        patience: int | None = None,
        n_neighbours: int = 1,
        neighbour_weights: Sequence[float] | None = None,
        kept: str = "random",
        n_draws: int = 5,
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
        self.mutation = mutation
        self.plausibility = plausibility
        self.population_size = population_size
        self.n_generations = n_generations
        self.max_changed = max_changed
        self.initial = initial
        self.p_recombination = p_recombination
        self.p_recombination_feature = p_recombination_feature
        self.p_mutation = p_mutation
        self.p_mutation_feature = p_mutation_feature
        self.p_reset = p_reset
        self.epsilon = epsilon
        self.patience = patience
        self.n_neighbours = n_neighbours
        self.neighbour_weights = neighbour_weights
        self.kept = kept
        self.n_draws = n_draws

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("mutation", self.mutation, (None, *_METHODS))
        check_choice("plausibility", self.plausibility, (None, "gower", "arf"))
        check_choice("initial", self.initial, STRATEGIES)
        check_choice("kept", self.kept, ("random", "importance"))
        check_int("population_size", self.population_size, 2)
        check_int("n_generations", self.n_generations, 0)
        check_int("n_neighbours", self.n_neighbours, 1)
        check_int("n_draws", self.n_draws, 1)
        for name in _PROBABILITIES:
            check_float(name, getattr(self, name), 0.0, 1.0)
        if self.max_changed is not None:
            check_int("max_changed", self.max_changed, 1, "None or ")
        if self.epsilon is not None:
            check_float("epsilon", self.epsilon, 0.0, math.inf, "None or ")
        if self.patience is not None:
            check_int("patience", self.patience, 1, "None or ")
        self._neighbour_shares()

    def _neighbour_shares(self) -> np.ndarray:
        """The weights of the nearest real rows; they sum to 1."""
        if self.neighbour_weights is None:
            return np.full(self.n_neighbours, 1.0 / self.n_neighbours)
        try:
            weights = np.asarray(self.neighbour_weights, np.float64)
        except (TypeError, ValueError):
            weights = np.empty(0)
        is_good = (
            weights.shape == (self.n_neighbours,) and bool((weights >= 0.0).all()) and 0.0 < weights.sum() < math.inf
        )
        if not is_good or weights[0] == 0.0:
            raise ParameterError(
                f"neighbour_weights must be None or {self.n_neighbours} numbers, as many as n_neighbours, from 0 on, "
                f"the first above it; got {self.neighbour_weights!r}."
            )
        return np.asarray(weights / weights.sum())

    @property
    def _mutates(self) -> str:
        return self.mutation or self._mutation

    def _set_fitted(self, background: Background, seed: int) -> None:
        super()._set_fitted(background, seed)
        self._conditional: ConditionalTrees | None = None  # fitted when first needed

    @property
    def name(self) -> str:
        """What results call the method: it goes by the mutation."""
        return _METHODS[self._mutates]

    def _cost(self, x: np.ndarray) -> Cost | None:
        # how far a row is from real ones does not depend on what a change costs: all features weigh alike
        if (self.plausibility or ("arf" if self._mutates == "arf" else "gower")) == "arf":
            return None
        weights = self._neighbour_shares()
        surroundings = self.background_.gower.around(x, self.background_.matrix)
        name = "distance to the nearest real row"
        if len(weights) > 1:
            kind = "mean" if self.neighbour_weights is None else "weighted"
            name = f"{kind} distance to the {len(weights)} nearest real rows"
        return Cost(name, lambda rows: surroundings.cost(rows, weights))

    def _search(self, problem: Problem) -> None:
        space = Space.of(problem)
        if not space.may_change.any():
            return
        by_importance = self._mutates == "arf" and self.kept == "importance"
        importance = local_importance(problem) if self.initial == "icecurve" or by_importance else None
        rows = first_rows(
            problem, space, self.population_size, self.initial, importance if self.initial == "icecurve" else None
        )
        if len(rows) == 0:
            return
        share = chance(space, importance) if by_importance and importance is not None else self.p_mutation_feature
        variation = _Variation(self, problem, space, self._mutation_of(problem, space), share)
        evaluation = _Evaluation(problem)
        evolution = evolve(
            rows,
            evaluation,
            variation,
            n_generations=self.n_generations,
            n_population=self.population_size,
            feature_distance=problem.gower.between,
            penalty=self.epsilon,
            patience=self.patience,
            reference=evaluation.reference,
            exclude=np.concatenate([problem.x[None], problem.ledger()[0]]),
            rng=problem.rng,
        )
        problem.record = history(problem, evolution)
        if evaluation.gave_up:
            raise GiveUp

    def prepare(self) -> Self:
        """Grow the conditional inference trees, if the mutation uses them."""
        super().prepare()
        if self._mutates == "ctree":
            for j in range(self.n_features_in_):
                self._conditional_trees().tree(j)
        return self

    def _mutation_of(self, problem: Problem, space: Space) -> Mutation:
        if self._mutates == "arf":
            return ByForest(problem, space, self.n_draws)
        if self._mutates == "ctree":
            return ByTrees(problem, space, self._conditional_trees())
        return Independent(problem, space)

    def _conditional_trees(self) -> ConditionalTrees:
        if self._conditional is None:
            background = self.background_
            rng = np.random.default_rng([self.seed_, 2])
            self._conditional = fit_conditional_trees(background.matrix, background.schema, rng=rng)
        return self._conditional


class MOCCTREEExplainer(MOCExplainer):
    """`MOCExplainer` whose mutation draws each feature from a conditional inference tree unless told otherwise."""

    method: ClassVar[str] = "mocctree"
    _mutation: ClassVar[str] = "ctree"


class MOCARFExplainer(MOCExplainer):
    """`MOCExplainer` whose mutation draws features jointly from the forest unless told otherwise."""

    method: ClassVar[str] = "mocarf"
    _mutation: ClassVar[str] = "arf"


class _Evaluation:
    """Rows to objectives, within the budget; fewer or none when it is spent."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.gave_up = False
        # only rows that are nearer to the goal than x count as progress
        own = float(problem.goal.distance(problem.x_scores[None])[0])
        self.reference = np.array([own, *[np.inf] * len(problem.objective_names)])

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        problem = self.problem
        rows = rows[: problem.left]
        objectives = problem.objectives(rows) if len(rows) else np.empty((0, len(problem.objective_names)))
        try:
            scores = problem.evaluate(rows)
        except GiveUp:
            self.gave_up = True
            return np.empty((0, objectives.shape[1] + 1))
        return np.column_stack([problem.goal.distance(scores), objectives])


class _Variation:
    """Children of parents: recombination, reset, mutation, and what the constraints ask."""

    def __init__(
        self, settings: MOCExplainer, problem: Problem, space: Space, mutation: Mutation, p_feature: float | np.ndarray
    ) -> None:
        self.settings, self.problem, self.space, self.mutation = settings, problem, space, mutation
        self.p_feature = p_feature

    def __call__(self, parents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        settings, space = self.settings, self.space
        rows = self._recombined(parents[0::2], parents[1::2], rng)
        rows = reset(rows, space.x, space.chosen(len(rows), settings.p_reset, rng))
        some = rng.random((len(rows), 1)) < settings.p_mutation
        rows = self.mutation(rows, space.chosen(len(rows), self.p_feature, rng) & some)
        return candidates(self.problem, rows)

    def _recombined(self, a: np.ndarray, b: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        settings, space = self.settings, self.space
        some = rng.random((len(a), 1)) < settings.p_recombination
        taken = space.chosen(len(a), settings.p_recombination_feature, rng) & some
        children = sbx(a, b, space.low, space.high, taken, _ETA, is_real=space.is_real, step=space.step, rng=rng)
        return np.concatenate([space.settled(children[0], a, b), space.settled(children[1], b, a)])


def history(problem: Problem, evolution: Evolution) -> dict[str, Any]:
    """What became of the search, by generation from the first one, as JSON types.

    "best" and "mean" are those of each objective in the population. "hypervolume" is that of all counterfactuals found
    so far, those on the ICE curves included, in proximity, sparsity, implausibility and the user's own objectives, with
    all ones as the reference. The forest's measure counts as the share of real rows that are at least as plausible. The
    user's own distance and objectives run from 0 to 1 over all rows evaluated.
    """
    names = ("validity", *problem.objective_names)
    past = evolution.past
    rows, scores = problem.ledger()
    good = problem.is_counterfactual(rows, scores)
    n_before = len(rows) - len(evolution.rows)  # the ledger begins with what was evaluated before the evolution
    objectives = np.concatenate([problem.objectives(rows[:n_before]), evolution.objectives[:, 1:]])
    scaled = _scaled(problem, objectives)
    volumes = evolution.hypervolumes(
        scaled[n_before:], np.ones(len(names) - 1), good[n_before:], scaled[:n_before][good[:n_before]]
    )
    return {
        "generation": list(range(len(past))),
        "hypervolume": volumes.tolist(),
        "best": {name: [_plain(values[:, k].min()) for values in past] for k, name in enumerate(names)},
        "mean": {name: [_plain(values[:, k].mean()) for values in past] for k, name in enumerate(names)},
    }


def _scaled(problem: Problem, objectives: np.ndarray) -> np.ndarray:
    scaled = objectives.copy()
    if problem.cost is None:
        scaled[:, 2] = 1.0 - problem.background.plausibility.rank(-objectives[:, 2])
    own = [*([] if problem.distance is None else [0]), *range(3, objectives.shape[1])]
    for k in own if len(objectives) else ():
        low, high = objectives[:, k].min(), objectives[:, k].max()
        scaled[:, k] = (objectives[:, k] - low) / (high - low) if -math.inf < low < high < math.inf else 0.0
    return scaled


def _plain(value: float) -> float | None:
    """A number as JSON knows it."""
    return float(value) if math.isfinite(value) else None
