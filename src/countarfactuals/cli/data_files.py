"""Files to frames and back: CSV and Parquet by their suffix, `-` for standard input and output.

1. `read_cells` decodes a CSV file and has pyarrow divide it into cells of text. Each line must have as many cells as
   the header; where they differ, another sign that divides the first lines evenly is likely the file's delimiter.
2. `read_training` reads a file whose columns are not known yet and tells by the cells what they hold (`column_kinds`).
3. `read_like` reads new rows with the columns that an explainer was fitted to; what looks like a number but was text
   stays text. Columns that it does not know are left out, and said to be.
4. `write_text` and `write_parquet` write beside the destination and move there when complete.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from countarfactuals._optional import optional
from countarfactuals.cli.arguments import PARQUET, STANDARD, Dialect
from countarfactuals.cli.column_kinds import Say, columns_named, convert, infer
from countarfactuals.exceptions import DataError, ParameterError, StorageError, did_you_mean, listed
from countarfactuals.files import whole_file, write_whole
from countarfactuals.language import counted, tr
from countarfactuals.schema import Column, Schema

PARQUET_SUFFIXES = (".parquet", ".pq")
_TAB = ".tsv"
_SIGN_NAMES = {";": ";", "\t": "tab", "|": "|", ",": ","}
_OTHER_SIGNS = (";", "\t", "|")  # no comma: decimal commas are as many in each line, too
_N_FIRST = 20  # lines by which another delimiter is found
_SMALLEST_BLOCK, _LARGEST_BLOCK = 2**20, 2**31 - 1


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
    table, is_text = _read(path, dialect, say)
    names = list(table)
    for name in [*drop, *([] if outcome is None else [outcome])]:
        if name not in names:
            raise DataError(f"{shown(path)} has no column {name!r}; it has {listed(names)}.{did_you_mean(name, names)}")
    features = [name for name in names if name not in drop and name != outcome]
    if not features:
        raise DataError(f"{shown(path)} has no column besides those that are left out. Drop fewer, or add features.")
    if not is_text:
        return table[features], None if outcome is None else table[outcome]
    X = pd.DataFrame({name: infer(name, table[name], dialect, say) for name in features})
    return X, None if outcome is None else infer(outcome, table[outcome], dialect, say, drop=False)


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
    table, is_text = _read(path, dialect, say)
    names = list(table)
    check_names(names, path, say, schema, known, extra)
    chosen = list(range(len(table))) if rows is None else list(rows)
    check_rows(path, len(table), chosen)
    taken = table.iloc[chosen]
    columns = {c.name: fitting(c, taken[str(c.name)], chosen, dialect, is_text).array for c in schema.columns}
    return pd.DataFrame(columns, index=chosen), {name: taken[name].tolist() for name in extra if name in names}


def check_names(
    names: Sequence[str], path: str, say: Say, schema: Schema, known: Collection[str], extra: Sequence[str]
) -> None:
    """Refuse a file without all features, and say which of its columns are left out; for the rest see `read_like`."""
    features = [str(name) for name in schema.names]
    if absent := [name for name in features if name not in names]:
        hint = did_you_mean(absent[0], [name for name in names if name not in features])
        raise DataError(
            f"{shown(path)} lacks the {columns_named(absent)}.{hint} Add {'it' if len(absent) == 1 else 'them'}; cells "
            "that are unknown may be empty."
        )
    if unknown := [name for name in names if name not in {*features, *known, *extra}]:
        say(tr("{file}: the explainer does not know {columns}; left out.", file=shown(path), columns=listed(unknown)))


def check_rows(path: str, n_rows: int, rows: Sequence[int]) -> None:
    """Refuse numbers of rows that a file does not have."""
    if beyond := [row for row in rows if not 0 <= row < n_rows]:
        size = counted(n_rows, "{n} row", "{n} rows")
        raise DataError(f"{shown(path)} has {size}, counted from 0, so there is no row {listed(beyond)}.")


def shown(path: str) -> str:
    """A file's name for messages."""
    return "standard input" if path == STANDARD else repr(path)


def fitting(column: Column, series: pd.Series, rows: Sequence[int], dialect: Dialect, is_text: bool) -> pd.Series:
    """A column as the schema takes it: text where it held text, numbers where it held numbers."""
    is_number = pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype)
    if not is_text and is_number == column.is_number:
        return series
    return convert(column, [None if pd.isna(cell) else str(cell) for cell in series], rows, dialect)


def _read(path: str, dialect: Dialect, say: Say) -> tuple[pd.DataFrame, bool]:
    """A file's table, and whether its cells are text of which nothing is known yet."""
    suffix = Path(path).suffix.lower()
    if path != STANDARD:
        if Path(path).is_dir():
            raise DataError(f"{path!r} is a folder. Give a CSV or Parquet file.")
        if not Path(path).exists():
            raise DataError(f"There is no file {path!r}. Check its name and folder.")
        if suffix in PARQUET_SUFFIXES:
            return _read_parquet(path), False
    return read_cells(_text_of(path, dialect), shown(path), of_suffix(dialect, path), say), True


def of_suffix(dialect: Dialect, path: str) -> Dialect:
    """The dialect of a file, whose cells are divided by tabulators where its name says so."""
    is_tab = Path(path).suffix.lower() == _TAB and dialect.delimiter == ","
    return replace(dialect, delimiter="\t") if is_tab else dialect


def _read_parquet(path: str) -> pd.DataFrame:
    optional("pyarrow.parquet", "Parquet files need", "cli")
    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except Exception as error:  # pyarrow has errors of its own for each way in which bytes can be wrong
        raise DataError(f"{path!r} is no readable Parquet file ({type(error).__name__}). Write it again.") from error
    if frame.empty:
        raise DataError(f"{path!r} has no rows or no columns. Give a file with at least one of each.")
    return frame.rename(columns=str).reset_index(drop=True)


def _text_of(path: str, dialect: Dialect) -> str:
    """A CSV file, decoded."""
    try:
        text = sys.stdin.read() if path == STANDARD else Path(path).read_bytes().decode(dialect.encoding)
    except LookupError as error:
        raise DataError(f"There is no encoding {dialect.encoding!r}. Name another, e.g. --encoding latin-1.") from error
    except UnicodeError as error:
        raise DataError(
            f"{shown(path)} is not written in {dialect.encoding} ({error}). Name its encoding, e.g. --encoding latin-1."
        ) from error
    return text.removeprefix("\ufeff")  # a mark that spreadsheets write is no part of the first name


def read_cells(text: str, source: str, dialect: Dialect, say: Say) -> pd.DataFrame:
    """The cells of a CSV file as text, None where they are missing; `say` is told what is left out."""
    compute = optional("pyarrow.compute", "CSV files need", "cli")
    header, columns = _header_and_columns(text, source, dialect)
    if sign := _other_sign(text, dialect, at_least=len(header)):
        perhaps = _divided_by(sign, dialect)
        say(tr("{file} has the columns {names}; perhaps {why}", file=source, names=listed(header), why=perhaps))
    kept = {}
    for number, (name, column) in enumerate(zip(header, columns, strict=True), start=1):
        if not name:
            say(tr("column {number} of {file} has no name and is left out.", number=number, file=source))
            continue
        cells = compute.utf8_trim_whitespace(column).to_pylist()
        kept[name] = [None if cell in ("", *dialect.missing) else cell for cell in cells]
    return pd.DataFrame(kept, dtype=object)


def _header_and_columns(text: str, source: str, dialect: Dialect) -> tuple[list[str], list[Any]]:
    """The names in the first line and the columns below, all with as many cells, at least one."""
    _check_text(text, source)
    plain, broken = _with_plain_quotes(text, dialect.delimiter)
    if broken is not None:
        got = f"{source} is no readable CSV file, in line {_line_at(text, broken)}"
        raise _misfit(got, ": a quoted cell is not closed, or goes on after its end.", text, dialect)
    header, columns, invalid = _divided_cells(plain, dialect.delimiter)
    _check_header(header, source, dialect)
    if invalid is not None:
        n_cells = counted(invalid.actual_columns, "{n} cell", "{n} cells")
        n_columns = counted(len(header), "{n} column", "{n} columns")
        got = f"{source} has {n_cells} in line {_line_of(plain, invalid)}, but {n_columns}"
        raise _misfit(got, ". Mend the line; a cell that holds the delimiter must be in quotes.", text, dialect)
    if len(columns[0]) == 0:
        raise DataError(f"{source} has a header but no rows. Give a file with at least one row.")
    return header, columns


def _check_text(text: str, source: str) -> None:
    if not text.strip():
        raise DataError(f"{source} is empty. Give a CSV file with the columns' names in its first line.")
    if (position := text.find("\0")) >= 0:
        raise DataError(
            f"{source} holds NUL bytes, first in line {_line_at(text, position)}, so it is damaged, no text, or "
            "written in another encoding. Write it again, or name its encoding, e.g. --encoding utf-16-le."
        )


def _with_plain_quotes(text: str, delimiter: str) -> tuple[str, int | None]:
    """The text without blanks before quoted cells, which pyarrow takes for parts of them; and where one is broken."""
    if '"' not in text:
        return text, None
    sign = re.escape(delimiter)
    cell = re.compile(rf'(^|{sign}) *(?:("(?:[^"]|"")*+")(?= *(?:{sign}|[\r\n]|\Z))|")', re.MULTILINE)
    broken = next((match.end() for match in cell.finditer(text) if match[2] is None), None)
    return (cell.sub(r"\1\2", text) if broken is None else text), broken


def _divided_cells(text: str, delimiter: str) -> tuple[list[str], list[Any], Any]:
    """Names, columns of text, and the first row that has another number of cells than the names, or None."""
    arrow, arrow_csv = (optional(name, "CSV files need", "cli") for name in ("pyarrow", "pyarrow.csv"))
    invalid: list[Any] = []

    def skip(row: Any) -> str:
        invalid.append(row)
        return "skip"

    data = text.encode()
    n_columns = len(next(csv.reader(io.StringIO(text.lstrip("\r\n"), newline=""), delimiter=delimiter)))
    table = arrow_csv.read_csv(
        arrow.BufferReader(data),
        # one block: a quoted cell may not reach from one to the next; one thread: rows are numbered
        arrow_csv.ReadOptions(
            use_threads=False,
            block_size=min(max(len(data), _SMALLEST_BLOCK), _LARGEST_BLOCK),
            column_names=[str(number) for number in range(n_columns)],
        ),
        arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip),
        arrow_csv.ConvertOptions(column_types=dict.fromkeys(map(str, range(n_columns)), arrow.string())),
    ).combine_chunks()
    header = [column[0].as_py().strip() for column in table.columns]
    return header, [column.slice(1) for column in table.columns], invalid[0] if invalid else None


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _line_of(text: str, row: Any) -> int:
    """The line in which an invalid row stands; that of the rows before, where lines do not end as usual."""
    position = text.find(f"\n{row.text}")
    return int(row.number) if position < 0 else _line_at(text, position + 1)


def _check_header(header: Sequence[str], source: str, dialect: Dialect) -> None:
    if not any(header):
        raise DataError(f"{source} is empty. Give a CSV file with the columns' names in its first line.")
    others = [sign for sign in _SIGN_NAMES if sign != dialect.delimiter and sign in header[0]]
    if len(header) == 1 and others:
        raise DataError(f"{source} has one column only, named {header[0]!r}: {_divided_by(others[0], dialect)}")
    if double := [name for name, count in Counter(header).items() if count > 1 and name]:
        raise DataError(f"{source} has {listed(double)} more than once in its first line. Rename or remove columns.")


def _misfit(got: str, otherwise: str, text: str, dialect: Dialect) -> DataError:
    """The error of a file whose lines do not fit; another delimiter that fits its first lines is the reason."""
    sign = _other_sign(text, dialect)
    return DataError(f"{got}: {_divided_by(sign, dialect)}" if sign else f"{got}{otherwise}")


def _other_sign(text: str, dialect: Dialect, at_least: int = 2) -> str | None:
    """Another sign that divides the first lines of a file evenly, into so many cells at least; None if none does."""
    first = text.splitlines(keepends=True)[:_N_FIRST]
    for sign in _OTHER_SIGNS:
        if sign != dialect.delimiter and sign in first[0]:
            header, columns, invalid = _divided_cells("".join(first), sign)
            if invalid is None and len(columns[0]) and len(header) >= max(2, at_least):
                return sign
    return None


def _divided_by(sign: str, dialect: Dialect) -> str:
    """By which sign cells are divided and by which they are not, and what to do; to end a sentence with."""
    name, wrong = _SIGN_NAMES[sign], _SIGN_NAMES.get(dialect.delimiter, dialect.delimiter)
    return f"its cells are divided by {name!r}, not by {wrong!r}. Pass --delimiter '{name}'."


def write(content: str | bytes, out: str) -> None:
    """Write text or bytes to a file, or text to standard output."""
    if isinstance(content, bytes):
        write_whole(out, content)
    else:
        write_text(content, out)


def write_text(text: str, out: str) -> None:
    """Write to a file, or to standard output."""
    if out == STANDARD:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except UnicodeEncodeError as error:
            raise DataError(
                f"Standard output can not show {error.object[error.start]!r} ({error.encoding}). Write to a file by "
                "--out, or set PYTHONIOENCODING=utf-8."
            ) from error
        return
    write_whole(out, text)


def write_parquet(frame: pd.DataFrame, out: str) -> None:
    """Write a frame to a Parquet file, without its index."""
    with whole_file(out) as unfinished:
        frame.to_parquet(unfinished, engine="pyarrow", index=False)


def check_out(out: str, form: str | None = None) -> None:
    """Refuse a place that can not be written to, before anything is searched; `form` is the format."""
    if form == PARQUET:
        if out == STANDARD:
            raise ParameterError("--format parquet needs a file to write: name it by --out.")
        optional("pyarrow.parquet", "Parquet files need", "cli")
    if out == STANDARD:
        return
    if Path(out).is_dir():
        raise StorageError(f"{out!r} is a folder. Name a file to write.")
    if not Path(out).absolute().parent.is_dir():
        raise StorageError(f"There is no folder {str(Path(out).parent)!r} to write {out!r} to. Create it first.")
