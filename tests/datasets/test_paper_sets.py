"""The published data sets; run where the environment variable COUNTARFACTUALS_PAPER names their folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from countarfactuals.datasets import load_paper_set, random_network, write_process
from countarfactuals.datasets.paper import PAPER_SETS
from countarfactuals.exceptions import DataError

FOLDER = os.environ.get("COUNTARFACTUALS_PAPER", "")
needs_folder = pytest.mark.skipif(not FOLDER, reason="COUNTARFACTUALS_PAPER does not name the published data")

MEAN_LOG_DENSITY = {
    "cassini": -1.28,
    "pawelczyk": -3.92,
    "two_sines": -3.43,
    "bn_5": -4.89,
    "bn_10": -9.10,
    "bn_20": -17.58,
}


@needs_folder
@pytest.mark.parametrize("name", PAPER_SETS)
def test_published_set(name: str) -> None:
    paper = load_paper_set(FOLDER, name)
    density = paper.process.log_density(paper.X)
    assert density.mean() == pytest.approx(MEAN_LOG_DENSITY[name], abs=0.01)
    numbers = load_paper_set(FOLDER, name, categories=False)
    assert set(map(str, numbers.X.dtypes)) == {"float64"}
    np.testing.assert_array_equal(numbers.process.log_density(numbers.X), density)
    assert paper.X.shape[0] == len(paper.y) == 5000
    assert tuple(paper.x_interest.columns) == tuple(paper.X.columns) == paper.process.feature_names
    assert len(paper.x_interest) == 10
    assert (paper.x_interest.dtypes == paper.X.dtypes).all()
    assert set(paper.process.sample(500, random_state=1)["y"]) == set(paper.y) == {0, 1}
    assert paper.model_path.is_file()


@needs_folder
@pytest.mark.parametrize("name", PAPER_SETS)
def test_published_process_is_written_as_it_was_read(name: str, tmp_path: Path) -> None:
    write_process(load_paper_set(FOLDER, name).process, tmp_path / "dgp.json")
    published = json.loads((Path(FOLDER) / name / "dgp.json").read_text())
    assert json.loads((tmp_path / "dgp.json").read_text()) == published


@needs_folder
def test_categories_of_published_networks() -> None:
    X = load_paper_set(FOLDER, "bn_10").X
    assert [name for name in X if X[name].dtype == "category"] == ["x4", "x9"]
    assert list(X["x4"].cat.categories) == ["0", "1"]


def test_a_folder_in_the_published_layout_is_read(tmp_path: Path) -> None:
    process = random_network(5, categorical_share=0.4, random_state=1)
    place = tmp_path / "bn_5"
    place.mkdir()
    write_process(process, place / "dgp.json")
    frame = process.sample(20, random_state=2)
    frame.astype(float).to_csv(place / "data.csv", index=False)
    frame.astype(float).head(3).to_csv(place / "x_interest.csv", index=False)
    (place / "model.json").write_text("{}")
    paper = load_paper_set(tmp_path, "bn_5")
    assert (paper.X.dtypes == frame.dtypes.drop("y")).all()
    np.testing.assert_allclose(paper.process.log_density(paper.X), process.log_density(frame), rtol=1e-12)
    assert paper.x_interest.shape == (3, 5)


def test_foreign_folders_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Did you mean 'bn_5'"):
        load_paper_set(tmp_path, "bn5")
    with pytest.raises(DataError, match=r"lacks 'data\.csv'"):
        load_paper_set(tmp_path, "bn_5")
    with pytest.raises(DataError, match="Give the folder"):
        load_paper_set(tmp_path / "absent", "cassini")
