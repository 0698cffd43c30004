"""Dependence inside leaves: a Gaussian copula that keeps marginals, integrals and conditions exact."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm, truncnorm

from countarfactuals import MISSING, AdversarialRandomForest
from countarfactuals.arf import copula as copulas
from countarfactuals.arf import joint
from countarfactuals.arf.archive import read_archive, write_archive
from countarfactuals.arf.copula import ABREAST, Copula, invert, no_copula, with_scores
from countarfactuals.arf.dependence import Dependence, independent
from countarfactuals.arf.evidence import Evidence
from countarfactuals.arf.forest import apply
from countarfactuals.arf.leaves import first_columns
from countarfactuals.arf.tree_walk import log_density
from countarfactuals.arf.truncnorm import ndtri_, quick_ndtr_, quick_ndtri_, truncated_ppf
from countarfactuals.datasets import load_loan
from countarfactuals.exceptions import ParameterError

from .twins import called, fit, leaf_of, mixed, pieces_of, quadrature

score_in, value_of_score = called(copulas.score_in), called(copulas.value_of_score)
pass_on, truncated_moments = called(joint.pass_on), called(joint.truncated_moments)

STRONG = Dependence(1.0, 5.0)


class Cell(NamedTuple):
    """As much of a `LeafTable` as scores need."""

    low: np.ndarray
    high: np.ndarray
    mu: np.ndarray
    sigma: np.ndarray
    copula: Copula


@cache
def correlated(n: int = 600, q: int = 3) -> pd.DataFrame:
    """Numbers that depend on each other within every leaf, and a category."""
    rng = np.random.default_rng(5)
    common = rng.normal(size=n)
    columns = {f"x{j}": (j + 1) * (common + 0.6 * rng.normal(size=n)) + 3 * j for j in range(q)}
    return pd.DataFrame(columns | {"c": np.where(common + rng.normal(size=n) > 0, "a", "b")})


@cache
def forest(q: int = 3, leaf: int = 60) -> AdversarialRandomForest:
    return fit(correlated(q=q), n_estimators=3, min_samples_leaf=leaf, max_iter=0, dependence=STRONG)


@cache
def with_gaps() -> AdversarialRandomForest:
    return fit(mixed(), min_samples_leaf=20, dependence=STRONG)


def draws_of_leaves(arf, n: int, seed: int = 0) -> np.ndarray:
    """Rows by plain Monte Carlo: a leaf by its weight, scores by NumPy, values by SciPy. Numbers only."""
    rng, leaves = np.random.default_rng(seed), arf.leaves_
    which = rng.choice(len(leaves.log_weight), n, p=leaves.coverage / leaves.coverage.sum())
    rows = np.empty((n, leaves.mu.shape[1]))
    for leaf in np.unique(which):
        mine = np.flatnonzero(which == leaf)
        covariance = leaves.copula.correlation[leaves.copula.region[leaf]]
        u = norm.cdf(rng.multivariate_normal(np.zeros(len(covariance)), covariance, len(mine)))
        mu, sigma = leaves.mu[leaf], leaves.sigma[leaf]
        rows[mine] = truncnorm.ppf(u, (leaves.low[leaf] - mu) / sigma, (leaves.high[leaf] - mu) / sigma, mu, sigma)
    return rows


def twin_log_density(arf, row: np.ndarray, asked: np.ndarray) -> float:
    """Log density of the numbers `asked` of a row, all split columns among them, by SciPy's multivariate normal."""
    leaves, total = arf.leaves_, []
    for leaf in range(len(leaves.log_weight)):
        low, high, mu, sigma = (array[leaf][asked] for array in (leaves.low, leaves.high, leaves.mu, leaves.sigma))
        x = row[asked]
        if not ((x > low) & (x <= high)).all():
            continue
        a, b = (low - mu) / sigma, (high - mu) / sigma
        z = norm.ppf(truncnorm.cdf(x, a, b, mu, sigma))
        upper = truncnorm.sf(x, a, b, mu, sigma)
        z = np.clip(np.where(upper < 0.5, -norm.ppf(upper), z), -8, 8)
        r = leaves.copula.correlation[leaves.copula.region[leaf]][np.ix_(asked, asked)]
        log_c = multivariate_normal.logpdf(z, np.zeros(len(z)), r) - norm.logpdf(z).sum()
        total.append(leaves.log_weight[leaf] + truncnorm.logpdf(x, a, b, mu, sigma).sum() + log_c)
    return float(logsumexp(total)) if total else -np.inf


# Normal scores


def test_quick_normal_functions_are_near_scipys():
    x, p = np.linspace(-8.9, 8.9, 20_001), np.linspace(1e-9, 1 - 1e-9, 20_001)
    np.testing.assert_allclose([quick_ndtr_(one) for one in x], norm.cdf(x), atol=1e-10)
    np.testing.assert_allclose([quick_ndtri_(one) for one in p], norm.ppf(p), atol=1e-7)
    assert ndtri_(0.0) == -np.inf
    assert ndtri_(1.0) == np.inf


def test_scores_are_inverted():
    leaves = forest().leaves_
    rng = np.random.default_rng(0)
    for leaf, z in zip(rng.integers(len(leaves.mu), size=200), rng.uniform(-5, 5, 200), strict=True):
        k = int(rng.integers(leaves.mu.shape[1]))
        x = value_of_score(leaves, z, leaf, k)
        assert score_in(leaves, x, leaf, k) == pytest.approx(z, abs=1e-4)


@pytest.mark.parametrize(("low", "high"), [(20, 25), (-25, -20), (7, 9), (-0.5, np.inf), (45, 50), (1.0, 1.0 + 1e-8)])
def test_scores_in_far_and_short_intervals(low, high):
    u = np.linspace(0.01, 0.99, 25)
    cell = {
        name: np.array([[float(x)]]) for name, x in zip(("low", "high", "mu", "sigma"), (low, high, 0, 1), strict=True)
    }
    copula = no_copula()._replace(region=np.zeros(1, np.int32), correlation=np.ones((1, 1, 1)))
    leaf = Cell(**cell, copula=with_scores(copula, **cell))
    x = truncated_ppf(u, low, high, 0.0, 1.0)
    width = min(high - low, 1.0)
    scores = [score_in(leaf, one, 0, 0) for one in x]
    np.testing.assert_allclose(scores, norm.ppf(u), atol=1e-4 if width > 1e-6 else 1e-2)


def test_precisions_are_inverses():
    correlation = forest().leaves_.copula.correlation
    excess, log_scale = np.empty_like(correlation), np.empty(len(correlation))
    invert(correlation, excess, log_scale)
    np.testing.assert_allclose(excess + np.eye(len(correlation[0])), np.linalg.inv(correlation), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(log_scale, -0.5 * np.linalg.slogdet(correlation)[1], atol=1e-10)


def test_correlations_are_well_conditioned_though_columns_repeat():
    X = correlated().assign(again=lambda X: X["x0"], twice=lambda X: 2 * X["x0"] + X["x1"])
    correlation = fit(X, min_samples_leaf=20, dependence=Dependence(1.0, 0.0)).leaves_.copula.correlation
    assert np.linalg.eigvalsh(correlation).min() > 1e-4
    np.testing.assert_array_equal(np.diagonal(correlation, axis1=1, axis2=2), 1.0)


@pytest.mark.parametrize("every", [0, 7])
def test_regions_have_the_correlations_of_their_rows_scores(every):
    """By SciPy; leaves hold more rows than are scored at once, and all or nearly all cells are there."""
    X = correlated()[["x0", "x1", "x2"]].copy()
    if every:
        X.loc[::every, "x1"] = np.nan
    arf = fit(X, n_estimators=3, min_samples_leaf=70, max_iter=0, dependence=Dependence(1.0, 0.0))
    leaves, matrix = arf.leaves_, arf.schema_.encode(X)
    z = np.empty((3, *matrix.shape))
    for tree, leaf in enumerate(apply(arf.forest_, matrix).T):
        low, high, mu, sigma = (array[leaf] for array in (leaves.low, leaves.high, leaves.mu, leaves.sigma))
        z[tree] = norm.ppf(truncnorm.cdf(matrix, (low - mu) / sigma, (high - mu) / sigma, mu, sigma))
        regions = leaves.copula.region[leaf]
        for region in np.unique(regions):
            own = z[tree, regions == region]
            both = (~np.isnan(own)).astype(float)
            own = np.nan_to_num(own)
            squares = (own**2).T @ both
            expected = own.T @ own / np.sqrt(squares * squares.T)
            np.testing.assert_allclose(leaves.copula.correlation[region], expected, atol=1e-6)
    assert np.bincount(apply(arf.forest_, matrix)[:, 0]).max() > ABREAST


# Densities


def test_rows_have_the_bits_that_they_have_alone():
    """Rows of one leaf are scored together, up to a number of them, and few of them one by one."""
    X = correlated()[["x0", "x1", "x2"]]
    for names in (["x0", "x1", "x2"], ["x0", "x2"]):
        rows = X[names].head(30)
        alone = np.concatenate([forest().score_samples(rows.iloc[[i]]) for i in range(len(rows))])
        np.testing.assert_array_equal(forest().score_samples(rows), alone)
        many = rows.loc[rows.index.repeat(ABREAST + 6)]
        np.testing.assert_array_equal(forest().score_samples(many), alone.repeat(ABREAST + 6))


def test_density_agrees_with_scipy_for_all_subsets_of_columns():
    arf, X = fit(correlated()[["x0", "x1", "x2"]], min_samples_leaf=40, dependence=STRONG), correlated()
    assert np.isfinite(arf.leaves_.low).any()
    for asked in ([0, 1, 2], [0, 1], [1, 2], [0, 2], [1]):
        names = [f"x{j}" for j in asked]
        expected = [twin_log_density(arf, row, np.array(asked)) for row in X[["x0", "x1", "x2"]].to_numpy()[:40]]
        np.testing.assert_allclose(arf.score_samples(X[names].head(40)), expected, atol=2e-6)


def test_subsets_of_many_columns_agree_whichever_matrix_is_smaller():
    arf = fit(correlated(q=7).drop(columns="c"), min_samples_leaf=60, dependence=STRONG)
    row = correlated(q=7).drop(columns="c").to_numpy()[3]
    for n in range(1, 8):
        asked = np.arange(n)
        frame = pd.DataFrame([row[:n]], columns=[f"x{j}" for j in range(n)])
        assert arf.score_samples(frame)[0] == pytest.approx(twin_log_density(arf, row, asked), abs=2e-6)


def test_joint_of_two_numbers_integrates_to_one_and_to_its_marginals():
    arf = fit(correlated(q=2)[["x0", "x1"]], n_estimators=2, min_samples_leaf=100, dependence=STRONG)
    (x, wx), (y, wy) = (quadrature(_finer(pieces_of(arf, name))) for name in ("x0", "x1"))
    total, marginal = 0.0, np.exp(arf.score_samples(pd.DataFrame({"x0": x})))
    for some in np.array_split(np.arange(len(x)), 20):
        frame = pd.DataFrame({"x0": np.repeat(x[some], len(y)), "x1": np.tile(y, len(some))})
        inner = np.exp(arf.score_samples(frame)).reshape(len(some), len(y)) @ wy
        np.testing.assert_allclose(inner, marginal[some], rtol=1e-3, atol=1e-4)
        total += wx[some] @ inner
    assert total == pytest.approx(1, abs=2e-4)


def _finer(points: np.ndarray) -> np.ndarray:
    """Scores go to infinity at cuts: more pieces there."""
    return np.unique(np.concatenate([points + s * d for s in (-1, 1) for d in (0, 1e-4, 1e-3, 1e-2, 0.05)]))


def test_marginals_of_single_columns_do_not_depend_on_the_correlation():
    arf = forest()
    for name in ("x0", "x1", "x2"):
        rows = correlated()[[name]].head(30)
        evidence = Evidence.points(arf.schema_.encode(rows, subset=True), np.zeros(4, bool))
        np.testing.assert_allclose(
            arf.score_samples(rows), log_density(arf.forest_, independent(arf.leaves_), evidence), atol=1e-12
        )


def test_joint_is_conditional_times_marginal():
    arf, X = forest(), correlated().head(20)
    marginal, joint = arf.score_samples(X[["x0", "c"]]), arf.score_samples(X)
    conditional = [arf.score_samples(X.iloc[[i]], given=X[["x0", "c"]].iloc[i].to_dict())[0] for i in range(len(X))]
    np.testing.assert_allclose(np.array(conditional) + marginal, joint, atol=1e-9)


def test_missing_cells_leave_the_copula_of_the_others():
    arf = with_gaps()
    rows = mixed().dropna().head(10)
    gaps = rows.assign(price=np.nan)
    conditions = [
        {"price": MISSING} | {name: row[name] for name in rows.columns if name != "price"}
        for row in rows.to_dict("records")
    ]
    np.testing.assert_allclose(arf.score_samples(gaps), arf.log_probability(conditions), atol=1e-12)
    assert np.isfinite(arf.score_samples(mixed())).all()


def test_the_first_columns_alone_are_marginals():
    arf, n = forest(), 2
    few = first_columns(arf.leaves_, n)
    X = correlated()[["x0", "x1"]].head(20)
    unsplit = fit(correlated(), min_samples_leaf=40, dependence=STRONG, never_split=["x2", "c"])
    few = first_columns(unsplit.leaves_, n)
    evidence = Evidence.points(X.to_numpy(), np.zeros(n, bool))
    np.testing.assert_allclose(log_density(unsplit.forest_, few, evidence), unsplit.score_samples(X), atol=1e-9)


# Intervals


def _share(rows: np.ndarray, low: list[float], high: list[float]) -> float:
    return float(np.mean(((rows >= low) & (rows <= high)).all(axis=1)))


def test_probability_of_one_interval_given_points_is_exact():
    arf = forest()
    point = {"x0": 0.7, "c": "a"}
    for low, high in ((2.0, 4.0), (-np.inf, 3.0), (6.0, np.inf)):
        nodes, weights = quadrature(_finer(np.clip(pieces_of(arf, "x1"), low, high)))
        nodes, weights = nodes[(nodes > low) & (nodes <= high)], weights[(nodes > low) & (nodes <= high)]
        frame = pd.DataFrame({"x0": 0.7, "x1": nodes, "c": "a"})
        expected = weights @ np.exp(arf.score_samples(frame))
        ends = (None if np.isinf(low) else low, None if np.isinf(high) else high)
        assert np.exp(arf.log_probability(point | {"x1": ends})) == pytest.approx(expected, rel=2e-3)


def test_probability_of_several_intervals_is_near_monte_carlo():
    arf = fit(correlated()[["x0", "x1", "x2"]], min_samples_leaf=60, dependence=STRONG)
    rows = draws_of_leaves(arf, 200_000)
    for given in (
        {"x0": (0, 2), "x1": (3, 6)},
        {"x0": (-1, 1), "x1": (1, 4), "x2": (4, 8)},
        {"x0": [(-3, -1), (1, 3)], "x2": [(0, 3), (8, 12)]},
    ):
        met = np.ones(len(rows), bool)
        for name, said in given.items():
            parts = said if isinstance(said, list) else [said]
            x = rows[:, int(name[1])]
            met &= np.any([(x >= low) & (x <= high) for low, high in parts], axis=0)
        assert np.exp(arf.log_probability(given)) == pytest.approx(met.mean(), rel=0.05)  # the error of `joint`


@pytest.mark.parametrize(("rho", "mean", "most"), [(0.6, 0.01, 0.04), (0.9, 0.06, 0.15)])
def test_probabilities_taken_one_after_the_other_err_as_stated(rho, mean, most):
    rng = np.random.default_rng(0)
    correlation = np.where(np.eye(3) > 0, 1.0, rho)
    z, errors = rng.multivariate_normal(np.zeros(3), correlation, 200_000), []
    for _ in range(25):
        centre, width = rng.normal(0, 0.7, 3), rng.uniform(0.3, 2, 3)
        true = np.mean((np.abs(z - centre) <= width).all(axis=1))
        expected, covariance, log_p = np.zeros(3), correlation.copy(), 0.0
        for a in range(3):
            moments = truncated_moments(centre[a] - width[a], centre[a] + width[a], expected[a], covariance[a, a])
            log_p += moments[0]
            pass_on(expected, covariance, a, 3, *moments[1:])
        if true > 0.01:
            errors.append(abs(np.exp(log_p) / true - 1))
    assert np.mean(errors) < mean
    assert np.max(errors) < most


def test_alternatives_of_a_number_are_summed():
    arf = forest()
    single = [arf.log_probability({"x0": 0.5, "x1": x}) for x in (2.0, 3.5, 5.0)]
    assert arf.log_probability({"x0": 0.5, "x1": [2.0, 3.5, 5.0]}) == pytest.approx(logsumexp(single), abs=1e-9)


# Draws and expectations


def test_draws_have_the_correlation_of_the_data():
    X = correlated()
    drawn = fit(X, n_estimators=20, min_samples_leaf=30, dependence=STRONG).sample(8_000, random_state=1)
    alone = fit(X, n_estimators=20, min_samples_leaf=30).sample(8_000, random_state=1)
    true = X["x0"].corr(X["x1"])
    assert abs(drawn["x0"].corr(drawn["x1"]) - true) < 0.03 < abs(alone["x0"].corr(alone["x1"]) - true)


def test_draws_are_those_of_plain_monte_carlo():
    arf = fit(correlated()[["x0", "x1", "x2"]], min_samples_leaf=60, dependence=STRONG)
    drawn, expected = arf.sample(40_000, random_state=1).to_numpy(), draws_of_leaves(arf, 40_000)
    np.testing.assert_allclose(drawn.mean(axis=0), expected.mean(axis=0), atol=0.06)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(expected.T), rtol=0.05)


def test_draws_given_points_and_intervals_are_near_monte_carlo():
    arf = fit(correlated()[["x0", "x1", "x2"]], min_samples_leaf=60, dependence=STRONG)
    rows = draws_of_leaves(arf, 400_000)
    given = {"x0": (1.0, 1.1), "x1": (4, 7)}
    rows = rows[(rows[:, 0] >= 1.0) & (rows[:, 0] <= 1.1) & (rows[:, 1] >= 4) & (rows[:, 1] <= 7)]
    drawn = arf.sample(5_000, given=given, random_state=1).to_numpy()
    assert ((drawn[:, 0] >= 1.0) & (drawn[:, 0] <= 1.1) & (drawn[:, 1] >= 4) & (drawn[:, 1] <= 7)).all()
    sd = rows.std(axis=0)
    assert (np.abs(drawn.mean(axis=0) - rows.mean(axis=0)) < 0.2 * sd).all()  # the error that `sampling` states
    point = arf.sample(5_000, given={"x0": 1.05}, random_state=1)
    assert (point["x0"] == 1.05).all()


def test_expectations_are_the_means_of_draws():
    arf = with_gaps()
    for given in (
        {"price": 6.5, "color": "green"},
        {"price": (5, 9)},
        {"price": (5, 9), "age": (30, 50)},
        {"age": 40, "weight": (-4, 3)},
    ):
        expected = arf.expect(["weight", "price", "age"], given=given).iloc[0]
        drawn = arf.sample(20_000, given=given, random_state=1)
        for name in ("weight", "price", "age"):
            values = drawn[name].dropna().astype(float)
            margin = 0.02 if "age" not in given or "price" not in given else 0.1
            assert expected[name] == pytest.approx(values.mean(), abs=margin * max(values.std(), 1) + 0.05)


def test_expectation_given_a_point_agrees_with_quadrature():
    arf = forest()
    nodes, weights = quadrature(_finer(pieces_of(arf, "x1")))
    density = np.exp(arf.score_samples(pd.DataFrame({"x0": 1.3, "x1": nodes})))
    expected = (weights * density) @ nodes / (weights @ density)
    assert arf.expect(["x1"], given={"x0": 1.3}).iloc[0, 0] == pytest.approx(expected, abs=2e-3)


def test_imputation_follows_the_other_cells():
    arf, X = forest(q=3, leaf=30), correlated().head(100)
    filled = arf.impute(X.assign(x1=np.nan), method="expected")
    blind = np.std(X["x1"])
    assert np.sqrt(np.mean((filled["x1"] - X["x1"]) ** 2)) < 0.65 * blind


# The whole


def test_threads_change_nothing():
    X = correlated()
    one, two = (fit(X, n_jobs=n, dependence="auto", min_samples_leaf="auto") for n in (1, 2))
    assert one.dependence_ == two.dependence_
    np.testing.assert_array_equal(one.score_samples(X), two.score_samples(X))
    pd.testing.assert_frame_equal(one.sample(50, random_state=3), two.sample(50, random_state=3))


def test_files_keep_every_bit(tmp_path):
    arf = with_gaps()
    arf.save(tmp_path / "forest")
    loaded = AdversarialRandomForest.load(tmp_path / "forest")
    assert loaded.dependence_ == arf.dependence_ == STRONG
    np.testing.assert_array_equal(loaded.score_samples(mixed()), arf.score_samples(mixed()))
    pd.testing.assert_frame_equal(loaded.sample(20, random_state=1), arf.sample(20, random_state=1))


def test_files_of_version_0_1_have_independent_leaves(tmp_path):
    arf = fit(correlated())
    arf.save(tmp_path / "new")
    meta, arrays = read_archive(tmp_path / "new", "countarfactuals.AdversarialRandomForest", 1)
    meta["parameters"] = {k: v for k, v in meta["parameters"].items() if k not in ("dependence", "values")}
    del meta["dependence"]
    kept = {name: array for name, array in arrays.items() if not name.startswith(("copula.", "values."))}
    write_archive(tmp_path / "old", meta, kept)
    old = AdversarialRandomForest.load(tmp_path / "old")
    assert old.dependence is None
    assert old.dependence_ is None
    np.testing.assert_array_equal(old.score_samples(correlated()), arf.score_samples(correlated()))


def test_loans_go_with_their_durations():
    X = load_loan().X
    drawn = AdversarialRandomForest(random_state=1).fit(X).sample(10_000)
    assert drawn["amount"].corr(drawn["duration"]) == pytest.approx(X["amount"].corr(X["duration"]), abs=0.05)


def test_auto_finds_dependence_and_leaves_it_out_where_there_is_none():
    rng = np.random.default_rng(1)
    noise = pd.DataFrame(rng.normal(size=(800, 3)), columns=list("abc"))
    assert fit(noise, dependence="auto", n_estimators=10).dependence_ is None
    found = fit(correlated(), dependence="auto", n_estimators=10, min_samples_leaf=30)
    assert isinstance(found.dependence_, Dependence)
    assert found.min_samples_leaf_ == 30
    assert fit(correlated(), dependence="auto", family="uniform").dependence_ is None


def test_independent_leaves_are_those_without_dependence():
    X = correlated()
    arf, plain = fit(X, dependence=STRONG), fit(X)
    evidence = Evidence.points(arf.schema_.encode(X), np.zeros(4, bool))
    np.testing.assert_array_equal(log_density(arf.forest_, independent(arf.leaves_), evidence), plain.score_samples(X))


def test_regions_hold_neighbours_and_enough_rows():
    arf = fit(correlated(), min_samples_leaf=5, dependence=STRONG)
    region, n = arf.leaves_.copula.region, np.rint(arf.leaves_.coverage * len(correlated()) * 6)
    assert (np.bincount(region, n) >= 30).all()
    tree = np.searchsorted(arf.forest_.leaf_start, np.arange(len(region)), side="right")
    assert all(len(set(tree[region == r])) == 1 for r in np.unique(region))
    assert leaf_of(arf.forest_, 0, arf.schema_.encode(correlated())[0]) < len(region)


@pytest.mark.parametrize("wrong", ["strong", 0.5, (2.0, 5.0), (0.5,), (0.5, -1.0)])
def test_wrong_dependence_is_refused(wrong):
    with pytest.raises(ParameterError, match="dependence"):
        fit(correlated(), dependence=wrong)
