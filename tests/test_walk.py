"""The walk of one row in ARCHITECTURE.md: at most 15 steps, whose modules are entered, in this order."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals.cli import main

ROOT = Path(__file__).parent.parent
# opened, but entered before the step that is about them: a folder holds a schema, judges and a batch of results
WHENEVER = {"schema.reading", "plausibility.panel", "files", "report.page", "counterfactuals.table", "cli.formats"}
WHENEVER |= {"cli.data_files", "counterfactuals.sentences", "report.pictures", "language", "plotting"}


def steps() -> list[list[str]]:
    """The modules that each step names."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    walk = text[text.index("## One row, from CSV to report") : text.index("## Decisions")]
    lines = re.findall(r"^\d+\. (.*)$", walk, re.MULTILINE)
    return [re.findall(r"`([a-z_]+(?:\.[a-z_]+)*)`", line) for line in lines]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng, n = np.random.default_rng(1), 200
    frame = pd.DataFrame({"age": rng.integers(18, 70, n), "income": rng.gamma(4, 9000, n).round(2)})
    frame["quality"] = np.where(frame["income"] > 30_000, "good", "bad")
    frame.to_csv("train.csv", index=False)
    frame.drop(columns="quality").head(3).assign(income=9000).to_csv("new.csv", index=False)
    assert main(shlex.split("fit --data train.csv --outcome quality --model auto --out ex --trees 10")) == 0
    return tmp_path


def entered(command: str) -> list[str]:
    """Modules of this package in the order in which they are first entered, without imports."""
    order: dict[str, None] = {}

    def watch(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("countarfactuals.") and frame.f_code.co_name != "<module>":
            order.setdefault(name.removeprefix("countarfactuals."))

    sys.setprofile(watch)
    try:
        assert main(shlex.split(command)) == 0
    finally:
        sys.setprofile(None)
    return list(order)


def test_a_row_goes_the_way_that_is_described(folder: Path):
    listed = steps()
    assert 5 <= len(listed) <= 15
    walked = entered("explain --explainer ex --data new.csv --rows 1 --want good --fix age --format html --out r.html")
    packages = {name.partition(".")[0] for name in walked}
    named = [module for step in listed for module in step]
    assert [module for module in named if module not in walked and module not in packages] == []
    places = [walked.index(module) for module in named if module in walked and module not in WHENEVER]
    assert places == sorted(places), [(module, walked.index(module)) for module in named if module in walked]
