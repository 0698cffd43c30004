"""`groups`: columns that change together or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from countarfactuals.language import tr

from ..kind import Clause, Columns, ColumnSets, Part, Pool, Row, Steering, Wording
from ..option import of_columns


@dataclass(frozen=True, eq=False)
class Group(Part):
    """All of the columns change, or none."""

    columns: np.ndarray

    is_all_or_none = True

    @property
    def together(self) -> np.ndarray:
        """All of them."""
        return self.columns

    def violated(self, pool: Pool) -> np.ndarray:
        """Rows in which some change and some do not."""
        changed = np.count_nonzero(pool.changed[:, self.columns], axis=1)
        return (changed > 0) & (changed < len(self.columns))

    def denied(self, steering: Steering) -> np.ndarray | None:
        """All, if one is denied."""
        return None if steering.may_change[self.columns].all() else self.columns


class Groups(ColumnSets):
    """Lists of columns."""

    name, label = "groups", "group"
    option = of_columns("--group", "columns that change together or not at all")

    def part(self, clause: Clause, columns: np.ndarray, row: Row) -> Group:
        """A group."""
        return Group(clause, columns)

    def phrase(self, columns: Columns, entry: Any, words: Wording) -> str:
        """That they change together."""
        return tr("{names} change together or not at all", names=words.names(columns))

    def clause_text(self, clause: Clause, words: Wording) -> str:
        """The same with commas alone."""
        return tr("{names} change together or not at all", names=", ".join(map(words.name, clause.columns)))
