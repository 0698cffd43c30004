"""Ray on this machine with two workers: the rows of one machine; a killed worker costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from countarfactuals.exceptions import DataError
from countarfactuals.scale import Job, arrow_schema
from countarfactuals.scale import ray as engine

from .conftest import alike
from .workers import Assassinated

pytestmark = pytest.mark.scale


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False)
    yield ray
    ray.shutdown()


def dataset(ray: Any, rows: pd.DataFrame, n_blocks: int) -> Any:
    table = pa.Table.from_pandas(rows, preserve_index=False)
    size = -(-len(rows) // n_blocks)
    return ray.data.from_arrow([table.slice(start, size) for start in range(0, len(rows), size)])


def whole(ray: Any, lazy: Any) -> pa.Table:
    return pa.concat_tables([ray.get(block) for block in lazy.to_arrow_refs()])


def test_blocks_give_the_rows_of_one_machine(ray: Any, job: Job, rows: pd.DataFrame, expected: pd.DataFrame):
    for n_blocks in (1, 4):
        made = whole(ray, engine.explain(dataset(ray, rows, n_blocks), job))
        assert made.schema == arrow_schema(pa.Schema.from_pandas(rows).field("id").type)
        alike(made.to_pandas(), expected)


def test_a_killed_worker_costs_no_row_and_doubles_none(
    ray: Any, job: Job, rows: pd.DataFrame, expected: pd.DataFrame, tmp_path: Path
):
    witness = tmp_path / "killed"
    made = whole(ray, engine.explain(dataset(ray, rows, 4), Assassinated(job, "k010", str(witness))))
    assert witness.exists()
    alike(made.to_pandas(), expected)


def test_rows_of_ray_need_a_key(ray: Any, job: Job, rows: pd.DataFrame):
    with pytest.raises(DataError, match="Rows of Ray have no labels"):
        engine.explain(dataset(ray, rows, 1), Job(job.explainer, "good"))
