"""The three mutations of MOC. Which cells of which rows are mutated is given; the others stay as they are.

- `Independent`: a number moves by a normal distribution with the feature's standard deviation, truncated to what is
  allowed; a level is drawn, all alike.
- `ByTrees`: feature after feature in random order, each drawn from its conditional inference tree given the row's
  other cells as they are by then.
- `ByForest`: all mutated cells of a row at once by FORGE, given its other cells and the wanted outcome. Changes beyond
  the most that are allowed are taken back before, as a joint draw of which some cells were taken back is none. Of
  several draws per row the most plausible is taken: that costs no evaluation. Each call draws from the next tenth of
  the trees, which is quicker and as good.

A missing cell that is mutated is filled. Sets of columns of which one is 1 keep exactly one; which one is uniform,
unless the forest draws it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from countarfactuals.explainers.ctree_sampler import ConditionalTrees
from countarfactuals.explainers.problem import Problem
from countarfactuals.explainers.proposals import draws, outcome_shares, too_many, trees_of_turn, weighed_leaves
from countarfactuals.explainers.space import Space
from countarfactuals.objectives import changed
from countarfactuals.search import level_mutation, reset

_SHARE_OF_TREES, _FEWEST_TREES = 0.1, 10  # that a generation draws from

Mutation = Callable[[np.ndarray, np.ndarray], np.ndarray]  # rows and which of their cells; gives the new rows


class Independent:
    """Each cell by itself."""

    def __init__(self, problem: Problem, space: Space) -> None:
        self.rng, self.space = problem.rng, space

    def __call__(self, rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The rows with the chosen cells mutated."""
        space, rng = self.space, self.rng
        absent = chosen & np.isnan(rows)
        if absent.any():
            rows = space.uniform_numbers(rows, absent, rng)
        rows = space.moved_numbers(rows, chosen & ~absent, rng)
        return space.move_ones(level_mutation(rows, space.levels, chosen, rng), chosen, rng)


class ByTrees:
    """Each cell given the others, by conditional inference trees."""

    def __init__(self, problem: Problem, space: Space, trees: ConditionalTrees) -> None:
        self.rng, self.space, self.trees = problem.rng, space, trees
        self.is_drawn = np.ones(len(space.x), np.bool_)
        for part, _ in space.one_hot:  # given the others such a cell could only stay what it is
            self.is_drawn[part.columns] = False

    def __call__(self, rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The rows with the chosen cells mutated."""
        rows = rows.copy()
        for j in self.rng.permutation(rows.shape[1]).tolist():
            which = np.flatnonzero(chosen[:, j])
            if len(which) and self.is_drawn[j]:
                rows[which, j] = self.trees.draw(rows[which], j, self.rng, self._allowed(j))
        return self.space.move_ones(rows, chosen, self.rng)

    def _allowed(self, j: int) -> tuple[float, float] | np.ndarray | None:
        low, high = float(self.space.low[j]), float(self.space.high[j])
        return (low, high) if low <= high else self.space.levels[j]


class ByForest:
    """All cells of a row jointly, given the others and the outcome, by the adversarial random forest."""

    def __init__(self, problem: Problem, space: Space, n_draws: int) -> None:
        self.problem, self.space, self.n_draws = problem, space, n_draws
        self.leaves = weighed_leaves(problem, outcome_shares(problem))
        self.n_calls = 0

    def __call__(self, rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The rows with the chosen cells mutated; rows that the forest holds for impossible are left out."""
        taken_back = too_many(self.problem, changed(rows, self.space.x) | chosen)
        rows, chosen = reset(rows, self.space.x, taken_back), chosen & ~taken_back
        mutated = chosen.any(axis=1)
        trees = trees_of_turn(self.problem, self.n_calls, _SHARE_OF_TREES, _FEWEST_TREES)
        self.n_calls += 1
        drawn = draws(self.problem, self.leaves, rows[mutated], chosen[mutated], self.n_draws, trees)
        drawn = self._most_plausible(self.space.mend_ones(drawn, self.problem.rng))
        return np.concatenate([rows[~mutated], drawn])

    def _most_plausible(self, drawn: np.ndarray) -> np.ndarray:
        """Of the draws for each row, which stand together, the one that the forest finds most plausible."""
        if self.n_draws == 1 or len(drawn) == 0:
            return drawn
        measure = self.problem.background.plausibility(drawn).reshape(-1, self.n_draws)
        return drawn[np.arange(len(measure)) * self.n_draws + measure.argmax(axis=1)]
