"""A data set of one's own: one new file, nothing else touched, and the whole study runs on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("xgboost")
pytest.importorskip("pyarrow")

from countarfactuals.cli import main
from countarfactuals.exceptions import ParameterError, StorageError
from countarfactuals.study import Design, register_set, run_study, sets

PLUGIN = '''
import numpy as np
import pandas as pd
from scipy.stats import norm

from countarfactuals.study import Case, register_set


class Square:
    """Two independent normal features."""

    def log_density(self, frame):
        return norm.logpdf(frame[["left", "right"]].to_numpy(float)).sum(axis=1)


def score(frame):
    return 1.0 / (1.0 + np.exp(-2.0 * (frame["left"] + frame["right"]).to_numpy()))


def make(*, n_instances, n_rows, seed):
    draw = np.random.default_rng(seed).normal(size=(n_rows + n_instances, 2))
    frame = pd.DataFrame(draw, columns=["left", "right"])
    X = frame.iloc[:n_rows]
    y = pd.Series((score(X) > 0.5).astype(int))
    return Case("square", X, y, Square(), frame.iloc[n_rows:].reset_index(drop=True), score)


register_set("square", make)
'''
OPTIONS = ["--generate", "--sets", "square", "--methods", "arf,whatif", "--instances", "2", "--evaluations", "60"]
OPTIONS += ["--rows", "120", "--trees", "4", "--quiet"]


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "my_sets.py"
    path.write_text(PLUGIN, encoding="utf-8")
    yield path
    sets.SETS.pop("square", None)


def test_a_set_of_ones_own_runs_from_end_to_end(plugin: Path, tmp_path: Path) -> None:
    command = ["study", *OPTIONS, "--plugin", str(plugin)]
    assert main([*command, "--out", str(tmp_path / "one")]) == 0
    assert main([*command, "--out", str(tmp_path / "two"), "--jobs", "2", "--no-figures"]) == 0
    for name in ("counterfactuals.parquet", "design.json", "calibration.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    summary = pd.read_csv(tmp_path / "one" / "summary.csv")
    assert set(summary["dataset"]) == {"square"}
    assert (summary["n_nondominated"] > 0).all()
    assert (tmp_path / "one" / "figures" / "pairs_square.png").exists()
    assert "square: medians per method" in (tmp_path / "one" / "report.html").read_text(encoding="utf-8")


def test_a_study_is_resumed_with_the_same_data_only(plugin: Path, tmp_path: Path) -> None:
    design = Design(sets=("square",), methods=("whatif",), n_instances=1, n_rows=60, plugins=(str(plugin),))
    run_study(design, tmp_path / "out", pictures=False, quiet=True)
    made = sets.SETS.pop("square")
    assert isinstance(made, sets.MadeSet)
    register_set("square", lambda **asked: made.make(**{**asked, "seed": 99}))
    with pytest.raises(StorageError, match="another 'made'"):
        run_study(design, tmp_path / "out", resume=True, pictures=False, quiet=True)


def test_what_can_not_be_registered_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="already"):
        register_set("cassini", lambda **_: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(ParameterError, match="letters"):
        register_set("../up", lambda **_: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(StorageError, match="no Python file"):
        Design(plugins=(str(tmp_path / "absent.py"),)).check()
