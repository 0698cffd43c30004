"""The first population of MOC, and what cells may become in a search by variation.

Cells stay within the data's range and grid, observed levels, and the constraints. A *unit* is what varies as one
feature: a column, or columns that must change together.

| strategy | which features differ from x | their values |
|---|---|---|
| icecurve | by a chance that grows with the standard deviation of the ICE curve, linearly from .01 to .99 | uniform |
| random | each by a chance of one half | uniform |
| sd | each by a chance of one half | uniform, numbers within a standard deviation of x |
| traindata | each by a chance of one half | those of a real row, one with the outcome if there is any |

Uniform is within the range of the data and the constraints, on the column's grid or among observed levels. Rows that
violate a constraint are drawn again. If all of them do, real rows with the outcome, as far as x may become like them,
are the population.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from countarfactuals.constraints.kinds.exactly_one import ExactlyOne
from countarfactuals.constraints.parts import Pool
from countarfactuals.explainers.problem import Problem, first_of_each
from countarfactuals.explainers.proposals import admissible, unit_of
from countarfactuals.schema import Kind, Permitted
from countarfactuals.search import gaussian_mutation, level_mutation, uniform_mutation

STRATEGIES = ("icecurve", "random", "sd", "traindata")
_LEAST, _MOST, _HALF = 0.01, 0.99, 0.5
_POOLS = 20  # that are drawn at most to fill the population


@dataclass(frozen=True, eq=False)
class Space:
    """The cells that x's may be replaced by.

    Parameters
    ----------
    x : the row that is explained.
    may_change : by column, whether it may.
    place : by column, the number of its unit.
    n_units : how many units there are.
    low, high : by column, ends of what a number may be; low is above high for levels and where nothing is left.
    step : by column, the step that its decimals tell.
    permitted : the values of numbers of which not all occur, by the position of their column.
    sd : by column, the standard deviation of a number in the data; 0 for levels.
    levels : by column, which levels may be; None for numbers and where nothing is left.
    is_real : by column, whether it is crossed as a real number.
    one_hot : the sets of columns of which one is 1, and by column whether it may be that one.
    """

    x: np.ndarray
    may_change: np.ndarray
    place: np.ndarray
    n_units: int
    low: np.ndarray
    high: np.ndarray
    step: np.ndarray
    permitted: Mapping[int, Permitted]
    sd: np.ndarray
    levels: tuple[np.ndarray | None, ...]
    is_real: np.ndarray
    one_hot: tuple[tuple[ExactlyOne, np.ndarray], ...]

    @classmethod
    def of(cls, problem: Problem) -> Space:
        """The space of a problem."""
        background, limits = problem.background, problem.limits
        columns = background.schema.columns
        parts = [part for part in limits.parts if isinstance(part, ExactlyOne) and problem.searched[part.columns].any()]
        alone = np.ones(len(columns), np.bool_)  # columns whose cells are made by themselves
        for part in parts:
            alone[part.columns] = False
        is_number = np.array([column.is_number for column in columns])
        searched = problem.searched
        open_number = is_number & searched & alone
        units, place = np.unique(unit_of(limits), return_inverse=True)
        return cls(
            x=problem.x,
            may_change=searched,
            place=place,
            n_units=len(units),
            low=np.where(open_number, np.maximum(background.low, limits.low), np.inf),
            high=np.where(open_number, np.minimum(background.high, limits.high), -np.inf),
            step=np.array([column.unit for column in columns]),
            permitted={
                j: limits.permitted.get(j, columns[j].permitted)
                for j in sorted({*background.schema.restricted, *limits.permitted})
                if open_number[j]
            },
            sd=np.where(open_number, np.nanstd(background.matrix, axis=0), 0.0),
            levels=tuple(
                _levels(problem, j) if searched[j] and alone[j] and not is_number[j] else None
                for j in range(len(columns))
            ),
            is_real=open_number & np.array([column.kind is Kind.REAL and not column.values for column in columns]),
            one_hot=tuple((part, _may_be_one(problem, part)) for part in parts),
        )

    @property
    def free_units(self) -> np.ndarray:
        """Which units may change."""
        free = np.zeros(self.n_units, np.bool_)
        free[self.place[self.may_change]] = True
        return free

    def allowed(self, j: int) -> tuple[float, float] | np.ndarray | None:
        """What a cell of a column may be: ends of a number, which levels, or None for anything."""
        low, high = float(self.low[j]), float(self.high[j])
        return (low, high) if low <= high else self.levels[j]

    def chosen(self, n: int, probability: float | np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Cells of n rows, whole units, each with its probability; only such as may change."""
        return np.asarray((rng.random((n, self.n_units)) < probability)[:, self.place] & self.may_change)

    def uniform(
        self, rows: np.ndarray, chosen: np.ndarray, rng: np.random.Generator, within: np.ndarray | None = None
    ) -> np.ndarray:
        """The rows with the chosen cells drawn uniformly; numbers not farther from x than `within`, if given."""
        rows = self.uniform_numbers(rows, chosen, rng, within)
        rows = level_mutation(rows, self.levels, chosen, rng)
        return self.move_ones(rows, chosen, rng)

    def uniform_numbers(
        self, rows: np.ndarray, chosen: np.ndarray, rng: np.random.Generator, within: np.ndarray | None = None
    ) -> np.ndarray:
        """The rows with the chosen numbers drawn uniformly from what is permitted, levels as they are."""
        low, high = self.low, self.high
        if within is not None:
            low, high = np.fmax(low, self.x - within), np.fmin(high, self.x + within)
        new = uniform_mutation(rows, low, high, self.step, chosen, rng)
        for j, permitted in self.permitted.items():
            i = np.flatnonzero(chosen[:, j])
            if len(i) and low[j] <= high[j]:
                drawn = permitted.uniform(len(i), low[j], high[j], rng, np.nan)
                new[i, j] = np.where(np.isnan(drawn), rows[i, j], drawn)
        return new

    def moved_numbers(self, rows: np.ndarray, chosen: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The rows with the chosen numbers moved by a normal distribution, to what is permitted.

        Atoms would not be met by moving: each is taken with the same chance as a move is made.
        """
        new = gaussian_mutation(rows, self.sd, self.low, self.high, self.step, chosen, rng)
        new = self.settled(new, rows)
        for j, permitted in self.permitted.items():
            i = np.flatnonzero(chosen[:, j])
            atoms = permitted.atoms[(permitted.atoms >= self.low[j]) & (permitted.atoms <= self.high[j])]
            if len(i) and len(atoms) and len(permitted.values) == 0:
                which = rng.integers(len(atoms) + 1, size=len(i))
                new[i, j] = np.where(which < len(atoms), atoms[np.minimum(which, len(atoms) - 1)], new[i, j])
        return new

    def settled(self, rows: np.ndarray, *parents: np.ndarray) -> np.ndarray:
        """The rows with new numbers moved to the nearest permitted values; cells that a parent has stay.

        The first parent is the row's own, whose cell stays where nothing is permitted. What is made of two parents of
        which one has an atom stays the own one's too: a number near an atom is no atom.
        """
        rows = rows.copy()
        for j, permitted in self.permitted.items():
            is_new = ~np.isnan(rows[:, j]) & np.all([rows[:, j] != parent[:, j] for parent in parents], axis=0)
            i = np.flatnonzero(is_new)
            own = parents[0][i, j]
            settled = permitted.nearest(rows[i, j], self.low[j], self.high[j], own)
            at_atom = np.any([np.isin(parent[i, j], permitted.atoms) for parent in parents], axis=0)
            rows[i, j] = np.where(at_atom & (len(parents) > 1), own, settled)
        return rows

    def move_ones(self, rows: np.ndarray, chosen: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The rows whose chosen one-hot columns have their 1 in a random place."""
        for part, may_be in self.one_hot:
            moved = np.asarray(chosen[:, part.columns].any(axis=1))
            order = np.where(may_be, rng.random((len(rows), len(may_be))), -1.0)
            self._put_ones(rows, moved, part, order)
        return rows

    def mend_ones(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The rows whose one-hot columns have several ones or none get one, of those that are there if there are."""
        for part, may_be in self.one_hot:
            is_one = rows[:, part.columns] == part.one
            order = np.where(may_be, rng.random(is_one.shape) + is_one, -1.0)
            self._put_ones(rows, part.violated(Pool(self.x, rows)), part, order)
        return rows

    @staticmethod
    def _put_ones(rows: np.ndarray, which: np.ndarray, part: ExactlyOne, order: np.ndarray) -> None:
        is_one = np.arange(order.shape[1]) == order.argmax(axis=1)[:, None]
        i = np.flatnonzero(which)
        rows[np.ix_(i, part.columns)] = np.where(is_one, part.one, part.zero)[i]


def _levels(problem: Problem, j: int) -> np.ndarray | None:
    """Which levels occur in the data and are allowed."""
    codes = problem.background.distinct[j]
    codes = codes[problem.limits.allowed_values(j, codes)]
    levels = np.zeros(problem.background.schema.columns[j].n_levels, np.bool_)
    levels[codes.astype(np.int64)] = True
    return levels if levels.any() else None


def _may_be_one(problem: Problem, part: ExactlyOne) -> np.ndarray:
    """By column of the set, whether it may be the 1."""
    may = np.array(
        [bool(problem.limits.allowed_values(j, one[None])[0]) for j, one in zip(part.columns, part.one, strict=True)]
    )
    return may & ~np.isnan(part.one)


def first_rows(problem: Problem, space: Space, n: int, strategy: str, importance: np.ndarray | None) -> np.ndarray:
    """Up to n different candidates, fewer where the constraints leave little.

    Parameters
    ----------
    problem, space : what is searched.
    n : size of the population.
    strategy : see above.
    importance : of the columns, for "icecurve".
    """
    share: float | np.ndarray = _HALF if importance is None else chance(space, importance)
    rows = np.empty((0, len(problem.x)))
    for _ in range(_POOLS):
        pool = candidates(problem, _drawn(problem, space, n, strategy, share))
        rows = np.concatenate([rows, pool])
        rows = rows[first_of_each(rows)][:n]
        if len(rows) == n:
            break
    if len(rows) == 0:
        rows = candidates(problem, _real_rows(problem, _POOLS * n))
        rows = rows[first_of_each(rows)][:n]
    return rows


def chance(space: Space, importance: np.ndarray) -> np.ndarray:
    """By unit, a probability from .01 to .99 that grows with its importance, the largest of its columns'."""
    worth = np.zeros(space.n_units)
    np.maximum.at(worth, space.place, importance)
    low, high = worth[space.free_units].min(), worth[space.free_units].max()
    if low == high:
        return np.full(space.n_units, _HALF)
    return np.asarray(_LEAST + (_MOST - _LEAST) * np.clip((worth - low) / (high - low), 0.0, 1.0))


def candidates(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The rows, made to obey what can be obeyed, that are candidates; if some are as plausible as asked, only those."""
    rows = admissible(problem, rows)
    rows = rows[problem.is_candidate(rows)]
    plausible = problem.is_plausible(rows)
    return rows[plausible] if plausible.any() else rows


def _drawn(problem: Problem, space: Space, n: int, strategy: str, share: float | np.ndarray) -> np.ndarray:
    rng = problem.rng
    rows = np.repeat(problem.x[None], n, axis=0)
    chosen = space.chosen(n, share, rng)
    if strategy == "traindata":
        return np.where(chosen, _real_rows(problem, n), rows)
    return space.uniform(rows, chosen, rng, space.sd if strategy == "sd" else None)


def _real_rows(problem: Problem, n: int) -> np.ndarray:
    """n real rows drawn at random, with the outcome if there are any."""
    real = problem.background.with_outcome(problem.goal)
    if len(real) == 0:
        real = np.arange(len(problem.background.matrix))
    return problem.background.matrix[problem.rng.choice(real, n)]
