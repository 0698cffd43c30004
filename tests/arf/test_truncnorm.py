"""The truncated normal against mpmath (60 digits), and its fit against a general optimiser."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from countarfactuals.arf import truncnorm
from countarfactuals.arf.truncnorm import (
    WIDEST,
    log_interval_mass,
    log_mass_,
    log_ndtr,
    truncated_logpdf,
    truncated_mean,
    truncated_ppf,
)

from .twins import called

fit_ = called(truncnorm.fit_)
mp.mp.dps = 60
INF = math.inf


def exact_mass(alpha: float, beta: float) -> mp.mpf:
    """Φ(β) − Φ(α) by the complementary error function on the side where nothing cancels."""
    a, b = mp.mpf(alpha), mp.mpf(beta)
    if a > 0:
        a, b = -b, -a
    return (mp.erfc(-b / mp.sqrt(2)) - mp.erfc(-a / mp.sqrt(2))) / 2


INTERVALS = [
    *((x, x + w) for x in (-3.0, -0.7, -1e-9, 0.0, 0.3, 2.5) for w in (1e-13, 1e-7, 9e-5, 1.1e-4, 0.01, 1.0, 5.0)),
    *((x, x + w) for x in (6.0, 12.0, 25.0, 37.5, 40.0, 60.0) for w in (1e-3, 0.1, 3.0)),
    *((-INF, x) for x in (-200.0, -37.0, -36.0, -35.9, -8.0, 0.0, 1.0, 9.0)),
    (-9.0, 9.0),
    (-40.0, 0.5),
    (-0.5, 300.0),
]


@pytest.mark.parametrize(("alpha", "beta"), INTERVALS)
def test_log_mass(alpha, beta):
    expected = float(mp.log(exact_mass(alpha, beta)))
    tolerance = 1e-10 * max(1.0, abs(expected))
    assert log_mass_(alpha, beta) == pytest.approx(expected, rel=0, abs=tolerance)
    assert log_mass_(-beta, -alpha) == pytest.approx(expected, rel=0, abs=tolerance)


@pytest.mark.parametrize("x", [21.0, 30.0, 50.0, 200.0])
@pytest.mark.parametrize("width", [1e-10, 1e-7, 1e-5])
def test_log_mass_of_short_intervals_in_the_far_tail(x, width):
    beta = x + width
    expected = float(mp.log(exact_mass(x, beta)))
    assert log_mass_(x, beta) == pytest.approx(expected, rel=0, abs=1e-6)
    assert log_mass_(-beta, -x) == pytest.approx(expected, rel=0, abs=1e-6)


def test_log_mass_of_nothing():
    assert log_mass_(1.0, 1.0) == -INF
    assert log_mass_(2.0, 1.0) == -INF
    assert log_mass_(-INF, INF) == 0.0


def test_log_ndtr():
    x = np.concatenate([-np.geomspace(1e-3, 1e4, 60), np.geomspace(1e-3, 30, 40), [0.0]])
    with mp.workdps(250):
        expected = [float(mp.log(mp.erfc(-mp.mpf(one) / mp.sqrt(2)) / 2)) for one in x]
    np.testing.assert_allclose(log_ndtr(x), expected, rtol=1e-11)
    assert log_ndtr(-INF) == -INF


CASES = [  # a, b, mu, sigma
    (-1.0, 2.0, 0.3, 1.0),
    (0.0, INF, -3.0, 1.0),
    (-INF, 0.0, 30.0, 2.0),
    (10.0, 11.0, 0.0, 1.0),
    (-11.0, -10.0, 0.0, 1.0),
    (40.0, 45.0, 0.0, 1.0),
    (1e6, 1e6 + 1.0, 1e6 - 5.0, 0.5),
    (0.0, 1.0, 0.5, 1e-3),
    (0.0, 1.0, 0.2, 50.0),
    (0.0, 1.0, -400.0, 20.0),
    (-INF, INF, 2.0, 3.0),
]


@pytest.mark.parametrize(("a", "b", "mu", "sigma"), CASES)
def test_mean_and_density(a, b, mu, sigma):
    alpha, beta = (mp.mpf(a) - mu) / sigma, (mp.mpf(b) - mu) / sigma
    with mp.workdps(500):  # enough for the tails above to cancel harmlessly
        mass = (mp.erfc(-beta / mp.sqrt(2)) - mp.erfc(-alpha / mp.sqrt(2))) / 2
        mean = mu + sigma * (mp.npdf(alpha) - mp.npdf(beta)) / mass
    found = truncated_mean(a, b, mu, sigma)
    scale = min(sigma, b - a)
    assert found == pytest.approx(float(mean), rel=1e-13, abs=1e-8 * scale)
    for x in (0.1, 0.5, 0.93):
        at = truncated_ppf(x, a, b, mu, sigma)
        expected = float(mp.log(mp.npdf((mp.mpf(at) - mu) / sigma) / sigma / mass))
        assert truncated_logpdf(at, a, b, mu, sigma) == pytest.approx(expected, rel=1e-11, abs=1e-9)


@pytest.mark.parametrize(("a", "b", "mu", "sigma"), CASES)
def test_quantiles_invert_the_distribution_function(a, b, mu, sigma):
    u = np.array([1e-6, 0.001, 0.02, 0.3, 0.5, 0.8, 0.99, 0.9999])
    x = truncated_ppf(u, a, b, mu, sigma)
    back = np.exp(log_interval_mass(-INF, x, a, b, mu, sigma))
    # a quantile can not be closer than one float; in units of u that is density × spacing
    slack = np.exp(truncated_logpdf(x, a, b, mu, sigma)) * np.spacing(np.abs(x)) * 2
    assert (np.abs(back - u) <= 1e-9 * u + slack + 1e-12).all()


def test_outside_the_bounds():
    assert truncated_logpdf(0.0, 0.0, 1.0, 0.5, 1.0) == -INF
    assert truncated_logpdf(1.0, 0.0, 1.0, 0.5, 1.0) > -INF
    assert truncated_logpdf(1.1, 0.0, 1.0, 0.5, 1.0) == -INF
    assert log_interval_mass(2.0, 3.0, 0.0, 1.0, 0.5, 1.0) == -INF
    assert log_interval_mass(-5.0, 3.0, 0.0, 1.0, 0.5, 1.0) == 0.0


def test_uniform_is_the_limit():
    assert truncated_logpdf(0.3, 0.0, 4.0, 9.0, INF) == pytest.approx(-math.log(4))
    assert truncated_mean(0.0, 4.0, 9.0, INF) == 2.0
    assert truncated_ppf(0.25, 0.0, 4.0, 9.0, INF) == 1.0
    assert log_interval_mass(1.0, 2.0, 0.0, 4.0, 9.0, INF) == pytest.approx(math.log(0.25))


@st.composite
def distributions(draw):
    low = draw(st.one_of(st.just(-INF), st.floats(-50, 50)))
    width = draw(st.one_of(st.just(INF), st.floats(1e-6, 100)))
    high = low + width if low > -INF else draw(st.one_of(st.just(INF), st.floats(-50, 50)))
    assume(high > low)
    return low, high, draw(st.floats(-60, 60)), draw(st.floats(1e-2, 1e3))


@given(distributions(), st.lists(st.floats(1e-300, 1, exclude_max=True), min_size=2, max_size=20))
def test_quantiles_lie_inside_and_rise(distribution, shares):
    low, high, mu, sigma = distribution
    u = np.sort(np.array([0.5, *shares]))
    x = truncated_ppf(u, low, high, mu, sigma)
    assert np.isfinite(x).all()
    assert ((x >= low) & (x <= high)).all()
    # where branches of the quantile function meet, rounding may take back a few units in the last place
    assert (np.diff(x) >= -1e-9 * sigma - 4 * np.spacing(np.abs(x[1:]))).all()


def loss(mu, sigma, mean, sd, a, b) -> float:
    """Negative log-likelihood per row, from mpmath's mass where SciPy's would cancel."""
    mass = exact_mass((a - mu) / sigma, (b - mu) / sigma)
    return math.log(sigma) + float(mp.log(mass)) + ((mean - mu) ** 2 + sd**2) / (2 * sigma**2)


SAMPLES = {
    "two-sided": lambda rng: (rng.beta(2, 5, 200), 0.0, 1.0),
    "decreasing": lambda rng: (rng.exponential(1.0, 300), 0.0, INF),
    "increasing to the bound": lambda rng: (-rng.gamma(1.5, 1.0, 200), -INF, 0.0),
    "tail of a normal": lambda rng: (np.abs(rng.normal(0, 1, 400)), 0.0, INF),
    "near one bound": lambda rng: (rng.normal(2.0, 1.0, 100).clip(0.01, None), 0.0, 50.0),
    "flat": lambda rng: (rng.random(150), 0.0, 1.0),
    "sloped": lambda rng: (np.sqrt(rng.random(150)), 0.0, 1.0),
    "few rows": lambda rng: (np.array([0.2, 0.25, 0.9]), 0.0, 1.0),
    "far from zero": lambda rng: (1e4 + rng.beta(2, 3, 80), 1e4, 1e4 + 1),
    "small scale": lambda rng: (1e-6 * rng.beta(2, 3, 80), 0.0, 1e-6),
    "unbounded": lambda rng: (rng.normal(3, 2, 50), -INF, INF),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_fit_maximises_the_likelihood(name):
    values, a, b = SAMPLES[name](np.random.default_rng(3))
    mean, sd = values.mean(), values.std()
    mu, sigma = fit_(mean, sd, a, b, 5e-7)
    assert sigma <= WIDEST * sd * (1 + 1e-12)
    ours = loss(mu, sigma, mean, sd, a, b)

    def of(parameters):
        m, s = parameters[0] * sd + mean, sd * math.exp(min(parameters[1], math.log(WIDEST)))
        return loss(m, s, mean, sd, a, b) + 10 * max(0.0, parameters[1] - math.log(WIDEST)) ** 2

    starts = [(0.0, 0.0), ((mu - mean) / sd, math.log(sigma / sd)), (-20.0, 1.5), (20.0, 1.5)]
    best = min(minimize(of, start, method="Nelder-Mead", options={"maxiter": 400}).fun for start in starts)
    assert ours <= best + 1e-6
    assert ours <= loss(mean, sd, mean, sd, a, b) + 1e-9


def test_fit_beats_moments_where_truncation_matters():
    values = np.abs(np.random.default_rng(5).normal(0, 1, 2000))
    mean, sd = values.mean(), values.std()
    mu, sigma = fit_(mean, sd, 0.0, INF, 5e-7)
    # the truth is μ = 0, σ = 1; errors of 2,000 rows are about 0.15 and 0.06, moments give 0.80 and 0.60
    assert abs(mu) < 0.5
    assert abs(sigma - 1) < 0.2
    assert loss(mu, sigma, mean, sd, 0.0, INF) < loss(mean, sd, mean, sd, 0.0, INF) - 0.05


@given(st.floats(0.001, 0.999), st.floats(0.01, 1.0), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_fit_is_free_of_units(place, share, shift, scale):
    """Fitting in other units gives the same distribution, always finite, whatever the sample."""
    sd = share * math.sqrt(place * (1 - place))  # the most spread that a sample with this mean can have
    mu, sigma = fit_(place, sd, 0.0, 1.0, 5e-7)
    assert math.isfinite(mu)
    assert 0 < sigma <= WIDEST * sd * (1 + 1e-12)
    mu_2, sigma_2 = fit_(shift + scale * place, scale * sd, shift, shift + scale, 5e-7)
    here = truncated_logpdf(np.array([0.1, 0.5, 0.9]), 0.0, 1.0, mu, sigma)
    there = truncated_logpdf(shift + scale * np.array([0.1, 0.5, 0.9]), shift, shift + scale, mu_2, sigma_2)
    # relative: a peaked sample's density at 0.9 may be e^-1000, and the shift eats digits of small scales
    np.testing.assert_allclose(there + math.log(scale), here, rtol=2e-3, atol=2e-3)
