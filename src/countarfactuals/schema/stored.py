"""What is read from files of a schema: descriptions of columns, and rows in their codes, checked once.

1. A column has a name, levels that are plain and differ, numbers that are finite and ascending, and a step above 0.
2. Rows have one number per column: a level's code, or a finite number. NaN is a gap.

A fault is a ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .column import MOST_DECIMALS, Column

_CLOCKS = ("", "day", "second")
_LARGEST = 1e300  # of a number in a description
_BACKENDS = ("pandas", "polars", "pyarrow", "numpy")


def check_columns(columns: Sequence[Column], backend: str) -> None:
    """Refuse columns that no data has."""
    if not columns or backend not in _BACKENDS:
        raise ValueError("its schema has no columns, or an unknown kind of frame")
    if len({column.name for column in columns}) < len(columns):
        raise ValueError("two of its columns have one name")
    for column in columns:
        if not (_has_names(column) and (_has_numbers(column) if column.is_number else _has_levels(column))):
            raise ValueError(f"what it says of column {column.name!r} can not be")


def check_rows(columns: Sequence[Column], rows: np.ndarray) -> np.ndarray:
    """The rows, if they can be some of these columns."""
    if rows.dtype != np.float64 or rows.ndim != 2 or rows.shape[1] != len(columns) or np.isinf(rows).any():
        raise ValueError("its rows do not fit its columns")
    for j, column in enumerate(columns):
        if not column.is_number:
            column.check_codes(rows[:, j])
    return np.ascontiguousarray(rows)


def _has_names(column: Column) -> bool:
    names = column.name if isinstance(column.name, tuple) else (column.name,)
    labels = (*column.level_labels, *(() if column.label is None else (column.label,)))
    return (
        all(isinstance(name, str | int | float) for name in names)
        and all(isinstance(label, str) for label in labels)
        and len(column.level_labels) in (0, column.n_levels)
        and (column.dtype is None or isinstance(column.dtype.name, str))
    )


def _has_levels(column: Column) -> bool:
    return (
        column.n_levels > 0
        and all(isinstance(level, str | int | float) for level in column.levels)
        and len(set(column.levels)) == column.n_levels
        and all(type(code) is int and 0 <= code < column.n_levels for code in column.unused)
        and column.decimals is None
        and not (column.values or column.atoms or column.grid or column.clock)
    )


def _has_numbers(column: Column) -> bool:
    step, origin = column.grid or (1.0, 0.0)
    return (
        not column.levels
        and column.clock in _CLOCKS
        and (column.decimals is None or (type(column.decimals) is int and 0 <= column.decimals <= MOST_DECIMALS))
        and 1 / _LARGEST < step < _LARGEST
        and abs(origin) < _LARGEST
        and _ascend(column.values)
        and _ascend(column.atoms)
        and column.low <= column.high
        and -math.inf <= column.low < math.inf
        and -math.inf < column.high <= math.inf
    )


def _ascend(numbers: Sequence[float]) -> bool:
    return all(type(number) in (int, float) and abs(number) < _LARGEST for number in numbers) and all(
        one < next_one for one, next_one in pairwise(numbers)
    )
