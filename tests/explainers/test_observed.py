"""The outcome itself instead of a model: what counts as classes and what as numbers, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest, ARFExplainer, Counterfactuals
from countarfactuals.exceptions import DataError, ParameterError

X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=list("abc"))


def fit(y: Any, **parameters: Any) -> ARFExplainer:
    forest = AdversarialRandomForest(n_estimators=5, min_samples_leaf=10)
    return ARFExplainer(None, outcome="observed", density=forest, random_state=1, **parameters).fit(X, y)


@pytest.mark.parametrize(
    ("y", "task", "classes"),
    [
        ((X["a"] > 0).to_numpy(), "binary", (False, True)),
        (np.where(X["a"] > 0, "good", "bad"), "binary", ("bad", "good")),
        (np.arange(200) % 3, "multiclass", (0, 1, 2)),
        (X["a"], "regression", ()),
    ],
)
def test_the_outcome_tells_the_task(y: Any, task: str, classes: tuple[Any, ...]):
    predictor = fit(y).background_.predictor
    assert (predictor.task, predictor.classes) == (task, classes)


def test_many_whole_numbers_are_classes_with_a_warning_or_numbers_if_asked():
    with pytest.warns(UserWarning, match="200 different whole numbers.*task='regression'"):
        assert len(fit(np.arange(200)).background_.predictor.classes) == 200
    assert fit(np.arange(200), task="regression").background_.predictor.task == "regression"


@pytest.mark.parametrize(
    ("y", "parameters", "error", "message"),
    [
        (None, {}, DataError, r"call `fit\(X, y\)`"),
        (np.zeros(199), {}, DataError, "one outcome for each of the 200 rows"),
        (["a", None] * 100, {}, DataError, "missing values"),
        (["a"] * 200, {}, DataError, "one value 'a'"),
        (np.array(["a", 1] * 100, dtype=object), {}, DataError, "mixes values"),
        (["a", "b"] * 100, {"task": "regression"}, DataError, "must hold numbers"),
        ([np.inf, 0.0] * 100, {"task": "regression"}, DataError, "infinite"),
        (X["a"], {"task": "ranking"}, ParameterError, "'regression', got 'ranking'"),
    ],
)
def test_bad_outcomes(y: Any, parameters: dict[str, Any], error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        fit(y, **parameters)


def test_labels_of_any_type_come_back_from_files():
    days = np.array([pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02")], dtype=object)
    result = fit(days[(X["a"] > 0).to_numpy().astype(int)]).explain(X.iloc[[0]])
    assert result.target.outcome in set(days)
    assert "2020-01-0" in repr(result)
    assert Counterfactuals.from_json(result.to_json()) == result
