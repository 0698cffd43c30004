"""Every command of the README and the documentation does what its page says: each is run, page by page."""

from __future__ import annotations

import re
import shlex
import shutil
from contextlib import chdir
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from countarfactuals.cli import main

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
# what other tests, Makefile and CI run: installing, the demo, the tests, compiling; servers do not end
ELSEWHERE = re.compile(
    r"^(make (demo|test)|pip install .*|countarfactuals (demo( --serve)?|compile.*|serve .*)|(export|python|caddy) .*)$"
)


def commands(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = [line.partition("  #")[0].strip() for block in BLOCK.findall(text) for line in block.splitlines()]
    return [line for line in lines if line and not ELSEWHERE.match(line)]


WITH_COMMANDS = [page for page in PAGES if "_build" not in page and commands(page)]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """The files that the pages name."""
    made = tmp_path_factory.mktemp("files")
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
    frame[:300].to_csv(made / "train.csv", index=False)
    frame[300:].assign(income=8000, duration=48).drop(columns="quality").to_csv(made / "new.csv", index=False)
    with chdir(made):
        assert main(shlex.split("fit --data train.csv --outcome quality --model auto --out before --trees 10")) == 0
        assert main(shlex.split("explain --explainer before --data new.csv --rows 3 --want good --out theirs.csv")) == 0
    return made


@pytest.fixture
def folder(files, tmp_path, monkeypatch, capsys) -> Path:
    """A folder of one page with these files."""
    capsys.readouterr()
    monkeypatch.chdir(shutil.copytree(files, tmp_path, dirs_exist_ok=True))
    return tmp_path


def test_there_are_pages_with_commands():
    assert {"README.md", "docs/how-to/letter.md", "docs/how-to/command-line.md"} <= set(WITH_COMMANDS)


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_every_command_of_a_page_runs(page, folder, capsys):
    for line in commands(page):
        program, *words = shlex.split(line)
        assert program == "countarfactuals"
        assert main(words) == 0, f"{line}\n{capsys.readouterr().err}"
        out = words[words.index("--out") + 1] if "--out" in words else None
        assert Path(out).exists() if out else capsys.readouterr().out
