"""Measures of rows from anywhere: values done by hand on a small example, and agreement with the explainer's own."""

from __future__ import annotations

import math
import warnings
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest

from countarfactuals import AdversarialRandomForest, ARFExplainer, Constraints, Target
from countarfactuals.datasets import Cassini
from countarfactuals.evaluation import appraise, evaluate, evaluate_set, plausible_hypervolume
from countarfactuals.exceptions import (
    DataError,
    DataTypeError,
    DensityWarning,
    NotFittedError,
    ParameterError,
    TargetError,
)

from .arf.twins import mixed
from .test_objectives import slow_hypervolume, slow_nondominated

FOREST = AdversarialRandomForest(n_estimators=6, min_samples_leaf=10, max_iter=2, random_state=1)


def fitted(model, X, y=None, **parameters) -> ARFExplainer:
    settings = {"density": FOREST, "random_state": 1, "max_evaluations": 200, **parameters}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DensityWarning)
        return ARFExplainer(model, **settings).fit(X, y)


# A small example: a = 0 … 10, six rows each; b is "v" below 5, else "u". The model says yes above 5.

SMALL = pd.DataFrame({"a": np.arange(66) % 11, "b": np.where(np.arange(66) % 11 < 5, "v", "u")})
X_SMALL = {"a": 2, "b": "u"}
ROWS = pd.DataFrame(
    [(6, "u"), (6, "v"), (8, "u"), (4, "v"), (2, "u"), (6, "u")], columns=["a", "b"], index=[10, 11, 12, 13, 14, 15]
)


def small_model(frame):
    return frame["a"] / 10


@cache
def small() -> ARFExplainer:
    return fitted(small_model, SMALL, classes=("no", "yes"))


def test_an_appraisal_says_what_evaluate_says_and_asks_the_model_once():
    asked = []

    def counting_model(frame):
        asked.append(len(frame))
        return small_model(frame)

    explainer = fitted(counting_model, SMALL, classes=("no", "yes"))
    table = evaluate(ROWS, X_SMALL, explainer)
    for place, (_, row) in enumerate(ROWS.iterrows()):
        asked.clear()
        found = appraise(dict(row), X_SMALL, explainer)
        assert asked == [2]
        own = table.iloc[place]
        assert (found.scores[0], found.reached, found.distance) == (own["P(yes)"], own["valid"], own["distance"])
        assert (found.n_changed, found.typicality) == (own["n_changed"], own["typicality"])


def test_every_measure_by_hand():
    table = evaluate(ROWS, X_SMALL, small(), k=8)
    assert list(table.index) == list(ROWS.index)
    assert table["P(yes)"].tolist() == [0.6, 0.6, 0.8, 0.4, 0.2, 0.6]
    assert table["prediction"].tolist() == ["yes", "yes", "yes", "no", "no", "yes"]
    np.testing.assert_allclose(table["validity"], [0, 0, 0, 0.1, 0.3, 0], atol=1e-12)
    assert table["valid"].tolist() == [True, True, True, False, False, True]
    np.testing.assert_allclose(table["distance"], [0.2, 0.7, 0.3, 0.6, 0, 0.2], atol=1e-12)
    assert table["n_changed"].tolist() == [1, 2, 1, 2, 0, 1]
    # (6, "v") is nearest to the six rows (4, "v"), then (3, "v"); (2, "u") to (5, "u") and (6, "u")
    np.testing.assert_allclose(table["nearest_distance"], [0, 0.1, 0, 0, 0.15, 0], atol=1e-12)
    one_off = 2 * 0.05 / 8
    np.testing.assert_allclose(
        table["knn_distance"], [one_off, (6 * 0.1 + 2 * 0.15) / 8, one_off, one_off, (6 * 0.15 + 2 * 0.2) / 8, one_off]
    )
    # of (6, "v") the "v" can be taken back, the 6 can not
    np.testing.assert_array_equal(table["minimality"], [0, 1, 0, math.nan, math.nan, 0])
    assert table["violated"].tolist() == [""] * 6
    assert table["is_real_row"].tolist() == [True, False, True, True, False, True]


def test_the_distance_to_neighbours_is_weighted_as_asked():
    # two of the six nearest rows count: of (6, "u") six rows are equal, of (6, "v") six are half a unit away
    table = evaluate(ROWS, X_SMALL, small(), k=8, weights=[1, 0, 0, 0, 0, 0, 0, 3])
    equal = evaluate(ROWS, X_SMALL, small(), k=8)
    gower, data = small().background_.gower, small().background_.matrix
    eighth = [np.sort(gower.to(row, data))[7] for row in small().schema_.encode(ROWS)]
    np.testing.assert_allclose(table["knn_distance"], 0.25 * table["nearest_distance"] + 0.75 * np.array(eighth))
    assert not np.allclose(table["knn_distance"], equal["knn_distance"])


@pytest.mark.parametrize("weights", [[1.0], [1, -1, 1, 1, 1], [0, 1, 1, 1, 1], "abcde", [math.nan] * 5])
def test_bad_weights_of_neighbours(weights):
    with pytest.raises(ParameterError, match="weights must hold 5 numbers"):
        evaluate(ROWS, X_SMALL, small(), weights=weights)


def test_plausibility_is_that_of_the_forest():
    explainer = small()
    table = evaluate(ROWS, X_SMALL, explainer)
    judge = explainer.background_.plausibility
    own = judge(explainer.schema_.encode(ROWS))
    np.testing.assert_array_equal(table["log_density"], judge.log_density(explainer.schema_.encode(ROWS)))
    np.testing.assert_array_equal(table["implausibility"], -own)
    share_below = [(judge.real < value).mean() for value in own]
    np.testing.assert_allclose(table["typicality"], share_below, atol=1e-12)
    # the paper's cost is of the mean density, whatever the explainer's measure is
    assert judge.measure == "median"
    np.testing.assert_allclose(
        table["density_cost"], np.exp(-np.exp(judge.forest.score_samples(ROWS[["a", "b"]]))), rtol=1e-12
    )
    assert (table["density_cost"] < 1).all()


def test_only_counterfactuals_can_be_nondominated():
    table = evaluate(ROWS, X_SMALL, small())
    # x itself would beat all in distance, but is none; of the two equal rows the first counts
    good = [10, 11, 12, 15]
    values = table.loc[good, ["distance", "n_changed", "implausibility"]].to_numpy()
    expected = dict.fromkeys(ROWS.index, False) | dict(zip(good, slow_nondominated(values), strict=True))
    assert table["nondominated"].to_dict() == expected
    assert table.loc[10, "nondominated"]
    assert not table.loc[15, "nondominated"]


def test_constraints_are_named_and_weights_used():
    limits = Constraints(ranges={"a": (None, 7)}, max_changed=1, weights={"a": 3, "b": 1})
    table = evaluate(ROWS, X_SMALL, small(), constraints=limits)
    assert table["violated"].tolist() == ["", "max_changed", "range: a", "max_changed", "", ""]
    np.testing.assert_allclose(table["distance"], [0.3, 0.55, 0.45, 0.4, 0, 0.3], atol=1e-12)
    assert table["nondominated"].tolist() == [True, False, False, False, False, False]
    both = evaluate(ROWS, X_SMALL, small(), constraints={"fixed": ["b"], "max_changed": 1})
    assert both["violated"].tolist() == ["", "fixed: b; max_changed", "", "fixed: b; max_changed", "", ""]
    # what a change costs does not make rows of the data nearer
    np.testing.assert_array_equal(table["knn_distance"], evaluate(ROWS, X_SMALL, small())["knn_distance"])


def test_targets_are_as_in_explain():
    table = evaluate(ROWS, X_SMALL, small(), Target("yes", probability=(0.7, 1)))
    assert table["valid"].tolist() == [False, False, True, False, False, False]
    np.testing.assert_allclose(table["validity"], [0.1, 0.1, 0, 0.3, 0.5, 0.1], atol=1e-12)
    same = evaluate(ROWS, X_SMALL, small(), "no")  # x has it already, and so has (4, "v")
    assert same["valid"].tolist() == [False, False, False, True, True, False]
    assert same["nondominated"].tolist() == [False, False, False, True, False, False]
    assert same.loc[13, "minimality"] == 2
    with pytest.raises(TargetError, match="no class 'maybe'"):
        evaluate(ROWS, X_SMALL, small(), "maybe")


def test_the_model_is_asked_three_times():
    """About x, about the rows, and about all rows with one change taken back."""
    asked = []

    def model(frame):
        asked.append(len(frame))
        return small_model(frame)

    explainer = fitted(model, SMALL, classes=("no", "yes"))
    asked.clear()
    evaluate(ROWS, X_SMALL, explainer)
    assert asked == [1, 6, 5]


def test_own_distance_and_further_objectives_are_used():
    explainer = fitted(
        small_model,
        SMALL,
        classes=("no", "yes"),
        distance=lambda rows, x: 2.0 * np.abs(rows["a"] - x["a"].iloc[0]),
        extra_objectives={"height": lambda rows, x: -rows["a"], "valid": lambda rows, x: rows["a"] * 0.0},
    )
    table = evaluate(ROWS, X_SMALL, explainer)
    assert table["distance"].tolist() == [8, 8, 12, 4, 0, 8]
    assert table["height"].tolist() == [-6, -6, -8, -4, -2, -6]
    assert table.loc[12, "nondominated"]  # the highest
    # a name that is taken gets an underscore
    assert table["valid"].tolist() == [0.0] * 6
    assert table["valid_"].tolist() == [True, True, True, False, False, True]
    assert evaluate_set(ROWS, X_SMALL, explainer)["hypervolume"] == 0.0  # no distance is below 1
    assert evaluate_set(ROWS, X_SMALL, explainer, reference=(20, 1, 1))["hypervolume"] > 0.0


# Rows from anywhere


def test_rows_of_any_frame_and_of_sloppy_types():
    expected = evaluate(ROWS.reset_index(drop=True), X_SMALL, small())
    kinds = {
        "floats": ROWS.astype({"a": float}),
        "category": ROWS.astype({"b": "category"}),
        "objects": ROWS.astype(object),
        "turned": ROWS[["b", "a"]],
        "polars": pl.from_pandas(ROWS),
        "pyarrow": pl.from_pandas(ROWS).to_arrow(),
        "numpy": ROWS.to_numpy(object),
    }
    for name, rows in kinds.items():
        table = evaluate(rows, X_SMALL, small()).reset_index(drop=True)
        pd.testing.assert_frame_equal(table, expected, obj=name, check_exact=True)


def test_rows_are_judged_as_their_columns_can_hold_them():
    """The model gets whole numbers, so these are what is judged; a cell of x's own is left as it is."""
    near = pd.DataFrame({"a": [6.3, 5.8, 2.0], "b": ["u", "v", "u"]})
    whole = pd.DataFrame({"a": [6, 6, 2], "b": ["u", "v", "u"]})
    pd.testing.assert_frame_equal(evaluate(near, X_SMALL, small()), evaluate(whole, X_SMALL, small()))
    odd = {"a": 2.4, "b": "u"}
    with pytest.raises(DataError, match="held integers"):
        evaluate(pd.DataFrame([odd]), odd, small())


def test_missing_cells_are_judged():
    explainer = fitted(lambda frame: (frame["weight"] > 0) * 1.0, mixed(300), classes=(0, 1))
    X = mixed(300)
    x = X[X["weight"] < 0].iloc[[0]]
    rows = pd.concat([X[X["weight"] > 0].head(8), x.assign(weight=3.0), x.assign(weight=4.0, price=None)])
    table = evaluate(rows, x, explainer)
    assert table["valid"].all()
    assert table["violated"].iloc[-1] == ("missing: price" if x["price"].notna().all() else "")
    assert table["nondominated"].iloc[-2]
    assert np.isfinite(table.drop(columns=["prediction", "violated"]).to_numpy(float)).all()


@pytest.mark.parametrize("empty", [ROWS.head(0), pl.from_pandas(ROWS.head(0)), np.empty((0, 2))])
def test_no_rows_are_no_error(empty):
    table = evaluate(empty, X_SMALL, small())
    assert len(table) == 0
    assert list(table.columns) == list(evaluate(ROWS, X_SMALL, small()).columns)
    worth = evaluate_set(empty, X_SMALL, small(), log_density=lambda frame: np.zeros(len(frame)))
    assert set(worth.values()) == {0}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (pd.DataFrame({"a": [6, 7, 8], "b": ["u", "w", "v"]}), r"unknown level 'w' in row 1 .*counted from 0: 1\."),
        (pd.DataFrame({"a": [6, 7, "eight"], "b": ["u", "u", "v"]}), r"'a' holds numbers .*counted from 0: 2\."),
        (pd.DataFrame({"a": [6, math.inf], "b": ["u", "u"]}), r"'a' is infinite in row 1 .*counted from 0: 1\."),
        (pl.DataFrame({"a": [6, 7, 8], "b": ["u", "w", "z"]}), r"unknown level 'w' .*counted from 0: 1, 2\."),
        (np.array([[6, "u"], [7, "w"]], object), r"unknown level 'w' .*counted from 0: 1\."),
        (pd.DataFrame({"a": [6, 7]}), r"lacks the column\(s\) 'b'"),
        (ROWS.assign(y=1), r"There is no column 'y'.*Drop or rename it\.$"),
        ([1, 2], "Got builtins.list"),
    ],
)
def test_rows_that_can_not_be_read_are_named(rows, message):
    with pytest.raises((DataError, DataTypeError), match=message):
        evaluate(rows, X_SMALL, small())
    with pytest.raises((DataError, DataTypeError), match=message):
        evaluate_set(rows, X_SMALL, small())


def test_wrong_arguments_are_refused():
    with pytest.raises(NotFittedError):
        evaluate(ROWS, X_SMALL, ARFExplainer(small_model))
    with pytest.raises(DataTypeError, match="fitted explainer"):
        evaluate(ROWS, X_SMALL, small_model)
    with pytest.raises(DataError, match="lacks 'b'"):
        evaluate(ROWS, {"a": 1}, small())
    with pytest.raises(DataTypeError, match="constraints must be"):
        evaluate(ROWS, X_SMALL, small(), constraints=3)
    for k in (0, 1.5, True):
        with pytest.raises(ParameterError, match="k must be"):
            evaluate(ROWS, X_SMALL, small(), k=k)
    for reference in ((1, 1), (1, 1, math.inf), 1.0, ("a", "b", "c")):
        with pytest.raises(ParameterError, match="reference must hold three"):
            evaluate_set(ROWS, X_SMALL, small(), reference=reference)


def test_more_neighbours_than_rows_are_all_rows():
    table = evaluate(ROWS.head(1), X_SMALL, small(), k=1000)
    of_a = [abs(6 - value) / 20 for value in range(11)]
    of_b = [0.5 * (value < 5) for value in range(11)]
    np.testing.assert_allclose(table["knn_distance"], np.mean(np.add(of_a, of_b)), atol=1e-12)


def test_inputs_are_left_alone():
    rows, x = ROWS.copy(), pd.DataFrame([X_SMALL])
    evaluate(rows, x, small(), constraints=Constraints(weights={"a": 2}))
    evaluate_set(rows, x, small(), log_density=lambda frame: frame["a"] * 0.0)
    pd.testing.assert_frame_equal(rows, ROWS)
    pd.testing.assert_frame_equal(x, pd.DataFrame([X_SMALL]))
    codes = np.array([[6.0, 1.0], [7.0, 2.0]])
    numbers = fitted(lambda rows: rows[:, 0] / 10, np.column_stack([np.arange(66) % 11, np.arange(66) % 7]) * 1.0)
    evaluate(codes, codes[0], numbers, (0.65, 0.8))
    assert codes.tolist() == [[6.0, 1.0], [7.0, 2.0]]


# Sets


def test_worth_of_a_set_by_hand():
    worth = evaluate_set(ROWS, X_SMALL, small())
    table = evaluate(ROWS, X_SMALL, small())
    assert worth["n_rows"] == 6
    assert worth["n_valid"] == 4
    assert worth["n_counterfactuals"] == 4
    assert worth["n_nondominated"] == table["nondominated"].sum()
    assert "plausible_hypervolume" not in worth
    three = evaluate_set(ROWS.head(5), X_SMALL, small())
    # (6, "u"), (6, "v") and (8, "u"): distances ½, ⅒, ⅗; changes {a}, {a, b}, {a}
    assert three["diversity"] == pytest.approx((0.5 + 0.1 + 0.6) / 3, abs=1e-12)
    assert three["diversity_of_changes"] == pytest.approx((0.5 + 0 + 0.5) / 3, abs=1e-12)
    values = table.loc[[10, 11, 12], ["distance", "n_changed", "typicality"]].to_numpy(copy=True)
    values[:, 1:] = np.column_stack([values[:, 1] / 2, 1 - values[:, 2]])
    assert three["hypervolume"] == pytest.approx(slow_hypervolume(values, [1, 1, 1]), abs=1e-12)
    assert three["hypervolume"] > 0
    wide = evaluate_set(ROWS.head(5), X_SMALL, small(), reference=(2, 2, 2))["hypervolume"]
    assert wide == pytest.approx(slow_hypervolume(values, [2, 2, 2]), abs=1e-12)
    assert evaluate_set(ROWS.head(1), X_SMALL, small())["diversity"] == 0.0


def test_rows_that_are_no_counterfactuals_add_nothing():
    limits = Constraints(max_changed=1)
    some, all_ = (
        evaluate_set(rows, X_SMALL, small(), constraints=limits) for rows in (ROWS.iloc[[0, 2]], ROWS.head(5))
    )
    assert all_.pop("n_rows") == 5
    assert some.pop("n_rows") == 2
    assert all_.pop("n_valid") == 3
    assert some.pop("n_valid") == 2
    assert some == all_


def test_plausible_hypervolume_by_hand():
    worth = evaluate_set(ROWS.iloc[[0]], X_SMALL, small(), log_density=lambda frame: -np.abs(frame["a"] - 5.0))
    # of a = 0 … 10, three are as near to 5 as 6 is
    assert worth["plausible_hypervolume"] == pytest.approx(0.8 * 0.5 * 8 / 11, abs=1e-12)
    # (6, "v") changes everything; weights and invalid rows do not matter
    weights = Constraints(weights={"a": 5})
    more = evaluate_set(
        ROWS.iloc[[0, 1, 3, 4]], X_SMALL, small(), None, weights, log_density=lambda frame: -np.abs(frame["a"] - 5.0)
    )
    assert more["plausible_hypervolume"] == pytest.approx(worth["plausible_hypervolume"], abs=1e-12)


def test_plausible_hypervolume_of_arrays():
    real = np.log(np.arange(1, 101))  # of 100 rows, 100 − k + 1 are at least as plausible as log k
    assert plausible_hypervolume([0.2], [0.5], [math.log(61)], real) == pytest.approx(0.8 * 0.5 * 0.6, abs=1e-12)
    # a staircase: three rows of one sparsity
    distance, share = np.array([0.1, 0.3, 0.6]), np.array([0.8, 0.5, 0.1])
    rows = np.log(101 - 100 * share)
    steps = (0.9 * 0.2 + 0.7 * 0.3 + 0.4 * 0.4) * 0.75
    assert plausible_hypervolume(distance, [0.25] * 3, rows, real) == pytest.approx(steps, abs=1e-12)
    assert plausible_hypervolume([], [], [], real) == 0.0
    assert plausible_hypervolume([0.0], [1.0], [9.0], real) == 0.0  # changes everything
    assert plausible_hypervolume([0.0], [0.0], [-9.0], real) == 0.0  # less plausible than all
    assert plausible_hypervolume([0.0], [0.0], [-math.inf], real) == 0.0
    assert plausible_hypervolume([0.0], [0.0], [9.0], real) == 1.0
    rng = np.random.default_rng(0)
    values = rng.random((10, 3))
    slow = np.column_stack([values[:, :2], [(real >= math.log(100 * v + 1)).mean() for v in values[:, 2]]])
    assert plausible_hypervolume(*values[:, :2].T, np.log(100 * values[:, 2] + 1), real) == pytest.approx(
        slow_hypervolume(slow, [1, 1, 1]), abs=1e-12
    )


@pytest.mark.parametrize(
    "arrays",
    [
        ([0.1], [0.1, 0.2], [0.0], [0.0]),
        ([[0.1]], [[0.1]], [[0.0]], [0.0]),
        ([0.1], [0.1], [0.0], []),
        ([0.1], [0.1], [math.nan], [0.0]),
        ([0.1], [0.1], [0.0], [math.nan]),
    ],
)
def test_arrays_that_do_not_go_together_are_refused(arrays):
    with pytest.raises(DataError):
        plausible_hypervolume(*arrays)


def test_a_known_process_judges_a_result():
    process = Cassini()
    data = process.sample(600, 1)
    X, y = data[["x1", "x2"]], data["y"]
    explainer = fitted(lambda frame: 1 / (1 + np.exp(-4 * frame["x2"])), X, classes=(0, 1))
    x = X.iloc[[int(np.argmax(y))]]
    result = explainer.explain(x)
    worth = evaluate_set(result.to_frame(), x, explainer, log_density=process.log_density)
    assert worth["n_counterfactuals"] == worth["n_nondominated"] == len(result) > 1
    few = evaluate_set(result.to_frame().head(3), x, explainer, log_density=process.log_density)
    for name in ("hypervolume", "plausible_hypervolume"):
        assert 0 < few[name] <= worth[name] < 1
    rows = result.to_frame()
    assert worth["plausible_hypervolume"] == plausible_hypervolume(
        result.objectives["distance"],
        result.objectives["n_changed"] / 2,
        process.log_density(rows),
        process.log_density(X),
    )


# The explainer's own results


def steep(frame) -> np.ndarray:
    frame = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    z = frame["weight"].astype(float) / 3 + (frame["color"] == "red") * 1.0 - frame["owner"].astype(float)
    return (1 / (1 + np.exp(-z))).to_numpy()


def three_classes(frame) -> np.ndarray:
    yes = steep(frame)
    return np.column_stack([yes / 2, yes / 2, 1 - yes])


def numbers() -> np.ndarray:
    return mixed(300, missing=False)[["price", "weight", "age"]].to_numpy(float)


MIXED = mixed(300)
BINARY = {"classes": ("no", "yes")}
CASES = {
    "binary": (steep, MIXED, None, BINARY),
    "density": (steep, MIXED, None, {**BINARY, "measure": "density"}),
    "paper": (steep, MIXED, None, {**BINARY, "preset": "paper"}),
    "polars": (steep, pl.from_pandas(MIXED), None, BINARY),
    "numpy": (lambda rows: rows[:, 1], numbers(), (5.0, 8.0), {}),
    "three classes": (three_classes, MIXED, Target("b", probability=(0.3, 1)), {"classes": ("a", "b", "c")}),
    "regression": (lambda frame: steep(frame) * 10, MIXED, (4.0, 6.0), {}),
    "own distance": (steep, MIXED, None, {**BINARY, "distance": lambda rows, x: np.abs(rows["weight"])}),
    "further objective": (steep, MIXED, None, {**BINARY, "extra_objectives": {"w": lambda rows, x: rows["weight"]}}),
}


@pytest.mark.parametrize("case", CASES)
def test_results_are_judged_as_the_explainer_did(case):
    """To the last bit: objectives, plausibility, scores, and that they are valid, allowed and non-dominated."""
    model, X, target, parameters = CASES[case]
    explainer = fitted(model, X, **parameters)
    n_rows = 0
    for i in range(3):
        x = X.iloc[[i]] if isinstance(X, pd.DataFrame) else X[i : i + 1]
        for limits in (None, Constraints(max_changed=2, weights={explainer.schema_.names[0]: 3})):
            result = explainer.explain(x, target, limits)
            table = evaluate(result.to_frame(), x, explainer, target, limits)
            assert len(table) == len(result)
            n_rows += len(result)
            measures = result.measures()
            assert set(measures) - set(table.columns) == {"typicality_low", "typicality_high"}  # a result's alone
            for name in set(measures) & set(table.columns):
                np.testing.assert_array_equal(table[name].to_numpy(), np.asarray(measures[name]), err_msg=name)
            assert table["valid"].all()
            assert table["nondominated"].all()
            assert (table["violated"] == "").all()
            np.testing.assert_array_equal(table["n_changed"], result.changed.sum(axis=1))
    assert n_rows > 2


def test_results_of_the_observed_outcome_are_judged_as_the_explainer_did():
    explainer = fitted(None, MIXED, steep(MIXED) > 0.5, outcome="observed")
    x = MIXED.iloc[[0]]
    result = explainer.explain(x)
    table = evaluate(result.to_frame(), x, explainer)
    assert len(result) > 1
    assert table["valid"].all()
    for name, values in result.objectives.items():
        np.testing.assert_array_equal(table[name], values, err_msg=name)


SINGLE = MIXED.astype({"weight": np.float32, "price": np.float32})


def test_results_in_single_precision_are_judged_as_the_explainer_did():
    explainer = fitted(steep, SINGLE, **BINARY)
    for i in range(4):
        result = explainer.explain(SINGLE.iloc[[i]])
        np.testing.assert_array_equal(explainer.schema_.encode(result.to_frame()), result.rows)
        table = evaluate(result.to_frame(), SINGLE.iloc[[i]], explainer)
        for name, values in result.objectives.items():
            np.testing.assert_array_equal(table[name], values, err_msg=name)


def test_results_in_single_precision_stay_within_their_range():
    explainer = fitted(steep, SINGLE, **BINARY)
    limits = Constraints(ranges={"weight": (0.0999999, 0.1)})  # 0.1 in single precision is above 0.1
    for i in range(4):
        x = SINGLE.iloc[[i]]
        result = explainer.explain(x, constraints=limits)
        if len(result):
            assert (evaluate(result.to_frame(), x, explainer, constraints=limits)["violated"] == "").all()
