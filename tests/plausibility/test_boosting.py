"""Boosted symmetric trees: what they must be able to learn, and a slow twin of what they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from countarfactuals.plausibility.boosting import Boosting, Trees, boost_levels, boost_number, level_log_p, outputs

OPTIONS = Boosting(n_trees=60, depth=4, rate=0.3, spread_rate=0.15, ridge=3.0, share=0.5, n_columns=12)
N = 3000


def table(seed: int = 0, n: int = N, n_codes: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Codes of five columns that have nothing to do with each other; code 0, a gap, is rare."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(1, n_codes, (5, n)).astype(np.uint8)
    codes[rng.random((5, n)) < 0.02] = 0
    return codes, np.full(5, n_codes, np.int64)


def number(codes, n_codes, y, *, offset=None, unordered=None, seed=1, options=OPTIONS) -> Trees:
    unordered = np.zeros(len(codes), np.bool_) if unordered is None else unordered
    offset = np.zeros(len(y)) if offset is None else offset
    return boost_number(codes, n_codes, unordered, np.arange(len(codes)), y, offset, np.uint64(seed), options)


def said(codes, trees, unordered=None) -> np.ndarray:
    return outputs(codes, np.zeros(len(codes), np.bool_) if unordered is None else unordered, trees)


def slow_outputs(codes: np.ndarray, unordered: np.ndarray, trees: Trees) -> np.ndarray:
    """Row by row and tree by tree, by the words of the docstring."""
    result = np.tile(trees.start, (codes.shape[1], 1))
    for i in range(codes.shape[1]):
        for tree in range(len(trees.column)):
            answers = []
            for column, code in zip(trees.column[tree].tolist(), trees.code[tree].tolist(), strict=True):
                if column < 0:
                    break
                own = int(codes[column, i])
                answers.append(own == code if unordered[column] else own > code)
            leaf = sum(2**level for level, yes in enumerate(answers) if yes)
            result[i] += trees.value[tree, leaf]
    return result


def learned(truth: np.ndarray, guess: np.ndarray) -> float:
    """Share of the variance that is explained."""
    return 1.0 - ((truth - guess) ** 2).mean() / truth.var()


def test_outputs_equal_their_twin():
    codes, n_codes = table(n=200)
    rng = np.random.default_rng(0)
    unordered = np.array([False, True, False, True, False])
    y = codes[0] * 0.1 + (codes[1] == 3) + rng.normal(0, 0.3, 200)
    trees = number(codes, n_codes, y, unordered=unordered)
    assert (trees.column >= 0).any()
    np.testing.assert_allclose(said(codes, trees, unordered), slow_outputs(codes, unordered, trees), atol=1e-12)
    levels = boost_levels(
        codes, n_codes, unordered, np.arange(5), rng.integers(3, size=200), 3, np.uint64(1), OPTIONS._replace(n_trees=9)
    )
    np.testing.assert_allclose(said(codes, levels, unordered), slow_outputs(codes, unordered, levels), atol=1e-12)


def test_the_first_question_of_a_tree_is_the_best_one():
    """All rows, one tree, one level: the cut with the largest decrease of squared error, tried one by one."""
    codes, n_codes = table(1, 400)
    rng = np.random.default_rng(1)
    y = 0.5 * (codes[3] > 8) + rng.normal(0, 0.5, 400)
    options = OPTIONS._replace(n_trees=1, depth=1, share=1.0)
    trees = number(codes, n_codes, y, options=options)
    e = np.clip((y - y.mean()) / y.std(), -4, 4)
    gradient = np.column_stack([e, 0.5 * (np.minimum(e * e, 4.0) - 1.0)])

    def gain(yes: np.ndarray) -> float:
        parts = [gradient[yes], gradient[~yes]]
        return sum(float((part.sum(axis=0) ** 2).sum() / (len(part) + options.ridge)) for part in parts)

    gains = {(j, t): gain(codes[j] > t) for j in range(5) for t in range(15)}
    assert (int(trees.column[0, 0]), int(trees.code[0, 0])) == max(gains, key=lambda one: gains[one])


def test_a_step_is_learned():
    codes, n_codes = table()
    rng = np.random.default_rng(1)
    step = np.where(codes[2] > 7, 2.0, -1.0)
    trees = number(codes, n_codes, step + rng.normal(0, 0.5, N))
    fresh, _ = table(5)
    truth = np.where(fresh[2] > 7, 2.0, -1.0)
    mean, log_spread = said(fresh, trees).T
    assert learned(truth, mean) > 0.97
    assert np.exp(log_spread).mean() == pytest.approx(0.5, abs=0.1)


def test_what_a_linear_part_says_is_not_learned_again():
    codes, n_codes = table()
    rng = np.random.default_rng(2)
    offset = 3.0 * codes[0].astype(float)
    trees = number(codes, n_codes, offset + 7.0 + rng.normal(0, 1.0, N), offset=offset)
    mean, log_spread = said(table(4)[0], trees).T
    assert abs(mean.mean() - 7.0) < 0.1
    assert mean.std() < 0.4  # the slope itself would give 13
    assert np.exp(log_spread).mean() == pytest.approx(1.0, abs=0.2)  # a little is always learned by heart


def test_a_product_of_two_columns_is_learned():
    """No column alone tells anything of the sign."""
    codes, n_codes = table()

    def product(some: np.ndarray) -> np.ndarray:
        return np.where(some[0] > 7, 1.0, -1.0) * np.where(some[1] > 7, 1.0, -1.0)

    rng = np.random.default_rng(3)
    trees = number(codes, n_codes, product(codes) + rng.normal(0, 0.3, N))
    fresh, _ = table(6)
    assert learned(product(fresh), said(fresh, trees)[:, 0]) > 0.9


def test_a_spread_that_depends_on_another_column_is_learned():
    codes, n_codes = table()
    rng = np.random.default_rng(4)
    spread = np.where(codes[4] > 7, 3.0, 0.3)
    trees = number(codes, n_codes, spread * rng.normal(size=N))
    fresh, _ = table(7)
    mean, log_spread = said(fresh, trees).T
    guess = np.exp(log_spread)
    assert np.median(guess[fresh[4] > 7]) == pytest.approx(3.0, rel=0.25)
    assert np.median(guess[(fresh[4] <= 7) & (fresh[4] > 0)]) == pytest.approx(0.3, rel=0.35)
    assert np.abs(mean).mean() < 0.5


def test_a_question_of_unordered_levels_takes_one_out():
    codes, n_codes = table()
    unordered = np.ones(5, np.bool_)
    rng = np.random.default_rng(5)
    trees = number(codes, n_codes, 4.0 * (codes[1] == 6) + rng.normal(0, 0.5, N), unordered=unordered)
    fresh, _ = table(8)
    assert learned(4.0 * (fresh[1] == 6), said(fresh, trees, unordered)[:, 0]) > 0.9
    assert ((trees.column == 1) & (trees.code == 6)).any()


def test_a_gap_can_be_asked_for():
    codes, n_codes = table()
    codes[0, : N // 5] = 0
    rng = np.random.default_rng(6)
    trees = number(codes, n_codes, 2.0 * (codes[0] == 0) + rng.normal(0, 0.3, N))
    assert learned(2.0 * (codes[0] == 0), said(codes, trees)[:, 0]) > 0.95


def test_levels_are_learned():
    """Probabilities by two columns, an interaction among them: far nearer to the truth than the shares of all rows."""
    codes, n_codes = table(n=6000)

    def odds(some: np.ndarray) -> np.ndarray:
        high, right = some[0] > 7, some[1] > 7
        return np.column_stack([2.0 * (high == right), 1.5 * high, np.zeros(some.shape[1])])

    rng = np.random.default_rng(7)
    p = softmax(odds(codes), axis=1)
    y = (rng.random(6000)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    ordered = np.zeros(5, np.bool_)
    trees = boost_levels(codes, n_codes, ordered, np.arange(5), y, 3, np.uint64(1), OPTIONS)
    fresh, _ = table(9, 6000)
    known = (fresh[:2] > 0).all(axis=0)
    guess, truth = np.exp(level_log_p(said(fresh, trees)))[known], softmax(odds(fresh), axis=1)[known]
    assert np.abs(guess - truth).mean() < 0.5 * np.abs(softmax(trees.start) - truth).mean()
    for group in np.unique(truth, axis=0):
        same = (truth == group).all(axis=1)
        np.testing.assert_allclose(guess[same].mean(axis=0), group, atol=0.05)


def test_two_levels_are_learned_by_one_output():
    codes, n_codes = table(n=6000)

    def p_of_first(some: np.ndarray) -> np.ndarray:
        return np.where((some[0] > 7) == (some[1] > 7), 0.9, 0.2)

    y = (np.random.default_rng(7).random(6000) > p_of_first(codes)).astype(np.int64)
    trees = boost_levels(codes, n_codes, np.zeros(5, np.bool_), np.arange(5), y, 2, np.uint64(1), OPTIONS)
    assert trees.value.shape[2] == 1
    fresh, _ = table(9, 6000)
    guess = np.exp(level_log_p(said(fresh, trees)))
    np.testing.assert_allclose(guess.sum(axis=1), 1.0)
    for p in (0.9, 0.2):
        same = (p_of_first(fresh) == p) & (fresh[:2] > 0).all(axis=0)
        assert guess[same, 0].mean() == pytest.approx(p, abs=0.05)


def test_a_level_that_nobody_has_keeps_a_little_probability():
    codes, n_codes = table(n=300)
    y = np.zeros(300, np.int64)
    trees = boost_levels(codes, n_codes, np.zeros(5, np.bool_), np.arange(5), y, 2, np.uint64(1), OPTIONS)
    p = np.exp(level_log_p(said(codes, trees)))[:, 1]
    assert ((p > 0.0) & (p < 0.01)).all()


def test_noise_is_hardly_learned():
    codes, n_codes = table()
    y = np.random.default_rng(8).normal(size=N)
    mean, log_spread = said(table(10)[0], number(codes, n_codes, y)).T
    assert mean.std() < 0.35
    assert np.abs(log_spread).mean() < 0.2


def test_single_values_far_out_do_not_lead():
    codes, n_codes = table()
    rng = np.random.default_rng(9)
    truth = np.where(codes[2] > 7, 1.0, -1.0)
    y = truth + rng.normal(0, 0.5, N)
    y[:10] += 200.0
    mean = said(codes, number(codes, n_codes, y))[:, 0]
    assert np.abs(mean[codes[2] > 7].mean() - 1.0) < 0.25
    assert np.abs(mean[(codes[2] <= 7) & (codes[2] > 0)].mean() + 1.0) < 0.25


def test_the_seed_decides_and_only_other_columns_are_asked_about():
    codes, n_codes = table()
    rng = np.random.default_rng(10)
    y = codes[0] * 0.2 + codes[3] * 0.1 + rng.normal(size=N)
    one, same, other = (number(codes, n_codes, y, seed=seed) for seed in (3, 3, 4))
    for ours, theirs in zip(one, same, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert (one.value != other.value).any()
    others = np.array([1, 3])
    limited = boost_number(codes, n_codes, np.zeros(5, np.bool_), others, y, np.zeros(N), np.uint64(1), OPTIONS)
    assert set(limited.column.ravel().tolist()) <= {-1, 1, 3}


def test_without_other_columns_the_start_is_all():
    codes, n_codes = table(n=100)
    y = np.random.default_rng(11).normal(3.0, 2.0, 100)
    nothing = np.empty(0, np.int64)
    trees = boost_number(codes, n_codes, np.zeros(5, np.bool_), nothing, y, np.zeros(100), np.uint64(1), OPTIONS)
    mean, log_spread = said(codes, trees).T
    assert np.ptp(mean) == np.ptp(log_spread) == 0.0
    assert mean[0] == pytest.approx(y.mean(), abs=0.3)
