"""When nothing is found, the result says why; when nothing had to be found, it says so."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals import ARFExplainer, Constraints, Counterfactuals, Target

from .checks import check_result, same
from .methods import BY_NAME, Method, every_method

N = 200
NAMES = ("income", "debt", "purpose", "children")


def table() -> pd.DataFrame:
    """Debt grows as income does, so that no one has much of one and none of the other."""
    rng = np.random.default_rng(5)
    income = rng.uniform(0, 10, N).round(1)
    return pd.DataFrame(
        {
            "income": income,
            "debt": np.clip(10 - income + rng.normal(0, 1, N), 0, 10).round(1),
            "purpose": pd.Categorical(rng.choice(["car", "house"], N)),
            "children": rng.integers(0, 4, N),
        }
    )


def income_alone(frame: pd.DataFrame) -> np.ndarray:
    """P(good), which nothing but income moves."""
    return 1 / (1 + np.exp(-4 * (frame["income"].to_numpy() - 5)))


def sum_of_both(frame: pd.DataFrame) -> np.ndarray:
    """A number from 0 to 20, in the data always about 10."""
    return frame["income"].to_numpy() + frame["debt"].to_numpy()


X = table()
POOR = X.loc[[X["income"].idxmin()]]
RICH = X.loc[[X["income"].idxmax()]]


@cache
def classifier(name: str, **parameters: Any) -> Any:
    return BY_NAME[name].make(income_alone, classes=("bad", "good"), max_evaluations=200, **parameters).fit(X)


@cache
def regression(name: str) -> Any:
    return BY_NAME[name].make(sum_of_both, max_evaluations=200).fit(X)


@cache
def odd_ones(name: str) -> tuple[Any, Target]:
    """A target that few real rows reach, all of them odd, for an explainer that wants plausible rows."""
    explainer = BY_NAME[name].make(sum_of_both, max_evaluations=200, min_typicality=0.95).fit(X)
    return explainer, Target(above=float(np.sort(sum_of_both(X))[-3]))


def check_empty(result: Any, method: Method) -> str:
    """The text of the diagnosis of an empty result."""
    assert result.status == "none"
    assert len(result) == len(result.to_frame()) == len(result.changes()) == 0
    check_result(result, method, X, POOR)
    assert same(Counterfactuals.from_json(result.to_json()), result)
    text = result.diagnosis.text(result)
    assert "Nothing was found" in text
    assert text in repr(result).replace("\n", " ") or "Nothing was found" in repr(result)
    assert result._repr_html_()
    return text


@every_method
def test_the_constraint_that_stands_in_the_way_is_named(method: Method):
    explainer = classifier(method.name)
    said = {"fixed": [name for name in NAMES if name != "children"]}
    result = explainer.explain(POOR, constraints=Constraints(**said))
    text = check_empty(result, method)
    if not method.invents_rows:  # no real row differs in income alone, and it promises none
        assert result.diagnosis.lifting == {}
        return
    assert "fixed: income" in text
    assert set(result.diagnosis.lifting) == {"fixed: income"}
    assert explainer.explain(POOR, constraints=Constraints(fixed=["debt", "purpose"])).status == "found"


@every_method
@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({"ranges": {"income": (0, 3)}}, "range: income"),
        ({"direction": {"income": "decrease"}}, "direction: income"),
        ({"rules": [("income", "<=", "debt")], "fixed": ["debt"], "ranges": {"income": (0, 9)}}, "rule 1"),
    ],
    ids=["range", "direction", "rule"],
)
def test_other_constraints_are_named_too(method: Method, said: dict[str, Any], name: str):
    x = X.loc[[((X["income"] - 3).abs() + (X["debt"] > 4.5) * 9 + (X["debt"] < X["income"]) * 9).idxmin()]]
    result = classifier(method.name).explain(POOR if "rules" not in said else x, constraints=Constraints(**said))
    text = check_empty(result, method)
    assert name in text
    assert any(one.startswith(name) for one in result.diagnosis.lifting)
    assert sum(result.diagnosis.lifting.values()) > 0


@every_method
def test_the_budget_holds_for_the_diagnosis_too(method: Method):
    asked: list[int] = []

    def model(frame: pd.DataFrame) -> np.ndarray:
        asked.append(len(frame))
        return income_alone(frame)

    for budget in (1, 2, 10, 57):
        explainer = method.make(model, classes=("bad", "good"), max_evaluations=budget).fit(X)
        asked.clear()
        result = explainer.explain(POOR, constraints=Constraints(fixed=["income", "debt"], max_changed=1))
        assert sum(asked) == result.provenance["evaluations"] <= budget
        check_empty(result, method)


@every_method
def test_a_range_that_no_row_reaches(method: Method):
    result = regression(method.name).explain(POOR, Target(above=1e6))
    text = check_empty(result, method)
    assert "None of them leads there" in text
    assert result.diagnosis.n_invalid == result.diagnosis.n_tried > 0
    assert "fixed: debt" not in result.diagnosis.lifting
    nearest = result.schema.decode(result.diagnosis.nearest_miss[None])
    np.testing.assert_allclose(sum_of_both(nearest), result.diagnosis.nearest_miss_scores)
    assert result.diagnosis.nearest_miss_distance == pytest.approx(1e6 - sum_of_both(nearest)[0])
    assert any("extrapolates" in str(note) for note in result.notes)


@every_method
def test_what_no_real_row_has_is_said_to_extrapolate(method: Method):
    best = float(sum_of_both(X).max())
    result = regression(method.name).explain(POOR, Target(above=best + 0.05))
    assert any("extrapolates" in str(note) for note in result.notes)
    assert any("extrapolates" in line for line in repr(result).splitlines())
    assert (sum_of_both(result.to_frame()) >= best + 0.05).all()
    ordinary = regression(method.name).explain(POOR, Target(above=best))
    assert not any("extrapolates" in str(note) for note in ordinary.notes)


@every_method
def test_too_plausible_to_be_found(method: Method):
    """Rich people with large debts do not exist: whoever has both is less plausible than half of the real rows."""
    explainer = BY_NAME[method.name].make(sum_of_both, max_evaluations=200, min_typicality=0.5).fit(X)
    result = explainer.explain(POOR, Target(above=14.0))
    assert "min_typicality" in check_empty(result, method)


@every_method
def test_lifting_is_no_empty_promise(method: Method):
    """What the diagnosis counts must be found once the constraint is gone; implausible rows are not."""
    explainer, target = odd_ones(method.name)
    result = explainer.explain(POOR, target, Constraints(fixed=["debt"]))
    check_empty(result, method)
    assert explainer.explain(POOR, target).status == "none"
    assert "fixed: debt" not in result.diagnosis.lifting


@every_method
def test_plausibility_alone_is_to_blame(method: Method):
    explainer, target = odd_ones(method.name)
    text = check_empty(explainer.explain(POOR, target), method)
    assert "min_typicality" in text
    assert "No single condition" not in text


@every_method
def test_real_rows_alone_are_to_blame(method: Method):
    """Every row that could be found is someone's."""
    every = pd.DataFrame(
        [(a, b) for a in ("no", "yes") for b in ("no", "yes", "maybe") for _ in range(20)], columns=["a", "b"]
    )

    def both(frame: pd.DataFrame) -> np.ndarray:
        return 0.1 + 0.8 * ((frame["a"] == "yes") & (frame["b"] == "yes")).to_numpy()

    x = {"a": "no", "b": "no"}
    assert method.make(both, classes=("bad", "good")).fit(every).explain(x).status == "found"
    if not method.invents_rows:
        pytest.skip("hands out real rows only")
    result = method.make(both, classes=("bad", "good"), allow_real_rows=False).fit(every).explain(x)
    assert result.status == "none"
    text = result.diagnosis.text(result)
    assert "allow_real_rows" in text
    assert "No single condition" not in text


@every_method
def test_a_row_that_has_the_outcome_already(method: Method):
    explainer = classifier(method.name)
    for target in ("good", Target("good", probability=(0.5, 1)), Target(above=0.6)):
        result = explainer.explain(RICH, target)
        assert (result.status, len(result), result.diagnosis) == ("already", 0, None)
        assert result.x_label == "good"
        assert repr(result)
        check_result(result, method, X, RICH)
    assert explainer.explain(POOR, "bad").status == "already"
    assert regression(method.name).explain(POOR, (0, 20)).status == "already"


@every_method
def test_a_batch_without_a_single_counterfactual(method: Method):
    batch = classifier(method.name).explain_many(X.head(3), constraints={"fixed": ["income"]})
    assert {result.status for result in batch} == {"none"}
    assert len(batch.to_frame(objectives=True)) == 0
    assert batch.summary()["n_found"].tolist() == [0, 0, 0]
    assert all("fixed: income" in result.diagnosis.text(result) for result in batch)


@every_method
def test_a_row_unlike_the_data_is_noted(method: Method):
    explainer = classifier(method.name)
    assert not explainer.explain(POOR).notes
    beyond = tuple(map(str, explainer.explain(POOR.assign(debt=99.5)).notes))
    assert beyond == ("'debt' is 99.5, beyond all real rows, which have 0.0 to 10.0.",)
    (gap,) = explainer.explain(POOR.assign(debt=np.nan)).notes
    assert str(gap) == "'debt' is missing, as in no real row: it counts as an average value in the plausibility."


def test_a_level_that_no_real_row_has_is_noted():
    levels = pd.Categorical(["b", "c"] * 30, categories=["a", "b", "c"])
    table = pd.DataFrame({"town": levels, "income": np.arange(60.0)})
    explainer = ARFExplainer(lambda frame: frame["income"].to_numpy() / 60.0, max_evaluations=50).fit(table)
    x = table.iloc[[3]].assign(town=pd.Categorical(["a"], categories=["a", "b", "c"]))
    (note,) = explainer.explain(x, Target(above=0.5)).notes
    assert str(note) == "'town' is a, which no real row has."
    assert not explainer.explain(table.iloc[[3]], Target(above=0.5)).notes
