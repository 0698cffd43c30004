"""`allowed`: the levels or numbers that a changed cell may have, by column; or by value those that it may change to.

`MISSING` stands for a missing cell, as a level and as a start.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.exceptions import ConstraintError, DataError, Setting
from countarfactuals.language import tr

from ..kind import MISSING_TAG, ByColumn, CellLimit, Clause, Columns, Row, Wording, is_missing, tagged, untagged
from ..option import by_column, level_named, parts_of

if TYPE_CHECKING:
    from countarfactuals.schema import Column

Levels = tuple[Any, ...]
_FLAG = "--allowed"


def _read(column: Column, text: str) -> list[Any]:
    return [_value_named(column, part) for part in parts_of(text, f"{_FLAG} {column.name}")]


def _value_named(column: Column, text: str) -> Any:
    if not column.is_number:
        return level_named(column, text, _FLAG)
    try:
        value = column.decode(column.encode(text)) if column.clock else float(text)
    except (ValueError, DataError):
        sentence = "{option}: {column!r} holds numbers or dates, got {got!r} among those that are allowed."
        raise ConstraintError(sentence, option=_FLAG, column=column.name, got=text) from None
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Allowed(ByColumn[Levels | dict[Any, Levels]]):
    """A list of levels by column, or a dict from each level to a list of levels."""

    name, label, example = "allowed", "allowed", '{"purpose": ["car", "study"]}'
    option = by_column(_FLAG, "COLUMN=VALUE,…", "levels or numbers that a changed cell may have", _read)

    def check_entry(self, name: Hashable, entry: Any) -> Levels | dict[Any, Levels]:
        """Levels, or levels by start."""
        where = "{parameter} for {column!r}"
        levels: Levels | dict[Any, Levels]
        if isinstance(entry, Mapping):
            levels = {
                start: self.items(
                    ends, "a list of levels", f"[{ends!r}]", where + " from {start!r}", column=name, start=start
                )
                for start, ends in entry.items()
            }
        else:
            what = "a list of levels or a dict from each level to a list of levels"
            levels = self.items(entry, what, f"[{entry!r}]", where, column=name)
        if not levels:
            sentence = f"{where} names no level: {{got!r}}. Name at least one, or put the column into {{other}}."
            raise self.refused(sentence, column=name, got=entry, other=Setting("fixed"))
        return levels

    def part(self, clause: Clause, entry: Levels | dict[Any, Levels], j: int, column: Column, row: Row) -> CellLimit:
        """The levels as a mask, the numbers as points."""
        from countarfactuals.schema.permitted import listed_values

        codes, can_empty = self._codes(entry, column, float(row.x[j]))
        if can_empty and not row.allow_missing:
            raise self.refused(
                "{parameter} lets {column!r} become MISSING, but {other} is False. Say allow_missing=True, or leave "
                "MISSING out.",
                column=column.name,
                other=Setting("allow_missing"),
            )
        present = [code for code in codes if not math.isnan(code)]
        missing_ok = len(present) < len(codes)
        if column.is_number:
            if not present:  # x's value is not among those that may change, or may only become missing
                return CellLimit(clause, j, np.inf, -np.inf, missing_ok=missing_ok)
            return CellLimit(clause, j, missing_ok=missing_ok, points=listed_values(present, column.stored_as))
        mask = np.zeros(column.n_levels, np.bool_)
        mask[[int(code) for code in present]] = True
        return CellLimit(clause, j, levels=mask, missing_ok=missing_ok)

    def _codes(self, entry: Levels | dict[Any, Levels], column: Column, x: float) -> tuple[list[float], bool]:
        """Codes that x's level may change to, and whether any level may become missing."""
        if not isinstance(entry, Mapping):
            codes = self._level_codes(entry, column)
            return codes, any(map(math.isnan, codes))
        starts = self._level_codes(entry, column)
        ends = [self._level_codes(levels, column) for levels in entry.values()]
        can_empty = any(
            not math.isnan(start) and any(map(math.isnan, codes)) for start, codes in zip(starts, ends, strict=True)
        )
        ways = {None if math.isnan(start) else start: codes for start, codes in zip(starts, ends, strict=True)}
        return ways.get(None if math.isnan(x) else x, []), can_empty

    def _level_codes(self, levels: Collection[Any], column: Column) -> list[float]:
        """Codes of levels, or numbers; NaN for MISSING."""
        codes = column.codes
        if column.is_number:
            return [math.nan if is_missing(value) else self._number(value, column) for value in levels]
        try:
            return [float(codes[level]) for level in levels]
        except (KeyError, TypeError):
            return [math.nan if is_missing(level) else self.code(level, column) for level in levels]

    def _number(self, value: Any, column: Column) -> float:
        """A number that the column can hold."""
        from countarfactuals.schema import described

        number = self.code(value, column)
        if not column.permits(np.array([number]))[0]:
            raise self.refused(
                "{parameter} of {column!r} names {got!r}, which the column never is: it holds {allowed}. Leave it out, "
                "or tell what it may hold by `fit(X, values={{{column!r}: […]}})`.",
                column=column.name,
                got=value,
                allowed=described(column),
            )
        return number

    def phrase(self, columns: Columns, entry: Levels | dict[Any, Levels], words: Wording) -> str:
        """What it becomes, or the ways there are."""
        name = words.name(columns[0])
        if not isinstance(entry, Mapping):
            return tr("If {name} changes, it becomes {levels}", name=name, levels=words.levels(entry, columns[0]))
        ways = "; ".join(
            tr("from {start} to {ends}", start=words.level(start, columns[0]), ends=words.levels(ends, columns[0]))
            for start, ends in entry.items()
            if ends
        )
        if not ways:
            return tr("{name} does not change", name=name)
        return tr("{name} can only change {ways}", name=name, ways=ways)

    def entry_from_file(self, column: Column, entry: Any) -> Any:
        """Texts stand for levels."""

        def value(text: Any) -> Any:
            return _value_named(column, text) if isinstance(text, str) else text

        if isinstance(entry, Mapping):
            return {value(start): self.entry_from_file(column, ends) for start, ends in entry.items()}
        return list(map(value, entry)) if isinstance(entry, list) else super().entry_from_file(column, entry)

    def entry_to_json(self, entry: Levels | dict[Any, Levels]) -> Any:
        """A list of levels, or pairs of a start and a list."""
        if isinstance(entry, Mapping):
            return {"from_to": [[tagged(start), tagged(list(ends))] for start, ends in entry.items()]}
        return tagged(list(entry))

    def entry_from_json(self, stored: Any) -> Any:
        """The inverse of `entry_to_json`; files of version 0.1 say null for a missing cell."""
        if isinstance(stored, Mapping):
            return {_level(start): [_level(end) for end in ends] for start, ends in stored["from_to"]}
        return [_level(level) for level in stored]


def _level(stored: Any) -> Any:
    return untagged({MISSING_TAG: True} if stored is None else stored)
