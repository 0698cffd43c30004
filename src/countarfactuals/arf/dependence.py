"""The correlations inside leaves, fitted to the normal scores of the rows that they hold.

1. Neighbouring leaves of a tree are joined to regions, upwards from the leaves, until a region holds enough rows. A
   correlation matrix per leaf would be noise, and more than memory holds: the number of cells of all regions is
   bounded, if need be by one region for each tree, or for the forest.
2. A region's rows are scored by their own leaves, so that what is pooled is dependence *within* leaves. Cells that are
   missing or atoms have no score; a pair of columns is correlated over the rows that have both.
3. The correlations of a region are averaged with those of all regions, which count as `shared` rows.
4. All correlations are multiplied by `strength`, and by .97 again until no column is given by the others to more than
   1 − 1/500 of its variance: correlations over different rows need not fit together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from joblib import delayed, effective_n_jobs

from countarfactuals._kernels import inner, kernel
from countarfactuals._parallel import threads
from countarfactuals._tables import by_reference
from countarfactuals.arf.atoms import without_atoms
from countarfactuals.arf.copula import (
    ABREAST,
    Copula,
    factorise,
    fill_scores,
    no_copula,
    room_for_scores,
    with_precisions,
    with_scores,
)
from countarfactuals.arf.forest import Forest, Members
from countarfactuals.arf.leaves import LeafTable

_FEWEST_ROWS, _ROWS_PER_COLUMN = 30, 1
_MOST_CELLS = 6_000_000  # of all regions: 48 MB for R and as many for what follows from it
_LEAST_VARIANCE = 2e-3
_WEAKER = 0.97


class Dependence(NamedTuple):
    """How strongly leaves are correlated."""

    strength: float  # what correlations are multiplied by, up to 1.5: those of few rows per leaf come out too small
    shared: float  # weight of the forest's common correlations, in rows; ∞ for these alone


@by_reference
class Pool(NamedTuple):
    """Sums over the scores of each region's rows."""

    copula: Copula  # without correlations yet
    products: np.ndarray  # (r, q, q) Σ z_j z_k for k ≤ j
    squares: np.ndarray  # (r, q, q) Σ z_j² over the rows that have k
    n_rows: np.ndarray  # (r, q, q) rows that have both


def independent(table: LeafTable) -> LeafTable:
    """The table without dependence: faster, and wrong about how numbers go together."""
    return table._replace(copula=no_copula())


def fit_dependence(pool: Pool, table: LeafTable, dependence: Dependence | None) -> LeafTable:
    """The table with correlations; None for none."""
    if dependence is None:
        return independent(table)
    correlation = np.empty_like(pool.products)
    _correlate(pool, float(dependence.strength), float(dependence.shared), correlation)
    return table._replace(copula=with_precisions(pool.copula._replace(correlation=correlation)))


def pool_scores(
    forest: Forest, members: Members, matrix: np.ndarray, table: LeafTable, n_jobs: int | None = None
) -> Pool:
    """Sums of the rows' scores by region."""
    columns = np.ascontiguousarray(without_atoms(matrix, table.values)[:, table.number_of >= 0])
    pool, scored = empty_pool(forest, members.stop - members.start, table)
    add_scores(pool, scored, forest, members, columns, not np.isnan(columns).any(), n_jobs)
    return pool


def empty_pool(forest: Forest, n_rows: np.ndarray, table: LeafTable) -> tuple[Pool, LeafTable]:
    """Sums over no rows yet, of leaves with so many rows, and the table by which rows are scored."""
    q, n = table.mu.shape[1], int(n_rows.sum()) // forest.n_trees
    bound = forest.n_trees * n * q * q / _MOST_CELLS
    least = max(_FEWEST_ROWS, _ROWS_PER_COLUMN * q, math.ceil(bound))
    region = np.empty(forest.n_leaves, np.int32)
    if forest.n_trees * q * q > _MOST_CELLS:
        region[:], n_regions = 0, 1
    else:
        n_regions = int(_group_leaves(forest, n_rows, least, region))
    copula = no_copula()._replace(region=region, correlation=np.eye(q)[None])
    scored = table._replace(copula=with_scores(copula, table.low, table.high, table.mu, table.sigma))
    return Pool(scored.copula, *(np.zeros((n_regions, q, q)) for _ in range(3))), scored


def add_scores(
    pool: Pool,
    scored: LeafTable,
    forest: Forest,
    members: Members,
    columns: np.ndarray,
    is_complete: bool,
    n_jobs: int | None = None,
) -> None:
    """Add rows to the sums; `columns` are their numbers without atoms, `is_complete` if no row of any lacks one."""

    def add_some(trees: np.ndarray) -> None:
        for tree in trees:
            _add_scores(forest, members, columns, scored, pool, is_complete, tree)

    # regions belong to one tree, so that threads do not meet; a single region is filled by one thread
    n_parts = 1 if len(pool.products) == 1 else min(forest.n_trees, 4 * effective_n_jobs(n_jobs))
    threads(n_jobs)(delayed(add_some)(part) for part in np.array_split(np.arange(forest.n_trees), n_parts))


@kernel
def _group_leaves(forest, n_rows, least, region):  # type: ignore[no-untyped-def]
    """Number the regions of all leaves; those of a tree follow each other. Returns how many there are.

    Leaves wait at their node, and go up, joined with those of its sibling, until they have enough rows. What is left
    at the root joins the tree's last region.
    """
    n_regions = 0
    n_nodes = len(forest.feature)
    waiting, top = np.zeros(n_nodes, np.int64), np.full(n_nodes, -1, np.int64)
    follow = np.full(len(region), -1, np.int64)  # leaves that wait at a node, as a list
    last = np.full(n_nodes, -1, np.int64)
    for tree in range(len(forest.root)):
        first = forest.root[tree]
        end = forest.root[tree + 1] if tree + 1 < len(forest.root) else n_nodes
        start = n_regions
        for back in range(end - first):
            node = end - 1 - back  # children stand after their parents
            if forest.feature[node] < 0:
                leaf = forest.child[node]
                waiting[node], top[node], last[node] = n_rows[leaf], leaf, leaf
            else:
                left, right = forest.child[node], forest.child[node] + 1
                waiting[node] = waiting[left] + waiting[right]
                if top[left] < 0:
                    top[node], last[node] = top[right], last[right]
                else:
                    top[node], last[node] = top[left], last[right] if top[right] >= 0 else last[left]
                    if top[right] >= 0:
                        follow[last[left]] = top[right]
            is_rest = node == first and top[node] >= 0 and (n_regions == start or waiting[node] >= least)
            if waiting[node] >= least or is_rest:
                leaf = top[node]
                while leaf >= 0:
                    region[leaf] = n_regions
                    leaf = follow[leaf]
                waiting[node], top[node], last[node] = 0, -1, -1
                n_regions += 1
        leaf = top[first]
        while leaf >= 0:
            region[leaf] = n_regions - 1
            leaf = follow[leaf]
    return n_regions


@inner
def _take_rows(members, tree, place, n, rows):  # type: ignore[no-untyped-def]
    """The n rows of a tree from one place on."""
    for m in range(n):
        rows[m] = members.rows[tree, place + m]


@kernel
def _add_scores(forest, members, columns, leaves, pool, is_complete, tree):  # type: ignore[no-untyped-def]
    q = columns.shape[1]
    mu, inverse, low, high, copula = leaves.mu, leaves.inverse, leaves.low, leaves.high, leaves.copula
    scores, has = room_for_scores(q), np.empty(q)
    for leaf in range(forest.leaf_start[tree], forest.leaf_start[tree + 1]):
        r, start, stop = copula.region[leaf], members.start[leaf], members.stop[leaf]
        products, squares, n_rows = pool.products[r], pool.squares[r], pool.n_rows[r]
        for place in range(start, stop):
            m = (place - start) % ABREAST
            if m == 0:
                n = min(ABREAST, stop - place)
                _take_rows(members, tree, place, n, scores.rows)
                fill_scores(copula, mu, inverse, low, high, columns, np.uint64(leaf), n, scores)
            z = scores.z[m]
            if not is_complete:
                for k in range(q):
                    x = columns[scores.rows[m], k]
                    has[k] = x == x
                    z[k] = z[k] if has[k] > 0.0 else 0.0
            for a in range(q):
                for b in range(a + 1):
                    products[a, b] += z[a] * z[b]
            if not is_complete:
                for a in range(q):
                    for b in range(q):
                        squares[a, b] += z[a] * z[a] * has[b]
                        n_rows[a, b] += has[a] * has[b]
    if is_complete:
        for leaf in range(forest.leaf_start[tree], forest.leaf_start[tree + 1]):
            r = copula.region[leaf]
            for a in range(q):
                for b in range(q):
                    pool.squares[r, a, b] = pool.products[r, a, a]
                    pool.n_rows[r, a, b] += members.stop[leaf] - members.start[leaf]


@kernel
def _correlate(pool, strength, shared, correlation):  # type: ignore[no-untyped-def]
    """R of every region: its own correlations and the common ones, weakened until they fit together."""
    n_regions, q = correlation.shape[0], correlation.shape[1]
    common = _correlations(_summed(pool.products), _summed(pool.squares))
    factor = np.empty((q, q))
    for r in range(n_regions):
        own = _correlations(pool.products[r], pool.squares[r])
        for a in range(q):
            correlation[r, a, a] = 1.0
            for b in range(a):
                n = pool.n_rows[r, a, b]
                weight = n / (n + shared) if shared < math.inf else 0.0
                correlation[r, a, b] = strength * (weight * own[a, b] + (1.0 - weight) * common[a, b])
                correlation[r, b, a] = correlation[r, a, b]
        while True:
            for a in range(q):
                for b in range(q):
                    factor[a, b] = correlation[r, a, b]
            if factorise(factor, q) >= _LEAST_VARIANCE:
                break
            for a in range(q):
                for b in range(q):
                    if a != b:
                        correlation[r, a, b] *= _WEAKER


@inner
def _summed(parts):  # type: ignore[no-untyped-def]
    total = np.zeros(parts.shape[1:])
    for r in range(parts.shape[0]):
        for a in range(parts.shape[1]):
            for b in range(parts.shape[2]):
                total[a, b] += parts[r, a, b]
    return total


@inner
def _correlations(products, squares):  # type: ignore[no-untyped-def]
    """Σ z_j z_k / √(Σ z_j² Σ z_k²), 0 where a column has no spread."""
    q = len(products)
    result = np.empty((q, q))
    for a in range(q):
        result[a, a] = 1.0
        for b in range(a):
            size = squares[a, b] * squares[b, a]
            result[a, b] = products[a, b] / math.sqrt(size) if size > 0.0 else 0.0
            result[b, a] = result[a, b]
    return result
