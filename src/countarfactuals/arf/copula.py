"""A Gaussian copula inside leaves: how the numbers of a leaf depend on each other, beside its own marginals.

1. The normal score of a number x_j in a leaf is z_j = Φ⁻¹(F(x_j)), with F the leaf's truncated normal; between open
   bounds that is (x − μ)/σ. Scores are cut at ±8, beyond which a normal has 1e-15 of its mass.
2. The scores of the leaf are normal with the correlations R of its *region*, a group of neighbouring leaves. A row
   that asks for the numbers S has, beside the product of its columns,

       log c(z_S) = −½ log|R_SS| − ½ z_Sᵀ (R_SS⁻¹ − I) z_S,

   so that single columns, subsets of columns and joint = conditional · marginal stay exact.
3. For a full row R⁻¹ − I and log|R| are at hand. For a subset either R_SS is factorised or, where few are left out,
   the precision of those: the smaller of the two.
4. What is not a point (an interval, alternatives) is taken after the points, one column after the other: its
   probability is that of the normal of its score given all before, and the scores still to come get the mean and the
   covariance that they then have (Mendell and Elston's method). For one such column this is exact. For more of them
   the distribution after a step is taken for normal. Probabilities of three intervals, above .01, then err by .5 % of
   themselves on average and 2 % at most where all correlations are .6, by 4 % and 13 % where they are .9.

How R is found is in `dependence`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from countarfactuals._kernels import compiled, inner, kernel
from countarfactuals._tables import by_reference
from countarfactuals.arf.truncnorm import (
    central_ndtri_,
    is_central_,
    log_mass_,
    ndtr_,
    ndtri_,
    quick_ndtr_,
    quick_ndtri_,
    truncated_ppf_,
)

FARTHEST = 8.0
ABREAST, _FEW = 64, 4  # rows that are scored at once; fewer than these are scored one by one
_LITTLE_MASS, _NO_MASS = 1e-10, 1e-280  # between a leaf's bounds: below, Φ is taken from `erfc`, or in log space


@by_reference
class Copula(NamedTuple):
    """Correlations of normal scores by region; without regions, leaves are independent."""

    region: np.ndarray  # int32 (L,), or empty for independent leaves
    correlation: np.ndarray  # float64 (r, q, q), R
    # what follows from these and from the leaves' bounds: see `with_scores`
    excess: np.ndarray  # (r, q, q) R⁻¹ − I
    log_scale: np.ndarray  # (r,) −½ log|R|
    cut_start: np.ndarray  # int64 (L + 1,) where the numbers start whose bounds in a leaf matter
    cut: np.ndarray  # int32, which numbers these are
    cut_low: np.ndarray  # Φ at the lower bound, or at the mirrored upper one if `cut_factor` is negative
    cut_factor: np.ndarray  # 1/mass between the bounds; ∞ where that is too small


def no_copula() -> Copula:
    """Independent leaves."""
    none, whole = np.empty(0), np.empty(0, np.int32)
    return Copula(whole, np.empty((0, 0, 0)), np.empty((0, 0, 0)), none, np.zeros(1, np.int64), whole, none, none)


def with_scores(copula: Copula, low: np.ndarray, high: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> Copula:
    """The copula with what densities need of it, for leaves with these bounds and parameters."""
    if len(copula.region) == 0:
        return no_copula()
    return with_precisions(_with_cuts(copula, low, high, mu, sigma))


def with_precisions(copula: Copula) -> Copula:
    """The copula with what follows from its correlations."""
    excess, log_scale = np.empty_like(copula.correlation), np.empty(len(copula.correlation))
    invert(copula.correlation, excess, log_scale)
    return copula._replace(excess=excess, log_scale=log_scale)


def _with_cuts(copula: Copula, low: np.ndarray, high: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> Copula:
    """The copula with what follows from the leaves' bounds."""
    matters = ~(((low - mu) / sigma < -FARTHEST) & ((high - mu) / sigma > FARTHEST))
    start = np.concatenate([[0], np.cumsum(matters.sum(axis=1))]).astype(np.int64)
    leaf, cut = np.nonzero(matters)
    cut_low, cut_factor = np.empty(len(cut)), np.empty(len(cut))
    _cut_parameters(low, high, mu, sigma, leaf, cut, cut_low, cut_factor)
    return copula._replace(cut_start=start, cut=cut.astype(np.int32), cut_low=cut_low, cut_factor=cut_factor)


def first_numbers(copula: Copula, n: int) -> Copula:
    """The copula of the first n numbers, without what follows from it."""
    return copula._replace(correlation=np.ascontiguousarray(copula.correlation[:, :n, :n]))


@kernel
def _cut_parameters(low, high, mu, sigma, leaves, cut, cut_low, cut_factor):  # type: ignore[no-untyped-def]
    """What the scores of numbers between bounds need besides μ and σ."""
    for e in range(len(cut)):
        leaf, k = leaves[e], cut[e]
        alpha, beta = (low[leaf, k] - mu[leaf, k]) / sigma[leaf, k], (high[leaf, k] - mu[leaf, k]) / sigma[leaf, k]
        mirrored = alpha > 0.0  # in the upper tail nothing cancels on the mirrored side
        if mirrored:
            alpha, beta = -beta, -alpha
        mass = math.exp(log_mass_(alpha, beta))
        if mass < _NO_MASS or beta - alpha < 1e-6:
            cut_low[e], cut_factor[e] = 0.0, math.inf
        else:
            cut_low[e] = ndtr_(alpha) if mass < _LITTLE_MASS else quick_ndtr_(alpha)
            cut_factor[e] = -1.0 / mass if mirrored else 1.0 / mass


@inner
def _slow_score(x, low, high, mu, sigma):  # type: ignore[no-untyped-def]
    alpha, beta, t = (low - mu) / sigma, (high - mu) / sigma, (x - mu) / sigma
    log_all = log_mass_(alpha, beta)
    if log_all == -math.inf:
        return 0.0
    below = math.exp(min(log_mass_(alpha, t) - log_all, 0.0))
    return ndtri_(below) if below < 0.5 else -ndtri_(math.exp(min(log_mass_(t, beta) - log_all, 0.0)))


class Scores(NamedTuple):
    """Room for the normal scores of rows in one leaf; used again for the next."""

    rows: np.ndarray  # int64 (ABREAST,), of which rows
    z: np.ndarray  # (ABREAST, q)
    below: np.ndarray  # (ABREAST,), of one number
    along: np.ndarray  # (ABREAST,)


@inner
def room_for_scores(q):  # type: ignore[no-untyped-def]
    """Room for rows of q numbers."""
    return Scores(np.empty(ABREAST, np.int64), np.empty((ABREAST, q)), np.empty(ABREAST), np.empty(ABREAST))


@inner
def fill_scores(copula, mu, inverse, low, high, x, leaf, n, scores):  # type: ignore[no-untyped-def]
    """The normal scores of n rows of `x` in a leaf: first as between open bounds, then the others again."""
    rows, z, q = scores.rows, scores.z, np.uint64(x.shape[1])
    for m in range(np.uint64(n)):
        i = np.uint64(rows[m])
        for k in range(q):
            z[m, k] = (x[i, k] - mu[leaf, k]) * inverse[leaf, k]
    for e in range(np.uint64(copula.cut_start[leaf]), np.uint64(copula.cut_start[leaf + np.uint64(1)])):
        k, factor = np.uint64(copula.cut[e]), copula.cut_factor[e]
        side = math.copysign(1.0, factor)
        if abs(factor) < 1.0 / _LITTLE_MASS:
            _score_abreast(scores, k, n, side, copula.cut_low[e], abs(factor))
        elif factor == math.inf:
            for m in range(n):
                z[m, k] = _slow_score(x[rows[m], k], low[leaf, k], high[leaf, k], mu[leaf, k], 1.0 / inverse[leaf, k])
        else:
            for m in range(n):
                z[m, k] = side * ndtri_((ndtr_(side * z[m, k]) - copula.cut_low[e]) * abs(factor))
    for m in range(np.uint64(n)):
        for k in range(q):
            z[m, k] = min(max(z[m, k], -FARTHEST), FARTHEST)


@njit(inline="always")
def _score_abreast(scores, k, n, side, low, factor):  # type: ignore[no-untyped-def]
    """Scores of number k between bounds, from those between open ones.

    Several rows go abreast, in vector registers, which takes a third of the time; tails are few and come after.
    """
    z, below, along = scores.z, scores.below, scores.along
    if n < _FEW:
        for m in range(np.uint64(n)):
            z[m, k] = side * quick_ndtri_((quick_ndtr_(side * z[m, k]) - low) * factor)
        return
    for m in range(np.uint64(n)):
        along[m] = z[m, k]
    for m in range(np.uint64(n)):
        below[m] = (quick_ndtr_(side * along[m]) - low) * factor
    for m in range(np.uint64(n)):
        along[m] = central_ndtri_(below[m] if is_central_(below[m]) else 0.5)
    for m in range(np.uint64(n)):
        z[m, k] = side * (along[m] if is_central_(below[m]) else ndtri_(below[m]))


@inner
def score_in(leaves, x, leaf, k):  # type: ignore[no-untyped-def]
    """The normal score of x, a value of number k, in a leaf."""
    copula, mu, sigma = leaves.copula, leaves.mu[leaf, k], leaves.sigma[leaf, k]
    z = (x - mu) / sigma
    for e in range(copula.cut_start[leaf], copula.cut_start[leaf + 1]):
        if copula.cut[e] == k:
            factor = copula.cut_factor[e]
            side = math.copysign(1.0, factor)
            if abs(factor) < 1.0 / _LITTLE_MASS:
                z = side * quick_ndtri_((quick_ndtr_(side * z) - copula.cut_low[e]) * abs(factor))
            elif factor == math.inf:
                z = _slow_score(x, leaves.low[leaf, k], leaves.high[leaf, k], mu, sigma)
            else:
                z = side * ndtri_((ndtr_(side * z) - copula.cut_low[e]) * abs(factor))
    return min(max(z, -FARTHEST), FARTHEST)


@inner
def value_of_score(leaves, z, leaf, k):  # type: ignore[no-untyped-def]
    """The inverse of `score_in`."""
    a, b, mu, sigma = leaves.low[leaf, k], leaves.high[leaf, k], leaves.mu[leaf, k], leaves.sigma[leaf, k]
    if a == -math.inf and b == math.inf:
        return mu + sigma * z
    if z > 0.0:  # the upper tail by its own probability, which has more digits
        return -truncated_ppf_(ndtr_(-z), -b, -a, -mu, sigma)
    return truncated_ppf_(ndtr_(z), a, b, mu, sigma)


@inner
def factorise(matrix, n):  # type: ignore[no-untyped-def]
    """Replace the lower triangle of the first n rows by the Cholesky factor; returns the least pivot."""
    least = math.inf
    for a in range(n):
        for b in range(a + 1):
            total = matrix[a, b]
            for c in range(b):
                total -= matrix[a, c] * matrix[b, c]
            if a == b:
                least = min(least, total)
                if not total > 0.0:
                    return total
                matrix[a, a] = math.sqrt(total)
            else:
                matrix[a, b] = total / matrix[b, b]
    return least


@kernel
def invert(correlation, excess, log_scale):  # type: ignore[no-untyped-def]
    """R⁻¹ − I and −½ log|R| of every region."""
    n_regions, q = correlation.shape[0], correlation.shape[1]
    factor, inverse = np.empty((q, q)), np.zeros((q, q))
    for r in range(n_regions):
        for a in range(q):
            for b in range(q):
                factor[a, b] = correlation[r, a, b]
        factorise(factor, q)
        log_det = 0.0
        for a in range(q):
            log_det += math.log(factor[a, a])
            # row a of L⁻¹
            inverse[a, a] = 1.0 / factor[a, a]
            for b in range(a):
                total = 0.0
                for c in range(b, a):
                    total += factor[a, c] * inverse[c, b]
                inverse[a, b] = -total / factor[a, a]
        log_scale[r] = -log_det
        for a in range(q):
            for b in range(a + 1):
                total = 0.0
                for c in range(a, q):
                    total += inverse[c, a] * inverse[c, b]
                excess[r, a, b] = excess[r, b, a] = total - 1.0 if a == b else total


@compiled(no_cpython_wrapper=True, fastmath={"reassoc", "contract"})
def _half_form(excess, r, z):  # type: ignore[no-untyped-def]
    """½ zᵀ E z, by the lower triangle."""
    total, q = 0.0, len(z)
    for a in range(q):
        row = 0.5 * excess[r, a, a] * z[a]
        for b in range(a):
            row += excess[r, a, b] * z[b]
        total += row * z[a]
    return total


class Workspace(NamedTuple):
    """Room for the columns of one condition; used again for the next."""

    first: np.ndarray  # int64 (q,)
    second: np.ndarray  # int64 (q,)
    vector: np.ndarray  # (q,)
    matrix: np.ndarray  # (q, q)


@inner
def workspace(q):  # type: ignore[no-untyped-def]
    """Room for q numbers."""
    return Workspace(np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q), np.empty((q, q)))


@njit(inline="always")
def log_copula_all(copula, leaf, z):  # type: ignore[no-untyped-def]
    """Log c(z) of a row that asks for every number."""
    r = np.uint64(copula.region[leaf])
    return copula.log_scale[r] - _half_form(copula.excess, r, z)


@inner
def log_copula_some(copula, is_asked, i, leaf, z, work):  # type: ignore[no-untyped-def]
    """Log c(z_S) of a row that asks for some numbers."""
    asked, left, vector, matrix = work.first, work.second, work.vector, work.matrix
    q, s, t, r = len(z), 0, 0, np.uint64(copula.region[leaf])
    for k in range(q):
        if is_asked[i, k] > 0.0:
            asked[s] = k
            s += 1
        else:
            left[t] = k
            t += 1
    total = 0.0
    if s <= t:
        correlation = copula.correlation
        for a in range(s):
            for b in range(a + 1):
                matrix[a, b] = correlation[r, asked[a], asked[b]]
        factorise(matrix, s)
        for a in range(s):
            rest = z[asked[a]]
            for b in range(a):
                rest -= matrix[a, b] * vector[b]
            vector[a] = rest / matrix[a, a]
            total += 0.5 * (z[asked[a]] * z[asked[a]] - vector[a] * vector[a]) - math.log(matrix[a, a])
        return total
    excess = copula.excess
    for a in range(t):
        z[left[a]] = 0.0
    total = copula.log_scale[r] - _half_form(excess, r, z)
    for a in range(t):
        vector[a] = 0.0
        for b in range(s):
            vector[a] += excess[r, left[a], asked[b]] * z[asked[b]]
        for b in range(a):
            matrix[a, b] = excess[r, left[a], left[b]]
        matrix[a, a] = 1.0 + excess[r, left[a], left[a]]
    factorise(matrix, t)
    for a in range(t):
        for b in range(a):
            vector[a] -= matrix[a, b] * vector[b]
        vector[a] /= matrix[a, a]
        total += 0.5 * vector[a] * vector[a] - math.log(matrix[a, a])
    return total
