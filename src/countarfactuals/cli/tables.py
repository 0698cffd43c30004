"""Files to frames: CSV and Parquet by their suffix, `-` for CSV from standard input.

1. `read_training` reads a file whose columns are not known yet and tells by the cells what they hold.
2. `read_like` reads new rows with the columns that an explainer was fitted to; what looks like a number but was text
   stays text. Columns that it does not know are left out, and said to be.
3. `write_parquet` writes a frame, where CSV could be written too.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from countarfactuals.cli.text import Cells, Dialect, Say, convert, counted, infer, read_cells
from countarfactuals.exceptions import DataError, MissingDependencyError, ParameterError, did_you_mean, listed
from countarfactuals.files import whole_file
from countarfactuals.schema import Column, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

STANDARD = "-"
PARQUET = "parquet"
_PARQUET = (".parquet", ".pq")
_TAB = ".tsv"


def read_training(
    path: str, dialect: Dialect, say: Say, *, outcome: str | None, drop: Collection[str]
) -> tuple[pd.DataFrame, pd.Series | None]:
    """The features, and the outcome if one is named.

    Parameters
    ----------
    path : of the file.
    dialect : of a CSV file.
    say : is told what a user should know.
    outcome : the column that is no feature.
    drop : columns that are left out.
    """
    table = _read(path, dialect, say)
    names = _names(table)
    for name in [*drop, *([] if outcome is None else [outcome])]:
        if name not in names:
            raise DataError(f"{shown(path)} has no column {name!r}; it has {listed(names)}.{did_you_mean(name, names)}")
    features = [name for name in names if name not in drop and name != outcome]
    if not features:
        raise DataError(f"{shown(path)} has no column besides those that are left out. Drop fewer, or add features.")
    if isinstance(table, pd.DataFrame):
        return table[features].reset_index(drop=True), None if outcome is None else table[outcome].reset_index(
            drop=True
        )
    X = pd.DataFrame({name: infer(name, table.columns[name], dialect, say) for name in features})
    y = None if outcome is None else infer(outcome, table.columns[outcome], dialect, say, drop=False)
    return X, y


def read_like(
    path: str,
    dialect: Dialect,
    say: Say,
    schema: Schema,
    *,
    rows: Sequence[int] | None = None,
    known: Collection[str] = (),
    extra: Sequence[str] = (),
) -> tuple[pd.DataFrame, dict[str, list[Any]]]:
    """Rows with the columns of a schema, labelled by their numbers in the file from 0; and the cells of extra columns.

    Parameters
    ----------
    path, dialect, say : as in `read_training`.
    schema : of the features.
    rows : numbers of the rows to read, None for all.
    known : columns that are no features, of which nothing needs to be said.
    extra : columns that are handed back as they are, where the file has them.
    """
    table = _read(path, dialect, say)
    names, features = _names(table), [str(name) for name in schema.names]
    if absent := [name for name in features if name not in names]:
        hint = did_you_mean(absent[0], [name for name in names if name not in features])
        raise DataError(
            f"{shown(path)} lacks the {columns_named(absent)}.{hint} Add {'it' if len(absent) == 1 else 'them'}; cells "
            "that are unknown may be empty."
        )
    if unknown := [name for name in names if name not in {*features, *known, *extra}]:
        say(f"{shown(path)}: the explainer does not know {listed(unknown)}; left out.")
    n_rows = len(table) if isinstance(table, pd.DataFrame) else table.n_rows
    chosen = list(range(n_rows)) if rows is None else list(rows)
    if beyond := [row for row in chosen if row >= n_rows]:
        raise DataError(
            f"{shown(path)} has {counted(n_rows, 'row')}, counted from 0, so there is no row {listed(beyond)}."
        )
    if isinstance(table, pd.DataFrame):
        frame = table.iloc[chosen]
        columns = {column.name: _fitting(column, frame[column.name], chosen, dialect) for column in schema.columns}
        others = {name: frame[name].tolist() for name in extra if name in names}
    else:
        cells = {name: [values[row] for row in chosen] for name, values in table.columns.items()}
        columns = {c.name: convert(c, cells[str(c.name)], chosen, dialect) for c in schema.columns}
        others = {name: cells[name] for name in extra if name in names}
    frame = pd.DataFrame({name: series.reset_index(drop=True) for name, series in columns.items()})
    frame.index = pd.Index(chosen)
    return frame, others


def columns_named(names: Sequence[str]) -> str:
    """Columns for a sentence, in the right number."""
    return f"column{'s' * (len(names) > 1)} {listed(names)}"


def shown(path: str) -> str:
    """A file's name for messages."""
    return "standard input" if path == STANDARD else repr(path)


def _fitting(column: Column, series: pd.Series, rows: Sequence[int], dialect: Dialect) -> pd.Series:
    """A typed column as the schema takes it: text where it held text, numbers where it held numbers."""
    is_number = pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype)
    if is_number == column.is_number:
        return series
    cells = [None if pd.isna(cell) else str(cell) for cell in series]
    return convert(column, cells, rows, dialect)


def _names(table: pd.DataFrame | Cells) -> list[str]:
    return [str(name) for name in table.columns]


def _read(path: str, dialect: Dialect, say: Say) -> pd.DataFrame | Cells:
    if path != STANDARD and Path(path).suffix.lower() in _PARQUET:
        return _read_parquet(path)
    if Path(path).suffix.lower() == _TAB and dialect.delimiter == ",":
        dialect = replace(dialect, delimiter="\t")
    with _opened(path, dialect) as lines:
        return read_cells(lines, shown(path), dialect, say)


def _read_parquet(path: str) -> pd.DataFrame:
    _check_file(path)
    _check_pyarrow()
    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except Exception as error:  # pyarrow has errors of its own for each way in which bytes can be wrong
        raise DataError(f"{path!r} is no readable Parquet file ({type(error).__name__}). Write it again.") from error
    if frame.empty:
        raise DataError(f"{path!r} has no rows or no columns. Give a file with at least one of each.")
    frame.columns = frame.columns.map(str)
    return frame


def _check_pyarrow() -> None:
    if find_spec("pyarrow") is None:
        raise MissingDependencyError("Parquet files need pyarrow, which is not installed: pip install pyarrow")


def check_parquet(form: str, out: str) -> None:
    """Refuse Parquet, if it is the format, where it can not be written; before anything is searched."""
    if form != PARQUET:
        return
    if out == STANDARD:
        raise ParameterError("--format parquet needs a file to write: name it by --out.")
    _check_pyarrow()


def write_parquet(frame: pd.DataFrame, out: str) -> None:
    """Write a frame to a Parquet file, without its index."""
    with whole_file(out) as unfinished:
        frame.to_parquet(unfinished, engine="pyarrow", index=False)


@contextmanager
def _opened(path: str, dialect: Dialect) -> Iterator[TextIO]:
    try:
        if path == STANDARD:
            yield sys.stdin
            return
        _check_file(path)
        # a mark at the start of the bytes, as spreadsheets write it, is no part of the first name
        encoding = "utf-8-sig" if dialect.encoding.lower().replace("_", "-") in ("utf-8", "utf8") else dialect.encoding
        with Path(path).open(encoding=encoding, newline="") as file:
            yield file
    except LookupError as error:
        if isinstance(error, KeyError | IndexError):
            raise
        raise DataError(f"There is no encoding {dialect.encoding!r}. Name another, e.g. --encoding latin-1.") from error


def _check_file(path: str) -> None:
    if Path(path).is_dir():
        raise DataError(f"{path!r} is a folder. Give a CSV or Parquet file.")
    if not Path(path).exists():
        raise DataError(f"There is no file {path!r}. Check its name and folder.")
