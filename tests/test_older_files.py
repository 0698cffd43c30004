"""Files that earlier versions wrote load, and say the same; those of later ones say what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest, Explainer
from countarfactuals.arf.archive import read_archive, write_archive
from countarfactuals.exceptions import StorageError

FILES = Path(__file__).parent / "reference" / "files"
VERSIONS = sorted(path.name for path in FILES.iterdir())


def model(frame: pd.DataFrame) -> np.ndarray:
    """The model of which the stored explainers are."""
    p = 1 / (1 + np.exp(-(frame["income"].fillna(4000).to_numpy(float) - 4000) / 1500))
    return np.column_stack([1 - p, p])


@pytest.mark.parametrize("version", VERSIONS)
def test_forests_and_explainers_say_what_they_said(version):
    folder = FILES / version
    rows, said = pd.read_csv(folder / "rows.csv"), pd.read_csv(folder / "densities.csv")
    forest = AdversarialRandomForest.load(folder / "forest.arf")
    np.testing.assert_allclose(forest.score_samples(rows), said["log_density"], rtol=1e-9)
    explainer = Explainer.load(folder / "explainer.npz", model)
    assert len(explainer.background_.matrix) == len(rows)
    is_low = model(rows)[:, 1] < 0.4
    result = explainer.set_params(max_evaluations=100).explain(rows[is_low].head(1), "yes")
    assert len(result) > 0
    assert (model(result.to_frame())[:, 1] >= 0.5).all()


def test_a_file_of_a_later_version_says_what_to_do(tmp_path):
    meta, arrays = read_archive(FILES / "0.1" / "forest.arf", "countarfactuals.AdversarialRandomForest", 1)
    write_archive(tmp_path / "later.arf", {**meta, "version": 9, "written_by": "countarfactuals 7.0"}, arrays)
    with pytest.raises(StorageError, match=r"Load it with the package version that wrote it \(countarfactuals 7\.0\)"):
        AdversarialRandomForest.load(tmp_path / "later.arf")
