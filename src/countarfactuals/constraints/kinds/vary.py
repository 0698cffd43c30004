"""`vary`: the only columns that may change, the counterpart of `fixed`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np

from countarfactuals.language import tr

from ..kind import CellLimit, Clause, Columns, ConstraintKind, Row, Wording, tagged
from ..option import REPEATED, Option, columns_named, names

_FLAG = "--vary"


class Vary(ConstraintKind[tuple[Hashable, ...] | None]):
    """A list of columns; None for all."""

    name = label = "vary"
    default = None
    option = Option(
        _FLAG,
        lambda texts, schema: columns_named(texts, schema, _FLAG) or None,
        {"type": names, "metavar": "COLUMN,…", "help": "the only columns that may change", **REPEATED},
    )

    def check(self, value: Any) -> tuple[Hashable, ...] | None:
        """A tuple of names, at least one; None for all columns."""
        if value is None:
            return None
        columns = self.items(value, "a list of columns, or None for all", 'vary=["income", "savings"]')
        if not columns:
            raise self.refused("{parameter} names no column, so that nothing may change. Name at least one.")
        return columns

    def parts(self, value: tuple[Hashable, ...] | None, row: Row) -> Iterator[CellLimit]:
        """An interval without any value for each column that is not named."""
        if value is None:
            return
        varied = {row.column(name, self)[0] for name in value}
        for j, column in enumerate(row.schema.columns):
            if j not in varied:
                clause = Clause(f"not varied: {column.name}", self.name, (column.name,))
                yield CellLimit(clause, j, np.inf, -np.inf)

    def entries(self, value: tuple[Hashable, ...] | None) -> Iterable[tuple[Columns, Any]]:
        """All of them at once."""
        return [] if value is None else [(value, None)]

    def phrase(self, columns: Columns, entry: Any, words: Wording) -> str:
        """Which."""
        return tr("Only {names} may change", names=words.names(columns))

    def clause_text(self, clause: Clause, words: Wording) -> str:
        """That the column is none of them."""
        return tr("{name} is not among what may change", name=words.name(clause.columns[0]))

    def without(self, value: tuple[Hashable, ...] | None, clause: Clause) -> tuple[Hashable, ...] | None:
        """These columns, and those that the clause kept from changing."""
        return None if value is None else (*value, *clause.columns)

    def to_json(self, value: tuple[Hashable, ...] | None) -> Any:
        """A list."""
        return None if value is None else [tagged(name) for name in value]
