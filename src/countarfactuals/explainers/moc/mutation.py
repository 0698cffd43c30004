"""How children of MOC come about: a crossover of two parents, and mutations of some of their cells.

Settings are objects that a user passes (`MOCExplainer(model, mutation=ForestMutation(n_draws=1))`). Bound to a problem,
they are functions of rows. Which cells of which rows are mutated is given; the others stay as they are.

- `IndependentMutation`: a number moves by a normal distribution with the feature's standard deviation, truncated to
  what is allowed; a level is drawn, all alike.
- `ConditionalTreeMutation`: feature after feature in random order, each drawn from its conditional inference tree given
  the row's other cells as they are by then.
- `ForestMutation`: all mutated cells of a row at once by FORGE, given its other cells and the wanted outcome. Changes
  beyond the most that are allowed are taken back before, as a joint draw of which some cells were taken back is none.
  Of several draws per row the most plausible is taken: that costs no evaluation. Each call draws from the next tenth of
  the trees, which is quicker and as good.

A missing cell that is mutated is filled. Sets of columns of which one is 1 keep exactly one; which one is uniform,
unless the forest draws it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from countarfactuals.explainers.moc.ctree_sampler import ConditionalTrees
from countarfactuals.explainers.moc.population import Space
from countarfactuals.explainers.problem import Problem
from countarfactuals.explainers.proposals import draws, outcome_shares, too_many, trees_of_turn, weighed_leaves
from countarfactuals.objectives import changed
from countarfactuals.parameters import check_choice, check_float, check_int
from countarfactuals.search import level_mutation, reset, sbx

_SHARE_OF_TREES, _FEWEST_TREES = 0.1, 10  # that a generation draws from

Mutate = Callable[[np.ndarray, np.ndarray], np.ndarray]  # rows and which of their cells; gives the new rows
Trees = Callable[[], ConditionalTrees]


@dataclass(frozen=True, kw_only=True)
class SimulatedBinaryCrossover:
    """Real numbers of two parents by simulated binary crossover, other cells by exchange.

    Parameters
    ----------
    p, p_feature : float
        How likely a pair of parents is recombined, and each feature of it.
    eta : float
        How near recombined real numbers stay to those of their parents.
    """

    p: float = 0.71
    p_feature: float = 0.62
    eta: float = 20.0

    def check(self) -> None:
        """Refuse values that are not allowed."""
        check_float("p of the crossover", self.p, 0.0, 1.0)
        check_float("p_feature of the crossover", self.p_feature, 0.0, 1.0)
        check_float("eta of the crossover", self.eta, 0.0, math.inf)

    def __call__(self, a: np.ndarray, b: np.ndarray, space: Space, rng: np.random.Generator) -> np.ndarray:
        """Two children of each pair of rows."""
        is_recombined = rng.random((len(a), 1)) < self.p
        taken = space.chosen(len(a), self.p_feature, rng) & is_recombined
        children = sbx(a, b, space.low, space.high, taken, self.eta, is_real=space.is_real, step=space.step, rng=rng)
        return np.concatenate([space.settled(children[0], a, b), space.settled(children[1], b, a)])


@dataclass(frozen=True, kw_only=True)
class Mutation(ABC):
    """What mutations share.

    Parameters
    ----------
    p, p_feature : float
        How likely a child is mutated, and each feature of it.
    """

    kind: ClassVar[str]  # by which users ask for it
    method: ClassVar[str]  # what results of a search with it are called

    p: float = 0.73
    p_feature: float = 0.5

    def check(self) -> None:
        """Refuse values that are not allowed."""
        check_float("p of the mutation", self.p, 0.0, 1.0)
        check_float("p_feature of the mutation", self.p_feature, 0.0, 1.0)

    @abstractmethod
    def bound(self, problem: Problem, space: Space, trees: Trees) -> Mutate:
        """The mutation of one search; `trees` gives the conditional ones of the data."""


@dataclass(frozen=True, kw_only=True)
class IndependentMutation(Mutation):
    """Each cell by itself."""

    kind: ClassVar[str] = "independent"
    method: ClassVar[str] = "moc"

    def bound(self, problem: Problem, space: Space, trees: Trees) -> Mutate:
        """The mutation of one search."""
        rng = problem.rng

        def mutate(rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
            absent = chosen & np.isnan(rows)
            if absent.any():
                rows = space.uniform_numbers(rows, absent, rng)
            rows = space.moved_numbers(rows, chosen & ~absent, rng)
            return space.move_ones(level_mutation(rows, space.levels, chosen, rng), chosen, rng)

        return mutate


@dataclass(frozen=True, kw_only=True)
class ConditionalTreeMutation(Mutation):
    """Each cell given the others, by conditional inference trees."""

    kind: ClassVar[str] = "ctree"
    method: ClassVar[str] = "mocctree"

    def bound(self, problem: Problem, space: Space, trees: Trees) -> Mutate:
        """The mutation of one search."""
        sampler, rng, is_drawn = trees(), problem.rng, np.ones(len(space.x), np.bool_)
        for part, _ in space.one_hot:  # given the others such a cell could only stay what it is
            is_drawn[part.columns] = False

        def mutate(rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
            rows = rows.copy()
            for j in rng.permutation(rows.shape[1]).tolist():
                which = np.flatnonzero(chosen[:, j])
                if len(which) and is_drawn[j]:
                    rows[which, j] = sampler.draw(rows[which], j, rng, space.allowed(j))
            return space.move_ones(rows, chosen, rng)

        return mutate


@dataclass(frozen=True, kw_only=True)
class ForestMutation(Mutation):
    """All cells of a row jointly, given the others and the outcome, by the adversarial random forest.

    Parameters
    ----------
    n_draws : int
        How many draws are made for a row, of which the most plausible is taken; 1 as published.
    kept : "random" or "importance"
        Which features are kept: any, or rather those of little local importance, which then decides instead of
        `p_feature`.
    """

    kind: ClassVar[str] = "arf"
    method: ClassVar[str] = "mocarf"

    n_draws: int = 5
    kept: str = "random"

    def check(self) -> None:
        """Refuse values that are not allowed."""
        super().check()
        check_int("n_draws", self.n_draws, 1)
        check_choice("kept", self.kept, ("random", "importance"))

    def bound(self, problem: Problem, space: Space, trees: Trees) -> Mutate:
        """The mutation of one search."""
        return _JointDraws(problem, space, self.n_draws)


class _JointDraws:
    """The forest's mutation of one search, which takes the next trees with every call."""

    def __init__(self, problem: Problem, space: Space, n_draws: int) -> None:
        self.problem, self.space, self.n_draws = problem, space, n_draws
        self.leaves = weighed_leaves(problem, outcome_shares(problem))
        self.n_calls = 0

    def __call__(self, rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The rows with the chosen cells mutated; rows that the forest holds for impossible are left out."""
        taken_back = too_many(self.problem, self._counts(rows) | chosen)
        rows, chosen = reset(rows, self.space.x, taken_back), chosen & ~taken_back
        mutated = chosen.any(axis=1)
        trees = trees_of_turn(self.problem, self.n_calls, _SHARE_OF_TREES, _FEWEST_TREES)
        self.n_calls += 1
        drawn = draws(self.problem, self.leaves, rows[mutated], chosen[mutated], self.n_draws, trees)
        drawn = self._most_plausible(self.space.mend_ones(drawn, self.problem.rng))
        return np.concatenate([rows[~mutated], drawn])

    def _counts(self, rows: np.ndarray) -> np.ndarray:
        """Which cells differ from x and do not follow from others."""
        return np.asarray(changed(rows, self.space.x) & ~self.problem.kept.consequences(rows))

    def _most_plausible(self, drawn: np.ndarray) -> np.ndarray:
        """Of the draws for each row, which stand together, the one that the forest finds most plausible."""
        if self.n_draws == 1 or len(drawn) == 0:
            return drawn
        measure = self.problem.background.plausibility(drawn).reshape(-1, self.n_draws)
        return drawn[np.arange(len(measure)) * self.n_draws + measure.argmax(axis=1)]


MUTATIONS: dict[str, type[Mutation]] = {
    kind.kind: kind for kind in (IndependentMutation, ConditionalTreeMutation, ForestMutation)
}
