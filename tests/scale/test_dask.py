"""Dask on two worker processes: the rows of one machine, whatever the partitions; a killed worker costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from countarfactuals.scale import Job, dask

from .conftest import alike
from .workers import Assassinated

dataframe = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def loads(dask_worker: Any) -> int:
    """How often a worker has read an explainer, by what it keeps."""
    from countarfactuals.scale import shipped

    return len(shipped._KEPT)


def test_partitions_give_the_rows_of_one_machine(client: Any, job: Job, rows: pd.DataFrame, expected: pd.DataFrame):
    for n_partitions in (1, 5):
        lazy = dask.explain(dataframe.from_pandas(rows, npartitions=n_partitions), job)
        assert list(lazy.columns) == list(expected.columns)
        assert lazy.dtypes["n_changed"] == expected.dtypes["n_changed"]
        made = lazy.compute()
        alike(made, expected)
        assert made["row"].drop_duplicates().tolist() == rows["id"].tolist()
    assert expected.set_index("row")["status"]["k005"] == "error"
    assert max(client.run(loads).values()) == 1


def test_labels_of_a_frame_are_keys(client: Any, job: Job, rows: pd.DataFrame, expected: pd.DataFrame):
    labelled = dataframe.from_pandas(rows.set_index("id"), npartitions=3)
    made = dask.explain(labelled, Job(job.explainer, "good")).compute()
    alike(made, expected)


def test_a_killed_worker_costs_no_row_and_doubles_none(
    client: Any, job: Job, rows: pd.DataFrame, expected: pd.DataFrame, tmp_path: Path
):
    witness = tmp_path / "killed"
    lazy = dask.explain(dataframe.from_pandas(rows, npartitions=6), Assassinated(job, "k010", str(witness)))
    made = lazy.compute()
    assert witness.exists()
    alike(made, expected)
