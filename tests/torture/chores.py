"""What is written to disk: pieces of work with a folder, and whether what they left is whole.

Each chore has `do(folder)`, which may be killed or have no room, and `is_whole(folder)`, which tells whether what is
there can be used. What was there before is made by the chore itself.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from countarfactuals import AdversarialRandomForest, CounterfactualsBatch, Explainer, report
from countarfactuals.cli import folder as explainer_folder
from countarfactuals.cli import main
from tests.contracts.methods import BY_NAME
from tests.contracts.tables import Scorer, columns, frame_of

X = frame_of(columns("mixed"), "pandas")


class Chore(NamedTuple):
    name: str
    do: Callable[[Path], object]
    is_whole: Callable[[Path], bool]
    seconds: float  # about what it takes


class Failed(Exception):
    """The command line said in one line what went wrong."""


@cache
def fitted() -> Any:
    return BY_NAME["arf"].make(Scorer("mixed"), classes=("bad", "good"), max_evaluations=100).fit(X)


@cache
def explained() -> Any:
    return fitted().explain(X.iloc[[2]])


def _command(words: str) -> None:
    if main(words.split()) not in (0, 3):
        raise Failed


def _fit(folder: Path) -> None:
    table = folder / "train.csv"
    X.assign(quality=["good" if one else "bad" for one in X["owner"]]).to_csv(table, index=False)
    _command(f"fit --data {table} --outcome quality --model auto --trees 5 --model-trees 5 --force --out {folder}/ex")


def _save(folder: Path) -> None:
    fitted().save(folder / "explainer.npz")


def _save_forest(folder: Path) -> None:
    forest = fitted().background_.plausibility.forest
    assert isinstance(forest, AdversarialRandomForest)
    forest.save(folder / "forest.arf")


def _explain_many(folder: Path) -> None:
    batch = fitted().explain_many(X.head(4), n_jobs=2, progress=False)
    (folder / "batch.json").write_text(batch.to_json(), encoding="utf-8")


def _report(folder: Path) -> None:
    report.write(explained(), str(folder / "report.html"), fitted())


def _study(folder: Path) -> None:
    words = (
        f"study --generate --sets cassini --methods random,whatif --instances 2 --seed 1 --quiet --out {folder}/study"
    )
    _command(words + (" --resume" if (folder / "study").exists() else ""))


def _has_fitted(folder: Path) -> bool:
    opened = explainer_folder.read(str(folder / "ex"), trusted=False)
    return len(opened.explainer.explain(pd.read_csv(folder / "train.csv").drop(columns="quality").head(1))) >= 0


def _has_saved(folder: Path) -> bool:
    return Explainer.load(folder / "explainer.npz", fitted().model).explain(X.iloc[[2]]).status == "found"


def _has_forest(folder: Path) -> bool:
    forest = AdversarialRandomForest.load(folder / "forest.arf")
    return bool(forest.sample(2, random_state=1).shape[0] == 2)


def _has_batch(folder: Path) -> bool:
    path = folder / "batch.json"  # the file is the user's own: only that explaining goes on is asked of us
    with suppress(OSError, ValueError):
        CounterfactualsBatch.from_json(path.read_text(encoding="utf-8"))
    return len(fitted().explain_many(X.head(1), progress=False)) == 1


def _has_report(folder: Path) -> bool:
    return (folder / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>")


def _has_study(folder: Path) -> bool:
    """What is there can be gone on with."""
    _study(folder)
    return len(pd.read_csv(folder / "study" / "summary.csv")) > 0


FIT = Chore("fit", _fit, _has_fitted, 2.0)
SAVE = Chore("save", _save, _has_saved, 0.1)
FOREST = Chore("save a forest", _save_forest, _has_forest, 0.05)
MANY = Chore("explain_many", _explain_many, _has_batch, 3.0)
REPORT = Chore("report", _report, _has_report, 2.0)
STUDY = Chore("study", _study, _has_study, 4.0)
