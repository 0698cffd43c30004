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
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from joblib import delayed, effective_n_jobs
from numba import njit

from countarfactuals._kernels import inner, kernel
from countarfactuals._parallel import threads
from countarfactuals.arf.atoms import without_atoms
from countarfactuals.arf.copula import no_copula
from countarfactuals.arf.forest import Forest, Layout, Members
from countarfactuals.arf.leaves import LeafTable, lists_of, numbers_of, places, reaches, with_shortcuts
from countarfactuals.arf.truncnorm import fit_, log_norm_

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


class Totals(NamedTuple):
    """What all rows say of each column."""

    n_rows: int
    share_missing: np.ndarray  # (p,)
    low: np.ndarray  # (p,) smallest value, 0 for a column without any
    high: np.ndarray  # (p,)
    prior: np.ndarray  # (p, 2) mean and standard deviation of the values that are no atoms


class TreeSums(NamedTuple):
    """What the rows of each leaf of one tree say: all that its parameters are fitted to."""

    n_missing: np.ndarray  # int64 (leaves, p)
    summary: np.ndarray  # (leaves, q, 5) of the values that are no atoms: how many, mean, sd, smallest, largest
    level_start: np.ndarray  # int64 (leaves·c + 1,) where the observed levels of a leaf and list start
    level: np.ndarray  # int64
    n_seen: np.ndarray  # int64, how often each was


def fit_leaves(
    forest: Forest,
    members: Members,
    matrix: np.ndarray,
    layout: Layout,
    options: LeafOptions,
    n_jobs: int | None = None,
) -> LeafTable:
    """Fit the parameters of all leaves to the real rows they hold."""
    columns, continuous, listed = cells_of(matrix, layout)
    totals = totals_of(matrix, continuous)
    list_column, list_size = lists_of(layout.n_levels, layout.values)
    numbers, with_gaps = np.flatnonzero(layout.n_levels == 0), np.flatnonzero(totals.share_missing > 0)

    def sums_of(tree: int) -> TreeSums:
        leaves = slice(forest.leaf_start[tree], forest.leaf_start[tree + 1])
        rows, start, stop = members.rows[tree], members.start[leaves], members.stop[leaves]
        return TreeSums(
            _count_missing(columns, with_gaps, rows, start, stop),
            _summarise(continuous, numbers, rows, start, stop),
            *_count_levels(listed, list_column, list_size, rows, start, stop),
        )

    return fit_sums(forest, members.stop - members.start, totals, sums_of, layout, options, n_jobs)


def cells_of(matrix: np.ndarray, layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The columns of a matrix, each (p, n): as they are, without atoms, and with atoms in codes."""
    values = layout.values
    columns, continuous = np.ascontiguousarray(matrix.T), np.ascontiguousarray(without_atoms(matrix, values).T)
    listed = columns.copy() if len(values.atom) else columns
    for j in np.flatnonzero(values.n_atoms).tolist():
        listed[j] = values.codes(j, columns[j])
    return columns, continuous, listed


def totals_of(matrix: np.ndarray, continuous: np.ndarray) -> Totals:
    """The totals of a matrix and its columns without atoms."""
    low, high = _ranges(matrix)
    return Totals(len(matrix), np.isnan(matrix).mean(axis=0), low, high, _priors(continuous, low, high))


def fit_sums(
    forest: Forest,
    n_rows: np.ndarray,
    totals: Totals,
    sums_of: Callable[[int], TreeSums],
    layout: Layout,
    options: LeafOptions,
    n_jobs: int | None = None,
) -> LeafTable:
    """Fit the parameters of all leaves to sums over their rows; `n_rows` is the number of rows of each leaf."""
    table = _empty_table(forest, n_rows, totals, layout, options)
    is_discrete, edges, prior = layout.values.is_discrete, layout.values.bounds, totals.prior.copy()
    prior[layout.values.n_atoms == 0] = np.nan

    def fit_some(trees: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        fitted = []
        for tree in trees:
            sums = sums_of(tree)
            _fit_missing(forest, sums.n_missing, n_rows, table, totals.share_missing, options, tree)
            _fit_numbers(forest, sums.summary, table, totals.low, totals.high, edges, prior, options, tree)
            fitted.append(
                _fit_levels(forest, sums.level_start, sums.level, sums.n_seen, table, is_discrete, options, tree)
            )
        return fitted

    parts = np.array_split(np.arange(forest.n_trees), min(forest.n_trees, 4 * effective_n_jobs(n_jobs)))
    fitted = threads(n_jobs)(delayed(fit_some)(part) for part in parts)
    np.cumsum(table.level_start, out=table.level_start)
    return with_shortcuts(
        table._replace(
            level=np.concatenate([levels for part in fitted for levels, _ in part]),
            level_logp=np.concatenate([logp for part in fitted for _, logp in part]),
        )
    )


def _empty_table(forest: Forest, n_rows: np.ndarray, totals: Totals, layout: Layout, options: LeafOptions) -> LeafTable:
    is_number = layout.n_levels == 0
    n_leaves, n_numbers = forest.n_leaves, int(is_number.sum())
    list_column, list_size = lists_of(layout.n_levels, layout.values)
    n_lists, n_with_gaps = len(list_column), int((totals.share_missing > 0).sum())
    return LeafTable(
        log_weight=np.log(n_rows) - math.log(totals.n_rows * forest.n_trees),
        n_levels=layout.n_levels,
        unused=layout.unused,
        number_of=places(is_number),
        category_of=places(~is_number),
        missing_of=places(totals.share_missing > 0),
        low=np.empty((n_leaves, n_numbers)),
        high=np.empty((n_leaves, n_numbers)),
        mu=np.empty((n_leaves, n_numbers)),
        sigma=np.empty((n_leaves, n_numbers)),
        log_norm=np.empty((n_leaves, n_numbers)),
        missing=np.empty((n_leaves, n_with_gaps, 2)),
        level_start=np.zeros(n_leaves * n_lists + 1, np.int64),
        level=np.empty(0, np.int32),
        level_logp=np.empty(0),
        rest_logp=np.empty((n_leaves, n_lists)),
        values=layout.values,
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


@kernel
def _count_missing(columns, with_gaps, rows, start, stop):  # type: ignore[no-untyped-def]
    """Missing cells per leaf of a tree and column; only some columns have such."""
    n_missing = np.zeros((len(start), len(columns)), np.int64)
    for j in with_gaps:
        for leaf in range(len(start)):
            for r in range(start[leaf], stop[leaf]):
                n_missing[leaf, j] += np.isnan(columns[j, rows[r]])
    return n_missing


@kernel
def _fit_missing(forest, n_missing, n_rows, table, share_missing, options, tree):  # type: ignore[no-untyped-def]
    first = forest.leaf_start[tree]
    for leaf in range(first, forest.leaf_start[tree + 1]):
        for j in range(n_missing.shape[1]):
            k = table.missing_of[j]
            if k < 0:
                continue
            alpha = _AUTO_ALPHA if options.alpha == AUTO else options.alpha
            share = (n_missing[leaf - first, j] + alpha * share_missing[j]) / (n_rows[leaf] + alpha)
            if not reaches(forest, table.unused, leaf, j, math.nan):
                share = 0.0
            elif not _present_reaches(forest, table, leaf, j):
                share = 1.0
            table.missing[leaf, k, 0] = math.log(share) if share > 0.0 else -math.inf
            table.missing[leaf, k, 1] = math.log1p(-share) if share < 1.0 else -math.inf


@inner
def _present_reaches(forest, table, leaf, column):  # type: ignore[no-untyped-def]
    """Whether any present value of a column can end in the leaf: a cut at infinity sends only missing ones right."""
    if table.n_levels[column] > 0:
        return _n_reaching(forest, table, leaf, column) > 0
    node = forest.leaf_node[leaf]
    while forest.parent[node] >= 0:
        above = forest.parent[node]
        if forest.feature[above] == column and forest.threshold[above] == math.inf and node != forest.child[above]:
            return False
        node = above
    return True


@inner
def _n_reaching(forest, table, leaf, column):  # type: ignore[no-untyped-def]
    """How many levels of a column can end in the leaf."""
    count = 0
    for level in range(table.n_levels[column]):
        count += reaches(forest, table.unused, leaf, column, float(level))
    return count


@inner
def _n_atoms_reaching(forest, leaf, table, column):  # type: ignore[no-untyped-def]
    """How many atoms of a column can end in the leaf."""
    count = 0
    for k in range(table.values.atom_start[column], table.values.atom_start[column + 1]):
        count += reaches(forest, table.unused, leaf, column, table.values.atom[k])
    return count


@inner
def _mark_split_columns(feature, parent, node, mark, marks):  # type: ignore[no-untyped-def]
    """Set `marks` to `mark` for the columns that are split on the way from the root to a node."""
    while parent[node] >= 0:
        node = parent[node]
        marks[feature[node]] = mark


@inner
def _cut_bounds(forest, number_of, n_numbers, tree):  # type: ignore[no-untyped-def]
    """Bounds by cuts of every node of a tree, (nodes, q, 2); children stand after their parents."""
    first = forest.root[tree]
    end = forest.root[tree + 1] if tree + 1 < len(forest.root) else len(forest.feature)
    bounds = np.empty((end - first, n_numbers, 2))
    for k in range(n_numbers):
        bounds[0, k, 0], bounds[0, k, 1] = -math.inf, math.inf
    for node in range(first, end):
        if forest.feature[node] < 0:
            continue
        left = forest.child[node] - first
        for k in range(n_numbers):
            for side in range(2):
                bounds[left, k, side] = bounds[left + 1, k, side] = bounds[node - first, k, side]
        k = number_of[forest.feature[node]]
        if k >= 0 and forest.threshold[node] < math.inf:  # a cut at infinity divides missing from present values
            bounds[left, k, 1] = forest.threshold[node]
            bounds[left + 1, k, 0] = forest.threshold[node]
    return bounds


@kernel
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


@inner
def _shortest_range(summary, epsilon):  # type: ignore[no-untyped-def]
    """The length that stands for zero when local bounds close a leaf in which a column is constant."""
    shortest = math.inf
    for leaf in range(summary.shape[0]):
        for k in range(summary.shape[1]):
            length = summary[leaf, k, 4] - summary[leaf, k, 3]
            if length > 0.0:
                shortest = min(shortest, length)
    return min(shortest, max(epsilon, 1e-12))


@njit(inline="always")
def _least_room(x):  # type: ignore[no-untyped-def]
    """A length that counts as none beside x and is still told apart from it."""
    return 1e-9 * max(abs(x), 1.0)


@njit(inline="always")
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


@kernel
def _fit_numbers(  # type: ignore[no-untyped-def]
    forest, summary, table, data_low, data_high, edges, prior, options, tree
):
    first, end = forest.leaf_start[tree], forest.leaf_start[tree + 1]
    numbers = numbers_of(table)
    bounds = _cut_bounds(forest, table.number_of, len(numbers), tree)
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


@inner
def _with_prior(n, mean, sd, prior_mean, prior_sd, a, b):  # type: ignore[no-untyped-def]
    """Mean and σ of few values, joined by one row of the column's own: beside atoms a leaf may hold one or none."""
    prior_mean, prior_sd = min(max(prior_mean, a), b), min(prior_sd, max(b - a, _least_room(a)))
    shift = prior_mean - mean
    variance = (max(n - 1, 0) * sd * sd + prior_sd * prior_sd + shift * shift * n / (n + 1)) / (n + 1)
    return mean + shift / (n + 1), math.sqrt(variance)


@njit(inline="always")
def _spread_of_constant(n, a, b):  # type: ignore[no-untyped-def]
    """σ of a leaf without spread: half the room between the bounds as a 95 % interval, less with more rows."""
    sd = math.sqrt(2.0 / max(n, 1)) * 0.5 * (b - a) / _QNORM_975
    return sd if sd > 0.0 else _least_room(a)  # the column is constant in the data


@njit(inline="always")
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


@njit(inline="always")
def _level_alpha(alpha, n_levels):  # type: ignore[no-untyped-def]
    """Smoothing per level. AUTO weighs a tenth of a row, and all levels together a fifth of one at most."""
    return min(_AUTO_ALPHA, 0.2 / n_levels) if alpha == AUTO else alpha


@kernel
def _count_levels(columns, list_column, list_size, rows, start, stop):  # type: ignore[no-untyped-def]
    """The observed levels of a tree's leaves, list by list: where they start, which, and how often each was."""
    n_lists = len(list_column)
    level_start = np.zeros(len(start) * n_lists + 1, np.int64)
    levels, counts, used = np.empty(256, np.int64), np.empty(256, np.int64), 0
    most = 1
    for c in range(n_lists):
        most = max(most, list_size[c])
    count = np.zeros(most, np.int64)
    for leaf in range(len(start)):
        for c in range(n_lists):
            j, size = list_column[c], list_size[c]
            for level in range(size):
                count[level] = 0
            for r in range(start[leaf], stop[leaf]):
                x = columns[j, rows[r]]
                if x == x:  # not missing
                    count[np.int64(x)] += 1
            if used + size > len(levels):
                levels, counts = _longer(levels, used, 2 * (used + size)), _longer(counts, used, 2 * (used + size))
            for level in range(size):
                if count[level] > 0:
                    levels[used], counts[used] = level, count[level]
                    used += 1
            level_start[leaf * n_lists + c + 1] = used
    return level_start, levels[:used].copy(), counts[:used].copy()


@inner
def _longer(array, used, size):  # type: ignore[no-untyped-def]
    longer = np.empty(size, np.int64)
    for k in range(used):
        longer[k] = array[k]
    return longer


@kernel
def _fit_levels(  # type: ignore[no-untyped-def]
    forest, seen_start, seen_level, seen_count, table, is_discrete, options, tree
):
    """Observed levels and their log probabilities of a tree's leaves; their numbers go to `level_start`.

    Of a number with atoms the last level, to be none of them, is always listed.
    """
    n_levels, n_lists = table.list_size, table.rest_logp.shape[1]
    first, end = forest.leaf_start[tree], forest.leaf_start[tree + 1]
    room = len(seen_level) + (end - first) * n_lists
    levels, logp, used = np.empty(room, np.int32), np.empty(room), 0
    split_in = np.full(len(is_discrete), -1)
    for leaf in range(first, end):
        _mark_split_columns(forest.feature, forest.parent, forest.leaf_node[leaf], leaf, split_in)
        for c in range(n_lists):
            j, size, n, n_none = table.list_column[c], n_levels[c], 0, 0
            has_rest = table.n_levels[j] == 0
            cell = (leaf - first) * n_lists + c
            for k in range(seen_start[cell], seen_start[cell + 1]):
                n += seen_count[k]
                if seen_level[k] == size - 1:
                    n_none = seen_count[k]
            n_reaching = size
            if split_in[j] == leaf or table.unused.size > 0:
                n_reaching = (
                    _n_atoms_reaching(forest, leaf, table, j) + 1 if has_rest else _n_reaching(forest, table, leaf, j)
                )
            alpha = _level_alpha(options.alpha, size)
            if has_rest and is_discrete[j]:
                n -= n_none
                n_reaching -= 1
            if n == 0 and alpha == 0.0:
                alpha = 1.0  # nothing was observed: all levels alike
            total = n + alpha * n_reaching
            start = used
            for k in range(seen_start[cell], seen_start[cell + 1]):
                if seen_level[k] < size - has_rest:
                    levels[used] = seen_level[k]
                    logp[used] = math.log((seen_count[k] + alpha) / total)
                    used += 1
            table.rest_logp[leaf, c] = math.log(alpha / total) if alpha > 0.0 and n_reaching > 0 else -math.inf
            if has_rest:
                share = _FOREIGN if n_reaching > 0 else 1.0
                if is_discrete[j]:
                    for k in range(start, used):
                        logp[k] += math.log1p(-_FOREIGN)
                    table.rest_logp[leaf, c] += math.log1p(-_FOREIGN)
                else:
                    share = (n_none + alpha) / total
                levels[used], logp[used] = size - 1, math.log(share) if share > 0.0 else -math.inf
                used += 1
            table.level_start[leaf * n_lists + c + 1] = used - start
    return levels[:used].copy(), logp[:used].copy()
