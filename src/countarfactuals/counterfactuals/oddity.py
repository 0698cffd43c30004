"""A cell that is unusual given the rest of its row, as data."""

from __future__ import annotations

from typing import Any, NamedTuple


class Oddity(NamedTuple):
    """One changed cell that hardly any real row has beside such others.

    Parameters
    ----------
    column : position of the cell's feature.
    beside : position of the feature that makes it unusual, None where no single one does.
    share : of the real cells of this feature that are more surprising given the rest of their rows.
    """

    column: int
    beside: int | None
    share: float

    @classmethod
    def from_list(cls, stored: Any) -> Oddity:
        """From JSON types; ValueError or TypeError for what is none."""
        column, beside, share = stored
        return cls(int(column), None if beside is None else int(beside), float(share))
