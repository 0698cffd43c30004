"""The leaves of a forest, fitted to rows that are read batch by batch.

1. Rows are taken in blocks of one size, so that where batches begin changes no digit (`in_blocks`). The rows of a
   block are sorted into the leaves of every tree (`members_of`).
2. Each leaf adds up what its parameters need: rows, missing cells, counts of levels and atoms; of its numbers how many,
   Σ (x − o) and Σ (x − o)², with o the first value that the leaf sees, the smallest and the largest. Threads take
   trees, so that sums do not depend on their number.
3. Leaves are fitted to these sums by `leaf_fit`, as they are to rows that are held in memory: a truncated normal
   depends on its sample through mean and variance alone. Only the order in which numbers are added is another one.
4. Where leaves are dependent the rows are read once more, as scores need the fitted leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from joblib import delayed, effective_n_jobs

from countarfactuals._kernels import kernel
from countarfactuals._parallel import threads
from countarfactuals.arf.atoms import without_atoms
from countarfactuals.arf.dependence import Dependence, add_scores, empty_pool, fit_dependence
from countarfactuals.arf.forest import Forest, Layout, Members, goes_left
from countarfactuals.arf.leaf_fit import LeafOptions, Totals, TreeSums, cells_of, fit_sums
from countarfactuals.arf.leaves import LeafTable, lists_of
from countarfactuals.exceptions import DataError

Batches = Callable[[], Iterator[np.ndarray]]
BLOCK = 65_536  # rows
_MOST_COUNTS = 500_000_000  # counts of levels over all leaves: 2 GB


class Sums(NamedTuple):
    """Sums over the rows of every leaf, and of all rows."""

    n_rows: np.ndarray  # int64 (L,)
    n_missing: np.ndarray  # int64 (L, p)
    moments: np.ndarray  # float64 (L, q, 6): how many, o, Σ (x − o), Σ (x − o)², smallest, largest
    counts: np.ndarray  # int32 (L, Σ levels), list by list
    ranges: np.ndarray  # float64 (2, p), smallest and largest value


def empty_sums(forest: Forest, layout: Layout) -> Sums:
    """Sums over no rows."""
    n_leaves, p, q = forest.n_leaves, len(layout.n_levels), int((layout.n_levels == 0).sum())
    n_levels = int(lists_of(layout.n_levels, layout.values)[1].sum())
    if n_leaves * n_levels > _MOST_COUNTS:
        raise DataError(
            f"All columns together have {n_levels:,} levels, too many to be counted in each of {n_leaves:,} leaves. "
            "Drop columns that are identifiers, merge rare levels, or use fewer trees or larger leaves."
        )
    moments = np.zeros((n_leaves, q, 6))
    moments[:, :, 4], moments[:, :, 5] = math.inf, -math.inf
    ranges = np.stack([np.full(p, math.inf), np.full(p, -math.inf)])
    n_missing, counts = np.zeros((n_leaves, p), np.int64), np.zeros((n_leaves, n_levels), np.int32)
    return Sums(np.zeros(n_leaves, np.int64), n_missing, moments, counts, ranges)


def add_batch(sums: Sums, forest: Forest, matrix: np.ndarray, layout: Layout, n_jobs: int | None) -> None:
    """Add the rows of a batch."""
    columns, continuous, listed = cells_of(matrix, layout)
    numbers = np.flatnonzero(layout.n_levels == 0)
    list_column, list_size = lists_of(layout.n_levels, layout.values)
    offset = np.cumsum(list_size) - list_size
    np.fmin(sums.ranges[0], np.fmin.reduce(matrix), out=sums.ranges[0])
    np.fmax(sums.ranges[1], np.fmax.reduce(matrix), out=sums.ranges[1])
    members = members_of(forest, matrix, n_jobs)

    def add_some(trees: np.ndarray) -> None:
        for tree in trees:
            own = slice(forest.leaf_start[tree], forest.leaf_start[tree + 1])
            place = members.rows[tree], members.start[own], members.stop[own]
            sums.n_rows[own] += members.stop[own] - members.start[own]
            _add_missing(columns, *place, sums.n_missing[own])
            _add_numbers(continuous, numbers, *place, sums.moments[own])
            _add_levels(listed, list_column, offset, *place, sums.counts[own])

    _by_trees(add_some, forest.n_trees, n_jobs)


def members_of(forest: Forest, matrix: np.ndarray, n_jobs: int | None = None) -> Members:
    """The rows of a matrix, sorted into the leaves of every tree."""
    rows = np.empty((forest.n_trees, len(matrix)), np.int32)
    start, stop = np.empty(forest.n_leaves, np.int64), np.empty(forest.n_leaves, np.int64)

    def sort_some(trees: np.ndarray) -> None:
        for tree in trees:
            _sort_rows(forest, matrix, tree, rows[tree], start, stop)

    _by_trees(sort_some, forest.n_trees, n_jobs)
    return Members(rows, start, stop)


def fit_batches(
    forest: Forest,
    batches: Batches,
    layout: Layout,
    options: LeafOptions,
    dependence: Dependence | None,
    n_jobs: int | None = None,
) -> LeafTable:
    """The parameters of all leaves, by all rows."""
    sums = empty_sums(forest, layout)
    for matrix in in_blocks(batches()):
        add_batch(sums, forest, matrix, layout, n_jobs)
    totals = _totals(sums, forest, layout)
    leaves = fit_sums(
        forest, sums.n_rows, totals, lambda tree: _tree_sums(sums, forest, layout, tree), layout, options, n_jobs
    )
    return leaves if dependence is None else _correlated(forest, batches, sums, leaves, layout, dependence, n_jobs)


def in_blocks(batches: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    """The rows of batches, in their order, `BLOCK` at a time."""
    held, room = list[np.ndarray](), BLOCK
    for matrix in batches:
        for first in [0, *range(room, len(matrix), BLOCK)]:
            held.append(matrix[first : first + (BLOCK if first else room)])
            room = BLOCK - sum(map(len, held))
            if room == 0:
                yield np.concatenate(held)
                held, room = [], BLOCK
    if held:
        yield np.concatenate(held)


def _correlated(
    forest: Forest,
    batches: Batches,
    sums: Sums,
    leaves: LeafTable,
    layout: Layout,
    dependence: Dependence,
    n_jobs: int | None,
) -> LeafTable:
    is_number = layout.n_levels == 0
    is_complete = not sums.n_missing[:, is_number].any() and not layout.values.n_atoms[is_number].any()
    pool, scored = empty_pool(forest, sums.n_rows, leaves)
    for matrix in in_blocks(batches()):
        columns = np.ascontiguousarray(without_atoms(matrix, layout.values)[:, is_number])
        add_scores(pool, scored, forest, members_of(forest, matrix, n_jobs), columns, is_complete, n_jobs)
    return fit_dependence(pool, leaves, dependence)


def _by_trees(function: Callable[[np.ndarray], None], n_trees: int, n_jobs: int | None) -> None:
    parts = np.array_split(np.arange(n_trees), min(n_trees, 4 * effective_n_jobs(n_jobs)))
    threads(n_jobs)(delayed(function)(part) for part in parts)


def _totals(sums: Sums, forest: Forest, layout: Layout) -> Totals:
    """What all rows say, by the leaves of the first tree, which share them out."""
    own = slice(0, forest.leaf_start[1])
    n_rows = int(sums.n_rows[own].sum())
    low, high = np.where(sums.ranges[0] > sums.ranges[1], 0.0, sums.ranges)
    prior = np.stack([0.5 * (low + high), (high - low) / math.sqrt(12.0)], axis=1)
    for k, j in enumerate(np.flatnonzero(layout.n_levels == 0)):
        n, origin, total, squares, _, _ = sums.moments[own, k].T
        some = n > 0
        if n.sum() > 1 and sums.moments[own, k, 4].min() < sums.moments[own, k, 5].max():
            means = origin[some] + total[some] / n[some]
            mean = np.average(means, weights=n[some])
            within = squares[some] - total[some] * total[some] / n[some]
            prior[j] = mean, math.sqrt((within + n[some] * (means - mean) ** 2).sum() / n.sum())
    return Totals(n_rows, sums.n_missing[own].sum(axis=0) / n_rows, low, high, prior)


def _tree_sums(sums: Sums, forest: Forest, layout: Layout, tree: int) -> TreeSums:
    own = slice(forest.leaf_start[tree], forest.leaf_start[tree + 1])
    size = lists_of(layout.n_levels, layout.values)[1]
    leaf, column = np.nonzero(sums.counts[own])
    place = np.searchsorted(np.cumsum(size), column, side="right")  # the list of each level that was seen
    n_cells = (own.stop - own.start) * len(size)
    start = np.searchsorted(leaf * len(size) + place, np.arange(n_cells + 1))
    level = column - (np.cumsum(size) - size)[place]
    seen = sums.counts[own][leaf, column].astype(np.int64)
    return TreeSums(sums.n_missing[own], _summary(sums.moments[own]), start, level.astype(np.int64), seen)


def _summary(moments: np.ndarray) -> np.ndarray:
    """How many, mean, standard deviation (n − 1), smallest and largest, as `leaf_fit` tells them of rows."""
    n, origin, total, squares, low, high = np.moveaxis(moments, 2, 0)
    shift = total / np.maximum(n, 1.0)
    spread = np.sqrt(np.maximum(squares - n * shift * shift, 0.0) / np.maximum(n - 1.0, 1.0))
    return np.stack([n, origin + shift, np.where((n > 1) & (high > low), spread, 0.0), low, high], axis=2)


@kernel
def _sort_rows(forest, matrix, tree, rows, start, stop):  # type: ignore[no-untyped-def]
    """Sort the rows into the leaves of a tree; they stay in their order within each."""
    first, end = forest.leaf_start[tree], forest.leaf_start[tree + 1]
    leaf_of = np.empty(len(matrix), np.int32)
    place = np.zeros(end - first + 1, np.int64)
    for i in range(len(matrix)):
        node = np.int64(forest.root[tree])
        while forest.feature[node] >= 0:
            right = not goes_left(forest, node, matrix[i, forest.feature[node]])
            node = np.int64(forest.child[node] + right)
        leaf_of[i] = forest.child[node] - first
        place[leaf_of[i] + 1] += 1
    for leaf in range(end - first):
        place[leaf + 1] += place[leaf]
        start[first + leaf], stop[first + leaf] = place[leaf], place[leaf + 1]
    for i in range(len(matrix)):
        rows[place[leaf_of[i]]] = i
        place[leaf_of[i]] += 1


@kernel
def _add_missing(columns, rows, start, stop, n_missing):  # type: ignore[no-untyped-def]
    for j in range(len(columns)):
        for leaf in range(len(start)):
            for r in range(start[leaf], stop[leaf]):
                n_missing[leaf, j] += np.isnan(columns[j, rows[r]])


@kernel
def _add_numbers(columns, numbers, rows, start, stop, moments):  # type: ignore[no-untyped-def]
    for k in range(len(numbers)):
        j = numbers[k]
        for leaf in range(len(start)):
            n, origin, total = moments[leaf, k, 0], moments[leaf, k, 1], moments[leaf, k, 2]
            squares, low, high = moments[leaf, k, 3], moments[leaf, k, 4], moments[leaf, k, 5]
            for r in range(start[leaf], stop[leaf]):
                x = columns[j, rows[r]]
                if x == x:  # not missing
                    if n == 0.0:
                        origin = x  # squares about a value of the leaf itself lose no digits
                    n += 1.0
                    total += x - origin
                    squares += (x - origin) * (x - origin)
                    low, high = min(low, x), max(high, x)
            moments[leaf, k, 0], moments[leaf, k, 1], moments[leaf, k, 2] = n, origin, total
            moments[leaf, k, 3], moments[leaf, k, 4], moments[leaf, k, 5] = squares, low, high


@kernel
def _add_levels(columns, list_column, offset, rows, start, stop, counts):  # type: ignore[no-untyped-def]
    for c in range(len(list_column)):
        j = list_column[c]
        for leaf in range(len(start)):
            for r in range(start[leaf], stop[leaf]):
                x = columns[j, rows[r]]
                if x == x:  # not missing
                    counts[leaf, offset[c] + np.int64(x)] += 1
