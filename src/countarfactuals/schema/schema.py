"""`Schema`: what is known of a frame's columns, and the two ways across the border.

1. `infer` reads a frame once and notes name, kind, levels, precision and native type of each column.
2. `encode` takes any frame with these columns to a float matrix (`column` tells the coding of a cell).
3. `decode` takes a matrix to a frame of the library that `infer` saw.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from ..exceptions import DataError, DataTypeError, ParameterError, did_you_mean, listed
from .as_came import holds_objects, odd_cells, put_objects, with_signs
from .clock import clock_of, is_time, passed_times
from .column import Column, Kind, decimals_of, plain_scalar, sorted_levels
from .declared import as_declared
from .description import described
from .dtypes import Dtype
from .labels import Labels, relabelled
from .occurrence import Occurrence, learned
from .reading import (
    Frame,
    check_finite,
    declares_categories,
    dtype_of,
    factorise,
    is_missing,
    is_pandas_category,
    kind_of,
    numbers,
    read,
    stored_as,
)
from .stored import check_columns
from .writing import write

_CLOCK_STEPS = (3600, 60)  # seconds; days are never multiples of these by chance
MOST_LEVELS = 65_000

Values = str | Mapping[Hashable, Any] | None


@dataclass(frozen=True)
class Schema:
    """Columns of a frame and the library it came from.

    >>> import pandas as pd
    >>> loans = pd.DataFrame({"amount": [12.5, None], "purpose": ["car", "study"]})
    >>> schema = Schema.infer(loans)
    >>> schema.encode(loans)
    array([[12.5,  0. ],
           [ nan,  1. ]])
    >>> schema.decode(schema.encode(loans)).equals(loans)
    True
    >>> schema.encode_value(1, "study"), schema.decode_value(1, 0.0)
    (1.0, 'car')
    """

    columns: tuple[Column, ...]
    backend: str

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def titles(self) -> tuple[Hashable, ...]:
        """What readers call the columns, in order."""
        return tuple(column.title for column in self.columns)

    def labelled(self, labels: Labels | None) -> Schema:
        """The same with other names for readers, see `labels`; None and {} keep those there are."""
        if labels is None or (isinstance(labels, Mapping) and not labels):
            return self
        return replace(self, columns=tuple(relabelled(self.columns, labels)))

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {name: j for j, name in enumerate(self.names)}

    @cached_property
    def names_by_text(self) -> dict[str, Hashable]:
        """Names of columns by how they read: options, formulas and JSON know no others."""
        return {str(name): name for name in self.names}

    @classmethod
    def infer(
        cls, X: Any, *, ordered: Mapping[Hashable, Sequence[Any]] | None = None, values: Values = "auto"
    ) -> Schema:
        """The schema of a frame.

        Parameters
        ----------
        X : pandas or polars DataFrame, pyarrow Table or 2-D numpy array (columns `x0`, `x1`, …).
        ordered : levels, lowest first, of columns that are to be read as ordered, whatever their type.
        values : which numbers occur in a column. "auto" learns it (see `values`), None learns nothing. A mapping
            declares it for some columns and learns the others: `"continuous"`, a list of numbers, or a dict with any of
            `step` (and `origin`), `low`, `high` and `repeated`.

        >>> import pandas as pd
        >>> loans = pd.DataFrame({"term": [36, 60] * 30, "amount": [25.0 * k for k in range(60)]})
        >>> print(Schema.infer(loans, values={"amount": "continuous"}).describe())
        term: 36 or 60
        amount: whole numbers
        """
        frame = read(X)
        if ordered is not None and not isinstance(ordered, Mapping):
            raise ParameterError(f"ordered must be a dict of columns and their levels in order, got {ordered!r}.")
        orders = dict(ordered or {})
        for name in (*orders, *_declared(values)):
            _check_known(name, frame.names)
        columns = (
            _infer_column(name, frame.column(j), frame.array_type, orders.get(name), values)
            for j, name in enumerate(frame.names)
        )
        return cls(tuple(columns), frame.backend)

    def describe(self) -> str:
        """What values each column has, a line for each."""
        return "\n".join(f"{column.name}: {described(column)}" for column in self.columns)

    def settle(self, rows: np.ndarray, low: np.ndarray, high: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        """The rows with the numbers of restricted columns moved to the nearest permitted values within the limits.

        Limits are one number per column. Where no such value is within them, the cell is that of `otherwise`.
        """
        rows, kept = rows.copy(), np.broadcast_to(otherwise, rows.shape)
        for j in self.restricted:
            rows[:, j] = self.columns[j].permitted.nearest(rows[:, j], low[j], high[j], kept[:, j])
        return rows

    @cached_property
    def restricted(self) -> tuple[int, ...]:
        """Positions of number columns of which not every number occurs."""
        return tuple(j for j, column in enumerate(self.columns) if column.is_restricted)

    def encode(self, X: Any, *, subset: bool = False, unseen: float | None = None) -> np.ndarray:
        """The matrix of a frame, shape (n, p); columns are found by name, in numpy arrays by position.

        With `subset`, columns that `X` lacks are all NaN (`present` tells which it has). Levels that are not known are
        an error, or `unseen` stands for them.
        """
        frame = read(X)
        positions = self._find(frame, subset=subset)
        matrix = np.empty((frame.n_rows, len(self.columns)))
        matrix[:, list(set(range(len(self.columns))).difference(positions))] = np.nan
        for source, j in enumerate(positions):
            column = self.columns[j]
            plain = frame.plain(source) if column.is_number and not column.clock else None
            if plain is None:
                matrix[:, j] = _encode_column(column, frame.column(source), unseen)
            else:
                matrix[:, j] = check_finite(plain, column.name)
        return matrix

    def odd_cells(self, X: Any) -> list[dict[int, Any]]:
        """By row of a frame or dict, and by column, the cells that `decode` would give back as other objects."""
        came: dict[int, Sequence[Any]]
        if isinstance(X, Mapping):
            matrix = np.array([[self.encode_value(j, X[name]) for j, name in enumerate(self.names)]])
            came = {j: [X[name]] for j, name in enumerate(self.names)}
        else:
            frame, matrix = read(X), self.encode(X)
            came = {j: frame.objects(source) for source, j in enumerate(self._find(frame, subset=False))}
        return odd_cells(self.columns, matrix, {j: came[j] for j in came if holds_objects(self.columns[j])})

    def check_columns(self, X: Any) -> None:
        """Refuse a frame that has not just the schema's columns; its cells are not looked at."""
        self._find(read(X), subset=False)

    def present(self, X: Any) -> tuple[int, ...]:
        """Positions, ascending, of the schema's columns that `X` has."""
        return tuple(sorted(self._find(read(X), subset=True)))

    def _find(self, frame: Frame, *, subset: bool) -> list[int]:
        """Position in the schema of each column of the frame."""
        if frame.backend == "numpy":
            if len(frame.names) != len(self.columns):
                raise DataError(
                    f"Got a numpy array with {len(frame.names)} column(s), expected {len(self.columns)}: "
                    f"{listed(self.names)}. Pass all of them in this order, or a frame with names."
                )
            return list(range(len(self.columns)))
        positions = [self.index(name) for name in frame.names]
        missing = [name for name in self.names if name not in set(frame.names)]
        if missing and not subset:
            raise DataError(f"The data lacks the column(s) {listed(missing)}. Add them; unknown cells may be missing.")
        return positions

    def decode(
        self,
        matrix: np.ndarray,
        columns: Sequence[int] | None = None,
        cells: Mapping[int, Mapping[int, Any]] | None = None,
    ) -> Any:
        """The native frame of a matrix.

        `columns`: which of the schema's columns the matrix holds, one position per column of the matrix. `cells`: by
        column and row, what came as another object than is written, from `odd_cells`.
        """
        described = self.columns if columns is None else self.select(columns).columns
        values = np.asarray(matrix, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(described):
            raise DataError(
                f"Got a matrix of shape {values.shape}, expected two dimensions and {len(described)} column(s): "
                f"{listed(column.name for column in described)}. Pass `matrix[:, columns]` to decode some columns only."
            )
        if not cells:
            return write(self.backend, described, values)
        frame = write(self.backend, described, with_signs(described, values, cells))
        return put_objects(self.backend, described, frame, cells)

    def encode_value(self, j: int, value: Any) -> float:
        """One cell of column `j` as it stands in the matrix; missing as NaN."""
        return self.columns[j].encode(value)

    def decode_value(self, j: int, code: float) -> Any:
        """One cell of column `j` as a Python scalar; NaN as None."""
        return self.columns[j].decode(code)

    def index(self, name: Hashable) -> int:
        """Position of a column."""
        if name not in self._positions:
            _check_known(name, self.names)
        return self._positions[name]

    def select(self, columns: Sequence[int]) -> Schema:
        """The schema of some columns, in the order given."""
        return replace(self, columns=tuple(self.columns[j] for j in columns))

    def append(self, column: Column) -> Schema:
        """The schema with one more column at the end."""
        if column.name in self._positions:
            raise DataError(f"The schema has a column {column.name!r} already. Choose another name or drop that one.")
        return replace(self, columns=(*self.columns, column))

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        return {"backend": self.backend, "columns": [column.to_dict() for column in self.columns]}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Schema:
        """The inverse of `to_dict`; ValueError for columns that can not be."""
        columns = tuple(Column.from_dict(column) for column in stored["columns"])
        check_columns(columns, stored["backend"])
        schema = cls(columns, stored["backend"])
        with suppress(ImportError):  # without the library of its frames it is told so when one is written
            schema.decode(np.empty((0, len(columns))))  # names of types that are none
        return schema


def free_name(name: str, taken: Container[Hashable]) -> str:
    """A name that is not taken: this one, or this one with underscores at its end.

    >>> free_name("y", {"x", "y"})
    'y_'
    """
    while name in taken:
        name += "_"
    return name


def _check_known(name: Hashable, known: Sequence[Hashable]) -> None:
    if name not in set(known):  # a set, as `pd.NA` can not be compared
        raise DataError(
            f"There is no column {name!r}; known columns: {listed(known)}.{did_you_mean(name, known)} "
            "Drop or rename it."
        )


def _declared(values: Values) -> Mapping[Hashable, Any]:
    if isinstance(values, Mapping):
        return values
    if values is None or (isinstance(values, str) and values == "auto"):
        return {}
    raise ParameterError(f"values must be 'auto', None or a dict of columns and what values they have, got {values!r}.")


def _infer_column(
    name: Hashable, series: nw.Series[Any], array_type: str | None, order: Sequence[Any] | None, values: Values
) -> Column:
    if is_missing(series):
        raise _all_missing(name)
    kind = kind_of(series, name)
    dtype = dtype_of(series, array_type)
    if order is not None:
        column = _ordered_column(name, dtype, order)
    elif kind is Kind.BOOLEAN:
        column = Column(name, kind, (False, True), dtype=dtype)
    elif kind in (Kind.CATEGORY, Kind.ORDERED):
        column = Column(name, kind, _levels(name, series, dtype), dtype=dtype)
    else:
        return _number_column(name, kind, series, dtype, values)
    if name in _declared(values):
        return as_declared(column, np.empty(0), Occurrence(), _declared(values)[name])
    codes = _encode_column(column, series)
    if np.isnan(codes).all():
        raise _all_missing(name)
    if values is None:
        return column
    return replace(column, unused=tuple(np.flatnonzero(~np.isin(np.arange(column.n_levels), codes)).tolist()))


def _number_column(name: Hashable, kind: Kind, series: nw.Series[Any], dtype: Dtype, values: Values) -> Column:
    clock = clock_of(series) if is_time(series) else ""
    cells = passed_times(series, clock, name) if clock else numbers(series, name)
    known = cells[~np.isnan(cells)]
    if not known.size:  # polars' and pyarrow's NaN is not null
        raise _all_missing(name)
    decimals = 0 if kind is Kind.INTEGER else decimals_of(known, np.float64 if clock else stored_as(series))
    column = Column(name, kind, (), decimals, dtype, clock=clock)
    if values is None:
        return column
    occurrence = _of_clock(learned(known, decimals), known) if clock else learned(known, decimals)
    if name in _declared(values):
        return as_declared(column, known, occurrence, _declared(values)[name])
    return replace(column, **occurrence._asdict())


def _of_clock(occurrence: Occurrence, known: np.ndarray) -> Occurrence:
    """What was learned of dates or times: 1970 is no edge of theirs, and times are told by the hour or minute."""
    low, high = (-sign * np.inf if edge == 0.0 else edge for sign, edge in ((1, occurrence.low), (-1, occurrence.high)))
    step = next((float(step) for step in _CLOCK_STEPS if occurrence.grid is None and not (known % step).any()), None)
    return occurrence._replace(low=low, high=high, grid=occurrence.grid if step is None else (step, 0.0))


def _ordered_column(name: Hashable, dtype: Dtype, order: Sequence[Any]) -> Column:
    is_list = isinstance(order, Collection) and not isinstance(order, str | bytes | Mapping)
    levels = plain_levels(name, list(order)) if is_list else ()
    if not levels or len(set(levels)) < len(levels):
        raise DataError(f"The order of column {name!r} must list each level once, got {order!r}.")
    if declares_categories(dtype):
        plain_levels(name, dtype.categories)
        if unknown := [level for level in levels if level not in dtype.categories]:
            raise DataError(
                f"The order of column {name!r} lists {listed(unknown)}, which its type {dtype.name} does not have. "
                f"Its categories: {listed(dtype.categories)}."
            )
    return Column(name, Kind.ORDERED, levels, dtype=dtype)


def _levels(name: Hashable, series: nw.Series[Any], dtype: Dtype) -> tuple[Any, ...]:
    if declares_categories(dtype):
        return plain_levels(name, dtype.categories)
    return sorted_levels(plain_levels(name, factorise(series, name)[1]))


def plain_levels(name: Hashable, values: Sequence[Any]) -> tuple[Any, ...]:
    """Levels in the types that a schema keeps."""
    if len(values) > MOST_LEVELS:
        raise DataError(
            f"Column {name!r} has {len(values):,} levels, at most {MOST_LEVELS:,} are allowed. "
            "Drop it if it is an identifier, or merge rare levels."
        )
    try:
        levels = tuple(plain_scalar(value) for value in values)
    except TypeError as error:
        raise DataTypeError(
            f"Column {name!r} has levels of type {error}; str, int, float and bool are allowed. "
            "Convert it, e.g. `.astype(str)`."
        ) from None
    if infinite := [level for level in levels if level in (np.inf, -np.inf)]:
        raise DataError(f"Column {name!r} has the infinite level {infinite[0]}. Replace it by a finite one.")
    return levels


def _encode_column(column: Column, series: nw.Series[Any], unseen: float | None = None) -> np.ndarray:
    if not column.is_number and is_pandas_category(series):
        return _encode_levels(column, series, unseen)
    if is_missing(series):
        return np.full(len(series), np.nan)
    kind = kind_of(series, column.name)  # refuses types that can not be used at all
    if not column.is_number:
        return _encode_levels(column, series, unseen)
    if column.clock and is_time(series):
        return passed_times(series, column.clock, column.name)
    if kind not in (Kind.REAL, Kind.INTEGER) or column.clock or is_time(series):
        raise DataTypeError(
            f"Column {column.name!r} holds {'dates or times' if column.clock else f'numbers ({column.kind})'}, got a "
            f"column of {'dates or times' if is_time(series) else f'kind {kind}'}. Convert it."
        )
    return numbers(series, column.name)


def _encode_levels(column: Column, series: nw.Series[Any], stand_in: float | None) -> np.ndarray:
    codes, values = factorise(series, column.name)
    # an unseen value gets -1; the NaN at the end is for missing cells, whose code -1 picks it. A declared
    # dictionary may hold null itself.
    known = [np.nan if value is None else column.codes.get(value, -1) for value in values]
    encoded = np.array([*known, np.nan])[codes]
    unseen = encoded == -1
    if stand_in is not None:
        encoded[unseen] = stand_in
    elif unseen.any():
        row = int(np.argmax(unseen))
        value = values[codes[row]]
        raise DataError(
            "Column {column!r} has the unknown level {got!r} in row {row} (counted from 0). {allowed} Map it to a "
            "known level or set it missing.",
            column=column.name,
            got=value,
            row=row,
            allowed=column.known_levels(value),
        )
    return encoded


def _all_missing(name: Hashable) -> DataError:
    return DataError(f"Column {name!r} has no value, all cells are missing. Drop the column.")
