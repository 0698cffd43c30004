"""A format joins by one file of its own: an option, a suffix, and what it writes."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from countarfactuals.cli import formats

FILE = '''
from countarfactuals.cli.formats import Format, register


def lines(output):
    """One line per change."""
    changes = output.selected.changes()
    return "".join(f"{line.row}: {line.feature} -> {line.to}\\n" for line in changes.itertuples())


register(Format("changes", lines, suffixes=("chg",)))
'''


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_FORMATS", dict(formats.formats()))
    (tmp_path / "changes_format.py").write_text(FILE)
    runpy.run_path(str(tmp_path / "changes_format.py"))


def test_a_format_of_one_file(plug_in, run, fitted, table, tmp_path) -> None:
    asked = ("explain", "--explainer", fitted, "--data", table, "--rows", "3", "--max-evaluations", 200, "--top", 2)
    assert "changes" in run("explain", "--help").out
    told = run(*asked, "--format", "changes")
    assert told.code == 0
    assert told.out.splitlines()
    assert all(line.startswith("3: ") and " -> " in line for line in told.out.splitlines())
    assert run(*asked, "--out", tmp_path / "a.chg").code == 0
    assert (tmp_path / "a.chg").read_text() == told.out


def test_without_the_file_it_is_unknown(run, fitted, table, tmp_path) -> None:
    told = run("explain", "--explainer", fitted, "--data", table, "--rows", "3", "--out", tmp_path / "a.chg")
    assert told.code == 1
    assert "has the suffix '.chg', which names no format; known are .json, .csv, .html, .parquet" in told.err
