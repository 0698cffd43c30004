"""What is said of rows that could not be explained, and where the others are."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from countarfactuals import CounterfactualsBatch
from countarfactuals.cli import folder
from countarfactuals.cli.arguments import OPTIONS
from countarfactuals.exceptions import DataError, Setting

from . import people

ALMOST_ALL = "age,income,savings,job,member"


@pytest.fixture(scope="module")
def labels(fitted) -> list[str]:
    """What the model predicts for each row."""
    background = folder.read(fitted, trusted=False).explainer.background_
    return background.predictor.labels(background.scores).tolist()


@pytest.fixture(scope="module")
def bad(labels) -> list[int]:
    return [row for row, label in enumerate(labels) if label == "bad" and row > 0][:5]


@pytest.fixture(scope="module")
def strange(bad, tmp_path_factory) -> str:
    """A file in which the third and the fifth of the bad rows have a level that is not known."""
    lines = people.with_cell(people.rows(), bad[2], "job", "pilot")
    return people.write(tmp_path_factory.mktemp("strange") / "new.csv", people.with_cell(lines, bad[4], "job", "king"))


def test_one_row_is_named_by_its_number_in_the_file(run, fitted, strange, bad):
    done = run("explain", "--explainer", fitted, "--data", strange, "--rows", bad[2], "--want", "good")
    assert done.code == 1
    assert f"unknown level 'pilot' in row {bad[2]} (counted from 0)" in done.err


def test_rows_are_named_by_their_numbers_in_the_file_wherever_they_are_told(run, fitted, strange, bad, tmp_path):
    rows = [bad[3], bad[2], bad[0], bad[4], bad[1]]
    said = ["explain", "--explainer", fitted, "--data", strange, "--rows", ",".join(map(str, rows)), "--want", "good"]
    out = tmp_path / "u.json"
    done = run(*said, "--top", 1, "--out", out)
    assert done.code == 1
    assert len(done.lines) == 1
    assert f"2 of 5 rows could not be explained: {bad[2]}, {bad[4]}. Row {bad[2]}: Column 'job'" in done.err
    assert f"'pilot' in row {bad[2]} (counted from 0)" in done.err
    assert done.err.endswith(f" The other 3 rows are in {str(out)!r}.\n")
    batch = CounterfactualsBatch.from_json(out.read_text(encoding="utf-8"))
    assert [one.status for one in batch] == ["found", "error", "found", "error", "found"]
    for label, level in ((bad[2], "pilot"), (bad[4], "king")):
        assert batch.errors[label].startswith(f"Column 'job' has the unknown level '{level}' in row {label} (counted")
    assert "DataError" not in out.read_text(encoding="utf-8")
    assert run(*said, "--format", "table").err.endswith(" The other 3 rows are on standard output.\n")


def test_rows_that_need_nothing_are_not_said_to_be_in_the_file(run, fitted, strange, labels, bad, tmp_path):
    good = labels.index("good")
    said = ["explain", "--explainer", fitted, "--data", strange, "--want", "good", "--out", tmp_path / "u.csv"]
    done = run(*said, "--rows", f"{good},{bad[2]},{bad[0]}")
    assert done.lines[0] == f"countarfactuals: note: row {good} has the wanted outcome already."
    assert done.err.endswith(f" Counterfactuals of 1 row are in {str(tmp_path / 'u.csv')!r}.\n")
    assert "u.csv" not in run(*said, "--rows", f"{good},{bad[2]}").err


def test_several_rows_without_counterfactuals_are_counted_and_the_first_explained(run, fitted, table, labels, bad):
    said = ["explain", "--explainer", fitted, "--data", table, "--want", "good", "--fix", ALMOST_ALL, "--format", "csv"]
    goods = [row for row, label in enumerate(labels) if label == "good"][:2]
    done = run(*said, "--rows", ",".join(map(str, [*bad[:2], *goods])))
    assert done.code == 3
    assert done.lines[0] == f"countarfactuals: note: rows {goods[0]}, {goods[1]} have the wanted outcome already."
    start = (
        f"countarfactuals: note: no counterfactual for 2 of 4 rows: {bad[0]}, {bad[1]}. Row {bad[0]}: Nothing was fo"
    )
    assert done.lines[1].startswith(start)
    assert "--fix" in done.lines[1]
    assert "`" not in done.err


@pytest.mark.parametrize("form", ["table", "sentences", "csv"])
def test_the_reason_of_one_row_is_told_once(run, fitted, table, bad, form):
    said = ["explain", "--explainer", fitted, "--data", table, "--rows", bad[0], "--want", "good", "--fix", ALMOST_ALL]
    done = run(*said, "--format", form)
    assert done.code == 3
    assert (done.out + done.err).count(" attempts") == 1
    assert f"no counterfactual for row {bad[0]}" in done.err


def test_parquet_holds_what_csv_holds(run, fitted, table, bad, tmp_path):
    said = ["explain", "--explainer", fitted, "--data", table, "--rows", f"{bad[0]},{bad[1]}", "--want", "good"]
    out = tmp_path / "found.parquet"
    assert run(*said, "--top", 2, "--out", out).code == 0
    stored, printed = pd.read_parquet(out), pd.read_csv(io.StringIO(run(*said, "--top", 2, "--format", "csv").out))
    assert list(stored) == list(printed)
    assert stored["row"].tolist() == [bad[0], bad[0], bad[1], bad[1]]
    np.testing.assert_array_equal(stored["P(good)"], printed["P(good)"])
    assert stored["zip"].map(type).eq(str).all()  # codes with leading zeros, which CSV forgets
    measured = tmp_path / "measured.parquet"
    evaluate = ["evaluate", "--explainer", fitted, "--data", table, "--counterfactuals", out, "--want", "good"]
    assert run(*evaluate, "--out", measured).code == 0
    np.testing.assert_allclose(pd.read_parquet(measured)["P(good)"], stored["P(good)"])


def test_errors_of_the_library_in_words_of_the_command_line():
    settings = {"a": Setting("fixed"), "b": Setting("n_jobs"), "c": Setting("x"), "row": 0}
    error = DataError("{a}, {b} and {c}: 'fixed' in row {row}", **settings)
    assert error.worded(OPTIONS) == "--fix, --jobs and `x`: 'fixed' in row 0"
    assert error.having(row=7).worded() == "`fixed`, `n_jobs` and `x`: 'fixed' in row 7"
    outer = DataError("{error} It was {what}.", error=error, what="late")
    assert outer.worded(OPTIONS) == "--fix, --jobs and `x`: 'fixed' in row 0 It was late."


def test_a_file_without_suffix_is_a_table(run, fitted, table, bad, tmp_path):
    out = tmp_path / "v1.2"
    out.mkdir()
    said = ["explain", "--explainer", fitted, "--data", table, "--rows", bad[0], "--want", "good", "--out"]
    assert run(*said, out / "result").code == 0
    assert (out / "result").read_text(encoding="utf-8").startswith("Counterfactuals:")
    for name in ("r.xlsx", "r.parq"):
        assert run(*said, out / name).code == 1
        assert not (out / name).exists()
    assert run(*said, out / "r.xlsx", "--format", "csv").code == 0
