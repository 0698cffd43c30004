"""Random search: where its draws fall, and what it may never do."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from countarfactuals import AdversarialRandomForest, Constraints, Target
from countarfactuals.constraints import as_constraints
from countarfactuals.explainers.proposals import uniform_rows
from countarfactuals.explainers.simple_searches import RandomSearchExplainer

from ..constraints.twin import Case, constraints, judge
from ..contracts.checks import dominated, same
from ..contracts.tables import LABELS, LEVELS, TABLES, Scorer, columns, frame_of, records, row_of

TARGETS = {"binary": None, "multiclass": "c", "regression": Target(above=1.0)}
PLACES = {"income": 2, "age": 0, "children": 0}
BUDGET = 230


class Recorder(Scorer):
    """Keeps the rows of each call."""

    def __call__(self, frame: Any) -> np.ndarray:
        self.__dict__.setdefault("calls", []).append(records(frame))
        return super().__call__(frame)


def make(model: Any, X: Any, values: Any = "auto", **own: Any) -> RandomSearchExplainer:
    density = AdversarialRandomForest(n_estimators=5, min_samples_leaf=20)
    return RandomSearchExplainer(model, **{"density": density, "random_state": 3, **own}).fit(X, values=values)


@cache
def fitted(table: str, task: str) -> tuple[RandomSearchExplainer, pd.DataFrame]:
    X = frame_of(columns(table), "pandas")
    return make(Recorder(table, task), X, classes=LABELS.get(task), max_evaluations=BUDGET), X


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("table", TABLES)
def test_rows_asked_about(table: str, task: str):
    """Within ranges, on the grid, known levels, each row once, in batches, all of the budget, reduced to the best."""
    explainer, X = fitted(table, task)
    x = row_of(X, int(np.argmin(Scorer(table, "regression")(X))))
    explainer.model.calls = []
    result = explainer.explain(x, TARGETS[task])
    own, *batches, again = explainer.model.calls
    assert sorted(again, key=repr) == sorted(records(result.to_frame()), key=repr)  # what leaves is asked about twice
    rows = [row for batch in batches for row in batch]
    assert [len(batch) for batch in batches[:2]] == [100, 100]
    kept = BUDGET // 20  # for second answers
    assert len(rows) == min(BUDGET - kept, 3 * 4 * 3 * 2 * 3 if table == "categorical" else BUDGET) - 1
    assert len({*rows, *own}) == len(rows) + 1
    for j, name in enumerate(X.columns):
        known = [row[j] for row in records(X) if row[j] is not None]
        new = {row[j] for row in rows} - {own[0][j]}
        assert None not in new
        if name in (*LEVELS, "owner"):
            assert new == set(known) - {own[0][j]}
            continue
        assert min(known) <= min(new) <= max(new) <= max(known)
        assert name not in PLACES or all(round(cell, PLACES[name]) == cell for cell in new)
    n_changed = [sum(a != b for a, b in zip(row, own[0], strict=True)) for row in rows]
    assert set(n_changed) == set(range(1, len(X.columns) + 1))
    assert result.status == "found"
    points = np.column_stack([result.objectives[name] for name in ("distance", "n_changed", "implausibility")])
    assert not dominated(points).any()
    assert same(result, explainer.explain(x, TARGETS[task]))


def drawn(
    X: pd.DataFrame, x: dict[str, Any], said: dict[str, Any], n: int = 4000, values: Any = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows as drawn, and which of their cells changed."""
    explainer = make(lambda frame: np.zeros(len(frame)), X, values)
    problem = explainer.problem(explainer.encode_row(x), Target(above=1.0), as_constraints(said))
    rows = explainer.schema_.decode(uniform_rows(problem, n))
    return rows, pd.DataFrame({name: rows[name] != x[name] for name in X.columns})


def small_table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "real": np.append(rng.normal(size=198), [-4.0, 4.0]) * np.pi,
            "tenth": rng.choice([1.1, 1.2, 1.3, 1.7, 2.3], 200),
            "whole": rng.integers(0, 5, 200),
            "level": pd.Categorical(rng.choice(["a", "b", "c"], 200), categories=["a", "b", "c", "unseen"]),
        }
    )


@pytest.mark.parametrize(
    ("values", "tenths"),
    [(None, [1.1, *np.arange(13, 24) / 10]), ("auto", [1.1, 1.3, 1.7, 2.3])],
    ids=["any", "occurring"],
)
def test_draws_are_uniform(values: Any, tenths: list[float]):
    X = small_table()
    rows, changed = drawn(X, {"real": 0.123, "tenth": 1.2, "whole": 2, "level": "a"}, {}, values=values)
    scaled = (rows["real"][changed["real"]] / np.pi + 4) / 8
    assert stats.kstest(scaled, "uniform").pvalue > 1e-3
    for name, expected in {
        "tenth": tenths,
        "whole": [0, 1, 3, 4],
        "level": ["b", "c"],
    }.items():
        counts = rows[name][changed[name]].astype(object).value_counts()
        assert sorted(counts.index) == expected
        assert stats.chisquare(counts).pvalue > 1e-3
    n_drawn = changed.sum(axis=1)
    assert set(n_drawn) == {0, 1, 2, 3, 4}  # 0 where a number happens to be x's own


def test_no_grid_point_is_lost_to_rounding():
    """0.07 · 100 is a little more than 7, and 0.29 · 100 a little less than 29."""
    X = pd.DataFrame({"a": np.tile([0.07, 0.1, 0.15, 0.29], 20), "b": np.arange(80.0)})
    rows, _ = drawn(X, {"a": 0.1, "b": 3.0}, {})
    assert set(rows["a"]) == {k / 100 for k in range(7, 30)}


@pytest.mark.parametrize(
    ("values", "tenths"), [(None, {1.2, 1.3, 1.4, 1.5}), ("auto", {1.2, 1.3})], ids=["any", "occurring"]
)
def test_draws_within_limits(values: Any, tenths: set[float]):
    X = small_table()
    x = {"real": 0.123, "tenth": 2.0, "whole": 2, "level": "b"}
    said = {
        "ranges": {"real": (-1, 30), "tenth": (1.15, 1.5)},
        "direction": {"whole": "increase"},
        "allowed": {"level": ["b", "c", "unseen"]},
        "max_changed": 2,
    }
    rows, changed = drawn(X, x, said, values=values)
    assert changed.sum(axis=1).max() == 2
    real = rows["real"][changed["real"]]
    assert real.min() >= -1
    assert 4 * np.pi - 0.2 < real.max() <= 4 * np.pi
    assert set(rows["tenth"][changed["tenth"]]) == tenths
    assert set(rows["whole"][changed["whole"]]) == {3, 4}
    assert set(rows["level"][changed["level"]]) == {"c"}


@pytest.mark.parametrize("values", [None, "auto"])
def test_a_range_outside_of_the_data_leaves_the_column(values: Any):
    rows, changed = drawn(small_table(), {"real": 0.1, "tenth": 1.2, "whole": 2, "level": "a"},
                          {"ranges": {"real": (90, 99), "whole": (7, 9)}}, 500, values)  # fmt: skip
    assert not changed[["real", "whole"]].any().any()
    assert changed["tenth"].any()
    assert len(rows) == 500


def test_one_hot_columns_and_groups_change_together():
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 12, 240)
    X = pd.DataFrame(
        {
            **{f"is_{k}": (kind == k).astype(int) for k in range(12)},
            "a": rng.normal(size=240),
            "b": rng.normal(size=240),
        }
    )
    asked: list[pd.DataFrame] = []

    def model(frame: pd.DataFrame) -> np.ndarray:
        asked.append(frame.copy())
        return 1 / (1 + np.exp(-(frame["a"] + frame["b"] + frame["is_7"] - 2).to_numpy()))

    explainer = make(model, X, classes=("no", "yes"), max_evaluations=300)
    hot = [f"is_{k}" for k in range(12)]
    x = X[(X["a"] + X["b"] + X["is_7"] < 1) & (kind == 0)].head(1)
    asked.clear()
    result = explainer.explain(x, constraints=Constraints(exactly_one=[hot], groups=[["a", "b"]]))
    rows = pd.concat(asked[1:-1])
    assert len(rows) == 299 - 299 // 20  # what leaves is asked about twice
    assert len(asked[-1]) == min(len(result), 299 // 20)
    assert (rows[hot].sum(axis=1) == 1).all()
    assert rows[hot].any().all()
    changed = rows[["a", "b"]] != x[["a", "b"]].to_numpy()
    assert (changed["a"] == changed["b"]).all()


def test_few_rows_are_tried_once_and_then_it_ends():
    X = pd.DataFrame([(a, b) for a in "pq" for b in "uvw"] * 10, columns=["a", "b"])
    asked: list[int] = []

    def model(frame: pd.DataFrame) -> np.ndarray:
        asked.append(len(frame))
        return 0.1 + 0.8 * (frame["b"] == "w").to_numpy()

    explainer = make(model, X, classes=("no", "yes"))
    asked.clear()
    result = explainer.explain({"a": "p", "b": "u"})
    assert asked == [1, 5, len(result)]  # what leaves is asked about twice
    assert result.status == "found"
    nothing = explainer.explain({"a": "p", "b": "u"}, constraints={"fixed": ["a"], "allowed": {"b": {"v": ["w"]}}})
    assert nothing.status == "none"


def constrained_table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    one = rng.integers(0, 3, 150)
    frame = pd.DataFrame(
        {
            "c0": rng.uniform(-1, 2.25, 150).round(2),
            "c1": rng.integers(-1, 4, 150),
            "c2": pd.Categorical(rng.choice(["a", "b", "c"], 150)),
            "c3": pd.Categorical(
                rng.choice(["low", "mid", "high"], 150), categories=["low", "mid", "high"], ordered=True
            ),
            **{f"c{4 + k}": one == k for k in range(3)},
            "c7": rng.uniform(-1, 2.25, 150).astype(np.float32),
        }
    )
    frame.loc[rng.random(150) < 0.15, "c0"] = np.nan
    frame.loc[rng.random(150) < 0.15, "c2"] = np.nan
    return frame


@cache
def constrained() -> tuple[RandomSearchExplainer, pd.DataFrame, list[pd.DataFrame]]:
    asked: list[pd.DataFrame] = []

    def model(frame: pd.DataFrame) -> np.ndarray:
        asked.append(frame.copy())
        merit = frame["c0"].fillna(0.5) + 0.4 * frame["c1"] + frame["c4"] - frame["c6"] - 0.5 * frame["c7"] - 0.8
        return 1 / (1 + np.exp(-2 * merit.to_numpy(float)))

    X = constrained_table()
    return make(model, X, classes=("no", "yes"), max_evaluations=120), X, asked


@given(data=st.data())
def test_random_constraints(data: Any):
    """Every row that the model is asked about during the search obeys, not only those that are handed out."""
    explainer, X, asked = constrained()
    schema, matrix = explainer.schema_, explainer.background_.matrix
    at = data.draw(st.integers(0, 30))
    said = data.draw(constraints(schema, matrix[at]))
    asked.clear()
    result = explainer.explain(X.iloc[[at]], constraints=Constraints(**said))
    assert sum(map(len, asked)) == result.provenance["evaluations"] <= 120
    case = Case(schema, matrix[at], result.rows, said)
    rows = schema.encode(pd.concat(asked))[1:]
    if result.diagnosis is not None:  # which asks about rows that are forbidden, after the search
        rows = rows[: result.diagnosis.n_tried]
    assert not [name for row in rows[::3] for name, is_so in judge(case, row).items() if is_so]  # the twin is slow
    assert not [name for row in result.rows for name, is_so in judge(case, row).items() if is_so]
