"""This machine alone: parts go to processes of joblib, one after the other where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from countarfactuals.exceptions import DataError


def finished(
    function: Callable[[Any], Any], items: Sequence[Any], address: str | None, n_workers: int
) -> Iterator[Any]:
    """What a function gives for each item, as processes finish; there is no address."""
    try:
        yield from Parallel(n_jobs=n_workers, return_as="generator")(delayed(function)(item) for item in items)
    except TerminatedWorkerError as error:
        raise DataError(
            "A process ended unexpectedly, perhaps for lack of memory. What is finished is kept: go on with --resume, "
            "with fewer --jobs or smaller parts by --rows-per-part."
        ) from error
