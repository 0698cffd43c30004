"""Growing: every leaf holds enough real rows, rules agree with the rows they moved, the best split is the best."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from countarfactuals.arf.forest import Forest, Layout, apply, code_columns, grow_forest
from countarfactuals.arf.grow import MAX_CODES, grow_tree

from .twins import fit, fitted, goes_left, leaf_of, mixed

NO_COLUMN = np.empty(0, np.int64)


def layout(*n_levels: int, ordered: tuple[int, ...] = ()) -> Layout:
    """Numbers (0) and unordered categories (their number of levels)."""
    levels = np.array(n_levels, np.int64)
    unordered = levels > 0
    unordered[list(ordered)] = False
    return Layout(levels, unordered, np.where(levels > 0, 1.0, 0.0))


def grow(matrix, of: Layout, *, synthetic=None, seed: int = 0, **options):
    coding = code_columns(matrix, of)
    rng = np.random.default_rng(seed)
    n = len(matrix)
    if synthetic is None:
        fake = np.stack([column[rng.integers(0, n, n)] for column in coding.codes])
    else:
        both = code_columns(np.concatenate([matrix, synthetic]), of)
        coding = both._replace(codes=both.codes[:, :n])
        fake = both.codes[:, n:]
    codes = np.ascontiguousarray(np.concatenate([coding.codes, fake], axis=1))
    settings = {"n_trees": 5, "max_features": 2, "always": NO_COLUMN, "min_real": 5, "n_drawn": round(0.6 * n)}
    return codes, grow_forest(codes, coding, of, **settings | {"rng": rng, "n_jobs": 1} | options)


def messy(n: int = 400, seed: int = 0) -> tuple[np.ndarray, Layout]:
    """Numbers, categories of 3, 64, 65 and 200 levels, an ordered one; missing values in most."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    columns = [z + rng.normal(0, 0.3, n), np.round(z, 1), rng.normal(size=n)]
    for levels in (3, 64, 65, 200, 5):
        columns.append(np.clip(np.floor((z + 2 + rng.normal(0, 0.4, n)) / 4 * levels), 0, levels - 1))
    matrix = np.stack(columns, axis=1)
    for j in (0, 3, 5, 6, 7):
        matrix[rng.random(n) < 0.15, j] = np.nan
    matrix[z > 1, 1] = np.nan
    return matrix, layout(0, 0, 0, 3, 64, 65, 200, 5, ordered=(7,))


@pytest.mark.parametrize("seed", range(4))
def test_rows_end_in_the_leaf_that_lists_them(seed):
    matrix, of = messy(seed=seed)
    _, growth = grow(matrix, of, min_real=3, max_features=1, n_trees=10, seed=seed)
    forest, members = growth.forest, growth.members
    assert {*range(8)} <= {*forest.feature.tolist()}  # every column is split on somewhere
    leaves = apply(forest, matrix)
    for tree in range(forest.n_trees):
        own = range(forest.leaf_start[tree], forest.leaf_start[tree + 1])
        listed = [members.rows[tree, members.start[leaf] : members.stop[leaf]] for leaf in own]
        np.testing.assert_array_equal(np.sort(np.concatenate(listed)), np.arange(len(matrix)))
        for leaf, rows in zip(own, listed, strict=True):
            assert (leaves[rows, tree] == leaf).all()


@pytest.mark.parametrize("seed", range(2))
def test_apply_agrees_with_a_walk_in_python(seed):
    matrix, of = messy(n=150, seed=seed)
    forest = grow(matrix, of, min_real=2, max_features=4, n_trees=3, seed=seed)[1].forest
    slow = [[leaf_of(forest, tree, row) for tree in range(3)] for row in matrix]
    np.testing.assert_array_equal(apply(forest, matrix), slow)


@pytest.mark.parametrize("min_real", [1, 2, 7, 40, 1000])
def test_leaves_hold_the_least_number_of_real_rows_in_bag(min_real):
    matrix, of = messy()
    codes, _ = grow(matrix, of)
    n_sets = np.where(of.unordered, of.n_levels, 0)
    n = len(matrix)
    for seed in range(5):
        votes, n_votes = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.int32)
        tree = grow_tree(codes, n_sets, 3, NO_COLUMN, min_real, 250, np.uint64(seed), votes, n_votes)
        out_of_bag = n_votes > 0
        assert out_of_bag[:n].sum() == out_of_bag[n:].sum() == n - 250
        in_bag = [(~out_of_bag[tree.rows[start:stop]]).sum() for start, stop in pairwise(tree.leaf_start)]
        assert sum(in_bag) == 250
        assert min(in_bag) >= min(min_real, 250)
        assert len(in_bag) > 1 or min_real == 1000


def test_structure_of_a_forest():
    matrix, of = messy()
    forest: Forest = grow(matrix, of)[1].forest
    inner = np.flatnonzero(forest.feature >= 0)
    assert len(forest.feature) == 2 * forest.n_leaves - forest.n_trees
    np.testing.assert_array_equal(forest.parent[forest.child[inner]], inner)
    np.testing.assert_array_equal(forest.parent[forest.child[inner] + 1], inner)
    np.testing.assert_array_equal(np.flatnonzero(forest.parent < 0), forest.root)
    np.testing.assert_array_equal(forest.child[forest.leaf_node], np.arange(forest.n_leaves))
    depths = [0 if forest.parent[node] < 0 else None for node in range(len(forest.feature))]
    for node in range(len(depths)):
        if depths[node] is None:
            depths[node] = depths[forest.parent[node]] + 1
    assert forest.depth == max(depths)


# A twin of the best split


def gini_decrease(left: np.ndarray, is_real: np.ndarray) -> float:
    def gini(part):
        share = part.mean()
        return 2 * share * (1 - share) * len(part)

    return gini(is_real) - gini(is_real[left]) - gini(is_real[~left])


def all_splits(column: np.ndarray, n_levels: int):
    """Every split of a number (missing on either side or alone), or every two-set split of a category."""
    blank = np.isnan(column)
    if n_levels:
        keys = np.where(blank, n_levels, column).astype(int)
        present = np.unique(keys)
        for choice in range(1, 2 ** len(present) - 1):
            yield np.isin(keys, present[[bool(choice >> k & 1) for k in range(len(present))]])
        return
    for value in np.unique(column[~blank]):
        yield column <= value
        yield (column <= value) | blank


def best_decreases(matrix, of, is_real, min_real) -> tuple[float, float, float]:
    """The best of all splits with enough real rows on both sides; of those but categories; of all splits."""
    best = best_number = best_free = 0.0
    for j in range(matrix.shape[1]):
        n_levels = of.n_levels[j] if of.unordered[j] else 0
        for left in all_splits(matrix[:, j], n_levels):
            if left.all() or not left.any():
                continue
            decrease = gini_decrease(left, is_real)
            best_free = max(best_free, decrease)
            if min(is_real[left].sum(), is_real[~left].sum()) >= min_real:
                best = max(best, decrease)
                best_number = max(best_number, 0.0 if n_levels else decrease)
    return best, best_number, best_free


@pytest.mark.parametrize("seed", range(25))
def test_first_split_is_the_best_of_all(seed):
    """At a node of 14 + 14 rows cuts are exact (fewer codes than bins).

    Ordering levels by their share finds the best two sets, where the least number of rows does not rule them out.
    """
    rng = np.random.default_rng(seed)
    of = layout(0, 0, 6, 4, ordered=(3,))
    n, min_real = 15, int(rng.integers(1, 5))

    def rows():
        drawn = np.stack([rng.normal(size=n), np.round(rng.normal(size=n), 1), *rng.integers(0, (6, 4), (n, 2)).T], 1)
        drawn[rng.random((n, 4)) < 0.15] = np.nan
        return drawn

    real, fake = rows(), rows()
    real[:, 2] = np.where(rng.random(n) < 0.3, 1, real[:, 2])
    # one row of each kind is out of bag: it moves with the others but has no say
    codes, growth = grow(real, of, synthetic=fake, n_trees=1, max_features=4, min_real=min_real, n_drawn=n - 1)
    votes, n_votes = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.int32)
    grow_tree(
        codes,
        np.where(of.unordered, of.n_levels, 0),
        4,
        NO_COLUMN,
        min_real,
        n - 1,
        seed_of_first_tree(seed=0),
        votes,
        n_votes,
    )
    in_bag = n_votes == 0
    assert in_bag.sum() == 2 * (n - 1)
    matrix, is_real = np.concatenate([real, fake])[in_bag], (np.arange(2 * n) < n)[in_bag]
    best, best_number, best_free = best_decreases(matrix, of, is_real, min_real)
    forest = growth.forest
    assert forest.feature[0] >= 0
    left = np.array([_goes(forest, row) for row in matrix])
    assert min(is_real[left].sum(), is_real[~left].sum()) >= min_real
    found = gini_decrease(left, is_real)
    assert best_number - 1e-9 <= found <= best + 1e-9
    if best == best_free:
        assert found == pytest.approx(best, rel=1e-9)


def seed_of_first_tree(seed: int) -> np.uint64:
    return np.random.default_rng(seed).integers(0, 2**64, size=1, dtype=np.uint64)[0]


def _goes(forest, row) -> bool:
    return goes_left(forest, 0, row[forest.feature[0]])


def test_wide_columns_are_cut_in_bins_that_adapt():
    """One column, real rows in (0.3, 0.31) of 20,000 distinct ones: the first cuts must find the place."""
    rng = np.random.default_rng(2)
    fake = rng.random((4000, 1))
    real = np.where(rng.random((4000, 1)) < 0.5, 0.3 + 0.01 * rng.random((4000, 1)), rng.random((4000, 1)))
    _, growth = grow(real, layout(0), synthetic=fake, n_trees=1, max_features=1, min_real=50, n_drawn=3000)
    cuts = growth.forest.threshold[np.isfinite(growth.forest.threshold)]
    assert np.abs(cuts - 0.30).min() < 0.002
    assert np.abs(cuts - 0.31).min() < 0.002


# What the estimator asks of it


def test_always_split_columns_are_tried_at_every_node():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(400, 1))
    X = pd.DataFrame(np.hstack([z + 0.2 * rng.normal(size=(400, 2)), rng.normal(size=(400, 18))]))
    often = {}
    for always in ((), (0, 1)):
        feature = fit(X, always_split=always, max_features=1, n_estimators=20, min_samples_leaf=20).forest_.feature
        often[always] = np.isin(feature[feature >= 0], [0, 1]).mean()
    assert often[()] < 0.4
    assert often[0, 1] > 0.8


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_the_forest_does_not_depend_on_threads(n_jobs):
    one, many = fitted("mixed"), fit(mixed(), min_samples_leaf=12, n_jobs=n_jobs)
    assert one.accuracies_ == many.accuracies_
    for name in one.forest_._fields:
        np.testing.assert_array_equal(getattr(one.forest_, name), getattr(many.forest_, name))
    for one_part, other_part in ((one.leaves_, many.leaves_), (one.leaves_.values, many.leaves_.values)):
        for name in set(one_part._fields) - {"values", "copula"}:
            np.testing.assert_array_equal(getattr(one_part, name), getattr(other_part, name))


def test_another_seed_gives_another_forest():
    one, other = fitted("mixed"), fit(mixed(), min_samples_leaf=12, random_state=2)
    assert one.score(mixed()) != other.score(mixed())
    again = fit(mixed(), min_samples_leaf=12)
    assert one.score(mixed()) == again.score(mixed())


def test_cuts_of_a_grid_lie_between_its_points():
    arf = fitted("complete")
    for name, step in (("price", 0.01), ("age", 1.0)):
        j = arf.schema_.index(name)
        cuts = arf.forest_.threshold[arf.forest_.feature == j]
        cuts = cuts[np.isfinite(cuts)]
        assert len(cuts) > 5
        np.testing.assert_allclose(cuts / step % 1.0, 0.5, atol=1e-6)


# Sizes and shapes


def test_constant_columns():
    X = pd.DataFrame(
        {
            "x": np.random.default_rng(0).normal(size=100),
            "integer": 3,
            "real": 0.25,
            "pi": np.pi,
            "level": pd.Categorical(["a"] * 100),
            "true": True,
        }
    )
    arf = fit(X)
    assert np.isfinite(arf.score_samples(X)).all()
    drawn = arf.sample(50, random_state=1)
    np.testing.assert_allclose(drawn["integer"], 3, atol=1)
    np.testing.assert_allclose(drawn["real"], 0.25, atol=0.011)
    np.testing.assert_allclose(drawn["pi"], np.pi, rtol=1e-6)
    assert (drawn["level"] == "a").all()


def test_constant_columns_are_drawn_as_they_are():
    X = pd.DataFrame({"x": np.random.default_rng(0).normal(size=100), "integer": 3, "real": 0.25})
    drawn = fit(X).sample(500, random_state=1)
    assert (drawn["integer"] == 3).all()
    assert (drawn["real"] == 0.25).all()


@pytest.mark.parametrize("family", ["truncnorm", "uniform"])
@pytest.mark.parametrize("finite_bounds", [None, "local", "global"])
@pytest.mark.parametrize("epsilon", [0.0, 0.01])
def test_constant_columns_under_all_options(family, finite_bounds, epsilon):
    """A row of the data can not have density 0, whatever stands for the room of a constant."""
    X = pd.DataFrame({"x": np.linspace(0.1, 1.1, 60) ** 2, "constant": 5.0})
    arf = fit(X, family=family, finite_bounds=finite_bounds, epsilon=epsilon)
    inside = X.iloc[1:-1]  # with epsilon = 0 the smallest value is outside (low, high]
    assert np.isfinite(arf.score_samples(inside)).all()
    assert np.isfinite(arf.score_samples(inside[["x"]])).all()
    np.testing.assert_allclose(arf.sample(20, random_state=1)["constant"], 5.0, atol=2)


def test_nothing_but_constants():
    X = pd.DataFrame({"a": [1.5] * 10, "b": ["x"] * 10})
    arf = fit(X)
    assert arf.forest_.n_leaves == arf.forest_.n_trees
    assert np.isfinite(arf.score(X))
    assert (arf.sample(5, random_state=1)["b"] == "x").all()


def test_a_distinct_value_per_row():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": rng.permutation(300), "name": [f"row {i}" for i in range(300)], "x": rng.normal(size=300)})
    arf = fit(X)
    assert np.isfinite(arf.score_samples(X)).all()
    drawn = arf.sample(100, random_state=1)
    assert set(drawn["name"]) <= set(X["name"])
    assert drawn["name"].nunique() > 50


def test_one_feature():
    X = pd.DataFrame({"x": np.random.default_rng(0).normal(size=300)})
    arf = fit(X, n_estimators=10)
    assert abs(arf.accuracies_[-1] - 0.5) < 0.12
    assert arf.score(X) == pytest.approx(-0.5 * np.log(2 * np.pi * np.e), abs=0.15)


def test_two_rows():
    X = pd.DataFrame({"x": [1.0, 2.0], "c": ["a", "b"]})
    arf = fit(X)
    assert np.isfinite(arf.score_samples(X)).all()
    assert len(arf.sample(7)) == 7


def test_three_hundred_features():
    X = np.random.default_rng(0).normal(size=(80, 300))
    arf = fit(X, n_estimators=5)
    assert np.isfinite(arf.score_samples(X)).all()
    assert arf.sample(4, random_state=1).shape == (4, 300)
    assert arf.expect(given={"x0": 1.0}).shape == (1, 299)


def test_a_thousand_levels():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 1000, 1500)
    X = pd.DataFrame({"zip": np.array([f"z{k:04}" for k in range(1000)])[code], "x": code + rng.normal(0, 20, 1500)})
    arf = fit(X, n_estimators=5, min_samples_leaf=20)
    assert np.isfinite(arf.score_samples(X)).all()
    probabilities = arf.expect(columns=["zip"])
    assert probabilities.to_numpy().sum() == pytest.approx(1)
    near = arf.sample(300, given={"x": (200.0, 210.0)}, random_state=1)["zip"].str[1:].astype(int)
    far = arf.sample(300, given={"x": (800.0, 810.0)}, random_state=1)["zip"].str[1:].astype(int)
    assert near.median() + 200 < far.median()


@pytest.mark.full
def test_more_distinct_values_than_codes():
    rng = np.random.default_rng(0)
    n = MAX_CODES + 5000
    x = rng.normal(size=n)
    X = pd.DataFrame({"x": x, "y": x + rng.normal(size=n)})
    coding = code_columns(X.to_numpy(), layout(0, 0))
    assert coding.codes.max() == MAX_CODES - 1
    for j, name in enumerate(("x", "y")):
        assert (coding.lowest[j][coding.codes[j]] <= X[name]).all()
        assert (coding.highest[j][coding.codes[j]] >= X[name]).all()
        assert (coding.highest[j][:-1] < coding.lowest[j][1:]).all()
    arf = fit(X, n_estimators=2, max_iter=1, min_samples_leaf=120)
    leaves = apply(arf.forest_, X.to_numpy())
    counts = np.bincount(leaves.ravel(), minlength=arf.forest_.n_leaves)
    np.testing.assert_allclose(counts / counts.sum(), arf.leaves_.coverage)
    # the truth is −log 2π − 1 = −2.838; a forest of 2 trees is a little below it
    assert arf.score(X) == pytest.approx(-2.838, abs=0.1)
