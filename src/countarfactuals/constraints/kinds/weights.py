"""`weights`: the cost of a change by column in the distance, 1 by default, as a number or as a word.

A number forbids nothing. Of the words, "hard" costs five times as much as "normal" and "easy" a fifth; "immutable" is
no cost but a column that does not change.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.exceptions import ConstraintError, did_you_mean, listed
from countarfactuals.language import tr
from countarfactuals.parameters import as_float

from ..kind import ByColumn, CellLimit, Clause, Columns, Row, Wording
from ..option import by_column

if TYPE_CHECKING:
    from countarfactuals.schema import Column

IMMUTABLE = "immutable"
WORDS = {IMMUTABLE: 1.0, "hard": 5.0, "normal": 1.0, "easy": 0.2}
_SPOKEN = {"hard": "hard", "normal": "normal", "easy": "easy"}  # words that are said and looked up
_FLAG = "--weight"


def _read(column: Column, text: str) -> float | str:
    if text in WORDS:
        return text
    try:
        return float(text)
    except ValueError:
        sentence = "{option}: the weight of {column!r} is a number from 0 on, or one of {allowed}; got {got!r}.{hint}"
        hint = did_you_mean(text, WORDS)
        raise ConstraintError(
            sentence, option=_FLAG, column=column.name, allowed=listed(WORDS), got=text, hint=hint
        ) from None


class Weights(ByColumn[float | str]):
    """A number or a word by column."""

    name, label, example = "weights", "weight", '{"age": "immutable", "income": "hard", "savings": 0.5}'
    option = by_column(_FLAG, "COLUMN=WEIGHT", f"how much a change costs: {', '.join(WORDS)}, or a number", _read)

    def check_entry(self, name: Hashable, entry: Any) -> float | str:
        """A finite number from 0 on, or a word."""
        if isinstance(entry, str) and entry in WORDS:
            return str(entry)
        if isinstance(entry, bool | np.bool_) or not isinstance(entry, Real) or not 0 <= as_float(entry) < math.inf:
            sentence = (
                "The weight of {column!r} must be a finite number of at least 0, or one of {allowed}; got {got!r}."
                "{hint}"
            )
            hint = did_you_mean(entry, WORDS)
            raise self.refused(sentence, column=name, allowed=listed(WORDS), got=entry, hint=hint)
        return float(entry)

    def part(self, clause: Clause, entry: float | str, j: int, column: Column, row: Row) -> CellLimit | None:
        """An interval without any value for a column that is immutable."""
        if entry != IMMUTABLE:
            return None
        return CellLimit(Clause(f"{entry}: {column.name}", clause.kind, clause.columns, entry), j, np.inf, -np.inf)

    def costs(self, value: dict[Hashable, float | str], row: Row) -> np.ndarray:
        """By column, with the sum 1."""
        by_column = np.ones(len(row.x))
        for name, weight in value.items():
            by_column[row.column(name, self)[0]] = WORDS[weight] if isinstance(weight, str) else weight
        largest = by_column.max()
        if largest == 0:
            raise self.refused(
                "{parameter} is 0 for every column, so that no change costs anything. Weigh one above 0."
            )
        by_column /= largest  # the sum of very large weights would overflow
        return by_column / by_column.sum()

    def phrase(self, columns: Columns, entry: float | str, words: Wording) -> str:
        """The weight."""
        name = words.name(columns[0])
        if entry == IMMUTABLE:
            return tr("{name} does not change", name=name)
        if isinstance(entry, str):
            return tr("A change of {name} counts as {word}", name=name, word=tr(_SPOKEN[entry]))
        return tr("A change of {name} is weighted by {weight}", name=name, weight=f"{entry:g}")


WEIGHTS = Weights()
