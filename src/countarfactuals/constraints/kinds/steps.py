"""`steps`: numbers change to multiples of a step only, by column.

1. 50 stands for the multiples of 50, whatever the row's own value is: round numbers, as people name them.
2. "±50" stands for steps from the row's own value: x − 50, x + 50, x + 100 …
3. What the column can not hold is no value either: of multiples of 5 in a column of multiples of 2, those of 10 are
   left. A step of which it can hold nothing is an error.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from numbers import Real
from typing import TYPE_CHECKING, Any

from countarfactuals.exceptions import ConstraintError
from countarfactuals.language import tr
from countarfactuals.parameters import as_float

from ..clause import as_written
from ..kind import ByColumn, CellLimit, Clause, Columns, Row, Wording, plain
from ..option import by_column

if TYPE_CHECKING:
    from countarfactuals.schema import Column

_FLAG = "--step"
_FROM_X = ("±", "+-", "+/-")


def _read(column: Column, text: str) -> str | float:
    if not column.is_number:
        sentence = "{option}: {column!r} holds levels, not numbers. Use --allowed {column}=LEVEL,…."
        raise ConstraintError(sentence, option=_FLAG, column=column.name)
    try:
        return text if _is_from_x(text) else float(text)
    except ValueError:
        sentence = (
            "{option}: the step of {column!r} is a number such as 50, or ±50 from the row's own value; got {got!r}."
        )
        raise ConstraintError(sentence, option=_FLAG, column=column.name, got=text) from None


def _is_from_x(entry: Any) -> bool:
    return isinstance(entry, str) and entry.strip().startswith(_FROM_X)


class Steps(ByColumn[float | str]):
    """A number by column, or a text such as "±50"."""

    name, label, example = "steps", "step", '{"amount": 50}'
    option = by_column(_FLAG, "COLUMN=NUMBER", "a number changes to multiples of this; ±50 for steps from x's", _read)

    def check_entry(self, name: Hashable, entry: Any) -> float | str:
        """A positive number, or such a text."""
        entry = plain(entry)
        step = self._step(entry.strip().lstrip("±+-/")) if _is_from_x(entry) else entry
        is_number = isinstance(step, Real) and not isinstance(step, bool)
        if not is_number or not 0 < as_float(step) < math.inf:
            sentence = (
                'The step of {column!r} must be a number above 0, or a text such as "±50" for steps from the row\'s '
                "own value; got {got!r}."
            )
            raise self.refused(sentence, column=name, got=entry)
        return f"±{float(step):.15g}" if _is_from_x(entry) else float(step)

    def _step(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return math.nan

    def part(self, clause: Clause, entry: float | str, j: int, column: Column, row: Row) -> CellLimit:
        """The grid of allowed values."""
        from countarfactuals.schema import described
        from countarfactuals.schema.permitted import multiples

        if not column.is_number:
            sentence = "{parameter} has {column!r}, which holds levels ({kind}). Say allowed={{{column!r}: […]}}."
            raise self.refused(sentence, column=column.name, kind=column.kind)
        if column.clock:
            sentence = "{parameter} has {column!r}, which holds dates or times and no multiples. Say ranges or change."
            raise self.refused(sentence, column=column.name)
        x = float(row.x[j])
        if isinstance(entry, str):
            if math.isnan(x):
                return CellLimit(clause, j)
            return CellLimit(clause, j, points=multiples(float(entry[1:]), x, column.stored_as))
        points = multiples(entry, width=column.stored_as)
        if column.permitted.joined(points) is None:
            sentence = "The step {got!r} of {column!r} leaves nothing: the column holds {allowed}. Choose another step."
            raise self.refused(sentence, column=column.name, got=entry, allowed=described(column))
        return CellLimit(clause, j, points=points)

    def phrase(self, columns: Columns, entry: float | str, words: Wording) -> str:
        """The multiples."""
        name = words.name(columns[0])
        if isinstance(entry, str):
            step = words.amounts(columns[0], [as_written(float(entry[1:]))])[0]
            return tr("{name} changes in steps of {step}", name=name, step=step)
        step = words.amounts(columns[0], [as_written(entry)])[0]
        return tr("If {name} changes, it becomes a multiple of {step}", name=name, step=step)
