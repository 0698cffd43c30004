"""Parts that lie on Dask's workers, where their trees are grown.

1. The worker that has a partition makes a matrix of it, which it keeps (Dask moves to disk what memory does not hold).
2. Each matrix is cut into what goes to each part; a part's rows are joined where its trees are grown.
3. The trees of a part are one task, with a seed of their own, so that they are the same on any number of workers, and
   the same as without any. What a lost worker had is made anew by others, from the partitions it came from.
4. Leaves are fitted here, to one matrix after the other: sums of all leaves are larger than the rows of a partition.

A Dask frame is handled so where a `distributed.Client` is active.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from countarfactuals.arf.grown_on_parts import Dealing, GrownPart, PartToGrow

Check = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class RowsOnDask:
    """All rows as matrices on the workers, in order."""

    client: Any
    matrices: tuple[Any, ...]  # futures

    def __call__(self) -> Iterator[np.ndarray]:
        """The matrices, brought here one by one."""
        return (matrix.result() for matrix in self.matrices)

    def deal(self, dealing: Dealing, check: Check) -> PartsOnDask:
        """Deal the rows to parts, when they have passed a check."""
        sizes = self.client.gather(self.client.map(len, self.matrices, pure=False))
        starts = np.cumsum([0, *sizes[:-1]]).tolist()
        parts = [
            [
                self.client.submit(_of_part, matrix, first, part, dealing, check, pure=False)
                for matrix, first in zip(self.matrices, starts, strict=True)
            ]
            for part in range(dealing.n_parts)
        ]
        return PartsOnDask(self.client, parts)


@dataclass(frozen=True)
class PartsOnDask:
    """Parts, each a list of futures of its rows."""

    client: Any
    parts: Sequence[Sequence[Any]]

    def first(self) -> np.ndarray:
        """The rows of the first part, (n, p)."""
        return self.client.submit(np.concatenate, self.parts[0], pure=False).result()

    def grown(self, tasks: Sequence[PartToGrow]) -> list[GrownPart]:
        """What each task makes of its part."""
        waiting = [
            self.client.submit(grow_there, task, pieces, pure=False)
            for task, pieces in zip(tasks, self.parts, strict=True)
        ]
        return self.client.gather(waiting)


def rows_on_dask(partitions: Sequence[Any], encode: Callable[[Any], np.ndarray], n_columns: int) -> RowsOnDask | None:
    """The rows of a Dask frame's partitions, on the workers of the active client; None where there is none.

    Parameters
    ----------
    partitions : as `to_delayed` gives them; none for data of another kind.
    encode : makes a matrix of a partition.
    n_columns : of the matrix.
    """
    client = _active_client() if partitions else None
    if client is None:
        return None
    from dask import delayed

    shipped = delayed(encode)  # once for all partitions: a model may be in it
    matrices = [delayed(_encoded, pure=False)(partition, shipped, n_columns) for partition in partitions]
    return RowsOnDask(client, tuple(client.compute(matrices)))


def _active_client() -> Any:
    if "distributed" not in sys.modules:  # who has a client has imported it
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def _encoded(partition: Any, encode: Callable[[Any], np.ndarray], n_columns: int) -> np.ndarray:
    return encode(partition) if len(partition) else np.empty((0, n_columns))


def _of_part(matrix: np.ndarray, first: int, part: int, dealing: Dealing, check: Check) -> np.ndarray:
    """Those rows of a matrix that go to a part; `first` is the place of its first row."""
    return check(matrix)[dealing.part_of(first, len(matrix)) == part]


def grow_there(task: PartToGrow, pieces: Sequence[np.ndarray]) -> GrownPart:
    """Grow the trees of a part, on the worker that gets its pieces."""
    return task(np.concatenate(pieces))
