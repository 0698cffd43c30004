"""`derived`: formulas are read without being run, columns are computed and change along."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pandas as pd
import pytest

from countarfactuals.cli.arguments import add_wishes
from countarfactuals.cli.wishes import constraints_of
from countarfactuals.constraints import Constraints
from countarfactuals.constraints.expression import Expression, ExpressionError
from countarfactuals.exceptions import ConstraintError
from countarfactuals.language.vocabulary import TEXT, words_of
from countarfactuals.schema import Schema

FRAME = pd.DataFrame(
    {
        "weight": [70.0, 80.5, 90.0],
        "body height": [1.75, 1.8, 1.65],
        "bmi": [22.9, 24.8, 33.1],
        "tall": [False, True, False],
        "job": ["a", "b", "a"],
    }
)
SCHEMA = Schema.infer(FRAME)
ROWS = SCHEMA.encode(FRAME)
BMI = "weight / `body height` ** 2"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a + b * 2", [5.0, 8.0]),
        ("-a ** 2", [-1.0, -4.0]),
        ("(a + b) / 2", [1.5, 2.5]),
        ("min(a, b, 2) + max(a, 2)", [3.0, 4.0]),
        ("abs(a - b)", [1.0, 1.0]),
        ("round(a / 3, 2)", [0.33, 0.67]),
        ("floor(a / 2) + ceil(a / 2)", [1.0, 2.0]),
        ("a >= 2", [0.0, 1.0]),
        ("2 ** -1 * a", [0.5, 1.0]),
        ("a / 0", [np.inf, np.inf]),
    ],
)
def test_formulas_are_computed(text, wanted):
    columns = {"a": np.array([1.0, 2.0]), "b": np.array([2.0, 3.0])}
    np.testing.assert_allclose(Expression(text)(columns), wanted)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("__import__('os').system('ls')", "is not allowed"),
        ("a.__class__", "is not allowed"),
        ("a[0]", "is not allowed"),
        ("(lambda: 1)()", "is not allowed"),
        ("eval('1')", "is not allowed"),
        ("[a for a in b]", "is not allowed"),
        ("a if b else 1", "is not allowed"),
        ("a < b < 1", "is not allowed"),
        ("a @ b", "is not allowed"),
        ("round(a, digits=2)", "is not allowed"),
        ("'text'", "is no number"),
        ("True", "is no number"),
        ("1j", "is no number"),
        ("9 ** 9 ** 9", "an exponent is a number from -10 to 10"),
        ("a ** b", "an exponent is a number from -10 to 10"),
        ("a ** 11", "an exponent is a number from -10 to 10"),
        ("round(a, 99)", "round takes 0 to 12 digits"),
        ("min(a)", "min takes 2 to 20"),
        ("a +", "can not be read"),
        ("a := 1", "can not be read"),
        ("`a + b", "can not be read"),
        ("", "can not be read"),
        ("a" * 1001, "at most 1000"),
        ("-" * 999 + "a", "nested too deeply|can not be read"),
    ],
)
def test_all_else_is_refused(text, reason):
    with pytest.raises(ExpressionError, match=reason):
        Expression(text)


def test_numbers_do_not_grow():
    big = Expression("9999999999 ** 10 * 9999999999 ** 10 * 9999999999 ** 10 * 9999999999 ** 10")
    assert float(big({})) == np.inf or float(big({})) > 1e300


def test_names_may_hold_blanks():
    assert Expression(BMI).names == ("weight", "body height")


@pytest.mark.parametrize("formula", [BMI, lambda f: f["weight"] / f["body height"] ** 2])
def test_it_is_computed_where_it_differs_and_no_change_of_its_own(formula):
    limits = Constraints(derived={"bmi": formula}, max_changed=1).bind(SCHEMA, ROWS[0])
    moved = ROWS[[0, 0, 0, 0]].copy()
    moved[1:, 0] = 75.0
    moved[2, 2] = 24.5
    moved[3, 1:3] = 1.8, 23.1
    assert limits.hold(moved).tolist() == [True, False, True, False]
    broken = limits.violations(moved)
    assert broken["derived: bmi"].tolist() == [False, True, False, False]
    assert broken["max_changed"].tolist() == [False, False, False, True]
    # what x has need not follow the formula
    own = ROWS[0].copy()
    own[2] = 40.0
    assert Constraints(derived={"bmi": formula}).bind(SCHEMA, own).hold(own[None]).all()


def test_levels_can_be_derived():
    limits = Constraints(derived={"tall": "`body height` > 1.78"}).bind(SCHEMA, ROWS[0])
    row = ROWS[[0, 0]].copy()
    row[:, 1] = 1.8
    row[1, 3] = 1.0
    assert limits.hold(row).tolist() == [False, True]
    by_function = Constraints(derived={"job": lambda f: np.where(f["weight"] > 75, "b", "a")}).bind(SCHEMA, ROWS[0])
    row[:, 0] = 80.0
    row[1, 4] = 1.0
    assert by_function.hold(row).tolist() == [False, True]


@pytest.mark.parametrize(
    ("derived", "message"),
    [
        ({"bmi": 3}, "must be a text or a function"),
        ({"bmi": "weight.real"}, "can not be used: 'weight.real' is not allowed. Allowed are numbers"),
        ([], "must be a dict by column"),
    ],
)
def test_what_can_not_be_meant_is_refused(derived, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints(derived=derived)


@pytest.mark.parametrize(
    ("derived", "message"),
    [
        ({"bmi": "wieght / 2"}, "There is no column 'wieght'"),
        ({"bmy": "weight / 2"}, "There is no column 'bmy'"),
        ({"bmi": "bmi / 2"}, "names the column itself"),
        ({"bmi": "job / 2"}, "holds levels"),
    ],
)
def test_what_the_data_lacks_is_refused(derived, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints(derived=derived).bind(SCHEMA, ROWS[0])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda f: f["nothing"], "failed on a frame of 2 row"),
        (lambda f: [1.0], "one value per row"),
        (lambda f: ["text"] * len(f), "can not hold"),
    ],
)
def test_functions_that_fail_are_told(function, message):
    limits = Constraints(derived={"bmi": function}).bind(SCHEMA, ROWS[0])
    with pytest.raises(ConstraintError, match=message):
        limits.hold(ROWS[:2])


def test_it_has_words_and_survives_json():
    constraints = Constraints(derived={"bmi": BMI, "tall": lambda f: f["weight"] > 1})
    assert constraints.describe() == ["'bmi' is weight / `body height` ** 2.", "'tall' is computed by f['weight'] > 1."]
    words = words_of(SCHEMA.names, None, "rows", None, TEXT)
    assert constraints.describe(words)[0] == "bmi is weight / `body height` ** 2."
    stored = json.loads(json.dumps(constraints.to_dict()))
    assert stored["derived"]["bmi"] == BMI
    again = Constraints.from_dict(stored)
    assert again.derived["bmi"] == constraints.derived["bmi"]
    with pytest.raises(ConstraintError, match="of which files keep the name alone"):
        again.bind(SCHEMA, ROWS[0]).hold(ROWS[:1])


def test_it_is_an_option():
    parser = argparse.ArgumentParser()
    add_wishes(parser)
    options = parser.parse_args(["--derive", f"bmi={BMI}", "--derive", "tall=`body height` >= 1.8"])
    assert constraints_of(options, SCHEMA) == Constraints(derived={"bmi": BMI, "tall": "`body height` >= 1.8"})
