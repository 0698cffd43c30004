"""What can not be done is refused with an error that says what was got and what is allowed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from countarfactuals import AdversarialRandomForest, Constraints, Target
from countarfactuals.exceptions import (
    ConstraintError,
    CountarfactualsError,
    DataError,
    DataTypeError,
    ModelError,
    ModelTypeError,
    NotFittedError,
    ParameterError,
    StorageError,
    TargetError,
)
from countarfactuals.explainers import EXPLAINERS

from .methods import BY_NAME, Method, every_method
from .tables import LABELS, Scorer, columns, frame_of

X = frame_of(columns("mixed"), "pandas")


@cache
def fitted(name: str, task: str = "binary") -> Any:
    return BY_NAME[name].make(Scorer("mixed", task), classes=LABELS.get(task), max_evaluations=50).fit(X)


@every_method
def test_use_before_fit(method: Method, tmp_path: Any):
    explainer = method.make(Scorer("mixed"), classes=("bad", "good"))
    for use in (explainer.explain, explainer.explain_many):
        with pytest.raises(NotFittedError, match="fit"):
            use(X.head(1))
    with pytest.raises(SklearnNotFittedError):
        explainer.save(tmp_path / "explainer")


@every_method
@pytest.mark.parametrize(
    "wrong",
    [
        {"max_evaluations": 0},
        {"max_evaluations": 10.5},
        {"max_evaluations": True},
        {"min_typicality": 1.5},
        {"min_typicality": -0.1},
        {"trade_off": 2},
        {"trade_off": "half"},
        {"outcome": "expected"},
        {"measure": "mean"},
        {"n_jobs": 0},
        {"density": "forest"},
        {"distance": "gower"},
        {"extra_objectives": {"cost": 3}},
        {"extra_objectives": {"n_changed": len}},
        {"random_state": "one"},
        {"random_state": -1},
        {"task": "ranking"},
        {"classes": ("only",)},
    ],
    ids=lambda wrong: str(wrong),
)
def test_bad_parameters(method: Method, wrong: dict[str, Any]):
    name = next(iter(wrong))
    word = {"extra_objectives": "objective", "distance": "distance"}.get(name, name)
    with pytest.raises(ParameterError, match=word):
        method.make(Scorer("mixed"), **{"classes": ("bad", "good"), **wrong}).fit(X)


@every_method
def test_objectives_without_names(method: Method):
    with pytest.raises(ParameterError, match="extra_objectives"):
        method.make(Scorer("mixed"), classes=("bad", "good"), extra_objectives=[len]).fit(X)


@every_method
def test_labels_that_are_tuples_can_be_stored(method: Method, tmp_path: Any):
    explainer = method.make(Scorer("mixed"), classes=((1, 2), (3, 4)), max_evaluations=50).fit(X)
    assert explainer.explain(X.head(1)).status == "found"
    explainer.save(tmp_path / "explainer")
    assert type(explainer).load(tmp_path / "explainer", explainer.model).explain(X.head(1)).status == "found"


@every_method
def test_bad_models(method: Method):
    with pytest.raises(ModelTypeError, match="model"):
        method.make(None).fit(X)
    with pytest.raises(ModelTypeError):
        method.make("a model").fit(X)
    with pytest.raises(ModelError, match="shape"):
        method.make(lambda frame: np.zeros((len(frame), 2, 2))).fit(X)
    with pytest.raises(ModelError, match="nan"):
        method.make(lambda frame: np.full(len(frame), np.nan)).fit(X)

    def failing(frame: Any) -> Any:
        raise KeyError("salary")

    with pytest.raises(ModelError, match="salary"):
        method.make(failing).fit(X)


@every_method
@pytest.mark.parametrize(
    ("x", "error", "match"),
    [
        (X.head(2), DataError, "one row, got 2"),
        (X.head(1).rename(columns={"age": "agee"}), DataError, "Did you mean 'age'"),
        (X.head(1).assign(more=1), DataError, "more"),
        (X.head(1).drop(columns="age"), DataError, "age"),
        (X.head(1).assign(purpose="boat"), DataError, "boat"),
        (X.iloc[0].drop("age"), DataError, "age"),
        ({**X.iloc[0].to_dict(), "purpose": "boat"}, DataError, "boat"),
        ({**X.iloc[0].to_dict(), "more": 1}, DataError, "more"),
        (X.head(1).assign(age="old"), DataTypeError, "age"),
        (X.head(0), DataError, "no rows"),
        ([1, 2], DataTypeError, "one-row frame"),
        (None, DataTypeError, "one-row frame"),
        (np.zeros(3), DataError, "3 column"),
        (X.head(1).assign(income=np.inf), DataError, "infinite"),
        ({**X.iloc[0].to_dict(), "income": np.inf}, DataError, "finite"),
    ],
    ids=[
        "two rows",
        "misspelt",
        "unknown column",
        "missing column",
        "unseen level",
        "Series too short",
        "dict with unseen level",
        "dict with unknown name",
        "text for a number",
        "no row",
        "list",
        "None",
        "array too short",
        "infinite",
        "dict with infinite",
    ],
)
def test_wrong_rows(method: Method, x: Any, error: type[Exception], match: str):
    with pytest.raises(error, match=match) as caught:
        fitted(method.name).explain(x)
    assert isinstance(caught.value, CountarfactualsError)
    assert isinstance(caught.value, ValueError | TypeError)


@every_method
@pytest.mark.parametrize(
    ("task", "target", "match"),
    [
        ("binary", "goood", "Did you mean 'good'"),
        ("binary", 1, "'bad', 'good'"),
        ("binary", Target("good", probability=(2, 3)), "0 to 1"),
        ("multiclass", Target(none_of=["a", "b", "c", "d"]), "'a', 'b', 'c', 'd'"),
        ("multiclass", "e", "'a', 'b', 'c', 'd'"),
        ("multiclass", Target(above=0.5), "which class"),
        ("regression", None, "range"),
        ("regression", "good", "no class 'good'"),
        ("regression", (2, 1), "empty|range|class"),
        ("regression", Target("a", probability=(0, 1)), "no probabilities"),
    ],
)
def test_wrong_targets(method: Method, task: str, target: Any, match: str):
    with pytest.raises(TargetError, match=match):
        fitted(method.name, task).explain(X.head(1), target)


@every_method
@pytest.mark.parametrize(
    ("constraints", "error", "match"),
    [
        (Constraints(fixed=["agee"]), ConstraintError, "Did you mean 'age'"),
        (Constraints(allowed={"purpose": ["boat"]}), ConstraintError, "boat"),
        (Constraints(direction={"purpose": "increase"}), ConstraintError, "no order"),
        (Constraints(fixed=X.columns), ConstraintError, "no column"),
        (Constraints(rules=[("age", "<", "purpose")]), ConstraintError, "compare"),
        (["age"], DataTypeError, "Constraints"),
    ],
    ids=["unknown column", "unknown level", "no order", "all fixed", "bad rule", "a list"],
)
def test_wrong_constraints(method: Method, constraints: Any, error: type[Exception], match: str):
    with pytest.raises(error, match=match):
        fitted(method.name).explain(X.head(1), constraints=constraints)


@every_method
def test_a_dict_of_constraints_with_an_unknown_name(method: Method):
    with pytest.raises(CountarfactualsError, match="fixd"):
        fitted(method.name).explain(X.head(1), constraints={"fixd": ["age"]})


@every_method
def test_a_rule_that_fails(method: Method):
    def rule(frame: Any) -> Any:
        return frame["salary"] > 3

    with pytest.raises(ConstraintError, match="rule"):
        fitted(method.name).explain(X.head(1), constraints=Constraints(rules=[rule]))


@every_method
def test_objectives_that_fail(method: Method):
    for parameters in ({"distance": lambda rows, x: 1 / 0}, {"extra_objectives": {"cost": lambda rows, x: [1.0, 2.0]}}):
        explainer = method.make(Scorer("mixed"), classes=("bad", "good"), max_evaluations=50, **parameters).fit(X)
        with pytest.raises(CountarfactualsError, match=r"distance|cost"):
            explainer.explain(X.head(1))


@every_method
def test_data_that_can_not_be_fitted(method: Method):
    for data, error in (
        ([1, 2], DataTypeError),
        (X.head(0), DataError),
        (pd.DataFrame({"a": [np.nan, np.nan]}), DataError),
    ):
        with pytest.raises(error):
            method.make(Scorer("mixed"), classes=("bad", "good")).fit(data)


# Storage


@every_method
def test_another_model_is_refused(method: Method, tmp_path: Any):
    explainer = fitted(method.name)
    explainer.save(tmp_path / "explainer")
    load = type(explainer).load

    class Other(Scorer):
        def __call__(self, frame: Any) -> np.ndarray:
            return 1 - super().__call__(frame)

    with pytest.raises(ModelError, match="other scores"):
        load(tmp_path / "explainer", Other("mixed"))
    with pytest.raises(CountarfactualsError):
        load(tmp_path / "explainer")
    with pytest.raises(ParameterError, match="colour"):
        load(tmp_path / "explainer", Scorer("mixed"), colour=1)
    for other in EXPLAINERS.values():
        if other is not type(explainer):
            with pytest.raises(StorageError, match=f"{explainer.method!r}, not {other.method!r}"):
                other.load(tmp_path / "explainer", Scorer("mixed"))
    (tmp_path / "foreign").write_bytes(b"something else")
    with pytest.raises(StorageError):
        load(tmp_path / "foreign", Scorer("mixed"))


@every_method
def test_functions_are_handed_in_again(method: Method, tmp_path: Any):
    def cost(rows: Any, x: Any) -> np.ndarray:
        return rows["age"].to_numpy(np.float64)

    parameters = {"classes": ("bad", "good"), "max_evaluations": 60, "extra_objectives": {"cost": cost}}
    explainer = method.make(Scorer("mixed"), **parameters).fit(X)
    explainer.save(tmp_path / "explainer")
    with pytest.raises(ParameterError, match="extra_objectives"):
        type(explainer).load(tmp_path / "explainer", Scorer("mixed"))
    loaded = type(explainer).load(tmp_path / "explainer", Scorer("mixed"), extra_objectives={"cost": cost})
    one, other = explainer.explain(X.head(1)), loaded.explain(X.head(1))
    assert one.rows.tobytes() == other.rows.tobytes()
    assert one.objectives["cost"].tobytes() == other.objectives["cost"].tobytes()


HUGE = 10**400  # an integer beyond all floats


@pytest.mark.parametrize(
    "ask",
    [
        lambda: Constraints(weights={"age": HUGE}),
        lambda: Constraints(steps={"age": HUGE}),
        lambda: Constraints(change={"age": (0, HUGE)}),
        lambda: Constraints(change={"age": HUGE}),
        lambda: Target(above=HUGE),
        lambda: Target("yes", probability=(0, HUGE)),
        lambda: Target(between=(np.array([1, 2]), 3)),
        lambda: Target("yes", probability=(np.array([0.1, 0.2]), 1)),
        lambda: Target("yes", probability=(pd.NA, 1)),
        lambda: AdversarialRandomForest(epsilon=HUGE).fit(pd.DataFrame({"a": range(20)})),
        lambda: AdversarialRandomForest(n_estimators=HUGE).fit(pd.DataFrame({"a": range(20)})),
        lambda: AdversarialRandomForest().fit(pd.DataFrame([[1], [2]], columns=pd.Index(["\ud800"], dtype=object))),
    ],
)
def test_numbers_beyond_all_floats_arrays_and_halves_of_characters_are_refused(ask):
    with pytest.raises(CountarfactualsError):
        ask()
