"""`LeafTable`: what each leaf says of each column, as arrays that kernels can read.

    p(x) = Σ_l π_l ∏_j p_lj(x_j),   π_l = share of real rows in leaf l / number of trees

1. A number follows a truncated normal between the bounds of the leaf, or a uniform, which is one with σ = ∞.
2. Of a category the levels that were observed in the leaf are listed with their probabilities. All others that can
   reach the leaf (`reaches`) share one probability, so that a column of a thousand levels costs what its leaves hold.
   Levels that no row of the data has reach none: they are never drawn. Asked about, one is as likely as the others.
3. A column with missing values is missing or present with the leaf's shares, and 1. or 2. hold for the present values.
4. A number with atoms has a list of levels, too: its atoms, and last that it is none of them (see `values`).
5. The scores of the numbers that are no atoms may be correlated (see `copula`).
6. What follows from these numbers and is needed for every density is kept beside them (`with_shortcuts`).

How the numbers are found is in `leaf_fit`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from countarfactuals._kernels import inner, kernel
from countarfactuals._tables import by_reference
from countarfactuals.arf.atoms import Values
from countarfactuals.arf.copula import Copula, first_numbers, with_scores
from countarfactuals.arf.forest import Forest, goes_left

_FEW_LEVELS = 16


@by_reference
class LeafTable(NamedTuple):
    """The parameters of every leaf."""

    log_weight: np.ndarray  # (L,) log π_l
    n_levels: np.ndarray  # (p,) 0 for numbers
    unused: np.ndarray  # (p, levels) or empty, which levels no row of the data has
    number_of: np.ndarray  # (p,) place of a column among the numbers, −1 for categories
    category_of: np.ndarray  # (p,) place of a column among the categories, −1 for numbers
    missing_of: np.ndarray  # (p,) place of a column in `missing`, −1 where training had no missing value
    low: np.ndarray  # (L, q) bounds of numbers
    high: np.ndarray  # (L, q)
    mu: np.ndarray  # (L, q)
    sigma: np.ndarray  # (L, q), ∞ for uniforms
    log_norm: np.ndarray  # (L, q) log density less −½ ((x − μ)/σ)²
    missing: np.ndarray  # (L, m, 2) log share missing, log share present
    level_start: np.ndarray  # (L·c + 1,) where the observed levels of leaf l and list k start: l·c + k
    level: np.ndarray  # int32, observed levels, ascending per leaf and list
    level_logp: np.ndarray  # their log probabilities
    rest_logp: np.ndarray  # (L, c) log probability of each level that is not listed but can reach the leaf
    values: Values  # grids, atoms and edges
    copula: Copula  # how the numbers of a leaf depend on each other
    # the same once more, where the inner loop of densities finds it: see `with_shortcuts`
    inverse: np.ndarray  # (L, q) 1/σ
    log_norms: np.ndarray  # (L,) the sum of `log_norm` over the numbers
    few_start: np.ndarray  # (c,) first column of a category with few levels in `few_logp`, −1 for one with many
    few_logp: np.ndarray  # (L, …) log probability, level by level
    list_column: np.ndarray  # (c,) the column of each list of levels: categories, then numbers with atoms
    list_size: np.ndarray  # (c,) its levels: those of a category; the atoms of a number, and one for "none of them"
    atoms_of: np.ndarray  # (p,) place of a number with atoms among the lists, −1 for all other columns
    closed: bool  # whether leaves have bounds besides their cuts, so that reaching a leaf is not enough

    @property
    def coverage(self) -> np.ndarray:
        """Mixture weights π_l; they sum to 1 over the forest."""
        return np.exp(self.log_weight)


def first_columns(table: LeafTable, n: int) -> LeafTable:
    """The table of the first n columns, for a forest that splits on no other: the same densities with less to read."""
    numbers = int((table.number_of[:n] >= 0).sum())
    missing = int((table.missing_of[:n] >= 0).sum())
    n_leaves, n_all = table.rest_logp.shape
    lists = table.list_column < n
    cells = np.arange(n_leaves * n_all).reshape(n_leaves, n_all)[:, lists].ravel()
    size = np.diff(table.level_start)[cells]
    start = np.concatenate([[0], np.cumsum(size)])
    listed = np.repeat(table.level_start[cells] - start[:-1], size) + np.arange(start[-1])

    def first_of(array: np.ndarray, k: int) -> np.ndarray:
        return np.ascontiguousarray(array[:, :k])

    values = table.values.some(np.arange(n))
    some = table._replace(
        values=values,
        low=first_of(table.low, numbers),
        high=first_of(table.high, numbers),
        mu=first_of(table.mu, numbers),
        sigma=first_of(table.sigma, numbers),
        log_norm=first_of(table.log_norm, numbers),
        n_levels=table.n_levels[:n],
        unused=table.unused[:n],
        number_of=table.number_of[:n],
        category_of=table.category_of[:n],
        missing_of=table.missing_of[:n],
        missing=first_of(table.missing, missing),
        level_start=start.astype(np.int64),
        level=table.level[listed],
        level_logp=table.level_logp[listed],
        rest_logp=np.ascontiguousarray(table.rest_logp[:, lists]),
        copula=first_numbers(table.copula, numbers),
    )
    return with_shortcuts(some)


def with_shortcuts(table: LeafTable) -> LeafTable:
    """The table with what follows from it laid out for densities: constants summed, divisions done, and the listed
    levels of small categories spread, so that one is found without a search.

    Nothing of it depends on the weights, which explainers replace.
    """
    list_column, n_levels = lists_of(table.n_levels, table.values)
    atoms_of = np.full(len(table.n_levels), -1)
    is_atoms = table.n_levels[list_column] == 0
    atoms_of[list_column[is_atoms]] = np.flatnonzero(is_atoms)
    is_few = n_levels <= _FEW_LEVELS
    width = np.where(is_few, n_levels, 0)
    few_start = np.where(is_few, np.cumsum(width) - width, -1)
    few_logp = np.empty((len(table.log_weight), int(width.sum())))
    _spread_levels(table.level_start, table.level, table.level_logp, table.rest_logp, few_start, width, few_logp)
    return table._replace(
        copula=with_scores(table.copula, table.low, table.high, table.mu, table.sigma),
        inverse=1.0 / table.sigma,
        log_norms=table.log_norm.sum(axis=1),
        few_start=few_start,
        few_logp=few_logp,
        list_column=list_column,
        list_size=n_levels,
        atoms_of=atoms_of,
    )


def places(chosen: np.ndarray) -> np.ndarray:
    """The running number of the chosen columns, −1 for the others."""
    return np.where(chosen, np.cumsum(chosen) - 1, -1).astype(np.int64)


def lists_of(n_levels: np.ndarray, values: Values) -> tuple[np.ndarray, np.ndarray]:
    """The column of each list of levels, and how many there are: categories, then the atoms of numbers."""
    categories, with_atoms = np.flatnonzero(n_levels > 0), np.flatnonzero(values.n_atoms > 0)
    column = np.concatenate([categories, with_atoms]).astype(np.int64)
    return column, np.concatenate([n_levels[categories], values.n_atoms[with_atoms] + 1]).astype(np.int64)


@kernel
def _spread_levels(level_start, level, level_logp, rest_logp, few_start, width, few_logp):  # type: ignore[no-untyped-def]
    """Write the log probability of every level of the small categories to its place."""
    n_leaves, n_categories = rest_logp.shape
    for leaf in range(n_leaves):
        for c in range(n_categories):
            if few_start[c] >= 0:
                few_logp[leaf, few_start[c] : few_start[c] + width[c]] = rest_logp[leaf, c]
                cell = leaf * n_categories + c
                for k in range(level_start[cell], level_start[cell + 1]):
                    few_logp[leaf, few_start[c] + level[k]] = level_logp[k]


@inner
def reaches(forest: Forest, unused: np.ndarray, leaf: int, column: int, value: float) -> bool:
    """Whether a value of a column (a level, or NaN for missing) can end in the leaf."""
    if 0.0 <= value < unused.shape[1] and unused[column, np.int64(value)]:
        return False
    node = forest.leaf_node[leaf]
    while forest.parent[node] >= 0:
        above = forest.parent[node]
        if forest.feature[above] == column and goes_left(forest, above, value) != (node == forest.child[above]):
            return False
        node = above
    return True


@inner
def numbers_of(leaves):  # type: ignore[no-untyped-def]
    """The columns that are numbers, in the order of their places."""
    numbers, q = np.empty(len(leaves.number_of), np.int64), 0
    for j in range(len(leaves.number_of)):
        if leaves.number_of[j] >= 0:
            numbers[q] = j
            q += 1
    return numbers[:q]


@inner
def reached_value(leaves, column, level):  # type: ignore[no-untyped-def]
    """What stands in the matrix for a level of a list: the code of a category's level, or an atom."""
    if leaves.n_levels[column] > 0:
        return float(level)
    return leaves.values.atom[leaves.values.atom_start[column] + level]


@inner
def log_level(forest, leaves, leaf, column, place, level):  # type: ignore[no-untyped-def]
    """Log probability of a level of a list in a leaf, given that the column is present."""
    cell = leaf * leaves.rest_logp.shape[1] + place
    listed = find_level(leaves.level_start, leaves.level, cell, level)
    if listed >= 0:
        return leaves.level_logp[listed]
    return (
        leaves.rest_logp[leaf, place]
        if reaches(forest, leaves.unused, leaf, column, reached_value(leaves, column, level))
        else -np.inf
    )


@inner
def find_level(start, level, cell, wanted):  # type: ignore[no-untyped-def]
    """Where a level is listed in a cell (leaf and list), −1 if it is not."""
    low, end = start[cell], start[cell + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if level[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and level[low] == wanted else -1
