"""`Limits`: the constraints bound to one row, in matrix codes.

1. The limits of each column's cells are joined: intervals and sets of levels are intersected.
2. A column may change if a value other than x's is left, and if no part denies it: a change may need others, all of
   its group or a second `exactly_one` column, and these may be denied or more than may change.
3. `hold` uses what 1 and 2 give and judges the rest part by part; `violations` judges every part by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from countarfactuals.exceptions import ConstraintError, did_you_mean, listed

from .clause import Clause
from .parts import CellLimit, Part, Pool, Steering

if TYPE_CHECKING:
    from countarfactuals.schema import Column, Permitted, Schema

_JOINED = Clause("", "")


@dataclass(frozen=True, eq=False)
class Limits:
    """What rows that come from `x` must obey; made by `Constraints.bind`.

    Parameters
    ----------
    schema, x : the columns, and the row in their codes.
    parts : the single constraints.
    weights : cost of a change by column, their sum is 1.
    may_change : by column, whether any row that obeys can differ there from x.
    low, high : ends, included, of what a changed cell may be: numbers, and codes of levels with an order. Infinite
        where free; x's own value where the column may not change.
    levels : by column, whether a changed cell may have each level; None for all, and for numbers.
    points : by column of numbers, the values that a changed cell may have; None for all, and for levels.
    can_be_missing : by column, whether a cell may be missing, because x's is or because it may become so.
    max_changed : how many cells may change; the number of columns if nothing is said.
    units : columns that must be freed together: groups and `exactly_one` columns, joined where they overlap.
    """

    schema: Schema
    x: np.ndarray
    parts: tuple[Part, ...]
    weights: np.ndarray
    may_change: np.ndarray
    low: np.ndarray
    high: np.ndarray
    levels: tuple[np.ndarray | None, ...]
    points: tuple[Permitted | None, ...]
    can_be_missing: np.ndarray
    max_changed: int
    units: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, schema: Schema, x: np.ndarray, parts: Sequence[Part], weights: np.ndarray) -> Limits:
        """All that follows from the parts."""
        cells = _joined_cells(schema.columns, parts)
        has_other = map(_has_other, cells, schema.columns, x.tolist())
        whole_row = [part for part in parts if not part.is_cellwise]
        max_changed = min([len(x), *(part.most_changed for part in whole_row if part.most_changed is not None)])
        steering = Steering(np.array(list(has_other)), np.array([cell.missing_ok for cell in cells]), max_changed)
        _deny(steering, whole_row)
        may_change = steering.may_change
        own_low, own_high = np.where(np.isnan(x), -np.inf, x), np.where(np.isnan(x), np.inf, x)
        limits = cls(
            schema=schema,
            x=x,
            parts=tuple(parts),
            weights=weights,
            may_change=may_change,
            low=np.where(may_change, [cell.low for cell in cells], own_low),
            high=np.where(may_change, [cell.high for cell in cells], own_high),
            levels=tuple(cell.levels for cell in cells),
            points=tuple(cell.points for cell in cells),
            can_be_missing=np.isnan(x) | (steering.missing_ok & may_change),
            max_changed=max_changed,
            units=_joined_where_overlapping(part.together for part in whole_row),
        )
        for array in (x, weights, may_change, limits.low, limits.high, limits.can_be_missing):
            array.setflags(write=False)
        return limits

    @property
    def names(self) -> tuple[Clause, ...]:
        """Names of the constraints, the keys of `violations`."""
        return tuple(part.clause for part in self.parts)

    @property
    def liftable(self) -> tuple[Clause, ...]:
        """Names of the constraints that were asked for: all but those that keep present cells from becoming missing."""
        return tuple(part.clause for part in self.parts if part.is_liftable)

    def violations(self, rows: np.ndarray, excused: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """For each constraint, by its `Clause`, which rows violate it, shape (n,); `excused` as in `hold`."""
        pool = Pool(self.x, rows, self._excused(excused))
        return {part.clause: part.violated(pool) for part in self.parts}

    def _excused(self, others: np.ndarray | None) -> np.ndarray | None:
        columns = [part.excused for part in self.parts if part.excused is not None]
        if not columns:
            return others
        own = np.isin(np.arange(len(self.x)), columns)
        return own if others is None else own | others

    def hold(self, rows: np.ndarray, excused: np.ndarray | None = None) -> np.ndarray:
        """Which rows violate nothing, shape (n,); functions of the user see only rows that obey the rest.

        `excused` are cells, (n, p), whose changes follow from others and do not count.
        """
        hold = np.ones(len(rows), np.bool_)
        missing = np.isnan(rows)
        if missing.any():  # most pools have none
            hold &= ~(missing & ~self.can_be_missing).any(axis=1)
        for j in self._limited:
            hold &= self.allowed_values(j, rows[:, j])
        pool = Pool(self.x, rows, self._excused(excused))
        whole_row = [part for part in self.parts if not part.is_cellwise]
        for part in whole_row:
            if not part.is_costly:
                hold &= ~part.violated(pool)
        for part in whole_row:
            if part.is_costly and hold.any():
                hold[hold] = ~part.violated(Pool(self.x, rows[hold]))
        return hold

    def without(self, name: str) -> Limits:
        """The limits with one constraint lifted."""
        if name not in self.names:
            raise ConstraintError(
                "There is no constraint {got!r}; the constraints are: {allowed}.{hint}",
                got=str(name),
                allowed=listed(map(str, self.names)),
                hint=did_you_mean(name, self.names),
            )
        parts = [part for part in self.parts if part.clause != name]
        return Limits.of(self.schema, self.x, parts, self.weights)

    def allowed_cells(self, rows: np.ndarray) -> np.ndarray:
        """Which cells equal x's or are allowed by themselves, shape (n, p).

        A change is not allowed where `may_change` denies it, and otherwise must be within `low` and `high`, `levels`
        and `can_be_missing`.
        """
        allowed = ~np.isnan(rows) | self.can_be_missing
        for j in self._limited:
            allowed[:, j] &= self.allowed_values(j, rows[:, j])
        return allowed

    def keep_allowed(self, rows: np.ndarray) -> np.ndarray:
        """A copy of the rows in which every cell that is not allowed has x's value."""
        return np.where(self.allowed_cells(rows), rows, self.x)

    def settled(self, rows: np.ndarray, least: np.ndarray, most: np.ndarray) -> np.ndarray:
        """A copy of the rows in which changed numbers that must have certain values have the nearest of these.

        Values stay between `least` and `most`, one number per column; where there is none, the cell is x's.
        """
        rows = rows.copy()
        for j, permitted in self.permitted.items():
            cells, low, high = rows[:, j], max(self.low[j], least[j]), min(self.high[j], most[j])
            nearest = permitted.nearest(cells, low, high, float(self.x[j]))
            rows[:, j] = np.where(cells == self.x[j], cells, nearest)
        return rows

    @cached_property
    def permitted(self) -> dict[int, Permitted]:
        """Of columns with `points` that may change, those of them that the column can hold."""
        columns = self.schema.columns
        held = {j: _held(columns[j], points) for j, points in enumerate(self.points) if self.may_change[j]}
        return {j: permitted for j, permitted in held.items() if permitted is not None}

    @cached_property
    def _limited(self) -> list[int]:
        """Columns of which not every present value is allowed."""
        has_levels = np.array([levels is not None for levels in self.levels])
        has_points = np.array([points is not None for points in self.points])
        is_named = has_levels | has_points
        return np.flatnonzero(~self.may_change | is_named | (self.low > -np.inf) | (self.high < np.inf)).tolist()

    def allowed_values(self, j: int, values: np.ndarray) -> np.ndarray:
        """Which values of a column equal x's or are allowed by themselves, as in `allowed_cells`."""
        same = np.isnan(values) if np.isnan(self.x[j]) else values == self.x[j]
        if not self.may_change[j]:
            return same
        low, high = float(self.low[j]), float(self.high[j])
        cell = CellLimit(_JOINED, j, low, high, self.levels[j], bool(self.can_be_missing[j]), self.points[j])
        return same | cell.contains(values)


def _joined_cells(columns: Sequence[Column], parts: Iterable[Part]) -> list[CellLimit]:
    """What all parts together leave of each column's cells; a column that is denied every value has low > high."""
    low, high = [-np.inf] * len(columns), [np.inf] * len(columns)
    levels = [column.is_used if column.unused else None for column in columns]
    points: list[Permitted | None] = [None] * len(columns)
    missing_ok = [True] * len(columns)
    for part in parts:
        for cell in part.cells:
            j = cell.column
            if cell.low > low[j]:
                low[j] = cell.low
            if cell.high < high[j]:
                high[j] = cell.high
            if cell.levels is not None:
                levels[j] = _both(levels[j], cell.levels)
            if cell.points is not None:
                own = points[j]
                points[j] = cell.points if own is None else own.joined(cell.points)
                if points[j] is None:  # they share no number
                    low[j], high[j] = np.inf, -np.inf
            missing_ok[j] &= cell.missing_ok
    for j, column in enumerate(columns):
        if not column.is_number and (low[j] > 0 or high[j] < column.n_levels - 1):
            codes = np.arange(column.n_levels)
            levels[j] = _both(levels[j], (codes >= low[j]) & (codes <= high[j]))
    return [CellLimit(_JOINED, j, low[j], high[j], levels[j], missing_ok[j], points[j]) for j in range(len(columns))]


def _held(column: Column, points: Permitted | None) -> Permitted | None:
    """The points that a column can hold; None for none, and without any."""
    return None if points is None else column.permitted.joined(points)


def _both(levels: np.ndarray | None, others: np.ndarray) -> np.ndarray:
    return others if levels is None else levels & others


def _has_other(cell: CellLimit, column: Column, value: float) -> bool:
    """Whether a cell may have a value other than `value`, its own."""
    if cell.missing_ok and value == value:
        return True
    if cell.forbids_all:
        return False
    if cell.points is not None:
        held = _held(column, cell.points)
        return held is not None and held.has_other(value, cell.low, cell.high)
    if column.is_number:
        return cell.low < cell.high or cell.low != value
    others = np.ones(column.n_levels, np.bool_) if cell.levels is None else cell.levels.copy()
    if value == value:
        others[int(value)] = False
    return bool(others.any())


def _deny(steering: Steering, parts: Sequence[Part]) -> None:
    """Deny changes that would need another change that is denied; one denial may lead to the next."""
    may_change = steering.may_change
    for columns in all_or_none(parts):
        if len(columns) > steering.max_changed:
            may_change[columns] = False
    before = None
    while before is None or (before != may_change).any():
        before = may_change.copy()
        for part in parts:
            denied = part.denied(steering)
            if denied is not None:
                may_change[denied] = False


def all_or_none(parts: Iterable[Part]) -> tuple[np.ndarray, ...]:
    """Columns that change together or not at all."""
    return _joined_where_overlapping(part.together for part in parts if part.is_all_or_none)


def _joined_where_overlapping(sets: Iterable[np.ndarray | None]) -> tuple[np.ndarray, ...]:
    """Sets of columns, joined where they overlap."""
    units: list[set[int]] = []
    for columns in sets:
        if columns is not None:
            unit = set(columns.tolist())
            apart = [other for other in units if other.isdisjoint(unit)]
            units = [*apart, unit.union(*(other for other in units if not other.isdisjoint(unit)))]
    return tuple(np.array(sorted(unit)) for unit in sorted(units, key=min))
