"""FORDE: parameters of the leaves against plain NumPy on the rows that each leaf holds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from countarfactuals.arf.forest import apply

from .twins import fit, fitted, mixed, reaching, two_sines

FORESTS = pytest.mark.parametrize("name", ["complete", "mixed", "mixed_moments", "mixed_uniform"])


def rows_of_leaves(arf, X) -> list[np.ndarray]:
    """The rows of each leaf, by walking the trees again."""
    leaves = apply(arf.forest_, arf.schema_.encode(X))
    tree = np.searchsorted(arf.forest_.leaf_start, np.arange(arf.forest_.n_leaves), side="right") - 1
    return [np.flatnonzero(leaves[:, t] == leaf) for leaf, t in enumerate(tree)]


def data_of(name: str) -> pd.DataFrame:
    return mixed(missing=name != "complete")


@FORESTS
def test_coverage(name):
    arf, X = fitted(name), data_of(name)
    sizes = np.array([len(rows) for rows in rows_of_leaves(arf, X)])
    np.testing.assert_allclose(arf.leaves_.coverage, sizes / len(X) / arf.forest_.n_trees)
    assert arf.leaves_.coverage.sum() == pytest.approx(1)


@FORESTS
def test_shares_of_missing_values(name):
    arf, X = fitted(name), data_of(name)
    blank, leaves = X.isna().to_numpy(), arf.leaves_
    np.testing.assert_array_equal(leaves.missing_of >= 0, blank.any(axis=0))
    share = np.exp(leaves.missing)
    np.testing.assert_allclose(share.sum(axis=2), 1)
    for j in np.flatnonzero(leaves.missing_of >= 0):
        missing_reaches = reaching(arf.forest_, j, np.nan)
        for leaf, rows in enumerate(rows_of_leaves(arf, X)):
            found = share[leaf, leaves.missing_of[j], 0]
            shrunk = (blank[rows, j].sum() + 0.1 * blank[:, j].mean()) / (len(rows) + 0.1)
            if not missing_reaches[leaf]:
                assert found == 0
                assert not blank[rows, j].any()
            elif found == 1:
                assert blank[rows, j].all()
            else:
                assert found == pytest.approx(shrunk)


@FORESTS
def test_level_shares(name):
    arf, X = fitted(name), data_of(name)
    matrix, leaves = arf.schema_.encode(X), arf.leaves_
    n_categories = leaves.rest_logp.shape[1]
    rows_of = rows_of_leaves(arf, X)
    for j in np.flatnonzero(leaves.n_levels):
        n_levels, c = leaves.n_levels[j], leaves.category_of[j]
        can_reach = np.stack([reaching(arf.forest_, j, float(level)) for level in range(n_levels)], axis=1)
        for leaf, rows in enumerate(rows_of):
            if not can_reach[leaf].any():
                continue
            values = matrix[rows, j]
            counts = np.bincount(values[~np.isnan(values)].astype(int), minlength=n_levels)
            alpha = min(0.1, 0.2 / n_levels)
            expected = np.where(can_reach[leaf], counts + alpha, 0) / (counts.sum() + alpha * can_reach[leaf].sum())
            found = np.where(can_reach[leaf], np.exp(leaves.rest_logp[leaf, c]), 0)
            part = slice(leaves.level_start[leaf * n_categories + c], leaves.level_start[leaf * n_categories + c + 1])
            found[leaves.level[part]] = np.exp(leaves.level_logp[part])
            np.testing.assert_allclose(found, expected)


@FORESTS
def test_bounds_are_the_cuts_on_the_way(name):
    arf, X = fitted(name), data_of(name)
    matrix, leaves, forest = arf.schema_.encode(X), arf.leaves_, arf.forest_
    data_low, data_high = np.nanmin(matrix, axis=0), np.nanmax(matrix, axis=0)
    for leaf in range(forest.n_leaves):
        low, high = np.full(matrix.shape[1], -np.inf), np.full(matrix.shape[1], np.inf)
        node = forest.leaf_node[leaf]
        while forest.parent[node] >= 0:
            above = forest.parent[node]
            j, cut = forest.feature[above], forest.threshold[above]
            if node == forest.child[above]:
                high[j] = min(high[j], cut) if forest.words[above] < 0 else high[j]
            elif forest.words[above] < 0 and cut < np.inf:
                low[j] = max(low[j], cut)
            node = above
        for j in np.flatnonzero(leaves.number_of >= 0):
            q = leaves.number_of[j]
            if arf.family == "uniform":  # closes open ends at the data's range and half of epsilon on each side
                margin = 0.005 * (data_high[j] - data_low[j])
                low[j] = data_low[j] - margin if low[j] == -np.inf else low[j]
                high[j] = data_high[j] + margin if high[j] == np.inf else high[j]
            assert leaves.low[leaf, q] == pytest.approx(low[j])
            assert leaves.high[leaf, q] == pytest.approx(high[j])
    for leaf, rows in enumerate(rows_of_leaves(arf, X)):
        numbers = matrix[rows][:, leaves.number_of >= 0]
        assert ((numbers > leaves.low[leaf]) & (numbers <= leaves.high[leaf]) | np.isnan(numbers)).all()


def test_moments():
    arf, X = fitted("mixed_moments"), mixed()
    matrix, leaves = arf.schema_.encode(X), arf.leaves_
    compared = 0
    for leaf, rows in enumerate(rows_of_leaves(arf, X)):
        for j in np.flatnonzero(leaves.number_of >= 0):
            values = matrix[rows, j]
            values = values[~np.isnan(values)]
            if len(np.unique(values)) > 1:
                assert leaves.mu[leaf, leaves.number_of[j]] == pytest.approx(values.mean())
                assert leaves.sigma[leaf, leaves.number_of[j]] == pytest.approx(values.std(ddof=1))
                compared += 1
    assert compared > 100


def test_likelihood_is_at_least_that_of_moments():
    """Same trees, so the in-sample log density may only rise, leaf by leaf and in the mean."""
    likelihood, moments = fitted("two_sines"), fitted("moments")
    for name in likelihood.forest_._fields:
        np.testing.assert_array_equal(getattr(likelihood.forest_, name), getattr(moments.forest_, name))
    X = two_sines()
    columns = X.to_numpy()
    losses = 0
    for leaf, rows in enumerate(rows_of_leaves(likelihood, X)):
        for q in range(2):
            sums = []
            for leaves in (likelihood.leaves_, moments.leaves_):
                z = (columns[rows, q] - leaves.mu[leaf, q]) / leaves.sigma[leaf, q]
                sums.append((leaves.log_norm[leaf, q] - 0.5 * z**2).sum())
            losses += sums[0] < sums[1] - 1e-2  # to which a leaf is fitted
    assert losses == 0
    assert likelihood.score(X) > moments.score(X)


def test_uniform_bounds_and_density():
    arf, X = fitted("uniform"), two_sines()
    leaves = arf.leaves_
    assert np.isinf(leaves.sigma).all()
    np.testing.assert_allclose(leaves.log_norm, -np.log(leaves.high - leaves.low))
    margin = 0.005 * np.ptp(X.to_numpy(), axis=0)
    np.testing.assert_allclose(leaves.low.min(axis=0), X.min() - margin)
    np.testing.assert_allclose(leaves.high.max(axis=0), X.max() + margin)


def test_local_bounds_close_open_ends_at_the_leaf():
    arf, X = fitted("local"), two_sines()
    open_ = fitted("two_sines").leaves_
    for leaf, rows in enumerate(rows_of_leaves(arf, X)):
        values = X.to_numpy()[rows]
        margin = 0.05 * np.ptp(values, axis=0)
        is_open = np.isinf(open_.low[leaf])
        np.testing.assert_allclose(arf.leaves_.low[leaf][is_open], (values.min(axis=0) - margin)[is_open])
        is_open = np.isinf(open_.high[leaf])
        np.testing.assert_allclose(arf.leaves_.high[leaf][is_open], (values.max(axis=0) + margin)[is_open])


def test_alpha_zero_leaves_unseen_levels_out():
    X = pd.DataFrame({"c": ["a"] * 50 + ["b"] * 50, "x": np.r_[np.linspace(0, 1, 50), np.linspace(5, 6, 50)]})
    arf = fit(X, alpha=0.0)
    assert (arf.leaves_.rest_logp == -np.inf).all()
    assert arf.score_samples(pd.DataFrame({"c": ["a"], "x": [0.5]}))[0] > -3
    shares = fit(X, alpha=5.0).expect(columns=["c"], given={"x": 0.5}).to_numpy()[0]
    assert shares[1] > arf.expect(columns=["c"], given={"x": 0.5}).to_numpy()[0, 1]


def test_a_leaf_with_missing_values_only_spreads_over_its_room():
    """Given that the cell is present, a leaf that saw none can not know its value to one grid step."""
    rng = np.random.default_rng(0)
    n = 300
    z = rng.random(n) < 0.5
    X = pd.DataFrame(
        {"z": np.where(z, 10.0, 0.0) + rng.normal(size=n), "x": np.where(z, np.nan, rng.integers(0, 1000, n))}
    )
    arf = fit(X, min_samples_leaf=40, n_estimators=20)
    q = arf.leaves_.number_of[1]
    empty = [leaf for leaf, rows in enumerate(rows_of_leaves(arf, X)) if X["x"].iloc[rows].isna().all()]
    reachable = [leaf for leaf in empty if arf.leaves_.missing[leaf, 0, 1] > -np.inf]
    assert reachable
    low = np.maximum(arf.leaves_.low[reachable, q], X["x"].min())
    high = np.minimum(arf.leaves_.high[reachable, q], X["x"].max())
    assert (arf.leaves_.sigma[reachable, q] > 0.3 * (high - low)).all()


def test_missing_categories_in_a_leaf_of_their_own():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = pd.DataFrame({"x": x, "c": np.where(x > 0.5, None, rng.choice(["a", "b", "c"], 300))})
    arf = fit(X, max_features=None)
    only_missing = arf.leaves_.missing[:, 0, 1] == -np.inf
    assert only_missing.any()
    assert np.isfinite(arf.score_samples(X)).all()
    assert arf.sample(500, given={"x": (1.0, 2.0)}, random_state=1)["c"].isna().mean() > 0.8
