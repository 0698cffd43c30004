"""Features that name their rows, or nearly do, and dates written as numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from countarfactuals.cli.arguments import Dialect
from countarfactuals.cli.column_kinds import infer, tell_identifiers

EVERY, NEARLY, DATES = "every row has another value", "nearly every row has another text", "look like dates"
N = 60
DAYS = [int(day.strftime("%Y%m%d")) for day in pd.date_range("2019-01-15", periods=N, freq="11D")]


def told(dialect: Dialect | None = None, **columns) -> list[str]:
    said: list[str] = []
    tell_identifiers(pd.DataFrame(columns), dialect or Dialect(), said.append)
    return said


def scattered(n: int = N) -> list[int]:
    """Whole numbers that all differ and lie far apart."""
    return [1000 + 37 * i for i in range(n)]


def texts(n_distinct: int, n: int = N) -> list[str]:
    return [f"t{i % n_distinct}" for i in range(n)]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("name", texts(N)),
        ("name", [*texts(N), None]),
        ("name", texts(21, 21)),
        ("zip", [f"0{i:04d}" for i in range(N)]),
        ("number", list(range(N))),
        ("number", [*range(500, 500 + 2 * N - 2, 2), 7 + 500]),
        ("number", list(range(N, 0, -1))),
        *((name, scattered()) for name in ("id", "ID", "customer_id", "customerId", "Customer ID", "jobid")),
    ],
)
def test_what_differs_in_every_row_is_an_identifier(name, cells):
    (note,) = told(**{name: cells})
    assert note.startswith(EVERY)
    assert repr(name) in note
    assert f"--drop {name}." in note or f"--drop '{name}'." in note


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("name", texts(20, 20)),
        ("name", texts(N // 2)),
        ("name", texts(20, 29)),
        ("income", scattered()),
        ("income", [i + 0.5 for i in range(N)]),
        *((name, scattered()) for name in ("amount_paid", "amountPaid", "BID", "idle")),
        ("number", [*range(N - 1), 0]),
        ("number", pd.array([*range(N), None], "Int64")),
        ("id", scattered(20)),
        ("id", [*scattered(), 1000]),
        ("member", [True, False] * 30),
        ("tags", [["a"], ["b"]] * 30),
        ("empty", [None] * N),
        ("far", [-(2**63), *range(N), 2**63 - 1]),
    ],
)
def test_other_columns_are_left_in_peace(name, cells):
    assert told(**{name: cells}) == []


@pytest.mark.parametrize("n_distinct", [N // 2 + 1, N - 1])
def test_texts_that_differ_in_nearly_every_row_are_said(n_distinct):
    for cells in (texts(n_distinct), pd.Categorical(texts(n_distinct)), [*texts(n_distinct), *[None] * N]):
        (note,) = told(zip=cells)
        assert note.startswith(NEARLY)
        assert "typicality says little" in note
        assert "Group the values, or leave them out: --drop zip." in note


def test_dates_written_as_numbers_are_said():
    for days in (DAYS, DAYS[:20], DAYS * 3, pd.array([*DAYS, None], "Int64"), list(range(20190701, 20190728))):
        (note,) = told(since=days)
        assert DATES in note
        assert "such as 20190713 are no days" in note
        assert "--drop since." in note
    for days in (DAYS[:19], [*DAYS, 20190229], [*DAYS, 18991231], [*DAYS, 21010101]):
        assert told(since=days) == []


def test_a_note_lists_all_columns_of_its_kind():
    said = told(
        **{"id": scattered(), "since": DAYS, "full name": texts(N), "zip": texts(50), "ref": texts(40), "until": DAYS}
    )
    assert [
        one for one, start in zip(said, (EVERY, NEARLY, "the numbers in"), strict=True) if one.startswith(start)
    ] == said
    for note, names, drop in zip(
        said,
        ("columns 'id', 'full name'", "columns 'zip', 'ref'", "columns 'since', 'until'"),
        ("--drop 'id,full name'.", "--drop zip,ref.", "--drop since,until."),
        strict=True,
    ):
        assert names in note
        assert note.endswith(drop)


@pytest.mark.parametrize(
    ("cells", "dialect"),
    [
        ([*map(str, range(N)), "unknown"], Dialect()),
        ([*(f"{i},5" for i in range(N)), "unknown"], Dialect(decimal=",")),
        ([f"Mar {day}, {year}" for day in range(1, 29) for year in (2020, 2021)], Dialect()),
    ],
)
def test_cells_that_can_be_mended_are_not_to_be_left_out(cells, dialect):
    said: list[str] = []
    column = infer("a", cells, dialect, said.append)
    assert len(said) == 1
    assert told(dialect, a=column) == []


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_fit_notes_features_only_and_goes_on(run, tmp_path, suffix):
    rng = np.random.default_rng(1)
    x = rng.normal(size=N).round(3)
    frame = pd.DataFrame({"x": x, "customerId": scattered(), "zip": texts(50), "since": DAYS, "y": range(N)})
    path = tmp_path / f"a.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    fit = ["fit", "--data", path, "--outcome", "y", "--model", "auto", "--trees", 5, "--model-trees", 5]
    done = run(*fit, "--out", tmp_path / "e", "--task", "regression")
    assert done.code == 0, done.err
    notes = [line.removeprefix("countarfactuals: note: ") for line in done.lines]
    starts = (EVERY, NEARLY, "the numbers in the column 'since' look like dates")
    assert [sum(note.startswith(start) for note in notes) for start in starts] == [1, 1, 1]
    assert "'y'" not in "".join(note for note in notes if "--drop" in note)
    done = run(*fit, "--out", tmp_path / "f", "--task", "regression", "--drop", "customerId,zip,since")
    assert "--drop" not in done.err


def test_the_identifiers_of_people_are_said(run, table, tmp_path):
    fit = ["fit", "--data", table, "--outcome", "quality", "--drop", "price", "--model", "auto", "--trees", 5]
    done = run(*fit, "--model-trees", 5, "--out", tmp_path / "e")
    (line,) = [line for line in done.lines if "--drop" in line]
    assert line.startswith(f"countarfactuals: note: {EVERY} in the column 'id'.")
    assert line.endswith("--drop id.")
