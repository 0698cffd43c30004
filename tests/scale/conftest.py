"""A small explainer in a folder of `fit`, and rows to explain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from countarfactuals.cli import main
from countarfactuals.scale import Job, saved

N_ROWS = 24


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `countarfactuals fit` wrote."""
    place, rng, n = tmp_path_factory.mktemp("scale"), np.random.default_rng(2), 300
    frame = pd.DataFrame({"income": rng.gamma(4, 9000, n).round(2), "job": rng.choice(["clerk", "cook"], n)})
    frame["quality"] = np.where(frame["income"] > 25_000, "good", "bad")
    frame.to_csv(place / "train.csv", index=False)
    fit = ["fit", "--data", str(place / "train.csv"), "--outcome", "quality", "--model", "auto"]
    assert main([*fit, "--out", str(place / "explainer"), "--trees", "5", "--model-trees", "5"]) == 0
    return place / "explainer"


@pytest.fixture(scope="session")
def rows() -> pd.DataFrame:
    """Rows with keys, of which some are fine and one can not be read."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"id": [f"k{i:03d}" for i in range(N_ROWS)], "income": rng.gamma(4, 6000, N_ROWS).round(2)})
    frame["job"] = rng.choice(["clerk", "cook"], N_ROWS)
    frame.loc[5, "job"] = "pilot"
    return frame


@pytest.fixture(scope="session")
def job(folder: Path) -> Job:
    return Job(saved(folder, max_evaluations=40), "good", key="id")


@pytest.fixture(scope="session")
def expected(job: Job, rows: pd.DataFrame) -> pd.DataFrame:
    """The lines of all rows in one frame."""
    return job(rows)


def in_order(lines: pd.DataFrame) -> pd.DataFrame:
    """Lines by row and rank, as engines give them in any order."""
    return lines.sort_values(["row", "rank"], na_position="first").reset_index(drop=True)


def alike(lines: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(in_order(lines), in_order(expected), check_dtype=False)
