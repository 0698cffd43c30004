"""Spark: batches of the rows of each partition are explained by its Python worker (`mapInPandas`).

The result is lazy and its schema is declared. Progress is told by Spark's own page; a lost worker's partitions are
explained again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from countarfactuals._optional import optional
from countarfactuals.counterfactuals.lines import FIELDS, KEY, NUMBER, WHOLE, WORDS
from countarfactuals.scale.job import Job

_FAILURES = 4  # of one task, after which the work is given up


def explain(frame: Any, job: Job) -> Any:
    """The lines of all rows, as a lazy frame of Spark.

    Parameters
    ----------
    frame : a Spark DataFrame.
    job : what is asked of every row; its key is needed, as rows of Spark have no labels.
    """
    key = frame.schema[job.needed_key("Spark")].dataType.simpleString()
    types = {KEY: key, WORDS: "string", WHOLE: "bigint", NUMBER: "double"}
    schema = ", ".join(f"`{field.name}` {types[field.kind]}" for field in FIELDS)
    return frame.mapInPandas(partial(_lines, job), schema)


def _lines(job: Job, frames: Iterator[Any]) -> Iterator[Any]:
    for frame in frames:
        yield job(frame)


def finished(
    function: Callable[[Any], Any], items: Sequence[Any], address: str | None, n_workers: int
) -> Iterator[Any]:
    """What a function gives for each item; for the parameters see `dask.finished`, `address` is that of a master.

    Spark hands results over when all are there; its console shows the progress.
    """
    sql = optional("pyspark.sql", "The engine spark needs", "spark")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master(address or f"local[{n_workers},{_FAILURES}]")
    session = builder.appName("countarfactuals").getOrCreate()
    try:
        yield from session.sparkContext.parallelize(items, len(items)).map(function).collect()
    finally:
        session.stop()
