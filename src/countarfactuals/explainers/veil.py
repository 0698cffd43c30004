"""Values that few rows have, and what is handed out instead where no one's row may be.

A value that fewer than five rows of the data have could tell who they are, whatever stands beside it. A cell that is
given such a value gets a stand-in:

1. Where only the values that occur are permitted, the nearest that enough rows have.
2. On a grid, the nearest point that enough rows have, or none.
3. At full precision, the middle between the value and its nearest neighbour.

Levels, and numbers without a stand-in, have none: the row that is explained keeps its own cell there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countarfactuals.schema import Column, Schema

_FEWEST_ROWS = 5  # that a value is shared by
_FARTHEST = 50  # steps of the grid within which a stand-in is looked for


@dataclass(frozen=True, eq=False)
class Veil:
    """What may not be handed out, by column.

    Parameters
    ----------
    rare : the values that few rows have, ascending.
    stand_in : what is handed out for each of them; NaN for nothing.
    """

    rare: tuple[np.ndarray, ...]
    stand_in: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, schema: Schema, matrix: np.ndarray) -> Veil:
        """The veil over the rows of a matrix."""
        rare, stand_in = [], []
        for column, cells in zip(schema.columns, matrix.T, strict=True):
            distinct, count = np.unique(cells[~np.isnan(cells)], return_counts=True)
            is_rare = count < _FEWEST_ROWS
            rare.append(distinct[is_rare])
            stand_in.append(_stand_ins(column, distinct, is_rare))
        return cls(tuple(rare), tuple(stand_in))

    def covers(self, rows: np.ndarray) -> np.ndarray:
        """Which cells have a value that few rows have, (n, p)."""
        return np.stack([_found(rare, cells)[1] for rare, cells in zip(self.rare, rows.T, strict=True)], axis=1)

    def over(self, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The rows with stand-ins for such values, x's own cells where there is none; what x has stays."""
        rows = rows.copy()
        for j, (rare, stand_in) in enumerate(zip(self.rare, self.stand_in, strict=True)):
            place, is_rare = _found(rare, rows[:, j])
            which = np.flatnonzero(is_rare & (rows[:, j] != x[j]))
            new = stand_in[place[which]]
            rows[which, j] = np.where(np.isnan(new), x[j], new)
        return rows


def _found(among: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each cell stands in an ascending array, and whether it does."""
    if len(among) == 0:
        return np.zeros(len(cells), np.int64), np.zeros(len(cells), np.bool_)
    place = np.minimum(np.searchsorted(among, cells), len(among) - 1)
    return place, among[place] == cells


def _stand_ins(column: Column, distinct: np.ndarray, is_rare: np.ndarray) -> np.ndarray:
    rare = distinct[is_rare]
    if not column.is_number or len(rare) == 0:
        return np.full(len(rare), np.nan)
    if column.values:
        return _nearest_of(distinct[~is_rare], rare)
    if column.step > 0.0:
        return _unheld_points(column, distinct, rare)
    middle = _middle_to_neighbour(distinct)[is_rare].astype(column.stored_as).astype(np.float64)
    return np.where(_found(rare, middle)[1], np.nan, middle)


def _nearest_of(among: np.ndarray, values: np.ndarray) -> np.ndarray:
    if len(among) == 0:
        return np.full(len(values), np.nan)
    above = np.minimum(np.searchsorted(among, values), len(among) - 1)
    below = np.maximum(above - 1, 0)
    return np.where(np.abs(among[below] - values) <= np.abs(among[above] - values), among[below], among[above])


def _unheld_points(column: Column, distinct: np.ndarray, rare: np.ndarray) -> np.ndarray:
    """The nearest grid point to each rare value that not few rows have, within the range of the data."""
    found = np.full(len(rare), np.nan)
    for k in range(1, _FARTHEST + 1):
        for away in (k, -k):
            left = np.flatnonzero(np.isnan(found))
            point = column.permitted.nearest(rare[left] + away * column.step, distinct[0], distinct[-1])
            good = ~_found(rare, point)[1]
            found[left[good]] = point[good]
    return found


def _middle_to_neighbour(distinct: np.ndarray) -> np.ndarray:
    """The middle between each value and the one next to it; itself where it is alone."""
    if len(distinct) == 1:
        return distinct.copy()
    gap = np.diff(distinct)
    down, up = np.append(np.inf, gap), np.append(gap, np.inf)
    return np.where(up <= down, distinct + 0.5 * up, distinct - 0.5 * down)
