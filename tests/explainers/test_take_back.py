"""No row that leaves has a change that could be taken back while it stays valid, allowed and no less plausible."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals import make_explainer
from countarfactuals.constraints import as_constraints
from countarfactuals.explainers import Explainer
from countarfactuals.explainers.problem import Problem
from countarfactuals.explainers.take_back import take_back

from .on_its_own import run

METHODS = ["arf", "mocarf", "moc", "mocctree"]
CONSTRAINTS = [None, {"fixed": ["a"], "max_changed": 4}, {"groups": [["b", "c"]]}]


@cache
def data() -> pd.DataFrame:
    """Twelve numbers of which four count, so that most changes are not needed."""
    rng = np.random.default_rng(5)
    common = rng.normal(size=(400, 3))
    columns = common[:, np.arange(12) % 3] + rng.normal(size=(400, 12))
    return pd.DataFrame(columns, columns=list("abcdefghijkl")).round(2)


def model(frame: pd.DataFrame) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-frame[["a", "b", "c", "d"]].sum(axis=1).to_numpy()))


@cache
def fitted(method: str) -> Any:
    return make_explainer(method, model, classes=("no", "yes"), max_evaluations=400, random_state=3).fit(data())


def removable(explainer: Explainer, problem: Problem, row: np.ndarray) -> list[int]:
    """The changed columns of a row that can be put back to x, found one by one and with the model itself."""
    schema = explainer.background_.schema
    own = problem.objectives(row[None])[0, problem.at("implausibility")]
    found = []
    for j in np.flatnonzero(row != problem.x):
        shorter = row.copy()
        shorter[j] = problem.x[j]
        if (shorter == problem.x).all() or not problem.limits.hold(shorter[None])[0]:
            continue
        cost = problem.objectives(shorter[None])[0, problem.at("implausibility")]
        if cost <= own and model(schema.decode(shorter[None]))[0] > 0.5:
            found.append(int(j))
    return found


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=["free", "few changes", "groups"])
@pytest.mark.parametrize("method", METHODS)
def test_no_change_that_leaves_can_be_taken_back(method: str, constraints: dict[str, Any] | None):
    explainer = fitted(method)
    n = 0
    for i in np.flatnonzero(model(data()) < 0.3)[:3]:
        x = data().iloc[[i]]
        result, problem = explainer.trace(x, "yes", constraints)
        assert problem.n_evaluated <= problem.budget
        n += len(result)
        assert [removable(explainer, problem, row) for row in result.rows] == [[]] * len(result)
    assert n > 0


def test_without_it_changes_can_be_taken_back(monkeypatch):
    """The check above can fail."""
    explainer = fitted("mocarf")
    monkeypatch.setattr(type(explainer), "takes_back", False)
    x = data().iloc[[int(np.flatnonzero(model(data()) < 0.3)[0])]]
    result, problem = explainer.trace(x, "yes")
    assert any(removable(explainer, problem, row) for row in result.rows)


def test_rows_that_could_not_be_gone_through_do_not_leave():
    """With one evaluation left, rows remain of which the model was asked all that counts."""
    explainer = fitted("mocarf")
    x = data().iloc[[int(np.flatnonzero(model(data()) < 0.3)[0])]]
    problem = explainer.problem(explainer.encode_row(x), "yes", as_constraints(None))
    run(explainer._search(problem), problem)
    problem.budget = problem.n_evaluated + 1
    chosen = run(take_back(problem), problem)
    rows = problem.ledger()[0]
    assert chosen is not None
    left = [removable(explainer, problem, row) for row in rows[chosen]]
    assert all(left) or not any(left)  # where nothing could be gone through, all leave


@pytest.mark.parametrize("method", ["nice", "whatif", "random"])
def test_what_is_published_or_compared_with_is_left_alone(method: str):
    explainer = make_explainer(method, model, classes=("no", "yes"), max_evaluations=100, random_state=3)
    assert not explainer._takes_back
    assert not make_explainer("arf", model, preset="paper")._takes_back
