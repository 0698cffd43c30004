"""Forests grown on Dask's workers: those that are grown without any, also if a worker is killed meanwhile."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from countarfactuals import AdversarialRandomForest, ARFExplainer
from countarfactuals.arf.grown_on_dask import grow_there
from countarfactuals.datasets import load_loan
from countarfactuals.exceptions import DataError

dataframe = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

N, HELD = 2300, 600  # rows, and those of a part: four parts


@contextmanager
def workers(n: int) -> Iterator[Any]:
    """The client of so many worker processes; of none there is no client."""
    if n == 0:
        yield None
        return
    options = {"n_workers": n, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def forest(n_trees: int = 8, **options: Any) -> AdversarialRandomForest:
    small = {"min_samples_leaf": 5, "max_iter": 1, "rows_in_memory": HELD, "random_state": 1}
    return AdversarialRandomForest(n_estimators=n_trees, **small | options)


def loans() -> pd.DataFrame:
    return load_loan(n=N).X


def frame(X: pd.DataFrame) -> Any:
    """The rows in partitions, of which one has none."""
    pieces = [X[:700], X[700:700], X[700:1500], X[1500:]]
    return dataframe.from_map(lambda number: pieces[number], range(len(pieces)), meta=X.head(0))


def assert_same(made: AdversarialRandomForest, expected: AdversarialRandomForest, rows: pd.DataFrame) -> None:
    np.testing.assert_array_equal(made.forest_.threshold, expected.forest_.threshold)
    np.testing.assert_array_equal(made.leaves_.log_weight, expected.leaves_.log_weight)
    np.testing.assert_array_equal(made.score_samples(rows), expected.score_samples(rows))
    assert made.accuracies_ == expected.accuracies_


def functions_run(dask_scheduler: Any) -> list[str]:
    """The functions that workers have run."""
    return list(dask_scheduler.task_prefixes)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows in a file, which is read without Dask."""
    path = tmp_path_factory.mktemp("loans") / "loans.parquet"
    loans().to_parquet(path, index=False)
    return path


@pytest.fixture(scope="module")
def model() -> DecisionTreeClassifier:
    loan = load_loan(n=N)
    return DecisionTreeClassifier(max_depth=3, random_state=1).fit(loan.X[["income", "amount"]], loan.y)


@pytest.mark.parametrize("n_workers", [0, 1, 2])
def test_any_number_of_workers_grows_the_same_trees(parquet: Path, n_workers: int):
    expected = forest().fit(parquet)
    with workers(n_workers) as client:
        made = forest(n_jobs=2).fit(frame(loans()))
        if client is not None:
            assert grow_there.__name__ in client.run_on_scheduler(functions_run)
    assert_same(made, expected, loans())


def test_explainers_and_errors(parquet: Path, model: DecisionTreeClassifier):
    X = loans()[["income", "amount"]].dropna()
    X.to_parquet(parquet.with_name("numbers.parquet"), index=False)
    explainer = ARFExplainer(model, density=forest(), relations=None, random_state=1)
    expected = explainer.fit(parquet.with_name("numbers.parquet")).background_.plausibility.forest
    too_large = X.assign(income=X["income"].where(X["income"] != X["income"].iloc[2000], 1e200))
    with workers(2) as client:
        made = explainer.fit(frame(X)).background_.plausibility.forest
        assert grow_there.__name__ in client.run_on_scheduler(functions_run)
        with pytest.raises(DataError, match="'income' hold numbers beyond"):
            forest().fit(frame(too_large))
    assert_same(made, expected, made.sample(100, random_state=1))


def kill_who_grows(client: Any, pids: dict[str, int]) -> None:
    """Kill the first worker that is seen to grow trees, within a minute."""
    for _ in range(6000):
        for address, keys in client.processing().items():
            if any(grow_there.__name__ in str(key) for key in keys):
                os.kill(pids[address], signal.SIGKILL)
                return
        time.sleep(0.01)


def test_a_worker_that_is_killed_costs_nothing(parquet: Path):
    slow = {"n_trees": 60, "max_iter": 5, "early_stopping": False}
    with workers(2) as client:
        pids = client.run(os.getpid)
        assassin = threading.Thread(target=kill_who_grows, args=(client, pids))
        assassin.start()
        made = forest(**slow).fit(frame(loans()))
        assassin.join()
        assert set(client.run(os.getpid).values()) != set(pids.values())
    assert_same(made, forest(**slow).fit(parquet), loans())
