"""FORDE: the parameters of every leaf, fitted to the real rows that it holds.

1. The bounds of a leaf are the cuts on its way from the root, (low, high] per number. Open ends stay open, or are
   closed at the leaf's ("local") or the data's ("global") smallest and largest value, widened by epsilon/2 of the
   range on each side.
2. Numbers follow a truncated normal between the bounds, or a uniform. Its μ and σ are the leaf's mean and standard
   deviation ("moments"), or those of maximum likelihood given the truncation ("likelihood"), from ten rows on.
3. Categories follow the leaf's shares, (count + alpha)/(n + alpha·k), with k the levels that can reach the leaf.
   Each of those that were not observed has alpha/(n + alpha·k).
4. A column with missing values is missing with probability (count + alpha·share)/(n + alpha), shrunk to its
   share in the data, and 2. or 3. hold for the present values. Where cuts keep missing or present values out of a
   leaf, the probability is 0 or 1, so that no mass is lost on what can not get there.
5. Atoms of a number, and that it is none of them, have shares as in 3. Then 2. holds for the values that are no atoms;
   fewer than ten of them are joined by one row of the column's own mean and standard deviation.
6. Bounds end at hard edges.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numba import njit

from countarfactuals.arf.copula import no_copula
from countarfactuals.arf.forest import Forest, Layout, Members
from countarfactuals.arf.leaves import LeafTable, lists_of, reaches, with_shortcuts
from countarfactuals.arf.truncnorm import fit_, log_norm_
from countarfactuals.arf.values import without_atoms

UNBOUNDED, LOCAL, GLOBAL = 0, 1, 2
AUTO = -1.0
_AUTO_ALPHA = 0.1
_FOREIGN = 1e-6  # probability of values that a column of nothing but atoms never had
_FEWEST_TO_FIT = 10  # with fewer rows the likelihood is as well served by their mean and standard deviation
_NATS_PER_LEAF = 1e-2  # log-likelihood that a leaf's fit may fall short of its maximum
_QNORM_975 = 1.959963984540054


class LeafOptions(NamedTuple):
    """How leaves are fitted, in numbers that kernels take."""

    uniform: bool
    likelihood: bool
    bounds: int  # UNBOUNDED, LOCAL or GLOBAL
    epsilon: float
    alpha: float  # or AUTO


def fit_leaves(
    forest: Forest,
    members: Members,
    matrix: np.ndarray,
    layout: Layout,
    options: LeafOptions,
    n_jobs: int | None = None,
) -> LeafTable:
    """Fit the parameters of all leaves to the real rows they hold."""
    is_number = layout.n_levels == 0
    number_of, category_of = _places(is_number), _places(~is_number)
    share_missing = np.isnan(matrix).mean(axis=0)
    missing_of = _places(share_missing > 0)
    low, high = _ranges(matrix)
    values, n_leaves, n_numbers = layout.values, forest.n_leaves, int(is_number.sum())
    list_column, list_size = lists_of(layout.n_levels, values)
    n_lists = len(list_column)
    table = LeafTable(
        log_weight=np.log(members.stop - members.start) - math.log(len(matrix) * forest.n_trees),
        n_levels=layout.n_levels,
        number_of=number_of,
        category_of=category_of,
        missing_of=missing_of,
        low=np.empty((n_leaves, n_numbers)),
        high=np.empty((n_leaves, n_numbers)),
        mu=np.empty((n_leaves, n_numbers)),
        sigma=np.empty((n_leaves, n_numbers)),
        log_norm=np.empty((n_leaves, n_numbers)),
        missing=np.empty((n_leaves, int((share_missing > 0).sum()), 2)),
        level_start=np.zeros(n_leaves * n_lists + 1, np.int64),
        level=np.empty(0, np.int32),
        level_logp=np.empty(0),
        rest_logp=np.empty((n_leaves, n_lists)),
        values=values,
        copula=no_copula(),
        inverse=np.empty((n_leaves, 0)),
        log_norms=np.empty(n_leaves),
        few_start=np.empty(0, np.int64),
        few_logp=np.empty((n_leaves, 0)),
        list_column=list_column,
        list_size=list_size,
        atoms_of=np.empty(0, np.int64),
        closed=options.bounds != UNBOUNDED,
    )
    columns, continuous = np.ascontiguousarray(matrix.T), np.ascontiguousarray(without_atoms(matrix, values).T)
    listed = columns.copy() if len(values.atom) else columns
    for j in np.flatnonzero(values.n_atoms).tolist():
        listed[j] = values.codes(j, columns[j])
    prior, is_discrete = _priors(continuous, low, high), values.is_discrete
    prior[values.n_atoms == 0] = np.nan

    def fit_some(trees: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        for tree in trees:
            _fit_missing(forest, members, table, columns, share_missing, options, tree)
            _fit_numbers(forest, members, table, continuous, low, high, values.bounds, prior, options, tree)
        return [_fit_levels(forest, members, table, listed, is_discrete, options, tree) for tree in trees]

    parts = np.array_split(np.arange(forest.n_trees), min(forest.n_trees, 4 * effective_n_jobs(n_jobs)))
    fitted = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(fit_some)(part) for part in parts)
    np.cumsum(table.level_start, out=table.level_start)
    return with_shortcuts(
        table._replace(
            level=np.concatenate([levels for part in fitted for levels, _ in part]),
            level_logp=np.concatenate([logp for part in fitted for _, logp in part]),
        )
    )


def _ranges(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value of each column; 0 for one without values, which a part of the data may have."""
    low = np.min(matrix, axis=0, where=~np.isnan(matrix), initial=np.inf)
    high = np.max(matrix, axis=0, where=~np.isnan(matrix), initial=-np.inf)
    return np.where(low > high, 0.0, low), np.where(low > high, 0.0, high)


def _priors(columns: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Mean and standard deviation of each column, (p, 2); those of its range where it has no two values."""
    prior = np.stack([0.5 * (low + high), (high - low) / math.sqrt(12.0)], axis=1)
    for j, column in enumerate(columns):
        present = column[~np.isnan(column)]
        if len(present) > 1 and present.min() < present.max():
            prior[j] = present.mean(), present.std()
    return prior


def _places(chosen: np.ndarray) -> np.ndarray:
    """The running number of the chosen columns, −1 for the others."""
    return np.where(chosen, np.cumsum(chosen) - 1, -1).astype(np.int64)


@njit(nogil=True, cache=True)
def _fit_missing(forest, members, table, columns, share_missing, options, tree):  # type: ignore[no-untyped-def]
    for leaf in range(forest.leaf_start[tree], forest.leaf_start[tree + 1]):
        rows = members.rows[tree, members.start[leaf] : members.stop[leaf]]
        for j in range(len(columns)):
            k = table.missing_of[j]
            if k < 0:
                continue
            count = 0
            for row in rows:
                count += np.isnan(columns[j, row])
            alpha = _AUTO_ALPHA if options.alpha == AUTO else options.alpha
            share = (count + alpha * share_missing[j]) / (len(rows) + alpha)
            if not reaches(forest, leaf, j, math.nan):
                share = 0.0
            elif not _present_reaches(forest, leaf, j, table.n_levels[j]):
                share = 1.0
            table.missing[leaf, k, 0] = math.log(share) if share > 0.0 else -math.inf
            table.missing[leaf, k, 1] = math.log1p(-share) if share < 1.0 else -math.inf


@njit(nogil=True, cache=True)
def _present_reaches(forest, leaf, column, n_levels):  # type: ignore[no-untyped-def]
    """Whether any present value of a column can end in the leaf: a cut at infinity sends only missing ones right."""
    if n_levels > 0:
        return _n_reaching(forest, leaf, column, n_levels) > 0
    node = forest.leaf_node[leaf]
    while forest.parent[node] >= 0:
        above = forest.parent[node]
        if forest.feature[above] == column and forest.threshold[above] == math.inf and node != forest.child[above]:
            return False
        node = above
    return True


@njit(nogil=True, cache=True)
def _n_reaching(forest, leaf, column, n_levels):  # type: ignore[no-untyped-def]
    """How many levels of a column can end in the leaf."""
    count = 0
    for level in range(n_levels):
        count += reaches(forest, leaf, column, level)
    return count


@njit(nogil=True, cache=True)
def _n_atoms_reaching(forest, leaf, table, column):  # type: ignore[no-untyped-def]
    """How many atoms of a column can end in the leaf."""
    count = 0
    for k in range(table.values.atom_start[column], table.values.atom_start[column + 1]):
        count += reaches(forest, leaf, column, table.values.atom[k])
    return count


@njit(nogil=True, cache=True)
def _mark_split_columns(feature, parent, node, mark, marks):  # type: ignore[no-untyped-def]
    """Set `marks` to `mark` for the columns that are split on the way from the root to a node."""
    while parent[node] >= 0:
        node = parent[node]
        marks[feature[node]] = mark


@njit(nogil=True, cache=True)
def _cut_bounds(forest, number_of, n_numbers, tree):  # type: ignore[no-untyped-def]
    """Bounds by cuts of every node of a tree, (nodes, q, 2); children stand after their parents."""
    first = forest.root[tree]
    end = forest.root[tree + 1] if tree + 1 < len(forest.root) else len(forest.feature)
    bounds = np.empty((end - first, n_numbers, 2))
    bounds[0, :, 0], bounds[0, :, 1] = -math.inf, math.inf
    for node in range(first, end):
        if forest.feature[node] < 0:
            continue
        left = forest.child[node] - first
        bounds[left] = bounds[node - first]
        bounds[left + 1] = bounds[node - first]
        k = number_of[forest.feature[node]]
        if k >= 0 and forest.threshold[node] < math.inf:  # a cut at infinity divides missing from present values
            bounds[left, k, 1] = forest.threshold[node]
            bounds[left + 1, k, 0] = forest.threshold[node]
    return bounds


@njit(nogil=True, cache=True)
def _summarise(columns, numbers, rows, start, stop):  # type: ignore[no-untyped-def]
    """Per leaf of a tree and number: how many present values, mean, standard deviation (n − 1), smallest, largest."""
    summary = np.empty((len(start), len(numbers), 5))
    for k in range(len(numbers)):
        j = numbers[k]
        for leaf in range(len(start)):
            n, origin, total, squares, low, high = 0, 0.0, 0.0, 0.0, math.inf, -math.inf
            for r in range(start[leaf], stop[leaf]):
                x = columns[j, rows[r]]
                if x == x:  # not missing
                    if n == 0:
                        origin = x  # squares about a value of the leaf itself lose no digits
                    n += 1
                    total += x - origin
                    squares += (x - origin) * (x - origin)
                    low, high = min(low, x), max(high, x)
            shift = total / max(n, 1)
            sd = math.sqrt(max(squares - n * shift * shift, 0.0) / (n - 1)) if n > 1 and high > low else 0.0
            summary[leaf, k, 0], summary[leaf, k, 1], summary[leaf, k, 2] = n, origin + shift, sd
            summary[leaf, k, 3], summary[leaf, k, 4] = low, high
    return summary


@njit(nogil=True, cache=True)
def _shortest_range(summary, epsilon):  # type: ignore[no-untyped-def]
    """The length that stands for zero when local bounds close a leaf in which a column is constant."""
    shortest = math.inf
    for leaf in range(summary.shape[0]):
        for k in range(summary.shape[1]):
            length = summary[leaf, k, 4] - summary[leaf, k, 3]
            if length > 0.0:
                shortest = min(shortest, length)
    return min(shortest, max(epsilon, 1e-12))


@njit(nogil=True, cache=True, inline="always")
def _least_room(x):  # type: ignore[no-untyped-def]
    """A length that counts as none beside x and is still told apart from it."""
    return 1e-9 * max(abs(x), 1.0)


@njit(nogil=True, cache=True, inline="always")
def _closed(low, high, leaf_low, leaf_high, data_low, data_high, tiny, options):  # type: ignore[no-untyped-def]
    """Bounds with their open ends closed as the options ask."""
    if options.bounds == LOCAL:
        if leaf_low > leaf_high:  # no present value in the leaf
            leaf_low, leaf_high = data_low, data_high
        if leaf_high == leaf_low:
            leaf_low, leaf_high = leaf_low - 0.5 * tiny, leaf_high + 0.5 * tiny
        data_low, data_high = leaf_low, leaf_high
    if options.bounds != UNBOUNDED:
        margin = 0.5 * options.epsilon * (data_high - data_low)
        if data_high - data_low + 2.0 * margin == 0.0:  # a constant column still needs some room
            margin = _least_room(data_low)
        if low == -math.inf:
            low = data_low - margin
        if high == math.inf:
            high = data_high + margin
    return low, high


@njit(nogil=True, cache=True)
def _fit_numbers(  # type: ignore[no-untyped-def]
    forest, members, table, columns, data_low, data_high, edges, prior, options, tree
):
    first, end = forest.leaf_start[tree], forest.leaf_start[tree + 1]
    numbers = np.flatnonzero(table.number_of >= 0)
    bounds = _cut_bounds(forest, table.number_of, len(numbers), tree)
    summary = _summarise(columns, numbers, members.rows[tree], members.start[first:end], members.stop[first:end])
    tiny = _shortest_range(summary, options.epsilon) if options.bounds == LOCAL else 0.0
    leaf_node, out_low, out_high = forest.leaf_node, table.low, table.high
    out_mu, out_sigma, out_log_norm, step = table.mu, table.sigma, table.log_norm, table.values.step
    for leaf in range(first, end):
        node = leaf_node[leaf] - forest.root[tree]
        for k in range(len(numbers)):
            j = numbers[k]
            n, mean, sd = summary[leaf - first, k, 0], summary[leaf - first, k, 1], summary[leaf - first, k, 2]
            leaf_low, leaf_high = summary[leaf - first, k, 3], summary[leaf - first, k, 4]
            low, high = bounds[node, k, 0], bounds[node, k, 1]
            low, high = _closed(low, high, leaf_low, leaf_high, data_low[j], data_high[j], tiny, options)
            low, high = max(low, edges[j, 0]), min(high, edges[j, 1])
            a = data_low[j] if low == -math.inf else low
            b = data_high[j] if high == math.inf else high
            if n == 0:
                mean = 0.5 * (a + b)
            if options.uniform:
                sd = math.inf
            elif prior[j, 1] > 0.0 and n < _FEWEST_TO_FIT:
                mean, sd = _with_prior(n, mean, sd, prior[j, 0], prior[j, 1], a, b)
            elif options.likelihood:
                mean, sd = _likelihood_fit(n, mean, sd, low, high, a, b, step[j], data_low[j] == data_high[j])
            elif sd == 0.0:
                sd = _spread_of_constant(n, a, b)
            out_low[leaf, k], out_high[leaf, k] = low, high
            out_mu[leaf, k], out_sigma[leaf, k] = mean, sd
            out_log_norm[leaf, k] = log_norm_(low, high, mean, sd)


@njit(nogil=True, cache=True)
def _with_prior(n, mean, sd, prior_mean, prior_sd, a, b):  # type: ignore[no-untyped-def]
    """Mean and σ of few values, joined by one row of the column's own: beside atoms a leaf may hold one or none."""
    prior_mean, prior_sd = min(max(prior_mean, a), b), min(prior_sd, max(b - a, _least_room(a)))
    shift = prior_mean - mean
    variance = (max(n - 1, 0) * sd * sd + prior_sd * prior_sd + shift * shift * n / (n + 1)) / (n + 1)
    return mean + shift / (n + 1), math.sqrt(variance)


@njit(nogil=True, cache=True, inline="always")
def _spread_of_constant(n, a, b):  # type: ignore[no-untyped-def]
    """σ of a leaf without spread: half the room between the bounds as a 95 % interval, less with more rows."""
    sd = math.sqrt(2.0 / max(n, 1)) * 0.5 * (b - a) / _QNORM_975
    return sd if sd > 0.0 else _least_room(a)  # the column is constant in the data


@njit(nogil=True, cache=True, inline="always")
def _likelihood_fit(n, mean, sd, low, high, a, b, step, is_constant):  # type: ignore[no-untyped-def]
    """μ and σ by maximum likelihood."""
    if is_constant and step > 0.0:
        return mean, step / 12.0  # all that is drawn rounds to the one value there is
    least = step / math.sqrt(12.0)  # rounding alone spreads the unrounded values this much
    if n == 0 or (sd == 0.0 and least == 0.0):
        return mean, _spread_of_constant(n, a, b)
    if n < _FEWEST_TO_FIT:
        return mean, max(sd, least)
    sd *= math.sqrt((n - 1) / n)
    return fit_(mean, max(sd, least), low, high, _NATS_PER_LEAF / n)


@njit(nogil=True, cache=True, inline="always")
def _level_alpha(alpha, n_levels):  # type: ignore[no-untyped-def]
    """Smoothing per level. AUTO weighs a tenth of a row, and all levels together a fifth of one at most."""
    return min(_AUTO_ALPHA, 0.2 / n_levels) if alpha == AUTO else alpha


@njit(nogil=True, cache=True)
def _fit_levels(forest, members, table, columns, is_discrete, options, tree):  # type: ignore[no-untyped-def]
    """Observed levels and their log probabilities of a tree's leaves; their numbers go to `level_start`.

    Of a number with atoms the last level, to be none of them, is always listed.
    """
    n_levels, n_lists = table.list_size, table.rest_logp.shape[1]
    first, end = forest.leaf_start[tree], forest.leaf_start[tree + 1]
    levels, logp = np.empty(256, np.int32), np.empty(256)
    used = 0
    count = np.zeros(n_levels.max() + 1 if n_lists > 0 else 1, np.int64)
    rows, start_of, stop_of = members.rows[tree], members.start, members.stop
    split_in = np.full(len(columns), -1)
    for leaf in range(first, end):
        _mark_split_columns(forest.feature, forest.parent, forest.leaf_node[leaf], leaf, split_in)
        for c in range(n_lists):
            j, size, n = table.list_column[c], n_levels[c], 0
            has_rest = table.n_levels[j] == 0
            for level in range(size):
                count[level] = 0
            for r in range(start_of[leaf], stop_of[leaf]):
                x = columns[j, rows[r]]
                if x == x:  # not missing
                    count[np.int64(x)] += 1
                    n += 1
            n_reaching = size
            if split_in[j] == leaf:
                n_reaching = (
                    _n_atoms_reaching(forest, leaf, table, j) + 1 if has_rest else _n_reaching(forest, leaf, j, size)
                )
            alpha = _level_alpha(options.alpha, size)
            if has_rest and is_discrete[j]:
                n -= count[size - 1]
                n_reaching -= 1
            if n == 0 and alpha == 0.0:
                alpha = 1.0  # nothing was observed: all levels alike
            total = n + alpha * n_reaching
            if used + size > len(levels):
                more_levels, more_logp = np.empty(2 * (used + size), np.int32), np.empty(2 * (used + size))
                more_levels[:used], more_logp[:used] = levels[:used], logp[:used]
                levels, logp = more_levels, more_logp
            start = used
            for level in range(size - has_rest):
                if count[level] > 0:
                    levels[used] = level
                    logp[used] = math.log((count[level] + alpha) / total)
                    used += 1
            table.rest_logp[leaf, c] = math.log(alpha / total) if alpha > 0.0 and n_reaching > 0 else -math.inf
            if has_rest:
                share = _FOREIGN if n_reaching > 0 else 1.0
                if is_discrete[j]:
                    for k in range(start, used):
                        logp[k] += math.log1p(-_FOREIGN)
                    table.rest_logp[leaf, c] += math.log1p(-_FOREIGN)
                else:
                    share = (count[size - 1] + alpha) / total
                levels[used], logp[used] = size - 1, math.log(share) if share > 0.0 else -math.inf
                used += 1
            table.level_start[leaf * n_lists + c + 1] = used - start
    return levels[:used].copy(), logp[:used].copy()
