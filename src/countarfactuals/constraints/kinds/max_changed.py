"""`max_changed`: how many columns may change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from countarfactuals.exceptions import ConstraintError
from countarfactuals.language import counted

from ..kind import Columns, ConstraintKind, Part, Pool, Row, Wording
from ..option import Option

_FLAG = "--max-changed"


@dataclass(frozen=True, eq=False)
class FewChanged(Part):
    """At most so many cells change, those that follow from others aside."""

    most: int

    @property
    def most_changed(self) -> int:
        """How many."""
        return self.most

    def violated(self, pool: Pool) -> np.ndarray:
        """Rows with more changes."""
        return pool.n_changed > self.most


def _read(number: int | None, _: Any) -> int | None:
    if number is not None and number < 1:
        raise ConstraintError(
            "{option} must be at least 1, got {got}: without any change there is no counterfactual. Leave it out for "
            "no bound.",
            option=_FLAG,
            got=number,
        )
    return number


class MaxChanged(ConstraintKind[int | None]):
    """A number, or None for no bound."""

    name = label = "max_changed"
    default = None
    option = Option(_FLAG, _read, {"type": int, "metavar": "N", "help": "how many columns may change"})

    def check(self, value: Any) -> int | None:
        """A whole number of at least 1, or None."""
        if value is None:
            return None
        if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or int(value) < 1:
            raise self.refused(
                "{parameter} must be a whole number of at least 1, or None for no bound; got {got!r}. Without any "
                "change there is no counterfactual.",
                got=value,
            )
        return int(value)

    def parts(self, value: int | None, row: Row) -> Iterator[FewChanged]:
        """One, if there is a bound."""
        for columns, most in self.entries(value):
            yield FewChanged(self.clause(columns, most), min(most, len(row.x)))

    def entries(self, value: int | None) -> Iterable[tuple[Columns, int]]:
        """The bound."""
        return [] if value is None else [((), value)]

    def phrase(self, columns: Columns, entry: int, words: Wording) -> str:
        """The bound."""
        return counted(entry, "At most {n} feature may change", "At most {n} features may change")
