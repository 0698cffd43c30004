"""What-if against a search by hand."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals import AdversarialRandomForest, Constraints, Target
from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers.proposals import by_closeness
from countarfactuals.explainers.simple_searches import WhatIfExplainer

from ..constraints.twin import Case, judge
from ..contracts.checks import gower, same
from ..contracts.tables import LABELS, TABLES, Scorer, columns, frame_of, predicted, records, row_of

TARGETS = {"binary": None, "multiclass": "c", "regression": Target(above=1.0)}
NOTHING: dict[str, Any] = {
    "fixed": (),
    "ranges": {},
    "allowed": {},
    "direction": {},
    "max_changed": None,
    "rules": [],
    "vary": None,
    "change": {},
    "steps": {},
    "groups": [],
    "exactly_one": [],
    "weights": {},
    "allow_missing": False,
}
SAID: list[dict[str, Any]] = [
    {},
    {"fixed": ["owner"]},
    {"fixed": ["grade", "purpose", "owner"]},
    {"ranges": {"income": (3, None)}, "direction": {"age": "decrease"}},
    {"max_changed": 3},
    {"groups": [["purpose", "owner"]], "allowed": {"grade": ["middle", "high"]}},
    {"weights": {"age": 10, "owner": 0}},
    {"allow_missing": True},
]


@cache
def fitted(table: str, task: str) -> tuple[WhatIfExplainer, pd.DataFrame]:
    X = frame_of(columns(table), "pandas")
    density = AdversarialRandomForest(n_estimators=5, min_samples_leaf=20)
    explainer = WhatIfExplainer(Scorer(table, task), classes=LABELS.get(task), density=density, random_state=3)
    return explainer.fit(X), X


def by_hand(explainer: WhatIfExplainer, X: pd.DataFrame, at: int, said: dict[str, Any]) -> dict[tuple[Any, ...], float]:
    """Every row that has the outcome and obeys, and its distance; nearest first."""
    labels = predicted(explainer.model, X)
    wanted = {
        "binary": lambda label: label != labels[at],
        "multiclass": lambda label: label == "c",
        "regression": lambda value: value >= 1.0,
    }[explainer.model.task]
    schema, matrix = explainer.schema_, explainer.background_.matrix
    case = Case(schema, matrix[at], matrix, NOTHING | said)
    distance = gower(X, row_of(X, at), list(X.columns), X, said.get("weights"))
    rows = records(X)
    usable = [
        i
        for i, label in enumerate(labels)
        if wanted(label) and rows[i] != rows[at] and not any(judge(case, matrix[i]).values())
    ]
    return {rows[i]: distance[i] for i in sorted(usable, key=lambda i: distance[i])}


def check(table: str, task: str, at: int, k: int, said: dict[str, Any]) -> str:
    explainer, X = fitted(table, task)
    explainer.set_params(n_counterfactuals=k, max_evaluations=1000, min_typicality=0.0)
    result = explainer.explain(row_of(X, at), TARGETS[task], Constraints(**said))
    if result.status == "already":
        return "already"
    expected = by_hand(explainer, X, at, said)
    got = records(result.to_frame())
    assert len(got) == len(set(got)) == min(k, len(expected))
    np.testing.assert_allclose(result.objectives["distance"], list(expected.values())[:k], atol=1e-12)
    for row, distance in zip(got, result.objectives["distance"], strict=True):
        assert expected[row] == pytest.approx(distance)
    assert result.is_real_row.all()
    if got:
        assert result.provenance["evaluations"] == 2 * len(got) + 1  # what leaves is asked about twice
    else:
        assert result.diagnosis.n_tried > 0
    return str(result.status)


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("table", TABLES)
def test_nearest_rows(table: str, task: str):
    assert "found" in [check(table, task, at, k, {}) for at, k in ((0, 1), (1, 10), (2, 400))]


@given(
    at=st.integers(0, 100),
    k=st.integers(1, 20),
    task=st.sampled_from(sorted(TARGETS)),
    table=st.sampled_from(["mixed", "missing"]),
    said=st.sampled_from(SAID),
)
def test_nearest_rows_under_constraints(at: int, k: int, task: str, table: str, said: dict[str, Any]):
    check(table, task, at, k, said)


def test_only_rows_with_the_outcome_unless_there_are_none():
    explainer, X = fitted("mixed", "regression")
    value, distance = explainer.model(X), np.round(gower(X, row_of(X, 0), list(X.columns), X), 12)
    among = np.arange(0, len(X), 2)
    for above in (np.sort(value[among])[-4], 100.0):
        problem = explainer.problem(explainer.background_.matrix[0], Target(above=float(above)), Constraints())
        reached = [i for i in among.tolist() if value[i] >= above]
        expected = sorted(reached or among.tolist(), key=lambda i: (max(above - value[i], 0), distance[i]))
        assert by_closeness(problem, among).tolist() == expected


def test_equal_rows_count_once():
    X = pd.DataFrame({"a": [0.0] * 30 + [1.0] * 30 + [2.0] * 30})
    density = AdversarialRandomForest(n_estimators=3, min_samples_leaf=10)
    explainer = WhatIfExplainer(lambda frame: frame["a"] / 2, classes=("no", "yes"), density=density, random_state=1)
    explainer.fit(X)
    assert explainer.explain({"a": 0.0}, Target(above=0.5)).to_frame()["a"].tolist() == [1.0, 2.0]


def test_rows_must_be_plausible_enough():
    explainer, X = fitted("mixed", "binary")
    explainer.set_params(n_counterfactuals=5, min_typicality=0.6)
    result = explainer.explain(row_of(X, 2))
    explainer.set_params(min_typicality=0.0)
    assert len(result) == 5
    assert (result.typicality >= 0.6).all()


def test_budget():
    explainer, X = fitted("mixed", "binary")
    explainer.set_params(n_counterfactuals=10)
    for said in ({}, {"fixed": ["income", "age", "purpose", "grade"]}):
        for budget in (1, 2, 5, 11, 30):
            explainer.set_params(max_evaluations=budget)
            before = explainer.model.n_rows
            result = explainer.explain(row_of(X, 3), constraints=Constraints(**said))
            assert explainer.model.n_rows - before == result.provenance["evaluations"] <= budget
            if not said:
                assert len(result) == min(budget - 1, 10)


def test_the_users_own_distance():
    X = frame_of(columns("numeric"), "pandas")

    def age_alone(rows: pd.DataFrame, x: pd.DataFrame) -> np.ndarray:
        return np.abs(rows["age"].to_numpy() - x["age"].to_numpy())

    explainer = WhatIfExplainer(
        Scorer("numeric"),
        classes=("bad", "good"),
        n_counterfactuals=4,
        distance=age_alone,
        density=AdversarialRandomForest(n_estimators=5, min_samples_leaf=20),
        random_state=1,
    ).fit(X)
    x = row_of(X, 0)
    has_outcome = np.array(predicted(explainer.model, X)) != predicted(explainer.model, x)[0]
    result = explainer.explain(x)
    assert result.objectives["distance"].tolist() == sorted(age_alone(X[has_outcome], x))[:4]
    assert same(result, explainer.explain(x))


def test_a_miss_is_shown_where_no_row_has_the_outcome():
    explainer, X = fitted("mixed", "regression")
    explainer.set_params(n_counterfactuals=3, max_evaluations=1000)
    result = explainer.explain(row_of(X, 0), Target(above=100.0))
    assert result.status == "none"
    assert result.diagnosis.nearest_miss_distance == pytest.approx(100.0 - explainer.model(X).max())


def test_wrong_parameters():
    X = pd.DataFrame({"a": [1.0, 2.0]})
    with pytest.raises(ParameterError, match="nothing but real rows"):
        WhatIfExplainer(len, allow_real_rows=False).fit(X)
    with pytest.raises(ParameterError, match="n_counterfactuals"):
        WhatIfExplainer(len, n_counterfactuals=0).fit(X)
