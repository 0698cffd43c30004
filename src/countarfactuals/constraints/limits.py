"""`Limits`: the constraints bound to one row, in matrix codes.

1. The limits of each column's cells are joined: intervals and sets of levels are intersected.
2. A column may change if a value other than x's is left, and if whatever must change with it may change too: all of
   its group, no more than `max_changed`, and for `exactly_one` columns the one that is 1 now and another.
3. `hold` uses what 1 and 2 give and judges the rest part by part; `violations` judges every part by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from countarfactuals.exceptions import ConstraintError, did_you_mean, listed
from countarfactuals.schema import Column, Schema

from .parts import CellLimit, ExactlyOne, Group, MaxChanged, Part, Pool, Rule


@dataclass(frozen=True, eq=False)
class Limits:
    """What rows that come from `x` must obey; made by `Constraints.bind`.

    Parameters
    ----------
    schema, x : the columns, and the row in their codes.
    parts : the single constraints.
    weights : cost of a change by column, their sum is 1.
    allow_missing : whether present cells may become missing.
    may_change : by column, whether any row that obeys can differ there from x.
    low, high : ends, included, of what a changed cell may be: numbers, and codes of levels with an order. Infinite
        where free; x's own value where the column may not change.
    levels : by column, whether a changed cell may have each level; None for all, and for numbers.
    can_be_missing : by column, whether a cell may be missing, because x's is or because it may become so.
    max_changed : how many cells may change; the number of columns if nothing is said.
    units : columns that must be freed together: groups and `exactly_one` columns, joined where they overlap.
    """

    schema: Schema
    x: np.ndarray
    parts: tuple[Part, ...]
    weights: np.ndarray
    allow_missing: bool
    may_change: np.ndarray
    low: np.ndarray
    high: np.ndarray
    levels: tuple[np.ndarray | None, ...]
    can_be_missing: np.ndarray
    max_changed: int
    units: tuple[np.ndarray, ...]

    @classmethod
    def of(
        cls, schema: Schema, x: np.ndarray, parts: Sequence[Part], weights: np.ndarray, allow_missing: bool
    ) -> Limits:
        """All that follows from the parts."""
        cells = _joined_cells(schema.columns, parts)
        values = x.tolist()
        may_change = np.array(
            [_has_other(cell, column, value) for cell, column, value in zip(cells, schema.columns, values, strict=True)]
        )
        max_changed = next((part.most for part in parts if isinstance(part, MaxChanged)), len(x))
        missing_ok = np.array([cell.missing_ok for cell in cells])
        _spread(may_change, parts, x, missing_ok, max_changed)
        own_low, own_high = np.where(np.isnan(x), -np.inf, x), np.where(np.isnan(x), np.inf, x)
        limits = cls(
            schema=schema,
            x=x,
            parts=tuple(parts),
            weights=weights,
            allow_missing=allow_missing,
            may_change=may_change,
            low=np.where(may_change, [cell.low for cell in cells], own_low),
            high=np.where(may_change, [cell.high for cell in cells], own_high),
            levels=tuple(cell.levels for cell in cells),
            can_be_missing=np.isnan(x) | (missing_ok & may_change),
            max_changed=max_changed,
            units=_units(part.columns for part in parts if isinstance(part, Group | ExactlyOne)),
        )
        for array in (x, weights, may_change, limits.low, limits.high, limits.can_be_missing):
            array.setflags(write=False)
        return limits

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the constraints, the keys of `violations`."""
        return tuple(part.name for part in self.parts)

    @property
    def liftable(self) -> tuple[str, ...]:
        """Names of the constraints that were asked for: all but those that keep present cells from becoming missing."""
        return tuple(
            part.name for part in self.parts if not (isinstance(part, CellLimit) and part.only_forbids_missing)
        )

    def violations(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """For each constraint which rows violate it, shape (n,)."""
        pool = Pool(self.x, rows)
        return {part.name: part.violated(pool) for part in self.parts}

    def hold(self, rows: np.ndarray) -> np.ndarray:
        """Which rows violate nothing, shape (n,); functions of the user see only rows that obey the rest."""
        hold = np.ones(len(rows), np.bool_)
        missing = np.isnan(rows)
        if missing.any():  # most pools have none
            hold &= ~(missing & ~self.can_be_missing).any(axis=1)
        for j in np.flatnonzero(self._is_limited).tolist():
            hold &= self.allowed_values(j, rows[:, j])
        pool = Pool(self.x, rows)
        for part in self.parts:
            if not isinstance(part, CellLimit | Rule):
                hold &= ~part.violated(pool)
        for part in self.parts:
            if isinstance(part, Rule) and hold.any():
                hold[hold] = ~part.violated(Pool(self.x, rows[hold]))
        return hold

    def without(self, name: str) -> Limits:
        """The limits with one constraint lifted."""
        if name not in self.names:
            raise ConstraintError(
                f"There is no constraint {name!r}; the constraints are: {listed(self.names)}."
                f"{did_you_mean(name, self.names)}"
            )
        parts = [part for part in self.parts if part.name != name]
        return Limits.of(self.schema, self.x, parts, self.weights, self.allow_missing)

    def allowed_cells(self, rows: np.ndarray) -> np.ndarray:
        """Which cells equal x's or are allowed by themselves, shape (n, p).

        A change is not allowed where `may_change` denies it, and otherwise must be within `low` and `high`, `levels`
        and `can_be_missing`.
        """
        allowed = ~np.isnan(rows) | self.can_be_missing
        for j in np.flatnonzero(self._is_limited).tolist():
            allowed[:, j] &= self.allowed_values(j, rows[:, j])
        return allowed

    def keep_allowed(self, rows: np.ndarray) -> np.ndarray:
        """A copy of the rows in which every cell that is not allowed has x's value."""
        return np.where(self.allowed_cells(rows), rows, self.x)

    @property
    def _is_limited(self) -> np.ndarray:
        """Columns of which not every present value is allowed."""
        has_levels = np.array([levels is not None for levels in self.levels])
        return ~self.may_change | has_levels | (self.low > -np.inf) | (self.high < np.inf)

    def allowed_values(self, j: int, values: np.ndarray) -> np.ndarray:
        """Which values of a column equal x's or are allowed by themselves, as in `allowed_cells`."""
        same = np.isnan(values) if np.isnan(self.x[j]) else values == self.x[j]
        if not self.may_change[j]:
            return same
        cell = CellLimit("", j, float(self.low[j]), float(self.high[j]), self.levels[j], bool(self.can_be_missing[j]))
        return same | cell.contains(values)


def _joined_cells(columns: Sequence[Column], parts: Iterable[Part]) -> list[CellLimit]:
    """What all parts together leave of each column's cells; a column that is denied every value has low > high."""
    low, high = [-np.inf] * len(columns), [np.inf] * len(columns)
    levels: list[np.ndarray | None] = [None] * len(columns)
    missing_ok = [True] * len(columns)
    for part in parts:
        if isinstance(part, CellLimit):
            j, mask = part.column, levels[part.column]
            low[j], high[j] = max(low[j], part.low), min(high[j], part.high)
            missing_ok[j] &= part.missing_ok
            if part.levels is not None:
                levels[j] = part.levels if mask is None else mask & part.levels
        elif isinstance(part, ExactlyOne):
            for j in part.columns.tolist():
                if columns[j].is_number:
                    low[j], high[j] = max(low[j], 0.0), min(high[j], 1.0)
    for j, column in enumerate(columns):
        if not column.is_number and (low[j] > 0 or high[j] < column.n_levels - 1):
            codes = np.arange(column.n_levels)
            inside = (codes >= low[j]) & (codes <= high[j])
            mask = levels[j]
            levels[j] = inside if mask is None else inside & mask
    return [CellLimit("", j, low[j], high[j], levels[j], missing_ok[j]) for j in range(len(columns))]


def _has_other(cell: CellLimit, column: Column, value: float) -> bool:
    """Whether a cell may have a value other than `value`, its own."""
    if cell.missing_ok and value == value:
        return True
    if cell.forbids_all:
        return False
    if column.is_number:
        return cell.low < cell.high or cell.low != value
    others = np.ones(column.n_levels, np.bool_) if cell.levels is None else cell.levels.copy()
    if value == value:
        others[int(value)] = False
    return bool(others.any())


def _spread(
    may_change: np.ndarray, parts: Iterable[Part], x: np.ndarray, missing_ok: np.ndarray, max_changed: int
) -> None:
    """Deny changes that would need another change that is denied; one denial may lead to the next."""
    groups = _units(part.columns for part in parts if isinstance(part, Group))
    one_hot = [
        part
        for part in parts
        if isinstance(part, ExactlyOne) and not missing_ok[part.columns].any() and part.needs_two_changes(x)
    ]
    before = None
    while before is None or (before != may_change).any():
        before = may_change.copy()
        for columns in groups:
            if len(columns) > max_changed or not may_change[columns].all():
                may_change[columns] = False
        for part in one_hot:
            free = may_change[part.columns]
            if max_changed < 2 or np.count_nonzero(free) < 2 or not free[x[part.columns] == part.one].all():
                may_change[part.columns] = False


def _units(sets: Iterable[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Sets of columns, joined where they overlap."""
    units: list[set[int]] = []
    for columns in sets:
        unit = set(columns.tolist())
        apart = [other for other in units if other.isdisjoint(unit)]
        units = [*apart, unit.union(*(other for other in units if not other.isdisjoint(unit)))]
    return tuple(np.array(sorted(unit)) for unit in sorted(units, key=min))
