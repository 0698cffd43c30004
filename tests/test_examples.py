"""The examples run on their own and say what is true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def output(example: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / example)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def demo() -> str:
    return output("demo.py")


@pytest.fixture(scope="module")
def density() -> str:
    return output("density.py")


def number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    assert found, f"{pattern!r} is not in the output:\n{text}"
    return float(found.group(1).replace(",", ""))


def test_the_demo_finds_counterfactuals_that_reach_the_target(demo):
    free = demo.split("2  What would")[1].split("3  The same")[0]
    assert len(re.findall(r"^\d .* good ", free, re.MULTILINE)) == 3
    assert number(r"(\d+) evaluations of the model", demo) <= 1000


def test_the_demo_keeps_to_its_constraints(demo):
    bound = demo.split("3  The same")[1].split("4  How true")[0]
    table = bound.split("unchanged")[0]
    assert not {"age", "education", "purpose"} & set(re.findall(r"[a-z_]+", table.splitlines()[2]))
    for line in re.findall(r"^\d .* good .*$", table, re.MULTILINE):
        assert 1 <= len(re.findall("[↑↓↔]", line)) <= 3


def test_the_demo_compares_with_the_true_process(demo):
    assert number(r"median over all \d+: (\d+)% by the true process", demo) > 10


def test_training_ends_near_guessing(density):
    accuracies = [float(accuracy) for accuracy in re.findall(r"round \d+\s+accuracy ([\d.]+)", density)]
    assert accuracies[0] > 0.6
    assert accuracies[-1] < 0.65


def test_held_out_density_is_near_the_exact_one(density):
    exact, estimated = number(r"exact\s+(-[\d.]+)\n", density), number(r"estimated\s+(-[\d.]+)\n", density)
    assert exact - 1.5 < estimated < exact + 0.5
    assert number(r"rank correlation of the two\s+([\d.]+)", density) > 0.9


def test_expectations_are_near_the_truth(density):
    by_forest, truth = (
        [float(cell.rstrip("%").replace(",", "")) for cell in re.findall(r"[\d.,]+%?", line)]
        for line in re.findall(r"(?:by the forest|truth \([\d,]+ draws\)) +(\d.*%.*)", density)
    )
    assert len(by_forest) == len(truth) == 4
    for estimated, exact in zip(by_forest, truth, strict=True):
        assert abs(estimated / exact - 1) < 0.3


def test_drawn_and_real_rows_meet_the_question(density):
    question = density.split("4  A question")[1].split("5  How plausible")[0]
    rows = re.findall(
        r"^ +(\d+) +\w+ +[\d.]+ +[\d,.]+ +(\w+) +[\d,.]+ +(\w+) +[\d,]+ +\d+ +\d+%$", question, re.MULTILINE
    )
    assert len(rows) == 10
    for age, housing, purpose in rows:
        assert 25 <= int(age) <= 35
        assert (housing, purpose) == ("own", "car")


def test_the_odd_row_is_said_to_be_less_plausible(density):
    recorded, odd = (
        number(rf"{name} +log density -[\d.]+ +more plausible than +(\d+)% of real rows", density)
        for name in ("as recorded", "made odd")
    )
    assert odd < 10 < recorded
    assert "(exact: impossible)" in density
    assert number(r"employment are ([\d,]+) times as likely at 55 as at 22", density) > 5
