"""Forests of data in pieces, and forests that are joined, against those of the same rows in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

from countarfactuals import AdversarialRandomForest
from countarfactuals.arf import leaf_sums
from countarfactuals.arf.grown_on_parts import Dealing, deal, settings_of_part
from countarfactuals.datasets import load_loan
from countarfactuals.exceptions import DataError, ParameterError
from countarfactuals.schema import Schema
from countarfactuals.schema.sketches import infer_sketched, sketch

SMALL = {"n_estimators": 8, "min_samples_leaf": 5, "max_iter": 1, "random_state": 1}


def loan(n: int = 2000, *, missing: bool = True) -> pd.DataFrame:
    return load_loan(n=n, missing=missing).X


@pytest.fixture
def folder(tmp_path):
    """A folder with the loans in three files of Parquet."""
    table = pa.Table.from_pandas(loan(), preserve_index=False)
    for number, start in enumerate((0, 700, 1500)):
        pa.parquet.write_table(table[start : start + (800 if start else 700)], tmp_path / f"{number}.parquet")
    return tmp_path


# schema


def test_the_schema_of_pieces_is_that_of_the_table(folder):
    table = pa.dataset.dataset(folder).to_table()
    pieces = [table[start : start + 150] for start in range(0, len(table), 150)]
    for most in (5_000, 300):
        found = sketch(iter(pieces), lambda p, most=most: most)
        assert infer_sketched(found).columns == Schema.infer(table).columns
        assert found.is_whole == (most == 5_000)


def test_what_only_few_rows_have_is_in_the_schema():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"x": np.round(rng.normal(size=4000), 1), "c": rng.choice(["a", "b"], 4000), "n": 7 * np.arange(4000)}
    )
    X.loc[17, ["x", "c"]] = 0.125, "rare"
    X.loc[18, "n"] = -1
    found = sketch(iter([X[:2000], X[2000:]]), lambda p: 50)
    schema = infer_sketched(found)
    assert "rare" in schema.columns[1].levels
    assert schema.columns[0].decimals == 3
    assert schema.columns[2].low == -np.inf
    assert schema.columns == Schema.infer(X).columns


def test_the_sample_of_a_sketch_is_uniform():
    X = pd.DataFrame({"x": np.arange(20_000)})
    found = sketch((X[k : k + 1000] for k in range(0, 20_000, 1000)), lambda p: 2000)
    chosen = found.sample["x"].to_numpy()
    assert len(chosen) == 2000
    assert (np.diff(chosen) > 0).all()
    share = np.histogram(chosen, 10, (0, 20_000))[0]
    assert abs(share - 200).max() < 5 * np.sqrt(200)


# growing and fitting


def test_data_that_memory_holds_gives_the_same_forest_whatever_it_is_read_from(folder):
    whole = AdversarialRandomForest(**SMALL).fit(pa.dataset.dataset(folder).to_table())
    for source in (folder, str(folder), pa.dataset.dataset(folder)):
        forest = AdversarialRandomForest(**SMALL).fit(source)
        np.testing.assert_array_equal(forest.score_samples(loan().head(50)), whole.score_samples(loan().head(50)))


@pytest.mark.parametrize(
    "options", [{}, {"dependence": (1.0, 10.0)}, {"leaf_fit": "moments", "finite_bounds": "local"}]
)
def test_one_part_grows_the_forest_of_all_rows_and_leaves_differ_by_rounding(options, monkeypatch):
    monkeypatch.setattr(leaf_sums, "BLOCK", 333)  # so that there are several
    X = loan()
    schema = Schema.infer(X)
    matrix = schema.encode(X)
    whole = AdversarialRandomForest(**SMALL | options).fit_encoded(schema, matrix, quiet=True)
    batches = [matrix[k : k + 333] for k in range(0, len(matrix), 333)]
    parts = AdversarialRandomForest(**SMALL | options).fit_batches(schema, lambda: iter(batches), len(matrix))
    np.testing.assert_array_equal(parts.forest_.threshold, whole.forest_.threshold)
    np.testing.assert_array_equal(parts.leaves_.log_weight, whole.leaves_.log_weight)
    np.testing.assert_allclose(parts.leaves_.missing, whole.leaves_.missing, rtol=1e-12)
    np.testing.assert_array_equal(parts.leaves_.level, whole.leaves_.level)
    np.testing.assert_allclose(parts.leaves_.level_logp, whole.leaves_.level_logp, rtol=1e-12)
    np.testing.assert_allclose(parts.leaves_.mu, whole.leaves_.mu, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(parts.leaves_.sigma, whole.leaves_.sigma, rtol=1e-6)
    np.testing.assert_allclose(parts.score_samples(X), whole.score_samples(X), atol=1e-6)


def test_several_parts_give_the_same_bits_for_any_number_of_threads(folder):
    forests = [
        AdversarialRandomForest(**SMALL, rows_in_memory=600, n_jobs=n_jobs).fit(folder) for n_jobs in (1, 2, None)
    ]
    scores = [forest.score_samples(loan().head(50)) for forest in forests]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])
    assert forests[0].forest_.n_trees == 8


def test_leaves_of_parts_tell_of_all_rows():
    X = loan()
    schema = Schema.infer(X)
    matrix = schema.encode(X)
    forest = AdversarialRandomForest(**SMALL, rows_in_memory=300).fit_batches(schema, lambda: iter([matrix]), len(X))
    np.testing.assert_allclose(np.exp(forest.leaves_.log_weight).sum(), 1.0)
    n_rows = np.exp(forest.leaves_.log_weight) * len(X) * forest.forest_.n_trees
    np.testing.assert_allclose(n_rows, np.rint(n_rows), atol=1e-6)
    own = slice(0, forest.forest_.leaf_start[1])
    assert n_rows[own].sum() == pytest.approx(len(X))


def test_rows_are_dealt_once_and_evenly(tmp_path):
    matrix = np.arange(4000.0)[:, None]
    dealt = deal(iter([matrix[:1000], matrix[1000:]]), Dealing(4000, 1, 4, 10_000, 3), tmp_path)
    parts = [dealt.part(k)[:, 0] for k in range(4)]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), matrix[:, 0])
    assert all(abs(len(part) - 1000) < 150 for part in parts)
    (tmp_path / "few").mkdir()
    few = deal(iter([matrix]), Dealing(4000, 1, 4, 100, 3), tmp_path / "few")
    assert all(60 < len(few.part(k)) < 140 for k in range(4))


@pytest.mark.parametrize("first", [0, 1, 65_535, 65_536, 100_000])
def test_the_part_of_a_row_depends_on_its_place_alone(first):
    dealing = Dealing(200_000, 1, 8, 20_000, 3)
    whole = dealing.part_of(0, 200_000)
    for n in (0, 1, 65_537):
        np.testing.assert_array_equal(dealing.part_of(first, n), whole[first : first + n])
    share = np.bincount(whole, minlength=10)[:10]
    assert abs(share - 20_000).max() < 5 * np.sqrt(20_000)  # 40,000 rows are of none


@pytest.mark.parametrize("sizes", [[1000], [1, 2, 0, 300, 697], [250, 100, 250, 400]])
def test_blocks_have_one_size_whatever_the_batches(sizes, monkeypatch):
    monkeypatch.setattr(leaf_sums, "BLOCK", 250)
    matrix = np.arange(1000.0)[:, None]
    blocks = list(leaf_sums.in_blocks(iter(np.split(matrix, np.cumsum(sizes)[:-1]))))
    assert [len(block) for block in blocks] == [250] * 4
    np.testing.assert_array_equal(np.concatenate(blocks), matrix)


def test_the_forest_does_not_depend_on_the_batches(monkeypatch):
    monkeypatch.setattr(leaf_sums, "BLOCK", 500)
    X = loan()
    schema = Schema.infer(X)
    matrix = schema.encode(X)
    fitted = [
        AdversarialRandomForest(**SMALL, rows_in_memory=600).fit_batches(
            schema, lambda size=size: (matrix[k : k + size] for k in range(0, len(matrix), size)), len(matrix)
        )
        for size in (2000, 333)
    ]
    np.testing.assert_array_equal(fitted[0].forest_.threshold, fitted[1].forest_.threshold)
    np.testing.assert_array_equal(fitted[0].score_samples(X), fitted[1].score_samples(X))


# joining


def halves(*, missing: bool = False) -> tuple[pd.DataFrame, list[AdversarialRandomForest]]:
    X = loan(missing=missing)
    schema = Schema.infer(X)
    complete = X[X.notna().all(axis=1)]
    forests = [
        AdversarialRandomForest(**SMALL, dependence=(1.0, 10.0)).fit_encoded(schema, schema.encode(complete[:900])),
        AdversarialRandomForest(**SMALL | {"n_estimators": 4}, dependence=None).fit_encoded(
            schema, schema.encode(X[900:]), quiet=True
        ),
    ]
    return complete.head(100), forests


@pytest.mark.parametrize("missing", [False, True])
def test_the_density_of_merged_forests_is_their_mean_by_trees(missing, tmp_path):
    rows, forests = halves(missing=missing)
    own = [forest.score_samples(rows) for forest in forests]
    merged = forests[0].merge(forests[1])
    expected = np.logaddexp(own[0] + np.log(2 / 3), own[1] + np.log(1 / 3))
    np.testing.assert_allclose(merged.score_samples(rows), expected, rtol=1e-9)
    given = {"age": (25, 40), "housing": "own"}
    own_given = np.array([forest.log_probability(given) for forest in forests])
    assert merged.log_probability(given) == pytest.approx(np.log(np.exp(own_given) @ [2 / 3, 1 / 3]), rel=1e-6)
    merged.save(tmp_path / "merged.arf")
    again = AdversarialRandomForest.load(tmp_path / "merged.arf")
    np.testing.assert_array_equal(again.score_samples(rows), merged.score_samples(rows))
    assert len(again.sample(20, random_state=1)) == 20


def test_merging_keeps_the_forests_and_takes_lists():
    rows, forests = halves()
    before = forests[0].score_samples(rows)
    assert forests[0].merge([forests[1], forests[0]]).forest_.n_trees == 20
    np.testing.assert_array_equal(forests[0].score_samples(rows), before)


def test_what_can_not_be_merged_is_refused():
    _, forests = halves()
    X = loan(missing=False)
    with pytest.raises(DataError, match="other kinds, levels, decimals or values in 'age'"):
        forests[0].merge(AdversarialRandomForest(**SMALL).fit(X.assign(age=X["age"] + 0.25)))
    with pytest.raises(DataError, match="has the columns"):
        forests[0].merge(AdversarialRandomForest(**SMALL).fit(X[["age", "income"]]))
    with pytest.raises(ParameterError, match="merge takes fitted forests, got str"):
        forests[0].merge(["forest"])


def test_a_path_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataError, match="no file or folder"):
        AdversarialRandomForest().fit(tmp_path / "nothing")


def test_leaves_of_a_part_hold_as_many_of_all_rows_as_those_of_the_whole():
    from countarfactuals.arf.adversarial import Settings

    whole = Settings(100, 4, np.empty(0, np.int64), 40, 100_000, 10, 0.0, True)
    part = settings_of_part(whole, 20_000, 13, is_only=False)
    assert part.n_trees == 13
    assert part.n_drawn == 18_000
    assert part.min_real == round(40 * 0.18)
