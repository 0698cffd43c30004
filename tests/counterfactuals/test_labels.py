"""Plain names for columns and levels: in all that people read, and in nothing that programs read."""

from __future__ import annotations

import json

import pytest

from countarfactuals import Constraints, Counterfactuals
from countarfactuals.exceptions import ParameterError
from countarfactuals.plotting.changes import frequency_info
from countarfactuals.report import to_html

from .examples import result

LABELS = {
    "amount": "sum of the loan",
    "grade": ("school grade", {"high": "very good"}),
    "job": {"clerk": "in an office"},
}
MADE = result()


def test_in_all_that_people_read():
    labelled = MADE.labelled(LABELS)
    for text in (str(labelled), labelled.describe(None), MADE.describe(None, labels=LABELS)):
        assert "sum of the loan" in text
        assert "very good" in text
    page = to_html(MADE, labels={"amount": "<i>sum</i>"}, pictures=False)
    assert "&lt;i&gt;sum&lt;/i&gt;" in page
    assert "<i>sum</i>" not in page
    assert "sum of the loan" in str(frequency_info([labelled]))


def test_in_nothing_that_programs_read():
    labelled = MADE.labelled(LABELS)
    assert labelled.to_frame().equals(MADE.to_frame())
    assert labelled.changes().equals(MADE.changes())
    assert labelled.schema == MADE.schema


def test_json_keeps_them():
    labelled = MADE.labelled(LABELS)
    again = Counterfactuals.from_json(labelled.to_json())
    assert str(again) == str(labelled) != str(MADE)
    assert "label" not in json.loads(MADE.to_json())["schema"]["columns"][0]


def test_constraints_speak_by_them():
    schema = MADE.labelled(LABELS).schema
    said = Constraints(fixed=["amount"], allowed={"grade": ["high"]}).describe(schema=schema)
    assert said == ["'sum of the loan' does not change.", "If 'school grade' changes, it becomes 'very good'."]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"amuont": "x"}, "`labels` names 'amuont', which is no column.*'amount'"),
        ({"grade": {"hihg": "x"}}, "names the level 'hihg'.*'high'"),
        ({"amount": {"1": "x"}}, "which have no labels"),
        ({"amount": 3}, "must be a text, a dict from levels to texts, or a pair of both; got 3"),
        ({"amount": " "}, "must be a text"),
        (["amount"], "must be a dict of names by column"),
    ],
)
def test_refused(labels, message):
    with pytest.raises(ParameterError, match=message):
        MADE.labelled(labels)
