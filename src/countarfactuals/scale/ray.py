"""Ray: blocks of a dataset are explained by worker processes (`map_batches`).

The result is lazy, and every block has the declared columns. Progress is told by Ray's own bars and dashboard; a lost
worker's blocks are explained again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from countarfactuals._optional import optional
from countarfactuals.scale.job import Job

_RETRIES = 3


def explain(dataset: Any, job: Job) -> Any:
    """The lines of all rows, as a lazy dataset of Ray.

    Parameters
    ----------
    dataset : a Ray Dataset.
    job : what is asked of every row; its key is needed, as rows of Ray have no labels.
    """
    job.needed_key("Ray")
    return dataset.map_batches(partial(_lines, job=job), batch_format="pyarrow", batch_size=None)


def _lines(block: Any, job: Job) -> Any:
    return job(block)


def finished(
    function: Callable[[Any], Any], items: Sequence[Any], address: str | None, n_workers: int
) -> Iterator[Any]:
    """What a function gives for each item, as workers finish; for the parameters see `dask.finished`."""
    ray = optional("ray", "The engine ray needs", "ray")
    ray.init(address=address, num_cpus=None if address else n_workers, include_dashboard=False, log_to_driver=False)
    try:
        remote = ray.remote(max_retries=_RETRIES)(lambda item: function(item))
        waiting = [remote.remote(item) for item in items]
        while waiting:
            done, waiting = ray.wait(waiting)
            yield ray.get(done[0])
    finally:
        ray.shutdown()
