"""Why nothing was found: what failed, what came closest, and which constraint stands in the way.

1. The candidates that were evaluated are counted by what they fail.
2. Real rows with the wanted outcome are valid at no cost. Crossings of x with the nearest of them, made to obey all
   constraints but one, are evaluated with what is left of the budget: those that reach the goal are counterfactuals
   that this one constraint forbids.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from countarfactuals.counterfactuals import Diagnosis
from countarfactuals.explainers.problem import Problem, first_of_each
from countarfactuals.explainers.proposals import admissible, crossings, settled, unit_of
from countarfactuals.explainers.questions import Asking
from countarfactuals.objectives import changed

_PER_CONSTRAINT, _NEAR = 200, 50


def diagnose(problem: Problem) -> Asking[Diagnosis]:
    """The diagnosis of a search that found nothing."""
    rows, scores = problem.ledger()
    reached = problem.goal.reached(scores)
    is_spent = problem.is_spent  # before lifting constraints, which evaluates rows too
    lifting = yield from _lifting(problem)
    real = problem.background.matrix[problem.background.with_outcome(problem.goal)]
    n_real = int(_is_admitted(problem, real).sum())
    if len(rows) == 0:
        return Diagnosis(n_tried=0, lifting=lifting, is_spent=is_spent, n_real=n_real)
    violated = problem.limits.violations(rows, problem.kept.consequences(rows))
    counts = {name: int(broken.sum()) for name, broken in violated.items() if broken.any()}
    low = ~problem.is_plausible(rows)
    counts |= {"min_typicality": int(low.sum())} if low.any() else {}
    breaks = problem.breaks_relations(rows)
    counts |= {"relations": int(breaks.sum())} if breaks.any() else {}
    if not problem.allow_real_rows:
        is_real = problem.background.is_real(rows)
        if problem.hides_rare:
            is_real |= problem.tells_who(rows)
        counts |= {"allow_real_rows": int(is_real.sum())} if is_real.any() else {}
    distance = np.where(changed(rows, problem.x).any(axis=1), problem.goal.distance(scores), np.inf)
    if not problem.allow_real_rows:  # a miss must not hand out someone's row either
        distance = np.where(is_real, np.inf, distance)
    nearest = int(np.lexsort((problem.distance_to_x(rows), distance))[0])
    return Diagnosis(
        n_tried=len(rows),
        n_invalid=int((~reached).sum()),
        n_violating=counts,
        nearest_miss=rows[nearest] if distance[nearest] < np.inf else None,
        nearest_miss_scores=scores[nearest] if distance[nearest] < np.inf else None,
        nearest_miss_distance=float(distance[nearest]) if distance[nearest] < np.inf else None,
        lifting=lifting,
        is_spent=is_spent,
        n_real=n_real,
    )


def _lifting(problem: Problem) -> Asking[dict[str, int]]:
    """By constraint, how many of the candidates that only it forbids reach the goal."""
    background = problem.background
    donors = background.matrix[background.with_outcome(problem.goal)]
    if len(donors) == 0:
        return {}
    if not problem.only_real_rows:
        donors = donors[problem.gower.nearest(problem.x[None], donors, _NEAR)[1][0]]
    candidates = {name: _forbidden_by(problem, looser, donors) for name, looser in _looser(problem).items()}
    candidates = {name: rows for name, rows in candidates.items() if len(rows)}
    found: dict[str, int] = {}
    for k, (name, rows) in enumerate(candidates.items()):
        share = max(1, problem.left // (len(candidates) - k)) if problem.left > 0 else 0
        scores = yield from problem.put(rows[:share])
        problem.n_evaluated += len(scores)
        count = int(problem.goal.reached(scores).sum())
        found |= {name: count} if count else {}
    return found


def _looser(problem: Problem) -> dict[str, Problem]:
    """The same problem without each of its constraints in turn, and of the explainer's own conditions."""
    looser: dict[str, Problem] = {
        name: replace(problem, limits=problem.limits.without(name)) for name in problem.limits.liftable
    }
    if problem.least_typicality > 0.0:
        looser["min_typicality"] = replace(problem, least_typicality=0.0)
    if problem.kept.relations:
        looser["relations"] = replace(problem, relations=())
    if not problem.allow_real_rows:
        looser["allow_real_rows"] = replace(problem, allow_real_rows=True)
    return looser


def _forbidden_by(problem: Problem, looser: Problem, donors: np.ndarray) -> np.ndarray:
    """Rows that the looser problem takes for candidates and the problem itself does not.

    They are crossings of x with donors, or the donors themselves if the method finds real rows only.
    """
    limits, rows = looser.limits, donors
    if not problem.only_real_rows:
        donors = limits.keep_allowed(settled(looser, donors))
        rows = crossings(problem.x[None], donors, _PER_CONSTRAINT, unit_of(limits), problem.rng)
        rows = admissible(looser, np.concatenate([rows, donors]))
    rows = rows[first_of_each(rows)]
    rows = rows[_is_admitted(looser, rows)]
    return rows[~_is_admitted(problem, rows)]


def _is_admitted(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """Which rows would be counterfactuals if they reached the goal."""
    good = problem.is_candidate(rows)
    good[good] = problem.is_plausible(rows[good])
    return good
