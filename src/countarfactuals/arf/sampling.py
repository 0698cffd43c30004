"""FORGE: rows drawn from the density, given evidence.

1. Draw a leaf by its weight under the evidence, normalised over all leaves.
2. Draw each column from the leaf on its own, by inverting its distribution function at one uniform number: a free
   column is missing or present first; an interval truncates the leaf's distribution; a point is handed through as it
   is.
3. Where numbers depend on each other, their normal scores are drawn one after the other given those before: first
   the points, then what has a condition, then what is free. With conditions on several numbers an earlier one is drawn
   regardless of how likely the later conditions then are, so that the earlier ones follow their truncated normals too
   closely: with two intervals and a correlation of .6 its mean is off by up to a fifth of its standard deviation.
4. Round to the column's grid inside the interval that was asked for; where no grid point lies in it, the value stays
   unrounded.
"""

from __future__ import annotations

import math

import numpy as np
from joblib import delayed

from countarfactuals._kernels import inner, kernel
from countarfactuals._parallel import threads
from countarfactuals.arf.atoms import atom_of, n_up_to, nearest_value, round_inside
from countarfactuals.arf.copula import FARTHEST, factorise, score_in, value_of_score
from countarfactuals.arf.evidence import ANY_OF, FREE, INTERVALS, IS_MISSING, POINT, PRESENT, Evidence
from countarfactuals.arf.forest import Forest
from countarfactuals.arf.joint import ATOMS, SINGLE, pieces
from countarfactuals.arf.leaf_weights import log_alternative
from countarfactuals.arf.leaves import LeafTable, log_level, numbers_of, reached_value, reaches
from countarfactuals.arf.tree_walk import LeafWeights
from countarfactuals.arf.truncnorm import log_interval_mass_, ndtri_, truncated_ppf_

__all__ = ["draw_rows", "narrow", "round_inside"]

_BLOCK = 16_384  # rows per task; each block has a generator of its own, so threads do not change what is drawn


def draw_rows(
    forest: Forest,
    leaves: LeafTable,
    evidence: Evidence,
    weights: LeafWeights,
    step: np.ndarray,
    n_samples: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> np.ndarray:
    """`n_samples` rows for each condition, (conditions · n_samples, p), condition by condition."""
    n_rows, n_columns = len(evidence.kind) * n_samples, len(step)
    cumulated = _cumulate(weights)
    starts = range(0, n_rows, _BLOCK)

    def block(start: int, block_rng: np.random.Generator) -> np.ndarray:
        size = min(_BLOCK, n_rows - start)
        uniform = block_rng.random((size, n_columns + 1))
        return _draw(forest, leaves, evidence, weights, cumulated, step, n_samples, start, uniform)

    tasks = zip(starts, rng.spawn(len(starts)), strict=True)
    if len(starts) == 1:
        return block(*next(tasks))
    return np.concatenate(threads(n_jobs)(delayed(block)(*task) for task in tasks))


def narrow(values: np.ndarray, evidence: Evidence, column: int, stored_as: type[np.floating]) -> np.ndarray:
    """Values, (conditions, samples), as a narrower float type holds them, moved back where that leaves an interval."""
    narrowed = values.astype(stored_as)
    for i in np.flatnonzero(evidence.kind[:, column] == INTERVALS).tolist():
        part = slice(evidence.start[i, column], evidence.stop[i, column])
        which = np.searchsorted(evidence.low[part], values[i], side="right") - 1
        low, high = evidence.low[part][which], evidence.high[part][which]
        below, above = narrowed[i].astype(np.float64) < low, narrowed[i].astype(np.float64) > high
        narrowed[i, below] = np.nextafter(narrowed[i, below], stored_as(np.inf))
        narrowed[i, above] = np.nextafter(narrowed[i, above], stored_as(-np.inf))
    return narrowed.astype(np.float64)


@kernel
def _cumulate(weights: LeafWeights) -> np.ndarray:
    """Per condition the running sum of the normalised weights."""
    cumulated = np.empty(len(weights.leaf))
    for i in range(len(weights.log_total)):
        total = 0.0
        for k in range(weights.start[i], weights.start[i + 1]):
            total += math.exp(weights.log_weight[k] - weights.log_total[i])
            cumulated[k] = total
    return cumulated


@kernel
def _draw(forest, leaves, evidence, weights, cumulated, step, n_samples, first, uniform):  # type: ignore[no-untyped-def]
    n, p = len(uniform), len(step)
    kind, value = evidence.kind, evidence.value
    rows, drawn_from, is_dependent = np.empty((n, p)), np.empty(n, np.int64), len(leaves.copula.region) > 0
    for r in range(n):
        i = (first + r) // n_samples
        start, stop = weights.start[i], weights.start[i + 1]
        u = uniform[r, p] * cumulated[stop - 1]
        place = min(n_up_to(cumulated, start, stop, u), stop - start - 1)
        leaf = np.int64(weights.leaf[start + place])
        drawn_from[r] = leaf
        for j in range(p):
            if kind[i, j] == POINT:
                rows[r, j] = value[i, j]
            elif leaves.number_of[j] < 0 or not is_dependent:
                rows[r, j] = _draw_cell(forest, leaves, evidence, i, j, leaf, step[j], uniform[r, j])
    if is_dependent:
        _draw_numbers(forest, leaves, evidence, step, n_samples, first, uniform, drawn_from, rows)
    return rows


@inner
def _draw_numbers(  # type: ignore[no-untyped-def]
    forest, leaves, evidence, step, n_samples, first, uniform, drawn_from, rows
):
    """Fill in the numbers, one after the other given those before: points, what has a condition, what is free.

    Rows are taken in the order of their conditions and regions, which share one factor of the correlations.
    """
    n, region, correlation = len(rows), leaves.copula.region, leaves.copula.correlation
    numbers = numbers_of(leaves)
    q, kind = len(numbers), evidence.kind
    of, place, order = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for r in range(n):
        of[r], place[r], order[r] = (first + r) // n_samples - first // n_samples, region[drawn_from[r]], r
    by_region = _sorted_by(place, len(correlation), order)
    columns, factor, part = np.empty(q, np.int64), np.empty((q, q)), np.empty(q)
    last, n_given, n_all = -1, np.int64(0), np.int64(0)
    for r in _sorted_by(of, (first + n - 1) // n_samples - first // n_samples + 1, by_region):
        i, leaf = (first + r) // n_samples, drawn_from[r]
        if of[r] * len(correlation) + place[r] != last:
            last, n_all = of[r] * len(correlation) + place[r], np.int64(0)
            for turn in range(3):
                for j in numbers:
                    is_point = kind[i, j] == POINT and atom_of(leaves.values, j, evidence.value[i, j]) < 0
                    has_condition = kind[i, j] in (INTERVALS, ANY_OF)
                    is_free = kind[i, j] in (FREE, PRESENT)
                    if (turn == 0 and is_point) or (turn == 1 and has_condition) or (turn == 2 and is_free):
                        columns[n_all] = j
                        n_all += 1
                if turn == 0:
                    n_given = n_all
            for a in range(n_all):
                for b in range(a + 1):
                    one, other = leaves.number_of[columns[a]], leaves.number_of[columns[b]]
                    factor[a, b] = correlation[region[leaf], one, other]
            factorise(factor, n_all)
        for j in numbers:
            if kind[i, j] == IS_MISSING:
                rows[r, j] = math.nan
        for a in range(n_all):
            j, mean, sd = columns[a], 0.0, factor[a, a]
            for b in range(a):
                mean += factor[a, b] * part[b]
            if a < n_given:
                z = score_in(leaves, rows[r, j], leaf, leaves.number_of[j])
            else:
                rows[r, j], z = _draw_number(forest, leaves, evidence, i, j, leaf, step[j], mean, sd, uniform[r, j])
            part[a] = (z - mean) / sd


@inner
def _sorted_by(key, n_keys, order):  # type: ignore[no-untyped-def]
    """Places sorted by key; those with the same one stay in their order."""
    start, result = np.zeros(n_keys + 1, np.int64), np.empty(len(order), np.int64)
    for r in order:
        start[key[r] + 1] += 1
    for k in range(n_keys):
        start[k + 1] += start[k]
    for r in order:
        result[start[key[r]]] = r
        start[key[r]] += 1
    return result


@inner
def _draw_number(forest, leaves, evidence, i, j, leaf, step, mean, sd, u):  # type: ignore[no-untyped-def]
    """A number whose score has this mean and standard deviation, and its score.

    One that is missing or an atom says nothing of its score, which is then drawn for itself.
    """
    k, kind = leaves.number_of[j], evidence.kind[i, j]
    low, high = -math.inf, math.inf
    if kind in (INTERVALS, ANY_OF):
        piece, u = _choose_piece(pieces(forest, leaves, evidence, i, j, leaf, mean, sd * sd), u)
        if piece[0] == SINGLE:
            return piece[4], piece[2]
        if piece[0] == ATOMS:
            return piece[4], mean + sd * _bounded(ndtri_(u))
        low, high = evidence.low[np.int64(piece[6])], evidence.high[np.int64(piece[6])]
        z = truncated_ppf_(u, piece[4], piece[5], mean, sd)
    else:
        if kind == FREE and leaves.missing_of[j] >= 0:
            share = math.exp(leaves.missing[leaf, leaves.missing_of[j], 0])
            if u < share:
                return math.nan, mean + sd * _bounded(ndtri_(u / share))
            u = (u - share) / (1.0 - share)
        if leaves.atoms_of[j] >= 0:
            level, u = _draw_level(forest, leaves, leaf, j, leaves.atoms_of[j], u)
            if level < leaves.list_size[leaves.atoms_of[j]] - 1:
                return reached_value(leaves, j, level), mean + sd * _bounded(ndtri_(u))
        z = mean + sd * _bounded(ndtri_(u))
    x = value_of_score(leaves, min(max(z, -FARTHEST), FARTHEST), leaf, k)
    x = min(max(x, low), high)
    return settle(leaves, j, k, leaf, x, low, high, step), z


@inner
def _bounded(z):  # type: ignore[no-untyped-def]
    return min(max(z, -FARTHEST), FARTHEST)


@inner
def _choose_piece(some, u):  # type: ignore[no-untyped-def]
    """One of the pieces by its weight, and what is left of u."""
    weight, largest, total, last = np.empty(len(some)), -math.inf, 0.0, 0
    for p in range(len(some)):
        largest = max(largest, some[p, 1])
    for p in range(len(some)):
        weight[p] = math.exp(some[p, 1] - largest)
        total += weight[p]
    u *= total
    for p in range(len(some)):
        if weight[p] > 0.0:
            last = p
            if u < weight[p]:
                return some[p], u / weight[p]
        u -= weight[p]
    return some[last], 0.5


@inner
def settle(leaves, j, k, leaf, x, low, high, step):  # type: ignore[no-untyped-def]
    """x moved to a value that column j has, in [low, high] and if possible in the leaf."""
    values = leaves.values
    if values.value_start[j + 1] > values.value_start[j]:
        # the leaf holds (a, b], so that a value on its lower bound is outside
        a = np.nextafter(leaves.low[leaf, k], math.inf)
        value = nearest_value(values, j, x, max(low, a), min(high, leaves.high[leaf, k]))
        if value != value:
            value = nearest_value(values, j, x, low, high)
        return value if value == value else x
    return round_inside(x, max(low, values.edge[j, 0]), min(high, values.edge[j, 1]), step, values.origin[j])


@inner
def _draw_cell(forest, leaves, evidence, i, j, leaf, step, u):  # type: ignore[no-untyped-def]
    """A cell that is not given as a point."""
    kind = evidence.kind[i, j]
    if kind == IS_MISSING:
        return math.nan
    if kind == FREE and leaves.missing_of[j] >= 0:
        share = math.exp(leaves.missing[leaf, leaves.missing_of[j], 0])
        if u < share:
            return math.nan
        u = (u - share) / (1.0 - share)
    k = -1
    if kind in (INTERVALS, ANY_OF):
        k, u = _choose_alternative(forest, leaves, evidence, i, j, leaf, u)
        if kind == ANY_OF:
            return evidence.low[k]
    place = leaves.number_of[j]
    if place < 0:
        return float(_draw_level(forest, leaves, leaf, j, leaves.category_of[j], u)[0])
    low, high = -math.inf, math.inf
    if k >= 0:
        low, high = evidence.low[k], evidence.high[k]
    if leaves.atoms_of[j] >= 0:
        x, u = _draw_atom(forest, leaves, leaf, j, low, high, u)
        if x == x:
            return x
    a, b = max(low, leaves.low[leaf, place]), min(high, leaves.high[leaf, place])
    x = truncated_ppf_(u, a, b, leaves.mu[leaf, place], leaves.sigma[leaf, place])
    return settle(leaves, j, place, leaf, x, low, high, step)


@inner
def _draw_atom(forest, leaves, leaf, j, low, high, u):  # type: ignore[no-untyped-def]
    """An atom in [low, high] or NaN for none of them, by their probabilities there, and what is left of u."""
    place, q, values = leaves.atoms_of[j], leaves.number_of[j], leaves.values
    first, last = values.atom_start[j], values.atom_start[j + 1]
    p, total = np.zeros(last - first + 1), 0.0
    for t in range(first, last):
        if values.atom[t] >= low and values.atom[t] <= high:
            p[t - first] = math.exp(log_level(forest, leaves, leaf, j, place, t - first))
            total += p[t - first]
    inside = log_interval_mass_(
        low, high, leaves.low[leaf, q], leaves.high[leaf, q], leaves.mu[leaf, q], leaves.sigma[leaf, q]
    )
    p[-1] = math.exp(log_level(forest, leaves, leaf, j, place, last - first) + inside)
    u *= total + p[-1]
    for t in range(len(p) - 1):
        if u < p[t]:
            return values.atom[first + t], u / p[t]
        u -= p[t]
    return math.nan, min(u / p[-1], 1.0 - 1e-16) if p[-1] > 0.0 else 0.5


@inner
def _choose_alternative(forest, leaves, evidence, i, j, leaf, u):  # type: ignore[no-untyped-def]
    """One of several intervals or alternatives by its probability in the leaf, and what is left of u."""
    start, stop = evidence.start[i, j], evidence.stop[i, j]
    if stop - start == 1:
        return start, u
    p, largest, total, last = np.empty(stop - start), -math.inf, 0.0, start
    for k in range(start, stop):
        p[k - start] = log_alternative(forest, leaves, evidence, np.int64(k), j, leaf)
        largest = max(largest, p[k - start])
    for k in range(stop - start):
        p[k] = math.exp(p[k] - largest)
        total += p[k]
    u *= total
    for k in range(start, stop):
        if p[k - start] > 0.0:
            last = k
            if u < p[k - start]:
                return k, u / p[k - start]
        u -= p[k - start]
    return last, 1.0 - 1e-16


@inner
def _draw_level(forest, leaves, leaf, column, c, u):  # type: ignore[no-untyped-def]
    """A level of the c-th list, and what is left of u."""
    cell = leaf * leaves.rest_logp.shape[1] + c
    start, stop = leaves.level_start[cell], leaves.level_start[cell + 1]
    for k in range(start, stop):
        p = math.exp(leaves.level_logp[k])
        if u < p:
            return np.int64(leaves.level[k]), u / p
        u -= p
    if leaves.rest_logp[leaf, c] == -math.inf:
        return np.int64(leaves.level[stop - 1]), 0.5
    skip = u / math.exp(leaves.rest_logp[leaf, c])
    level = _draw_unseen(forest, leaves, leaf, column, c, start, stop, np.int64(skip))
    return np.int64(level), min(skip - math.floor(skip), 1.0 - 1e-16)


@inner
def _draw_unseen(forest, leaves, leaf, column, c, start, stop, skip):  # type: ignore[no-untyped-def]
    """The level after `skip` others among those that reach the leaf and are not listed there, or the last one."""
    chosen = leaves.level[stop - 1] if stop > start else 0
    k = start
    for level in range(leaves.list_size[c]):
        if k < stop and leaves.level[k] == level:
            k += 1
        elif reaches(forest, leaves.unused, leaf, column, reached_value(leaves, column, level)):
            chosen = level
            if skip == 0:
                break
            skip -= 1
    return chosen
