"""MOC, MOCCTREE and MOCARF: counterfactuals by multi-objective evolution (Algorithm 1 of the paper).

1. The first population differs from x in some features (see `population`).
2. Objectives, all minimised: distance of the score to the goal, of the row to x, number of changes, implausibility, the
   user's own.
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
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers.background import Background
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.moc.ctree_sampler import ConditionalTrees, fit_conditional_trees
from countarfactuals.explainers.moc.generations import Evaluation, Variation, history
from countarfactuals.explainers.moc.mutation import (
    MUTATIONS,
    ConditionalTreeMutation,
    ForestMutation,
    IndependentMutation,
    Mutation,
    SimulatedBinaryCrossover,
)
from countarfactuals.explainers.moc.population import STRATEGIES, Space, chance, first_rows
from countarfactuals.explainers.problem import GiveUp, Problem
from countarfactuals.explainers.proposals import local_importance
from countarfactuals.explainers.questions import Asking
from countarfactuals.explainers.registry import Method, register
from countarfactuals.objectives import Objective
from countarfactuals.parameters import check_choice, check_float, check_int
from countarfactuals.search import evolve

__all__ = [
    "ConditionalTreeMutation",
    "ForestMutation",
    "IndependentMutation",
    "MOCARFExplainer",
    "MOCCTREEExplainer",
    "MOCExplainer",
    "SimulatedBinaryCrossover",
]

_NEAREST = "distance to the nearest real row"


@dataclass(kw_only=True, eq=False, repr=False)
class MOCExplainer(Explainer):
    """Counterfactuals by multi-objective evolution.

    Parameters
    ----------
    model, density, max_evaluations, classes, task, outcome, distance, extra_objectives, measure, min_typicality,
    allow_real_rows, relations, trade_off, n_jobs, random_state : see `Explainer`.
    mutation : "independent", "ctree", "arf", a `Mutation` or None
        Whether a feature is mutated by itself, given the others by conditional inference trees, or features jointly by
        the forest; results are named moc, mocctree and mocarf by it. A name stands for `IndependentMutation()`,
        `ConditionalTreeMutation()` or `ForestMutation()`, which have settings; None for what the class is named after.
    crossover : SimulatedBinaryCrossover or None
        How parents are recombined, None for its defaults.
    implausibility : None, "gower" or "arf"
        Whether a row is judged by its distance to the nearest real rows or by the forest; None for the forest with its
        mutation and for the distance with the others.
    population_size, n_generations : int
        Rows per generation, and most generations after the first. The budget of evaluations may end the search before.
    max_changed : int or None
        Most features that a counterfactual may change.
    initial : "icecurve", "random", "sd" or "traindata"
        Which rows the search begins with: features differ from x by their local importance and have uniform values;
        any feature, uniform; the same within a standard deviation of x; or parts of real rows with the outcome.
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
    """

    method: ClassVar[str] = "moc"
    _mutation: ClassVar[str] = "independent"

    mutation: str | Mutation | None = None
    crossover: SimulatedBinaryCrossover | None = None
    implausibility: str | None = None
    population_size: int = 20
    n_generations: int = 175
    max_changed: int | None = None
    initial: str = "icecurve"
    p_reset: float = 0.4
    epsilon: float | None = None
    patience: int | None = None
    n_neighbours: int = 1
    neighbour_weights: Sequence[float] | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.mutation, Mutation):
            check_choice("mutation", self.mutation, (None, *MUTATIONS))
        if not isinstance(self.crossover, SimulatedBinaryCrossover | None):
            raise ParameterError(f"crossover must be a SimulatedBinaryCrossover or None, got {self.crossover!r}.")
        self._mutates.check()
        self._crosses.check()
        check_choice("implausibility", self.implausibility, (None, "gower", "arf"))
        check_choice("initial", self.initial, STRATEGIES)
        check_int("population_size", self.population_size, 2)
        check_int("n_generations", self.n_generations, 0)
        check_int("n_neighbours", self.n_neighbours, 1)
        check_float("p_reset", self.p_reset, 0.0, 1.0)
        for name in ("max_changed", "patience"):
            if getattr(self, name) is not None:
                check_int(name, getattr(self, name), 1, "None or ")
        if self.epsilon is not None:
            check_float("epsilon", self.epsilon, 0.0, math.inf, "None or ")
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
    def _mutates(self) -> Mutation:
        chosen = self._mutation if self.mutation is None else self.mutation
        return MUTATIONS[chosen]() if isinstance(chosen, str) else chosen

    @property
    def _crosses(self) -> SimulatedBinaryCrossover:
        return self.crossover or SimulatedBinaryCrossover()

    def _set_fitted(self, background: Background, seed: int, y: Any = None) -> None:
        super()._set_fitted(background, seed)
        self._conditional: ConditionalTrees | None = None  # fitted when first needed

    @property
    def name(self) -> str:
        """What results call the method: it goes by the mutation."""
        return self._mutates.method

    def _cost(self, x: np.ndarray) -> Objective | None:
        # how far a row is from real ones does not depend on what a change costs: all features weigh alike
        if (self.implausibility or ("arf" if self._mutates.kind == "arf" else "gower")) == "arf":
            return None
        weights = self._neighbour_shares()
        surroundings = self.background_.gower.around(x, self.background_.matrix)
        name = _NEAREST
        if len(weights) > 1:
            kind = "mean" if self.neighbour_weights is None else "weighted"
            name = f"{kind} distance to the {len(weights)} nearest real rows"
        return Objective(name, lambda rows: surroundings.cost(rows, weights))

    def _search(self, problem: Problem) -> Asking[None]:
        space, mutation = Space.of(problem), self._mutates
        if not space.may_change.any():
            return
        by_curves = self.initial == "icecurve"
        by_importance = isinstance(mutation, ForestMutation) and mutation.kept == "importance"
        importance = (yield from local_importance(problem)) if by_curves or by_importance else None
        rows = first_rows(problem, space, self.population_size, self.initial, importance if by_curves else None)
        if len(rows) == 0:
            return
        variation = Variation(
            problem,
            space,
            self._crosses,
            mutation.bound(problem, space, self._conditional_trees),
            self.p_reset,
            mutation.p,
            chance(space, importance) if by_importance and importance is not None else mutation.p_feature,
        )
        evaluation = Evaluation(problem)
        evolution = yield from evolve(
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
        if self._mutates.kind == "ctree":
            for j in range(self.n_features_in_):
                self._conditional_trees().tree(j)
        return self

    def _conditional_trees(self) -> ConditionalTrees:
        if self._conditional is None:
            background, rng = self.background_, np.random.default_rng([self.seed_, 2])
            self._conditional = fit_conditional_trees(background.matrix, background.schema, rng=rng)
        return self._conditional

    def _plain_parameters(self) -> dict[str, Any]:
        mutation = {"kind": self._mutates.kind, **asdict(self._mutates)}
        return super()._plain_parameters() | {"mutation": mutation, "crossover": asdict(self._crosses)}

    @classmethod
    def _from_plain(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        plain = super()._from_plain(parameters)
        if "plausibility" in plain:  # as it was called up to version 2
            plain["implausibility"] = plain.pop("plausibility")
        if "n_draws" in plain:  # of version 2, when these were parameters of the explainer
            own = {name: plain.pop(name) for name in ("n_draws", "kept")}
            kind = plain["mutation"] or cls._mutation
            chances = {"p": plain.pop("p_mutation"), "p_feature": plain.pop("p_mutation_feature")}
            plain["mutation"] = {"kind": kind, **chances, **(own if kind == ForestMutation.kind else {})}
            plain["crossover"] = {"p": plain.pop("p_recombination"), "p_feature": plain.pop("p_recombination_feature")}
        mutation = dict(plain["mutation"])
        plain["mutation"] = MUTATIONS[mutation.pop("kind")](**mutation)
        return plain | {"crossover": SimulatedBinaryCrossover(**plain["crossover"])}


class MOCCTREEExplainer(MOCExplainer):
    """`MOCExplainer` whose mutation draws each feature from a conditional inference tree unless told otherwise."""

    method: ClassVar[str] = "mocctree"
    _mutation: ClassVar[str] = "ctree"


class MOCARFExplainer(MOCExplainer):
    """`MOCExplainer` whose mutation draws features jointly from the forest unless told otherwise."""

    method: ClassVar[str] = "mocarf"
    _mutation: ClassVar[str] = "arf"


_FOREST = "evolution whose mutations the forest draws"
_EACH = "evolution whose mutations move each feature by itself"
_TREES, _FIT = "evolution whose mutations conditional inference trees draw", "conditional trees"
register(Method(MOCARFExplainer, "MOCARF", _FOREST, "#009E73", dearness=4, is_compared=True))
register(Method(MOCExplainer, "MOC", _EACH, "#E69F00", _NEAREST, dearness=3, is_compared=True))
register(Method(MOCCTREEExplainer, "MOCCTREE", _TREES, "#CC79A7", _NEAREST, _FIT, dearness=5, is_compared=True))
