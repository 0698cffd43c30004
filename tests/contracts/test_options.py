"""The options that all explainers share, each judged by what it does to results."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest, Constraints, Target
from countarfactuals.counterfactuals.select import burden
from countarfactuals.exceptions import DataError, ParameterError

from .checks import BASE, check_none_dominated, check_result, dominated, same
from .methods import BY_NAME, Method, every_method
from .tables import LABELS, Scorer, columns, frame_of, merit, records, row_of

X = frame_of(columns("mixed"), "pandas")
SOME = [1, 5, 9]
LEVELS_ONLY = frame_of(columns("categorical"), "pandas").drop(columns=["region", "job"])


class LevelScorer(Scorer):
    """A model of few categories, of which the data has most combinations."""

    def __init__(self) -> None:
        super().__init__("categorical")
        self.names = tuple(LEVELS_ONLY.columns)


def fit(name: str, frame: pd.DataFrame = X, **parameters: Any) -> Any:
    model = Scorer("mixed") if frame is X else LevelScorer()
    return BY_NAME[name].make(model, **{"classes": ("bad", "good"), "max_evaluations": 200, **parameters}).fit(frame)


@cache
def fitted(name: str) -> Any:
    return fit(name)


@cache
def explained(name: str) -> Any:
    """The results of the first rows, with nothing said."""
    return fitted(name).explain_many(X.head(20))


# Rows of real people


@every_method
def test_real_rows_are_marked(method: Method):
    results = list(fit(method.name, LEVELS_ONLY).explain_many(LEVELS_ONLY.head(5)))
    real = set(records(LEVELS_ONLY))
    assert any(result.is_real_row.any() for result in results)
    for i, result in enumerate(results):
        check_result(result, method, LEVELS_ONLY, row_of(LEVELS_ONLY, i))
        assert result.is_real_row.tolist() == [row in real for row in records(result.to_frame())]
        assert result.to_frame(objectives=True)["is_real_row"].tolist() == result.is_real_row.tolist()


@every_method
@pytest.mark.parametrize("frame", [X, LEVELS_ONLY], ids=["mixed", "categorical"])
def test_real_rows_are_left_out(method: Method, frame: pd.DataFrame):
    if not method.invents_rows:
        pytest.skip("hands out real rows only")
    real = set(records(frame))
    results = list(fit(method.name, frame, allow_real_rows=False).explain_many(frame.head(4)))
    assert frame is LEVELS_ONLY or any(len(result) for result in results)
    for result in results:
        assert not result.is_real_row.any()
        assert real.isdisjoint(records(result.to_frame()))


# Plausibility


@every_method
@pytest.mark.parametrize("least", [0.3, 0.8])
def test_min_typicality(method: Method, least: float):
    results = list(fit(method.name, min_typicality=least).explain_many(X.head(6)))
    assert any(len(result) for result in results)
    assert all((result.typicality >= least).all() for result in results)
    assert min(result.typicality.min() for result in explained(method.name) if len(result)) < least


@every_method
def test_more_plausible_is_more_typical(method: Method):
    """By the parts of the forest alone; a real row is the exception, which the part judges that has not seen it."""
    alone = fit(method.name, measure="median")
    for result in alone.explain_many(X.head(3)):
        judge = alone.background_.plausibility
        rows = judge.forest.schema_.select(range(X.shape[1])).encode(result.to_frame())[~result.is_real_row]
        parts = [judge._ranks("forest", judge.forest_parts(rows, k)) for k in range(3)]
        order = np.argsort(np.mean(parts, axis=0), kind="stable")
        assert (np.diff(result.typicality[~result.is_real_row][order]) >= 0).all()


@every_method
def test_typicality_is_what_all_judges_claim(method: Method):
    for result in explained(method.name)[:4]:
        judge = fitted(method.name).background_.plausibility
        rows = judge.forest.schema_.select(range(X.shape[1])).encode(result.to_frame())
        claims = judge.claims(rows)
        np.testing.assert_array_equal(result.typicality, claims.typicality)
        np.testing.assert_array_equal(result.typicality_range, np.column_stack([claims.low, claims.high]))
        assert list(result.objectors) == [judge.voices[k] for k in claims.objector]
        np.testing.assert_allclose(result.log_density, judge.log_density(rows), rtol=1e-12)
        if result.measure == judge.name:
            np.testing.assert_allclose(result.objectives["implausibility"], -judge(rows), rtol=1e-12)
        else:  # a cost of the method's own: the distance to the nearest real row
            background = fitted(method.name).background_
            nearest = background.gower.nearest(rows, background.matrix, 1)[0][:, 0]
            np.testing.assert_allclose(result.objectives["implausibility"], nearest, atol=1e-12)
        np.testing.assert_array_equal(result.density_cost, np.exp(-np.exp(result.log_density)))


@every_method
def test_a_fitted_forest_is_the_measure(method: Method):
    forest = AdversarialRandomForest(n_estimators=10, min_samples_leaf=10, random_state=3).fit(X)
    result = fit(method.name, density=forest, measure="density").explain(X.iloc[[2]])
    check_result(result, method, X, X.iloc[[2]])
    assert result.status == "found"
    np.testing.assert_allclose(result.log_density, forest.score_samples(result.to_frame()), rtol=1e-9)
    assert result.x_log_density == pytest.approx(forest.score_samples(X.iloc[[2]])[0])


@every_method
@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.drop(columns="age"),
        lambda frame: frame[frame.columns[::-1]],
        lambda frame: frame.rename(columns={"age": "years"}),
        lambda frame: frame.assign(more=1.0 * frame["age"]),
        lambda frame: frame.assign(purpose=frame["purpose"].cat.add_categories("boat")),
    ],
    ids=["one less", "another order", "another name", "one more", "other levels"],
)
def test_a_forest_of_other_columns_is_refused(method: Method, change: Any):
    forest = AdversarialRandomForest(n_estimators=2, min_samples_leaf=20, random_state=0).fit(change(X))
    with pytest.raises(DataError, match="density"):
        fit(method.name, density=forest)


# Preferences


@every_method
@pytest.mark.parametrize("trade_off", [None, 0.0, 0.4, 1.0])
def test_trade_off_orders(method: Method, trade_off: float | None):
    results = fit(method.name, trade_off=trade_off).explain_many(X.iloc[SOME])
    weight = trade_off or 0.0
    assert max(map(len, results)) >= method.n_rows
    for result, plain in zip(results, [explained(method.name)[at] for at in SOME], strict=True):
        cost = (1 - weight) * result.objectives["distance"] + weight * (1 - result.typicality)
        if trade_off is None and result.method not in ("nice", "whatif"):
            cost = burden(result.objectives, result.typicality, np.array([*map(bool, result.oddities)], bool))
        assert (np.diff(cost) >= -1e-12).all()
        assert set(records(result.to_frame())) == set(records(plain.to_frame()))


def income_lost(rows: Any, x: Any) -> np.ndarray:
    return np.abs(rows["income"].to_numpy() - x["income"].to_numpy()[0]) ** 2


def youth(rows: Any, x: Any) -> np.ndarray:
    """Prefers older people, which no other objective does."""
    return -rows["age"].to_numpy(np.float64)


@every_method
def test_extra_objectives(method: Method):
    explainer = fit(method.name, extra_objectives={"youth": youth, "income lost": income_lost})
    n_dominated = 0
    for at in SOME:
        x = X.iloc[[at]]
        result = explainer.explain(x)
        assert result.status == "found"
        check_result(result, method, X, x, (*BASE, "youth", "income lost"))
        np.testing.assert_allclose(result.objectives["youth"], youth(result.to_frame(), x))
        np.testing.assert_allclose(result.objectives["income lost"], income_lost(result.to_frame(), x))
        assert {"youth", "income lost"} <= set(result.to_frame(objectives=True).columns)
        n_dominated += dominated(np.column_stack([result.objectives[name] for name in BASE])).sum()
    assert n_dominated > 0  # by the common objectives: the new ones keep these rows


@every_method
@pytest.mark.parametrize("name", ["typicality", "is_real_row"])
def test_objectives_can_not_take_the_name_of_a_measure(method: Method, name: str):
    with pytest.raises(ParameterError, match=name):
        fit(method.name, extra_objectives={name: youth})


@every_method
def test_own_distance(method: Method):
    x = X.iloc[[5]]
    result = fit(method.name, distance=income_lost).explain(x)
    assert result.status == "found"
    np.testing.assert_allclose(result.objectives["distance"], income_lost(result.to_frame(), x))
    if method.is_pareto:
        check_none_dominated(result, BASE)


# The observed outcome


@every_method
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_observed_outcome(method: Method, task: str):
    value = merit(tuple(X.columns), records(X))
    codes = np.digitize(value, [0.0] if task == "binary" else np.quantile(value, [0.25, 0.5, 0.75]))
    y = value if task == "regression" else np.array(LABELS[task])[codes]
    explainer = method.make(None, outcome="observed", max_evaluations=150).fit(X, y)
    x = X.iloc[[int(np.argsort(value)[40])]]
    least = float(np.median(value))
    target = {"binary": "good", "multiclass": "c", "regression": Target(above=least)}[task]
    result = explainer.explain(x, target)
    check_result(result, method, X, x)
    assert result.status == "found"
    assert any("observed" in str(note) for note in result.notes)
    assert any("observed" in line for line in repr(result).splitlines())
    if task == "regression":
        assert (result.scores[:, 0] >= least).all()
    else:
        assert set(result.labels) == {target}
        winner = (result.scores[:, 0] > 0.5).astype(int) if task == "binary" else result.scores.argmax(axis=1)
        assert {LABELS[task][k] for k in winner} == {target}
    # the forest has learned what it judges by
    assert merit(tuple(X.columns), records(result.to_frame())).mean() > merit(tuple(X.columns), records(x))[0]
    assert "observed" not in " ".join(fitted(method.name).explain(x, "good").notes)


@every_method
def test_the_observed_outcome_must_be_given(method: Method):
    explainer = method.make(None, outcome="observed")
    with pytest.raises(DataError, match="fit"):
        explainer.fit(X)
    with pytest.raises(DataError, match="shape"):
        explainer.fit(X, np.zeros(3))
    with pytest.raises(DataError, match="one value"):
        explainer.fit(X, ["good"] * len(X))
    with pytest.raises(DataError, match="missing"):
        explainer.fit(X, [None, *["good"] * (len(X) - 1)])


# Rows in other shapes


@every_method
def test_a_row_may_be_a_frame_a_series_or_a_dict(method: Method):
    explainer = fitted(method.name)
    x = X.iloc[[7]]
    result = explainer.explain(x)
    assert same(explainer.explain(x.iloc[0]), result)
    assert same(explainer.explain(dict(zip(X.columns, records(x)[0], strict=True))), result)
    assert same(explainer.explain(x[x.columns[::-1]]), result)
    assert same(explainer.explain(x, constraints={}), explainer.explain(x, constraints=Constraints()))


@every_method
def test_parameters_are_those_of_an_estimator(method: Method):
    from sklearn.base import clone

    explainer = fitted(method.name)
    copy = clone(explainer)
    assert not hasattr(copy, "background_")
    assert {name: repr(value) for name, value in copy.get_params(deep=False).items() if name != "model"} == {
        name: repr(value) for name, value in explainer.get_params(deep=False).items() if name != "model"
    }
    copy.set_params(max_evaluations=7)
    assert copy.max_evaluations == 7
    assert explainer.max_evaluations == 200
