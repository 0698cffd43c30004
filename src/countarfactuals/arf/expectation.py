"""Expectations given evidence, by the truncated distributions of the leaves.

For a number, Σ_l π'_l s_lj E_lj / Σ_l π'_l s_lj, where s_lj is the share of present values and E_lj the mean of the
leaf's distribution, truncated to the evidence's interval if there is one. For a category, the probabilities of its
levels, by the same sum. Both are given that the column is present, and undefined (NaN) where the evidence is that it
is missing.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from countarfactuals.arf.evidence import FREE, INTERVALS, IS_MISSING, POINT
from countarfactuals.arf.leaves import reaches
from countarfactuals.arf.truncnorm import truncated_mean_
from countarfactuals.arf.weigh import log_alternative


@njit(nogil=True, cache=True)
def _weight(leaves, evidence, weights, i, k, j):  # type: ignore[no-untyped-def]
    """Weight of a leaf for the values of column j: that of the condition times the share present if j is free."""
    weight = math.exp(weights.log_weight[k] - weights.log_total[i])
    if evidence.kind[i, j] == FREE and leaves.missing_of[j] >= 0:
        weight *= math.exp(leaves.missing[weights.leaf[k], leaves.missing_of[j], 1])
    return weight


@njit(nogil=True, cache=True)
def expect_number(forest, leaves, evidence, weights, j):  # type: ignore[no-untyped-def]
    """Mean of number j given each condition."""
    means = np.empty(len(evidence.kind))
    for i in range(len(means)):
        if evidence.kind[i, j] == POINT or evidence.kind[i, j] == IS_MISSING:
            means[i] = evidence.value[i, j]
            continue
        total = mass = 0.0
        for k in range(weights.start[i], weights.start[i + 1]):
            weight = _weight(leaves, evidence, weights, i, k, j)
            total += weight * _leaf_mean(forest, leaves, evidence, i, j, weights.leaf[k])
            mass += weight
        means[i] = total / mass if mass > 0.0 else math.nan
    return means


@njit(nogil=True, cache=True)
def _leaf_mean(forest, leaves, evidence, i, j, leaf):  # type: ignore[no-untyped-def]
    q = leaves.number_of[j]
    low, high, mu, sigma = leaves.low[leaf, q], leaves.high[leaf, q], leaves.mu[leaf, q], leaves.sigma[leaf, q]
    start, stop = evidence.start[i, j], evidence.stop[i, j]
    if stop == start:
        return truncated_mean_(low, high, mu, sigma)
    largest = -math.inf
    for k in range(start, stop):
        largest = max(largest, log_alternative(forest, leaves, evidence, k, j, leaf))
    total = mass = 0.0
    for k in range(start, stop):
        p = math.exp(log_alternative(forest, leaves, evidence, k, j, leaf) - largest)
        if p > 0.0:
            value = evidence.low[k]
            if evidence.kind[i, j] == INTERVALS:
                value = truncated_mean_(max(low, evidence.low[k]), min(high, evidence.high[k]), mu, sigma)
            total += p * value
            mass += p
    return total / mass


@njit(nogil=True, cache=True)
def expect_levels(forest, leaves, evidence, weights, j):  # type: ignore[no-untyped-def]
    """Probabilities of category j's levels given each condition, (conditions, levels)."""
    n_levels, c = leaves.n_levels[j], leaves.category_of[j]
    result = np.zeros((len(evidence.kind), n_levels))
    asked = np.zeros(n_levels, np.bool_)
    for i in range(len(result)):
        if evidence.kind[i, j] == POINT:
            result[i, np.int64(evidence.value[i, j])] = 1.0
            continue
        if evidence.kind[i, j] == IS_MISSING:
            result[i] = math.nan
            continue
        start, stop = evidence.start[i, j], evidence.stop[i, j]
        asked[:] = start == stop
        for k in range(start, stop):
            asked[np.int64(evidence.low[k])] = True
        for k in range(weights.start[i], weights.start[i + 1]):
            leaf = weights.leaf[k]
            _add_levels(forest, leaves, leaf, j, c, asked, _weight(leaves, evidence, weights, i, k, j), result[i])
        result[i] /= result[i].sum()
    return result


@njit(nogil=True, cache=True)
def _add_levels(forest, leaves, leaf, j, c, asked, weight, result):  # type: ignore[no-untyped-def]
    cell = leaf * leaves.rest_logp.shape[1] + c
    start, stop = leaves.level_start[cell], leaves.level_start[cell + 1]
    # under evidence on the column the leaf's weight counts all asked levels already: shares within the leaf remain
    share = np.zeros(len(result))
    k = start
    for level in range(len(result)):
        seen = k < stop and leaves.level[k] == level
        if asked[level]:
            if seen:
                share[level] = math.exp(leaves.level_logp[k])
            elif leaves.rest_logp[leaf, c] > -math.inf and reaches(forest, leaf, j, level):
                share[level] = math.exp(leaves.rest_logp[leaf, c])
        k += seen
    total = share.sum()
    if total > 0.0:
        result += weight * share / total
