"""Association tests against SciPy, against all permutations, and against their own definition."""

from __future__ import annotations

import math
from itertools import permutations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals.explainers.moc.association import association, basis, columns_of, first_of, log_chi2_sf

from .statistics_twin import algebraic_test, influence, ranked, scipy_test

BOTH = [(False, False), (True, False), (False, True), (True, True)]
both_kinds = pytest.mark.parametrize(("x_is_level", "y_is_level"), BOTH)
both_tests = pytest.mark.parametrize("of_spread", [False, True], ids=["means", "means and spreads"])


def some_column(rng: np.random.Generator, n: int, by_level: bool) -> np.ndarray:
    return rng.choice([0.0, 2.0, 3.0, 7.0], n) if by_level else rng.normal(1e3, 2.0, n)


def ours(x: np.ndarray, y: np.ndarray, x_is_level: bool, y_is_level: bool, of_spread: bool = True) -> tuple[float, int]:
    a, b = columns_of(x, x_is_level), columns_of(y, y_is_level)
    return association(a, b) if of_spread else association(first_of(a), first_of(b))


def p_value(statistic: float, df: int) -> float:
    return math.exp(log_chi2_sf(np.array([statistic]), np.array([df]))[0])


@both_kinds
@given(seed=st.integers(0, 10**6), n=st.integers(30, 80))
def test_tests_of_means_are_those_derived_from_scipy(x_is_level, y_is_level, seed, n):
    rng = np.random.default_rng(seed)
    x, y = some_column(rng, n, x_is_level), some_column(rng, n, y_is_level)
    statistic, df = ours(x, y, x_is_level, y_is_level, of_spread=False)
    theirs, their_df = scipy_test(x, y, x_is_level, y_is_level)
    assert statistic == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    assert df == their_df


@both_kinds
@given(seed=st.integers(0, 10**6), n=st.integers(12, 60), n_values=st.integers(2, 5))
def test_statistics_are_the_quadratic_form_of_the_definition(x_is_level, y_is_level, seed, n, n_values):
    """Numbers with few values too: with two of them the square is a multiple of the number, and adds no rank."""
    rng = np.random.default_rng(seed)
    x, y = some_column(rng, n, x_is_level), rng.integers(0, n_values, n) * 1.0
    x[:4], y[:2] = [0, 2, 3, 7], [0, 1]
    statistic, df = ours(x, y, x_is_level, y_is_level)
    twin, twin_df = algebraic_test(x, y, x_is_level, y_is_level)
    assert statistic == pytest.approx(twin, rel=1e-6, abs=1e-8)
    assert df == twin_df


def test_large_tables_are_counted_the_same():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 90, 400) * 1.0, rng.integers(0, 80, 400) * 1.0
    assert ours(x, y, True, True) == pytest.approx(scipy_test(x, y, True, True))


@both_kinds
@both_tests
def test_the_statistic_is_the_quadratic_form_over_all_permutations(x_is_level, y_is_level, of_spread):
    """Mean and covariance of the linear statistic by enumeration: 7! orders of the response."""
    x = np.array([0, 0, 1, 1, 2, 2, 2.0]) if x_is_level else np.array([0.3, 1.1, -2, 5, 0.7, 0.2, 4])
    y = np.array([1, 0, 0, 1, 2, 2, 1.0]) if y_is_level else np.array([3.0, 1, 2, 8, 2, -1, 6])
    g = influence(x if x_is_level else ranked(x), x_is_level, of_spread)
    h = influence(y if y_is_level else ranked(y), y_is_level, of_spread)
    orders = np.array(list(permutations(range(7))))
    linear = np.einsum("ia,oib->oab", g, h[orders]).reshape(len(orders), -1)
    away = linear[0] - linear.mean(axis=0)  # the first order is the observed one
    covariance = np.cov(linear.T, bias=True).reshape(away.size, away.size)
    statistic, df = ours(x, y, x_is_level, y_is_level, of_spread)
    assert statistic == pytest.approx(away @ np.linalg.pinv(covariance, rcond=1e-9) @ away, rel=1e-7)
    assert df == np.linalg.matrix_rank(covariance, tol=1e-9)


@both_kinds
@both_tests
def test_p_values_are_those_of_a_permutation_test(x_is_level, y_is_level, of_spread):
    rng = np.random.default_rng(3)
    n, repeats = 60, 1500
    x, y = some_column(rng, n, x_is_level), some_column(rng, n, y_is_level)
    statistic, df = ours(x, y, x_is_level, y_is_level, of_spread)
    others = [ours(x, rng.permutation(y), x_is_level, y_is_level, of_spread)[0] for _ in range(repeats)]
    p = p_value(statistic, df)
    permuted = np.mean(np.array(others) >= statistic * (1 - 1e-9))
    assert p == pytest.approx(permuted, abs=4 * math.sqrt(p * (1 - p) / repeats) + 0.015)


NULL = {
    "normal": lambda rng, n: rng.normal(size=n),
    "far tails": lambda rng, n: rng.standard_cauchy(n),
    "skewed": lambda rng, n: rng.lognormal(0.0, 1.5, n),
    "few values": lambda rng, n: rng.poisson(1.0, n) * 1.0,
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.exponential(size=n)),
}


@both_tests
@pytest.mark.parametrize("n", [40, 200])
@pytest.mark.parametrize("shape", NULL)
def test_the_level_holds_whatever_the_columns_are_like(shape, n, of_spread):
    """Unrelated columns, 800 times: .05 has a standard error of .008. Where nearly all values are equal more is stated.

    With the numbers themselves in place of their ranks the test of spreads would reject .11 of the far tails.
    """
    rng = np.random.default_rng(11)
    p = [
        p_value(*ours(NULL[shape](rng, n), NULL[shape](rng, n), False, False, of_spread=of_spread)) for _ in range(800)
    ]
    assert np.mean(np.array(p) <= 0.05) < (0.11 if shape == "mostly zero" and of_spread else 0.05 + 3 * 0.008)


def test_spread_is_seen_where_the_mean_stays():
    """A ring, a funnel, and levels with equal means: tests of means see nothing there, tests of both do."""
    rng = np.random.default_rng(0)
    angle, x = rng.uniform(0, 2 * np.pi, 500), rng.uniform(0, 1, 500)
    level = rng.integers(0, 3, 500) * 1.0
    shapes = [
        (np.cos(angle), np.sin(angle), False),
        (x, rng.normal(size=500) * x, False),
        (level, rng.normal(size=500) * (1 + level), True),
    ]
    for a, b, is_level in shapes:
        assert p_value(*ours(a, b, is_level, False, of_spread=False)) > 0.01
        assert p_value(*ours(a, b, is_level, False)) < 1e-12


@given(seed=st.integers(0, 10**6), n=st.integers(3, 50), scale=st.sampled_from([1e-150, 1.0, 1e150]))
def test_the_basis_is_orthonormal_and_spans_number_and_square(seed, n, scale):
    y = np.random.default_rng(seed).normal(5.0, 1.0, n)
    found = basis(y * scale)
    np.testing.assert_allclose(found.T @ found, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=0), 0.0, atol=1e-9)
    wanted = influence(y, False, True)
    wanted -= wanted.mean(axis=0)
    np.testing.assert_allclose(found @ (found.T @ wanted), wanted, atol=1e-8)
    np.testing.assert_allclose(found[:, 0], wanted[:, 0] / np.linalg.norm(wanted[:, 0]), atol=1e-9)


@pytest.mark.parametrize("df", [1, 2, 7, 60, 900, 40_000])
def test_log_p_values_beyond_the_smallest_float(df):
    statistic = df + np.array([0.1, 1, 10, 500, 1600, 5000, 40_000]) * max(1, df / 900)
    found = log_chi2_sf(statistic, np.full(7, df))
    with mpmath.workdps(30):
        exact = [
            float(mpmath.log(mpmath.gammainc(mpmath.mpf(df) / 2, float(s) / 2, mpmath.inf, regularized=True)))
            for s in statistic
        ]
    np.testing.assert_allclose(found, exact, rtol=1e-9)
    assert exact[-1] < -800


@both_tests
def test_a_constant_is_not_tested(of_spread):
    x = np.array([0.1, 0.1, 0.1, 0.1])  # its mean is another float
    assert ours(x, np.arange(4.0), False, False, of_spread) == (0.0, 0)
    assert ours(x, np.arange(4.0), False, True, of_spread) == (0.0, 0)
    assert ours(np.arange(4.0), np.zeros(4), False, True, of_spread) == (0.0, 0)
    assert ours(np.arange(4.0), np.zeros(4), True, True, of_spread) == (0.0, 0)
    for x_is_level, y_is_level in BOTH:
        for n in (0, 1):
            assert ours(np.zeros(n), np.zeros(n), x_is_level, y_is_level, of_spread) == (0.0, 0)
    np.testing.assert_array_equal(log_chi2_sf(np.zeros(1), np.zeros(1)), [0.0])


@both_tests
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_squares_neither_overflow_nor_vanish(scale, of_spread):
    x, y = np.arange(9.0), np.arange(9.0) ** 2
    assert ours(x * scale, y, False, False, of_spread) == pytest.approx(ours(x, y, False, False, of_spread))
