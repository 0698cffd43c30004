"""One generation of MOC, children of parents and their objectives, and what became of all generations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from countarfactuals.counterfactuals.storage import plain_number
from countarfactuals.explainers.moc.mutation import Mutate, SimulatedBinaryCrossover
from countarfactuals.explainers.moc.population import Space, candidates
from countarfactuals.explainers.problem import GiveUp, Problem
from countarfactuals.explainers.questions import Asking
from countarfactuals.objectives import DISTANCE, IMPLAUSIBILITY, N_CHANGED, VALIDITY
from countarfactuals.search import Evolution, reset


@dataclass(frozen=True, eq=False)
class Variation:
    """Children of parents: recombination, reset, mutation, and what the constraints ask.

    Parameters
    ----------
    problem, space : what is searched.
    crossover, mutate : how cells come about.
    p_reset, p_mutation : how likely a feature is put back to x, and a child is mutated.
    p_feature : how likely each feature of it is.
    """

    problem: Problem
    space: Space
    crossover: SimulatedBinaryCrossover
    mutate: Mutate
    p_reset: float
    p_mutation: float
    p_feature: float | np.ndarray

    def __call__(self, parents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The children of pairs of parents."""
        space = self.space
        rows = self.crossover(parents[0::2], parents[1::2], space, rng)
        rows = reset(rows, space.x, space.chosen(len(rows), self.p_reset, rng))
        is_mutated = rng.random((len(rows), 1)) < self.p_mutation
        rows = self.mutate(rows, space.chosen(len(rows), self.p_feature, rng) & is_mutated)
        return candidates(self.problem, rows)


class Evaluation:
    """Rows to objectives, within the budget; fewer or none when it is spent."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.gave_up = False
        # only rows that are nearer to the goal than x count as progress
        own = float(problem.goal.distance(problem.x_scores[None])[0])
        self.reference = np.array([own, *[np.inf] * len(problem.objective_names)])

    def __call__(self, rows: np.ndarray) -> Asking[np.ndarray]:
        """Objectives of the first rows, as many as the budget allows; the distance to the goal comes first."""
        problem = self.problem
        rows = rows[: problem.left]
        objectives = problem.objectives(rows) if len(rows) else np.empty((0, len(problem.objective_names)))
        try:
            scores = yield from problem.ask(rows)
        except GiveUp:
            self.gave_up = True
            return np.empty((0, objectives.shape[1] + 1))
        return np.column_stack([problem.goal.distance(scores), objectives])


def history(problem: Problem, evolution: Evolution) -> dict[str, Any]:
    """What became of the search, by generation from the first one, as JSON types.

    "best" and "mean" are those of each objective in the population. "hypervolume" is that of all counterfactuals found
    so far, those on the ICE curves included, in distance, changes, implausibility and the user's own objectives, with
    all ones as the reference. The forest's measure counts as the share of real rows that are at least as plausible. The
    user's own distance and objectives run from 0 to 1 over all rows evaluated.
    """
    names = (VALIDITY, *problem.objective_names)
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
        "best": {name: [plain_number(values[:, k].min()) for values in past] for k, name in enumerate(names)},
        "mean": {name: [plain_number(values[:, k].mean()) for values in past] for k, name in enumerate(names)},
    }


def _scaled(problem: Problem, objectives: np.ndarray) -> np.ndarray:
    scaled = objectives.copy()
    scaled[:, problem.at(N_CHANGED)] /= len(problem.x)
    if problem.cost is None:
        cost = problem.at(IMPLAUSIBILITY)
        scaled[:, cost] = 1.0 - problem.background.plausibility.rank(-objectives[:, cost])
    for name in (*([] if problem.distance is None else [DISTANCE]), *problem.extra) if len(objectives) else ():
        k = problem.at(name)
        low, high = objectives[:, k].min(), objectives[:, k].max()
        scaled[:, k] = (objectives[:, k] - low) / (high - low) if -math.inf < low < high < math.inf else 0.0
    return scaled
