"""Reading a frame: the border at which a user's data is checked, once.

1. `read` takes any supported frame to a `Frame`: backend, names, one narwhals series per column.
2. `kind_of` tells what a series measures, or refuses its type.
3. `numbers` takes a series of numbers to float64, `factorise` any other to codes and values,
   both vectorised; missing markers of all libraries (None, NaN, `pd.NA`, NaT, null) become NaN or -1.
4. `dtype_of` names the native type, for the way back.

Polars' and pyarrow's NaN is read as missing too: a matrix has one marker only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from ..exceptions import DataError, DataTypeError, listed
from .clock import DAY, clock_of, is_time
from .column import LARGEST_INTEGER, Kind, integer_too_large, plain_scalar
from .dtypes import Dtype, numpy_name, pandas_name

_ACCEPTED = "Pass a pandas or polars DataFrame, a pyarrow Table or a 2-D numpy array"
_FLOAT = np.dtype(np.float64)
_OBJECT_KINDS = {
    "integer": Kind.INTEGER,
    "floating": Kind.REAL,
    "mixed-integer-float": Kind.REAL,
    "boolean": Kind.BOOLEAN,
}


@dataclass(frozen=True)
class Frame:
    """A checked frame: at least one row and column, names unique."""

    backend: str
    names: tuple[Hashable, ...]
    n_rows: int
    column: Callable[[int], nw.Series[Any]]  # one at a time, as a numpy array has to copy each
    plain: Callable[[int], np.ndarray | None]  # a column's own array where it holds nothing but floats
    objects: Callable[[int], Sequence[Any]]  # its cells where it may hold any, else none
    array_type: str | None = None  # of numpy arrays, whose columns are read through pandas


def read(X: Any) -> Frame:
    """Check the frame and split it in columns."""
    if isinstance(X, np.ma.MaskedArray):
        raise DataTypeError("Got a masked numpy array, whose mask would be lost. Pass `X.filled(np.nan)`.")
    if isinstance(X, np.ndarray):
        frame = _read_numpy(X)
    elif isinstance(X, pd.DataFrame):
        frame = _read_pandas(X)
    else:
        frame = _read_narwhals(X)
    if not frame.names:
        raise DataError("The data has no columns. Pass a frame with at least one.")
    if not frame.n_rows:
        raise DataError(f"The data has no rows (columns {listed(frame.names)}). Pass a frame with at least one.")
    return frame


def _read_numpy(X: np.ndarray) -> Frame:
    if X.ndim != 2:
        raise DataTypeError(
            f"Got a numpy array with {X.ndim} dimension(s) of shape {X.shape}. {_ACCEPTED}; "
            "`x.reshape(1, -1)` makes one row of a 1-D array, `x.reshape(-1, 1)` one column."
        )
    names = tuple(f"x{j}" for j in range(X.shape[1]))

    def column(j: int) -> nw.Series[Any]:
        return _wrap(pd.Series(np.ascontiguousarray(X[:, j]), copy=False))

    def plain(j: int) -> np.ndarray | None:
        return X[:, j] if X.dtype == np.float64 else None

    def objects(j: int) -> Sequence[Any]:
        return list(X[:, j]) if X.dtype == object else ()  # a series of texts alone would have another type

    return Frame("numpy", names, len(X), column, plain, objects, numpy_name(X.dtype))


def _read_pandas(X: pd.DataFrame) -> Frame:
    names = tuple(_plain_name(name) for name in X.columns)
    _check_text(names)
    _check_unique(names)
    columns = [column for _, column in X.items()]  # far quicker than one at a time by position

    def plain(j: int) -> np.ndarray | None:
        return columns[j].to_numpy() if columns[j].dtype == _FLOAT else None

    def objects(j: int) -> Sequence[Any]:
        return list(columns[j].to_numpy()) if _is_object(columns[j]) else ()

    # column by column, as narwhals knows frames with names that are strings only
    return Frame("pandas", names, len(X), lambda j: _wrap(columns[j]), plain, objects)


def _read_narwhals(X: Any) -> Frame:
    frame = _as_narwhals(X)
    if isinstance(frame, nw.LazyFrame):
        raise DataTypeError(f"Got a lazy frame ({type(X).__name__}). Pass `X.collect()`, the rows are needed.")
    if frame.implementation.is_pandas():
        return _read_pandas(frame.to_native())
    backend = str(frame.implementation).lower().rsplit(".", 1)[-1]
    if backend not in ("polars", "pyarrow"):
        raise DataTypeError(f"Got a {backend} frame. {_ACCEPTED}.")
    names = tuple(frame.columns)
    return Frame(backend, names, len(frame), lambda j: frame.get_column(names[j]), lambda j: None, lambda j: ())


def _as_narwhals(X: Any) -> Any:
    _check_unique(tuple(getattr(X, "column_names", ())))  # pyarrow allows doubles, narwhals does not
    try:
        return nw.from_native(X)
    except TypeError:
        raise DataTypeError(f"Got {type(X).__module__}.{type(X).__qualname__}. {_ACCEPTED}.") from None


def _check_text(names: Iterable[Hashable]) -> None:
    """Refuse names with halves of characters, which no file can hold."""
    for name in names:
        if any(0xD800 <= ord(sign) <= 0xDFFF for sign in str(name)):
            raise DataError(f"The column name {name!r} has half of a character (a lone surrogate). Rename it.")


def _wrap(series: Any) -> nw.Series[Any]:
    return nw.from_native(series, series_only=True)


def _plain_name(name: Hashable) -> Hashable:
    """The name in types that JSON can hold."""
    try:
        return tuple(plain_scalar(part) for part in name) if isinstance(name, tuple) else plain_scalar(name)
    except TypeError:
        raise DataTypeError(
            f"Got the column name {name!r} of type {type(name).__name__}; strings, numbers and tuples of them "
            "are allowed. Rename it, e.g. `X.columns = X.columns.map(str)`."
        ) from None


def _check_unique(names: tuple[Hashable, ...]) -> None:
    double = [name for name, count in Counter(names).items() if count > 1]
    if double:
        raise DataError(f"Column names must be unique, got {listed(double)} more than once. Rename or drop columns.")


def is_missing(series: nw.Series[Any]) -> bool:
    """Whether no cell has a value, whatever the type (polars' `Null` has no other cells)."""
    return bool(series.is_null().all())


def is_pandas_category(series: nw.Series[Any]) -> bool:
    """Whether the cells are codes already, so that nothing needs to be found out about them."""
    return isinstance(_native_type(series.to_native()), pd.CategoricalDtype)


def kind_of(series: nw.Series[Any], name: Hashable) -> Kind:
    """What the series measures."""
    native = series.to_native()
    if is_time(series):
        return Kind.INTEGER if clock_of(series) == DAY else Kind.REAL
    if _is_object(native):
        # missing cells must go first: NaT would hide that all others are integers
        return _OBJECT_KINDS.get(pd.api.types.infer_dtype(native.dropna(), skipna=True), Kind.CATEGORY)
    dtype = series.dtype
    if dtype.is_float() or _is_half(native):
        return Kind.REAL
    if dtype.is_integer():
        return Kind.INTEGER
    if dtype == nw.Boolean:
        return Kind.BOOLEAN
    if dtype in (nw.Categorical, nw.Enum):
        return Kind.ORDERED if _is_ordered(native) else Kind.CATEGORY
    if dtype == nw.String:
        return Kind.CATEGORY
    raise DataTypeError(
        f"Column {name!r} has type {_native_type(native)}, which can not be used; numbers, booleans, strings, "
        "categories, dates and times can. Convert it to one of these, e.g. a duration to its seconds, or drop it."
    )


def _is_object(native: Any) -> bool:
    return isinstance(native, pd.Series) and native.dtype == object


def _is_half(native: Any) -> bool:
    """Whether floats have 16 bits, a type that narwhals 2.0 does not know."""
    return str(_native_type(native)).lower() in ("float16", "halffloat", "halffloat[pyarrow]")


def _is_ordered(native: Any) -> bool:
    """Whether the type itself says so. A polars Enum does not: it is a closed set, listed in any order."""
    dtype = _native_type(native)
    return bool(getattr(getattr(dtype, "pyarrow_dtype", dtype), "ordered", False))


def _native_type(native: Any) -> Any:
    """The native type of a native column."""
    return native.dtype if hasattr(native, "dtype") else native.type


def stored_as(series: nw.Series[Any]) -> type[np.floating]:
    """The float type in which the decimals of a real column are judged."""
    native = series.to_native()
    if _is_half(native):
        return np.float16
    return np.float32 if not _is_object(native) and series.dtype == nw.Float32 else np.float64


def numbers(series: nw.Series[Any], name: Hashable) -> np.ndarray:
    """Numbers or booleans as float64, missing as NaN."""
    native = series.to_native()
    if _is_object(native):
        values = _object_numbers(native, name)
    else:
        _check_integers(series, name)
        values = _as_float64(series)
    return check_finite(values, name)


def check_finite(values: np.ndarray, name: Hashable) -> np.ndarray:
    """The values, none of which may be infinite."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise DataError(
            "Column {column!r} is infinite in row {row} (counted from 0), got {got}. Replace infinite values by finite "
            "ones, or by missing ones.",
            column=name,
            row=row,
            got=values[row],
        )
    return values


def _as_float64(series: nw.Series[Any]) -> np.ndarray:
    native = series.to_native()
    if isinstance(native, pd.Series):  # narwhals gives objects for types over pyarrow in pandas 2.1
        return native.to_numpy(np.float64, na_value=np.nan)
    if _is_half(native):  # pyarrow 15 has no cast for it
        return native.to_numpy().astype(np.float64)
    return series.cast(nw.Float64).to_numpy()


def _check_integers(series: nw.Series[Any], name: Hashable) -> None:
    if str(series.dtype) not in ("Int64", "UInt64", "Int128", "UInt128"):
        return
    for extreme in (series.min(), series.max()):
        if not pd.isna(extreme) and abs(int(extreme)) > LARGEST_INTEGER:
            raise integer_too_large(name, extreme)


def _object_numbers(native: Any, name: Hashable) -> np.ndarray:
    known = native.notna().to_numpy()
    cells = native.to_numpy()[known]
    values = np.full(len(native), np.nan)
    try:
        values[known] = cells.astype(np.float64)
    except OverflowError:
        raise integer_too_large(name, next(cell for cell in cells if _is_beyond_floats(cell))) from None
    for cell in cells[np.abs(values[known]) >= LARGEST_INTEGER]:
        if isinstance(cell, Integral) and abs(int(cell)) > LARGEST_INTEGER:
            raise integer_too_large(name, cell)
    return values


def _is_beyond_floats(cell: Any) -> bool:
    try:
        float(cell)
    except OverflowError:
        return True
    return False


def factorise(series: nw.Series[Any], name: Hashable) -> tuple[np.ndarray, list[Any]]:
    """Codes (-1 for missing) and the values they stand for.

    Types that declare their categories give all of them, in that order; others the values that occur.
    """
    native = series.to_native()
    if not _is_object(native) and (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        codes, values = pd.factorize(numbers(series, name))
        return codes, values.tolist()
    if isinstance(native, pd.Series):
        return _factorise_pandas(native, name)
    return _factorise_arrow(native) if series.implementation.is_pyarrow() else _factorise_polars(native)


def _factorise_pandas(native: Any, name: Hashable) -> tuple[np.ndarray, list[Any]]:
    if isinstance(native.dtype, pd.CategoricalDtype):
        return native.cat.codes.to_numpy(), native.cat.categories.tolist()
    if isinstance(native.dtype, pd.ArrowDtype):
        import pyarrow as pa

        return _factorise_arrow(pa.array(native.array))
    try:
        # an array of objects stays one: older pandas looks for numbers in a series, and fails at huge ones
        codes, values = pd.factorize(native.to_numpy() if native.dtype == object else native)
    except TypeError as error:  # lists, dicts and the like
        raise DataTypeError(
            f"Column {name!r} holds values that can not be levels ({error}). "
            "Convert it to strings or numbers, or drop it."
        ) from None
    return codes, values.tolist()


def _factorise_arrow(native: Any) -> tuple[np.ndarray, list[Any]]:
    import pyarrow as pa

    chunks = native if isinstance(native, pa.ChunkedArray) else pa.chunked_array([native])
    encoded = chunks if pa.types.is_dictionary(chunks.type) else chunks.dictionary_encode()
    parts = encoded.unify_dictionaries().chunks
    if not parts:
        return np.empty(0, dtype=np.int64), []
    codes = np.concatenate([part.indices.cast(pa.int64()).fill_null(-1).to_numpy(False) for part in parts])
    return codes, parts[-1].dictionary.to_pylist()


def _factorise_polars(native: Any) -> tuple[np.ndarray, list[Any]]:
    import polars as pl

    # a Categorical's own codes are shared by all columns of the process, so they are made anew
    values = list(native.dtype.categories) if native.dtype == pl.Enum else None
    strings = native.cast(pl.String)
    values = strings.drop_nulls().unique().to_list() if values is None else values
    codes = strings.replace_strict(values, list(range(len(values))), default=-1, return_dtype=pl.Int64)
    return codes.to_numpy(), values


def dtype_of(series: nw.Series[Any], array_type: str | None = None) -> Dtype:
    """The native type by name (`array_type`: that of the numpy array the series was cut from)."""
    if array_type is not None:
        return Dtype(array_type)
    native = series.to_native()
    dtype = _native_type(native)
    if isinstance(dtype, pd.CategoricalDtype):
        order = "ordered" if dtype.ordered else "unordered"
        return Dtype("category", (pandas_name(dtype.categories.dtype), order), _declared(series))
    name = pandas_name(dtype) if isinstance(native, pd.Series) else str(dtype)
    if "dictionary<" in name:
        return Dtype(name, (), _declared(series))
    if name.startswith("Enum"):
        return Dtype("Enum", (), _declared(series))
    if name.startswith("Categorical"):
        return Dtype("Categorical", _named_categories(dtype))
    return Dtype(name)


def _named_categories(dtype: Any) -> tuple[str, ...]:
    categories = getattr(dtype, "categories", None)  # polars before 1.32 has none
    if categories is None or not categories.name():
        return ()
    return categories.name(), categories.namespace(), str(categories.physical())


def declares_categories(dtype: Dtype) -> bool:
    """Whether the type lists its categories, seen or not."""
    return dtype.name in ("category", "Enum") or "dictionary<" in dtype.name


def _declared(series: nw.Series[Any]) -> tuple[Any, ...]:
    values = (value for value in factorise(series, None)[1] if value is not None)
    return tuple(dict.fromkeys(values))
