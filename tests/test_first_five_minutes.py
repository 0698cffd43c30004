"""The first five minutes of a newcomer, by the installed command: demo, fit, explain in every format, the report."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from .report.test_browser import _check_quiet, _forget_logs, browser

__all__ = ["browser"]  # a fixture

COMMAND = Path(sys.executable).parent / "countarfactuals"


def command(folder: Path, line: str) -> str:
    done = subprocess.run(
        [COMMAND, *shlex.split(line)], cwd=folder, capture_output=True, encoding="utf-8", timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def applicants(path: Path) -> None:
    rng = np.random.default_rng(1)
    n = 300
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 70, n),
            "job": rng.choice(["clerk", "cook", "nurse"], n),
            "income": rng.gamma(4, 9000, n).round(2),
            "savings": rng.gamma(2, 3000, n).round(2),
        }
    )
    frame.loc[rng.random(n) < 0.05, "savings"] = None
    frame.loc[rng.random(n) < 0.05, "job"] = None
    frame["quality"] = np.where(frame["income"] + frame["savings"].fillna(0) > 40_000, "good", "bad")
    frame.to_csv(path, index=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("newcomer")
    applicants(path / "train.csv")
    command(path, "fit --data train.csv --outcome quality --model auto --out explainer --trees 10 --unit income=€")
    return path


def looked_at(browser, path: Path) -> str:
    _forget_logs(browser)
    browser.get(path.as_uri())
    text = browser.find_element("tag name", "body").text
    _check_quiet(browser)
    return text


def test_the_demo_writes_a_report_that_opens(tmp_path, browser):
    said = command(tmp_path, "demo")
    (report,) = tmp_path.glob("*.html")
    assert report.name in said
    assert "Why was this loan rejected?" in looked_at(browser, report)


@pytest.mark.parametrize("form", ["table", "sentences", "json", "csv", "html"])
def test_three_rows_are_explained_in_every_format(folder, form):
    data = pd.read_csv(folder / "train.csv")
    rows = ",".join(map(str, data.index[data["quality"] == "bad"][:3]))
    wishes = "--want good --fix age --direction savings=increase --max-changed 2"
    line = f"explain --explainer explainer --data train.csv --rows {rows} {wishes} --format {form} --out result.{form}"
    assert len(command(folder, line)) < 1000  # it goes to the file
    assert (folder / f"result.{form}").stat().st_size > 100


def test_its_report_opens(folder, browser):
    command(folder, "explain --explainer explainer --data train.csv --rows 0,1,2 --want good --out report.html")
    assert "good" in looked_at(browser, folder / "report.html")
