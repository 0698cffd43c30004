from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals.counterfactuals.remarks import Oddity
from countarfactuals.counterfactuals.select import burden, choose, cost_of, distance_between, twins
from countarfactuals.exceptions import DataError, ParameterError
from countarfactuals.schema import Schema

from .examples import loans, result

# x, then two near each other, then two elsewhere
SPREAD = pd.DataFrame({"a": [0.5, 1.0, 1.1, 5.0, 9.0], "b": [1.5, 1.5, 1.5, 1.5, 1.5]})
COSTS = {"cost": np.array([0.0, 0.01, 0.3, 1.0]), "other": np.array([3.0, 2.0, 1.0, 0.0])}


def chosen(*args, **kwargs) -> list[float]:
    return result(SPREAD, objectives=COSTS).select(*args, **kwargs).rows[:, 0].tolist()


def test_without_diversity_the_best_come_first() -> None:
    assert chosen(2, "cost", diversity=0) == [1.0, 1.1]
    assert chosen(2, "other", diversity=0) == [9.0, 5.0]


def test_diversity_avoids_near_twins() -> None:
    assert chosen(2, "cost", diversity=1) == [1.0, 9.0]
    assert chosen(3, "cost", diversity=1) == [1.0, 5.0, 9.0]
    assert chosen(2, "cost") == [1.0, 5.0]


def test_weights_trade_objectives_off() -> None:
    assert chosen(1, {"cost": 1}) == [1.0]
    assert chosen(1, {"cost": 1, "other": 10}) == [9.0]
    assert chosen(1, {"cost": 0.0, "other": 1}) == [9.0]


def test_more_than_there_are_gives_all_in_order_of_preference() -> None:
    assert chosen(99, "other") == [9.0, 5.0, 1.1, 1.0]
    assert chosen(np.int64(4), "other") == [9.0, 5.0, 1.1, 1.0]


def test_fields_follow_the_choice() -> None:
    made = result().select(1, "n_changed")
    assert made.objectives["n_changed"].tolist() == [result().objectives["n_changed"].min()]
    assert made.log_density.tolist() == [-4 * np.pi]
    assert made.target == result().target


def test_how_many_were_found_is_not_forgotten() -> None:
    made = result()
    assert made.n_found == len(made) == 4
    assert [one.n_found for one in (made.select(2), made.select(3).select(1), made.filter(max_changed=2))] == [4, 4, 4]
    assert len(made.select(3).filter(max_changed=2)) < 3
    assert made.select(3).filter(max_changed=2).n_found == 4
    with pytest.raises(DataError, match="`n_found` must be a whole number of at least 4"):
        result(n_found=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be an integer from 1, got 0"),
        ({"k": 1.5}, "got 1.5"),
        ({"k": True}, "got True"),
        ({"prefer": "n_chnged"}, "'n_chnged', which is no objective.*Did you mean 'n_changed'"),
        ({"prefer": {"distance": -1}}, "weight of 'distance'"),
        ({"prefer": {"distance": 0}}, "all 0"),
        ({"prefer": {"distance": np.nan}}, "weight of 'distance'"),
        ({"prefer": {}}, "name of an objective or a dict"),
        ({"prefer": 3}, "got 3"),
        ({"diversity": 2}, r"diversity must be a finite number in \[0, 1\]"),
    ],
)
def test_arguments_that_can_not_be_used(arguments: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        result().select(**arguments)


def test_infinite_and_unknown_objectives_are_the_worst() -> None:
    values = {"p": np.array([np.inf, 2.0, np.nan, 1.0, -np.inf])}
    np.testing.assert_array_equal(cost_of(values, {"p": 1.0}, 5), [1, 1, 1, 0, 0])
    huge = {"p": np.array([-1.7e308, 1.7e308, 0.0])}
    np.testing.assert_array_equal(cost_of(huge, {"p": 2.0}, 3), [0, 1, 0.5])
    np.testing.assert_array_equal(cost_of({"p": np.full(3, 7.0)}, {"p": 1.0}, 3), [0, 0, 0])


def slow_distance(schema: Schema, rows: np.ndarray, a: int, b: int) -> float:
    """The definition, cell by cell."""
    terms = []
    for j, column in enumerate(schema.columns):
        values = rows[:, j]
        if len({"missing" if np.isnan(value) else value for value in values}) == 1:
            continue
        one, two = rows[a, j], rows[b, j]
        if np.isnan(one) or np.isnan(two):
            terms.append(float(np.isnan(one) != np.isnan(two)))
        elif column.kind in ("category", "boolean"):
            terms.append(float(one != two))
        elif column.kind == "ordered":
            terms.append(abs(one - two) / (column.n_levels - 1))
        else:
            known = values[~np.isnan(values)]
            terms.append(abs(one - two) / (known.max() - known.min()) if known.max() > known.min() else 0.0)
    return sum(terms) / len(terms)


def test_the_distance_is_gowers() -> None:
    schema = Schema.infer(loans())
    rows = schema.encode(loans())
    for i in range(5):
        expected = [slow_distance(schema, rows, i, k) for k in range(5)]
        np.testing.assert_allclose(distance_between(schema, rows)(i), expected, atol=1e-12)


def test_unordered_levels_are_one_apart_whatever_their_codes() -> None:
    frame = pd.DataFrame({"c": ["a", "b", "z", "a"]})
    schema = Schema.infer(frame)
    np.testing.assert_array_equal(distance_between(schema, schema.encode(frame))(0), [0, 1, 1, 0])


@given(st.integers(1, 12), st.integers(1, 14), st.floats(0, 1), st.integers(0, 1000))
def test_a_choice_has_k_different_rows_by_rising_cost(n: int, k: int, diversity: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n + 1), "b": rng.choice(["u", "v"], n + 1)})
    schema = Schema.infer(frame)
    cost = rng.integers(0, 4, n) / 3
    x, rows = schema.encode(frame)[0], schema.encode(frame)[1:]
    at = choose(schema, x, rows, cost, k, diversity)
    assert len(set(at)) == len(at) <= min(k, n)
    assert len(at) == min(k, n) or diversity > 0
    if diversity > 0:
        assert all(not twins(schema, x, rows, i)[j] for i in at for j in at if i != j)
    assert cost[at[0]] == cost.min()
    assert (np.diff(cost[at]) >= 0).all()
    assert at == choose(schema, x, rows, cost, k, diversity)


def shown_first(**changes: Any) -> int:
    made = result(**changes)
    return made.positions(1)[0]


def test_easy_and_likely_rows_come_first() -> None:
    same = {"distance": np.full(4, 0.2), "n_changed": np.full(4, 2.0)}
    assert shown_first(objectives=same, typicality=[0.1, 0.5, 0.6, 0.05]) == 2
    few = {"distance": np.full(4, 0.2), "n_changed": np.array([9.0, 9.0, 1.0, 9.0])}
    assert shown_first(objectives=few, typicality=[0.6, 0.6, 0.5, 0.6]) == 2
    # one change at 2 % is worth less than nine at 50 %, and all are shown where there is nothing else
    assert shown_first(objectives=few, typicality=[0.5, 0.49, 0.02, 0.48]) == 0
    assert shown_first(objectives=few, typicality=[0.01, 0.01, 0.02, 0.01]) == 2
    odd = ((Oddity(0, 1, 0.01),), (), (), ())
    assert shown_first(objectives=same, typicality=[0.7, 0.6, 0.5, 0.5], oddities=odd) == 1
    assert shown_first(objectives=same, typicality=[np.nan] * 4) == 0


def test_near_twins_are_one() -> None:
    frame = pd.DataFrame({"income": [120, 174, 175, 174, 150, 120], "home": ["a", "a", "a", "b", "a", "b"]})
    made = result(frame, typicality=[0.9, 0.89, 0.88, 0.5, 0.5])
    schema, x, rows = made.schema, made.x, made.rows
    assert twins(schema, x, rows, 0).tolist() == [True, True, False, False, False]
    assert twins(schema, x, rows, 4).tolist() == [False, False, False, False, True]
    assert len(made.select(5)) == 4
    assert len(made.select(5, diversity=0)) == 5
    assert len(made.select(4).rows) == len({tuple(row) for row in made.select(4).rows})


def test_near_twins_may_have_gaps() -> None:
    frame = pd.DataFrame({"income": [120, 174, 175, 174, 175], "home": ["a", None, None, "a", None]})
    made = result(frame)
    assert twins(made.schema, made.x, made.rows, 0).tolist() == [True, True, False, True]


def first_of(n_changed: list[int], typicality: list[float]) -> int:
    """Which of some rows, as far apart as they have changes, comes first."""
    costs = {"distance": np.array(n_changed) / 100.0, "n_changed": np.array(n_changed, float)}
    return int(np.argmin(burden(costs, np.array(typicality), np.zeros(len(n_changed), bool))))


def test_changes_that_nobody_follows_count_against_a_row():
    assert first_of([23, 12, 30], [0.9, 0.45, 0.95]) == 1
    assert first_of([9, 5, 10], [0.9, 0.45, 0.95]) == 0  # of few enough the likelier one may have more
    assert first_of([23, 4, 30], [0.9, 0.02, 0.95]) == 0  # and many come before one that hardly exists
