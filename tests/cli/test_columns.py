"""What a user says of columns when fitting: orders, units, what rows are called; and how it comes back."""

from __future__ import annotations

import argparse
import json
from datetime import date

import pandas as pd
import pytest

from countarfactuals import Counterfactuals
from countarfactuals.cli import folder
from countarfactuals.cli.arguments import words
from countarfactuals.cli.folder import restored
from countarfactuals.cli.wishes import orders_of, units_of
from countarfactuals.exceptions import ParameterError

from . import people
from .conftest import FIT

FRAME = pd.DataFrame(
    {"school": ["low", "high", None], "floor": pd.array([1, 2, None], "Int64"), "a=b": ["x", "y", "x"]}
)


def test_orders_are_found_by_their_texts():
    assert orders_of(["school=low,mid,high", "floor=2,1", "a=b=y,x"], FRAME) == {
        "school": ["low", "mid", "high"],  # a level that training did not see is known all the same
        "floor": [2, 1],
        "a=b": ["y", "x"],
    }


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (["scool=a,b"], "no column 'scool'.*Did you mean 'school'"),
        (["school=low,hihg"], "also holds 'high'. List all.*Did you mean 'hihg'"),
        (["floor=1,2,3"], "never is '3'; it holds '1', '2'"),
        (["school=low,high,low"], "names a level twice"),
        (["school=low,high", "school=high,low"], "twice for 'school'"),
    ],
)
def test_wrong_orders_are_refused(said, message):
    with pytest.raises(ParameterError, match=message):
        orders_of(said, FRAME)


def test_units_are_words_or_pairs_and_survive_json():
    units = units_of(["income=€", "height=foot, feet", "price=k€"], ["income", "height"], "price")
    assert units == {"income": "€", "height": ("foot", "feet"), "price": "k€"}
    back = json.loads(json.dumps(units))
    assert {name: restored(unit) for name, unit in back.items()} == units
    for wrong in (None, 3, "", " ", ["a"], ["a", ""], ["a", 3]):
        assert restored(wrong) is None


def test_wrong_units_are_refused():
    with pytest.raises(ParameterError, match="no column 'price'"):
        units_of(["price=€"], ["income"], None)
    assert units_of(["prediction=€"], ["income"], None) == {"prediction": "€"}
    for wrong in ("a,b,c", "", ",b"):
        with pytest.raises(argparse.ArgumentTypeError, match="person,people"):
            words(wrong)


@pytest.fixture(scope="module")
def spoken(table, tmp_path_factory) -> str:
    """An explainer with an order and units."""
    from countarfactuals.cli import main

    out = str(tmp_path_factory.mktemp("spoken") / "explainer")
    said = ["--ordered", "job=cook,clerk,driver,nurse", "--unit", "income=€", "--unit", "savings=€"]
    said += ["--unit", "age=year,years"]
    fit = ["--data", table, "--outcome", "quality", "--drop", "id,price", "--model", "auto", "--out", out]
    assert main(["fit", *fit, "--trees", "5", "--model-trees", "10", "--rows-are", "person,people", *said]) == 0
    return out


def test_an_order_is_kept_and_gives_directions_and_ranges(run, spoken, table):
    opened = folder.read(spoken, trusted=False)
    job = opened.explainer.schema_.columns[opened.explainer.schema_.index("job")]
    assert (str(job.kind), job.levels) == ("ordered", ("cook", "clerk", "driver", "nurse"))
    row = next(i for i, line in enumerate(people.rows()) if line[4] == "clerk" and line[7] == "bad")
    said = ["explain", "--explainer", spoken, "--data", table, "--rows", row, "--want", "good", "--format", "json"]
    for option, levels in ((["--direction", "job=increase"], (1, 2, 3)), (["--range", "job=cook:clerk"], (0, 1))):
        done = run(*said, *option)
        found = Counterfactuals.from_json(done.out)
        assert found.status == "found", done.err
        assert set(found.rows[:, opened.explainer.schema_.index("job")]) <= set(levels)


def test_units_are_used_and_can_be_said_anew(run, spoken, table):
    opened = folder.read(spoken, trusted=False)
    assert opened.units == {"income": "€", "savings": "€", "age": ("year", "years")}
    assert opened.rows == ("person", "people")
    row = next(i for i, line in enumerate(people.rows()) if line[7] == "bad" and line[1])
    said = ["explain", "--explainer", spoken, "--data", table, "--rows", row, "--want", "good"]
    said += ["--fix", "job,member,zip,age"]
    for form in ("sentences", "html"):
        assert "€" in run(*said, "--format", form).out
    told = run(*said, "--format", "sentences").out
    assert "of real people are less typical" in told
    units = ["--unit", "income=crowns", "--unit", "savings=crowns"]
    anew = run(*said, "--format", "sentences", *units, "--rows-are", "applicants").out
    assert " crowns" in anew
    assert "€" not in anew
    assert "of real applicants are less typical" in anew


def test_a_report_tells_what_was_fitted(run, spoken, table):
    meta = folder.read(spoken, trusted=False).meta
    report = run(
        "explain", "--explainer", spoken, "--data", table, "--rows", 0, "--want", "good", "--format", "html"
    ).out
    for name in ("model_sha256", "data"):
        assert meta[name] in report
    day = date.fromisoformat(meta["date"])
    assert f"{day.day} {day:%B} {day.year}" in report


def test_fit_tells_dates_from_whole_numbers(run, tmp_path):
    days = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    frame = pd.DataFrame({"signed": days, "n": range(60), "quality": ["good", "bad"] * 30})
    frame.to_csv(tmp_path / "t.csv", index=False)
    fitting = ("fit", "--data", tmp_path / "t.csv", "--outcome", "quality", "--model", "auto", *FIT)
    assert "features: 1 date, 1 integer" in run(*fitting, "--out", tmp_path / "e").out
