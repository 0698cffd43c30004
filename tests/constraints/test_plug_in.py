"""A new kind of constraint is one new class: here all of it, with nothing else touched."""

from __future__ import annotations

import argparse
import json
import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from countarfactuals.cli.arguments import add_wishes
from countarfactuals.cli.wishes import constraints_of
from countarfactuals.constraints import (
    KINDS,
    Clause,
    ConstraintKind,
    Constraints,
    as_constraints,
    clause_text,
    register,
)
from countarfactuals.constraints.kind import Part
from countarfactuals.constraints.option import Option, assignment, parts_of
from countarfactuals.exceptions import ConstraintError
from countarfactuals.language import tr
from countarfactuals.language.vocabulary import TEXT, words_of
from countarfactuals.schema import Schema

FRAME = pd.DataFrame({"rent": [400, 500, 600], "food": [100, 200, 300], "job": ["a", "b", "a"]})
SCHEMA = Schema.infer(FRAME)
ROWS = SCHEMA.encode(FRAME)


@dataclass(frozen=True, eq=False)
class Sum(Part):
    columns: np.ndarray
    most: float

    def violated(self, pool):
        return pool.rows[:, self.columns].sum(axis=1) > self.most


class SumAtMost(ConstraintKind):
    """By tuple of columns, what they may sum up to."""

    name, label = "sum_at_most", "sum"
    default = {}  # noqa: RUF012
    option = Option(
        "--sum-at-most",
        lambda texts, schema: {
            parts_of(names, "--sum-at-most"): float(most) for names, most in (text.split("=") for text in texts)
        },
        {"type": assignment, "action": "append", "default": [], "metavar": "COLUMN,…=NUMBER", "help": "most of a sum"},
    )

    def check(self, value):
        if not isinstance(value, dict) or not all(isinstance(names, tuple) for names in value):
            raise self.refused("{parameter} must be a dict by tuples of columns, got {got!r}.", got=value)
        return dict(value)

    def entries(self, value):
        return value.items()

    def parts(self, value, row):
        for names, most in value.items():
            yield Sum(self.clause(names, most), np.array([row.column(name, self)[0] for name in names]), most)

    def phrase(self, columns, entry, words):
        return tr("The sum of {names} is at most {most}", names=words.names(columns), most=f"{entry:g}")


@pytest.fixture(autouse=True)
def _registered():
    register(SumAtMost())
    yield
    del KINDS["sum_at_most"]


SAID = {("rent", "food"): 650}


def test_it_is_a_keyword_that_is_checked():
    constraints = Constraints(sum_at_most=SAID, fixed=["job"])
    assert constraints.sum_at_most == SAID
    assert constraints == as_constraints({"sum_at_most": SAID, "fixed": ["job"]}) != Constraints(fixed=["job"])
    assert Constraints().sum_at_most == {}
    assert constraints.limited(1).sum_at_most == SAID
    assert "sum_at_most={('rent', 'food'): 650}" in repr(constraints)
    with pytest.raises(ConstraintError, match="`sum_at_most` must be a dict by tuples of columns, got 3"):
        Constraints(sum_at_most=3)
    with pytest.raises(ConstraintError, match="`sum_at_most`: There is no column 'rend'"):
        Constraints(sum_at_most={("rend", "food"): 1}).bind(SCHEMA, ROWS[0])


def test_another_process_learns_of_it():
    constraints = Constraints(sum_at_most=SAID)
    sent = pickle.dumps(constraints)
    del KINDS["sum_at_most"]
    assert pickle.loads(sent) == constraints
    assert not pickle.loads(sent).bind(SCHEMA, ROWS[0]).hold(ROWS[1:]).any()


def test_it_judges_and_can_be_lifted():
    limits = Constraints(sum_at_most=SAID, allow_missing=True).bind(SCHEMA, ROWS[0])
    assert limits.names == limits.liftable == ("sum: rent, food",)
    assert limits.violations(ROWS)["sum: rent, food"].tolist() == [False, True, True]
    assert limits.hold(ROWS).tolist() == [True, False, False]
    assert limits.without("sum: rent, food").hold(ROWS).all()


def test_it_has_words():
    constraints = Constraints(sum_at_most=SAID)
    assert constraints.describe() == ["The sum of 'rent' and 'food' is at most 650."]
    clause = constraints.bind(SCHEMA, ROWS[0]).names[-1]
    words = words_of(SCHEMA.names, None, "rows", None, TEXT)
    assert clause_text(clause, words) == "The sum of rent and food is at most 650"


def test_it_survives_json():
    constraints = Constraints(sum_at_most=SAID)
    stored = json.loads(json.dumps(constraints.to_dict()))
    assert Constraints.from_dict(stored) == constraints
    clause = constraints.bind(SCHEMA, ROWS[0]).names[-1]
    assert Clause.from_dict(json.loads(json.dumps(clause.to_dict()))).columns == ("rent", "food")


def test_it_is_an_option():
    parser = argparse.ArgumentParser()
    add_wishes(parser)
    options = parser.parse_args(["--sum-at-most", "rent,food=650", "--fix", "job"])
    assert constraints_of(options, SCHEMA) == Constraints(sum_at_most={("rent", "food"): 650.0}, fixed=["job"])
