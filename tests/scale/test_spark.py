"""Spark on a local cluster of two worker slots: the rows of one machine; a killed worker costs nothing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from countarfactuals.counterfactuals.lines import FIELDS
from countarfactuals.exceptions import DataError
from countarfactuals.scale import Job, spark

from .conftest import alike
from .workers import Assassinated

pytestmark = pytest.mark.scale


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed; its tests are left out")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    made = sql.SparkSession.builder.master("local[2,4]").config(map=options).getOrCreate()
    yield made
    made.stop()


def test_partitions_give_the_rows_of_one_machine(session: Any, job: Job, rows: pd.DataFrame, expected: pd.DataFrame):
    for n_partitions in (1, 4):
        lazy = spark.explain(session.createDataFrame(rows).repartition(n_partitions), job)
        assert lazy.columns == [field.name for field in FIELDS]
        assert dict(lazy.dtypes)["n_changed"] == "bigint"
        alike(lazy.toPandas(), expected)


def test_a_killed_worker_costs_no_row_and_doubles_none(
    session: Any, job: Job, rows: pd.DataFrame, expected: pd.DataFrame, tmp_path: Path
):
    witness = tmp_path / "killed"
    lazy = spark.explain(session.createDataFrame(rows).repartition(4), Assassinated(job, "k010", str(witness)))
    made = lazy.toPandas()
    assert witness.exists()
    alike(made, expected)


def test_rows_of_spark_need_a_key(session: Any, job: Job, rows: pd.DataFrame):
    with pytest.raises(DataError, match="Rows of Spark have no labels"):
        spark.explain(session.createDataFrame(rows), Job(job.explainer, "good"))
