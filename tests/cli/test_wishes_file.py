"""Wishes from a file, the template of `suggest`, labels and observed outcomes, from end to end."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from .conftest import FIT

WISHES = """
allow_real_rows = false
rows = ["person", "people"]
[target]
want = "good"
[constraints]
fixed = ["zip"]
max_changed = 3
rules = ["savings <= income"]
groups = [["age", "job"]]
[constraints.change]
income = "0:40%"
age = [0, 5]
[constraints.steps]
income = 100
savings = "±250"
[constraints.allowed]
job = { clerk = ["nurse"], cook = "nurse,driver" }
[constraints.weights]
member = "immutable"
income = "hard"
[labels]
savings = "money in the bank"
job = ["work", { nurse = "nurse (trained)" }]
[units]
income = "€"
"""


@pytest.fixture
def wishes(tmp_path) -> str:
    path = tmp_path / "wishes.toml"
    path.write_text(WISHES, encoding="utf-8")
    return str(path)


def test_a_file_says_it_all(run, fitted, table, wishes, tmp_path):
    out = tmp_path / "all.json"
    done = run(
        "explain", "--explainer", fitted, "--data", table, "--rows", "0-9", "--constraints", wishes, "--out", out
    )
    assert done.code == 0, done.err
    found = 0
    for result in json.loads(out.read_text(encoding="utf-8"))["results"]:
        said = result["constraints"]
        assert said["change"] == {"income": [0, "40%"], "age": [0, 5]}
        assert said["groups"] == [["age", "job"]]
        assert said["rules"] == [["savings", "<=", "income"]]
        names = ["age", "income", "savings", "job", "member", "zip"]
        x = dict(zip(names, result["x"], strict=True))
        for row in result["rows"]:
            found += 1
            new = dict(zip(names, row, strict=True))
            changed = {name for name in names if new[name] != x[name]}
            assert not changed & {"zip", "member"}
            assert len(changed) <= 3
            assert "income" not in changed or (
                x["income"] <= new["income"] <= 1.4 * x["income"] and new["income"] % 100 == 0
            )
            assert "savings" not in changed or x["savings"] is None or (new["savings"] - x["savings"]) % 250 == 0
            assert ("age" in changed) == ("job" in changed)
    assert found


def test_options_count_more_than_the_file(run, fitted, table, wishes, tmp_path):
    out = tmp_path / "one.json"
    more = ("--change", "income=0:1%", "--vary", "income,savings", "--want", "bad", "--label", "savings=savings in €")
    done = run(
        "explain", "--explainer", fitted, "--data", table, "--rows", "0", "--constraints", wishes, *more, "--out", out
    )
    assert done.code in (0, 3), done.err
    stored = json.loads(out.read_text(encoding="utf-8"))
    assert stored["constraints"]["change"] == {"income": [0, "1%"], "age": [0, 5]}
    assert stored["constraints"]["vary"] == ["income", "savings"]
    assert stored["provenance"]["settings"]["allow_real_rows"] is False
    assert "bad" in json.dumps(stored["target"])
    labels = {column["name"]: column.get("label") for column in stored["schema"]["columns"]}
    assert labels["savings"] == "savings in €"
    assert labels["job"] == "work"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[constraints]\nfixd = ['age']",
            r"wishes\.toml: there is no key constraints\.fixd; known: .*'vary'.*'fixed'\?",
        ),
        ("[traget]\nwant = 'good'", r"there is no key traget; known: 'target'"),
        ("[target]\nwants = 'good'", r"there is no key target\.wants; known: 'want'"),
        ("[constraints.change]\nage = 'x'", r"constraints\.change: .*'age' is a number such as 5"),
        ("[constraints.ranges]\naeg = [1, 2]", r"constraints\.ranges: There is no column 'aeg'.*'age'\?"),
        ("[constraints]\nrules = ['__import__(1) < age']", r"__import__\(1\) < age' can not be used"),
        ("[constraints]\nmax_changed = 0", r"constraints\.max_changed: .*at least 1"),
        ("[labels]\nagee = 'x'", r"labels: `labels` names 'agee', which is no column"),
        ("[units]\nagee = 'x'", r"units: `units` names 'agee', which is no column"),
        ("fixed = [", r"it is no TOML file"),
        ("constraints = 3", r"constraints must be a table"),
        ("[target]\nprobability = [1]", r"target\.probability needs two numbers"),
    ],
)
def test_errors_name_the_file_and_the_key(run, fitted, table, tmp_path, text, message):
    path = tmp_path / "wishes.toml"
    path.write_text(text, encoding="utf-8")
    done = run("explain", "--explainer", fitted, "--data", table, "--rows", "0", "--constraints", path)
    assert done.code == 1
    assert re.search(message, done.err), done.err


def test_a_template_is_a_comment_and_every_line_of_it_can_be_used(run, fitted, table, tmp_path):
    out = tmp_path / "wishes.toml"
    assert run("suggest", "--explainer", fitted, "--out", out).code == 0
    text = out.read_text(encoding="utf-8")
    assert not any(part for table_ in tomllib.loads(text).values() for part in table_.values() if part != {})
    for name in ("age", "income", "savings", "job", "member", "zip"):
        assert re.search(rf"^#   {name} +\w+", text, re.MULTILINE)
    assert "no one gets younger" in text
    done = run("explain", "--explainer", fitted, "--data", table, "--rows", "0", "--constraints", out)
    assert done.code in (0, 3), done.err
    used = re.sub(r"^# (?=\S+ = )", "", text, flags=re.MULTILINE)
    said = tomllib.loads(used)
    assert set(said["constraints"]) >= {"fixed", "vary", "ranges", "change", "steps", "allowed", "direction", "weights"}
    used = re.sub(r"^(fixed|rules|groups) = .*$", "", used, flags=re.MULTILINE)  # which contradict the rest
    (tmp_path / "used.toml").write_text(used, encoding="utf-8")
    wishes = tmp_path / "used.toml"
    done = run("explain", "--explainer", fitted, "--data", table, "--rows", "0", "--constraints", wishes)
    assert done.code in (0, 3), done.err
    assert run("suggest", "--explainer", fitted, "--out", out).code == 1  # never replaced by itself
    assert "--force" in run("suggest", "--explainer", fitted, "--out", out).err


def test_labels_are_kept_and_shown_everywhere(run, table, tmp_path):
    out = tmp_path / "labelled"
    words = ("--label", "savings=money in the bank", "--label", "job:nurse=nurse <trained>", "--label", "job=work")
    done = run(
        *("fit", "--data", table, "--outcome", "quality", "--drop", "id,price", "--model", "auto", "--out", out),
        *(*FIT, *words),
    )
    assert done.code == 0, done.err
    assert re.search(r"suggested +--direction age=increase \(by names of columns, not applied", done.out)
    wanted = ("--explainer", out, "--data", table, "--rows", "0-7", "--want", "good", "--vary", "savings,job")
    for form in ("table", "sentences", "html", "json"):
        done = run("explain", *wanted, "--format", form, "--out", tmp_path / f"out.{form}")
        assert done.code == 0, done.err
        text = Path(tmp_path / f"out.{form}").read_text(encoding="utf-8")
        assert "money in the bank" in text, form
        assert "nurse <trained>" not in text or form != "html"
    frame = run("explain", *wanted, "--format", "csv").out
    assert "savings" in frame.splitlines()[0]
    assert "money in the bank" not in frame


def test_observed_outcomes(run, table, tmp_path):
    out = tmp_path / "observed"
    done = run(
        *("fit", "--data", table, "--outcome", "quality", "--drop", "id,price", "--model", "observed", "--out", out),
        *("--trees", "10"),
    )
    assert done.code == 0, done.err
    done = run(
        "explain", "--explainer", out, "--data", table, "--rows", "0-3", "--want", "good", "--out", tmp_path / "a.csv"
    )
    assert done.code == 0, done.err
    assert len(pd.read_csv(tmp_path / "a.csv"))
    assert "needs --outcome" in run("fit", "--data", table, "--model", "observed", "--out", tmp_path / "b").err


def test_the_rule_of_a_template_is_one_that_most_rows_keep(run, fitted, table):
    (rule,) = re.findall(r'^# rules = \["(\w+) <= (\w+)"\]', run("suggest", "--explainer", fitted).out, re.MULTILINE)
    low, high = rule
    frame = pd.read_csv(table)
    assert (frame[low] <= frame[high]).mean() > 0.9
