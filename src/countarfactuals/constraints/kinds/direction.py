"""`direction`: the only way in which a column may change.

For numbers, ordered categories and booleans, where False is below True.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from countarfactuals.exceptions import ConstraintError, did_you_mean
from countarfactuals.language import tr

from ..kind import ByColumn, CellLimit, Clause, Columns, Row, Wording
from ..option import by_column, without_order

if TYPE_CHECKING:
    from countarfactuals.schema import Column

_WAYS = ("increase", "decrease")
_FLAG = "--direction"


def _read(column: Column, text: str) -> str:
    if text not in _WAYS:
        sentence = "{option}: {column!r} can increase or decrease, got {got!r}.{hint}"
        raise ConstraintError(sentence, option=_FLAG, column=column.name, got=text, hint=did_you_mean(text, _WAYS))
    if column.kind == "category":
        sentence = "{option}: the levels of {column!r} have no order, so it can not {got}."
        raise without_order(sentence, column, option=_FLAG, got=text)
    return text


class Direction(ByColumn[str]):
    """ "increase" or "decrease" by column."""

    name, label, example = "direction", "direction", '{"age": "increase"}'
    option = by_column(_FLAG, "COLUMN=increase|decrease", "the only way in which a column may change", _read)

    def check_entry(self, name: Hashable, entry: Any) -> str:
        """One of two words."""
        if not isinstance(entry, str) or entry not in _WAYS:
            sentence = "The direction of {column!r} must be 'increase' or 'decrease', got {got!r}.{hint}"
            raise self.refused(sentence, column=name, got=entry, hint=did_you_mean(entry, _WAYS))
        return str(entry)

    def part(self, clause: Clause, entry: str, j: int, column: Column, row: Row) -> CellLimit:
        """x's value as an end; from a missing one there is nothing to compare with."""
        if column.kind == "category":
            raise self.refused(
                "{parameter} has {column!r}, a category whose levels have no order, so it can not {got}. Make it an "
                "ordered category, tell its order by `fit(X, ordered={{{column!r}: [lowest, …]}})`, or say "
                "allowed={{{column!r}: {{from: [to, …]}}}}.",
                column=column.name,
                got=entry,
            )
        x = float(row.x[j])
        if math.isnan(x):
            return CellLimit(clause, j)
        return CellLimit(clause, j, low=x) if entry == "increase" else CellLimit(clause, j, high=x)

    def phrase(self, columns: Columns, entry: str, words: Wording) -> str:
        """The way."""
        name = words.name(columns[0])
        if entry == "increase":
            return tr("{name} can only increase", name=name)
        return tr("{name} can only decrease", name=name)
