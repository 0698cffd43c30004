"""The examples run on their own and say what is true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


def output(example: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / example), *arguments],
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
def report(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("demo") / "report.html"


@pytest.fixture(scope="module")
def demo(report) -> str:
    return output("demo.py", "--out", str(report))


@pytest.fixture(scope="module")
def density() -> str:
    return output("density.py")


def number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    assert found, f"{pattern!r} is not in the output:\n{text}"
    return float(found.group(1).replace(",", ""))


def demo_table(demo: str) -> str:
    return demo.split("2  What would")[1].split("unchanged (")[0]


def test_the_demo_finds_counterfactuals_that_reach_the_target(demo):
    assert len(re.findall(r"^\d .* good ", demo_table(demo), re.MULTILINE)) == 3
    assert number(r"(\d+) evaluations of the model", demo) <= 1000


def test_the_demo_keeps_to_its_constraints(demo):
    header, *lines = re.split(r"Counterfactuals: 3 of \d+ shown", demo_table(demo))[1].splitlines()[1:]
    assert not {"age", "education", "purpose"} & set(header.split())
    assert lines[0].startswith("x ")
    for line in lines[1:]:
        assert 1 <= len(re.findall("[↑↓↔]", line)) <= 3


def test_the_demos_model_is_better_than_the_larger_class(demo):
    accuracy, largest = (float(one) for one in re.search(r"accuracy ([\d.]+) .* ([\d.]+)\)", demo).groups())
    assert accuracy > largest + 0.05


def test_the_demo_says_in_two_sentences_what_its_table_shows(demo):
    words = " ".join(demo.split("In words:")[1].split("3  How true")[0].split())
    sentences = re.findall(r"If .*? the prediction would have been good", words)
    assert len(sentences) == 2
    numbers = {cell for cell in re.findall(r"[↑↓] ([\d.]+)", demo_table(demo))}
    for said in re.findall(r"€?([\d,.]+) instead of", " ".join(sentences)):
        assert said.replace(",", "") in numbers


def test_the_demo_compares_with_the_true_process(demo):
    said = r"we say that [<>]?(\d+) % of real applicants are less typical, the true process says [<>]?(\d+) %"
    shares = re.findall(said, demo)
    assert len(shares) == 3
    assert max(int(exact) for _, exact in shares) > 10
    assert np.mean([abs(int(told) - int(exact)) for told, exact in shares]) < 20


def test_the_demo_names_the_report_that_it_writes(demo, report):
    assert repr(str(report)) in demo
    page = report.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Why was this loan rejected?" in page


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


def test_the_readme_shows_what_the_demo_prints(demo):
    shown = re.search(
        r"^```text\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert shown
    printed = {line.rstrip() for line in demo.splitlines()}
    assert [line for line in shown.group(1).splitlines() if line.rstrip() not in printed] == []
