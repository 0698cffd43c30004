"""FORGE: rows drawn from the density, given evidence.

1. Draw a leaf by its weight under the evidence, normalised over all leaves.
2. Draw each column from the leaf on its own, by inverting its distribution function at one uniform number: a free
   column is missing or present first; an interval truncates the leaf's distribution; a point is handed through as it
   is.
3. Round to the column's grid inside the interval that was asked for; where no grid point lies in it, the value stays
   unrounded.
"""

from __future__ import annotations

import math

import numpy as np
from joblib import Parallel, delayed
from numba import njit

from countarfactuals.arf.evidence import ANY_OF, FREE, INTERVALS, IS_MISSING, POINT, Evidence
from countarfactuals.arf.forest import Forest
from countarfactuals.arf.leaves import LeafTable, reaches
from countarfactuals.arf.truncnorm import truncated_ppf_
from countarfactuals.arf.walk import LeafWeights
from countarfactuals.arf.weigh import log_alternative

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
    return np.concatenate(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(block)(*task) for task in tasks))


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


@njit(nogil=True, cache=True)
def _cumulate(weights: LeafWeights) -> np.ndarray:
    """Per condition the running sum of the normalised weights."""
    cumulated = np.empty(len(weights.leaf))
    for i in range(len(weights.log_total)):
        total = 0.0
        for k in range(weights.start[i], weights.start[i + 1]):
            total += math.exp(weights.log_weight[k] - weights.log_total[i])
            cumulated[k] = total
    return cumulated


@njit(nogil=True, cache=True)
def _draw(forest, leaves, evidence, weights, cumulated, step, n_samples, first, uniform):  # type: ignore[no-untyped-def]
    n, p = len(uniform), len(step)
    kind, value = evidence.kind, evidence.value
    rows = np.empty((n, p))
    for r in range(n):
        i = (first + r) // n_samples
        start, stop = weights.start[i], weights.start[i + 1]
        u = uniform[r, p] * cumulated[stop - 1]
        leaf = weights.leaf[start + min(np.searchsorted(cumulated[start:stop], u, side="right"), stop - start - 1)]
        for j in range(p):
            if kind[i, j] == POINT:
                rows[r, j] = value[i, j]
            else:
                rows[r, j] = _draw_cell(forest, leaves, evidence, i, j, leaf, step[j], uniform[r, j])
    return rows


@njit(nogil=True, cache=True)
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
        return _draw_level(forest, leaves, leaf, j, u)
    low, high = -math.inf, math.inf
    if k >= 0:
        low, high = evidence.low[k], evidence.high[k]
    a, b = max(low, leaves.low[leaf, place]), min(high, leaves.high[leaf, place])
    x = truncated_ppf_(u, a, b, leaves.mu[leaf, place], leaves.sigma[leaf, place])
    return round_inside(x, low, high, step)


@njit(nogil=True, cache=True)
def _choose_alternative(forest, leaves, evidence, i, j, leaf, u):  # type: ignore[no-untyped-def]
    """One of several intervals or alternatives by its probability in the leaf, and what is left of u."""
    start, stop = evidence.start[i, j], evidence.stop[i, j]
    if stop - start == 1:
        return start, u
    log_p = np.empty(stop - start)
    for k in range(start, stop):
        log_p[k - start] = log_alternative(forest, leaves, evidence, k, j, leaf)
    p = np.exp(log_p - log_p.max())
    u *= p.sum()
    last = start
    for k in range(start, stop):
        if p[k - start] > 0.0:
            last = k
            if u < p[k - start]:
                return k, u / p[k - start]
        u -= p[k - start]
    return last, 1.0 - 1e-16


@njit(nogil=True, cache=True)
def _draw_level(forest, leaves, leaf, column, u):  # type: ignore[no-untyped-def]
    c = leaves.category_of[column]
    cell = leaf * leaves.rest_logp.shape[1] + c
    start, stop = leaves.level_start[cell], leaves.level_start[cell + 1]
    for k in range(start, stop):
        p = math.exp(leaves.level_logp[k])
        if u < p:
            return float(leaves.level[k])
        u -= p
    if leaves.rest_logp[leaf, c] == -math.inf:
        return float(leaves.level[stop - 1])
    return _draw_unseen(forest, leaves, leaf, column, start, stop, np.int64(u / math.exp(leaves.rest_logp[leaf, c])))


@njit(nogil=True, cache=True)
def _draw_unseen(forest, leaves, leaf, column, start, stop, skip):  # type: ignore[no-untyped-def]
    """The level after `skip` others among those that reach the leaf and are not listed there, or the last one."""
    chosen = leaves.level[stop - 1] if stop > start else 0
    k = start
    for level in range(leaves.n_levels[column]):
        if k < stop and leaves.level[k] == level:
            k += 1
        elif reaches(forest, leaf, column, level):
            chosen = level
            if skip == 0:
                break
            skip -= 1
    return float(chosen)


@njit(nogil=True, cache=True)
def round_inside(x: float, low: float, high: float, step: float) -> float:
    """The grid point nearest to x in [low, high], or x where there is none."""
    if step == 0.0:
        return x
    scale = np.rint(1.0 / step)
    k = np.rint(x * scale)
    # grid points are compared as the floats they are: 0.07 · 100 is a little above 7
    if k / scale < low:
        k += 1.0
    elif k / scale > high:
        k -= 1.0
    return k / scale if low <= k / scale <= high else x
