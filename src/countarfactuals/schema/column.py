"""One column: its name, kind, levels and precision, and the coding of its single cells.

Coding of a cell in the float matrix:

1. numbers are themselves,
2. dates and times are the days or seconds since 1970 (`clock`),
3. levels of booleans and categories are their position 0 … K-1 in `levels`,
4. missing is NaN.

Precision of a real column is the smallest d for which every observed value x obeys

    x = rint(x 10^d) / 10^d,

judged in the width in which the column is stored (0.1 as float32 has one decimal). It counts only while the
float type tells ten numbers apart within one step 10^-d, also at the largest |x|: past that point numbers of
full precision pass by chance.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from ..exceptions import DataError, DataTypeError, did_you_mean, listed
from .clock import decode_time, encode_time
from .dtypes import Dtype, integer_limits
from .permitted import Permitted

MOST_DECIMALS = 12
LARGEST_INTEGER = 2**53  # the last one up to which float64 holds every integer
_HEAD = 1_000
_LARGEST_FLOAT = float(np.finfo(np.float64).max)


class Kind(StrEnum):
    """What a column measures."""

    REAL = "real"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    ORDERED = "ordered"


@dataclass(frozen=True)
class Column:
    """What is known of one column.

    Parameters
    ----------
    name : as the user names it.
    kind : what it measures.
    levels : values of a boolean or category by code; empty for numbers.
    decimals : of a real column, None at full precision; 0 for integers.
    dtype : the native type; None leaves the choice to the library that builds the frame.
    grid : step and origin of a number that lives on a coarser grid than its decimals tell, such as multiples of 25.
    values : of a number whose values nearly all repeat, those that occur, ascending.
    atoms : values of a number that have a probability of their own, ascending; all of `values` where these are few.
    low, high : hard edges of a number, which no value lies beyond.
    clock : "day" or "second" for dates and times, which are numbers of these since 1970.
    unused : codes of levels that the type declares and no row has.
    label, level_labels : what readers call the column and its levels by code, where that is another name.

    >>> sex = Column("sex", Kind.CATEGORY, ("female", "male"))
    >>> sex.encode("male"), sex.decode(1.0), sex.n_levels
    (1.0, 'male', 2)
    >>> Column("price", Kind.REAL, decimals=2).step
    0.01
    >>> Column("amount", Kind.INTEGER, decimals=0, grid=(25.0, 0.0)).step
    25.0
    """

    name: Hashable
    kind: Kind
    levels: tuple[Any, ...] = ()
    decimals: int | None = None
    dtype: Dtype | None = None
    grid: tuple[float, float] | None = None
    values: tuple[float, ...] = ()
    atoms: tuple[float, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    clock: str = ""
    unused: tuple[int, ...] = ()
    label: str | None = field(default=None, compare=False)
    level_labels: tuple[str, ...] = field(default=(), compare=False)

    @property
    def title(self) -> Hashable:
        """What readers call it."""
        return self.name if self.label is None else self.label

    @property
    def is_number(self) -> bool:
        """Whether cells are numbers and not level codes."""
        return self.kind in (Kind.REAL, Kind.INTEGER)

    @property
    def n_levels(self) -> int:
        """Number of levels; 0 for numbers."""
        return len(self.levels)

    @property
    def step(self) -> float:
        """Distance of neighbouring values of a number; 0.0 at full precision and for categories."""
        return self.unit if self.grid is None else self.grid[0]

    @property
    def unit(self) -> float:
        """The step that the decimals tell, whatever grid there is; 0.0 at full precision and for categories."""
        if self.kind is Kind.INTEGER:
            return 1.0
        return 0.0 if self.decimals is None else 1 / 10**self.decimals

    @property
    def integer_limits(self) -> tuple[float, float]:
        """Smallest and largest integer that the column's type holds, and the matrix exactly."""
        low, high = (-math.inf, math.inf) if self.dtype is None else integer_limits(self.dtype.name)
        return max(low, -float(LARGEST_INTEGER)), min(high, float(LARGEST_INTEGER))

    @property
    def stored_as(self) -> type[np.floating]:
        """The float type that holds the column's numbers in a frame (pyarrow calls the single one `float`)."""
        name = "" if self.dtype is None else self.dtype.name.lower().removeprefix("arrow:")
        if self.kind is Kind.REAL and ("16" in name or "half" in name):
            return np.float16
        return np.float32 if self.kind is Kind.REAL and (name == "float" or "32" in name) else np.float64

    @property
    def is_restricted(self) -> bool:
        """Whether not every number with the column's decimals occurs, or some have a probability of their own."""
        return self.grid is not None or bool(self.values) or bool(self.atoms)

    @cached_property
    def permitted(self) -> Permitted:
        """The values that cells of a number may be given."""
        step, origin = (self.unit, 0.0) if self.grid is None else self.grid
        # whole numbers of the last decimal's unit, which are exact where the step itself is not
        scale = 1.0 if self.decimals is None else 10.0**self.decimals
        if self.decimals is not None:
            step, origin = np.rint(step * scale), np.rint(origin * scale)
        return Permitted(
            values=np.array(self.values),
            atoms=np.array(self.atoms),
            low=self.low,
            high=self.high,
            step=float(step),
            origin=float(origin),
            scale=scale,
            width=self.stored_as,
        )

    def permits(self, cells: np.ndarray) -> np.ndarray:
        """Which cells of a number are permitted values, or missing; compared with the digits that its type holds."""
        return self.permitted.holds(cells)

    @cached_property
    def is_used(self) -> np.ndarray:
        """By level, whether a row of the data has it."""
        return ~np.isin(np.arange(self.n_levels), self.unused)

    @cached_property
    def codes(self) -> dict[Any, int]:
        """Code of each level."""
        return {level: code for code, level in enumerate(self.levels)}

    def encode(self, value: Any) -> float:
        """One cell as a float; missing (None, NaN, `pd.NA`, `pd.NaT`) as NaN."""
        if pd.api.types.is_scalar(value) and pd.isna(value):
            return math.nan
        if self.clock:
            return encode_time(value, self.clock, self.name)
        return self._encode_number(value) if self.is_number else self._encode_level(value)

    def _encode_number(self, value: Any) -> float:
        if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
            raise DataTypeError(
                f"Column {self.name!r} holds numbers ({self.kind}), got {value!r} of type {type(value).__name__}. "
                "Pass an int or a float."
            )
        if isinstance(value, Integral) and abs(int(value)) > LARGEST_INTEGER:
            raise integer_too_large(self.name, value)
        if not is_finite(value):
            raise DataError(f"Column {self.name!r} needs a finite number, got {value!r}. Pass a finite one.")
        return float(value)

    def _encode_level(self, value: Any) -> float:
        if not isinstance(value, str | Real | np.bool_):
            raise DataTypeError(
                f"Column {self.name!r} holds levels ({self.kind}), got {value!r} of type {type(value).__name__}. "
                f"Pass one of {listed(self.levels)}."
            )
        if value not in self.codes:
            raise DataError(f"Column {self.name!r} has no level {value!r}. {self.known_levels(value)}")
        return float(self.codes[value])

    def known_levels(self, value: Any) -> str:
        """The end of the message about an unknown level: what is known, what may have been meant."""
        return f"Known levels: {listed(self.levels)}.{did_you_mean(value, self.levels)}"

    def decode(self, code: float) -> Any:
        """One cell of the matrix as a Python scalar; NaN as None."""
        if math.isnan(code):
            return None
        if self.clock:
            return decode_time(code, self.clock, "" if self.dtype is None else self.dtype.name)
        if self.kind is Kind.REAL:
            return float(code)
        if self.kind is Kind.INTEGER:
            return round(float(code))
        if not (0 <= code < self.n_levels and code == int(code)):
            self.check_codes(np.array([code]))
        return self.levels[int(code)]

    def title_of(self, code: float) -> Any:
        """What readers call one cell of the matrix: as `decode`, with levels by their labels."""
        level = self.decode(code)
        return self.level_labels[int(code)] if self.level_labels and level is not None else level

    def check_codes(self, codes: np.ndarray) -> None:
        """Refuse values that are no level's code (NaN passes)."""
        wrong = (codes < 0) | (codes >= self.n_levels) | ((codes != np.rint(codes)) & ~np.isnan(codes))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"Column {self.name!r} has level codes 0 to {self.n_levels - 1}, got {codes[row]} in row {row}. "
                "Pass a matrix from `encode`, or with whole codes in that range."
            )

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types; a tuple as name (pandas' nested columns) becomes a list."""
        return {
            "name": list(self.name) if isinstance(self.name, tuple) else self.name,
            "kind": str(self.kind),
            "levels": list(self.levels),
            "decimals": self.decimals,
            "dtype": None if self.dtype is None else self.dtype.to_dict(),
            "grid": None if self.grid is None else list(self.grid),
            "values": list(self.values),
            "atoms": list(self.atoms),
            "low": None if self.low == -math.inf else self.low,
            "high": None if self.high == math.inf else self.high,
            **({"clock": self.clock} if self.clock else {}),
            **({"unused": list(self.unused)} if self.unused else {}),
            **({} if self.label is None else {"label": self.label}),
            **({"level_labels": list(self.level_labels)} if self.level_labels else {}),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Column:
        """The inverse of `to_dict`; files of version 0.1 say nothing of values."""
        name, dtype = stored["name"], stored["dtype"]
        grid, low, high = stored.get("grid"), stored.get("low"), stored.get("high")
        return cls(
            name=tuple(name) if isinstance(name, list) else name,
            kind=Kind(stored["kind"]),
            levels=tuple(stored["levels"]),
            decimals=stored["decimals"],
            dtype=None if dtype is None else Dtype.from_dict(dtype),
            grid=None if grid is None else (float(grid[0]), float(grid[1])),
            values=tuple(stored.get("values", ())),
            atoms=tuple(stored.get("atoms", ())),
            low=-math.inf if low is None else float(low),
            high=math.inf if high is None else float(high),
            clock=stored.get("clock", ""),
            unused=tuple(stored.get("unused", ())),
            label=stored.get("label"),
            level_labels=tuple(stored.get("level_labels", ())),
        )


def is_finite(value: Any) -> bool:
    """Whether a value is a number that float64 can hold; fractions may be beyond all floats.

    >>> is_finite(1.5), is_finite(math.nan), is_finite(10**400), is_finite("1")
    (True, False, False, False)
    """
    return isinstance(value, Real) and bool(abs(value) <= _LARGEST_FLOAT)  # type: ignore[operator]


def integer_too_large(name: Hashable, value: Any) -> DataError:
    """The error for an integer that float64 would round."""
    return DataError(
        f"Column {name!r} holds the integer {value}, beyond ±2**53 = {LARGEST_INTEGER}, where float64 loses digits. "
        "Drop the column if it is an identifier, or rescale it."
    )


def decimals_of(values: np.ndarray, stored_as: type[np.floating] = np.float64) -> int | None:
    """Decimals of the finite numbers `values`, None at full precision.

    >>> decimals_of(np.array([0.25, -3.0])), decimals_of(np.array([1e-05])), decimals_of(np.array([np.pi]))
    (2, 5, None)
    >>> decimals_of(np.float64([np.float32(0.1)])), decimals_of(np.float64([np.float32(0.1)]), np.float32)
    (None, 1)
    """
    largest = float(np.abs(values).max(initial=0.0))
    most_steps = 2.0 ** (np.finfo(stored_as).nmant + 1) / 10
    head = values[:_HEAD]  # most columns of full precision are found out here
    for decimals in range(MOST_DECIMALS + 1):
        if decimals and largest * 10.0**decimals > most_steps:
            return None
        if _has_decimals(head, decimals, stored_as) and _has_decimals(values, decimals, stored_as):
            return decimals
    return None


def _has_decimals(values: np.ndarray, decimals: int, stored_as: type[np.floating]) -> bool:
    # rint(x 10^d) / 10^d is the float nearest to the decimal number: both operands of the division are exact
    if decimals == 0:
        return bool((np.rint(values) == values).all())
    scale = 10.0**decimals
    return bool(((np.rint(values * scale) / scale).astype(stored_as) == values).all())


def plain_scalar(value: Any) -> Any:
    """A level as plain str, int, float or bool; anything else raises TypeError.

    >>> plain_scalar(np.int64(3)), plain_scalar(np.str_("a"))
    (3, 'a')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return value
    for plain in (str, int, float):
        if isinstance(value, plain):
            # through the base class: a StrEnum or IntEnum member becomes its value
            return str.__str__(value) if plain is str else plain(value)
    raise TypeError(type(value).__name__)


def sorted_levels(values: Iterable[Any]) -> tuple[Any, ...]:
    """Levels by type, then value, so that mixed ones have an order too.

    >>> sorted_levels(["b", 2, "a", 10])
    (2, 10, 'a', 'b')
    """
    return tuple(sorted(values, key=lambda value: (type(value).__name__, value)))
