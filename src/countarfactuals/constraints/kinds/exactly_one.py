"""`exactly_one`: columns of which exactly one is 1, or True, and the others are 0.

1. What a missing cell hides is no violation: it may be the one.
2. If x obeys with every cell known, and none may become missing, the 1 can only move: two columns change or none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from countarfactuals.exceptions import listed
from countarfactuals.language import tr

from ..kind import CellLimit, Clause, Columns, ColumnSets, Part, Pool, Row, Steering, Wording
from ..option import of_columns


@dataclass(frozen=True, eq=False)
class ExactlyOne(Part):
    """One of the columns is 1, the others are 0.

    Parameters
    ----------
    columns : where they stand.
    zero, one : by column the codes of 0 and 1, NaN if there is none.
    x : the row.
    numbers : which of the columns hold numbers, whose cells have no other bounds than 0 and 1.
    """

    columns: np.ndarray
    zero: np.ndarray
    one: np.ndarray
    x: np.ndarray
    numbers: tuple[int, ...]

    @property
    def together(self) -> np.ndarray:
        """All of them."""
        return self.columns

    @property
    def cells(self) -> tuple[CellLimit, ...]:
        """Numbers lie between 0 and 1."""
        return tuple(CellLimit(self.clause, j, 0.0, 1.0, missing_ok=True) for j in self.numbers)

    def violated(self, pool: Pool) -> np.ndarray:
        """Rows with other values, several ones, or no cell that may be the one."""
        cells = pool.rows[:, self.columns]
        is_one, missing = cells == self.one, np.isnan(cells)
        ones = np.count_nonzero(is_one, axis=1)
        other = ~(is_one | missing | (cells == self.zero)).all(axis=1)
        return other | (ones > 1) | ((ones == 0) & ~missing.any(axis=1))

    def denied(self, steering: Steering) -> np.ndarray | None:
        """All, if the 1 can not move."""
        own = self.x[self.columns]
        if steering.missing_ok[self.columns].any() or np.isnan(own).any():
            return None
        may_change = steering.may_change[self.columns]
        can_move = steering.max_changed >= 2 and np.count_nonzero(may_change) >= 2
        if (can_move and may_change[own == self.one].all()) or self.violated(Pool(self.x, self.x[None]))[0]:
            return None
        return self.columns


class ExactlyOneOf(ColumnSets):
    """Lists of columns."""

    name = label = "exactly_one"
    option = of_columns("--exactly-one", "columns of which exactly one is 1 or true")

    def part(self, clause: Clause, columns: np.ndarray, row: Row) -> ExactlyOne:
        """The codes of 0 and 1 in each column."""
        codes, numbers = [], []
        for j in columns.tolist():
            column, x = row.schema.columns[j], float(row.x[j])
            if column.is_number:
                fits, got = math.isnan(x) or x in (0, 1), f"is {x:g} in this row"
                codes.append((0.0, 1.0))
                numbers.append(j)
            else:
                fits, got = {0, 1}.issuperset(column.levels), f"has the levels {listed(column.levels)}"
                codes.append((column.codes.get(0, math.nan), column.codes.get(1, math.nan)))
            if not fits:
                sentence = (
                    "{parameter} needs columns of 0 and 1, or False and True, but {column!r} {got}. Leave it out."
                )
                raise self.refused(sentence, column=column.name, got=got)
        zero, one = np.array(codes, np.float64).T
        return ExactlyOne(clause, columns, zero, one, row.x, tuple(numbers))

    def phrase(self, columns: Columns, entry: Any, words: Wording) -> str:
        """That one of them is 1."""
        return tr("Exactly one of {names} is 1", names=words.names(columns))

    def clause_text(self, clause: Clause, words: Wording) -> str:
        """The same inside a sentence."""
        return tr("exactly one of {names} is 1", names=", ".join(map(words.name, clause.columns)))
