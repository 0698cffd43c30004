"""What joblib's `parallel_config` sets is used, and changes no result."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

from countarfactuals import AdversarialRandomForest, ARFExplainer
from countarfactuals.datasets import load_loan

X = load_loan(n=600).X[["age", "income", "amount", "housing"]]
ROWS = X.dropna().head(24)
BACKENDS = ["loky", "multiprocessing", "threading", "dask"]


class Witness:
    """A model that notes in which process and thread it is asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        (self.folder / f"{os.getpid()}-{threading.get_ident()}").touch()
        return np.clip(frame["income"].to_numpy(float) / 60_000, 0.0, 1.0)


@contextmanager
def backend(name: str) -> Iterator[None]:
    """Two workers of a backend."""
    if name != "dask":
        with parallel_config(backend=name, n_jobs=2):
            yield
        return
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster),
        parallel_config(backend="dask"),
    ):
        yield


def forest() -> AdversarialRandomForest:
    return AdversarialRandomForest(n_estimators=5, min_samples_leaf=5, max_iter=1, random_state=1)


def asked(folder: Path) -> tuple[set[int], set[int]]:
    """The processes and the threads in which the model was asked."""
    pairs = [path.name.split("-") for path in folder.iterdir()]
    return {int(process) for process, _ in pairs}, {int(thread) for _, thread in pairs}


@pytest.mark.parametrize("name", BACKENDS)
def test_rows_are_explained_by_the_backend_that_is_set(name: str, tmp_path: Path):
    model = Witness(tmp_path)
    explainer = ARFExplainer(
        model, classes=("bad", "good"), density=forest(), max_evaluations=60, relations=None, random_state=1
    ).fit(X)
    alone = explainer.explain_many(ROWS, "good", progress=False)
    for path in tmp_path.iterdir():
        path.unlink()
    with backend(name):
        made = explainer.explain_many(ROWS, "good", progress=False)
    assert [result.rows.tobytes() for result in made] == [result.rows.tobytes() for result in alone]
    processes, threads = asked(tmp_path)
    if name == "threading":
        assert processes == {os.getpid()}
        assert threads - {threading.get_ident()}
    else:
        assert processes - {os.getpid()}


@pytest.mark.parametrize("name", BACKENDS)
def test_forests_are_fitted_in_threads_whatever_is_set(name: str):
    expected = forest().fit(X)
    with backend(name):
        made = forest().fit(X)
        scores = made.score_samples(X)
        drawn = made.sample(500, random_state=1)
    np.testing.assert_array_equal(scores, expected.score_samples(X))
    pd.testing.assert_frame_equal(drawn, expected.sample(500, random_state=1))
