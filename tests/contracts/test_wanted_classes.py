"""Targets of several classes and relative ones, by every method; and wishes that differ by row."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from countarfactuals import Constraints, CounterfactualsBatch, Target
from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.exceptions import ConstraintError, TargetError

from .checks import same
from .methods import BY_NAME, Method, every_method
from .normal_table import X

LABELS = ("high", "low", "middle")


def three(frame: pd.DataFrame) -> np.ndarray:
    """Probabilities of three classes by two columns."""
    worth = frame["a"].to_numpy() + frame["b"].to_numpy()
    raw = np.exp(np.column_stack([2 * worth - 1, -2 * worth - 1, np.zeros(len(frame))]))
    return raw / raw.sum(axis=1, keepdims=True)


def number(frame: pd.DataFrame) -> np.ndarray:
    return 100 + 10 * (frame["a"] + frame["b"]).to_numpy()


@cache
def of_classes(name: str) -> Any:
    return BY_NAME[name].make(three, classes=LABELS, max_evaluations=150).fit(X)


@cache
def of_numbers(name: str) -> Any:
    return BY_NAME[name].make(number, max_evaluations=150).fit(X)


LOW = X[np.array(LABELS)[three(X).argmax(axis=1)] == "low"]


@every_method
@pytest.mark.parametrize(
    ("target", "labels"),
    [
        (None, {"high", "middle"}),
        (Target(any_of=["high", "middle"]), {"high", "middle"}),
        (Target(none_of=["low", "middle"]), {"high"}),
        (Target("low", change="-50%"), set(LABELS)),
    ],
)
def test_one_of_several_classes(method: Method, target: Any, labels: set[str]):
    result = of_classes(method.name).explain(LOW.iloc[[0]], target)
    assert result.status == "found"
    assert set(result.labels) <= labels
    predicted = np.array(LABELS)[three(result.to_frame()).argmax(axis=1)]
    assert predicted.tolist() == list(result.labels)
    if target is not None and target.change is not None:
        assert result.scores[:, 1].max() <= result.x_scores[1] / 2
    assert same(Counterfactuals.from_json(result.to_json()), result)


@every_method
def test_a_class_of_the_set_is_there_already(method: Method):
    assert of_classes(method.name).explain(LOW.iloc[[0]], Target(any_of=["low", "high"])).status == "already"


@every_method
def test_relative_to_the_prediction(method: Method):
    x = X.iloc[[0]]
    own = float(number(x)[0])
    for target in (Target(change="-5%"), Target(function=lambda now: (None, 0.95 * now))):
        result = of_numbers(method.name).explain(x, target)
        assert result.status == "found"
        assert max(result.labels) <= 0.95 * own
        assert same(Counterfactuals.from_json(result.to_json()), result)
    assert result.target == Target(below=0.95 * own)


def test_the_forest_is_steered_by_all_wanted_classes():
    explainer = of_classes("arf")
    background = explainer.background_
    goals = [explainer.problem(background.matrix[0], target, Constraints()).goal for target in ("high", "middle")]
    both = explainer.problem(background.matrix[0], Target(any_of=["high", "middle"]), Constraints()).goal
    shares = [background.goal_shares(goal) for goal in (*goals, both)]
    np.testing.assert_allclose(shares[0] + shares[1], shares[2], atol=1e-9)


# One wish per row


@every_method
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_row_has_its_own_wish(method: Method, n_jobs: int):
    explainer, rows = of_classes(method.name), X.head(4)
    targets = ["high", None, Target(any_of=["low", "middle"]), "high"]
    constraints = [None, {"fixed": ["c"]}, Constraints(fixed=["c"]), {"fixed": ["d"]}]
    batch = explainer.explain_many(rows, targets, constraints, n_jobs=n_jobs, progress=False)
    for i, (target, own) in enumerate(zip(targets, constraints, strict=True)):
        assert same(batch[i], explainer.explain(rows.iloc[[i]], target, own))


def test_wishes_by_label_and_by_function():
    explainer, rows = of_classes("whatif"), X.head(4)
    expected = explainer.explain_many(rows, ["high", "low", None, "low"])
    series = pd.Series({3: "low", 1: "low", 0: "high", 2: np.nan, 77: "middle"})
    named = {0: "high", 1: "low", 3: "low"}
    by_row = {float(row["a"]): named.get(i) for i, row in rows.iterrows()}
    for target in (series, np.array(["high", "low", None, "low"], object), lambda row: by_row[row["a"]]):
        assert all(map(same, explainer.explain_many(rows, target), expected))
    fixed = explainer.explain_many(rows, "high", lambda row: {"fixed": ["c"]} if row["a"] > 0 else None)
    for result, (_, row) in zip(fixed, rows.iterrows(), strict=True):
        assert result.constraints == (Constraints(fixed=["c"]) if row["a"] > 0 else Constraints())


def test_a_wish_that_does_not_suit_costs_its_row_only():
    explainer, rows = of_classes("whatif"), X.head(3)
    batch = explainer.explain_many(rows, ["high", "hihg", "low"], [None, None, {"fixed": ["z"]}])
    assert list(batch.errors) == [1, 2]
    assert "no class 'hihg'" in batch.errors[1]
    assert "z" in batch.errors[2]
    assert isinstance(CounterfactualsBatch.from_json(batch.to_json()), CounterfactualsBatch)
    failing = explainer.explain_many(rows, lambda row: row["nowhere"])
    assert set(failing.errors) == {0, 1, 2}
    with pytest.raises(TargetError, match="hihg"):
        explainer.explain_many(rows, ["high", "hihg", "low"], on_error="raise")


@pytest.mark.parametrize(
    ("wishes", "error", "message"),
    [
        ({"target": ["high"]}, TargetError, r"`target` has 1 entries for 3 rows.*any_of"),
        ({"constraints": [None] * 4}, ConstraintError, "`constraints` has 4 entries for 3 rows"),
        ({"target": pd.Series({0: "high", 1: "low"})}, TargetError, "no entry for row 2"),
        ({"target": pd.Series(["high"] * 4, [0, 0, 1, 2])}, TargetError, "occur twice"),
        ({"target": "hihg"}, TargetError, "hihg"),
    ],
)
def test_wishes_that_do_not_fit_the_frame(wishes: dict[str, Any], error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        of_classes("whatif").explain_many(X.head(3), **wishes)


# Rows that have the outcome already


class Counting(RandomForestClassifier):
    """A forest that counts its calls."""

    calls = 0

    def predict_proba(self, frame: Any) -> np.ndarray:
        type(self).calls += 1
        return super().predict_proba(frame)


Counting.__module__ = RandomForestClassifier.__module__


@pytest.mark.parametrize(
    "model", [Counting(10, random_state=1, n_jobs=2), LogisticRegression()], ids=["trees", "linear"]
)
def test_rows_that_have_the_outcome_are_found_at_once(model: Any):
    y = np.where(X["a"] + X["b"] > 0, "good", "bad")
    explainer = BY_NAME["whatif"].make(model.fit(X, y), max_evaluations=50).fit(X)
    rows = X.assign(c=X["c"] + 0.25).iloc[:60]  # no rows of the data
    Counting.calls = 0
    batch = explainer.explain_many(rows, "good", progress=False)
    already = [i for i, result in enumerate(batch) if result.status == "already"]
    assert len(already) > 20
    if isinstance(model, Counting):
        assert Counting.calls <= 1 + 3 * (len(rows) - len(already))
    for i in (*already[:5], 0, 1):
        assert same(batch[i], explainer.explain(rows.iloc[[i]], "good"))
