"""`derived`: columns that are computed from others, such as a body mass index, and change along with them.

1. A formula is a text (see `expression`), or a function of a frame that returns one value per row.
2. A cell is computed where the formula gives another value than for x, to the decimals of its column; else it stays.
   What x has itself need not follow the formula.
3. It is a consequence and no change of its own: it does not count in `max_changed`.
4. A fixed column is not computed: then what it follows from can not change either.
5. JSON keeps texts, and of functions the name. What is read from there can not compute.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.exceptions import ConstraintError, DataError, DataTypeError, Setting
from countarfactuals.language import tr

from ..asked_functions import NamedFunction, answers_of, function_name
from ..expression import ALLOWED, Expression, ExpressionError
from ..kind import ByColumn, Clause, Columns, Part, Pool, Row, Wording
from ..option import by_column
from .rules import columns_named

if TYPE_CHECKING:
    from countarfactuals.schema import Column, Schema

_FLAG = "--derive"
Formula = Expression | Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class DerivedColumn(Part):
    """A column that follows from others.

    Parameters
    ----------
    column : where it stands.
    formula : what it follows by.
    schema, x : of the rows, and the row itself.
    """

    column: int
    formula: Formula
    schema: Schema
    x: np.ndarray

    is_costly = True

    @cached_property
    def _own(self) -> float:
        return float(self._value(self.x[None])[0])

    @property
    def excused(self) -> int:
        """Its changes are no changes of their own."""
        return self.column

    @cached_property
    def sources(self) -> set[int]:
        """Columns that it may follow from: those that a text names, all others for a function."""
        if isinstance(self.formula, Expression):
            return {j for j, name in enumerate(self.schema.names) if str(name) in self.formula.names}
        return set(range(len(self.x))) - {self.column}

    def computed(self, rows: np.ndarray) -> np.ndarray:
        """By row what the cell is: x's own where the formula gives what it gives for x, or nothing."""
        value = self._value(rows)
        stays = np.isnan(value) | np.isclose(value, self._own, rtol=1e-12, atol=0.0) | np.isnan(self.x[self.column])
        return np.where(stays, self.x[self.column], self._held(value))

    def violated(self, pool: Pool) -> np.ndarray:
        """Rows whose cell is another."""
        cells, wanted = pool.rows[:, self.column], self.computed(pool.rows)
        unit = self.schema.columns[self.column].unit
        off = np.abs(cells - wanted) > 0.5 * unit + 1e-6 * np.abs(wanted)
        return np.asarray(off | (np.isnan(cells) != np.isnan(wanted)))

    def _held(self, value: np.ndarray) -> np.ndarray:
        """Values with the digits that the column can hold."""
        column = self.schema.columns[self.column]
        if not column.is_number or column.decimals is None:
            return value.astype(column.stored_as).astype(np.float64)
        scale = 10.0**column.decimals
        return np.asarray((np.rint(value * scale) / scale).astype(column.stored_as), np.float64) + 0.0

    def _value(self, rows: np.ndarray) -> np.ndarray:
        """By row what the formula gives, as codes; NaN for nothing."""
        if len(rows) == 0:
            return np.empty(0)
        if isinstance(self.formula, Expression):
            names = {str(name): j for j, name in enumerate(self.schema.names)}
            value = self.formula({name: rows[:, names[name]] for name in self.formula.names})
            return np.where(np.isfinite(value), value, np.nan) * np.ones(len(rows))
        return self._of_function(self.formula, rows)

    def _of_function(self, function: Callable[[Any], Any], rows: np.ndarray) -> np.ndarray:
        values = answers_of(function, self.schema.decode(rows), "The formula of {column!r}", "value", **self._named)
        if values.shape != (len(rows),):
            sentence = "The formula of {column!r} must return one value per row, shape ({n},), got shape {got}."
            raise self._refused(sentence, n=len(rows), got=values.shape)
        return self._codes(values)

    def _codes(self, values: np.ndarray) -> np.ndarray:
        column = self.schema.columns[self.column]
        try:
            if column.is_number:
                codes = values.astype(np.float64)
                return np.where(np.isfinite(codes), codes, np.nan)
            return np.array([column.encode(value) for value in values.tolist()], np.float64)
        except (DataError, DataTypeError, TypeError, ValueError) as error:
            sentence = "The formula of {column!r} gave what the column can not hold: {reason}"
            raise self._refused(sentence, reason=error) from None

    def _refused(self, sentence: str, **fields: Any) -> ConstraintError:
        return ConstraintError(sentence, **self._named, **fields)

    @property
    def _named(self) -> dict[str, Any]:
        return {"parameter": Setting("derived"), "column": self.schema.columns[self.column].name}


def _read(column: Column, text: str) -> str:
    return text


class Derived(ByColumn[Formula]):
    """A formula by column."""

    name = label = "derived"
    example = '{"bmi": "weight / height ** 2"}'
    option = by_column(
        _FLAG, "COLUMN=FORMULA", "a column that is computed from others, such as 'bmi=weight / height ** 2'", _read
    )

    def check_entry(self, name: Hashable, entry: Any) -> Formula:
        """A text as an expression, or a function."""
        if isinstance(entry, Expression) or callable(entry):
            return entry
        if not isinstance(entry, str):
            sentence = (
                "The formula of {column!r} must be a text or a function of a frame, got {got!r}. Such as {example}."
            )
            raise self.refused(sentence, column=name, got=entry, example=f"{self.name}={self.example}")
        try:
            return Expression(entry)
        except ExpressionError as error:
            raise self.refused(
                "The formula {got!r} of {column!r} can not be used: {reason}. Allowed are {allowed}; names with blanks "
                "stand in `backquotes`.",
                column=name,
                got=entry,
                reason=str(error),
                allowed=ALLOWED,
            ) from None

    def part(self, clause: Clause, entry: Formula, j: int, column: Column, row: Row) -> DerivedColumn:
        """The column with its formula."""
        if isinstance(entry, Expression):
            self._check_names(entry, column, row)
        return DerivedColumn(clause, j, entry, row.schema, row.x)

    def _check_names(self, entry: Expression, column: Column, row: Row) -> None:
        if any(row.schema.columns[j] is column for j in columns_named(entry, row, self).values()):
            sentence = "The formula of {column!r} names the column itself. Name others."
            raise self.refused(sentence, column=column.name)

    def clause(self, columns: Columns, entry: Any = None) -> Clause:
        """As of other kinds, with what a file keeps of the formula."""
        return super().clause(columns, self.entry_to_json(entry))

    def phrase(self, columns: Columns, entry: Any, words: Wording) -> str:
        """What it follows by; a formula, or what a file keeps of it."""
        name, kept = words.name(columns[0]), entry if isinstance(entry, str | dict) else self.entry_to_json(entry)
        if isinstance(kept, str):
            return tr("{name} is {formula}", name=name, formula=words.text(kept))
        return tr("{name} is computed by {function}", name=name, function=words.text(kept["function"]))

    def entry_to_json(self, entry: Formula) -> Any:
        """The text, or the name of the function."""
        return entry.text if isinstance(entry, Expression) else {"function": function_name(entry)}

    def entry_from_json(self, stored: Any) -> Any:
        """The inverse of `entry_to_json`, where functions are known by name only."""
        return NamedFunction(self.name, stored["function"]) if isinstance(stored, dict) else stored
