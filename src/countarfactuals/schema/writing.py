"""Writing a frame: matrix to native columns, in the types they came in.

Three things can not come back as they were:

- *Missing values in a type without a marker for them.* A pandas `int64` becomes the nullable `Int64` and `bool`
  becomes `boolean` (a float would lose the kind, an object column the speed); a numpy array has one type for all
  columns and becomes float64 for integers, object with None for booleans and strings.
- *An integer outside the range of its type* widens the column to 64 bits.
- *The marker itself*: pandas object columns get None, polars and pyarrow null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..exceptions import DataError
from .as_came import OBJECT
from .clock import in_zone, times
from .column import LARGEST_INTEGER, Column, Kind
from .dtypes import ARROW, Dtype, arrow_type, integer_name_for, pandas_category, pandas_type, polars_type


def write(backend: str, columns: Sequence[Column], matrix: np.ndarray) -> Any:
    """The native frame of `matrix`, whose columns are described by `columns`."""
    for column, values in zip(columns, matrix.T, strict=True):
        _check(column, values)
    return _WRITERS[backend](columns, matrix)


def _check(column: Column, values: np.ndarray) -> None:
    if column.levels:
        column.check_codes(values)
    elif column.kind is Kind.INTEGER and (np.abs(values) > LARGEST_INTEGER).any():
        raise DataError(
            f"Column {column.name!r} holds integers, got {values[np.nanargmax(np.abs(values))]}, beyond ±2**53. "
            "Bound the values before they are decoded."
        )


def _numbers(column: Column, values: np.ndarray) -> np.ndarray:
    return np.rint(values) if column.kind is Kind.INTEGER else values


def _codes(values: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), -1, values).astype(np.int64)


def _cells(column: Column, values: np.ndarray) -> np.ndarray:
    """Python scalars in an object array, None for missing."""
    if column.levels:
        levels = np.empty(column.n_levels + 1, dtype=object)
        levels[:-1] = column.levels
        return levels[_codes(values)]  # code -1, missing, picks the None at the end
    if column.clock:
        cells = np.empty(len(values), dtype=object)
        cells[:] = [column.decode(value) for value in values.tolist()]
        return cells
    missing = np.isnan(values)
    numbers = np.where(missing, 0.0, _numbers(column, values))
    cells = (numbers.astype(np.int64) if column.kind is Kind.INTEGER else numbers).astype(object)
    cells[missing] = None
    return cells


def _fitting_dtype(column: Column, values: np.ndarray) -> Dtype:
    """The column's type, widened if it is an integer type too narrow for the values."""
    dtype = column.dtype or Dtype("int64" if column.kind is Kind.INTEGER else "float64")
    if column.kind is not Kind.INTEGER:
        return dtype
    known = values[~np.isnan(values)]
    if not known.size:
        return dtype
    return replace(dtype, name=integer_name_for(dtype.name, np.rint(known.min()), np.rint(known.max())))


def _write_pandas(columns: Sequence[Column], matrix: np.ndarray) -> Any:
    frame = pd.DataFrame({j: _pandas_column(column, matrix[:, j]) for j, column in enumerate(columns)})
    frame.columns = pd.Index([column.name for column in columns])
    return frame


def _pandas_column(column: Column, values: np.ndarray) -> Any:
    """What `pd.DataFrame` takes to the column: an array where that will do, as a series costs more than its cells."""
    if column.dtype is None and column.levels:
        return pd.Series(_cells(column, values)).infer_objects()
    dtype = _fitting_dtype(column, values)
    if column.clock and not dtype.name.startswith(ARROW) and dtype.name != "object":
        return in_zone(times(values, column.clock), dtype.name).astype(pandas_type(dtype.name))
    if dtype.name == "category":
        return pd.Categorical.from_codes(_recoded(column, values), dtype=pandas_category(dtype), validate=False)
    if dtype.name.startswith(ARROW):
        array = _arrow_array(replace(column, dtype=replace(dtype, name=dtype.name.removeprefix(ARROW))), values)
        return pd.Series(pd.arrays.ArrowExtensionArray(array))
    native = _with_missing(pandas_type(dtype.name), values)
    if column.levels or native == OBJECT:
        return pd.Series(_cells(column, values), dtype=native)
    if isinstance(native, np.dtype):
        return _numbers(column, values).astype(native)
    return pd.Series(_numbers(column, values)).astype(native)


def _with_missing(native: Any, values: np.ndarray) -> Any:
    if not isinstance(native, np.dtype) or native.kind not in "iub" or not np.isnan(values).any():
        return native
    return pandas_type("boolean" if native.kind == "b" else native.name.replace("u", "U").replace("i", "I"))


def _recoded(column: Column, values: np.ndarray) -> np.ndarray:
    """Codes in the categories of the native type, whose order may differ from that of the levels."""
    assert column.dtype is not None
    position = {category: code for code, category in enumerate(column.dtype.categories)}
    return np.array([*(position[level] for level in column.levels), -1])[_codes(values)]


def _write_polars(columns: Sequence[Column], matrix: np.ndarray) -> Any:
    import polars as pl

    return pl.DataFrame([_polars_series(column, matrix[:, j]) for j, column in enumerate(columns)])


def _polars_series(column: Column, values: np.ndarray) -> Any:
    import polars as pl

    if column.levels:
        native = None if column.dtype is None else polars_type(column.dtype)
        codes = pl.Series(np.ascontiguousarray(values)).fill_nan(None).cast(pl.UInt32)
        return pl.Series(column.name, column.levels, dtype=native).gather(codes)
    if column.clock:
        return _polars_times(column, values)
    default = Dtype("Int64" if column.kind is Kind.INTEGER else "Float64")
    dtype = _fitting_dtype(replace(column, dtype=column.dtype or default), values)
    numbers = np.ascontiguousarray(_numbers(column, values))
    return pl.Series(column.name, numbers).fill_nan(None).cast(polars_type(dtype))


def _polars_times(column: Column, values: np.ndarray) -> Any:
    import polars as pl

    moments = pl.Series(column.name, times(values, column.clock).to_numpy())
    native = pl.Datetime("us") if column.dtype is None else polars_type(column.dtype)
    if (zone := getattr(native, "time_zone", None)) is not None:
        moments = moments.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    return moments.cast(native)


def _write_pyarrow(columns: Sequence[Column], matrix: np.ndarray) -> Any:
    import pyarrow as pa

    arrays = [_arrow_array(column, matrix[:, j]) for j, column in enumerate(columns)]
    return pa.table(arrays, names=[column.name for column in columns])


def _arrow_array(column: Column, values: np.ndarray) -> Any:
    import pyarrow as pa

    missing = np.isnan(values)
    if column.clock:
        native = pa.timestamp("us") if column.dtype is None else arrow_type(column.dtype.name)
        moments = times(values, column.clock).to_numpy().astype(np.int64)
        through = pa.timestamp("us", tz=getattr(native, "tz", None))  # of which numbers are in universal time
        return pa.array(moments, type=through, mask=missing).cast(native)
    if not column.levels:
        native = arrow_type(_fitting_dtype(column, values).name)
        filled = np.where(missing, 0.0, _numbers(column, values)).astype(native.to_pandas_dtype())
        return pa.array(filled, type=native, mask=missing)
    native = None if column.dtype is None else arrow_type(column.dtype.name)
    if native is not None and pa.types.is_dictionary(native):
        assert column.dtype is not None
        codes = pa.array(np.maximum(_recoded(column, values), 0), type=native.index_type, mask=missing)
        categories = pa.array(column.dtype.categories, type=native.value_type)
        return pa.DictionaryArray.from_arrays(codes, categories, ordered=native.ordered)
    return pa.array(column.levels, type=native).take(pa.array(np.maximum(_codes(values), 0), mask=missing))


def _write_numpy(columns: Sequence[Column], matrix: np.ndarray) -> np.ndarray:
    native = _array_type(columns, matrix)
    array = np.empty(matrix.shape, dtype=native)
    for j, column in enumerate(columns):
        as_cells = column.levels or native == OBJECT
        if column.clock and not as_cells:
            array[:, j] = times(matrix[:, j], column.clock).to_numpy()
            continue
        array[:, j] = _cells(column, matrix[:, j]) if as_cells else _numbers(column, matrix[:, j])
    return array


def _array_type(columns: Sequence[Column], matrix: np.ndarray) -> Any:
    """One type for all columns; object where the columns' own do not go together or have no missing value."""
    natives = {np.dtype(_array_column_type(column, matrix[:, j])) for j, column in enumerate(columns)}
    kinds = {"number" if native.kind in "iuf" else native.kind for native in natives}
    if len(kinds) > 1:
        return OBJECT
    native = np.result_type(*natives)
    if native.kind in "fM" or native == OBJECT or not np.isnan(matrix).any():
        return native
    return np.dtype(np.float64) if native.kind in "iu" else OBJECT


def _array_column_type(column: Column, values: np.ndarray) -> Any:
    if column.dtype is None and column.levels:
        return np.array(column.levels).dtype
    return _fitting_dtype(column, values).name


_WRITERS = {"pandas": _write_pandas, "polars": _write_polars, "pyarrow": _write_pyarrow, "numpy": _write_numpy}
