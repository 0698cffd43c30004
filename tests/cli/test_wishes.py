"""From options to a target and constraints."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
import pytest

from countarfactuals import Constraints, Target
from countarfactuals.cli.arguments import add_wishes, row_numbers
from countarfactuals.cli.wishes import constraints_of, target_of, targets_of_rows
from countarfactuals.constraints.option import names
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
        (["--allowed", "age=old"], "--allowed: 'age' holds numbers or dates, got 'old'"),
        (["--change", "age=old"], "--change: a change of 'age' is a number such as 5 or a share"),
        (["--change", "job=1"], "--change: the levels of 'job' have no order"),
        (["--step", "job=1"], "--step: 'job' holds levels"),
        (["--vary", "agee"], "--vary: there is no column 'agee'"),
        (["--weight", "age=heavy"], "--weight: the weight of 'age' is a number from 0 on, or one of 'immutable'"),
        (["--rule", "age < size < a"], "The rule 'age < size < a' can not be used"),
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
        ([], ("a", "b", "c"), None),
        (["--want", "a,c"], ("a", "b", "c"), Target(any_of=["a", "c"])),
        (["--want", "a,c"], ("a,c", "b", "c"), Target("a,c")),
        (["--want-not", "a"], ("a", "b", "c"), Target(none_of="a")),
        (["--want-not", "1,2"], (0, 1, 2), Target(none_of=[1, 2])),
        (["--want", "good", "--want-change", "0.1"], ("bad", "good"), Target("good", change=0.1)),
    ],
)
def test_targets_of_classes(arguments, classes, target):
    assert target_of(options(*arguments), predictor(classes)) == target


def test_targets_of_numbers():
    assert target_of(options("--above", "-5", "--below", "7"), NUMBERS) == Target(above=-5, below=7)
    assert target_of(options("--want-change=-10%"), NUMBERS) == Target(change="-10%")
    assert target_of(options("--want-change=-20%,-10%"), NUMBERS) == Target(change=("-20%", "-10%"))
    assert target_of(options("--want-change", "5"), NUMBERS) == Target(change=5)


def test_targets_of_a_column():
    said = targets_of_rows(options(), predictor(("a", "b", "c")), ["a", None, "b,c", " ", "C"])
    assert said == [Target("a"), None, Target(any_of=["b", "c"]), None, Target("c")]
    surer = options("--probability", ".7,1")
    assert targets_of_rows(surer, predictor((0, 1)), ["1", 0.0]) == [
        Target(1, probability=(0.7, 1)),
        Target(0, probability=(0.7, 1)),
    ]
    assert targets_of_rows(options(), NUMBERS, ["100:200", "5:", ":7"]) == [
        Target(above=100, below=200),
        Target(above=5),
        Target(below=7),
    ]
    with pytest.raises(TargetError, match=r"'100' is no range of numbers\. Write low:high"):
        targets_of_rows(options(), NUMBERS, ["100"])
    with pytest.raises(TargetError, match="so '--want' can not be said"):
        targets_of_rows(options("--want", "a"), predictor(("a", "b")), ["a"])


@pytest.mark.parametrize(
    ("arguments", "model", "message"),
    [
        (["--want", "god"], ("bad", "good"), "no class 'god'.*Did you mean 'good'"),
        (["--probability", ".7,1"], ("bad", "good"), "--probability needs --want"),
        (["--want", "a", "--want-not", "b"], ("a", "b", "c"), "contradict each other"),
        (["--want-not", "a", "--above", ".5"], ("a", "b", "c"), "--want-not takes no range"),
        (["--want", "a,b", "--above", ".5"], ("a", "b", "c"), "A range is for the score of one class"),
        (["--want", "a,bb"], ("a", "b", "c"), "no class 'bb'"),
        (["--want-change", "5", "--above", "5"], None, "more than one range: '--above', '--want-change'"),
        (["--want-not", "5"], None, "no class to want"),
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
