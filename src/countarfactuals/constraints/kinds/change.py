"""`change`: by how much a value may change, by column: at most +5, at least −3, 20 % up or down.

1. An end is a number that is added to the row's own value, or a share of its size, such as "-20%"; None is open. For
   ordered categories it is a number of levels, for dates and times a number of days.
2. One end alone stands for both ways: 5 for (-5, 5), "20%" for ("-20%", "20%").
3. A cell that is missing has nothing to change from: it may be filled with anything. Of a 0 there is no share, so that
   it stays.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Hashable, Sequence
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.exceptions import ConstraintError
from countarfactuals.language import tr
from countarfactuals.parameters import as_float

from ..clause import as_written
from ..kind import ByColumn, CellLimit, Clause, Columns, Row, Wording, plain
from ..option import by_column, without_order

if TYPE_CHECKING:
    from countarfactuals.schema import Column

End = int | float | str | None  # a share is a text
Ends = tuple[End, End]
_FLAG = "--change"
_SECONDS = 86_400  # of a day
_SHARE = re.compile(r"([+\-−]?)\s*(\d+\.?\d*|\.\d+)\s*%")
_ALLOWED = 'a number such as 5, a share such as "20%", or (low, high) of these with None for an open end'


def _form(text: str) -> str:
    """The form of a column and a change, such as age=0:5."""
    name, sign, value = text.rpartition("=")
    if not (sign and name and value) or value.count(":") > 1 or value == ":":
        raise argparse.ArgumentTypeError(
            "needs column=low:high, relative to the row's own value, as in age=0:5, income=-20%:20% or, for both ways, "
            f"income=20%; got {text!r}"
        )
    return text


def _read(column: Column, text: str) -> Any:
    if not column.is_number and column.kind != "ordered":
        sentence = "{option}: the levels of {column!r} have no order, so there is no distance between them."
        raise without_order(sentence, column, option=_FLAG)
    ends = [_read_end(column, part) for part in text.split(":")]
    return ends[0] if len(ends) == 1 else tuple(ends)


def _read_end(column: Column, text: str) -> End:
    text = text.strip().replace("−", "-")
    if not text:
        return None
    try:
        return text if _SHARE.fullmatch(text) else as_written(float(text))
    except ValueError:
        sentence = "{option}: a change of {column!r} is a number such as 5 or a share such as 20%, got {got!r}."
        raise ConstraintError(sentence, option=_FLAG, column=column.name, got=text) from None


class Change(ByColumn[Ends]):
    """(low, high) by column, relative to the row's own value, ends included."""

    name = label = "change"
    example = '{"age": (0, 5), "income": ("-20%", "+20%")}'
    option = by_column(
        _FLAG, "COLUMN=LOW:HIGH", "by how much a value may change, such as 0:5, -20%%:20%% or 20%%", _read, form=_form
    )

    def check_entry(self, name: Hashable, entry: Any) -> Ends:
        """Two ends, the lower one first."""
        if isinstance(entry, Sequence | np.ndarray) and not isinstance(entry, str | bytes):
            if len(entry) != 2:
                raise self._no_change(name, entry)
            low, high = (self._end(name, end, entry) for end in entry)
        elif entry is None:
            raise self._no_change(name, entry)
        else:
            high = self._end(name, entry, entry)
            low = _opposite(high)
        if _is_above(low, high):
            sentence = "The change {got!r} of {column!r} is empty: its low end is above its high end. Swap them."
            raise self.refused(sentence, column=name, got=entry)
        return low, high

    def _end(self, name: Hashable, end: Any, entry: Any) -> End:
        end = plain(end)
        if end is None:
            return None
        if isinstance(end, str) and (match := _SHARE.fullmatch(end.strip())):
            sign = "-" if match[1] in ("-", "−") else ""
            return f"{sign}{Decimal(match[2]).normalize():f}%"
        if isinstance(end, bool) or not isinstance(end, Real) or not math.isfinite(as_float(end)):
            raise self._no_change(name, entry)
        return end if isinstance(end, int) else float(end)

    def _no_change(self, name: Hashable, entry: Any) -> ConstraintError:
        sentence = "The change of {column!r} must be {allowed}; got {got!r}."
        return self.refused(sentence, column=name, got=entry, allowed=_ALLOWED)

    def part(self, clause: Clause, entry: Ends, j: int, column: Column, row: Row) -> CellLimit:
        """The interval around x's own value."""
        if not column.is_number and column.kind != "ordered":
            raise self.refused(
                "{parameter} has {column!r}, which is of kind {kind} and has no distances. Say allowed={{{column!r}: "
                "{{from: [to, …]}}}}.",
                column=column.name,
                kind=column.kind,
            )
        counts = {"ordered": "levels"}.get(column.kind, "days" if column.clock else "")
        if counts and any(isinstance(end, str) for end in entry):
            sentence = (
                "{parameter} of {column!r} counts {what}, of which there are no shares; got {got!r}. Say how many."
            )
            raise self.refused(sentence, column=column.name, got=entry, what=counts)
        x = float(row.x[j])
        if math.isnan(x):
            return CellLimit(clause, j)
        days = _SECONDS if column.clock == "second" else 1
        low, high = _moved(x, entry[0], -math.inf, days), _moved(x, entry[1], math.inf, days)
        if column.kind == "integer":
            low, high = float(np.ceil(low)), float(np.floor(high))
        return CellLimit(clause, j, low, high)

    def phrase(self, columns: Columns, entry: Ends, words: Wording) -> str | None:
        """By how much."""
        from countarfactuals.language.spelling import joined  # takes long to import, and options need kinds at once

        (low, high), name = entry, words.name(columns[0])
        if low is None and high is None:
            return None
        if low == _opposite(high) and low != high:
            return tr("{name} changes by at most {amount}", name=name, amount=_size(words, columns[0], high))
        if low is not None and high is not None and _size_of(low) > 0 and _size_of(high) > 0:
            ends = [_signed(words, columns[0], end) for end in (low, high)]
            return tr("If {name} changes, then by {low} to {high}", name=name, low=ends[0], high=ends[1])
        parts = [_one_way(words, columns[0], end, is_high) for end, is_high in ((low, False), (high, True))]
        if _size_of(low) == 0:  # by how much, then which way not at all
            parts.reverse()
        return tr("{name} {ways}", name=name, ways=joined([part for part in parts if part]))

    def entry_to_json(self, entry: Ends) -> Any:
        """A list, open ends as null."""
        return list(entry)


def _one_way(words: Wording, name: Hashable, end: End, is_high: bool) -> str:
    if end is None:
        return ""
    if _size_of(end) == 0:
        return tr("does not rise") if is_high else tr("does not fall")
    amount = _size(words, name, end)
    is_outwards = (_number(end) > 0) == is_high
    if is_outwards:
        return (
            tr("rises by at most {amount}", amount=amount)
            if is_high
            else tr("falls by at most {amount}", amount=amount)
        )
    return (
        tr("falls by at least {amount}", amount=amount) if is_high else tr("rises by at least {amount}", amount=amount)
    )


def _number(end: int | float | str) -> float:
    return float(end.rstrip("%")) if isinstance(end, str) else float(end)


def _size_of(end: End) -> float:
    return 0.0 if end is None else abs(_number(end))


def _opposite(end: End) -> End:
    if end is None or isinstance(end, int | float):
        return None if end is None else -end
    return end[1:] if end.startswith("-") else f"-{end}"


def _is_above(low: End, high: End) -> bool:
    """Whether no value can lie between; a number and a share depend on the row."""
    if low is None or high is None:
        return False
    if isinstance(low, str) == isinstance(high, str):
        return _number(low) > _number(high)
    return _number(low) > 0 > _number(high)


def _moved(x: float, end: End, open_end: float, unit: int) -> float:
    """x's value moved by an end; in decimals, as 0.7 + 0.1 is a little less than 0.8."""
    if end is None:
        return open_end
    own = Decimal(repr(x))
    return float(own + (abs(own) * Decimal(end[:-1]) / 100 if isinstance(end, str) else Decimal(repr(end)) * unit))


def _size(words: Wording, name: Hashable, end: End) -> str:
    text = end.lstrip("-") if isinstance(end, str) else ""
    return f"{text[:-1]} %" if text else words.amounts(name, [abs(end)])[0]  # type: ignore[arg-type]


def _signed(words: Wording, name: Hashable, end: int | float | str) -> str:
    return f"{'−' if _number(end) < 0 else '+'}{_size(words, name, end)}"
