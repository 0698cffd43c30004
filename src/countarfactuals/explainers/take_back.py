"""No change that is not needed: single changes are taken back before rows leave.

1. A change is *removable* where the row without it, what follows computed anew, has the outcome, is allowed, and is no
   less plausible. Where nothing follows, that row beats the one with the change: it is nearer, has fewer changes, and
   is as plausible.
2. Plausibility costs no evaluation, so only the rows without a change that are no less plausible are asked about.
3. Of the ledger only rows that no other beats leave, and of these only such without a removable change. What is found
   is gone through again.
4. Rows that could not be gone through within the budget do not leave, if others do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from countarfactuals.explainers.problem import Problem
from countarfactuals.explainers.proposals import unit_of
from countarfactuals.explainers.questions import Asking
from countarfactuals.objectives import DISTANCE, IMPLAUSIBILITY, N_CHANGED, canonical, changed, nondominated

_SHARE, _PER_FEATURE = 0.1, 5  # of the budget at most; few features need few trials


def reserve(problem: Problem) -> int:
    """How many evaluations a search with success leaves for this."""
    return int(min(_SHARE * problem.budget, _PER_FEATURE * len(problem.x)))


def take_back(problem: Problem) -> Asking[np.ndarray | None]:
    """Evaluate rows with a change less; positions in the ledger of rows that may leave, None for all."""
    problem.reserve = 0
    implausibility = _Implausibility(problem)
    while True:
        best = _best(problem, implausibility)
        shorter = _shorter(problem, best, implausibility)
        is_known = problem.is_known(shorter.rows)
        before = problem.n_evaluated
        yield from problem.ask(shorter.rows[~is_known])
        if problem.n_evaluated == before:  # all are known, or the budget is spent
            is_left_out = ~is_known
            is_left_out[is_known] = yield from _is_removable(problem, shorter.rows[is_known])
            checked = np.delete(best, np.unique(shorter.of[is_left_out]))
            return None if not is_left_out.any() else checked if len(checked) else best


def _is_removable(problem: Problem, rows: np.ndarray) -> Asking[np.ndarray]:
    """Which rows of the ledger stand for longer ones, which they need not beat: they may be farther from x."""
    return problem.is_counterfactual(rows, (yield from problem.ask(rows)))


class _Implausibility:
    """Costs of rows, each found once: judging is most of what taking back takes, and it asks again and again."""

    def __init__(self, problem: Problem) -> None:
        self.objective = next(one for one in problem.every_objective if one.name == IMPLAUSIBILITY)
        self.known: dict[bytes, float] = {}

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        keys = [row.tobytes() for row in canonical(rows)]
        new = {key: i for i, key in enumerate(keys) if key not in self.known}
        if new:
            costs = self.objective.cost(rows[[*new.values()]]).tolist()
            self.known.update(zip(new, costs, strict=True))
        return np.array([self.known[key] for key in keys])


class _Shorter(NamedTuple):
    """Rows without one of their changes, which are no less plausible, and of which row each is."""

    rows: np.ndarray
    of: np.ndarray


def _best(problem: Problem, implausibility: _Implausibility) -> np.ndarray:
    """Positions in the ledger of the rows that would leave now, those with the least to change and lose first."""
    rows, scores = problem.ledger()
    good = np.flatnonzero(problem.is_counterfactual(rows, scores))
    objectives = problem.objectives(rows[good], -implausibility(rows[good]))
    best = nondominated(objectives)
    good, objectives = good[best], objectives[best]
    ranks = [np.argsort(np.argsort(objectives[:, problem.at(name)])) for name in (DISTANCE, N_CHANGED, IMPLAUSIBILITY)]
    return good[np.argsort(np.sum(ranks, axis=0), kind="stable")]


def _shorter(problem: Problem, best: np.ndarray, implausibility: _Implausibility) -> _Shorter:
    rows = problem.ledger()[0][best]
    units = unit_of(problem.limits)
    parts, of = [np.empty((0, len(problem.x)))], [np.empty(0, np.int64)]
    is_changed = changed(rows, problem.x) & ~problem.kept.consequences(rows)
    for unit in np.unique(units):
        at = np.flatnonzero(is_changed[:, units == unit].any(axis=1))
        parts.append(np.where(units == unit, problem.x, rows[at]))
        of.append(at)
    shorter, whose = problem.kept.mended(np.concatenate(parts)), np.concatenate(of)
    fewer = problem.n_changed(shorter) < problem.n_changed(rows)[whose]  # what is implied comes again
    shorter, whose = shorter[fewer], whose[fewer]
    order = np.argsort(whose, kind="stable")
    shorter, whose = shorter[order], whose[order]
    keep = problem.is_candidate(shorter)
    shorter, whose = shorter[keep], whose[keep]
    keep = implausibility(shorter) <= implausibility(rows)[whose]
    return _Shorter(shorter[keep], whose[keep])
