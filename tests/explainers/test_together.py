"""Many searches in step: what each finds is what it finds alone, and the model is asked once for all."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from xgboost import XGBClassifier

from countarfactuals import make_explainer
from countarfactuals.exceptions import DataError, ModelError, ParameterError
from countarfactuals.explainers.pace import Pace
from countarfactuals.explainers.together import Together

from ..contracts import normal_table as normal
from ..contracts.checks import same
from ..contracts.methods import every_method

ROWWISE = {
    "forest": RandomForestClassifier(30, random_state=0),
    "boosted trees": GradientBoostingClassifier(n_estimators=20, random_state=0),
    "histograms": HistGradientBoostingClassifier(max_iter=20, random_state=0),
    "vectors": make_pipeline(StandardScaler(), SVC()),
    "margins": SVC(kernel="poly"),
    "lightgbm": LGBMClassifier(n_estimators=20, verbose=-1, n_jobs=1),
    "xgboost": XGBClassifier(n_estimators=20, n_jobs=1),
    "catboost": CatBoostClassifier(iterations=20, verbose=False, allow_writing_files=False, thread_count=1),
}
GOOD = (normal.logistic(normal.X) > 0.5).astype(int)
AGE = 77.0  # no row of the data has it, so that a model can tell whose rows it is asked about


class Counting:
    """The logistic model, which counts how often it is asked and fails on rows of a certain value."""

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.fails = False

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        self.calls.append(len(frame))
        if self.fails and (frame["d"] == AGE).any():
            raise RuntimeError("too old")
        return normal.logistic(frame)


def in_step(explainer: Any, rows: pd.DataFrame, joint: bool = True, **options: Any) -> tuple[dict[Any, Any], Together]:
    together: Together = Together(explainer.background_.predictor, joint=joint, **options)
    for i in range(len(rows)):
        together.add(i, explainer.search(rows.iloc[[i]]))
    ended: dict[Any, Any] = {}
    while together:
        ended |= dict(together.step())
    return ended, together


@pytest.mark.parametrize("name", ROWWISE)
def test_every_row_is_explained_as_it_is_alone(name: str):
    model = clone(ROWWISE[name]).fit(normal.X, GOOD)
    explainer = normal.fitted(model, max_evaluations=150, classes=None)
    rows = normal.X.head(8)
    batch = explainer.explain_many(rows)
    for i in range(len(rows)):
        assert same(batch[i], explainer.explain(rows.iloc[[i]]))
    assert "found" in [result.status for result in batch]


@every_method
def test_every_method_searches_in_step(method: Any):
    model = Counting()
    explainer = method.make(model, classes=("bad", "good"), density=normal.SMALL, max_evaluations=120).fit(normal.X)
    rows = normal.X.head(6)
    alone = [explainer.explain(rows.iloc[[i]]) for i in range(len(rows))]
    model.calls.clear()
    together, _ = in_step(explainer, rows)
    in_one_call = len(model.calls)
    model.calls.clear()
    apart, _ = in_step(explainer, rows, joint=False)
    assert all(same(alone[i], together[i]) and same(alone[i], apart[i]) for i in range(len(rows)))
    assert in_one_call < len(model.calls) / 2


def test_forty_rows_need_an_eighth_of_the_calls_of_a_loop():
    model = Counting()
    explainer = normal.fitted(model, max_evaluations=120)
    rows = normal.X.head(40)
    model.calls.clear()
    for i in range(0, 40, 5):
        explainer.explain(rows.iloc[[i]])
    loop = 5 * len(model.calls)
    model.calls.clear()
    in_step(explainer, rows)
    assert len(model.calls) <= loop / 8


def test_a_batch_asks_about_each_row_itself_once():
    asked: list[pd.DataFrame] = []

    def model(frame: pd.DataFrame) -> np.ndarray:
        asked.append(frame)
        return normal.logistic(frame)

    explainer = normal.fitted(model, max_evaluations=120)
    rows = normal.X.head(12).assign(d=0.125)  # rows of the data are asked about by others too
    asked.clear()
    batch = explainer.explain_many(rows, together=True)
    assert {"found", "already"} >= {result.status for result in batch}
    times = pd.concat(asked)[list(rows)].value_counts()
    assert [times[tuple(row)] for row in rows.itertuples(index=False)] == [1] * len(rows)


def test_rows_that_fail_cost_themselves_only():
    model = Counting()
    explainer = normal.fitted(model, max_evaluations=100)
    rows = normal.X.head(5).astype({"k": float})
    whole, _ = in_step(explainer, rows)
    rows.iloc[3, list(rows.columns).index("d")] = AGE
    rows.iloc[1, list(rows.columns).index("k")] = 0.5
    model.fails = True
    ended, together = in_step(explainer, rows)
    assert isinstance(ended[3], ModelError)
    assert "failed on 1 row(s) with RuntimeError: too old" in str(ended[3])
    assert isinstance(ended[1], DataError)
    assert all(same(ended[i], whole[i]) for i in (0, 2, 4))
    assert len(together) == 0


def test_searches_come_and_go_between_steps():
    explainer = normal.fitted(max_evaluations=100)
    alone = explainer.explain(normal.X.iloc[[2]])
    together: Together = Together(explainer.background_.predictor)
    for i in (0, 1):
        together.add(i, explainer.search(normal.X.iloc[[i]]))
    assert together.step() == []
    together.add(2, explainer.search(normal.X.iloc[[2]]))
    with pytest.raises(ParameterError, match="key 2"):
        together.add(2, explainer.search(normal.X.iloc[[2]]))
    assert together.cancel(0)
    assert not together.cancel(0)
    assert len(together) == 2
    ended: dict[Any, Any] = {}
    while together:
        ended |= dict(together.step())
    assert set(ended) == {1, 2}
    assert same(ended[2], alone)


def test_no_call_is_larger_than_it_may_be():
    model = Counting()
    explainer = normal.fitted(model, max_evaluations=100)
    rows = normal.X.head(10)
    model.calls.clear()
    in_step(explainer, rows)
    assert max(model.calls) > 60
    model.calls.clear()
    ended, together = in_step(explainer, rows, most_rows=60)
    assert max(model.calls) <= 60
    assert together.model_calls == len(model.calls)
    assert same(ended[4], explainer.explain(rows.iloc[[4]]))


def test_seconds_are_those_of_the_row():
    explainer = normal.fitted(max_evaluations=100)
    started = time.perf_counter()
    ended, _ = in_step(explainer, normal.X.head(10))
    assert sum(result.provenance["seconds"] for result in ended.values()) <= time.perf_counter() - started


@pytest.mark.parametrize("name", ["arf", "nice"])
def test_a_search_that_is_no_coroutine_is_one_of_them(name: str, monkeypatch: pytest.MonkeyPatch):
    """Methods of others may ask at once, by `evaluate`."""
    explainer = make_explainer(
        name, normal.logistic, classes=("bad", "good"), density=normal.SMALL, max_evaluations=100, random_state=1
    ).fit(normal.X)

    def search(self: Any, problem: Any) -> None:
        rows = problem.background.matrix[:30]
        problem.evaluate(rows[problem.is_candidate(rows)])

    monkeypatch.setattr(type(explainer), "_search", search)
    rows = normal.X.head(4)
    ended, _ = in_step(explainer, rows)
    assert all(same(ended[i], explainer.explain(rows.iloc[[i]])) for i in range(4))


def test_what_adds_up_in_another_order_is_asked_apart():
    """Known of a linear model, measured of a function: single rows and pairs are multiplied otherwise than many."""
    model = LogisticRegression().fit(normal.X, GOOD)
    for one, options in ((model, {}), (lambda frame: model.predict_proba(frame)[:, 1], {"classes": (0, 1)})):
        explainer = normal.fitted(one, max_evaluations=100, **{"classes": None} | options)
        batch = explainer.explain_many(normal.X.head(5))
        assert all(same(batch[i], explainer.explain(normal.X.iloc[[i]])) for i in range(5))


class Moody:
    """A model that scores rows otherwise among more than twenty that are unlike the data: what no first look shows."""

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        is_new = not frame["a"].isin(normal.X["a"]).all()
        return np.nextafter(normal.logistic(frame), 1.0 if is_new and len(frame) > 300 else 0.0)


def test_a_model_that_turns_out_to_depend_on_other_rows_is_asked_apart():
    explainer = normal.fitted(Moody(), max_evaluations=300)
    assert explainer.background_.scores_rows_alike
    rows = normal.X.head(20)
    alone = [explainer.explain(rows.iloc[[i]]) for i in range(len(rows))]
    for n_jobs in (1, 2):
        assert all(map(same, explainer.explain_many(rows, n_jobs=n_jobs), alone))
    joint = explainer.explain_many(rows, together=True)
    assert not all(map(same, joint, alone))


def test_few_rows_are_searched_at_a_time_where_calls_are_cheap():
    pace = Pace(256, math.inf)
    assert pace.room == 16
    pace.stepped(1.0, 0.001, 0)
    assert pace.room == 16
    pace.stepped(1.0, 0.03, 0)
    assert pace.room == 48  # of which a call is a hundredth
    pace.stepped(0.1, 0.05, 0)
    assert pace.room == 256
    pace.stepped(1.0, 0.001, 0)
    assert pace.room == 256  # those that have begun go on


def test_no_more_rows_are_begun_than_time_is_left_for():
    pace = Pace(256, time.time() + 1000.0)
    assert pace.room == 1
    pace._begun -= 100.0
    pace.stepped(1.0, 0.5, 1)  # a hundred seconds for a row
    assert 8 <= pace.room <= 10
    assert Pace(256, time.time() - 1.0).room == 1
