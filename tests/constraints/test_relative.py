"""Limits relative to the row, steps, numbers, `vary`, costs in words: what may be said, what it means, how it reads."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals import Constraints
from countarfactuals.exceptions import ConstraintError
from countarfactuals.language.vocabulary import TEXT, words_of
from countarfactuals.schema import Schema
from countarfactuals.schema.permitted import listed_values, multiples

FRAME = pd.DataFrame(
    {
        "age": [30, 40, 50],
        "income": [1234.5, 2500.0, 0.7],
        "grade": pd.Categorical(["low", "mid", "high"], ["low", "mid", "high"], ordered=True),
        "job": ["cook", "nurse", "cook"],
        "signed": pd.to_datetime(["2020-01-01", "2021-05-05", "2022-02-02"]),
    }
)
SCHEMA = Schema.infer(FRAME)
ROWS = SCHEMA.encode(FRAME)


def ends(x: np.ndarray, name: str, change) -> tuple[float, float]:
    limits = Constraints(change={name: change}).bind(SCHEMA, x)
    j = SCHEMA.index(name)
    return float(limits.low[j]), float(limits.high[j])


@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        ("age", (0, 5), (30, 35)),
        ("age", 5, (25, 35)),
        ("age", (None, "-10%"), (-np.inf, 27)),
        ("income", ("-20%", "+20%"), (987.6, 1481.4)),
        ("income", "50%", (617.25, 1851.75)),
        ("grade", 1, (-1, 1)),
        ("signed", (0, 31), (18262, 18293)),
    ],
)
def test_a_change_is_an_interval_around_the_rows_own_value(name, change, expected):
    low, high = ends(ROWS[0], name, change)
    j = SCHEMA.index(name)
    clock = 86_400 if SCHEMA.columns[j].clock == "second" else 1
    assert (low, high) == tuple(end * clock if np.isfinite(end) and clock > 1 else end for end in expected)


def test_decimals_are_those_that_people_see():
    assert ends(ROWS[2], "income", (0, 0.1)) == (0.7, 0.8)  # 0.7 + 0.1 is 0.7999999999999999


def test_a_share_of_nothing_leaves_nothing():
    x = ROWS[0].copy()
    x[1] = 0.0
    assert not Constraints(change={"income": "20%"}).bind(SCHEMA, x).may_change[1]
    x[1] = np.nan
    assert Constraints(change={"income": "20%"}).bind(SCHEMA, x).may_change[1]


REFUSED = [
    ({"change": {"age": "5 years"}}, "must be a number such as 5, a share"),
    ({"change": {"age": (5, 0)}}, "low end is above its high end"),
    ({"change": {"age": (1, 2, 3)}}, "got \\(1, 2, 3\\)"),
    ({"steps": {"age": 0}}, "number above 0"),
    ({"steps": {"age": "fifty"}}, 'such as "±50"'),
    ({"vary": []}, "names no column"),
    ({"vary": "age"}, "must be a list of columns"),
    ({"vary": ["age", "job"], "fixed": ["job"]}, "`vary` and `fixed` both name 'job'"),
    ({"vary": ["age"], "weights": {"age": "immutable"}}, "`vary` and `weights` both name 'age'"),
    ({"weights": {"age": "heavy"}}, "one of 'immutable', 'hard', 'normal', 'easy'; got 'heavy'"),
]


@pytest.mark.parametrize(("said", "message"), REFUSED)
def test_refused_without_data(said, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints(**said)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"change": {"job": 1}}, "which is of kind category and has no distances"),
        ({"change": {"grade": "20%"}}, "counts levels"),
        ({"change": {"signed": "20%"}}, "counts days"),
        ({"steps": {"job": 5}}, "holds levels"),
        ({"steps": {"signed": 5}}, "dates or times"),
        ({"allowed": {"age": [30.5]}}, "which the column never is: it holds"),
        ({"vary": ["aeg"]}, "There is no column 'aeg'"),
        ({"weights": {name: "immutable" for name in FRAME}}, "leave no column that may change"),
    ],
)
def test_refused_for_a_schema(said, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints(**said).bind(SCHEMA, ROWS[0])


SAID = {
    "vary": ["age", "income", "grade"],
    "change": {"age": (0, 5), "income": ("-20%", "30%"), "grade": (None, 1)},
    "steps": {"income": 50, "age": "±2"},
    "allowed": {"age": [32, 34], "job": {"cook": ["nurse"]}},
    "weights": {"income": "hard", "job": "immutable", "age": 0.5},
}
SENTENCES = [
    "Only 'age', 'income' and 'grade' may change.",
    "'age' rises by at most 5 and does not fall.",
    "If 'income' changes, then by −20 % to +30 %.",
    "'grade' rises by at most 1.",
    "If 'income' changes, it becomes a multiple of 50.",
    "'age' changes in steps of 2.",
    "If 'age' changes, it becomes 32 or 34.",
    "'job' can only change from 'cook' to 'nurse'.",
    "A change of 'income' counts as hard.",
    "'job' does not change.",
    "A change of 'age' is weighted by 0.5.",
]


def test_words():
    assert Constraints(**SAID).describe() == SENTENCES
    words = words_of(SCHEMA.names, {"income": "€", "age": "years"}, "rows", None, TEXT)
    told = Constraints(change={"income": (None, 2000), "age": 5}, steps={"income": 50}).describe(words)
    assert told == [
        "income rises by at most €2,000.",
        "age changes by at most 5 years.",
        "If income changes, it becomes a multiple of €50.",
    ]


def test_json_round_trip():
    constraints = Constraints(**SAID)
    stored = json.loads(json.dumps(constraints.to_dict()))
    assert Constraints.from_dict(stored) == constraints
    assert Constraints.from_dict(stored).describe() == SENTENCES


def test_lambdas_have_names_of_their_own():
    constraints = Constraints(
        rules=[
            lambda frame: frame["age"] >= 18,
            lambda frame: frame["income"] >= 0,
        ]
    )
    names = [str(name) for name in constraints.bind(SCHEMA, ROWS[0]).names if name.startswith("rule")]
    assert names == ["rule 1: frame['age'] >= 18", "rule 2: frame['income'] >= 0"]
    twins = Constraints(rules=[lambda frame: frame["age"] > 0, lambda frame: frame["age"] > 1])
    assert twins.describe() == ["The rule #1 holds.", "The rule #2 holds."]
    assert [*map(str, twins.bind(SCHEMA, ROWS[0]).names)][:2] == ["rule 1", "rule 2"]


# Sets of numbers

steps = st.sampled_from([1.0, 2.0, 3.0, 0.5, 0.25, 1.5, 5.0])
origins = st.sampled_from([0.0, 1.0, 0.5, 0.25, 7.0, -2.0])


@given(steps, origins, steps, origins)
def test_two_grids_share_what_both_hold(step, origin, other_step, other_origin):
    one, other = multiples(step, origin), multiples(other_step, other_origin)
    cells = np.arange(-400, 401) / 20
    both = one.holds(cells) & other.holds(cells)
    joint = one.joined(other)
    assert (joint.holds(cells) if joint is not None else np.zeros(len(cells), bool)).tolist() == both.tolist()


@given(st.lists(st.integers(-20, 20), min_size=1), steps, origins, st.integers(-20, 20))
def test_a_list_and_a_grid_share_what_both_hold(values, step, origin, own):
    joint = listed_values(values).joined(multiples(step, origin))
    both = sorted({float(value) for value in values if ((value - origin) / step).is_integer()})
    assert (joint.values.tolist() if joint is not None else []) == both
    if joint is not None:
        assert joint.has_other(own, -np.inf, np.inf) == (both != [own])


def test_floats_of_a_grid_are_those_that_a_reader_gets():
    assert multiples(0.05).nearest(np.array([0.16, 0.33, 1.149])).tolist() == [0.15, 0.35, 1.15]
    assert multiples(0.1, 0.7).nearest(np.array([0.81])).tolist() == [0.8]
