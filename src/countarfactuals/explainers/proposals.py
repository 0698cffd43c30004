"""Rows that might be counterfactuals, made without asking the model, and which features matter to it.

- A *crossing* takes some cells of one row into another. Few cells are likelier than many: their number is uniform on
  the log scale.
- A *draw* is FORGE: some features are redrawn jointly, given the others and the wanted outcome.
- A *uniform row* has some features drawn uniformly from what the data's ranges and the constraints leave.

Columns that must change together are one unit in both. Cells that the constraints forbid keep x's value, and changes
beyond the most that are allowed are taken back at random.
"""

from __future__ import annotations

import math

import numpy as np

from countarfactuals.arf.evidence import ANY_OF, FREE, INTERVALS, IS_MISSING, POINT, PRESENT, Evidence
from countarfactuals.arf.forest import Forest, some_trees
from countarfactuals.arf.leaves import LeafTable
from countarfactuals.arf.sampling import draw_rows
from countarfactuals.arf.tree_walk import leaf_weights
from countarfactuals.constraints import Limits
from countarfactuals.constraints.kinds.exactly_one import ExactlyOne
from countarfactuals.explainers.problem import Problem
from countarfactuals.explainers.questions import Asking
from countarfactuals.objectives import changed
from countarfactuals.search import beyond, reset

_SHARE_OF_CURVES, _MOST_POINTS = 0.1, 20  # of the budget for ICE curves; points of one
_NEGLIGIBLE = 1e-6  # share of the outcome in a leaf beside the largest


def weighed_leaves(problem: Problem, shares: np.ndarray) -> LeafTable:
    """The leaves, weighed by their shares of rows with the outcome."""
    leaves: LeafTable = problem.background.plausibility.forest.leaves_
    with np.errstate(divide="ignore"):
        # leaves that all but exclude the outcome would only cost time
        log_weight = leaves.log_weight + np.log(np.where(shares > _NEGLIGIBLE * shares.max(), shares, 0.0))
    return leaves._replace(log_weight=log_weight)


def outcome_shares(problem: Problem) -> np.ndarray:
    """The share of rows with the outcome in each leaf; 1 in all if no real row comes near it: any may lead there."""
    shares = problem.background.goal_shares(problem.goal)
    return shares if shares.max() > 0.0 else np.ones(len(shares))


def trees_of_turn(problem: Problem, turn: int, share: float, fewest: int = 1) -> Forest:
    """Some of the trees, others at the next turn, and all of them in time: few draws need no more."""
    forest: Forest = problem.background.plausibility.forest.forest_
    n = min(max(math.ceil(share * forest.n_trees), fewest), forest.n_trees)
    start = turn * n % forest.n_trees
    return some_trees(forest, start, min(start + n, forest.n_trees))


def most_changed(n_features: int) -> int:
    """How many features a draw may change as published: min(⌈√p⌉ + 3, p).

    >>> [most_changed(p) for p in (2, 4, 9, 19)]
    [2, 4, 6, 8]
    """
    return min(math.ceil(math.sqrt(n_features)) + 3, n_features)


def unit_of(limits: Limits) -> np.ndarray:
    """A number for each column, the same for columns that must be freed together."""
    unit = np.arange(len(limits.x))
    for columns in limits.units:
        unit[columns] = columns.min()
    return unit


def crossings(rows: np.ndarray, donors: np.ndarray, n: int, unit: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """n rows, each one of `rows` with some of the units in which one of `donors` differs."""
    if n == 0 or len(donors) == 0 or len(rows) == 0:
        return np.empty((0, len(unit)))
    child, donor = rows[rng.integers(len(rows), size=n)], donors[rng.integers(len(donors), size=n)]
    differs = changed(child, donor)
    order = rng.random(child.shape)[:, unit]  # one number for all columns of a unit
    order[~differs] = 2.0
    n_differing = differs.sum(axis=1)
    n_taken = np.floor(np.exp(rng.random(n) * np.log(n_differing + 1.0))).astype(np.int64)
    limit = np.sort(order, axis=1)[np.arange(n), np.minimum(np.maximum(n_taken, 1), len(unit)) - 1]
    return np.where(differs & (order <= limit[:, None]), donor, child)


def draws(
    problem: Problem, leaves: LeafTable, bases: np.ndarray, free: np.ndarray, n_each: int, trees: Forest
) -> np.ndarray:
    """`n_each` rows for each base row, whose `free` columns are redrawn given the others from the leaves as weighed.

    Bases that the forest holds for impossible give none.
    """
    forest = problem.background.plausibility.forest
    free = problem.kept.freed(free)  # what follows from redrawn cells would hold them where they are
    p, n_columns = bases.shape[1], len(forest.schema_.columns)
    evidence = Evidence.empty(len(bases), n_columns)
    low: list[float] = []
    high: list[float] = []
    for j in range(p):
        kept = np.where(np.isnan(bases[:, j]), IS_MISSING if leaves.missing_of[j] >= 0 else FREE, POINT)
        kind, ends = _freedom(problem, leaves, j)
        evidence.kind[:, j] = np.where(free[:, j], kind, kept)
        evidence.value[:, j] = np.where(free[:, j], np.nan, bases[:, j])
        evidence.start[:, j], evidence.stop[:, j] = len(low), len(low) + len(ends)
        low.extend(end[0] for end in ends)
        high.extend(end[1] for end in ends)
    evidence = evidence._replace(low=np.array(low, np.float64), high=np.array(high, np.float64))
    weights = leaf_weights(trees, leaves, evidence)
    possible = np.flatnonzero(weights.log_total > -np.inf)
    if len(possible) == 0 or n_each == 0:
        return np.empty((0, p))
    if len(possible) < len(bases):
        return draws(problem, leaves, bases[possible], free[possible], n_each, trees)
    step = np.array([column.step for column in forest.schema_.columns])
    rows = draw_rows(trees, leaves, evidence, weights, step, n_each, problem.rng, 1)[:, :p]
    background, limits, bases = problem.background, problem.limits, np.repeat(bases, n_each, axis=0)
    least, most = np.fmax(background.low, limits.low), np.fmin(background.high, limits.high)
    rows = background.schema.settle(rows, least, most, bases)
    return np.where(np.repeat(free, n_each, axis=0), np.clip(rows, background.low, background.high), bases)


def _freedom(problem: Problem, leaves: LeafTable, j: int) -> tuple[int, list[tuple[float, float]]]:
    """What a redrawn cell of a column may be: the kind of evidence and its intervals or levels."""
    limits = problem.limits
    if not limits.may_change[j]:
        return FREE, []
    levels = limits.levels[j]
    if levels is not None:
        return ANY_OF, [(float(code), float(code)) for code in np.flatnonzero(levels)]
    if leaves.number_of[j] >= 0 and (limits.low[j] > -np.inf or limits.high[j] < np.inf):
        return INTERVALS, [(float(limits.low[j]), float(limits.high[j]))]
    has_missing = leaves.missing_of[j] >= 0  # where none was seen, none is drawn
    return (PRESENT if has_missing and not limits.can_be_missing[j] else FREE), []


def admissible(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The rows made to obey what can be obeyed by taking changes back."""
    rows = presentable(problem, rows)
    follows = problem.kept.consequences(rows)
    taken_back = too_many(problem, changed(rows, problem.x) & ~follows)
    at = np.flatnonzero(taken_back.any(axis=1))
    if len(at):  # consequences too: those of what is left come again
        rows[at] = problem.kept.mended(reset(rows[at], problem.x, taken_back[at] | follows[at]))
    return rows


def presentable(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The rows with x's cells where others are forbidden, no value that may not be handed out, and what follows."""
    rows = settled(problem, problem.background.representable(rows))
    if problem.hides_rare:
        rows = problem.background.veil.over(rows, problem.x)
    return problem.kept.mended(problem.limits.keep_allowed(rows))


def settled(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The rows with the nearest numbers in the range of the data where constraints name the ones that may be."""
    return problem.limits.settled(rows, problem.background.low, problem.background.high)


def too_many(problem: Problem, differs: np.ndarray) -> np.ndarray:
    """Which of the cells that differ from x to take back, so that no row has more than may; whole units at random."""
    return beyond(differs, problem.limits.max_changed, unit_of(problem.limits), problem.rng)


def uniform_rows(problem: Problem, n: int) -> np.ndarray:
    """n rows of which some features are drawn uniformly and the others are x's; not yet checked for constraints."""
    limits, rng, x = problem.limits, problem.rng, problem.x
    rows = np.repeat(x[None], n, axis=0)
    for j in np.flatnonzero(problem.searched).tolist():
        rows[:, j] = _uniform_cells(problem, j, n)
    for part in limits.parts:
        if isinstance(part, ExactlyOne):  # independent draws would seldom give just one 1
            is_one = np.arange(len(part.columns)) == rng.integers(len(part.columns), size=(n, 1))
            rows[:, part.columns] = np.where(is_one, part.one, part.zero)
    unit = unit_of(limits)
    units, place = np.unique(unit, return_inverse=True)
    may = np.isin(units, unit[problem.searched])
    order = np.where(may, rng.random((n, len(units))), 2.0)
    n_changed = rng.integers(1, min(limits.max_changed, int(may.sum())) + 1, (n, 1))
    is_drawn = (np.argsort(np.argsort(order, axis=1), axis=1) < n_changed)[:, place]
    return np.where(is_drawn, rows, x)


def _uniform_cells(problem: Problem, j: int, n: int) -> np.ndarray:
    """n values of a column that may replace x's own; x's own where there is none."""
    background, limits, rng = problem.background, problem.limits, problem.rng
    column = background.schema.columns[j]
    if not column.is_number:
        codes = background.distinct[j]
        codes = codes[limits.allowed_values(j, codes) & (codes != problem.x[j])]
        return rng.choice(codes, n) if len(codes) else np.full(n, problem.x[j])
    low, high = max(background.low[j], limits.low[j]), min(background.high[j], limits.high[j])
    if column.is_restricted or j in limits.permitted:
        return limits.permitted.get(j, column.permitted).uniform(n, low, high, rng, float(problem.x[j]))
    if column.decimals is not None:
        scale = 10.0**column.decimals
        # 0.07 · 100 is a little more than 7: without rounding the first grid point would be lost
        first, last = math.ceil(round(low * scale, 6)), math.floor(round(high * scale, 6))
        return rng.integers(first, last + 1, n) / scale if first <= last else np.full(n, problem.x[j])
    return rng.uniform(low, high, n) if low <= high else np.full(n, problem.x[j])


def local_importance(problem: Problem) -> Asking[np.ndarray]:
    """Standard deviation of the desired score along each feature's ICE curve, (p,); 0 for what can not change.

    A curve runs through values that the data has and the constraints allow, evenly spaced in their order. Its rows
    differ from x in one feature, so that most are candidates themselves. With more free features than a tenth of the
    budget all count alike.
    """
    n_free = int(problem.searched.sum())
    most = min(_MOST_POINTS, int(_SHARE_OF_CURVES * problem.budget) // max(n_free, 1))
    if most < 1:
        return problem.searched.astype(np.float64)
    grids = [_grid(problem, j, most) for j in range(len(problem.x))]
    rows = np.repeat(problem.x[None], sum(map(len, grids)), axis=0)
    feature = np.repeat(np.arange(len(grids)), [len(grid) for grid in grids])
    rows[np.arange(len(rows)), feature] = np.concatenate(grids)
    rows = problem.kept.mended(rows)
    scores = problem.goal.score((yield from problem.ask(rows)))
    own = problem.goal.score(problem.x_scores[None])[0]
    # features that the budget did not reach count as flat
    return np.array([np.std(np.append(scores[feature[: len(scores)] == j], own)) for j in range(len(grids))])


def _grid(problem: Problem, j: int, most: int) -> np.ndarray:
    """Up to `most` values of a column that may replace x's own."""
    if not problem.searched[j]:
        return np.empty(0)
    values = problem.background.distinct[j]
    if j in problem.limits.permitted:
        values = _on_points(problem, j, values)
    values = values[problem.limits.allowed_values(j, values) & (values != problem.x[j])]
    if len(values) <= most:
        return values
    return values[((np.arange(most) + 0.5) * len(values) / most).astype(np.int64)]


def _on_points(problem: Problem, j: int, values: np.ndarray) -> np.ndarray:
    """The values that a changed cell may have nearest to those of the data, within their range."""
    background, limits = problem.background, problem.limits
    low, high = max(background.low[j], limits.low[j]), min(background.high[j], limits.high[j])
    nearest = limits.permitted[j].nearest(values, low, high, math.nan)
    return np.unique(nearest[~np.isnan(nearest)])


def by_closeness(problem: Problem, among: np.ndarray) -> np.ndarray:
    """The positions `among` the real rows that reach the goal, nearest to x first; ties by position.

    If none reaches it, all of them, by distance to the goal and then to x.
    """
    background = problem.background
    to_goal = problem.goal.distance(background.scores[among])
    if (to_goal == 0).any():
        among, to_goal = among[to_goal == 0], to_goal[to_goal == 0]
    return among[np.lexsort((problem.distance_to_x(background.matrix[among]), to_goal))]
