"""Cells that a matrix can not give back as they came: zeros with a sign, and what columns of objects may hold.

A matrix has one zero to users and one marker for missing cells, and levels and numbers are plain Python values. So −0.0
would come back as 0.0, `np.str_` as `str`, and of 1, 1.0 and `True` in one column the first that was seen. These cells
are kept beside the matrix, by the position of their column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .column import Column, Kind

OBJECT = np.dtype(object)


def holds_objects(column: Column) -> bool:
    """Whether the column of a frame may hold any object."""
    return column.dtype is not None and column.dtype.name == "object"


def odd_cells(columns: Sequence[Column], matrix: np.ndarray, came: Mapping[int, Sequence[Any]]) -> list[dict[int, Any]]:
    """By row, the cells that would come back as others.

    Parameters
    ----------
    columns, matrix : of the rows, with the signs of their zeros.
    came : the cells of columns of objects, as they came; none of a column that can hold none.
    """
    odd: list[dict[int, Any]] = [{} for _ in matrix]
    for j, column in enumerate(columns):
        codes = matrix[:, j]
        if column.kind is Kind.REAL and not column.clock:
            for i in np.flatnonzero((codes == 0.0) & np.signbit(codes)).tolist():
                odd[i][j] = -0.0
    for j, cells in ((j, cells) for j, cells in came.items() if len(cells)):
        written = map(columns[j].decode, matrix[:, j].tolist())
        for i, (cell, own) in enumerate(zip(cells, written, strict=True)):
            if _is_other(cell, own):
                odd[i][j] = cell
    return odd


def _is_other(cell: Any, written: Any) -> bool:
    # by their texts, which tell -0.0 from 0.0, and find NaN equal to NaN
    return type(cell) is not type(written) or repr(cell) != repr(written)


def with_signs(columns: Sequence[Column], matrix: np.ndarray, cells: Mapping[int, Mapping[int, Any]]) -> np.ndarray:
    """The matrix with the signs of the zeros in `cells`, by column and row."""
    signed = matrix.copy()
    for j, of_column in cells.items():
        if columns[j].kind is Kind.REAL and not columns[j].clock:
            signed[list(of_column), j] = [columns[j].encode(cell) for cell in of_column.values()]
    return signed


def put_objects(backend: str, columns: Sequence[Column], frame: Any, cells: Mapping[int, Mapping[int, Any]]) -> Any:
    """The frame with the cells, by column and row, in its columns of objects."""
    for j, of_column in cells.items():
        if backend == "numpy" and frame.dtype == OBJECT:
            _put(frame[:, j], of_column)
        elif backend == "pandas" and holds_objects(columns[j]):
            values = frame.iloc[:, j].to_numpy(OBJECT, copy=True)
            _put(values, of_column)
            frame.isetitem(j, pd.Series(values, index=frame.index, dtype=OBJECT))
    return frame


def _put(values: np.ndarray, cells: Mapping[int, Any]) -> None:
    for i, cell in cells.items():
        values[i] = cell
