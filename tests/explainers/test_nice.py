"""NICE: every call of the model is foretold by a slow twin that knows rows as Python values."""

from __future__ import annotations

import io
import pickle
import subprocess
import textwrap
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals import AdversarialRandomForest, Constraints, Explainer, Target
from countarfactuals.exceptions import DataError, NotFittedError, ParameterError, StorageError
from countarfactuals.explainers.nice import REWARDS, Autoencoder, NICEExplainer

from ..constraints.twin import Case, judge
from ..contracts.checks import dominated, gower, same
from ..contracts.tables import LABELS, LEVELS, TABLES, Scorer, columns, frame_of, records, row_of

PEERS = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"
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
TARGETS: dict[str, Any] = {
    "binary": [None, Target(above=0.7), Target(between=(0.6, 0.8))],
    "multiclass": ["c", "a", Target("b", probability=(0.45, 1.0))],
    "regression": [(0.5, 1.0), Target(below=-1.0)],
}
SAID: list[dict[str, Any]] = [
    {"fixed": ["owner", "grade"]},
    {"ranges": {"income": (2.5, 4)}, "direction": {"age": "increase"}},
    {"allowed": {"purpose": ["study", "car"]}, "max_changed": 2},
    {"groups": [["income", "age"], ["grade", "owner"]]},
    {"groups": [["income", "purpose"]], "direction": {"income": "increase"}, "max_changed": 2},
    {"max_changed": 1},
    {"weights": {"income": 5, "owner": 0}},
]
Row = tuple[Any, ...]


class Recorder(Scorer):
    """Keeps the rows of each call."""

    calls: list[list[Row]]

    def __call__(self, frame: Any) -> np.ndarray:
        self.__dict__.setdefault("calls", []).append(records(frame))
        return super().__call__(frame)


def small_forest() -> AdversarialRandomForest:
    return AdversarialRandomForest(n_estimators=5, min_samples_leaf=20)


@cache
def fitted(table: str, task: str) -> tuple[NICEExplainer, pd.DataFrame]:
    X = frame_of(columns(table), "pandas")
    explainer = NICEExplainer(Recorder(table, task), classes=LABELS.get(task), density=small_forest(), random_state=3)
    return explainer.fit(X), X


class Twin:
    """One explanation as the method's definition has it, row by row and cell by cell."""

    def __init__(self, explainer: NICEExplainer, X: pd.DataFrame, x: pd.DataFrame, target: Any, said: dict[str, Any]):
        self.explainer, self.X, self.x, self.own = explainer, X, x, records(x)[0]
        self.said, self.names = NOTHING | said, list(X.columns)
        self.scorer = Scorer("mixed", explainer.model.task)
        self.scorer.names = explainer.model.names
        self.range = [X[name].max() - X[name].min() if X[name].dtype.kind in "if" else None for name in self.names]
        self.target = target
        if target is None:
            self.target = "bad" if self.score([self.own])[0] > 0.5 else "good"

    def frame(self, rows: list[Row]) -> pd.DataFrame:
        cells = {name: [row[j] for row in rows] for j, name in enumerate(self.names)}
        return pd.DataFrame({name: pd.Series(values, dtype=self.X[name].dtype) for name, values in cells.items()})

    def score(self, rows: list[Row]) -> np.ndarray:
        return self.scorer(np.array(rows, object))

    def shortfall(self, rows: list[Row]) -> np.ndarray:
        """How far from the target; 0 if it is reached."""
        scores, target = self.score(rows), self.target
        if isinstance(target, str):
            label = np.array(LABELS[self.scorer.task])
            picked = label[scores.argmax(axis=1)] if scores.ndim == 2 else label[(scores > 0.5).astype(int)]
            return (picked != target).astype(float)
        if isinstance(target, Target) and target.outcome is not None:
            scores = scores[:, LABELS["multiclass"].index(target.outcome)]
        low, high = target if isinstance(target, tuple) else target.probability or target.range
        return np.maximum(np.maximum(low - scores, scores - high), 0)

    def wanted(self, rows: list[Row]) -> np.ndarray:
        if not isinstance(self.target, str):
            return -self.shortfall(rows)
        scores = self.score(rows)
        if scores.ndim == 2:
            return scores[:, LABELS["multiclass"].index(self.target)]
        return scores if self.target == "good" else 1 - scores

    def distance(self, rows: list[Row]) -> np.ndarray:
        weights = [self.said["weights"].get(name, 1.0) for name in self.names]
        terms = [[self.term(j, a, b) for j, (a, b) in enumerate(zip(row, self.own, strict=True))] for row in rows]
        return np.array(terms) @ weights / sum(weights)

    def term(self, j: int, cell: Any, own: Any) -> float:
        if cell == own:
            return 0.0
        if cell is None or own is None or isinstance(cell, bool):
            return 1.0
        if isinstance(cell, str):
            ranks = LEVELS["grade"]
            return abs(ranks.index(cell) - ranks.index(own)) / 2 if self.names[j] == "grade" else 1.0
        return abs(cell - own) / self.range[j]

    def violated(self, row: Row) -> list[str]:
        schema = self.explainer.schema_
        own, new = ([c.encode(cell) for c, cell in zip(schema.columns, one, strict=True)] for one in (self.own, row))
        case = Case(schema, np.array(own), np.empty((0, len(own))), self.said)
        return [name for name, is_so in judge(case, np.array(new)).items() if is_so]

    def end(self, row: Row) -> Row:
        """What x can become of the row."""
        cells = list(self.own)
        for j, cell in enumerate(row):
            alone = (*self.own[:j], cell, *self.own[j + 1 :])
            if not any(name.split(":")[0] in ("fixed", "range", "allowed", "direction", "missing")
                       for name in self.violated(alone)):  # fmt: skip
                cells[j] = cell
        for group in self.said["groups"]:
            places = [self.names.index(name) for name in group]
            if any(cells[j] == self.own[j] for j in places):
                for j in places:
                    cells[j] = self.own[j]
        return tuple(cells)

    def ends(self) -> Iterator[Row]:
        rows = records(self.X)
        rows = [row for row, miss in zip(rows, self.shortfall(rows), strict=True) if miss == 0]
        distance = self.distance(rows).round(12)
        seen = {self.own}
        for i in np.argsort(distance, kind="stable").tolist():
            if (end := self.end(rows[i])) not in seen:
                seen.add(end)
                yield end

    def options(self, row: Row, end: Row) -> list[Row]:
        units = [[name] for name in self.names if not any(name in group for group in self.said["groups"])]
        options = []
        for unit in sorted([*units, *self.said["groups"]], key=lambda unit: min(map(self.names.index, unit))):
            option = tuple(
                end[j] if name in unit else cell
                for j, (name, cell) in enumerate(zip(self.names, row, strict=True))
            )  # fmt: skip
            n_changed = sum(a != b for a, b in zip(option, self.own, strict=True))
            if option != row and n_changed <= (self.said["max_changed"] or 99):
                options.append(option)
        return [option for option in options if not self.violated(option)] or options

    def best(self, row: Row, options: list[Row]) -> list[Row]:
        """The options of the highest reward, all that are equal up to rounding; the cheapest first."""
        rows = [row, *options]
        wanted, cost = self.wanted(rows), self.distance(rows)
        if self.explainer.reward == "plausibility":
            cost = self.explainer.reconstruction_error(self.explainer.schema_.encode(self.frame(rows)))
        gain, increase = wanted[1:] - wanted[0], cost[1:] - cost[0]
        reward = {
            "sparsity": gain,
            "proximity": gain / np.where(increase > 1e-12, increase, 1e-12),
            "plausibility": -gain * increase,
        }[self.explainer.reward]
        top = reward.max()
        best = np.flatnonzero(reward >= top - 1e-9 * max(abs(top), 1e-3))
        return [options[i] for i in sorted(best, key=lambda i: increase[i].round(12))]


def check(table: str, task: str, reward: str, at: int, target: Any, said: dict[str, Any], early: bool) -> str:
    explainer, X = fitted(table, task)
    explainer.set_params(reward=reward, finish_early=early, max_evaluations=1000, n_neighbours=12)
    x = row_of(X, at)
    if reward == "plausibility":
        explainer.reconstruction_error(explainer.background_.matrix[:1])
    explainer.model.calls = []
    result = explainer.explain(x, target, Constraints(**said))
    calls, twin = explainer.model.calls, Twin(explainer, X, x, target, said)
    assert calls.pop(0) == [twin.own]
    if result.status == "already":
        return "already"
    if result.status == "found":  # what leaves is asked about twice
        assert sorted(calls.pop(), key=repr) == sorted(records(result.to_frame()), key=repr)
    met: list[Row] = []
    path: list[Row] = []
    for end in islice(twin.ends(), 12):
        assert calls.pop(0) == [end]
        met.append(end)
        if twin.shortfall([end])[0] > 0:
            continue
        path = walk(twin, calls, end, met, early)
        if any(is_good(twin, row) for row in met):
            break
    good = [row for row in dict.fromkeys(met) if is_good(twin, row)]
    if not good:
        assert result.status == "none"
        return "none"
    assert not calls
    if early:
        expected = path[-1:] if path and is_good(twin, path[-1]) else good[:1]
        assert records(result.to_frame()) == expected
        return "found" if expected == path[-1:] else "found beside the path"
    frame = twin.frame(good)
    plausible = explainer.background_.plausibility(explainer.schema_.encode(frame))
    points = np.column_stack(
        [twin.distance(good), [sum(a != b for a, b in zip(row, twin.own, strict=True)) for row in good], -plausible]
    ).round(9)
    expected = {row for row, is_worse in zip(good, dominated(points), strict=True) if not is_worse}
    assert set(records(result.to_frame())) <= expected
    assert len({tuple(point) for point in points[~dominated(points)]}) == len(result)
    return "found"


def is_good(twin: Twin, row: Row) -> bool:
    return row != twin.own and twin.shortfall([row])[0] == 0 and not twin.violated(row)


def walk(twin: Twin, calls: list[list[Row]], end: Row, met: list[Row], early: bool) -> list[Row]:
    """Follow the path through the calls; each must ask about all options of the best row, and of no other.

    What was asked before is not asked again.
    """
    row, path = twin.own, []
    options = twin.options(row, end)
    while options:
        if new := [option for option in options if option not in met]:
            assert calls.pop(0) == new
        met += options
        best = twin.best(row, options)
        following = [twin.options(one, end) for one in best]
        if len(best) > 1 and calls:
            seen = [k for k, rows in enumerate(following) if [one for one in rows if one not in met] == calls[0]]
            best, following = [best[k] for k in seen[:1]] or best, [following[k] for k in seen[:1]] or following
        row, options = best[0], following[0]
        path.append(row)
        if early and is_good(twin, row):
            break
    return path


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("reward", REWARDS)
def test_path_against_twin(table: str, task: str, reward: str):
    seen = [
        check(table, task, reward, at, target, {}, early)
        for at, early, target in zip((0, 5, 9), (False, True, False), TARGETS[task], strict=False)
    ]
    assert "found" in seen
    assert "none" not in seen


@pytest.mark.parametrize("said", SAID, ids=lambda said: ", ".join(said))
@pytest.mark.parametrize("table", ["mixed", "missing"])
def test_path_under_constraints(table: str, said: dict[str, Any]):
    seen = [
        check(table, task, reward, at, TARGETS[task][0], said, at % 2 == 0)
        for reward, at, task in zip(REWARDS, (3, 4, 8), TARGETS, strict=True)
    ]
    assert "found" in seen


@given(
    at=st.integers(0, 60),
    reward=st.sampled_from(REWARDS),
    task=st.sampled_from(sorted(TARGETS)),
    said=st.sampled_from([{}, *SAID]),
    early=st.booleans(),
    data=st.data(),
)
def test_path_of_any_row(at: int, reward: str, task: str, said: dict[str, Any], early: bool, data: Any):
    check("missing", task, reward, at, data.draw(st.sampled_from(TARGETS[task])), said, early)


def flat(frame: pd.DataFrame) -> np.ndarray:
    """Only all three together are enough."""
    return 0.1 + 0.8 * ((frame["a"] > 0) & (frame["b"] > 0) & (frame["c"] > 0)).to_numpy()


def test_equal_rewards_go_the_shorter_way():
    rows = [(0.0, 0.0, 0.0), (0.6, 0.2, 0.4), (1.0, 1.0, 1.0)]
    X = pd.DataFrame(rows * 20, columns=["a", "b", "c"])
    calls: list[np.ndarray] = []

    def model(frame: pd.DataFrame) -> np.ndarray:
        calls.append(frame.to_numpy())
        return flat(frame)

    for reward in ("sparsity", "proximity"):
        explainer = NICEExplainer(model, classes=("bad", "good"), density=small_forest(), reward=reward, random_state=1)
        explainer.fit(X)
        calls.clear()
        result = explainer.explain({"a": 0.0, "b": 0.0, "c": 0.0})
        # x, the end, three steps, two; the last one leads to the end, which is known
        assert [len(call) for call in calls] == [1, 1, 3, 2, len(result)]  # what leaves is asked about twice
        np.testing.assert_array_equal(calls[3], [[0.6, 0.2, 0.0], [0.0, 0.2, 0.4]])
        np.testing.assert_array_equal(result.to_frame(), [[0.6, 0.2, 0.4]])


def test_one_hot_columns_are_taken_together():
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 3, 120)
    X = pd.DataFrame({"size": rng.normal(size=120).round(1), **{f"is_{k}": kind == k for k in range(3)}})

    def model(frame: pd.DataFrame) -> np.ndarray:
        assert (frame[["is_0", "is_1", "is_2"]].sum(axis=1) == 1).all()
        return 1 / (1 + np.exp(-(2 * frame["is_2"] + frame["size"] - 1.5).to_numpy(float)))

    explainer = NICEExplainer(model, classes=("no", "yes"), density=small_forest(), random_state=1).fit(X)
    x = X[(kind == 0) & (X["size"] < 0)].head(1)
    result = explainer.explain(x, constraints=Constraints(exactly_one=[["is_0", "is_1", "is_2"]]))
    assert result.status == "found"


def test_a_step_that_breaks_a_rule_is_not_made_if_another_does_not():
    """Both ends of an interval must move; the lower one first would be above the other."""
    rng = np.random.default_rng(2)
    low = rng.uniform(0, 5, 150).round(1)
    X = pd.DataFrame({"low": low, "high": (low + rng.uniform(0.5, 2, 150)).round(1)})
    asked: list[pd.DataFrame] = []

    def model(frame: pd.DataFrame) -> np.ndarray:
        asked.append(frame.copy())
        return 1 / (1 + np.exp(-4 * (frame["low"] - 3).to_numpy()))

    explainer = NICEExplainer(model, classes=("no", "yes"), density=small_forest(), random_state=1).fit(X)
    x = X.loc[[X["low"].idxmin()]]
    asked.clear()
    result = explainer.explain(x, constraints=Constraints(rules=[("low", "<", "high")]))
    rows = pd.concat(asked)
    assert (rows["low"] < rows["high"]).all()
    # x, the end, the one step that holds; the last leads to the end; what leaves is asked about twice
    assert [len(call) for call in asked] == [1, 1, 1, len(result)]
    assert result.status == "found"
    asked.clear()
    result = explainer.explain(x)
    assert [len(call) for call in asked] == [1, 1, 2, len(result)]


def test_where_every_step_breaks_a_rule_the_path_goes_through():
    X = pd.DataFrame({"a": np.tile([0.0, 1.0], 40), "b": np.tile([0.0, 1.0], 40), "c": np.arange(80.0)})

    def model(frame: pd.DataFrame) -> np.ndarray:
        return (0.1 + 0.4 * frame["a"] + 0.3 * frame["b"]).to_numpy()

    explainer = NICEExplainer(model, classes=("no", "yes"), density=small_forest(), random_state=1).fit(X)
    result = explainer.explain(X.iloc[[0]], constraints=Constraints(rules=[("a", "==", "b")], fixed=["c"]))
    assert records(result.to_frame()) == [(1.0, 1.0, 0.0)]


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("reward", REWARDS)
def test_the_budget_is_never_exceeded(reward: str, early: bool):
    explainer, X = fitted("mixed", "binary")
    explainer.set_params(reward=reward, finish_early=early)
    for budget in range(1, 20):
        explainer.set_params(max_evaluations=budget)
        before = explainer.model.n_rows
        result = explainer.explain(row_of(X, 3))
        assert explainer.model.n_rows - before == result.provenance["evaluations"] <= budget
        assert result.status == ("found" if budget > 1 else "none")


def test_the_neighbour_can_be_one_that_is_predicted_correctly():
    X = frame_of(columns("mixed"), "pandas")
    model = Recorder("mixed", "binary")
    predicted = model(X) > 0.5
    rng = np.random.default_rng(4)
    wrong = rng.random(len(X)) < 0.6
    y = np.where(predicted ^ wrong, "good", "bad")
    explainer = NICEExplainer(model, only_correct=True, classes=("bad", "good"), density=small_forest(), random_state=1)
    explainer.fit(X, y)
    np.testing.assert_array_equal(explainer.correct_, ~wrong)
    differs = 0
    for at in range(12):
        x = row_of(X, at)
        model.calls = []
        explainer.explain(x)
        usable = np.flatnonzero((predicted != predicted[at]) & ~wrong)
        distance = np.round(gower(X, x, list(X.columns), X), 12)
        nearest = usable[np.argmin(distance[usable])]
        assert model.calls[1] == [records(X)[nearest]]
        differs += distance[nearest] > distance[predicted != predicted[at]].min()
    assert differs > 0


def test_only_correct_needs_classes_to_compare_with():
    X = frame_of(columns("numeric"), "pandas")
    make = {"only_correct": True, "density": small_forest(), "random_state": 1}
    binary = NICEExplainer(Scorer("numeric"), classes=("bad", "good"), **make)
    with pytest.raises(DataError, match=r"fit\(X, y\)"):
        binary.fit(X)
    with pytest.raises(DataError, match="no row of the data correctly"):
        binary.fit(X, np.full(len(X), "excellent"))
    with pytest.raises(DataError, match="one outcome for each"):
        binary.fit(X, ["good"])
    assert not hasattr(binary, "background_")
    with pytest.raises(ParameterError, match="regression"):
        NICEExplainer(Scorer("numeric", "regression"), **make).fit(X, np.arange(len(X)))
    later = NICEExplainer(Scorer("numeric"), classes=("bad", "good"), density=small_forest(), random_state=1).fit(X)
    with pytest.raises(NotFittedError, match="only_correct"):
        later.set_params(only_correct=True).explain(X.iloc[[0]])


def test_what_is_correct_is_stored(tmp_path: Path):
    X = frame_of(columns("numeric"), "pandas")
    model = Scorer("numeric")
    y = np.where(model(X) > 0.5, "good", "bad")
    y[::2] = "bad"
    make = {"classes": ("bad", "good"), "density": small_forest(), "random_state": 1}
    explainer = NICEExplainer(model, only_correct=True, **make).fit(X, y)
    explainer.save(tmp_path / "correct")
    loaded = NICEExplainer.load(tmp_path / "correct", model)
    np.testing.assert_array_equal(loaded.correct_, explainer.correct_)
    assert 0 < loaded.correct_.sum() < len(X)
    assert all(map(same_rows, loaded.explain_many(X.head(6)), explainer.explain_many(X.head(6))))

    any_row = NICEExplainer(model, **make).fit(X)
    assert not all(map(same_rows, any_row.explain_many(X.head(6)), explainer.explain_many(X.head(6))))
    any_row.save(tmp_path / "any")
    later = Explainer.load(tmp_path / "any", model).set_params(only_correct=True)
    with pytest.raises(NotFittedError, match="only_correct"):
        later.explain(X.iloc[[0]])

    with np.load(tmp_path / "correct") as file:
        parts = {name: file[name] for name in file.files if name not in ("method.correct", "digest")}
    with (tmp_path / "short").open("wb") as file:
        np.savez(file, **parts)
    with pytest.raises(StorageError, match="correct"):
        NICEExplainer.load(tmp_path / "short", model)


def same_rows(one: Any, other: Any) -> bool:
    return np.array_equal(one.rows, other.rows)


@pytest.mark.parametrize(
    "wrong", [{"reward": "beauty"}, {"finish_early": 1}, {"only_correct": "yes"}, {"n_neighbours": 0}]
)
def test_wrong_parameters(wrong: dict[str, Any]):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        NICEExplainer(len, **wrong).fit(pd.DataFrame({"a": [1.0, 2.0]}))


def test_without_a_row_that_has_the_outcome_it_goes_where_one_comes_closest():
    explainer, X = fitted("numeric", "regression")
    explainer.set_params(reward="sparsity", finish_early=False, max_evaluations=300, n_neighbours=50)
    value = explainer.model(X)
    explainer.model.calls = []
    result = explainer.explain(X.iloc[[0]], Target(above=100.0))
    assert explainer.model.calls[1] == [records(X)[value.argmax()]]
    assert result.status == "none"
    assert result.diagnosis.n_tried > 10
    assert any("extrapolates" in str(note) for note in result.notes)


def test_same_seed_same_result_and_the_users_own_distance():
    X = frame_of(columns("missing"), "pandas")
    model = Recorder("missing")

    def make(**own: Any) -> NICEExplainer:
        explainer = NICEExplainer(
            model, classes=("bad", "good"), reward="plausibility", density=small_forest(), random_state=8, **own
        )
        return explainer.fit(X)

    x, one = row_of(X, 1), make()
    first = one.explain(x)
    assert same(first, make().explain(x))
    assert same(first, one.explain(x))
    assert same(first, one.explain_many(X.head(3), progress=False)[1])

    def age_alone(rows: pd.DataFrame, x: pd.DataFrame) -> np.ndarray:
        return np.abs(rows["age"].to_numpy() - x["age"].to_numpy())

    model.calls = []
    other = make(distance=age_alone)
    has_outcome = (model(X) > 0.5) != (model(x)[0] > 0.5)
    model.calls = []
    other.explain(x)
    assert abs(model.calls[1][0][1] - x["age"].iloc[0]) == age_alone(X[has_outcome], x).min()


# The autoencoder


@pytest.mark.parametrize("table", TABLES)
def test_autoencoder_finds_unusual_rows(table: str):
    """Columns that depend on each other, then shuffled: what is real has less error."""
    rng = np.random.default_rng(0)
    schema = fitted(table, "binary")[0].schema_
    hidden = rng.random(600)
    matrix = np.column_stack(
        [
            np.floor(hidden * column.n_levels) if not column.is_number else hidden * 10 + rng.normal(0, 0.1, 600)
            for column in schema.columns
        ]
    )
    if table == "missing":
        matrix[rng.random(matrix.shape) < 0.05] = np.nan
    encoder = Autoencoder.fit(schema, matrix, 5)
    shuffled = np.column_stack([rng.permutation(column) for column in matrix.T])
    assert np.median(encoder.error(shuffled)) > 2 * np.median(encoder.error(matrix))
    again = Autoencoder.fit(schema, matrix, 5)
    np.testing.assert_array_equal(encoder.error(shuffled), again.error(shuffled))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(encoder)).error(shuffled), encoder.error(shuffled))


def test_inputs_of_the_autoencoder():
    X = pd.DataFrame({"n": [0.0, 4.0, None, 2.0], "c": pd.Categorical(["u", None, "v", "u"]), "b": [1, 3, 3, 2]})
    explainer = NICEExplainer(lambda frame: frame["b"] / 4, density=small_forest(), random_state=0)
    explainer.fit(pd.concat([X] * 20, ignore_index=True))
    encoder = Autoencoder.fit(explainer.schema_, explainer.background_.matrix, 0)
    np.testing.assert_allclose(
        encoder._inputs(explainer.schema_.encode(X)),
        [[0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 1, 1], [0.5, 1, 0, 1, 0, 1], [0.5, 0, 1, 0, 0, 0.5]],
    )


def test_autoencoder_of_a_single_column():
    X = pd.DataFrame({"a": np.linspace(0, 1, 60)})
    explainer = NICEExplainer(
        lambda frame: frame["a"], classes=("no", "yes"), reward="plausibility", density=small_forest(), random_state=0
    )
    assert explainer.fit(X).explain({"a": 0.1}).status == "found"


# The published implementation


_PEER = """
import sys
import numpy as np
import pandas as pd
from nice import NICE

data = pd.read_csv(sys.argv[1]).to_numpy(np.float64)
def predict(rows):
    score = 1 / (1 + np.exp(-(rows[:, 0] + 2 * rows[:, 1] - rows[:, 2])))
    return np.column_stack([1 - score, score])
labels = predict(data).argmax(axis=1)
nice = NICE(predict_fn=predict, X_train=data, cat_feat=[], y_train=labels, optimization="none")
for x in data[:25]:
    print(*nice.explain(x[None].copy())[0].tolist(), sep=",")
"""


@pytest.mark.full
@pytest.mark.skipif(not PEERS.exists(), reason="the peers' environment is absent; `make bench` installs it")
def test_neighbour_is_that_of_nicex(tmp_path: Path):
    X = pd.DataFrame(np.random.default_rng(6).normal(size=(200, 4)), columns=list("abcd"))
    X.to_csv(tmp_path / "data.csv", index=False)
    command = [str(PEERS), "-c", textwrap.dedent(_PEER), str(tmp_path / "data.csv")]
    if subprocess.run([str(PEERS), "-c", "import nice"], capture_output=True, check=False).returncode:
        pytest.skip("NICEx is not in the peers' environment; `make bench` installs it")
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    theirs = pd.read_csv(io.StringIO(printed), header=None).to_numpy()
    asked: list[np.ndarray] = []

    def model(frame: pd.DataFrame) -> np.ndarray:
        asked.append(frame.to_numpy())
        return 1 / (1 + np.exp(-(frame["a"] + 2 * frame["b"] - frame["c"]).to_numpy()))

    explainer = NICEExplainer(model, classes=(0, 1), density=small_forest(), random_state=1).fit(X)
    for at in range(len(theirs)):
        asked.clear()
        explainer.explain(X.iloc[[at]])
        np.testing.assert_allclose(asked[1][0], theirs[at], rtol=1e-12)


def test_one_row_is_the_result_even_if_the_path_misses_all_that_it_passes():
    """With few changes allowed, the path may end beside counterfactuals that it has met."""
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(120, 8)), columns=list("abcdefgh"))

    def score(frame: pd.DataFrame) -> np.ndarray:
        return 1 / (1 + np.exp(-frame.sum(axis=1).to_numpy()))

    density = AdversarialRandomForest(n_estimators=5, min_samples_leaf=10)
    settings = {"classes": ("no", "yes"), "density": density, "reward": "plausibility", "random_state": 1}
    early = NICEExplainer(score, finish_early=True, **settings).fit(wide)
    all_met = NICEExplainer(score, **settings).fit_like(early)
    found = [
        (len(early.explain(x, constraints=few)), len(all_met.explain(x, constraints=few)))
        for most in (1, 2)
        for few in [Constraints(max_changed=most)]
        for x in (wide.iloc[[i]] for i in range(30))
    ]
    assert {n for n, _ in found} <= {0, 1}
    assert sum(n == 1 and several > 1 for n, several in found) > 5
