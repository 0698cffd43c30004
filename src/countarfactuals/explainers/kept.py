"""`Kept`: what counterfactuals of one row keep, and what follows when they change.

1. A relation binds where x keeps it. What all rows of the data keep is not asked of a row that does not.
2. A relation leads from its other columns to the one that depends on them. Those that would close a circle, or lead to
   a column that is computed already, lead nowhere: they are only checked. Exact relations come first.
3. A column that an exact relation leads to is *computed* wherever a column that it follows from differs from x; columns
   that users declare are computed first. It is not searched.
4. `mended` computes columns, gives implied levels where a level was changed, takes a level that forbids a change to
   what mostly stands beside it, and moves a number that must be about another one with it. What may not change stays.
   Rows that break something even so are no candidates (`broken`).
5. A changed cell is a *consequence* if a relation leads to it that x's own cell would break. Consequences are no
   changes of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from countarfactuals.constraints import Limits
from countarfactuals.constraints.kinds.derived import DerivedColumn
from countarfactuals.objectives import changed
from countarfactuals.relations import Formula, Implication, Order, Relation
from countarfactuals.schema import Schema

_PASSES = 2  # of mending: an implied level may imply another


@dataclass(frozen=True, eq=False)
class Kept:
    """What counterfactuals of one row keep.

    Parameters
    ----------
    schema, x, limits : the columns, the row and what was asked of changes.
    relations : that bind.
    leading : those of them that lead to a column, in order.
    """

    schema: Schema
    x: np.ndarray
    limits: Limits
    relations: tuple[Relation, ...]
    leading: tuple[Relation, ...]

    @classmethod
    def of(cls, schema: Schema, x: np.ndarray, limits: Limits, relations: Iterable[Relation]) -> Kept:
        """What binds of the relations of the data, beside the columns that the user declared."""
        declared = [part for part in limits.parts if isinstance(part, DerivedColumn)]
        columns = {part.column for part in declared}
        binding = tuple(
            relation for relation in relations if relation.dependent not in columns and not relation.broken(x[None])[0]
        )
        return cls(schema, x, limits, binding, _leading(binding, x, limits, declared))

    @cached_property
    def declared(self) -> tuple[DerivedColumn, ...]:
        """Columns that the user says are computed, and that may change."""
        parts = (part for part in self.limits.parts if isinstance(part, DerivedColumn))
        return tuple(part for part in parts if self.limits.may_change[part.column])

    @cached_property
    def computing(self) -> tuple[Relation, ...]:
        """Relations that compute a column."""
        return tuple(relation for relation in self.leading if relation.is_exact)

    @cached_property
    def computed(self) -> np.ndarray:
        """By column, whether it is computed, (p,)."""
        columns = np.zeros(len(self.x), np.bool_)
        for part in self.declared:
            columns[part.column] = True
        for relation in self.computing:
            columns[relation.dependent] = True
        return columns

    @cached_property
    def searched(self) -> np.ndarray:
        """By column, whether a search may change it, (p,)."""
        return np.asarray(self.limits.may_change & ~self.computed)

    @cached_property
    def _orders(self) -> tuple[np.ndarray, np.ndarray]:
        orders = [relation.columns for relation in self.relations if _is_plain_order(relation)]
        low, high = np.array(orders, np.intp).reshape(-1, 2).T
        return low, high

    @cached_property
    def _others(self) -> tuple[Relation, ...]:
        return tuple(relation for relation in self.relations if not _is_plain_order(relation))

    def freed(self, free: np.ndarray) -> np.ndarray:
        """Cells that a draw may change, (n, p), with the columns that follow from them."""
        if not self.computed.any():
            return free
        free = free.copy()
        for relation in self.computing:
            free[:, relation.dependent] |= free[:, list(_sources(relation))].any(axis=1)
        for part in self.declared:
            free[:, part.column] |= free.any(axis=1)
        return free

    def broken(self, rows: np.ndarray) -> np.ndarray:
        """Which rows break a relation, or have a computed cell that its column does not permit."""
        low, high = self._orders
        broken = np.asarray((rows[:, low] > rows[:, high]).any(axis=1))
        for relation in self._others:
            broken |= relation.broken(rows)
        for j in np.flatnonzero(self.computed & self._is_restricted).tolist():
            broken |= (rows[:, j] != self.x[j]) & ~self.schema.columns[j].permits(rows[:, j])
        return broken

    @cached_property
    def _is_restricted(self) -> np.ndarray:
        return np.isin(np.arange(len(self.x)), self.schema.restricted)

    # Consequences

    def consequences(self, rows: np.ndarray) -> np.ndarray:
        """Which cells differ from x because others do, (n, p)."""
        follows = np.zeros(rows.shape, np.bool_)
        if not self.leading and not self.declared:
            return follows
        differs = changed(rows, self.x)
        for part in self.declared:
            follows[:, part.column] = differs[:, part.column]
        for relation in self.leading:
            j = relation.dependent
            at = np.flatnonzero(differs[:, j] & ~follows[:, j])
            if len(at):
                follows[at, j] = relation.is_exact or self._would_break(relation, rows[at])
        return follows

    def _would_break(self, relation: Relation, rows: np.ndarray) -> np.ndarray:
        """Which rows would break a relation with x's own cell where it leads to."""
        before = rows.copy()
        before[:, relation.dependent] = self.x[relation.dependent]
        if isinstance(relation, Implication) and np.isnan(self.x[relation.other]):
            return relation.applies(rows)
        return relation.broken(before)

    # Mending

    def mended(self, rows: np.ndarray) -> np.ndarray:
        """The rows with all that follows from their changes, as far as it may change."""
        if not self.leading and not self.declared:
            return rows
        rows = self._compute(rows.copy())
        for _ in range(_PASSES):
            if not any([self._mend(rows, relation) for relation in self._mending]):
                return rows
            self._compute(rows)
        return rows

    @cached_property
    def _mending(self) -> tuple[Relation, ...]:
        return tuple(relation for relation in self.leading if not relation.is_exact)

    def _compute(self, rows: np.ndarray) -> np.ndarray:
        for _ in self.declared:  # one may follow from another, whatever their order
            for part in self.declared:
                rows[:, part.column] = part.computed(rows)
        for relation in self.computing:
            j = relation.dependent
            moved = self._moved(rows, relation)
            rows[~moved, j] = self.x[j]
            # what keeps the relation stays: rounding leaves a choice, and rows of the data have made it
            at = np.flatnonzero(moved & relation.broken(rows)) if moved.any() else np.empty(0, np.intp)
            if len(at):
                value = self._held(j, relation.computed(rows[at]))  # type: ignore[arg-type]
                rows[at, j] = np.where(np.isnan(value), rows[at, j], value)
        return rows

    def _moved(self, rows: np.ndarray, relation: Relation) -> np.ndarray:
        """In which rows something differs from x that a relation leads from."""
        moved = np.zeros(len(rows), np.bool_)
        for j in _sources(relation):
            moved |= changed(rows[:, j], self.x[j])
        return moved

    def _held(self, j: int, value: np.ndarray) -> np.ndarray:
        """Values with the digits that a column can hold."""
        return np.asarray(value.astype(self.schema.columns[j].stored_as), np.float64)

    def _mend(self, rows: np.ndarray, relation: Relation) -> bool:
        """Mend what breaks a relation, in place; whether anything did."""
        at = np.flatnonzero(relation.broken(rows))
        if len(at) == 0:
            return False
        if isinstance(relation, Implication):
            self._imply(rows, at, relation)
        elif isinstance(relation, Formula):
            self._move_along(rows, at, relation)
        return True

    def _imply(self, rows: np.ndarray, at: np.ndarray, relation: Implication) -> None:
        """Give the implied value where the level was changed to; where it was there before, change the level."""
        j, other = relation.column, relation.other
        is_new = rows[at, j] != self.x[j]
        self._put(rows, at[is_new], other, np.full(int(is_new.sum()), relation.implied), j)
        old = at[~is_new]
        away = dict(relation.away)
        beside = np.array([away.get(value, np.nan) for value in rows[old, other].tolist()])
        self._put(rows, old, j, beside, other)

    def _put(self, rows: np.ndarray, at: np.ndarray, j: int, cells: np.ndarray, instead: int) -> None:
        """Put cells into a column where they are allowed; x's into the column `instead` where they are not."""
        if len(at) == 0:
            return
        allowed = self.limits.allowed_values(j, cells) & (~np.isnan(cells) | self.limits.can_be_missing[j])
        allowed &= ~self.computed[j]
        rows[at[allowed], j] = cells[allowed]
        rows[at[~allowed], instead] = self.x[instead]

    def _move_along(self, rows: np.ndarray, at: np.ndarray, formula: Formula) -> None:
        """Give what is about the formula as x is: as far off, in proportion."""
        j = formula.total
        own = float(formula.value(self.x[None])[0])
        off = self.x[j] - own
        value = formula.value(rows[at])
        with np.errstate(all="ignore"):
            cells = value * (self.x[j] / own) if formula.relative and own else value + off
        column = self.schema.columns[j]
        cells = column.permitted.nearest(self._held(j, cells), self.limits.low[j], self.limits.high[j])
        good = self.limits.allowed_values(j, cells) & ~np.isnan(cells)
        rows[at[good], j] = self._held(j, cells[good])


def _is_plain_order(relation: Relation) -> bool:
    """Whether cells are compared as they are: all such are checked at once."""
    return isinstance(relation, Order) and relation.timed is None


def _sources(relation: Relation) -> tuple[int, ...]:
    return tuple(j for j in relation.columns if j != relation.dependent)


def _leading(
    relations: Sequence[Relation], x: np.ndarray, limits: Limits, declared: Iterable[DerivedColumn]
) -> tuple[Relation, ...]:
    """The relations that lead to a column which may change, without circles, sorted so that causes come first."""
    computed = {part.column for part in declared}
    above = {part.column: part.sources for part in declared}  # by column all that it follows from
    chosen: list[Relation] = []
    for relation in sorted(relations, key=lambda relation: (not relation.is_exact, relation.kind != "function")):
        j = relation.dependent
        if j is None or j in computed or not limits.may_change[j] or (relation.is_exact and np.isnan(x[j])):
            continue
        sources = set(_sources(relation))
        causes = sources.union(*(above.get(source, set()) for source in sources))
        if j in causes:
            continue
        chosen.append(relation)
        computed |= {j} if relation.is_exact else set()
        above[j] = above.get(j, set()) | causes
        for column, its in above.items():
            if j in its:
                above[column] = its | above[j]
    return tuple(_in_order(chosen))


def _in_order(relations: list[Relation]) -> list[Relation]:
    """Relations such that whatever leads to a column comes before all that it leads to."""
    ordered: list[Relation] = []
    left = list(relations)
    while left:
        waiting = {relation.dependent for relation in left}
        ready = [relation for relation in left if not waiting & set(_sources(relation))]
        ordered += ready
        left = [relation for relation in left if relation not in ready]
    return ordered
