"""Explainers of data that is larger than memory, against those of the same rows in a frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

from countarfactuals import AdversarialRandomForest, ARFExplainer, NICEExplainer
from countarfactuals.arf.archive import write_archive
from countarfactuals.arf.forest import apply
from countarfactuals.datasets import load_loan
from countarfactuals.exceptions import DataError, StorageError
from countarfactuals.explainers.explainer_file import contents
from countarfactuals.language import speaking

N, HELD, PLACE_OF_RARE = 2000, 400, 1234


def loans() -> pd.DataFrame:
    """Loans with an index, categories of which one has a single row, and whole numbers with gaps."""
    X = load_loan(n=N, missing=True).X
    X["region"] = pd.Categorical(np.where(np.arange(N) % 3 > 0, "north", "south"), ["north", "south", "islands"])
    X.loc[PLACE_OF_RARE, "region"] = "islands"
    return X.set_index(pd.Index([f"customer {k}" for k in range(N)], name="customer"))


class Scores:
    """A model that scores row by row and counts what it is asked."""

    def __init__(self) -> None:
        self.n_asked = 0

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        assert isinstance(frame, pd.DataFrame)
        self.n_asked += len(frame)
        age = frame["age"].to_numpy(float, na_value=40.0)
        return 1.0 / (1.0 + np.exp(-0.1 * (age - 45.0) - (frame["region"] == "north").to_numpy(float)))


class ThreeClasses(Scores):
    """A model with three classes."""

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        share = super().__call__(frame)
        return np.stack([share**2, 2 * share * (1 - share), (1 - share) ** 2], axis=1)


def explainer(model: Scores | None = None, *, held: int | None = None, **settings) -> ARFExplainer:
    forest = AdversarialRandomForest(
        n_estimators=8, min_samples_leaf=5, max_iter=1, dependence=None, rows_in_memory=held
    )
    settings = {"classes": (0, 1), "measure": "median", "density": forest, "max_evaluations": 200} | settings
    return ARFExplainer(model or Scores(), random_state=1, **settings)


def written(X: pd.DataFrame, folder, starts: tuple[int, ...]):
    """A folder with the rows in several files of Parquet."""
    folder.mkdir()
    for start, stop in zip(starts, (*starts[1:], len(X)), strict=True):
        X.iloc[start:stop].to_parquet(folder / f"{start:08}.parquet")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return written(loans(), tmp_path_factory.mktemp("large") / "loans", (0, 700, 1500))


@pytest.fixture(scope="module")
def large(folder):
    return explainer(held=HELD).fit(folder)


def assert_same(first: ARFExplainer, second: ARFExplainer) -> None:
    (_, own), (_, other) = contents(first), contents(second)
    assert own.keys() == other.keys()
    for name, array in own.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)
    assert first.schema_.columns == second.schema_.columns


def test_data_that_memory_holds_gives_the_result_of_the_frame_to_the_last_bit(folder):
    X = pd.read_parquet(folder)
    whole = explainer().fit(X)
    for source in (folder, str(folder), pa.dataset.dataset(folder)):
        fitted = explainer().fit(source)
        assert_same(fitted, whole)
        assert fitted.background_.sampled is None
        np.testing.assert_array_equal(fitted.kept_rows_, np.arange(N))
        assert "drawn at random" not in fitted.describe()
    found, expected = fitted.explain(X.iloc[[3]]), whole.explain(X.iloc[[3]])
    np.testing.assert_array_equal(found.rows, expected.rows)


def test_the_background_is_a_sample_and_says_which(large):
    X = loans()
    assert len(large.background_.matrix) == len(large.kept_rows_) == HELD
    assert (np.diff(large.kept_rows_) > 0).all()
    np.testing.assert_array_equal(large.background_.matrix, large.schema_.encode(X.iloc[large.kept_rows_]))
    np.testing.assert_array_equal(large.background_.scores[:, 0], Scores()(X.iloc[large.kept_rows_]))
    assert large.background_.n_rows == N
    assert large.describe().endswith("relations are those of 400 rows, drawn at random from 2,000.")
    with speaking("de"):
        assert "400 Zeilen, zufällig gezogen aus 2.000" in large.describe()


def test_the_schema_is_that_of_all_rows(large):
    assert PLACE_OF_RARE not in large.kept_rows_
    assert large.schema_.names == tuple(loans().columns)
    assert "islands" in large.schema_.columns[-1].levels
    assert large.schema_.columns[-1].unused == ()


def test_leaves_tell_the_scores_of_all_rows(folder):
    density = AdversarialRandomForest(
        n_estimators=4, min_samples_leaf=5, max_iter=1, dependence=None, leaf_fit="moments", rows_in_memory=HELD
    )
    fitted = explainer(density=density).fit(folder)
    forest, p = fitted.background_.plausibility.forest, len(fitted.schema_.columns)
    leaf = apply(forest.forest_, np.column_stack([fitted.schema_.encode(loans()), np.zeros(N)]))[:, 0]
    own = slice(0, forest.forest_.leaf_start[1])
    n_rows = np.bincount(leaf, minlength=own.stop)
    np.testing.assert_allclose(np.exp(forest.leaves_.log_weight[own]) * forest.forest_.n_trees * N, n_rows)
    means = np.bincount(leaf, Scores()(loans()), own.stop) / n_rows
    np.testing.assert_allclose(forest.leaves_.mu[own, forest.leaves_.number_of[p]], means, rtol=1e-9)


def test_the_model_is_asked_once_about_every_row_that_is_not_kept(folder):
    model = Scores()
    explainer(model, held=HELD, relations=None).fit(folder)
    whole = Scores()
    explainer(whole, relations=None).fit(loans().iloc[:HELD])
    assert model.n_asked == N + whole.n_asked


def test_explanations_reach_their_target(large):
    X = loans()
    for row in (X.iloc[[5]], X.iloc[[PLACE_OF_RARE]]):
        other = 1 - int(Scores()(row)[0] >= 0.5)
        found = large.explain(row, other)
        assert len(found)
        assert ((Scores()(found.to_frame()[list(X.columns)]) >= 0.5).astype(int) == other).all()


def test_the_result_does_not_depend_on_the_pieces(large, folder, tmp_path):
    otherwise = written(loans(), tmp_path / "otherwise", (0, 333, 350, 1999))
    assert_same(explainer(held=HELD, n_jobs=2).fit(otherwise), large)
    dataframe = pytest.importorskip("dask.dataframe")
    partitioned = dataframe.from_pandas(pd.read_parquet(folder), npartitions=3, sort=False)
    assert_same(explainer(held=HELD).fit(partitioned), large)


@pytest.mark.parametrize("settings", [{"preset": "paper"}, {"measure": None}])
def test_other_settings_take_large_data_too(folder, settings):
    fitted = explainer(held=HELD, **settings).fit(folder)
    assert len(fitted.explain(loans().iloc[[5]]))


def test_several_classes(folder):
    fitted = explainer(ThreeClasses(), held=HELD, classes=("a", "b", "c")).fit(folder)
    assert fitted.background_.plausibility.forest.schema_.names[-1] == "predicted"
    assert len(fitted.explain(loans().iloc[[5]], "b"))


def test_a_fitted_forest_is_taken_as_it_is(large, folder):
    forest = AdversarialRandomForest(n_estimators=5, min_samples_leaf=5, max_iter=1, rows_in_memory=HELD).fit(folder)
    fitted = explainer(density=forest).fit(folder)
    assert fitted.background_.plausibility.forest is forest
    np.testing.assert_array_equal(fitted.kept_rows_, large.kept_rows_)


def test_files_keep_which_rows_were_kept(large, tmp_path):
    large.save(tmp_path / "explainer")
    loaded = ARFExplainer.load(tmp_path / "explainer", Scores())
    np.testing.assert_array_equal(loaded.kept_rows_, large.kept_rows_)
    assert loaded.describe() == large.describe()


def test_an_observed_outcome_is_refused_beyond_memory_and_taken_within(folder):
    y = np.arange(N) % 2
    with pytest.raises(DataError, match=r"2,000 rows, of which memory shall hold 400; y, and `outcome='observed'`"):
        explainer(held=HELD, outcome="observed").fit(folder, y)
    with pytest.raises(DataError, match="with a sample of the rows and their y"):
        NICEExplainer(
            Scores(), classes=(0, 1), only_correct=True, density=AdversarialRandomForest(rows_in_memory=HELD)
        ).fit(folder, y)
    observed = {"outcome": "observed", "relations": None, "classes": None}
    assert_same(explainer(**observed).fit(folder, y), explainer(**observed).fit(pd.read_parquet(folder), y))


def test_a_path_without_files_is_refused(tmp_path):
    with pytest.raises(DataError, match="There is no file or folder"):
        explainer().fit(tmp_path / "nowhere")


def test_a_category_that_no_kept_row_has_is_known_though_files_list_their_own_only(tmp_path):
    X = loans().astype({"region": str})
    partitions = [X.iloc[:1000], X.iloc[1000:1300], X.iloc[1300:]]
    for number, part in enumerate(partitions):
        part.astype({"region": "category"}).to_parquet(tmp_path / f"{number}.parquet")
    fitted = explainer(held=50).fit(tmp_path)
    assert "islands" in fitted.schema_.columns[-1].levels
    assert fitted.background_.n_rows == N


@pytest.mark.parametrize(
    "change", [{"rows_of_data": 300}, {"rows_of_data": "many"}, {"kept_rows": np.zeros(HELD, int)}]
)
def test_garbled_places_in_a_file_are_refused(large, tmp_path, change):
    meta, arrays = contents(large)
    meta |= {name: value for name, value in change.items() if name in meta}
    arrays |= {name: value for name, value in change.items() if name in arrays}
    write_archive(tmp_path / "explainer", meta, arrays)
    with pytest.raises(StorageError):
        ARFExplainer.load(tmp_path / "explainer", Scores())
