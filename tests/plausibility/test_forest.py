"""The forest as a judge: what its leaves say, summed over all of them by slow twins, and what real rows are like."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import kstest

from countarfactuals import MISSING, AdversarialRandomForest
from countarfactuals.arf.evidence import INTERVALS, Evidence
from countarfactuals.datasets import random_network
from countarfactuals.objectives import Gower
from countarfactuals.plausibility import MEASURES, ForestJudge, Plausibility, fit_plausibility, row_medians
from countarfactuals.plausibility.forest_judge import ForestParts
from countarfactuals.plausibility.saved_judges import of_version_1

from ..arf.twins import fit, leaf_log_weights, leaf_of, log_cell, mixed

FEATURES = ["price", "weight", "age", "color", "grade", "owner"]
TREES = {"even": 6, "odd": 5}


@cache
def forest_with_score(role: str, trees: str = "even", **others: str | int | None) -> AdversarialRandomForest:
    """A forest over the features and a score, which trees split on (`always_split`), or not (`never_split`)."""
    X = mixed(300)
    rng = np.random.default_rng(0)
    score = 1 / (1 + np.exp(-X["weight"] / 4 - (X["color"] == "red") + rng.normal(0, 0.2, len(X))))
    parameters = {role: ["score"], "min_samples_leaf": 12, "n_estimators": TREES[trees]} | others
    return fit(X.assign(score=score), **parameters)


def plausibility(forest: AdversarialRandomForest, kind: str = "median") -> ForestJudge:
    return ForestJudge(forest, 6, kind)


def alone(forest: AdversarialRandomForest, matrix: np.ndarray, kind: str = "median", seed: int = 0) -> Plausibility:
    """The forest as the only judge; `matrix` holds all its columns."""
    n_features = min(matrix.shape[1], 6)
    schema = forest.schema_.select(range(n_features))
    gower = Gower.of(schema, matrix[:, :n_features])
    return fit_plausibility(forest, schema, matrix, kind, gower, np.random.default_rng(seed))


@cache
def some_rows(n: int = 40) -> np.ndarray:
    """Real rows and rows whose cells come from different real rows, with missing cells in the columns that had some."""
    rows = forest_with_score("never_split").schema_.select(range(6)).encode(mixed(300))
    rng = np.random.default_rng(1)
    mixture = np.column_stack([rng.permutation(column) for column in rows.T])
    return np.concatenate([rows[: n // 2], mixture[: n - n // 2]])


def conditions(forest: AdversarialRandomForest, rows: np.ndarray) -> list[dict]:
    """Rows in the words of `given`."""
    columns = forest.schema_.columns[: rows.shape[1]]
    return [
        {c.name: MISSING if np.isnan(v) else c.decode(v) for c, v in zip(columns, row.tolist(), strict=True)}
        for row in rows
    ]


def per_tree(forest: AdversarialRandomForest, condition: dict) -> np.ndarray:
    """Log density by each tree alone, summed over all of its leaves."""
    weights, start = leaf_log_weights(forest, condition), forest.forest_.leaf_start
    n_trees = forest.forest_.n_trees
    return np.array([logsumexp(weights[start[t] : start[t + 1]]) for t in range(n_trees)]) + math.log(n_trees)


def between(forest: AdversarialRandomForest, low: float, high: float) -> Evidence:
    evidence = Evidence.empty(1, len(forest.schema_.columns))
    evidence.kind[0, -1], evidence.stop[0, -1] = INTERVALS, 1
    return evidence._replace(low=np.array([low]), high=np.array([high]))


def gap_cost(forest: AdversarialRandomForest, rows: np.ndarray) -> np.ndarray:
    """What missing cells cost, by the mean log density of values that the forest draws."""
    drawn = forest.sample(256, random_state=0)
    cost = np.zeros(len(rows))
    for j, column in enumerate(forest.schema_.columns[: rows.shape[1]]):
        values = drawn[[column.name]].dropna()
        cost[np.isnan(rows[:, j])] -= forest.score_samples(values).mean()
    return cost


# The measures


@pytest.mark.parametrize("role", ["always_split", "never_split"])
def test_scores_are_summed_out(role):
    forest = forest_with_score(role)
    rows = some_rows()
    ours = plausibility(forest, "density")(rows)
    features = forest.schema_.select(range(6)).decode(rows)
    assert list(features.columns) == FEATURES
    np.testing.assert_allclose(ours, forest.score_samples(features) - gap_cost(forest, rows), atol=1e-9)
    # and not merely left out: each joint density differs from it
    joint = forest.score_samples(features.assign(score=0.5))
    assert (np.abs(joint - ours) > 1e-3).all()


@pytest.mark.parametrize("role", ["always_split", "never_split"])
@pytest.mark.parametrize("trees", ["even", "odd"])
def test_measures_equal_sums_over_all_leaves(role, trees):
    forest = forest_with_score(role, trees)
    rows = some_rows()
    by_tree = np.array([per_tree(forest, condition) for condition in conditions(forest, rows)])
    np.testing.assert_allclose(
        plausibility(forest, "density")(rows),
        logsumexp(by_tree, axis=1) - math.log(TREES[trees]) - gap_cost(forest, rows),
        atol=1e-9,
    )
    np.testing.assert_allclose(
        plausibility(forest, "median")(rows), np.median(by_tree, axis=1) - gap_cost(forest, rows), atol=1e-9
    )


def test_a_forest_of_the_features_alone_needs_no_scores():
    forest = fit(mixed(300), min_samples_leaf=12)
    rows = some_rows()
    ours = ForestJudge(forest, 6, "density")(rows)
    expected = forest.score_samples(forest.schema_.decode(rows)) - gap_cost(forest, rows)
    np.testing.assert_allclose(ours, expected, atol=1e-9)


def people(n: int = 1000, unit: float = 1.0, gaps: float = 0.05) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(45, 12, n).round(1), "income": rng.lognormal(10, 0.5, n).round()})
    X.loc[rng.random(n) < gaps, "income"] = np.nan
    return X.assign(income=X["income"] * unit)


def typicality_of(X: pd.DataFrame, rows: pd.DataFrame) -> np.ndarray:
    forest = fit(X, min_samples_leaf=20, n_estimators=20)
    return alone(forest, forest.schema_.encode(X)).typicality(forest.schema_.encode(rows.astype(X.dtypes)))


def test_the_unit_of_a_column_with_gaps_does_not_matter():
    """In cents a gap, which has a probability, would beat every density per cent."""
    seen = []
    for unit in (100.0, 1.0, 1e-6):
        rows = pd.DataFrame({"age": [45.0, 45.0, 12.0], "income": [22_000 * unit, np.nan, np.nan]})
        seen.append(typicality_of(people(unit=unit), rows))
        ordinary, gap, gap_of_a_child = seen[-1]
        assert ordinary > 0.5
        assert gap_of_a_child <= gap < 0.2  # one real row of twenty has such a gap
    np.testing.assert_allclose(seen, [seen[1]] * 3, atol=0.02)


def test_a_gap_where_none_was_seen_counts_as_an_average_value():
    X = people(gaps=0.0)
    rows = pd.DataFrame({"age": [45.0, 45.0, 5.0], "income": [np.nan, 400_000.0, np.nan]})
    gap, absurd, gap_of_a_child = typicality_of(X, rows)
    assert 0.3 < gap < 0.9
    assert absurd < 0.05
    assert gap_of_a_child < 0.05


@pytest.mark.parametrize("n_levels", [20, 5000])
def test_many_levels_make_no_row_typical(n_levels):
    """Held-out rows have levels that their forest has not seen: by a probability of 0 any row would surpass them."""
    rng = np.random.default_rng(1)
    X = people(gaps=0.0).assign(place=rng.integers(n_levels, size=1000).astype(str))
    real, absurd = X.iloc[[1]], X.iloc[[1]].assign(age=5.0)
    typical = typicality_of(X, pd.concat([real, absurd]))
    assert typical[0] > 0.3
    assert typical[1] < 0.1


@pytest.mark.parametrize("kind", MEASURES)
@pytest.mark.parametrize("role", ["always_split", "never_split"])
def test_a_row_is_judged_by_itself(role, kind):
    """To the last bit: not by the rows beside it, nor by the blocks in which many rows are taken."""
    judge = plausibility(forest_with_score(role), kind)
    rows = some_rows()
    alone = np.concatenate([judge(row[None]) for row in rows])
    np.testing.assert_array_equal(judge(rows), alone)
    many = np.tile(rows, (60, 1))  # 2,400 rows are three blocks
    np.testing.assert_array_equal(judge(many), np.tile(alone, 60))


def test_no_rows_are_judged_too():
    judge = plausibility(forest_with_score("always_split"))
    nothing = np.empty((0, 6))
    assert len(judge(nothing)) == 0
    values, shares = judge.judge(nothing, np.ones(judge.forest.forest_.n_leaves))
    assert len(values) == len(shares) == 0


@pytest.mark.parametrize("smallest", [12, 1])
def test_rows_outside_all_leaves_are_impossible(smallest):
    """By small leaves some of the held-out rows are impossible, too, which makes no other such row typical."""
    forest = forest_with_score("never_split", finite_bounds="local", min_samples_leaf=smallest)
    rows = some_rows().copy()
    rows[:, 1] = 1e6
    matrix = np.column_stack([forest.schema_.select(range(6)).encode(mixed(300)), np.full(300, 0.5)])
    for kind in MEASURES:
        judge = plausibility(forest, kind)
        assert (judge(rows) == -math.inf).all()
        panel = alone(forest, matrix, kind)
        assert (panel.rank(panel(rows)) == 0.0).all()
        claims, impossible = panel.claims(rows), np.isneginf(panel.real).mean()
        assert (claims.typicality == 0.0).all()
        assert (claims.low == 0.0).all()
        assert (claims.high <= impossible + 1e-12).all()  # as plausible as these
        assert not panel.is_typical(rows, 0.01).any()


def test_rows_are_left_alone():
    judge = plausibility(forest_with_score("always_split"))
    rows = some_rows().copy()
    rows.setflags(write=False)
    shares = judge.leaf_shares(between(judge.forest, 0.5, 1.0))
    shares.setflags(write=False)
    judge(rows)
    judge.judge(rows, shares)
    np.testing.assert_array_equal(rows, some_rows())


# Rows and the outcome in one walk


@pytest.mark.parametrize("role", ["always_split", "never_split"])
def test_leaf_shares_equal_their_twin(role):
    forest = forest_with_score(role)
    for low, high in ((0.5, 1.0), (-math.inf, 0.2), (0.3, 0.31)):
        twin = np.exp(log_cell(forest, "score", (low, high)))
        assert ((twin > 0) & (twin < 1)).any()
        np.testing.assert_allclose(plausibility(forest).leaf_shares(between(forest, low, high)), twin, atol=1e-10)


@pytest.mark.parametrize("kind", MEASURES)
def test_judge_where_trees_split_on_scores_is_a_quotient_of_densities(kind):
    forest = forest_with_score("always_split")
    judge, rows = plausibility(forest, kind), some_rows()
    values, shares = judge.judge(rows, judge.leaf_shares(between(forest, 0.5, 0.8)))
    np.testing.assert_array_equal(values, judge(rows))
    features = forest.schema_.select(range(6)).decode(rows)
    log_both = forest.log_probability([{**row, "score": (0.5, 0.8)} for row in conditions(forest, rows)])
    np.testing.assert_allclose(shares, np.exp(log_both - forest.score_samples(features)), atol=1e-10)
    assert shares.std() > 0.05


@pytest.mark.parametrize("kind", MEASURES)
def test_judge_where_they_do_not_is_a_vote_of_trees(kind):
    forest = forest_with_score("never_split")
    judge, rows = plausibility(forest, kind), some_rows()
    in_leaf = judge.leaf_shares(between(forest, 0.5, 0.8))
    values, shares = judge.judge(rows, in_leaf)
    np.testing.assert_array_equal(values, judge(rows))
    vote = [np.mean([in_leaf[leaf_of(forest.forest_, tree, row)] for tree in range(6)]) for row in rows]
    np.testing.assert_allclose(shares, vote, atol=1e-12)
    assert shares.std() > 0.05


def test_judge_works_in_blocks():
    forest = forest_with_score("always_split")
    judge, rows = plausibility(forest), some_rows()
    in_leaf = judge.leaf_shares(between(forest, 0.5, 0.8))
    values, shares = judge.judge(rows, in_leaf)
    many_values, many_shares = judge.judge(np.tile(rows, (60, 1)), in_leaf)
    np.testing.assert_array_equal(many_values, np.tile(values, 60))
    np.testing.assert_allclose(many_shares, np.tile(shares, 60), atol=1e-15)


LOGS = st.one_of(st.floats(-1e3, 20), st.sampled_from([-math.inf, -3.0, -3.5, 0.0, -1e300, 1e300, -5e-324]))


@given(st.integers(1, 9).flatmap(lambda m: st.lists(st.lists(LOGS, min_size=m, max_size=m), min_size=1, max_size=5)))
def test_medians_equal_those_of_numpy_with_ties_and_infinite_values_too(rows):
    np.testing.assert_array_equal(row_medians(np.array(rows)), np.median(rows, axis=1))


@pytest.mark.parametrize("m", [10, 99, 100])
def test_medians_of_many_trees_equal_those_of_numpy(m):
    rng = np.random.default_rng(m)
    values = np.concatenate([rng.normal(-5, 3, (200, m)) - rng.pareto(1, (200, m)), rng.integers(-3, 0, (200, m))])
    np.testing.assert_array_equal(row_medians(values), np.median(values, axis=1))


@pytest.mark.parametrize(("bounds", "cell"), [("local", 1e6), (None, math.nan)], ids=["impossible", "unknown"])
def test_the_vote_on_a_row_does_not_depend_on_the_rows_beside_it(bounds, cell):
    """Not if a neighbour is impossible in some tree, nor if it lacks a value that no training row lacked."""
    forest = forest_with_score("never_split", finite_bounds=bounds)
    judge = plausibility(forest)
    rows = np.array([row for row in some_rows() if np.isfinite(judge(row[None])[0])][:5])
    in_leaf = judge.leaf_shares(between(forest, 0.5, 0.8))
    odd = rows[:1].copy()
    odd[:, 1] = cell
    together = judge.judge(np.concatenate([rows, odd]), in_leaf)[1][:-1]
    np.testing.assert_allclose(together, judge.judge(rows, in_leaf)[1], atol=1e-12)


# What is typical

THOUSANDTHS = st.integers(-50_000, 50_000).map(lambda k: k / 1000.0)  # ranks between are rounded
REAL = st.lists(st.one_of(st.sampled_from([-math.inf, -1.0, 0.0, 2.0]), THOUSANDTHS), min_size=2, max_size=30).map(
    lambda values: np.sort(np.array(values, np.float64))
)


class FirstCell:
    """A judge that gives a row its first cell."""

    n_features, measure, name = 1, "median", "first cell"

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 0]


def by_first_cell(real: np.ndarray) -> Plausibility:
    return of_version_1(real, FirstCell())  # type: ignore[arg-type]


@given(REAL, st.floats(0, 1), THOUSANDTHS)
def test_rows_from_some_measure_on_have_a_typicality(real, share, value):
    """Typicality is the share of real rows with a lower measure, and `is_typical` tells whether it is large enough."""
    judge = by_first_cell(real)
    tested = np.array([min(value, real.max()), -math.inf, *real])  # what lies beyond all is a test of its own
    expected = np.array([(real < one).mean() for one in tested])
    np.testing.assert_array_equal(judge.rank(tested), expected)
    np.testing.assert_allclose(judge.typicality(tested[:, None]), expected, atol=1e-12)
    np.testing.assert_array_equal(judge.is_typical(tested[:, None], share), judge.typicality(tested[:, None]) >= share)


def test_typicality_counts_real_rows_below():
    judge = by_first_cell(np.array([-3.0, -2.0, -2.0, 0.0]))
    tested, expected = np.array([-9.0, -3.0, -2.5, -2.0, -1.0, 5.0]), [0, 0, 0.25, 0.25, 0.75, 1]
    assert judge.rank(tested).tolist() == expected
    assert judge.typicality(tested[:, None]).tolist() == expected
    least = {share: judge.is_typical(tested[:, None], share).sum() for share in (0.0, 0.25, 0.5, 0.75, 1.0)}
    assert least == {0.0: 6, 0.25: 4, 0.5: 2, 0.75: 2, 1.0: 1}  # half can not be had, as two rows are equal


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("kind", MEASURES)
def test_fresh_rows_are_as_typical_as_they_should_be(seed, kind):
    """Typicality of fresh rows is uniform, up to sampling error: they are judged by the same parts as held-out ones.

    By the bound of Dvoretzky, Kiefer and Wolfowitz the two empirical distributions, of 1,500 held-out and 2,000 fresh
    rows, are each off by 0.058 and 0.05 at most, with error rate 1e-4 each. Small leaves make the rows that the forest
    was fitted to look far more plausible than fresh ones: by these, fresh rows would not pass.
    """
    network = random_network(5, random_state=seed)
    X, fresh = network.sample(1500, seed + 10)[[*network.feature_names]], network.sample(2000, seed + 50)
    forest = fit(X, n_estimators=30, min_samples_leaf=2)
    matrix, rows = forest.schema_.encode(X), forest.schema_.encode(fresh[[*network.feature_names]])
    held_out = alone(forest, matrix, kind, seed)
    assert len(held_out.real) == 1500
    assert (np.diff(held_out.real) >= 0).all()
    in_sample = of_version_1(ForestJudge(forest, 5, kind)(matrix), held_out.forest_judge)
    assert kstest(held_out.typicality(rows), "uniform").statistic < 0.058 + 0.05
    assert kstest(in_sample.typicality(rows), "uniform").statistic > 0.25


@pytest.mark.parametrize("kind", MEASURES)
def test_a_part_has_not_seen_the_rows_that_it_judges(kind):
    X = mixed(300)
    forest = fit(X, min_samples_leaf=12)
    matrix = forest.schema_.encode(X)
    part_of = np.random.default_rng(0).permutation(300) % 3
    judge = ForestJudge(forest, 6, kind)
    before = ForestParts.fit(judge, matrix, part_of, np.random.default_rng(0))
    assert len(before.judges) == 3
    for k in range(3):
        changed, own = matrix.copy(), np.flatnonzero(part_of == k)
        changed[own] = changed[own[::-1]]  # other rows in their places
        changed[own, 1] += 1.0
        after = ForestParts.fit(judge, changed, part_of, np.random.default_rng(0))
        np.testing.assert_array_equal(after(matrix, k), before(matrix, k))
        np.testing.assert_array_equal(after.with_log_density(matrix, k), before.with_log_density(matrix, k))
        assert (after(matrix, (k + 1) % 3) != before(matrix, (k + 1) % 3)).any()


def test_parts_judge_a_row_by_itself_and_come_back_from_arrays():
    X = mixed(300)
    forest = fit(X, min_samples_leaf=12)
    matrix, part_of = forest.schema_.encode(X), np.arange(300) % 3
    judge = ForestJudge(forest, 6, "median")
    parts = ForestParts.fit(judge, matrix, part_of, np.random.default_rng(0))
    again = ForestParts.unpacked(*parts.packed(), judge, matrix, part_of)
    rows = some_rows()
    for k in range(3):
        together = parts(rows, k)
        np.testing.assert_array_equal(np.concatenate([parts(row[None], k) for row in rows]), together)
        np.testing.assert_array_equal(parts(np.tile(rows, (30, 1)), k), np.tile(together, 30))
        np.testing.assert_array_equal(again(rows, k), together)
        both = np.stack([together, parts.judges[k].log_density(rows)], axis=1)
        np.testing.assert_array_equal(parts.with_log_density(rows, k), both)


def test_few_rows_are_judged_in_sample():
    """A third of so few rows would tell nothing."""
    X = mixed(missing=False)[["weight", "age"]].head(40)
    forest = fit(X)
    matrix = forest.schema_.encode(X)
    judge = ForestJudge(forest, 2, "median")
    panel = alone(forest, matrix)
    assert panel.forest_parts is None
    np.testing.assert_array_equal(panel.real, np.sort(judge(matrix)))
    expected = [(judge(matrix) < value).mean() for value in judge(matrix)]
    np.testing.assert_allclose(panel.typicality(matrix), expected, atol=1e-12)


def test_held_out_rows_depend_on_the_generator_only():
    X = mixed(300)
    forest = fit(X, min_samples_leaf=12)
    matrix = forest.schema_.encode(X)
    one, same, other = (alone(forest, matrix, seed=seed).real for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
