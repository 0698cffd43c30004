"""Expectations given evidence, by the truncated distributions of the leaves.

For a number, Σ_l π'_l s_lj E_lj / Σ_l π'_l s_lj, where s_lj is the share of present values and E_lj the mean of the
leaf's distribution, truncated to the evidence's interval if there is one. For a category, the probabilities of its
levels, by the same sum. Both are given that the column is present, and undefined (NaN) where the evidence is that it
is missing.

Where numbers depend on each other, E_lj is given what is asked of the others: the mean over the normal of its score, in
closed form between open bounds and by quadrature otherwise.
"""

from __future__ import annotations

import math

import numpy as np

from countarfactuals._kernels import inner, kernel
from countarfactuals.arf.atoms import atom_of
from countarfactuals.arf.copula import FARTHEST, score_in, value_of_score
from countarfactuals.arf.evidence import ANY_OF, FREE, INTERVALS, IS_MISSING, POINT
from countarfactuals.arf.joint import INTERVAL, condition, pass_on, pieces, restrict
from countarfactuals.arf.leaf_weights import log_alternative
from countarfactuals.arf.leaves import log_level, reaches
from countarfactuals.arf.truncnorm import log_interval_mass_, truncated_mean_, truncated_ppf_

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(16)
_HERMITE_NODES, _HERMITE_WEIGHTS = _NODES, _WEIGHTS / _WEIGHTS.sum()
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_LEGENDRE_NODES, _LEGENDRE_WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS


@inner
def _weight(leaves, evidence, weights, i, k, j):  # type: ignore[no-untyped-def]
    """Weight of a leaf for the values of column j: that of the condition times the share present if j is free."""
    weight = math.exp(weights.log_weight[k] - weights.log_total[i])
    if evidence.kind[i, j] == FREE and leaves.missing_of[j] >= 0:
        weight *= math.exp(leaves.missing[weights.leaf[k], leaves.missing_of[j], 1])
    return weight


@kernel
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
            if len(leaves.copula.region) > 0:
                total += weight * _joint_mean(forest, leaves, evidence, i, j, weights.leaf[k])
            else:
                total += weight * _leaf_mean(forest, leaves, evidence, i, j, weights.leaf[k])
            mass += weight
        means[i] = total / mass if mass > 0.0 else math.nan
    return means


@inner
def _leaf_mean(forest, leaves, evidence, i, j, leaf):  # type: ignore[no-untyped-def]
    q = leaves.number_of[j]
    low, high, mu, sigma = leaves.low[leaf, q], leaves.high[leaf, q], leaves.mu[leaf, q], leaves.sigma[leaf, q]
    start, stop = evidence.start[i, j], evidence.stop[i, j]
    if stop == start:
        return _with_atoms(forest, leaves, j, leaf, truncated_mean_(low, high, mu, sigma))
    if leaves.atoms_of[j] >= 0:
        return _mean_with_atoms(forest, leaves, evidence, i, j, leaf)
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


@inner
def _with_atoms(forest, leaves, j, leaf, mean):  # type: ignore[no-untyped-def]
    """The mean of a number in a leaf, from that of its continuous part."""
    place, values = leaves.atoms_of[j], leaves.values
    if place < 0:
        return mean
    first, last = values.atom_start[j], values.atom_start[j + 1]
    total = mean * math.exp(log_level(forest, leaves, leaf, j, place, last - first))
    for t in range(first, last):
        total += values.atom[t] * math.exp(log_level(forest, leaves, leaf, j, place, t - first))
    return total


@inner
def _mean_with_atoms(forest, leaves, evidence, i, j, leaf):  # type: ignore[no-untyped-def]
    """The mean of a number with atoms in an independent leaf, given its own intervals or alternatives."""
    q, place, values = leaves.number_of[j], leaves.atoms_of[j], leaves.values
    a, b, mu, sigma = leaves.low[leaf, q], leaves.high[leaf, q], leaves.mu[leaf, q], leaves.sigma[leaf, q]
    first, last = values.atom_start[j], values.atom_start[j + 1]
    total = mass = 0.0
    for k in range(evidence.start[i, j], evidence.stop[i, j]):
        low, high = evidence.low[k], evidence.high[k]
        if low == high:
            weight = math.exp(log_alternative(forest, leaves, evidence, k, j, leaf))
            total, mass = total + weight * low, mass + weight
            continue
        for t in range(first, last):
            if values.atom[t] >= low and values.atom[t] <= high:
                weight = math.exp(log_level(forest, leaves, leaf, j, place, t - first))
                total, mass = total + weight * values.atom[t], mass + weight
        inside = log_interval_mass_(low, high, a, b, mu, sigma)
        if inside > -math.inf:
            weight = math.exp(log_level(forest, leaves, leaf, j, place, last - first) + inside)
            total += weight * truncated_mean_(max(a, low), min(b, high), mu, sigma)
            mass += weight
    return total / mass


@inner
def _joint_mean(forest, leaves, evidence, i, j, leaf):  # type: ignore[no-untyped-def]
    """The mean of number j in a leaf, given what is asked of the other numbers."""
    q, n = leaves.mu.shape[1], 0
    order, columns, z = np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q)
    for k in range(len(evidence.kind[i])):
        is_point = leaves.number_of[k] >= 0 and evidence.kind[i, k] == POINT and k != j
        if is_point and atom_of(leaves.values, k, evidence.value[i, k]) < 0:
            order[n] = leaves.number_of[k]
            z[n] = score_in(leaves, evidence.value[i, k], leaf, order[n])
            n += 1
    n_given = n
    for k in range(len(evidence.kind[i])):
        if leaves.number_of[k] >= 0 and evidence.kind[i, k] in (INTERVALS, ANY_OF) and k != j:
            order[n], columns[n] = leaves.number_of[k], k
            n += 1
    order[n] = leaves.number_of[j]
    n += 1
    mean, covariance = np.empty(n - n_given), np.empty((n - n_given, n - n_given))
    condition(leaves, order, z, n_given, n, leaf, mean, covariance)
    last = n - n_given - 1
    for a in range(last):
        some = pieces(forest, leaves, evidence, i, columns[n_given + a], leaf, mean[a], covariance[a, a])
        log_p, new_mean, new_variance = restrict(some)
        if log_p > -math.inf:
            pass_on(mean, covariance, a, n - n_given, new_mean, new_variance)
    if evidence.kind[i, j] in (INTERVALS, ANY_OF):
        return _mean_of_pieces(forest, leaves, evidence, i, j, leaf, mean[last], covariance[last, last])
    inner = _mean_of_score(leaves, leaf, order[n - 1], mean[last], covariance[last, last])
    return _with_atoms(forest, leaves, j, leaf, inner)


@inner
def _mean_of_score(leaves, leaf, k, mean, variance):  # type: ignore[no-untyped-def]
    """The mean of the value whose score is normal: closed between open bounds, else Gauss and Hermite's quadrature."""
    low, high, mu, sigma = leaves.low[leaf, k], leaves.high[leaf, k], leaves.mu[leaf, k], leaves.sigma[leaf, k]
    if low == -math.inf and high == math.inf:
        return mu + sigma * mean
    if mean == 0.0 and variance == 1.0:
        return truncated_mean_(low, high, mu, sigma)
    return _sum_over_nodes(leaves, leaf, k, mean, math.sqrt(variance))


@inner
def _sum_over_nodes(leaves, leaf, k, mean, sd):  # type: ignore[no-untyped-def]
    total = 0.0
    for node in range(len(_HERMITE_NODES)):
        score = min(max(mean + sd * _HERMITE_NODES[node], -FARTHEST), FARTHEST)
        total += _HERMITE_WEIGHTS[node] * value_of_score(leaves, score, leaf, k)
    return total


@inner
def _mean_of_pieces(forest, leaves, evidence, i, j, leaf, mean, variance):  # type: ignore[no-untyped-def]
    """The mean of a number given its own intervals or alternatives, and the normal of its score."""
    k = leaves.number_of[j]
    some = pieces(forest, leaves, evidence, i, j, leaf, mean, variance)
    total = mass = 0.0
    largest = some[:, 1].max()
    for p in range(len(some)):
        weight = math.exp(some[p, 1] - largest)
        if not weight > 0.0:
            continue
        value = some[p, 4]
        if some[p, 0] == INTERVAL:
            value = 0.0
            for node in range(len(_LEGENDRE_NODES)):
                z = truncated_ppf_(_LEGENDRE_NODES[node], some[p, 4], some[p, 5], mean, math.sqrt(variance))
                value += _LEGENDRE_WEIGHTS[node] * value_of_score(leaves, min(max(z, -FARTHEST), FARTHEST), leaf, k)
        total += weight * value
        mass += weight
    return total / mass


@kernel
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
        for level in range(n_levels):
            asked[level] = start == stop
        for k in range(start, stop):
            asked[np.int64(evidence.low[k])] = True
        for k in range(weights.start[i], weights.start[i + 1]):
            leaf = weights.leaf[k]
            _add_levels(forest, leaves, leaf, j, c, asked, _weight(leaves, evidence, weights, i, k, j), result[i])
        total = result[i].sum()
        for level in range(n_levels):
            result[i, level] /= total
    return result


@inner
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
            elif leaves.rest_logp[leaf, c] > -math.inf and reaches(forest, leaves.unused, leaf, j, float(level)):
                share[level] = math.exp(leaves.rest_logp[leaf, c])
        k += seen
    total = share.sum()
    if total > 0.0:
        for level in range(len(result)):
            result[level] += weight * share[level] / total
