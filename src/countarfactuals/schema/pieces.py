"""Data that is larger than memory: where it is read from, piece by piece, as often as it is asked for.

| what | pieces |
|---|---|
| `pyarrow.dataset.Dataset`, or the path of a Parquet file or folder | batches of 65,536 rows at most |
| a Dask frame | its partitions |
| a Spark frame | batches of a Parquet folder that it is written to, in the temporary folder, as long as it is used |

The engines are imported by who made the frame; here they are told by the names of their types.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

from ..exceptions import DataError, MissingDependencyError

_ROWS = 65_536


class Pieces(NamedTuple):
    """A table in pieces: a function that begins to read it anew, and Dask's partitions if it is theirs."""

    read: Callable[[], Iterator[Any]]
    partitions: tuple[Any, ...] = ()


def as_pieces(X: Any) -> Pieces | None:
    """The pieces of data that is not held in memory; None for a frame that is."""
    module = type(X).__module__
    if isinstance(X, str | os.PathLike):
        return _of_path(os.fspath(X))
    if module.startswith("pyarrow._dataset"):
        return Pieces(lambda: _of_dataset(X))
    if module.startswith("dask") and hasattr(X, "to_delayed"):
        return _of_dask(X)
    if module.startswith("pyspark.sql") and hasattr(X, "toLocalIterator"):
        return _of_spark(X)
    return None


def _of_path(path: str) -> Pieces:
    if not Path(path).exists():
        raise DataError(f"There is no file or folder {path!r}. Pass a frame, or the path of Parquet files.")
    try:
        from pyarrow import dataset
    except ImportError as error:
        raise MissingDependencyError(
            "Parquet is read by pyarrow, which is not installed: pip install 'countarfactuals[cli]'"
        ) from error
    table = dataset.dataset(path, format="parquet")
    return Pieces(lambda: _of_dataset(table))


def _of_dataset(table: Any) -> Iterator[Any]:
    import pyarrow as pa

    index = [name for name in (table.schema.pandas_metadata or {}).get("index_columns", ()) if isinstance(name, str)]
    columns = [name for name in table.schema.names if name not in index]  # an index is no column of a pandas frame
    for batch in table.to_batches(columns=columns, batch_size=_ROWS):
        if batch.num_rows:
            yield pa.Table.from_batches([batch])


def _of_dask(frame: Any) -> Pieces:
    partitions = tuple(frame.to_delayed())

    def read() -> Iterator[Any]:
        for partition in partitions:
            rows = partition.compute()
            if len(rows):
                yield rows

    return Pieces(read, partitions)


def _of_spark(frame: Any) -> Pieces:
    """Written once, as a query may give its rows in another order each time."""
    import pandas as pd

    folder = tempfile.TemporaryDirectory(prefix="countarfactuals-")
    rows = frame.toLocalIterator()
    for number in count():
        some = list(islice(rows, _ROWS))
        if not some:
            break
        part = pd.DataFrame.from_records(some, columns=frame.columns)
        part.to_parquet(Path(folder.name) / f"{number:08}.parquet")
    pieces = _of_path(folder.name)
    # the folder is there as long as the function that reads it
    return Pieces(lambda kept=folder: pieces.read())  # type: ignore[misc]
