"""`allow_missing`: whether a present value may become missing; it may not by default."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from countarfactuals.language import tr

from ..kind import CellLimit, Columns, ConstraintKind, Row, Wording
from ..option import Option


class AllowMissing(ConstraintKind[bool]):
    """True or False."""

    name, label = "allow_missing", "missing"
    default = False
    option = Option(
        "--allow-missing",
        lambda is_set, _: is_set,
        {"action": "store_true", "help": "a known cell may become missing"},
    )

    def check(self, value: Any) -> bool:
        """True or False."""
        if not isinstance(value, bool | np.bool_):
            raise self.refused("{parameter} must be True or False, got {got!r}.", got=value)
        return bool(value)

    def parts(self, value: bool, row: Row) -> Iterator[CellLimit]:
        """A limit for each present cell that every present value obeys."""
        if not value:
            columns = row.schema.columns
            for j in np.flatnonzero(~np.isnan(row.x)).tolist():
                yield self._stays_present(columns[j].name, j)

    @lru_cache(maxsize=10_000, typed=True)  # noqa: B019  (there is one kind; the same parts serve every row)
    def _stays_present(self, name: Hashable, j: int) -> CellLimit:
        return CellLimit(self.clause((name,), False), j)

    def entries(self, value: bool) -> Iterable[tuple[Columns, bool]]:
        """Only that they may."""
        return [((), True)] if value else []

    def phrase(self, columns: Columns, entry: bool, words: Wording) -> str:
        """Whether values may become missing."""
        if entry:
            return tr("Values may become missing")
        return tr("{name} does not become missing", name=words.name(columns[0]))
