"""Every command of the README and the documentation does what its page says: each is run, page by page."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from countarfactuals.cli import main

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
# what Makefile and CI run themselves: installing, the demo, the tests
ELSEWHERE = re.compile(r"^(make (demo|test)|pip install .*)$")


def commands(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = [line.partition("  #")[0].strip() for block in BLOCK.findall(text) for line in block.splitlines()]
    return [line for line in lines if line and not ELSEWHERE.match(line)]


WITH_COMMANDS = [page for page in PAGES if "_build" not in page and commands(page)]


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys) -> Path:
    """A folder with the files that the pages name."""
    rng, n = np.random.default_rng(1), 320
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 70, n),
            "education": rng.choice(["primary", "secondary", "university", None], n),
            "income": rng.gamma(4, 9000, n).round(2),
            "duration": rng.integers(6, 60, n),
        }
    )
    frame["quality"] = np.where(frame["income"] - 300 * frame["duration"] > 22_000, "good", "bad")
    frame.loc[rng.random(n) < 0.05, "income"] = None
    frame[:300].to_csv(tmp_path / "train.csv", index=False)
    frame[300:].assign(income=8000, duration=48).drop(columns="quality").to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split("fit --data train.csv --outcome quality --model auto --out before --trees 10")) == 0
    assert main(shlex.split("explain --explainer before --data new.csv --rows 3 --want good --out theirs.csv")) == 0
    capsys.readouterr()
    return tmp_path


def test_there_are_pages_with_commands():
    assert {"README.md", "docs/first-steps.md", "docs/how-to/command-line.md"} <= set(WITH_COMMANDS)


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_every_command_of_a_page_runs(page, folder, capsys):
    for line in commands(page):
        program, *words = shlex.split(line)
        assert program == "countarfactuals"
        assert main(words) == 0, f"{line}\n{capsys.readouterr().err}"
        out = words[words.index("--out") + 1] if "--out" in words else None
        assert Path(out).exists() if out else capsys.readouterr().out
