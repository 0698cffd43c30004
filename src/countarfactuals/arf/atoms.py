"""Which values numbers have: grids, atoms, hard edges, as arrays that kernels can read.

1. An *atom* is a value with a probability of its own (no debt, a term of 36 months). In a leaf a present number is one
   of the column's atoms that can reach the leaf, with shares that are smoothed like those of levels, or it is
   continuous: a truncated normal fitted to the values that are no atoms.
2. Where a column's atoms are all its values it has no continuous part. A millionth is left to it, so that a foreign
   value has a finite log density.
3. The density of an atom is its probability divided by the step of the column's grid, which is the density of the
   value before rounding, as for other values on a grid. In a column of full precision it is the probability itself.
4. No value lies beyond a hard edge. Leaves are truncated there; the edge itself belongs to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from countarfactuals._kernels import inner, kernel
from countarfactuals._tables import by_reference
from countarfactuals.schema import Column


@by_reference
class Values(NamedTuple):
    """What is known of the columns' values."""

    step: np.ndarray  # (p,) distance of grid points, 0 for full precision; 1 for categories
    origin: np.ndarray  # (p,) a point of the grid
    edge: np.ndarray  # (p, 2) hard edges, ∓∞ for none
    atom_start: np.ndarray  # int64 (p + 1,)
    atom: np.ndarray  # ascending per column
    value_start: np.ndarray  # int64 (p + 1,)
    value: np.ndarray  # all values of columns with few, ascending per column

    @classmethod
    def of(cls, columns: Sequence[Column]) -> Values:
        """What a schema's columns say."""
        numbers = [column.is_number for column in columns]
        return cls(
            np.array([column.step if column.is_number else 1.0 for column in columns], np.float64),
            np.array([0.0 if column.grid is None else column.grid[1] for column in columns], np.float64),
            np.array([(column.low, column.high) for column in columns], np.float64).reshape(-1, 2),
            *_joined([column.atoms if is_number else () for column, is_number in zip(columns, numbers, strict=True)]),
            *_joined([column.values if is_number else () for column, is_number in zip(columns, numbers, strict=True)]),
        )

    @classmethod
    def plain(cls, step: np.ndarray) -> Values:
        """Columns of which nothing is known but their steps."""
        p = len(step)
        edge = np.tile([-math.inf, math.inf], (p, 1))
        none = np.zeros(p + 1, np.int64)
        return cls(np.asarray(step, np.float64), np.zeros(p), edge, none, np.empty(0), none.copy(), np.empty(0))

    def some(self, columns: np.ndarray) -> Values:
        """What is known of some columns."""
        atoms = [self.atoms(j) for j in columns.tolist()]
        values = [self.value[self.value_start[j] : self.value_start[j + 1]] for j in columns.tolist()]
        return Values(self.step[columns], self.origin[columns], self.edge[columns], *_joined(atoms), *_joined(values))

    def atoms(self, column: int) -> np.ndarray:
        """The atoms of a column."""
        return self.atom[self.atom_start[column] : self.atom_start[column + 1]]

    @property
    def n_atoms(self) -> np.ndarray:
        """How many atoms each column has."""
        return np.diff(self.atom_start)

    @property
    def is_discrete(self) -> np.ndarray:
        """Which columns' atoms are all their values."""
        return (self.n_atoms > 0) & (self.n_atoms == np.diff(self.value_start))

    @property
    def bounds(self) -> np.ndarray:
        """The edges as bounds (low, high], (p, 2), that hold the edges and, on a grid, all that rounds to them."""
        half = 0.5 * self.step
        low = np.where(self.step > 0, self.edge[:, 0] - half, np.nextafter(self.edge[:, 0], -math.inf))
        low[self.edge[:, 0] == -math.inf] = -math.inf
        return np.stack([low, self.edge[:, 1] + half], axis=1)

    def codes(self, column: int, values: np.ndarray) -> np.ndarray:
        """The place of each value among the column's atoms, their number for other values; NaN stays."""
        atoms = self.atoms(column)
        place = np.searchsorted(atoms, values)
        is_atom = atoms[np.minimum(place, len(atoms) - 1)] == values
        return np.where(np.isnan(values), math.nan, np.where(is_atom, place, len(atoms)))


def without_atoms(matrix: np.ndarray, values: Values) -> np.ndarray:
    """The matrix with NaN in the place of atoms."""
    if len(values.atom) == 0:
        return matrix
    matrix = matrix.copy()
    for j in np.flatnonzero(values.n_atoms).tolist():
        matrix[values.codes(j, matrix[:, j]) < values.n_atoms[j], j] = math.nan
    return matrix


def _joined(parts: Sequence[Sequence[float] | np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    start = np.cumsum([0] + [len(part) for part in parts]).astype(np.int64)
    return start, np.concatenate([np.asarray(part, np.float64) for part in parts]) if len(parts) else np.empty(0)


@inner
def grid_point(k: float, step: float, origin: float) -> float:
    """The k-th point of a grid, as the float that is nearest to its decimal number."""
    scale = np.rint(1.0 / step)
    # 10^d is a whole number where the step 10^-d is not: dividing by it keeps the point free of rounding noise
    return origin + (k / scale if abs(scale * step - 1.0) < 1e-9 else k * step)


@inner
def grid_place(x: float, step: float, origin: float) -> float:
    """x in steps from the origin, not rounded."""
    scale = np.rint(1.0 / step)
    return (x - origin) * scale if abs(scale * step - 1.0) < 1e-9 else (x - origin) / step


@inner
def nearest_value(values, j, x, low, high):  # type: ignore[no-untyped-def]
    """The value of column j that is nearest to x in [low, high], NaN where there is none."""
    best, least = math.nan, math.inf
    for k in range(values.value_start[j], values.value_start[j + 1]):
        value = values.value[k]
        if value >= low and value <= high and abs(value - x) < least:
            best, least = value, abs(value - x)
    return best


@inner
def n_up_to(ascending, start, stop, x):  # type: ignore[no-untyped-def]
    """How many from `start` to `stop` are not above x."""
    low, high = start, stop
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low - start


@inner
def atom_of(values, j, x):  # type: ignore[no-untyped-def]
    """The place of x among the atoms of column j, −1 if it is none."""
    low = values.atom_start[j]
    k = n_up_to(values.atom, low, values.atom_start[j + 1], x) - 1
    return k if k >= 0 and values.atom[low + k] == x else -1


@kernel
def round_inside(x: float, low: float, high: float, step: float, origin: float = 0.0) -> float:
    """The grid point nearest to x in [low, high], or x where there is none."""
    if step == 0.0:
        return x
    k = np.rint(grid_place(x, step, origin))
    # grid points are compared as the floats they are: 0.07 · 100 is a little above 7
    if grid_point(k, step, origin) < low:
        k += 1.0
    elif grid_point(k, step, origin) > high:
        k -= 1.0
    rounded = grid_point(k, step, origin)
    return rounded if low <= rounded <= high else x
