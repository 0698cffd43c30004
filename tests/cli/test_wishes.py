"""From options to a target and constraints."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
import pytest

from countarfactuals import Constraints, Target
from countarfactuals.cli.arguments import add_wishes
from countarfactuals.cli.wishes import constraints_of, names, row_numbers, target_of
from countarfactuals.exceptions import ConstraintError, TargetError
from countarfactuals.prediction import make_predictor
from countarfactuals.schema import Schema

FRAME = pd.DataFrame(
    {
        "age": [30, 40, 50],
        "income": [1.5, 2.5, 3.5],
        "job": ["clerk", "cook", "a=b"],
        "size": pd.Categorical(["S", "M", "L"], ["S", "M", "L"], ordered=True),
        "born in, at": ["x", "y", "x"],
        "a": [1, 2, 3],
        "a=b": [1, 2, 4],
        "member": [True, False, True],
    }
)
SCHEMA = Schema.infer(FRAME)


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_wishes(parser)
    return parser.parse_args(arguments)


def predictor(classes):
    scores = np.tile(np.eye(len(classes))[0], (3, 1))
    return make_predictor(lambda frame: scores[: len(frame)], SCHEMA, FRAME, classes=classes)


NUMBERS = make_predictor(lambda frame: frame["income"] * 1000, SCHEMA, FRAME)


def test_constraints_say_what_the_options_say():
    said = options(
        *("--fix", "age,income", "--fix", "born in, at"),
        *("--range", "a=0:3", "--range", "income=:3.5", "--range", "size=S:M"),
        *("--direction", "a=b=increase", "--allowed", "job=clerk,a=b", "--allowed", "member=true"),
        *("--max-changed", "2", "--allow-missing"),
    )
    assert constraints_of(said, SCHEMA) == Constraints(
        fixed=["age", "income", "born in, at"],
        ranges={"a": (0, 3), "income": (None, 3.5), "size": ("S", "M")},
        direction={"a=b": "increase"},
        allowed={"job": ["clerk", "a=b"], "member": [True]},
        max_changed=2,
        allow_missing=True,
    )


def test_without_options_there_are_no_constraints():
    assert constraints_of(options(), SCHEMA) == Constraints()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fix", "agee"], "--fix: there is no column 'agee'.*Did you mean 'age'"),
        (["--range", "incme=0:1"], "--range: there is no column 'incme'"),
        (["--range", "income=a:b"], "'income' holds numbers, got 'a'"),
        (["--range", "size=S:XL"], "no level 'XL'"),
        (["--range", "job=clerk:cook"], "--range: .*no order.*--allowed job=.*fit --ordered job="),
        (["--range", "member=false:true"], r"--range: .*--allowed member=LEVEL,…, of False, True\.$"),
        (["--range", "income=5:1"], "--range: '5:1'.*Swap"),
        (["--range", "income=:inf"], "Leave an end out"),
        (["--direction", "job=increase"], "can not increase.*--allowed job=.*fit --ordered job="),
        (["--fix", "age,income,job,size,a,a=b,member", "--fix", "born in, at"], "--fix names every column"),
        (["--allowed", "job=clerk,,cook"], "--allowed job needs levels"),
        (["--range", "age=0:1", "--range", "age=0:2"], "twice for 'age'"),
        (["--allowed", "age=30"], "'age' holds numbers.*--range age"),
        (["--allowed", "job=clerk,coock"], "no level 'coock'"),
        (["--direction", "age=up"], "--direction: 'age' can increase or decrease, got 'up'"),
        (["--max-changed", "0"], "^--max-changed must be at least 1, got 0.*Leave it out for no bound"),
    ],
)
def test_wrong_constraints_are_refused(arguments, message):
    with pytest.raises(ConstraintError, match=message):
        constraints_of(options(*arguments), SCHEMA)


@pytest.mark.parametrize(
    ("arguments", "classes", "target"),
    [
        (["--want", "good"], ("bad", "good"), Target("good")),
        (["--want", "GOOD", "--probability", ".7,1"], ("bad", "good"), Target("good", probability=(0.7, 1))),
        (["--want", "1"], (0, 1, 2), Target(1)),
        (["--want", "1.0"], (0, 1), Target(1)),
        (["--want", "true"], (False, True), Target(True)),
        (["--want", "a", "--above", ".2"], ("A", "a", "b"), Target("a", above=0.2)),
        (["--above", ".2", "--below", ".5"], ("bad", "good"), Target(above=0.2, below=0.5)),
        ([], ("bad", "good"), None),
    ],
)
def test_targets_of_classes(arguments, classes, target):
    assert target_of(options(*arguments), predictor(classes)) == target


def test_targets_of_numbers():
    assert target_of(options("--above", "-5", "--below", "7"), NUMBERS) == Target(above=-5, below=7)


@pytest.mark.parametrize(
    ("arguments", "model", "message"),
    [
        (["--want", "god"], ("bad", "good"), "no class 'god'.*Did you mean 'good'"),
        (["--probability", ".7,1"], ("bad", "good"), "--probability needs --want"),
        ([], ("a", "b", "c"), "--want 'a', 'b', 'c'"),
        ([], None, "--above or --below"),
        (["--want", "5"], None, "no class to want"),
        (["--above", "nan"], None, "finite"),
        (["--want", "good", "--probability", "1,.7"], ("bad", "good"), "Swap"),
    ],
)
def test_wrong_targets_are_refused(arguments, model, message):
    with pytest.raises(TargetError, match=message):
        target_of(options(*arguments), NUMBERS if model is None else predictor(model))


def test_row_numbers():
    assert row_numbers("3, 17") == (3, 17)
    assert row_numbers("2-4,3,0") == (2, 3, 4, 0)
    assert row_numbers("all") is None
    for wrong in ("", "a", "3,", "-1", "4-2", "1.5"):
        with pytest.raises(argparse.ArgumentTypeError, match="counted from 0"):
            row_numbers(wrong)


def test_names():
    assert names('age,"a,b", c') == ("age", "a,b", "c")
    for wrong in ("", "a,,b", ","):
        with pytest.raises(argparse.ArgumentTypeError):
            names(wrong)
