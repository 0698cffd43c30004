"""The demo runs on its own and says what is true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def demo() -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py")],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


def number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    assert found, f"{pattern!r} is not in the output:\n{text}"
    return float(found.group(1).replace(",", ""))


def test_training_ends_near_guessing(demo):
    accuracies = [float(accuracy) for accuracy in re.findall(r"round \d+\s+accuracy ([\d.]+)", demo)]
    assert accuracies[0] > 0.6
    assert accuracies[-1] < 0.65


def test_held_out_density_is_near_the_exact_one(demo):
    exact, estimated = number(r"exact\s+(-[\d.]+)\n", demo), number(r"estimated\s+(-[\d.]+)\n", demo)
    assert exact - 1.5 < estimated < exact + 0.5
    assert number(r"rank correlation of the two\s+([\d.]+)", demo) > 0.9


def test_expectations_are_near_the_truth(demo):
    by_forest, truth = (
        [float(cell.rstrip("%").replace(",", "")) for cell in re.findall(r"[\d.,]+%?", line)]
        for line in re.findall(r"(?:by the forest|truth \([\d,]+ draws\)) +(\d.*%.*)", demo)
    )
    assert len(by_forest) == len(truth) == 4
    for estimated, exact in zip(by_forest, truth, strict=True):
        assert abs(estimated / exact - 1) < 0.3


def test_drawn_and_real_rows_meet_the_question(demo):
    question = demo.split("4  A question")[1].split("5  How plausible")[0]
    rows = re.findall(
        r"^ +(\d+) +\w+ +[\d.]+ +[\d,.]+ +(\w+) +[\d,.]+ +(\w+) +[\d,]+ +\d+ +\d+%$", question, re.MULTILINE
    )
    assert len(rows) == 10
    for age, housing, purpose in rows:
        assert 25 <= int(age) <= 35
        assert (housing, purpose) == ("own", "car")


def test_the_odd_row_is_said_to_be_less_plausible(demo):
    recorded, odd = (
        number(rf"{name} +log density -[\d.]+ +more plausible than +(\d+)% of real rows", demo)
        for name in ("as recorded", "made odd")
    )
    assert odd < 10 < recorded
    assert "(exact: impossible)" in demo
    assert number(r"employment are ([\d,]+) times as likely at 55 as at 22", demo) > 5
