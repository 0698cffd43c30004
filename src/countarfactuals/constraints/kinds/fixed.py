"""`fixed`: columns that do not change."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.exceptions import ConstraintError
from countarfactuals.language import tr

from ..kind import CellLimit, Clause, Columns, ConstraintKind, Row, Wording, tagged
from ..option import REPEATED, Option, columns_named, names

if TYPE_CHECKING:
    from countarfactuals.schema import Schema

_FLAG = "--fix"


def _read(texts: Sequence[tuple[str, ...]], schema: Schema) -> list[Hashable]:
    fixed = columns_named(texts, schema, _FLAG)
    if len(set(fixed)) == len(schema.columns):
        sentence = "{option} names every column, so that nothing may change. Leave at least one out."
        raise ConstraintError(sentence, option=_FLAG)
    return fixed


class Fixed(ConstraintKind[tuple[Hashable, ...]]):
    """A list of columns."""

    name = label = "fixed"
    option = Option(
        _FLAG, _read, {"type": names, "metavar": "COLUMN,…", "help": "columns that do not change", **REPEATED}
    )

    def check(self, value: Any) -> tuple[Hashable, ...]:
        """A tuple of names."""
        return self.items(value, "a list of columns", 'fixed=["age"]')

    def parts(self, value: tuple[Hashable, ...], row: Row) -> Iterator[CellLimit]:
        """An interval without any value for each column; one that is named twice counts once."""
        for j in dict.fromkeys(row.column(name, self)[0] for name in value):
            yield CellLimit(self.clause((row.schema.columns[j].name,)), j, np.inf, -np.inf)

    def entries(self, value: tuple[Hashable, ...]) -> Iterable[tuple[Columns, Any]]:
        """By column."""
        return (((name,), None) for name in value)

    def phrase(self, columns: Columns, entry: Any, words: Wording) -> str:
        """That it does not change."""
        return tr("{name} does not change", name=words.name(columns[0]))

    def without(self, value: tuple[Hashable, ...], clause: Clause) -> tuple[Hashable, ...]:
        """The other columns."""
        return tuple(name for name in value if name not in clause.columns)

    def to_json(self, value: tuple[Hashable, ...]) -> Any:
        """A list."""
        return [tagged(name) for name in value]
