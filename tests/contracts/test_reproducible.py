"""Same random_state, same result, to the last bit: whatever the order, the processes, and after storage."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from countarfactuals import Explainer

from .checks import same
from .methods import BY_NAME, METHODS, Method, every_method
from .tables import Scorer, head, trained

N_ROWS = 6
ROOT = Path(__file__).parents[2]


@cache
def explained(name: str, seed: int = 1) -> tuple[Any, Any, Any]:
    """A fitted explainer, the rows, and their results one by one."""
    model, X = trained("binary", "missing", "pandas", "forest")
    explainer = BY_NAME[name].make(model, max_evaluations=200, random_state=seed).fit(X)
    rows = head(X, N_ROWS)
    return explainer, rows, [explainer.explain(rows.iloc[[i]]) for i in range(N_ROWS)]


def all_same(batch: Any, results: list[Any]) -> bool:
    return len(batch) == len(results) and all(map(same, batch, results))


@every_method
def test_explain_twice_and_many(method: Method):
    explainer, rows, results = explained(method.name)
    assert any(len(result) for result in results)
    assert same(explainer.explain(rows.iloc[[0]]), results[0])
    assert all_same(explainer.explain_many(rows, n_jobs=1), results)


@every_method
def test_order_of_rows(method: Method):
    explainer, rows, results = explained(method.name)
    order = np.random.default_rng(0).permutation(N_ROWS).tolist()
    batch = explainer.explain_many(rows.iloc[order])
    assert list(batch.index) == order
    assert all_same(batch, [results[i] for i in order])


@every_method
@pytest.mark.parametrize("n_jobs", [2, pytest.param(4, marks=pytest.mark.full)])
def test_processes_of_ours(method: Method, n_jobs: int):
    explainer, rows, results = explained(method.name)
    batch = explainer.explain_many(rows, n_jobs=n_jobs)
    assert list(batch.index) == rows.index.tolist()
    assert all_same(batch, results)


@every_method
def test_fitting_again_and_in_threads(method: Method):
    _, rows, results = explained(method.name)
    model, X = trained("binary", "missing", "pandas", "forest")
    for n_jobs in (1, 2):
        again = method.make(model, max_evaluations=200, n_jobs=n_jobs).fit(X)
        result = again.explain(rows.iloc[[1]])
        assert np.array_equal(result.rows, results[1].rows, equal_nan=True)
        assert result.scores.tobytes() == results[1].scores.tobytes()
        assert result.log_density.tobytes() == results[1].log_density.tobytes()


@every_method
def test_after_storage(method: Method, tmp_path: Path):
    explainer, rows, results = explained(method.name)
    path = tmp_path / "explainer"
    explainer.save(path)
    loaded = type(explainer).load(path, explainer.model)
    assert type(Explainer.load(path, explainer.model)) is type(explainer)
    for i, result in enumerate(results[:3]):
        again = loaded.explain(rows.iloc[[i]])
        assert np.array_equal(again.rows, result.rows, equal_nan=True)
        for name, values in result.objectives.items():
            assert again.objectives[name].tobytes() == values.tobytes()
        assert again.typicality.tobytes() == result.typicality.tobytes()
        assert again.provenance["seed"] == result.provenance["seed"]


@every_method
def test_another_seed_differs(method: Method):
    _, _, results = explained(method.name)
    _, _, others = explained(method.name, seed=2)
    assert not all(map(same, results, others))


@every_method
def test_without_a_seed_a_fitted_explainer_repeats_itself(method: Method):
    X = trained("binary", "mixed", "pandas", "callable")[1]
    explainer = method.make(Scorer("mixed"), classes=("bad", "good"), max_evaluations=100, random_state=None).fit(X)
    assert same(explainer.explain(X.iloc[[4]]), explainer.explain(X.iloc[[4]]))


def fingerprint(name: str) -> str:
    """A hash of the results of a method."""
    stored = [result.to_dict() for result in explained(name)[2]]
    for result in stored:
        result["provenance"].pop("seconds")
    return hashlib.sha256(json.dumps(stored, sort_keys=True).encode()).hexdigest()


def test_other_processes():
    """With another hash seed, in which sets and dicts of strings have another order."""
    code = (
        "from tests.contracts.methods import METHODS\n"
        "from tests.contracts.test_reproducible import fingerprint\n"
        "for method in METHODS: print(fingerprint(method.name))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4321"}
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == [fingerprint(method.name) for method in METHODS]
