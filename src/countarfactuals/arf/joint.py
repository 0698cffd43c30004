"""The numbers of a leaf taken together, where something else than points is asked of them.

1. The scores of the points are given. Those of the columns that follow are normal with the conditional mean and
   covariance.
2. A column with intervals or alternatives is a list of *pieces*: an interval of scores, a single score, or atoms, which
   say nothing of the score. Each has a weight, and the score a mean and a variance within it.
3. `restrict` takes one column: the log of its weights' sum, and the mean and the variance of its score. The columns to
   come then get the moments that follow, and are taken for normal again (see `copula`).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from countarfactuals._kernels import inner
from countarfactuals.arf.atoms import atom_of
from countarfactuals.arf.copula import factorise, score_in
from countarfactuals.arf.leaves import log_level
from countarfactuals.arf.truncnorm import LOG_SQRT_2PI, log_mass_, truncated_logpdf_

INTERVAL, SINGLE, ATOMS = 0, 1, 2


@inner
def condition(leaves, order, z, n_given, n, leaf, mean, covariance):  # type: ignore[no-untyped-def]
    """Mean and covariance of the scores after the first `n_given` of `order`, given those; returns log c of these."""
    correlation, r = leaves.copula.correlation, leaves.copula.region[leaf]
    matrix, vector = np.empty((n, n)), np.empty(n)
    for a in range(n):
        for b in range(a + 1):
            matrix[a, b] = correlation[r, order[a], order[b]]
    factorise(matrix, n)
    total = 0.0
    for a in range(n_given):
        rest = z[a]
        for b in range(a):
            rest -= matrix[a, b] * vector[b]
        vector[a] = rest / matrix[a, a]
        total += 0.5 * (z[a] * z[a] - vector[a] * vector[a]) - math.log(matrix[a, a])
    for a in range(n_given, n):
        mean[a - n_given] = 0.0
        for b in range(n_given):
            mean[a - n_given] += matrix[a, b] * vector[b]
        for b in range(n_given, a + 1):
            cell = 0.0
            for c in range(n_given, b + 1):
                cell += matrix[a, c] * matrix[b, c]
            covariance[a - n_given, b - n_given] = covariance[b - n_given, a - n_given] = cell
    return total


@inner
def truncated_moments(low, high, mean, variance):  # type: ignore[no-untyped-def]
    """Log mass of a normal in (low, high], and its mean and variance there."""
    sd = math.sqrt(variance)
    alpha, beta = (low - mean) / sd, (high - mean) / sd
    log_p = log_mass_(alpha, beta)
    if log_p == -math.inf:
        return log_p, mean, variance
    if beta - alpha < 1e-4:
        return log_p, 0.5 * (low + high), (high - low) ** 2 / 12.0
    at_low = math.exp(-0.5 * alpha * alpha - LOG_SQRT_2PI - log_p) if alpha > -math.inf else 0.0
    at_high = math.exp(-0.5 * beta * beta - LOG_SQRT_2PI - log_p) if beta < math.inf else 0.0
    shift = min(max(at_low - at_high, alpha), beta)
    spread = 1.0 - shift * shift
    if at_low > 0.0:
        spread += alpha * at_low
    if at_high > 0.0:
        spread -= beta * at_high
    return log_p, mean + sd * shift, variance * min(max(spread, 0.0), 1.0)


@inner
def pieces(forest, leaves, evidence, i, j, leaf, mean, variance):  # type: ignore[no-untyped-def]
    """The pieces of column j's condition, (pieces, 7): kind, log weight, mean and variance of the score, the interval
    of scores or (value, value), and which interval or alternative it comes from.
    """
    k, place, values = leaves.number_of[j], leaves.atoms_of[j], leaves.values
    a, b, mu, sigma = leaves.low[leaf, k], leaves.high[leaf, k], leaves.mu[leaf, k], leaves.sigma[leaf, k]
    first, last = values.atom_start[j], values.atom_start[j + 1]
    log_continuous = log_level(forest, leaves, leaf, j, place, last - first) if place >= 0 else 0.0
    start, stop = evidence.start[i, j], evidence.stop[i, j]
    result = np.empty((2 * (stop - start) + last - first, 7))
    n = 0
    for e in range(start, stop):
        low, high = evidence.low[e], evidence.high[e]
        for t in range(first, last):
            if values.atom[t] >= low and values.atom[t] <= high:
                weight = log_level(forest, leaves, leaf, j, place, t - first)
                if low == high and values.step[j] > 0.0:
                    weight -= math.log(values.step[j])
                _write(result[n], ATOMS, weight, mean, variance, values.atom[t], values.atom[t], e)
                n += 1
        if low == high:
            if place >= 0 and atom_of(values, j, low) >= 0:
                continue
            weight = log_continuous + truncated_logpdf_(low, a, b, mu, sigma)
            z = score_in(leaves, low, leaf, k) if weight > -math.inf else 0.0
            weight += 0.5 * (z * z - (z - mean) ** 2 / variance - math.log(variance))
            _write(result[n], SINGLE, weight, z, 0.0, low, low, e)
            n += 1
        elif min(high, b) > max(low, a):
            z_low = score_in(leaves, low, leaf, k) if low > a else -math.inf
            z_high = score_in(leaves, high, leaf, k) if high < b else math.inf
            weight, inner_mean, inner_variance = truncated_moments(z_low, z_high, mean, variance)
            _write(result[n], INTERVAL, log_continuous + weight, inner_mean, inner_variance, z_low, z_high, e)
            n += 1
    return result[:n]


@njit(inline="always")
def _write(row, kind, weight, mean, variance, low, high, which):  # type: ignore[no-untyped-def]
    row[0], row[1], row[2], row[3], row[4], row[5], row[6] = kind, weight, mean, variance, low, high, which


@inner
def restrict(some):  # type: ignore[no-untyped-def]
    """The log of the pieces' summed weights, and the mean and the variance of the score."""
    largest = -math.inf
    for p in range(len(some)):
        largest = max(largest, some[p, 1])
    if largest == -math.inf:
        return largest, 0.0, 1.0
    total = mean = second = 0.0
    for p in range(len(some)):
        weight = math.exp(some[p, 1] - largest)
        total += weight
        mean += weight * some[p, 2]
        second += weight * (some[p, 3] + some[p, 2] * some[p, 2])
    mean /= total
    return largest + math.log(total), mean, max(second / total - mean * mean, 0.0)


@inner
def pass_on(mean, covariance, a, n, new_mean, new_variance):  # type: ignore[no-untyped-def]
    """Mean and covariance of the scores after the a-th, which now has these moments."""
    variance = covariance[a, a]
    shift, shrink = (new_mean - mean[a]) / variance, (1.0 - new_variance / variance) / variance
    for b in range(a + 1, n):
        mean[b] += covariance[b, a] * shift
    for b in range(a + 1, n):
        for c in range(a + 1, n):
            covariance[b, c] -= covariance[b, a] * covariance[a, c] * shrink
