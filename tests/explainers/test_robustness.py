"""Robustness: against models whose boundaries are known, and moves that are checked cell by cell."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from countarfactuals import AdversarialRandomForest, ARFExplainer
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.exceptions import DataError, DataTypeError, ModelTypeError, ParameterError
from countarfactuals.explainers.robustness import perturbed

N = 300
FOREST = AdversarialRandomForest(n_estimators=8, min_samples_leaf=10)


@cache
def data() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "income": rng.uniform(0, 10, N).round(3),
            "term": rng.choice([12, 24, 36], N),
            "children": rng.integers(0, 4, N),
            "job": rng.choice(["clerk", "nurse"], N),
        }
    )
    y = np.where(X["income"] + (X["job"] == "nurse") + rng.normal(0, 1, N) > 6, "good", "bad")
    return X, pd.Series(y, index=X.index)


def at_least(limit: float):
    """A model that asks for an income alone."""

    def model(frame: pd.DataFrame) -> np.ndarray:
        return np.clip(0.5 + (frame["income"].to_numpy() - limit) / 20, 0, 1)

    return model


@cache
def explained() -> tuple[ARFExplainer, Counterfactuals]:
    X, _ = data()
    explainer = ARFExplainer(
        at_least(6.0), density=FOREST, classes=("bad", "good"), max_evaluations=150, measure="median", random_state=1
    ).fit(X)
    return explainer, explainer.explain(X[X["income"] < 3].iloc[[0]], "good")


@cache
def refittable() -> tuple[ARFExplainer, CounterfactualsBatch]:
    X, y = data()
    encoded = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(encoded, RandomForestClassifier(10, random_state=1)).fit(X, y)
    settings = {"density": FOREST, "max_evaluations": 150, "measure": "median", "random_state": 1}
    explainer = ARFExplainer(model, **settings).fit(X)
    return explainer, explainer.explain_many(X[model.predict(X) == "bad"].head(3), "good", progress=False)


def test_models_agree_where_their_boundary_is_passed():
    explainer, result = explained()
    limits = [5.0, 6.0, 6.5, 7.0, 9.0]
    frame = explainer.robustness(result, [at_least(limit) for limit in limits], noise=None)
    income = result.to_frame()["income"].to_numpy()
    assert frame["models_agree"].to_numpy() == pytest.approx(np.mean([income > limit for limit in limits], axis=0))
    assert frame["noise_valid"].isna().all()
    assert frame["fragility"].to_numpy() == pytest.approx(1 - frame["models_agree"])


def test_noise_is_as_likely_to_cross_a_boundary_as_it_is_near():
    """Moves of an income are uniform within 5 % of its range: the share that stays valid is known.

    1,000 draws have a standard error of at most .016; five of them are allowed.
    """
    explainer, result = explained()
    X, _ = data()
    reach = 0.05 * (X["income"].max() - X["income"].min())
    income = result.to_frame()["income"].to_numpy()
    expected = np.clip((income - 6.0 + reach) / (2 * reach), 0, 1)
    frame = explainer.robustness(result, noise=0.05, n_noise=1000)
    assert np.abs(frame["noise_valid"] - expected).max() < 0.08
    assert frame["models_agree"].isna().all()


def test_moved_rows_stay_among_the_values_that_occur():
    explainer, result = explained()
    X, _ = data()
    background = explainer.background_
    moves = np.random.default_rng(2).uniform(-1, 1, (200, 4))
    rows = result.rows.copy()
    rows[0, 0] = np.nan
    moved = perturbed(background, rows, moves, 0.02)
    assert moved.shape == (len(rows), 200, 4)
    reach = 0.02 * (X["income"].max() - X["income"].min())
    income = moved[1:, :, 0]
    assert (np.abs(income - rows[1:, None, 0]) <= reach + 5e-4).all()
    assert (income >= X["income"].min()).all()
    assert (income <= X["income"].max()).all()
    assert np.unique(income[0]).size > 100
    assert np.isnan(moved[0, :, 0]).all()
    assert set(np.unique(moved[:, :, 1])) <= {12.0, 24.0, 36.0}
    assert (np.abs(moved[:, :, 2] - rows[:, None, 2]) <= 1).all()
    assert (np.abs(moved[:, :, 2] - rows[:, None, 2]) == 1).any()  # one step at least
    np.testing.assert_array_equal(moved[:, :, 3], np.broadcast_to(rows[:, None, 3], moved.shape[:2]))


def test_refitted_models_are_other_models_and_the_same_again():
    explainer, batch = refittable()
    _, y = data()
    first = explainer.robustness(batch, bootstrap=4, y=y)
    pd.testing.assert_frame_equal(first, explainer.robustness(batch, bootstrap=4, y=y))
    assert list(first.columns) == ["row", "counterfactual", "models_agree", "noise_valid", "fragility"]
    assert len(first) == sum(map(len, batch))
    assert set(np.round(first["models_agree"] * 4, 9)) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert 0 < first["models_agree"].mean() < 1  # a small forest, near its boundary
    assert (explainer.robustness(batch, [explainer.model], noise=None)["models_agree"] == 1).all()
    both = explainer.robustness(batch, bootstrap=4, y=y, noise=None)
    assert (both["models_agree"] == first["models_agree"]).all()
    X, _ = data()
    pd.testing.assert_frame_equal(explainer.robustness(batch, bootstrap=4, X=X, y=y.to_numpy()), first)


def test_the_least_fragile_are_selected():
    explainer, batch = refittable()
    _, y = data()
    frame = explainer.robustness(batch, bootstrap=3, y=y)
    told = batch.with_robustness(frame)
    for result in told:
        chosen = result.select(1, prefer="robust")
        assert chosen.objectives["fragility"][0] == result.objectives["fragility"].min()
        assert chosen == result.select(1, prefer="fragility")
        assert result.describe(1, prefer="robust")
    again = CounterfactualsBatch.from_json(told.to_json())
    assert again == told
    assert "fragility" in told.to_frame(objectives=True)
    single = batch[0].with_robustness(frame[frame["row"] == batch.index[0]])
    assert single == told[0]


def test_regressions_and_polars_are_refitted_too():
    X, _ = data()
    X = X.drop(columns="job")
    frame, price = pl.from_pandas(X), X["income"] * 2 + X["children"]
    model = Ridge().fit(X.to_numpy(), price)
    settings = {"density": FOREST, "max_evaluations": 100, "measure": "median", "random_state": 1}
    explainer = ARFExplainer(model, **settings).fit(frame)
    result = explainer.explain(frame[0:1], (15.0, 25.0))
    found = explainer.robustness(result, bootstrap=2, y=price.to_numpy(), noise=0.0)
    assert len(found) == len(result) > 0
    assert found["models_agree"].between(0, 1).all()


def test_wrong_use_is_refused():
    explainer, result = explained()
    refit, batch = refittable()
    X, y = data()
    with pytest.raises(ParameterError, match="Nothing is asked for"):
        explainer.robustness(result, noise=None)
    with pytest.raises(ParameterError, match="needs `y`"):
        refit.robustness(batch, bootstrap=2)
    with pytest.raises(ModelTypeError, match="can not be cloned"):
        explainer.robustness(result, bootstrap=2, y=y)
    with pytest.raises(DataError, match="10 outcomes for 300 rows"):
        refit.robustness(batch, bootstrap=2, y=y[:10])
    with pytest.raises(ParameterError, match="list of fitted models"):
        explainer.robustness(result, LogisticRegression())
    with pytest.raises(ParameterError, match="noise must be"):
        explainer.robustness(result, noise=2.0)
    with pytest.raises(DataTypeError, match="Pass what `explain`"):
        explainer.robustness(X)
    with pytest.raises(ParameterError, match="how robust these are is not known"):
        result.select(1, prefer="robust")
    frame = explainer.robustness(result)
    with pytest.raises(DataError, match="before `select`"):
        result.select(1).with_robustness(frame)
    with pytest.raises(ParameterError, match=r"Explainer\.robustness"):
        result.with_robustness(X)
    with pytest.raises(DataError, match="this very batch"):
        batch.with_robustness(frame)
