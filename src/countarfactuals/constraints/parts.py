"""Single constraints in matrix codes: each has a name for people and tells which rows of a pool violate it.

1. A cell is changed if it differs from x's; missing equals missing.
2. `CellLimit` (fixed, range, allowed, direction, missing) judges changed cells only, so x's own value may lie outside
   and stay. A changed cell must hold what the limit names: a missing one does so only where `missing_ok` is set.
3. The others judge whole rows. What a missing cell hides is no violation: a comparison with it holds, and of
   `exactly_one` columns it may be the one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.exceptions import ConstraintError
from countarfactuals.schema import Schema

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows to judge beside the row `x` that they come from."""

    x: np.ndarray
    rows: np.ndarray

    @cached_property
    def changed(self) -> np.ndarray:
        """Which cells differ from x's, shape (n, p)."""
        changed = self.rows != self.x
        missing = np.isnan(self.x)
        if missing.any():
            changed[:, missing] = ~np.isnan(self.rows[:, missing])
        return changed


@dataclass(frozen=True, eq=False)
class CellLimit:
    """What a changed cell of one column may be.

    Parameters
    ----------
    low, high : ends of the interval, included; of numbers and of level codes.
    levels : by level, whether it may be; None for every level in the interval.
    missing_ok : whether it may be missing.
    """

    name: str
    column: int
    low: float = -np.inf
    high: float = np.inf
    levels: np.ndarray | None = None
    missing_ok: bool = False

    @property
    def only_forbids_missing(self) -> bool:
        """Whether every present value is allowed."""
        return self.levels is None and self.low == -np.inf and self.high == np.inf and not self.missing_ok

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
        return inside | missing if self.missing_ok else inside

    def violated(self, pool: Pool) -> np.ndarray:
        """Which rows violate it."""
        return pool.changed[:, self.column] & ~self.contains(pool.rows[:, self.column])


@dataclass(frozen=True, eq=False)
class MaxChanged:
    """At most so many cells change."""

    name: str
    most: int

    def violated(self, pool: Pool) -> np.ndarray:
        """Which rows violate it."""
        return np.count_nonzero(pool.changed, axis=1) > self.most


@dataclass(frozen=True, eq=False)
class Group:
    """All of the columns change, or none."""

    name: str
    columns: np.ndarray

    def violated(self, pool: Pool) -> np.ndarray:
        """Which rows violate it."""
        changed = np.count_nonzero(pool.changed[:, self.columns], axis=1)
        return (changed > 0) & (changed < len(self.columns))


@dataclass(frozen=True, eq=False)
class ExactlyOne:
    """One of the columns is 1, the others are 0; `zero` and `one` are the codes of 0 and 1 by column (NaN if none)."""

    name: str
    columns: np.ndarray
    zero: np.ndarray
    one: np.ndarray

    def violated(self, pool: Pool) -> np.ndarray:
        """Which rows violate it."""
        cells = pool.rows[:, self.columns]
        is_one, missing = cells == self.one, np.isnan(cells)
        ones = np.count_nonzero(is_one, axis=1)
        other = ~(is_one | missing | (cells == self.zero)).all(axis=1)
        return other | (ones > 1) | ((ones == 0) & ~missing.any(axis=1))

    def needs_two_changes(self, x: np.ndarray) -> bool:
        """Whether x obeys it with every cell known, so that from there the 1 can only move."""
        cells = x[self.columns]
        return not np.isnan(cells).any() and not self.violated(Pool(x, x[None]))[0]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two cells of a row compared; `recode` takes codes of the right column to those of the left, if they differ."""

    name: str
    left: int
    sign: str
    right: int
    recode: np.ndarray | None = None

    def violated(self, pool: Pool) -> np.ndarray:
        """Which rows violate it."""
        left, right = pool.rows[:, self.left], pool.rows[:, self.right]
        known = ~(np.isnan(left) | np.isnan(right))
        if self.recode is not None:
            right = self.recode[np.where(known, right, 0).astype(np.intp)]
        return known & ~COMPARISONS[self.sign](left, right)


@dataclass(frozen=True, eq=False)
class Rule:
    """A user's function of a frame that returns one bool per row; a missing answer is no violation."""

    name: str
    function: Callable[[Any], Any]
    schema: Schema

    def violated(self, pool: Pool) -> np.ndarray:
        """Which rows violate it; one call for all of them."""
        n = len(pool.rows)
        if n == 0:
            return np.zeros(0, np.bool_)
        frame = self.schema.decode(pool.rows)  # a frame for each rule, as its function may write to it
        try:
            answer = np.asarray(in_order_of(frame, self.function(frame)))
        except Exception as error:
            raise ConstraintError(
                f"The constraint {self.name!r} failed on a frame of {n} row(s) with {type(error).__name__}: {error}. "
                "It gets all rows at once, missing cells included, and returns one bool for each."
            ) from error
        return ~self._bools(answer, n)

    def _bools(self, answer: np.ndarray, n: int) -> np.ndarray:
        if answer.shape == (n,):
            if answer.dtype == np.bool_:
                return answer
            missing = pd.isna(answer)  # nullable types come as objects
            if answer.dtype == object and pd.api.types.infer_dtype(answer[~missing]) in ("boolean", "empty"):
                return np.where(missing, True, answer).astype(np.bool_)
        raise ConstraintError(
            f"The constraint {self.name!r} must return one bool per row, shape ({n},), got shape {answer.shape} of "
            f'type {answer.dtype}. Return a comparison of columns, such as frame["a"] > 0.'
        )


def in_order_of(frame: Any, answer: Any) -> Any:
    """What a user's function returned for the rows of a pandas frame, in their order if it has their labels.

    A function may sort, group or merge: its answer belongs to the rows by their labels, not by position.
    """
    if isinstance(answer, pd.Series) and isinstance(frame, pd.DataFrame) and not answer.index.equals(frame.index):
        if not answer.index.is_unique or not answer.index.isin(frame.index).all() or len(answer) != len(frame):
            raise ValueError(
                f"it returned a Series whose {len(answer)} labels are not those of the {len(frame)} rows; return one "
                "value per row, in the order of the frame or with its index"
            )
        return answer.reindex(frame.index)
    return answer


Part = CellLimit | MaxChanged | Group | ExactlyOne | Comparison | Rule
