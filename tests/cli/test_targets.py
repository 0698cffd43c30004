"""What is wanted, from options to results: several classes, changes, and a column that says it for each row."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from countarfactuals import CounterfactualsBatch, Target


def explained(run, folder: str, data: str, *options: str) -> CounterfactualsBatch:
    done = run(
        "explain", "--explainer", folder, "--data", data, "--max-evaluations", "150", "--format", "json", *options
    )
    assert done.code == 0, done.err
    return CounterfactualsBatch.from_json(done.out)


def test_a_loss_in_per_cent_is_no_option(run, prices, table):
    batch = explained(run, prices, table, "--rows", "0,1", "--want-change", "-10%")
    for result in batch:
        assert result.target == Target(change="-10%")
        assert max(result.labels) <= result.x_scores[0] * 0.9
    said = run(
        "explain", "--explainer", prices, "--data", table, "--rows", "0", "--want-change=-10%", "--format", "sentences"
    )
    assert said.code == 0


def test_a_class_that_is_not_wanted(run, fitted, table):
    batch = explained(run, fitted, table, "--rows", "0-5", "--want-not", "bad")
    assert {result.status for result in batch} <= {"found", "already"}
    assert {label for result in batch for label in result.labels} == {"good"}


@pytest.fixture
def wanting(tmp_path: Path, table: str) -> str:
    frame = pd.read_csv(table, dtype=str, keep_default_na=False).head(4)
    frame["wanted"] = ["good", "", "bad", "GOOD"]
    path = tmp_path / "wanting.csv"
    frame.to_csv(path, index=False)
    return str(path)


def test_a_column_says_what_is_wanted(run, fitted, wanting):
    batch = explained(run, fitted, wanting, "--want-column", "wanted")
    assert [result.target for result in batch][::2] == [Target("good"), Target("bad")]
    assert batch[3].target == Target("good")
    assert batch[1].status == "found"  # the other class than the predicted one
    both = explained(run, fitted, wanting, "--rows", "2,0", "--want", "bad")
    np.testing.assert_array_equal(both[0].rows, batch[2].rows)


def test_what_a_column_can_not_say(run, fitted, wanting, table):
    absent = run("explain", "--explainer", fitted, "--data", table, "--want-column", "wanted")
    assert absent.code == 1
    assert "has no column 'wanted'" in absent.err
    both = run("explain", "--explainer", fitted, "--data", wanting, "--want-column", "wanted", "--want", "good")
    assert both.code == 1
    assert "'--want' can not be said" in both.err


def test_evaluate_takes_the_column_too(run, fitted, wanting, tmp_path):
    said = ["--explainer", fitted, "--data", wanting, "--want-column", "wanted"]
    found = str(tmp_path / "found.csv")
    assert run("explain", *said, "--max-evaluations", "150", "--format", "csv", "--out", found).code == 0
    done = run("evaluate", *said, "--counterfactuals", found, "--format", "csv")
    assert done.code == 0, done.err
    measured = pd.read_csv(io.StringIO(done.out))
    assert measured["row"].nunique() >= 2
    assert measured["valid"].all()
    swapped = pd.read_csv(wanting, dtype=str, keep_default_na=False)
    swapped["wanted"] = ["bad", "", "good", "bad"]
    swapped.to_csv(wanting, index=False)
    measured = pd.read_csv(io.StringIO(run("evaluate", *said, "--counterfactuals", found, "--format", "csv").out))
    assert not measured["valid"][measured["row"] != 1].any()
    assert "no column 'absent'" in run("evaluate", *said[:-1], "absent", "--counterfactuals", found).err
