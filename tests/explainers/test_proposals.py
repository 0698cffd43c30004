"""Draws against the forest's own conditional probabilities; crossings, uniform rows and what is taken back."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from countarfactuals import AdversarialRandomForest, ARFExplainer, Target
from countarfactuals.constraints import as_constraints
from countarfactuals.explainers.problem import Problem
from countarfactuals.explainers.proposals import (
    admissible,
    crossings,
    draws,
    outcome_shares,
    trees_of_turn,
    uniform_rows,
    unit_of,
    weighed_leaves,
)

_SURE = 1e-5  # p-value below which a seeded test fails: by chance once in a hundred thousand seeds


# Draws, on categories alone

N = 2000


@cache
def levels_table() -> tuple[pd.DataFrame, np.ndarray]:
    """The outcome needs a and c to agree, mostly; b follows a."""
    rng = np.random.default_rng(3)
    a, c = rng.integers(0, 3, N), rng.integers(0, 2, N)
    b = np.where(rng.random(N) < 0.7, a, rng.integers(0, 3, N))
    y = rng.random(N) < np.array([[0.9, 0.1], [0.2, 0.6], [0.05, 0.95]])[a, c]
    names = {"a": list("klm"), "b": list("stu"), "c": ["no", "yes"]}
    codes = {"a": a, "b": b, "c": c}
    return pd.DataFrame({name: np.array(names[name])[codes[name]] for name in names}), np.where(y, "won", "lost")


def chance_of_winning(frame: pd.DataFrame) -> np.ndarray:
    a, c = frame["a"].map({"k": 0, "l": 1, "m": 2}).to_numpy(int), (frame["c"] == "yes").to_numpy(int)
    return np.array([[0.9, 0.1], [0.2, 0.6], [0.05, 0.95]])[a, c]


def forest() -> AdversarialRandomForest:
    return AdversarialRandomForest(n_estimators=20, min_samples_leaf=20)


@cache
def fitted(outcome: str) -> ARFExplainer:
    X, y = levels_table()
    if outcome == "observed":
        return ARFExplainer(None, outcome="observed", density=forest(), random_state=1).fit(X, y)
    return ARFExplainer(chance_of_winning, classes=("lost", "won"), density=forest(), random_state=1).fit(X)


# the name of the outcome in the forest, and what the target says of it
CONDITION = {"observed": ("observed outcome", 1), "predicted": ("P(won)", (0.5, None))}
each_outcome = pytest.mark.parametrize("outcome", list(CONDITION))
ROW = {"a": "l", "b": "t", "c": "no"}


def problem_of(explainer: ARFExplainer, x: Any, target: Any = "won", **constraints: Any) -> Problem:
    return explainer.problem(explainer.encode_row(x), target, as_constraints(constraints))


def drawn(problem: Problem, shares: np.ndarray, free: list[int], n: int) -> np.ndarray:
    is_free = np.isin(np.arange(len(problem.x)), free)[None]
    trees = problem.background.plausibility.forest.forest_
    return draws(problem, weighed_leaves(problem, shares), problem.x[None], is_free, n, trees)


def p_value(codes: np.ndarray, probabilities: np.ndarray) -> float:
    observed = np.bincount(codes.astype(int), minlength=len(probabilities))
    return float(stats.chisquare(observed, probabilities / probabilities.sum() * len(codes)).pvalue)


@each_outcome
@pytest.mark.parametrize("column", ["a", "b", "c"])
def test_a_redrawn_level_is_as_frequent_as_the_forest_says_given_the_others_and_the_outcome(outcome, column):
    explainer = fitted(outcome)
    problem, density = problem_of(explainer, ROW), explainer.background_.plausibility.forest
    name, wanted = CONDITION[outcome]
    assert name in density.schema_.names
    kept = {other: level for other, level in ROW.items() if other != column}
    given = density.expect([column], given={**kept, name: wanted}).to_numpy()[0]
    place = list(ROW).index(column)
    rows = drawn(problem, outcome_shares(problem), [place], 4000)
    assert p_value(rows[:, place], given) > _SURE
    others = [j for j in range(3) if j != place]
    assert (rows[:, others] == problem.x[others]).all()
    # with shares of 1 the outcome would not count: then the other frequencies hold
    plain = density.expect([column], given=kept).to_numpy()[0]
    unweighed = drawn(problem, np.ones(density.forest_.n_leaves), [place], 4000)
    assert p_value(unweighed[:, place], plain) > _SURE
    if column != "b":  # which says nothing of the outcome that a and c do not
        assert p_value(unweighed[:, place], given) < 1e-20
        assert p_value(rows[:, place], plain) < 1e-20


@each_outcome
def test_redrawn_levels_are_joint_and_near_the_frequencies_of_the_data(outcome):
    """a and c given b and the outcome, in rows that have them; within .08, more than three of their standard errors."""
    X, y = levels_table()
    won = y == "won" if outcome == "observed" else chance_of_winning(X) >= 0.5
    problem = problem_of(fitted(outcome), ROW)
    rows = drawn(problem, outcome_shares(problem), [0, 2], 4000)
    like = X[won & (X["b"] == "t").to_numpy()]
    for i, a in enumerate("klm"):
        for k, c in enumerate(["no", "yes"]):
            share = ((rows[:, 0] == i) & (rows[:, 2] == k)).mean()
            assert share == pytest.approx(((like["a"] == a) & (like["c"] == c)).mean(), abs=0.08)


@each_outcome
def test_shares_of_leaves_add_up_to_the_probability_of_the_outcome(outcome):
    explainer = fitted(outcome)
    density = explainer.background_.plausibility.forest
    shares = outcome_shares(problem_of(explainer, ROW))
    name, wanted = CONDITION[outcome]
    probability = math.exp(density.log_probability({name: wanted}))
    assert (shares * density.leaves_.coverage).sum() == pytest.approx(probability)
    assert shares.min() >= 0.0
    assert shares.max() <= 1.0 + 1e-12
    assert shares.std() > 0.2


def test_an_outcome_that_no_row_comes_near_weighs_nothing():
    X = pd.DataFrame({"a": np.arange(100.0), "b": np.resize([0.0, 1.0], 100)})
    explainer = ARFExplainer(lambda frame: frame["a"] * 0.0, task="regression", density=forest(), random_state=1)
    problem = problem_of(explainer.fit(X), X.iloc[[0]], Target(above=1e6))
    np.testing.assert_array_equal(outcome_shares(problem), 1.0)


def test_draws_stay_within_allowed_levels():
    problem = problem_of(fitted("predicted"), ROW, allowed={"a": ["k", "m"]})
    everywhere = np.ones(len(outcome_shares(problem)))
    rows = drawn(problem, everywhere, [0], 1000)
    assert set(rows[:, 0]) == {0.0, 2.0}
    free = drawn(problem_of(fitted("predicted"), ROW), everywhere, [0], 1000)
    assert (free[:, 0] == 1.0).mean() > 0.4  # the level that b goes with, if it were allowed


def test_bases_and_free_columns_go_together():
    problem = problem_of(fitted("predicted"), ROW)
    leaves, trees = weighed_leaves(problem, outcome_shares(problem)), problem.background.plausibility.forest.forest_
    bases = np.array([[0.0, 1.0, 0.0], [2.0, 2.0, 1.0]])
    free = np.array([[False, True, False], [True, False, True]])
    rows = draws(problem, leaves, bases, free, 200, trees)
    assert (rows[:200, [0, 2]] == [0.0, 0.0]).all()
    assert (rows[200:, 1] == 2.0).all()
    assert len(set(rows[:200, 1])) == 3
    assert len(set(rows[200:, 0])) > 1


# Numbers


@cache
def mixed_table() -> pd.DataFrame:
    rng = np.random.default_rng(6)
    n = 400
    a = rng.normal(0.0, 1.0, n)
    return pd.DataFrame(
        {
            "a": a,
            "b": a + rng.normal(0.0, 0.5, n),
            "c": rng.choice(list("uvwx"), n),
            "d": rng.integers(0, 50, n),
            "e": rng.uniform(0.0, 1.0, n),
            "f": rng.uniform(0.0, 1.0, n).round(1),
        }
    )


def score(frame: pd.DataFrame) -> np.ndarray:
    return 1 / (1 + np.exp(-2.0 * (frame["a"] + frame["b"]).to_numpy()))


@cache
def mixed() -> ARFExplainer:
    return ARFExplainer(score, classes=("bad", "good"), density=forest(), random_state=1).fit(mixed_table())


X = {"a": -1.0, "b": -1.2, "c": "u", "d": 20, "e": 0.5, "f": 0.5}


def mixed_problem(**constraints: Any) -> Problem:
    return problem_of(mixed(), X, "good", **constraints)


def test_drawn_numbers_stay_within_ranges_and_the_data():
    problem = mixed_problem(ranges={"a": (0.2, 0.9)})
    rows = drawn(problem, outcome_shares(problem), [0, 3, 5], 500)
    assert ((rows[:, 0] >= 0.2) & (rows[:, 0] <= 0.9)).all()
    assert ((rows[:, 3] >= 0) & (rows[:, 3] <= 49)).all()
    np.testing.assert_array_equal(rows[:, 3], np.rint(rows[:, 3]))
    np.testing.assert_array_equal(rows[:, 5], rows[:, 5].round(1))
    np.testing.assert_array_equal(rows[:, [1, 2, 4]], np.tile(problem.x[[1, 2, 4]], (len(rows), 1)))


def test_every_turn_has_its_trees_and_all_trees_have_their_turn():
    problem = mixed_problem()
    whole = problem.background.plausibility.forest.forest_
    for share, fewest, n in ((0.25, 1, 5), (0.3, 1, 6), (0.1, 10, 10), (0.01, 1, 1), (1.0, 1, 20), (0.1, 99, 20)):
        turns = math.ceil(20 / n)
        taken = [trees_of_turn(problem, turn, share, fewest) for turn in range(turns)]
        np.testing.assert_array_equal(np.concatenate([trees.root for trees in taken]), whole.root)
        assert [trees.n_trees for trees in taken[:-1]] == [n] * (turns - 1)
        assert 1 <= taken[-1].n_trees <= n
        for trees in taken:
            start = int(np.flatnonzero(whole.root == trees.root[0])[0])
            np.testing.assert_array_equal(trees.leaf_start, whole.leaf_start[start : start + trees.n_trees + 1])
        seen = {root for turn in range(500, 500 + 20) for root in trees_of_turn(problem, turn, share, fewest).root}
        assert seen == set(whole.root)


# Crossings


def test_crossings_are_cells_of_a_row_and_a_donor_and_few_are_likelier():
    """P(k cells of p) = log((k + 1) / k) / log(p + 1), the share of [k, k + 1) of the log scale."""
    p, n = 7, 6000
    row, donor = np.zeros((1, p)), np.arange(1.0, p + 1)[None]
    rows = crossings(row, donor, n, np.arange(p), np.random.default_rng(1))
    assert rows.shape == (n, p)
    taken = rows == donor
    assert (taken | (rows == 0.0)).all()
    k = np.arange(1, p + 1)
    expected = np.log((k + 1) / k) / math.log(p + 1)
    counts = np.bincount(taken.sum(axis=1), minlength=p + 1)
    assert counts[0] == 0
    assert stats.chisquare(counts[1:], expected * n).pvalue > _SURE
    # every column as often as another
    assert np.abs(taken.mean(axis=0) - taken.mean()).max() < 5 * 0.5 / math.sqrt(n)


def test_crossings_choose_rows_and_donors_by_chance_and_count_only_cells_that_differ():
    rows, donors = np.array([[0.0, 0, 0, 9], [1.0, 1, 1, 9]]), np.array([[2.0, 2, 2, 9], [3.0, 3, 3, 9]])
    new = crossings(rows, donors, 4000, np.arange(4), np.random.default_rng(1))
    assert (new[:, 3] == 9).all()
    n_taken = (new[:, :3] >= 2).sum(axis=1)
    expected = np.log(np.array([2, 3 / 2, 4 / 3])) / math.log(4)
    assert stats.chisquare(np.bincount(n_taken, minlength=4)[1:], expected * 4000).pvalue > _SURE
    assert not ((new == 2).any(axis=1) & (new == 3).any(axis=1)).any()
    assert 1800 < (new == 2).any(axis=1).sum() < 2200
    from_row = n_taken < 3
    assert 0.4 < (new[from_row][:, :3] == 0).any(axis=1).mean() < 0.6


def test_crossings_take_units_whole():
    unit = np.array([0, 1, 0, 3, 1, 5])
    row, donor = np.zeros((1, 6)), np.ones((1, 6))
    new = crossings(row, donor, 3000, unit, np.random.default_rng(1))
    assert (new[:, 0] == new[:, 2]).all()
    assert (new[:, 1] == new[:, 4]).all()
    assert len(np.unique(new, axis=0)) == 15  # all sets of four units but the empty one
    donor[0, 0] = 0.0  # the part of a unit that is equal has nothing to give
    new = crossings(row, donor, 1000, unit, np.random.default_rng(1))
    assert (new[:, 0] == 0.0).all()
    assert new.any(axis=1).all()
    assert 0.0 < new[:, 2].mean() < 1.0


def test_crossings_of_missing_cells_and_of_nothing():
    nan, rng = np.nan, np.random.default_rng(1)
    new = crossings(np.array([[nan, nan, 1.0]]), np.array([[nan, 2.0, nan]]), 200, np.arange(3), rng)
    assert np.isnan(new[:, 0]).all()
    assert {0, 200} & {int((new[:, 1] == 2.0).sum()), int(np.isnan(new[:, 2]).sum())} == set()
    same = np.ones((1, 3))
    np.testing.assert_array_equal(crossings(same, same, 5, np.arange(3), rng), np.ones((5, 3)))
    assert crossings(same, same[:0], 5, np.arange(3), rng).shape == (0, 3)
    assert crossings(same, same, 0, np.arange(3), rng).shape == (0, 3)


# What is taken back


def far_rows(n: int) -> np.ndarray:
    """Rows that differ from x in every cell."""
    rng = np.random.default_rng(9)
    columns = [
        rng.uniform(0.0, 2.0, n),
        rng.uniform(0.0, 2.0, n),
        rng.integers(1, 4, n),
        rng.integers(21, 50, n),
        rng.uniform(0.6, 1.0, n),
        rng.integers(6, 11, n) / 10,
    ]
    return np.column_stack(columns).astype(float)


def test_changes_beyond_the_most_are_taken_back_at_random():
    problem, rows = mixed_problem(max_changed=2), far_rows(1500)
    new = admissible(problem, rows)
    kept = new != problem.x
    assert (kept.sum(axis=1) == 2).all()
    assert (new[kept] == rows[kept]).all()
    assert stats.chisquare(kept.sum(axis=0)).pvalue > _SURE
    assert len(np.unique(kept, axis=0)) == 15
    few = np.where(np.arange(6) < 2, rows, problem.x)
    np.testing.assert_array_equal(admissible(problem, few), few)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    "groups", [[["a", "c"]], [["a", "c"], ["b", "d"]], [["a", "c", "e"]], [["a", "b"], ["b", "f"]]]
)
def test_with_groups_no_more_than_the_most_change_and_groups_stay_whole(most, groups):
    problem = mixed_problem(max_changed=most, groups=groups)
    rows = far_rows(400)
    rows[200:] = np.where(np.random.default_rng(2).random((200, 6)) < 0.7, rows[200:], problem.x)
    unit = unit_of(problem.limits)
    partly = np.array([len({bool(d) for d in differs[unit == u]}) > 1 for differs in rows != problem.x for u in unit])
    whole = rows[~partly.reshape(-1, 6).any(axis=1)]
    assert len(whole) >= 200
    new = admissible(problem, whole)
    assert problem.limits.hold(new).all()
    kept = new != problem.x
    assert kept.sum(axis=1).max() <= most
    assert (new[kept] == whole[kept]).all()
    # what may change at all is kept in some rows
    np.testing.assert_array_equal(kept.any(axis=0), problem.limits.may_change)


def test_cells_that_are_not_allowed_keep_the_own_value():
    said = {"fixed": ["e"], "ranges": {"a": (0.5, 1.0)}, "allowed": {"c": ["w"]}, "direction": {"d": "decrease"}}
    problem, rows = mixed_problem(**said), far_rows(300)
    new = admissible(problem, rows)
    assert problem.limits.hold(new).all()
    inside = (rows[:, 0] >= 0.5) & (rows[:, 0] <= 1.0)
    assert 0 < inside.sum() < 300
    np.testing.assert_array_equal(new[:, 0], np.where(inside, rows[:, 0], -1.0))
    np.testing.assert_array_equal(new[:, 1], rows[:, 1])
    np.testing.assert_array_equal(new[:, 2], np.where(rows[:, 2] == 2.0, 2.0, 0.0))
    assert (new[:, 3] == 20).all()
    assert (new[:, 4] == 0.5).all()


# Uniform rows


def test_uniform_rows_change_each_number_of_features_as_often_and_fill_what_is_allowed():
    problem = mixed_problem(fixed=["f"], ranges={"a": (0.0, 1.0), "d": (3, 12)}, allowed={"c": ["v", "x"]})
    n = 6000
    rows = uniform_rows(problem, n)
    assert (rows[:, 5] == 0.5).all()
    differs = rows != problem.x
    assert stats.chisquare(np.bincount(differs.sum(axis=1), minlength=6)[1:6]).pvalue > _SURE
    assert stats.chisquare(differs[:, :5].sum(axis=0)).pvalue > _SURE
    data = mixed_table()
    low, high = data["b"].min(), data["b"].max()
    assert stats.kstest(rows[differs[:, 0], 0], "uniform").pvalue > _SURE
    assert stats.kstest((rows[differs[:, 1], 1] - low) / (high - low), "uniform").pvalue > _SURE
    for j, values in ((2, [1.0, 3.0]), (3, list(range(3, 13)))):
        seen, counts = np.unique(rows[differs[:, j], j], return_counts=True)
        assert seen.tolist() == values
        assert stats.chisquare(counts).pvalue > _SURE


def test_uniform_rows_obey_the_most_and_units():
    problem = mixed_problem(max_changed=3, groups=[["a", "b"]])
    differs = uniform_rows(problem, 2000) != problem.x
    assert (differs[:, 0] == differs[:, 1]).all()
    assert 0 < differs[:, 0].mean() < 1
    one_hot = pd.DataFrame({f"j{k}": np.resize(np.eye(3)[k], 60) for k in range(3)} | {"z": np.arange(60.0)})
    explainer = ARFExplainer(lambda frame: frame["z"], task="regression", density=forest(), random_state=1).fit(one_hot)
    problem = problem_of(explainer, one_hot.iloc[[0]], Target(above=50), exactly_one=[["j0", "j1", "j2"]])
    rows = uniform_rows(problem, 600)
    assert (rows[:, :3].sum(axis=1) == 1).all()
    assert (rows[:, :3].sum(axis=0) > 60).all()
