"""A CSV file as cells of text, and what the cells of a column are.

1. `read_cells` reads every cell as text. All lines must have as many cells as the header, or else the delimiter may be
   another (see `delimiter`); a column without a name is left out, and said to be.
2. `infer` tells what a column holds by all its cells that are not missing, and turns them into it:

   | cells | column |
   |---|---|
   | true, false, in any case | booleans |
   | whole numbers without leading zeros | integers, also where cells are missing |
   | numbers | reals |
   | dates | refused: a date is no category, and which number it should be is not ours to say |
   | numbers with units or separators of thousands | refused, or text if they are few (see `lookalikes`) |
   | anything else | text, that is, a category |
3. `convert` turns the cells of new data into what the column held before, whatever they look like.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.cli import delimiter, lookalikes
from countarfactuals.exceptions import DataError, did_you_mean, listed
from countarfactuals.schema import Column, Kind
from countarfactuals.schema.column import LARGEST_INTEGER, integer_too_large

MISSING = ("NA", "NaN", "nan", "N/A", "n/a", "NULL", "null")  # besides the empty cell
_INTEGER = re.compile(r"[+-]?(0|[1-9]\d*)", re.ASCII)
_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|infinity)", re.IGNORECASE | re.ASCII)
_WITH_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+", re.ASCII)
_DATES = (
    re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T]\d{1,2}:\d{2}.*)?"),
    re.compile(r"\d{1,2}([-/.])\d{1,2}\1(\d{4}|\d{2})([ T]\d{1,2}:\d{2}.*)?"),
)
_BOOLEANS = {"true": True, "false": False}
MOSTLY = 0.9  # share of numbers from which the other cells of a column look like slips

Say = Callable[[str], None]


@dataclass(frozen=True)
class Dialect:
    """How a file is written.

    Parameters
    ----------
    delimiter : between cells.
    decimal : the sign before decimals, "." or ",".
    missing : cells that mean missing, besides empty ones.
    encoding : of the bytes.
    """

    delimiter: str = ","
    decimal: str = "."
    missing: tuple[str, ...] = MISSING
    encoding: str = "utf-8"


@dataclass(frozen=True)
class Cells:
    """A file as text: its columns by name, each with one cell per row; None where a cell is missing."""

    source: str
    columns: dict[str, list[str | None]]
    n_rows: int


def read_cells(lines: Iterable[str], source: str, dialect: Dialect, say: Say) -> Cells:
    """The cells of a file; `say` is told what is left out."""
    header, rows = _header_and_rows(lines, source, dialect, say)
    missing = {"", *dialect.missing}
    columns = {}
    for number, (name, column) in enumerate(zip(header, zip(*rows, strict=True), strict=True)):
        if name:
            columns[name] = [None if cell.strip() in missing else cell.strip() for cell in column]
        else:
            say(f"column {number + 1} of {source} has no name and is left out.")
    return Cells(source, columns, len(rows))


def _header_and_rows(
    lines: Iterable[str], source: str, dialect: Dialect, say: Say
) -> tuple[list[str], list[list[str]]]:
    """The names in the first line and at least one row below, each with as many cells."""
    readable = _readable(lines, source, dialect)
    first = list(islice(readable, delimiter.N_FIRST))
    reader = csv.reader(chain(first, readable), delimiter=dialect.delimiter, skipinitialspace=True, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        rows = [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        got = f"{source} is no readable CSV file, in line {reader.line_num}"
        raise _misfit(got, f": {error}.", first, dialect) from error
    _check_header(header, source, dialect)
    for line, cells in rows:
        if len(cells) != len(header):
            got = f"{source} has {counted(len(cells), 'cell')} in line {line}, but {counted(len(header), 'column')}"
            raise _misfit(got, ". Mend the line; a cell that holds the delimiter must be in quotes.", first, dialect)
    if not rows:
        raise DataError(f"{source} has a header but no rows. Give a file with at least one row.")
    if sign := delimiter.other(first, dialect.delimiter, at_least=len(header)):
        say(f"{source} has the columns {listed(header)}; perhaps {delimiter.divided(sign, dialect.delimiter)}")
    return header, [cells for _, cells in rows]


def _misfit(got: str, otherwise: str, first: Sequence[str], dialect: Dialect) -> DataError:
    """The error of a file whose lines do not fit; another delimiter that fits its first lines is the reason."""
    sign = delimiter.other(first, dialect.delimiter)
    return DataError(f"{got}: {delimiter.divided(sign, dialect.delimiter)}" if sign else f"{got}{otherwise}")


def _readable(lines: Iterable[str], source: str, dialect: Dialect) -> Iterator[str]:
    """The lines, as long as they are text in the right encoding."""
    try:
        for number, line in enumerate(lines, start=1):
            if "\0" in line:
                raise DataError(
                    f"{source} holds NUL bytes, first in line {number}, so it is damaged, no text, or written in "
                    "another encoding. Write it again, or name its encoding, e.g. --encoding utf-16-le."
                )
            yield line
    except UnicodeError as error:
        raise DataError(
            f"{source} is not written in {dialect.encoding} ({error}). Name its encoding, e.g. --encoding latin-1."
        ) from error


def _check_header(header: Sequence[str], source: str, dialect: Dialect) -> None:
    if not any(header):
        raise DataError(f"{source} is empty. Give a CSV file with the columns' names in its first line.")
    others = [sign for sign in delimiter.NAMES if sign != dialect.delimiter and sign in header[0]]
    if len(header) == 1 and others:
        raise DataError(
            f"{source} has one column only, named {header[0]!r}: {delimiter.divided(others[0], dialect.delimiter)}"
        )
    double = [name for name, count in Counter(header).items() if count > 1 and name]
    if double:
        raise DataError(f"{source} has {listed(double)} more than once in its first line. Rename or remove columns.")


def infer(name: str, cells: Sequence[str | None], dialect: Dialect, say: Say, *, drop: bool = True) -> pd.Series:
    """The column in the type that its cells tell; `drop` says whether a message may advise to leave it out."""
    codes, values = pd.factorize(np.array(cells, dtype=object))
    distinct = [str(value) for value in values]
    advice = f" or leave it out: --drop {name}" if drop else ""
    if not distinct:
        raise DataError(f"Column {name!r} has no value, all cells are missing. Fill it{advice}.")
    if all(cell.lower() in _BOOLEANS for cell in distinct):
        return _series(codes, [_BOOLEANS[cell.lower()] for cell in distinct], "bool", "boolean")
    plain = [_with_point(cell, dialect) for cell in distinct]
    if all(_INTEGER.fullmatch(cell) for cell in plain):
        return _integers(name, codes, plain)
    numbers = [is_number(cell, dialect) for cell in distinct]
    if all(numbers) and not any(_has_leading_zero(cell) for cell in plain):
        return _series(codes, [float(cell) for cell in plain], "float64", "float64")
    if any(all(form.fullmatch(cell) for cell in distinct) for form in _DATES):
        raise DataError(
            f"Column {name!r} holds dates, such as {distinct[0]!r}. Turn it into a number, e.g. the days since a fixed "
            f"date,{advice or ' first'}."
        )
    if lookalikes.refuse_or_tell(name, distinct, say, advice):
        return text_series([None if code < 0 else distinct[code] for code in codes])
    if dialect.decimal == "." and all(_WITH_COMMA.fullmatch(c) or _INTEGER.fullmatch(c) for c in distinct):
        raise DataError(f"Column {name!r} holds numbers such as {distinct[0]!r}. Pass --decimal , to read them.")
    _tell_of_text(name, distinct, numbers, codes, say)
    return text_series([None if code < 0 else distinct[code] for code in codes])


def text_series(cells: Sequence[Any]) -> pd.Series:
    """Text in the type that this pandas gives it when it reads files."""
    return pd.Series([np.nan if cell is None else cell for cell in cells], dtype=pd.Series(["", np.nan]).dtype)


def _series(codes: np.ndarray, values: list[Any], dtype: str, with_missing: str) -> pd.Series:
    is_missing = codes < 0
    if not is_missing.any():
        return pd.Series(np.array(values, dtype=dtype)[codes])
    if dtype == "float64":
        return pd.Series(np.array([*values, np.nan])[codes])
    series = pd.Series(np.array(values, dtype=dtype)[codes]).astype(with_missing)
    series[is_missing] = pd.NA
    return series


def _integers(name: str, codes: np.ndarray, cells: list[str]) -> pd.Series:
    values = [int(cell) for cell in cells]
    largest = max(values, key=abs)
    if abs(largest) > LARGEST_INTEGER:
        raise integer_too_large(name, largest)
    return _series(codes, values, "int64", "Int64")


def _with_point(cell: str, dialect: Dialect) -> str:
    """A number as Python writes it; what is written otherwise stays as it is."""
    if dialect.decimal == "," and (_WITH_COMMA.fullmatch(cell) or re.fullmatch(r"[+-]?,[0-9]+", cell)):
        return cell.replace(".", "").replace(",", ".")
    return cell


def is_number(cell: str, dialect: Dialect) -> bool:
    """Whether a cell reads as a number; leading zeros do no harm."""
    return _NUMBER.fullmatch(_with_point(cell, dialect)) is not None


def _has_leading_zero(cell: str) -> bool:
    """Whether this is a code such as 0123, and not a number."""
    return re.match(r"[+-]?0\d", cell) is not None


def _tell_of_text(name: str, distinct: list[str], numbers: list[bool], codes: np.ndarray, say: Say) -> None:
    n_known = int((codes >= 0).sum())
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    others = [cell for cell, is_number in zip(distinct, numbers, strict=True) if not is_number]
    n_others = int(counts[~np.array(numbers)].sum())
    if not others:
        say(f"column {name!r} is read as text, as cells such as {_zeros(distinct)!r} have leading zeros.")
    elif n_known - n_others >= MOSTLY * n_known:
        say(
            f"column {name!r} is read as text, as {n_others} of {n_known} cells are no numbers: {listed(others, 3)}. "
            f"If they mean missing, pass --missing {others[0]!r}."
        )


def _zeros(cells: list[str]) -> str:
    return next(cell for cell in cells if _has_leading_zero(cell))


def convert(column: Column, cells: Sequence[Any], rows: Sequence[int], dialect: Dialect) -> pd.Series:
    """Cells of new data as what the column held in training; `rows` are their numbers in the file."""
    make = _number_maker(column, dialect) if column.is_number else _level_maker(column)
    values: dict[Any, Any] = {}
    for cell, row in zip(cells, rows, strict=True):
        if cell is not None and cell not in values:
            try:
                values[cell] = make(cell)
            except DataError:
                raise
            except ValueError:
                raise DataError(
                    f"Column {column.name!r} holds numbers, got {cell!r} in row {row} (counted from 0). Mend the cell, "
                    "or leave it empty if it is unknown."
                ) from None
    made = [None if cell is None else values[cell] for cell in cells]
    if column.is_number:
        return pd.Series([np.nan if value is None else value for value in made], dtype="float64")
    return pd.Series(made, dtype=object)


def _number_maker(column: Column, dialect: Dialect) -> Callable[[Any], float]:
    def number(cell: Any) -> float:
        plain = _with_point(str(cell), dialect)
        if not _NUMBER.fullmatch(plain):
            raise ValueError
        value = float(plain)
        if abs(value) > LARGEST_INTEGER and column.kind is Kind.INTEGER:
            raise integer_too_large(column.name, cell)
        return value

    return number


def _level_maker(column: Column) -> Callable[[Any], Any]:
    return lambda cell: level_of(column, str(cell), known_only=False)


def level_of(column: Column, text: str, *, known_only: bool = True) -> Any:
    """The level that a text stands for; an unknown one is refused, or with `known_only=False` comes back as it is."""
    by_text = {str(level): level for level in column.levels}
    if text in by_text:
        return by_text[text]
    if column.kind is Kind.BOOLEAN and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if not known_only:
        return text
    raise DataError(
        f"Column {column.name!r} has no level {text!r}. Known levels: {listed(by_text)}.{did_you_mean(text, by_text)}"
    )


def counted(count: int, noun: str) -> str:
    """A number of things, in the right number.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"
