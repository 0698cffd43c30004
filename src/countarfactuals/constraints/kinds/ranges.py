"""`ranges`: the interval of a changed value by column, of numbers and of ordered levels.

1. An end of a number is a number, of an ordered category a level; None and ±∞ are open.
2. Ends of whole numbers are rounded inwards. An interval in which no value of the column can lie is an error, unless it
   lies beyond all values that occur: then the column keeps x's.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Hashable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.exceptions import ConstraintError, DataError, DataTypeError, listed
from countarfactuals.language import tr

from ..kind import ByColumn, CellLimit, Clause, Columns, Row, Wording, plain, tagged
from ..option import by_column, level_named, without_order

if TYPE_CHECKING:
    from countarfactuals.schema import Column

_FLAG = "--range"


def _interval(text: str) -> str:
    """The form of a column and a range, such as income=0:60000."""
    name, sign, value = text.rpartition("=")
    if not (sign and name) or value.count(":") != 1 or value == ":":
        raise argparse.ArgumentTypeError(
            f"needs column=low:high, one end may be left out as in income=0:60000 or income=:60000; got {text!r}"
        )
    return text


def _read(column: Column, text: str) -> tuple[Any, Any]:
    if not column.is_number and column.kind != "ordered":
        raise without_order(
            "{option}: the levels of {column!r} have no order, so there is no range of them.", column, option=_FLAG
        )
    low, _, high = text.partition(":")
    ends = _read_end(column, low), _read_end(column, high)
    if column.is_number and None not in ends and ends[0] > ends[1]:
        sentence = "{option}: {got!r} of {column!r} is empty, its low end is above its high end. Swap them."
        raise ConstraintError(sentence, option=_FLAG, column=column.name, got=text)
    return ends


def _read_end(column: Column, text: str) -> Any:
    if not text.strip():
        return None
    if not column.is_number:
        return level_named(column, text, _FLAG)
    if column.clock:
        return _moment(column, text)
    try:
        value = float(text)
    except ValueError:
        sentence = "{option}: {column!r} holds numbers, got {got!r} as an end of its range."
        raise ConstraintError(sentence, option=_FLAG, column=column.name, got=text) from None
    if not math.isfinite(value):
        sentence = "{option}: {column!r} has the end {got!r}. Leave an end out to keep it open."
        raise ConstraintError(sentence, option=_FLAG, column=column.name, got=text)
    return int(value) if value.is_integer() else value


def _moment(column: Column, text: str) -> Any:
    try:
        return column.decode(column.encode(text.strip()))
    except DataError:
        sentence = "{option}: {column!r} holds dates or times, got {got!r} as an end of its range. Write 2024-03-01."
        raise ConstraintError(sentence, option=_FLAG, column=column.name, got=text) from None


class Ranges(ByColumn[tuple[Any, Any]]):
    """(low, high) by column, ends included."""

    name, label, example = "ranges", "range", '{"income": (20, None)}'
    option = by_column(
        _FLAG, "COLUMN=LOW:HIGH", "range of a changed value, one end may be left out", _read, form=_interval
    )

    def check_entry(self, name: Hashable, entry: Any) -> tuple[Any, Any]:
        """A pair."""
        if isinstance(entry, str | bytes) or not isinstance(entry, Sequence | np.ndarray) or len(entry) != 2:
            raise self.refused(
                "The range of {column!r} must be (low, high), ends included, with None for an open end; got {got!r}.",
                column=name,
                got=entry,
            )
        return entry[0], entry[1]

    def part(self, clause: Clause, entry: tuple[Any, Any], j: int, column: Column, row: Row) -> CellLimit:
        """The interval in the codes of the column."""
        low, high = self._ends(entry, column)
        empty = "The range {got!r} of {column!r} is empty: "
        if low > high or low == np.inf or high == -np.inf:
            sentence = f"{empty}its low end is above its high end. Swap them."
            raise self.refused(sentence, column=column.name, got=entry)
        if column.kind == "integer":
            low, high = float(np.ceil(low)), float(np.floor(high))
        if low > high or not _has_value(low, high, column):
            sentence = f"{empty}the column holds {{allowed}} and there is none in between. Widen it."
            raise self.refused(sentence, column=column.name, got=entry, allowed=_held_by(column))
        return CellLimit(clause, j, low, high)

    def _ends(self, ends: tuple[Any, Any], column: Column) -> tuple[float, float]:
        low, high = ends
        if column.is_number:
            return self._number(low, column, -np.inf), self._number(high, column, np.inf)
        if column.kind == "ordered":
            last = column.n_levels - 1.0
            return 0.0 if low is None else self.code(low, column), last if high is None else self.code(high, column)
        raise self.refused(
            "{parameter} has {column!r}, which is of kind {kind} and has no range. Say allowed={{{column!r}: […]}} "
            "with some of its levels {allowed}.",
            column=column.name,
            kind=column.kind,
            allowed=listed(column.levels),
        )

    def _number(self, end: Any, column: Column, open_end: float) -> float:
        if end is None:
            return open_end
        if column.clock:
            return self._passed(end, column)
        if isinstance(end, bool | np.bool_) or not isinstance(end, Real) or end != end:
            raise self.refused(
                "The range of {column!r} ({kind}) needs numbers as ends, or None for an open one; got {got!r}.",
                column=column.name,
                kind=column.kind,
                got=end,
            )
        try:
            return float(end)
        except OverflowError:
            sentence = "The range of {column!r} has an end that is too large for a number. Say None for an open one."
            raise self.refused(sentence, column=column.name) from None

    def _passed(self, end: Any, column: Column) -> float:
        try:
            return column.encode(end)
        except (DataError, DataTypeError):
            raise self.refused(
                "The range of {column!r} needs dates or times as ends, such as '2024-03-01', or None for an open one; "
                "got {got!r}.",
                column=column.name,
                got=end,
            ) from None

    def phrase(self, columns: Columns, entry: tuple[Any, Any], words: Wording) -> str | None:
        """The ends that it becomes."""
        name = words.name(columns[0])
        amounts = words.amounts(columns[0], [end for end in entry if not _is_open(end)])
        if not amounts:
            return None
        if len(amounts) == 2:
            low, high = amounts
            return tr("If {name} changes, it becomes a value from {low} to {high}", name=name, low=low, high=high)
        if _is_open(entry[0]):
            return tr("If {name} changes, it becomes at most {high}", name=name, high=amounts[0])
        return tr("If {name} changes, it becomes at least {low}", name=name, low=amounts[0])

    def entry_to_json(self, entry: tuple[Any, Any]) -> Any:
        """A list, open ends as null."""
        return [None if _is_open(end) else tagged(end) for end in entry]


def _is_open(end: Any) -> bool:
    return end is None or (isinstance(plain(end), float) and math.isinf(end))


def _held_by(column: Column) -> str:
    from countarfactuals.schema import described

    if column.is_restricted:
        return described(column)
    return "integers" if column.kind == "integer" else f"numbers with {column.decimals} decimal(s)"


def _has_value(low: float, high: float, column: Column) -> bool:
    """Whether a value that the column can hold lies between the ends, or these lie outside of all that occur."""
    if column.values and (high < column.values[0] or low > column.values[-1]):
        return True
    if column.is_restricted:
        return column.permitted.between(low, high)
    step = column.unit
    if step == 0.0 or not np.isfinite(low) or not np.isfinite(high):
        return True
    scale = np.rint(1.0 / step)
    nearest = np.rint(low * scale)
    return bool(any(low <= point / scale <= high for point in (nearest, nearest + 1.0)))
