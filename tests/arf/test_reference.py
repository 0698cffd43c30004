"""Fed R's trees and data, every deterministic number of R's implementation comes out to 1e-9."""

from __future__ import annotations

import numpy as np
import pytest

from countarfactuals.arf.evidence import POINT, Evidence
from countarfactuals.arf.expectation import expect_levels, expect_number
from countarfactuals.arf.forest import apply
from countarfactuals.arf.leaf_fit import GLOBAL, LOCAL, UNBOUNDED, LeafOptions, fit_leaves
from countarfactuals.arf.leaves import LeafTable
from countarfactuals.arf.sampling import draw_rows
from countarfactuals.arf.tree_walk import LeafWeights, leaf_weights, log_density
from countarfactuals.arf.truncnorm import log_interval_mass, truncated_logpdf, truncated_mean

from .reference import CASES, Case, leaves_of_rows, read_case, read_conditions, table

DEFAULT = LeafOptions(uniform=False, likelihood=False, bounds=UNBOUNDED, epsilon=0.0, alpha=0.0)
VARIANTS = {
    ("numeric2", ""): DEFAULT,
    ("numeric2", "_local_eps"): DEFAULT._replace(bounds=LOCAL, epsilon=0.1),
    ("numeric2", "_global_eps"): DEFAULT._replace(bounds=GLOBAL, epsilon=0.1),
    ("numeric2", "_local_eps0"): DEFAULT._replace(bounds=LOCAL),
    ("numeric2", "_unif"): DEFAULT._replace(bounds=LOCAL, epsilon=0.2, uniform=True),
    ("mixed", ""): DEFAULT,
    ("mixed", "_alpha"): DEFAULT._replace(alpha=0.5),
    ("mixed", "_alpha_global"): DEFAULT._replace(alpha=0.1, bounds=GLOBAL, epsilon=0.05),
    ("counterfactual", ""): DEFAULT,
    ("single_obs", ""): DEFAULT,
    ("single_obs", "_local_eps"): DEFAULT._replace(bounds=LOCAL, epsilon=0.1),
}
variants = pytest.mark.parametrize(("name", "suffix"), VARIANTS)
cases = pytest.mark.parametrize("name", CASES)


def fitted(name: str, suffix: str = "") -> tuple[Case, LeafTable]:
    case = read_case(name)
    return case, fit_leaves(case.forest, case.members, case.train, case.layout, VARIANTS[name, suffix])


def close(ours, theirs) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-13)  # a mean near 0 is the sum of larger terms


def close_logs(ours, theirs) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


@cases
def test_rows_reach_the_same_leaves(name):
    case = read_case(name)
    for which, matrix in (("train", case.train), ("query", case.query)):
        np.testing.assert_array_equal(apply(case.forest, matrix), leaves_of_rows(name, which, case.leaf_of))


@variants
def test_coverage(name, suffix):
    case, leaves = fitted(name, suffix)
    psi = table(name, f"psi_forest{suffix}.csv")
    close(leaves.coverage[case.leaves_of_psi(suffix)] * case.forest.n_trees, psi.cvg)
    assert len(psi) == case.forest.n_leaves


@variants
def test_parameters_of_numbers(name, suffix):
    case, leaves = fitted(name, suffix)
    psi = table(name, f"psi_cnt{suffix}.csv")
    leaf = case.leaves_of_psi(suffix)[psi.f_idx - 1]
    place = leaves.number_of[[case.index(variable) for variable in psi.variable]]
    assert len(psi) == leaves.mu.size
    close(leaves.low[leaf, place], psi["min"])
    close(leaves.high[leaf, place], psi["max"])
    if suffix != "_unif":
        close(leaves.mu[leaf, place], psi.mu)
        close(leaves.sigma[leaf, place], psi.sigma)


@pytest.mark.parametrize(("name", "suffix"), [key for key in VARIANTS if key[0] in ("mixed", "counterfactual")])
def test_level_shares(name, suffix):
    case, leaves = fitted(name, suffix)
    psi = table(name, f"psi_cat{suffix}.csv")
    theirs = {
        (case.leaves_of_psi(suffix)[f - 1], case.index(variable), case.levels[variable].index(value)): prob
        for f, variable, value, prob in zip(psi.f_idx, psi.variable, psi.val, psi.prob, strict=True)
    }
    seen = 0
    for j in np.flatnonzero(case.layout.n_levels):
        for leaf in range(case.forest.n_leaves):
            cell = leaf * leaves.rest_logp.shape[1] + leaves.category_of[j]
            for k in range(leaves.level_start[cell], leaves.level_start[cell + 1]):
                close(np.exp(leaves.level_logp[k]), theirs.pop((leaf, j, leaves.level[k])))
                seen += 1
    assert seen == len(leaves.level)
    # what remains are levels that R lists because of alpha: ours share one probability per leaf
    assert (len(theirs) > 0) == (VARIANTS[name, suffix].alpha > 0)
    for (leaf, j, _), prob in theirs.items():
        close(np.exp(leaves.rest_logp[leaf, leaves.category_of[j]]), prob)


@variants
def test_log_densities(name, suffix):
    case, leaves = fitted(name, suffix)
    theirs = table(name, f"loglik{suffix}.csv")
    joint = Evidence.points(case.query, np.zeros(len(case.names), np.bool_))
    ours = {"loglik": log_density(case.forest, leaves, joint)}
    for j, variable in enumerate(case.names):
        single = np.full_like(case.query, np.nan)
        single[:, j] = case.query[:, j]
        evidence = Evidence.points(single, np.zeros(len(case.names), np.bool_))
        ours[f"marg_{variable}"] = log_density(case.forest, leaves, evidence)
    for column, values in ours.items():
        kept = theirs[column].to_numpy() > -600  # below, R's products underflow
        assert kept.sum() > 50
        close_logs(values[kept], theirs[column][kept])
        underflown = ~kept & (theirs[column] == -np.inf)
        assert (values[underflown] < -600).all()


@cases
def test_leaf_weights_under_conditions(name):
    case, leaves = fitted(name)
    theirs = table(name, "cond_weights.csv")
    for condition in read_conditions(case):
        for c_idx, ours in dense_weights(case, leaves, condition).items():
            expected = np.zeros(case.forest.n_leaves)
            rows = theirs[(theirs.cond == condition.name) & (theirs.c_idx == c_idx)]
            expected[case.leaves_of_psi()[rows.f_idx - 1]] = rows.weight
            close(ours, expected)


def dense_weights(case: Case, leaves: LeafTable, condition) -> dict[int, np.ndarray]:
    """Normalised weights of all leaves per c_idx; conditions joined by "or" become one."""
    weights = leaf_weights(case.forest, leaves, condition.evidence)
    dense = np.zeros((len(condition.evidence.kind), case.forest.n_leaves))
    for i, row in enumerate(dense):
        part = slice(weights.start[i], weights.start[i + 1])
        row[weights.leaf[part]] = np.exp(weights.log_weight[part])
    if condition.mode == "or":
        dense = dense.sum(axis=0, keepdims=True)
    np.testing.assert_allclose(np.exp(weights.log_total).sum(), dense.sum())
    return {i + 1: row / row.sum() for i, row in enumerate(dense)}


@cases
def test_expectations_under_conditions(name):
    case, leaves = fitted(name)
    theirs = table(name, "cond_expct.csv")
    compared = 0
    for condition in read_conditions(case):
        if condition.mode == "or":
            continue
        weights = leaf_weights(case.forest, leaves, condition.evidence)
        for row in theirs[theirs.cond == condition.name].itertuples():
            j, i = case.index(row.variable), row.c_idx - 1
            if row.variable in case.levels:
                shares = expect_levels(case.forest, leaves, condition.evidence, weights, j)
                close(shares[i, case.levels[row.variable].index(row.level)], row.mixture_mean_mu)
            else:
                means = expect_number(case.forest, leaves, condition.evidence, weights, j)
                close(means[i], row.mixture_mean_truncnorm)
            compared += 1
    assert compared > 1


@pytest.mark.parametrize("name", ["numeric2", "mixed", "counterfactual"])
def test_conditional_log_densities(name):
    case, leaves = fitted(name)
    theirs = table(name, "cond_loglik.csv")
    compared = 0
    for condition in read_conditions(case):
        rows = theirs[theirs.cond == condition.name]
        if rows.empty or condition.mode == "or":
            continue
        given = condition.evidence.rows(np.zeros(len(rows), np.int64))
        queried = [case.index(variable) for variable in rows.query_vars.iloc[0].split("|")]
        joint = given._replace(kind=given.kind.copy(), value=given.value.copy())
        joint.kind[:, queried] = POINT
        joint.value[:, queried] = case.query[rows.row - 1][:, queried]
        ours = log_density(case.forest, leaves, joint) - log_density(case.forest, leaves, given)
        kept = rows.loglik.to_numpy() > -600
        close_logs(ours[kept], rows.loglik[kept])
        compared += kept.sum()
    assert compared > 100


@cases
def test_draws_agree_with_monte_carlo_of_r(name):
    """20,000 draws on each side; a mean may differ by 5 standard errors: under 1e-6 per comparison by chance."""
    case, leaves = fitted(name)
    theirs = table(name, "cond_forge_mc.csv")
    rng = np.random.default_rng(1)
    compared = 0
    for condition in read_conditions(case):
        if condition.mode == "or":
            continue
        weights: LeafWeights = leaf_weights(case.forest, leaves, condition.evidence)
        rows = draw_rows(
            case.forest, leaves, condition.evidence, weights, np.zeros(len(case.names)), 20_000, rng
        ).reshape(len(condition.evidence.kind), 20_000, -1)
        of_condition = theirs[theirs.cond == condition.name]
        for (c_idx, variable), stats in of_condition.groupby(["c_idx", "variable"]):
            drawn, stats = rows[c_idx - 1, :, case.index(variable)], stats.set_index("stat").value
            compared += 1
            if variable in case.levels:
                for level, share in stats.items():
                    found = np.mean(drawn == case.levels[variable].index(level.removeprefix("freq:")))
                    assert abs(found - share) <= 5 * np.sqrt(2 * max(share * (1 - share), 1e-4) / 20_000)
            else:
                error = np.sqrt(2 / 20_000) * max(stats["sd"], 1e-12)
                assert abs(drawn.mean() - stats["mean"]) <= 5 * error
                assert abs(np.median(drawn) - stats["q50"]) <= 10 * error
    assert compared > 1


def test_truncated_normal():
    rows = table("truncnorm_table.csv")
    a, b, mu, sigma = rows.a.to_numpy(), rows.b.to_numpy(), rows.mu.to_numpy(), rows.sigma.to_numpy()
    # the last 20 rows start 6 standard deviations above the mean, where R itself keeps six digits after the point
    is_far = np.arange(len(rows)) >= 280
    for ours, theirs in (
        (np.exp(truncated_logpdf(rows.x.to_numpy(), a, b, mu, sigma)), rows.d.to_numpy()),
        (np.exp(log_interval_mass(-np.inf, rows.x.to_numpy(), a, b, mu, sigma)), rows.p.to_numpy()),
        (truncated_mean(a, b, mu, sigma), rows.e.to_numpy()),
    ):
        assert (np.abs(ours - theirs) <= np.where(is_far, 1e-6 * np.maximum(1, theirs), 1e-9 * np.abs(theirs))).all()
