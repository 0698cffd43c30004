"""What spreadsheets would run is text, and nothing else changes."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from countarfactuals.cli.spreadsheets import csv_text, harmless

FRAME = pd.DataFrame(
    {
        "=name": ["=HYPERLINK(1)", "+x", "-x", "@x", "\tx", "plain"],
        "plain": pd.Categorical(["a=b", "-5", "+1e3", "x-", "=c", ""]),
        "number": [-1.5, 2.0, -0.0, float("nan"), 1e-300, 7.0],
        "count": [-1, 0, 1, 2, 3, 4],
    }
)


def test_no_cell_begins_as_a_formula():
    read = pd.read_csv(io.StringIO(csv_text(FRAME, exact=False)), dtype=str, keep_default_na=False)
    assert list(read) == ["'=name", "plain", "number", "count"]
    assert read["'=name"].tolist() == ["'=HYPERLINK(1)", "'+x", "'-x", "'@x", "'\tx", "plain"]
    assert harmless("\rx") == "'\rx"
    assert read["plain"].tolist() == ["a=b", "-5", "+1e3", "x-", "'=c", ""]


@pytest.mark.parametrize("exact", [False, True])
def test_numbers_stay_numbers(exact):
    read = pd.read_csv(io.StringIO(csv_text(FRAME, exact=exact)))
    pd.testing.assert_frame_equal(read[["number", "count"]], FRAME[["number", "count"]])


def test_cells_as_they_are_on_demand():
    assert csv_text(FRAME, exact=True) == FRAME.to_csv(index=False, lineterminator="\n")
