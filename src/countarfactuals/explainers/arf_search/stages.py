"""The search in stages: the budget of model evaluations is spent where candidates promise most.

1. The nearest real rows with the outcome are evaluated as they are.
2. A stage makes a pool of candidates, which costs no evaluation: crossings of x, and later of the best rows found so
   far, with the nearest real rows that have the outcome, and draws of the forest for the rest of the pool.
3. The forest tells of each candidate how plausible it is and how likely it has the outcome. Those that promise to widen
   the Pareto set most are evaluated (see `improvement`), and the best rows go on to the next stage.
4. Where two stages have found nothing with few changes, as happens with very many features, real rows are *shortened*:
   the forest's idea of an outcome is too coarse to tell which of many changes matter, but the model knows. Ask it in
   one call about all rows that put one change back to x; put changes back one after the other, the least needed first,
   and ask about all rows on this way in one more call; go on with the shortest that has the outcome while it gets
   shorter.
5. Where four stages have found nothing at all, rows from everywhere and uniform ones are tried, chosen at random.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from countarfactuals.arf.leaves import LeafTable
from countarfactuals.explainers.arf_search.improvement import choose
from countarfactuals.explainers.problem import Problem, first_of_each
from countarfactuals.explainers.proposals import (
    admissible,
    crossings,
    draws,
    presentable,
    trees_of_turn,
    uniform_rows,
    unit_of,
)
from countarfactuals.explainers.questions import Asking
from countarfactuals.objectives import changed, nondominated
from countarfactuals.search import reset

_STAGES, _NEAR = 7, 50
_PATIENT_STAGES = 4  # without success, after which the search looks everywhere
_POOL, _FEW_FEATURES = 600, 5  # candidates per stage; twice as many where few features leave many of them dominated
_SHARE_DRAWN, _SETS = 0.15, 10  # of a pool, at least; different choices of features that change
_SHARE_OF_TREES = 0.25  # that a stage draws from: few draws need no more
_NEIGHBOURS_TRIED = 10
_STAGE_OF_SHORTENING, _FEW_CHANGES, _SHORTENED = 2, 2, 3  # when, if none has so few changes, and how many real rows
_SHARE_SHORTENING = 0.25  # of the evaluations that are left, at most
_CAUTION = 2.0  # power of P(valid): leaves are small and their shares optimistic

FreeSets = Callable[[int], np.ndarray]  # how many choices of features that may change, to the choices, (n, p)


class _Found(NamedTuple):
    """The best rows so far, their objectives, and all rows that the model was asked about."""

    rows: np.ndarray
    objectives: np.ndarray
    tried: set[bytes]


def search_in_stages(problem: Problem, leaves: LeafTable, shares: np.ndarray, free_sets: FreeSets) -> Asking[None]:
    """Spend the budget of a problem.

    Parameters
    ----------
    problem : what is searched.
    leaves : of the forest, as weighed for draws.
    shares : of rows with the outcome in each leaf.
    free_sets : draws which features may change.
    """
    near = _nearest_with_outcome(problem)
    yield from _try_neighbours(problem, near)
    found = _so_far(problem)
    for stage in range(_STAGES):
        if stage == _STAGE_OF_SHORTENING and not _has_few_changes(problem, found.rows):
            yield from _shorten_some(problem, near)
            found = _so_far(problem)
        is_lost = len(found.rows) == 0 and stage >= _PATIENT_STAGES
        if is_lost:
            near = _some_with_outcome(problem)  # those near x have not helped: any may
        pool = _pool(problem, leaves, stage, found.rows, near, free_sets)
        if is_lost:
            pool = _with_uniform_rows(problem, pool)
        pool = pool[[row.tobytes() not in found.tried for row in pool]]
        if len(pool):
            n = math.ceil(problem.left / (_STAGES - stage))
            found = yield from _evaluated(problem, pool, shares, found, n, is_lost)


def _evaluated(
    problem: Problem, pool: np.ndarray, shares: np.ndarray, found: _Found, n: int, at_random: bool
) -> Asking[_Found]:
    """The best rows after n candidates of the pool were evaluated, the most promising ones or any."""
    measure, p_valid = problem.background.plausibility.judge(pool, shares)
    plausible = problem.is_plausible(pool)
    pool, p_valid = pool[plausible], p_valid[plausible]
    objectives = problem.objectives(pool, measure[plausible])
    if at_random:  # what the forest promised has not come true
        chosen = problem.rng.permutation(len(pool))[:n]
    else:
        chosen = choose(problem, objectives, p_valid**_CAUTION, found.objectives, n)
    pool, objectives = pool[chosen], objectives[chosen]
    scores = yield from problem.ask(pool)
    good = problem.is_counterfactual(pool, scores)
    rows = np.concatenate([found.rows, pool[good]])
    objectives = np.concatenate([found.objectives, objectives[good]])
    best = nondominated(objectives)
    return _Found(rows[best], objectives[best], found.tried | {row.tobytes() for row in pool})


def _has_few_changes(problem: Problem, rows: np.ndarray) -> bool:
    return bool((problem.n_changed(rows) <= _FEW_CHANGES).any())


def _so_far(problem: Problem) -> _Found:
    rows, scores = problem.ledger()
    found = rows[problem.is_counterfactual(rows, scores)]
    return _Found(found, problem.objectives(found), {row.tobytes() for row in rows})


# Candidates


def _try_neighbours(problem: Problem, near: np.ndarray) -> Asking[None]:
    """Evaluate the nearest rows with the outcome as they are: where they are allowed, there is no empty result."""
    rows = admissible(problem, near[: max(1, min(_NEIGHBOURS_TRIED, problem.left // 10))])
    rows = rows[first_of_each(rows)]
    yield from problem.ask(rows[problem.is_candidate(rows)])


def _pool(
    problem: Problem, leaves: LeafTable, stage: int, found: np.ndarray, near: np.ndarray, free_sets: FreeSets
) -> np.ndarray:
    """New candidates: crossings, and draws for the rest of the pool, as few columns allow few crossings."""
    size = 2 * _POOL if len(problem.x) <= _FEW_FEATURES else _POOL
    rows = _crossings(problem, stage, found, near, round((1.0 - _SHARE_DRAWN) * size))
    free = free_sets(_SETS)
    if len(free):
        x = problem.x[None]
        bases = np.concatenate([found, np.repeat(x, len(found), axis=0)]) if len(found) else x
        bases = bases[problem.rng.integers(len(bases), size=len(free))]
        trees = trees_of_turn(problem, stage, _SHARE_OF_TREES)
        drawn = draws(problem, leaves, bases, free, max(1, (size - len(rows)) // _SETS), trees)
        rows = np.concatenate([rows, drawn])
    rows = admissible(problem, rows)
    rows = rows[first_of_each(rows)]
    return rows[problem.is_candidate(rows)]


def _crossings(problem: Problem, stage: int, found: np.ndarray, near: np.ndarray, n: int) -> np.ndarray:
    x, unit, rng = problem.x[None], unit_of(problem.limits), problem.rng
    if len(found):
        parts = [crossings(found, donors, n // 3, unit, rng) for donors in (found, x, near)]
    else:
        first = crossings(x, near, n // 2, unit, rng)
        # what no single neighbour has, two may have together
        parts = [first, crossings(first if stage else x, near, n // 2, unit, rng)]
    rows = np.concatenate(parts)
    return rows[first_of_each(rows)]


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
    if not problem.searched.any():
        return pool
    rows = admissible(problem, uniform_rows(problem, max(len(pool), _POOL)))
    rows = np.concatenate([pool, rows[problem.is_candidate(rows)]])
    return rows[first_of_each(rows)]


# Shortening


def _shorten_some(problem: Problem, near: np.ndarray) -> Asking[None]:
    """Take back what is not needed of real rows with the outcome; they may change more than is allowed."""
    for number, row in enumerate(near[:_NEIGHBOURS_TRIED]):
        if number >= _SHORTENED and problem.found:
            break
        if problem.goal.reached((yield from problem.ask(row[None]))).all():
            yield from shorten(problem, row)


def shorten(problem: Problem, row: np.ndarray) -> Asking[None]:
    """Evaluate rows between a row with the outcome and x, which have fewer and fewer changes."""
    unit = unit_of(problem.limits)
    while True:
        units = np.unique(unit[(changed(row[None], problem.x) & ~problem.kept.consequences(row[None]))[0]])
        if len(units) < 2 or 2 * len(units) > _SHARE_SHORTENING * problem.left:
            return
        scores = yield from problem.ask(problem.kept.mended(reset(row, problem.x, unit == units[:, None])))
        least_needed = units[np.argsort(-_margin(problem, scores), kind="stable")]
        # row k has the k + 1 least needed changes put back; the last would be x itself
        way = np.array([reset(row, problem.x, np.isin(unit, least_needed[: k + 1])) for k in range(len(units) - 1)])
        way = problem.kept.mended(way)
        reached = np.flatnonzero(problem.goal.reached((yield from problem.ask(way))))
        if len(reached) == 0:
            return
        row = way[reached[-1]]


def _margin(problem: Problem, scores: np.ndarray) -> np.ndarray:
    """How far inside the goal each row is, negative outside: what the distance to it does not tell of valid rows."""
    goal = problem.goal
    score = goal.score(scores)
    if goal.wins:
        return score
    low, high = goal.open_interval(problem.background.predictor)
    return np.minimum(score - low, high - score)
