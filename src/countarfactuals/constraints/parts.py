"""Parts: single constraints bound to a row, in matrix codes. Each tells which rows violate it, and steers a search.

1. A cell is changed if it differs from x's; missing equals missing.
2. `CellLimit` judges changed cells only, so x's own value may lie outside and stay. A changed cell must hold what the
   limit names: a missing one does so only where `missing_ok` is set.
3. The parts of other kinds judge whole rows. What a missing cell hides is no violation.
4. A part steers by what it says of changed cells (`cells`), of how many may change (`most_changed`), of columns that
   are freed together (`together`), and by changes that it denies because they need others that are denied (`denied`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .clause import Clause

if TYPE_CHECKING:
    from countarfactuals.schema import Permitted


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows to judge beside the row `x` that they come from.

    `excused` are the cells, (n, p) or by column, whose changes follow from others and do not count; None for none.
    """

    x: np.ndarray
    rows: np.ndarray
    excused: np.ndarray | None = None

    @cached_property
    def changed(self) -> np.ndarray:
        """Which cells differ from x's, shape (n, p)."""
        changed = self.rows != self.x
        missing = np.isnan(self.x)
        if missing.any():
            changed[:, missing] = ~np.isnan(self.rows[:, missing])
        return changed

    @property
    def n_changed(self) -> np.ndarray:
        """How many cells change that do not follow from others, shape (n,)."""
        return np.count_nonzero(self.changed if self.excused is None else self.changed & ~self.excused, axis=1)


class Steering(NamedTuple):
    """What is known of changes so far: by column whether it may change or become missing, and how many may."""

    may_change: np.ndarray
    missing_ok: np.ndarray
    max_changed: int


@dataclass(frozen=True, eq=False)
class Part(ABC):
    """One constraint of one row; `clause` names it."""

    clause: Clause

    is_cellwise = False  # whether `cells` say all of it
    is_all_or_none = False  # whether the columns of `together` all change if one does
    is_costly = False  # whether it is to judge only rows that obey the rest

    @abstractmethod
    def violated(self, pool: Pool) -> np.ndarray:
        """Which rows violate it, shape (n,)."""

    @property
    def is_liftable(self) -> bool:
        """Whether it was asked for, and not only keeps a present cell from becoming missing."""
        return True

    @property
    def cells(self) -> tuple[CellLimit, ...]:
        """What it says of changed cells by themselves."""
        return ()

    @property
    def most_changed(self) -> int | None:
        """How many cells may change."""
        return None

    @property
    def excused(self) -> int | None:
        """The column whose changes follow from others, and so do not count."""
        return None

    @property
    def together(self) -> np.ndarray | None:
        """Columns that a search frees together."""
        return None

    def denied(self, steering: Steering) -> np.ndarray | None:
        """Columns that can not change, as a change would need others that are denied."""
        return None


@dataclass(frozen=True, eq=False)
class CellLimit(Part):
    """What a changed cell of one column may be.

    Parameters
    ----------
    low, high : ends of the interval, included; of numbers and of level codes.
    levels : by level, whether it may be; None for every level in the interval.
    points : of a number, the values that it may have; None for every number in the interval.
    missing_ok : whether it may be missing.
    """

    column: int
    low: float = -np.inf
    high: float = np.inf
    levels: np.ndarray | None = None
    missing_ok: bool = False
    points: Permitted | None = None

    is_cellwise = True

    @property
    def cells(self) -> tuple[CellLimit, ...]:
        """Itself."""
        return (self,)

    @property
    def is_liftable(self) -> bool:
        """Whether some present value is forbidden, or missing allowed."""
        is_limited = self.levels is not None or self.points is not None or self.low > -np.inf or self.high < np.inf
        return is_limited or self.missing_ok

    @property
    def forbids_all(self) -> bool:
        """Whether no value is left, as for a fixed column."""
        return self.low > self.high

    def contains(self, values: np.ndarray) -> np.ndarray:
        """Which values a changed cell may have."""
        missing = np.isnan(values)
        if self.levels is not None:
            inside = self.levels[np.where(missing, 0, values).astype(np.intp)] & ~missing
        elif self.low > -np.inf or self.high < np.inf:
            inside = (values >= self.low) & (values <= self.high)
        else:
            inside = ~missing
        if self.points is not None:
            inside = inside & self.points.holds(values)
        return inside | missing if self.missing_ok else inside

    def violated(self, pool: Pool) -> np.ndarray:
        """Which rows violate it."""
        return pool.changed[:, self.column] & ~self.contains(pool.rows[:, self.column])
