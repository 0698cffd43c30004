"""Levels that a type declares and no row has are never drawn and never handed out, however tempting to the model."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest, Constraints
from countarfactuals.schema import Schema

from .methods import BY_NAME, Method, every_method

N = 300
DECLARED, USED = ["low", "lower", "mid", "high", "top"], ["low", "mid", "high"]


def table(ordered: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    income = rng.normal(size=N)
    grade = np.digitize(income + rng.normal(0, 0.5, N), [-0.7, 0.7])
    return pd.DataFrame(
        {
            "income": income,
            "grade": pd.Categorical(np.array(USED)[grade], categories=DECLARED, ordered=ordered),
            "member": np.ones(N, bool),
            "gap": pd.Categorical(np.where(rng.random(N) < 0.3, None, "b"), categories=["a", "b"]),
        }
    )


def tempting(frame: pd.DataFrame) -> np.ndarray:
    """Nothing is better than a level that nobody has."""
    unseen = frame["grade"].isin(["lower", "top"]) | ~frame["member"].astype(bool) | (frame["gap"] == "a")
    return np.where(unseen, 0.99, 1 / (1 + np.exp(-3 * frame["income"].to_numpy(float))))


@pytest.mark.parametrize("ordered", [False, True])
def test_a_forest_never_draws_them(ordered: bool):
    X = table(ordered)
    arf = AdversarialRandomForest(n_estimators=20, random_state=1).fit(X)
    drawn = arf.sample(3_000, random_state=2)
    assert list(drawn["grade"].dtype.categories) == DECLARED
    assert set(drawn["grade"]) == set(USED)
    assert drawn["member"].all()
    assert set(drawn["gap"].dropna()) == {"b"}
    some = arf.sample(500, given={"grade": ["low", "top"]}, random_state=3)
    assert set(some["grade"]) == {"low"}


def test_expectations_give_them_nothing_and_densities_of_the_others_sum_to_one():
    X = table()[["grade", "gap"]]
    arf = AdversarialRandomForest(n_estimators=20, random_state=1).fit(X)
    assert (arf.expect()[["grade=lower", "grade=top", "gap=a"]].to_numpy() == 0.0).all()
    cells = pd.DataFrame([(g, h) for g in USED for h in ("b", None)], columns=["grade", "gap"]).astype(X.dtypes)
    assert np.exp(arf.score_samples(cells)).sum() == pytest.approx(1.0, abs=1e-9)
    assert np.isfinite(arf.score_samples(X.head(1).assign(grade=pd.Categorical(["top"], DECLARED)))).all()


@every_method
def test_no_method_hands_them_out(method: Method):
    X = table()
    poor = X[(X["income"] < -0.5) & (X["grade"] == "low") & (X["gap"] == "b")]
    explainer = method.make(tempting, classes=("bad", "good"), max_evaluations=200).fit(X)
    for i in range(2):
        rows = explainer.explain(poor.iloc[[i]], "good").to_frame()
        assert len(rows) > 0
        assert set(rows["grade"]) <= set(USED)
        assert rows["member"].all()
        assert set(rows["gap"].dropna()) <= {"b"}
    only = explainer.explain(poor.iloc[[0]], "good", Constraints(fixed=["income"], allowed={"grade": ["low", "top"]}))
    assert set(only.to_frame()["grade"]) <= {"low"}


def test_who_has_such_a_level_is_explained():
    X = table()
    row = X[X["income"] < -0.5].head(1).assign(grade=pd.Categorical(["lower"], DECLARED))
    explainer = BY_NAME["arf"].make(lambda f: 1 / (1 + np.exp(-3 * f["income"])), classes=("bad", "good")).fit(X)
    rows = explainer.explain(row, "good", Constraints(fixed=["grade"])).to_frame()
    assert len(rows) > 0
    assert set(rows["grade"]) == {"lower"}


def test_the_schema_tells_and_keeps_them():
    schema = Schema.infer(table())
    assert "high, low" not in schema.describe()
    assert "; in no row 'lower', 'top'" in schema.describe()
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    assert not any(column.unused for column in Schema.infer(table(), values=None).columns)
