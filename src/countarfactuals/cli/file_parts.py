"""Files cut in parts that fit in memory, and each part read on its own: CSV by bytes, Parquet by rows of its groups.

1. `files_of` finds the files of a pattern, in the order of their names.
2. `parts_of` goes through a file once, with one block of it in memory. A record of a CSV file ends at a line break
   outside of quotes, which is one behind an even number of quotes; blank lines are no records.
3. `read_part` reads the bytes or rows of one part, wherever a worker sees the file by the same name. A cell that can
   not be read costs its row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from glob import glob, has_magic
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from countarfactuals._optional import optional
from countarfactuals.cli.arguments import STANDARD, Dialect
from countarfactuals.cli.data_files import PARQUET_SUFFIXES, check_names, fitting, of_suffix, read_cells, shown
from countarfactuals.exceptions import CountarfactualsError, DataError
from countarfactuals.schema import Schema

_BLOCK = 2**22  # bytes
_QUOTE, _BREAK, _RETURN = ord('"'), ord("\n"), ord("\r")


class Part(NamedTuple):
    """Some rows of a file.

    Parameters
    ----------
    number : of the part, counted from 0 through all files.
    file : its name.
    first, n_rows : number of the first row in the file, counted from 0, and how many there are.
    start, stop : bytes of a CSV file, or rows of a group of a Parquet file.
    head : bytes of a CSV file up to the end of its header.
    group : of a Parquet file.
    """

    number: int
    file: str
    first: int
    n_rows: int
    start: int
    stop: int
    head: int = 0
    group: int = 0


class PartRows(NamedTuple):
    """The rows of a part, labelled by their numbers in the file.

    Parameters
    ----------
    X : the features; cells of rows that can not be read are missing.
    extra : other columns as they are in the file.
    errors : by position, why a row can not be read.
    """

    X: pd.DataFrame
    extra: dict[str, pd.Series]
    errors: dict[int, CountarfactualsError]


def files_of(pattern: str) -> list[str]:
    """The files that a pattern such as rows/*.parquet stands for."""
    if pattern == STANDARD:
        raise DataError("--engine reads files in parts, which standard input does not allow. Name files by --data.")
    found = sorted(path for path in glob(pattern) if Path(path).is_file()) if has_magic(pattern) else [pattern]
    if not found:
        raise DataError(f"No file is named like {pattern!r}. Check the folder, and put the pattern in quotes.")
    if absent := [path for path in found if not Path(path).is_file()]:
        raise DataError(
            f"There is no file {absent[0]!r}. Check its name and folder; a pattern such as '*.csv' will do."
        )
    return found


def parts_of(files: Sequence[str], dialect: Dialect, size: int) -> list[Part]:
    """The parts of files, each of so many rows at most."""
    parts: list[Part] = []
    for file in files:
        made = _parquet_parts(file, size) if _is_parquet(file) else _csv_parts(file, dialect, size)
        parts += [part._replace(number=number) for number, part in enumerate(made, start=len(parts))]
    return parts


def _is_parquet(file: str) -> bool:
    """Whether a file's name says that it is Parquet; else it is CSV."""
    return Path(file).suffix.lower() in PARQUET_SUFFIXES


def head_names(file: str, dialect: Dialect) -> list[str]:
    """The names of a file's columns."""
    if _is_parquet(file):
        with _opened(file) as opened:
            return list(map(str, opened.schema_arrow.names))
    (part,) = islice(_csv_parts(file, dialect, 1), 1)
    return list(_read_csv(part, dialect))


def key_type(file: str, key: str) -> Any:
    """The pyarrow type of a column of keys; of a CSV file they are text."""
    if _is_parquet(file):
        with _opened(file) as opened:
            return opened.schema_arrow.field(key).type
    return optional("pyarrow", "Parquet files need", "cli").string()


def _opened(file: str) -> Any:
    parquet = optional("pyarrow.parquet", "Parquet files need", "cli")
    try:
        return parquet.ParquetFile(file)
    except Exception as error:  # pyarrow has errors of its own for each way in which bytes can be wrong
        raise DataError(f"{file!r} is no readable Parquet file ({type(error).__name__}). Write it again.") from error


def _parquet_parts(file: str, size: int) -> Iterator[Part]:
    with _opened(file) as opened:
        first = 0
        for group in range(opened.num_row_groups):
            n = opened.metadata.row_group(group).num_rows
            for start in range(0, n, size):
                stop = min(start + size, n)
                yield Part(0, file, first + start, stop - start, start, stop, group=group)
            first += n


def _csv_parts(file: str, dialect: Dialect, size: int) -> Iterator[Part]:
    _check_encoding(file, dialect.encoding)
    head, start, n, first = 0, 0, 0, 0
    for ends in _record_ends(file):
        if not head and len(ends):
            head = start = int(ends[0])
            ends = ends[1:]
        while len(ends) >= size - n:
            stop = int(ends[size - n - 1])
            yield Part(0, file, first, size, start, stop, head)
            ends, first, start, n = ends[size - n :], first + size, stop, 0
        if len(ends):
            n, last = n + len(ends), int(ends[-1])
    if n:
        yield Part(0, file, first, n, start, last, head)
    elif not first:
        raise DataError(f"{file!r} has no rows below its header. Give a file with at least one, or leave it out.")


def _check_encoding(file: str, encoding: str) -> None:
    """Refuse an encoding in which bytes do not tell where lines end."""
    try:
        is_plain = "\n".encode(encoding) == b"\n"
    except LookupError as error:
        raise DataError(f"There is no encoding {encoding!r}. Name another, e.g. --encoding latin-1.") from error
    if not is_plain:
        raise DataError(f"{file!r} is written in {encoding}, which can not be read in parts. Write it in UTF-8.")


def _record_ends(file: str) -> Iterator[np.ndarray]:
    """Where records end that are not blank, block by block."""
    n_quotes, offset, begin, before = 0, 0, 0, np.zeros(1, np.uint8)
    with Path(file).open("rb") as opened:
        while block := opened.read(_BLOCK):
            codes = np.frombuffer(block, np.uint8)
            quotes = n_quotes + np.cumsum(codes == _QUOTE)
            at = np.flatnonzero((codes == _BREAK) & (quotes % 2 == 0))
            ends = offset + at + 1
            lengths = np.diff(ends, prepend=begin)
            previous = np.concatenate([before, codes])[at]  # the byte before the break
            yield ends[(lengths > 2) | ((lengths == 2) & (previous != _RETURN))]
            begin = int(ends[-1]) if len(ends) else begin
            n_quotes, offset, before = int(quotes[-1]), offset + len(block), codes[-1:]
    if begin < offset:
        yield np.array([offset])  # the last record has no line break


def read_part(part: Part, dialect: Dialect, schema: Schema, known: Collection[str], extra: Sequence[str]) -> PartRows:
    """The rows of a part; for the parameters see `data_files.read_like`."""
    is_text = not _is_parquet(part.file)
    table = _read_csv(part, dialect) if is_text else _read_parquet(part)
    rows = range(part.first, part.first + len(table))
    if len(table) != part.n_rows:
        raise DataError(
            f"{part.file!r} has {len(table)} rows where {part.n_rows} were counted, from row {part.first} on. It was "
            "changed meanwhile, or its lines do not end as usual. Begin anew."
        )
    check_names(list(table), part.file, lambda _: None, schema, known, extra)
    columns: dict[Any, Any] = {}
    errors: dict[int, CountarfactualsError] = {}
    for column in schema.columns:
        cells, failed = _fitting(column, table[str(column.name)], rows, dialect, is_text)
        columns[column.name] = cells.array
        errors = {**failed, **errors}
    others = {name: table[name] for name in extra if name in table}
    return PartRows(pd.DataFrame(columns, index=list(rows)), others, errors)


def _fitting(
    column: Any, cells: pd.Series, rows: Sequence[int], dialect: Dialect, is_text: bool
) -> tuple[pd.Series, dict[int, CountarfactualsError]]:
    """A column as the schema takes it, and the cells that it does not take, which are missing instead."""
    try:
        return fitting(column, cells, rows, dialect, is_text), {}
    except CountarfactualsError:
        pass
    errors, kept = {}, cells.astype(object)
    for position, row in enumerate(rows):
        try:
            fitting(column, cells.iloc[[position]], [row], dialect, is_text)
        except CountarfactualsError as error:
            errors[position] = error
            kept.iloc[position] = None
    return fitting(column, kept, rows, dialect, is_text), errors


def _read_csv(part: Part, dialect: Dialect) -> pd.DataFrame:
    with Path(part.file).open("rb") as file:
        head = file.read(part.head)
        file.seek(part.start)
        content = head + file.read(part.stop - part.start)
    try:
        text = content.decode(dialect.encoding).removeprefix("\ufeff")
    except UnicodeError as error:
        raise DataError(
            f"{part.file!r} is not written in {dialect.encoding} ({error}). Name its encoding, e.g. --encoding latin-1."
        ) from error
    return read_cells(text, shown(part.file), of_suffix(dialect, part.file), lambda _: None)


def _read_parquet(part: Part) -> pd.DataFrame:
    """The rows of a group, of which one batch is in memory at a time."""
    arrow = optional("pyarrow", "Parquet files need", "cli")
    batches, at = [], 0
    with _opened(part.file) as opened:
        for batch in opened.iter_batches(batch_size=part.n_rows, row_groups=[part.group]):
            low, high = max(part.start - at, 0), min(part.stop - at, len(batch))
            if low < high:
                batches.append(batch.slice(low, high - low))
            at += len(batch)
            if at >= part.stop:
                break
    return arrow.Table.from_batches(batches).to_pandas().reset_index(drop=True).rename(columns=str)
