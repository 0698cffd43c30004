"""Dask: each partition of a frame is explained by the worker that has it (`map_partitions`).

The result is lazy and its columns are declared. Progress is told by Dask's dashboard or `distributed.progress`; a lost
worker's partitions are explained again by others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from countarfactuals._optional import optional
from countarfactuals.scale.job import Job


def explain(frame: Any, job: Job) -> Any:
    """The lines of all rows, as a lazy frame of Dask.

    Parameters
    ----------
    frame : a Dask DataFrame; its labels tell rows apart where the job names no key.
    job : what is asked of every row.
    """
    meta = job.no_lines(frame._meta)
    return frame.map_partitions(job, meta=meta, align_dataframes=False).clear_divisions()


def finished(
    function: Callable[[Any], Any], items: Sequence[Any], address: str | None, n_workers: int
) -> Iterator[Any]:
    """What a function gives for each item, as workers finish.

    Parameters
    ----------
    function, items : sent to the workers.
    address : of a scheduler; None for workers on this machine.
    n_workers : how many of these.
    """
    distributed = optional("distributed", "The engine dask needs", "dask")
    with ExitStack() as stack:
        if address is None:
            here = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.ERROR}
            own = distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, **here)
            address = stack.enter_context(own).scheduler_address
        client = stack.enter_context(distributed.Client(address))
        futures = client.map(function, items, pure=False)
        for _, result in distributed.as_completed(futures, with_results=True):
            yield result
