"""What a condition is worth in a leaf: log π_l + Σ_j log p_lj(C_j).

Each conditioned column contributes a log density for a point of a number, a log probability otherwise. `Plan` lays
conditions out for leaves, so that the common ones take one pass over neighbouring cells. Where numbers depend on each
other, what they are worth together comes on top (`copula`, `joint`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from countarfactuals._kernels import compiled, inner, kernel
from countarfactuals._tables import by_reference
from countarfactuals.arf.atoms import atom_of
from countarfactuals.arf.copula import (
    ABREAST,
    fill_scores,
    log_copula_all,
    log_copula_some,
    room_for_scores,
    score_in,
    workspace,
)
from countarfactuals.arf.evidence import ANY_OF, FREE, INTERVALS, IS_MISSING, POINT, Evidence
from countarfactuals.arf.forest import Forest
from countarfactuals.arf.joint import condition, pass_on, pieces, restrict
from countarfactuals.arf.leaves import LeafTable, find_level, log_level
from countarfactuals.arf.truncnorm import log_interval_mass_, truncated_logpdf_


@by_reference
class Plan(NamedTuple):
    """Evidence laid out for leaves."""

    one_leaf: bool  # whether every condition says of every column that is split where it goes: one leaf per tree
    point: np.ndarray  # float64 (n, q), values of numbers that are asked for, 0 where none is
    is_asked: np.ndarray  # float64 (n, q), 1 where a value is asked for that is no atom, else 0
    asks_all: np.ndarray  # bool (n,)
    asks_jointly: np.ndarray  # bool (n,), whether points of two numbers or more are asked for, and nothing but points
    constant: np.ndarray  # float64 (n,), − log step of the atoms that are asked for; −∞ beyond a hard edge
    level: np.ndarray  # int32 (n, c), levels (of numbers, atoms or "none of them") that are asked for, −1 for none
    presence: np.ndarray  # int8 (n, m), 0 asked to be missing, 1 asked to be present, −1 free
    others: np.ndarray  # int32 (n, p), the columns with intervals or alternatives, first in each row
    n_others: np.ndarray  # int64 (n,)


def plan_of(forest: Forest, leaves: LeafTable, evidence: Evidence) -> Plan:
    """The conditions, laid out."""
    kind, is_number = evidence.kind, leaves.number_of >= 0
    is_point, is_other = kind == POINT, (kind == INTERVALS) | (kind == ANY_OF)
    level = np.where(is_point, evidence.value, -1.0)[:, leaves.list_column]
    constant, is_continuous = np.zeros(len(kind)), is_point & is_number
    values, step = leaves.values, leaves.values.step
    for j in np.flatnonzero(values.n_atoms).tolist():
        codes = values.codes(j, evidence.value[:, j])
        is_atom = is_point[:, j] & (codes < values.n_atoms[j])
        level[:, leaves.atoms_of[j]] = np.where(is_point[:, j], codes, -1.0)
        is_continuous[is_atom, j] = False
        constant[is_atom] -= np.log(step[j]) if step[j] > 0 else 0.0
    if np.isfinite(values.edge).any():
        beyond = is_point & is_number & ((evidence.value < values.edge[:, 0]) | (evidence.value > values.edge[:, 1]))
        constant[beyond.any(axis=1)] = -np.inf
    presence = np.where(kind == FREE, -1, kind != IS_MISSING)

    def chosen(cells: np.ndarray, columns: np.ndarray, dtype: type) -> np.ndarray:
        return np.ascontiguousarray(cells[:, columns], dtype)  # NumPy gives the choice column by column

    asked = chosen(is_continuous, is_number, np.float64)
    return Plan(
        one_leaf=bool((is_point | (kind == IS_MISSING))[:, forest.split].all()),
        point=chosen(np.where(is_continuous, evidence.value, 0.0), is_number, np.float64),
        is_asked=asked,
        asks_all=np.asarray(asked.all(axis=1)),
        asks_jointly=(asked.sum(axis=1) > 1.0) & ~is_other.any(axis=1),
        constant=constant,
        level=np.ascontiguousarray(level, np.int32),
        presence=chosen(presence, leaves.missing_of >= 0, np.int8),
        others=np.argsort(~is_other, axis=1, kind="stable").astype(np.int32),
        n_others=is_other.sum(axis=1),
    )


@njit(inline="always")
def log_add(a: float, b: float) -> float:
    """Log (eᵃ + eᵇ)."""
    if a < b:
        a, b = b, a
    return a + math.log1p(math.exp(b - a)) if b > -math.inf else a


@kernel
def log_sum_columns(matrix: np.ndarray) -> np.ndarray:
    """Log Σ eᵛ of each column, −∞ for nothing but −∞."""
    n_rows, n = matrix.shape
    largest, total = np.full(n, -math.inf), np.zeros(n)
    for r in range(n_rows):
        for i in range(n):
            largest[i] = max(largest[i], matrix[r, i])
    for r in range(n_rows):
        for i in range(n):
            if matrix[r, i] > -math.inf:
                total[i] += math.exp(matrix[r, i] - largest[i])
    for i in range(n):
        if total[i] > 0.0:
            largest[i] += math.log(total[i])
    return largest


@inner
def weigh(forest, leaves, evidence, plan, visitor, visited, order, log_visit):  # type: ignore[no-untyped-def]
    """Log weight of each visited leaf under the visitor's condition.

    Arrays are unpacked first, since taking one out of a tuple inside the loop costs more than the density of a column.
    """
    point, is_asked, asks_all, n_others = plan.point, plan.is_asked, plan.asks_all, plan.n_others
    wanted, presence, asks_jointly = plan.level, plan.presence, plan.asks_jointly
    log_weight, log_norms, low, high = leaves.log_weight, leaves.log_norms, leaves.low, leaves.high
    mu, inverse, log_norm, missing = leaves.mu, leaves.inverse, leaves.log_norm, leaves.missing
    level_start, level, level_logp, rest_logp = leaves.level_start, leaves.level, leaves.level_logp, leaves.rest_logp
    few_start, few_logp, closed = leaves.few_start, leaves.few_logp, leaves.closed
    n_categories, n_presences = wanted.shape[1], presence.shape[1]
    copula, constant = leaves.copula, plan.constant
    is_dependent, work, scores = len(copula.region) > 0, workspace(point.shape[1]), room_for_scores(point.shape[1])
    scored_from, scored_until = 0, 0
    for place in range(len(order)):
        v = order[place]
        i, leaf = np.uint64(visitor[v]), np.uint64(visited[v])
        total = log_weight[leaf] + constant[i]
        if asks_all[i]:
            total += log_norms[leaf] - 0.5 * _squares(point, mu, inverse, i, leaf)
        else:
            total += _log_numbers(point, is_asked, mu, inverse, log_norm, i, leaf)
        for c in range(n_categories):
            if wanted[i, c] < 0:
                continue
            if few_start[c] >= 0:
                total += few_logp[leaf, np.uint64(few_start[c] + wanted[i, c])]
            else:
                k = find_level(level_start, level, np.int64(leaf) * n_categories + c, np.int64(wanted[i, c]))
                total += level_logp[k] if k >= 0 else rest_logp[leaf, c]
        for m in range(n_presences):
            if presence[i, m] >= 0:
                total += missing[leaf, m, presence[i, m]]
        if is_dependent and asks_jointly[i]:
            if place >= scored_until:  # score the visits from here on that are of the same leaf
                n = _take_visits(visitor, visited, order, place, scores.rows)
                fill_scores(copula, mu, inverse, low, high, point, leaf, n, scores)
                scored_from, scored_until = place, place + n
            z = scores.z[place - scored_from]
            if asks_all[i]:
                total += log_copula_all(copula, leaf, z)
            else:
                total += log_copula_some(copula, is_asked, i, leaf, z, work)
        if n_others[i] > 0:
            if is_dependent:
                total += _log_jointly(forest, leaves, evidence, plan, np.int64(i), np.int64(leaf))
            else:
                total += _log_others(forest, leaves, evidence, plan, np.int64(i), np.int64(leaf))
        if closed and _is_outside(point, is_asked, low, high, i, leaf):
            total = -math.inf
        log_visit[v] = total


@inner
def _take_visits(visitor, visited, order, place, rows):  # type: ignore[no-untyped-def]
    """Fill `rows` with the visitors of one leaf from a place in the order on; how many they are."""
    n, leaf = 0, visited[order[place]]
    while n < ABREAST and place + n < len(order) and visited[order[place + n]] == leaf:
        rows[n] = visitor[order[place + n]]
        n += 1
    return n


@compiled(no_cpython_wrapper=True, fastmath={"reassoc", "contract"})
def _squares(point, mu, inverse, i, leaf):  # type: ignore[no-untyped-def]
    """Σ ((x − μ)/σ)²: free of branches and free to be reordered, so that it runs in vector registers."""
    total = 0.0
    for k in range(point.shape[1]):
        z = (point[i, k] - mu[leaf, k]) * inverse[leaf, k]
        total += z * z
    return total


@compiled(no_cpython_wrapper=True, fastmath={"reassoc", "contract"})
def _log_numbers(point, is_asked, mu, inverse, log_norm, i, leaf):  # type: ignore[no-untyped-def]
    """Log density of those numbers that are asked for, without branches too."""
    total = 0.0
    for k in range(point.shape[1]):
        z = (point[i, k] - mu[leaf, k]) * inverse[leaf, k]
        total += is_asked[i, k] * (log_norm[leaf, k] - 0.5 * z * z)
    return total


@njit(inline="always")
def _is_outside(point, is_asked, low, high, i, leaf):  # type: ignore[no-untyped-def]
    """Whether a number asked for lies outside the closed bounds of the leaf."""
    for k in range(point.shape[1]):
        if is_asked[i, k] > 0.0 and not (point[i, k] > low[leaf, k] and point[i, k] <= high[leaf, k]):
            return True
    return False


@inner
def log_alternative(forest, leaves, evidence, k, j, leaf):  # type: ignore[no-untyped-def]
    """Log probability (density) of the k-th interval or alternative, for column j in a leaf."""
    low, high = evidence.low[k], evidence.high[k]
    q, c = leaves.number_of[j], leaves.category_of[j]
    if q >= 0:
        a, b, mu, sigma = leaves.low[leaf, q], leaves.high[leaf, q], leaves.mu[leaf, q], leaves.sigma[leaf, q]
        if leaves.atoms_of[j] >= 0:
            return _log_with_atoms(forest, leaves, low, high, j, leaf)
        if low == high:
            return truncated_logpdf_(low, a, b, mu, sigma)
        return log_interval_mass_(low, high, a, b, mu, sigma)
    return log_level(forest, leaves, leaf, j, c, np.int64(low))


@inner
def _log_with_atoms(forest, leaves, low, high, j, leaf):  # type: ignore[no-untyped-def]
    """Log probability of [low, high], or density where both are one, of a number with atoms."""
    q, place, values = leaves.number_of[j], leaves.atoms_of[j], leaves.values
    a, b, mu, sigma = leaves.low[leaf, q], leaves.high[leaf, q], leaves.mu[leaf, q], leaves.sigma[leaf, q]
    first, last = values.atom_start[j], values.atom_start[j + 1]
    log_continuous = log_level(forest, leaves, leaf, j, place, last - first)
    if low == high:
        k = atom_of(values, j, low)
        if k < 0:
            return log_continuous + truncated_logpdf_(low, a, b, mu, sigma)
        return log_level(forest, leaves, leaf, j, place, k) - (
            math.log(values.step[j]) if values.step[j] > 0.0 else 0.0
        )
    total = log_continuous + log_interval_mass_(low, high, a, b, mu, sigma)
    for t in range(first, last):
        if values.atom[t] >= low and values.atom[t] <= high:
            total = log_add(total, log_level(forest, leaves, leaf, j, place, t - first))
    return total


@inner
def _log_others(forest, leaves, evidence, plan, i, leaf):  # type: ignore[no-untyped-def]
    """Σ log probability of the intervals and alternatives."""
    total = 0.0
    for o in range(plan.n_others[i]):
        total += _log_either(forest, leaves, evidence, i, np.int64(plan.others[i, o]), leaf)
    return total


@inner
def _log_either(forest, leaves, evidence, i, j, leaf):  # type: ignore[no-untyped-def]
    """Log probability of the intervals or alternatives of column j."""
    either = -math.inf
    for k in range(evidence.start[i, j], evidence.stop[i, j]):
        either = log_add(either, log_alternative(forest, leaves, evidence, np.int64(k), j, leaf))
    return either


@inner
def _log_jointly(forest, leaves, evidence, plan, i, leaf):  # type: ignore[no-untyped-def]
    """Log c of the points, and the log probability of intervals and alternatives given them."""
    q, n_others, n = plan.point.shape[1], plan.n_others[i], np.int64(0)
    order, column, z, total = np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q), 0.0
    for k in range(q):
        if plan.is_asked[i, k] > 0.0:
            order[n], z[n] = k, score_in(leaves, plan.point[i, k], leaf, k)
            n += 1
    n_given = n
    for o in range(n_others):
        j = np.int64(plan.others[i, o])
        if leaves.number_of[j] >= 0:
            order[n], column[n] = leaves.number_of[j], j
            n += 1
        else:
            total += _log_either(forest, leaves, evidence, i, j, leaf)
    mean, covariance = np.empty(n - n_given), np.empty((n - n_given, n - n_given))
    total += condition(leaves, order, z, n_given, n, leaf, mean, covariance)
    for a in range(n - n_given):
        some = pieces(forest, leaves, evidence, i, column[n_given + a], leaf, mean[a], covariance[a, a])
        log_p, new_mean, new_variance = restrict(some)
        total += log_p
        if log_p == -math.inf:
            return total
        pass_on(mean, covariance, a, n - n_given, new_mean, new_variance)
    return total
