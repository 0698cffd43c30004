"""A forest of binary trees over mixed columns, as flat arrays that kernels can walk.

1. `Layout` tells what the columns of the matrix are: numbers (with what is known of their values) or categories.
2. `Coding` replaces values by 16-bit ranks, once for the whole fit. Columns with more distinct values than codes get
   quantile bins.
3. `grow_forest` grows the trees in threads on real and synthetic codes, and joins them to one `Forest`, whose cuts
   are values again: midpoints between neighbours, moved to the middle between two grid points where the column has a
   grid, so that the cell of values that round to a grid point is never divided.

Rule of a node: a value ≤ threshold, a level of the node's set, or a missing value if `missing_left`, goes left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from joblib import delayed, effective_n_jobs
from numba import njit

from countarfactuals._kernels import kernel
from countarfactuals._parallel import threads
from countarfactuals._tables import by_reference
from countarfactuals.arf.atoms import Values, grid_place, grid_point
from countarfactuals.arf.grow import MAX_CODES, MISSING, GrownTree, grow_tree
from countarfactuals.arf.random import spawn_seeds
from countarfactuals.schema import Kind, Schema


class Layout(NamedTuple):
    """What the columns of the matrix are."""

    n_levels: np.ndarray  # int64, 0 for numbers
    unordered: np.ndarray  # bool
    step: np.ndarray  # float64, distance of grid points, 0 for full precision
    known: Values | None = None  # what else is known of the values
    unused: np.ndarray = np.zeros((0, 0), np.bool_)  # levels that no row has, by column; empty where there are none

    @classmethod
    def of(cls, schema: Schema) -> Layout:
        """The layout of a schema's columns."""
        return cls(
            np.array([column.n_levels for column in schema.columns], np.int64),
            np.array([column.kind is Kind.CATEGORY for column in schema.columns], np.bool_),
            np.array([column.step if column.is_number else 1.0 for column in schema.columns], np.float64),
            Values.of(schema.columns),
            _unused(schema),
        )

    def some(self, columns: np.ndarray) -> Layout:
        """The layout of some columns."""
        return Layout(
            self.n_levels[columns],
            self.unordered[columns],
            self.step[columns],
            self.values.some(columns),
            self.unused[columns] if self.unused.size else self.unused,
        )

    @property
    def values(self) -> Values:
        """What is known of the columns' values."""
        return Values.plain(self.step) if self.known is None else self.known


def _unused(schema: Schema) -> np.ndarray:
    """(p, levels), as wide as the column with most levels; (0, 0) if every level occurs."""
    if not any(column.unused for column in schema.columns):
        return np.zeros((0, 0), np.bool_)
    unused = np.zeros((len(schema.columns), max(column.n_levels for column in schema.columns)), np.bool_)
    for j, column in enumerate(schema.columns):
        unused[j, list(column.unused)] = True
    return unused


class Coding(NamedTuple):
    """A matrix in ranks, and the smallest and largest value behind each rank."""

    codes: np.ndarray  # uint16 (p, n)
    lowest: tuple[np.ndarray, ...]
    highest: tuple[np.ndarray, ...]


@by_reference
class Forest(NamedTuple):
    """All trees in one; children and leaves are numbered over the whole forest."""

    feature: np.ndarray  # int32, −1 in a leaf
    child: np.ndarray  # int32, left child (the right one follows); in a leaf the leaf's number
    threshold: np.ndarray  # float64, NaN in leaves and where levels are split
    missing_left: np.ndarray  # bool
    words: np.ndarray  # int64, where the set of left levels starts in `bits`, −1 for a cut
    bits: np.ndarray  # uint64
    parent: np.ndarray  # int32, −1 for roots
    root: np.ndarray  # int32, per tree
    leaf_start: np.ndarray  # int64, per tree the first leaf's number; one more entry for the end
    leaf_node: np.ndarray  # int32, per leaf
    split: np.ndarray  # int64, the columns that are split somewhere
    depth: int

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.root)

    @property
    def n_leaves(self) -> int:
        """Number of leaves in all trees."""
        return len(self.leaf_node)


@by_reference
class Members(NamedTuple):
    """Which real rows each leaf holds: rows[tree, start[leaf]:stop[leaf]]."""

    rows: np.ndarray  # int32 (trees, n)
    start: np.ndarray  # int64, per leaf
    stop: np.ndarray  # int64, per leaf


class Growth(NamedTuple):
    """What growing gives: the forest, its leaves' real rows, and how well it told real from synthetic rows."""

    forest: Forest
    members: Members
    accuracy: float


def code_columns(matrix: np.ndarray, layout: Layout) -> Coding:
    """Rank-code every column of a float matrix."""
    n, p = matrix.shape
    codes = np.empty((p, n), np.uint16)
    lowest, highest = [], []
    for j in range(p):
        values = matrix[:, j]
        present = ~np.isnan(values)
        if layout.n_levels[j] > 0:
            low = high = np.arange(layout.n_levels[j], dtype=np.float64)
            ranks = values[present].astype(np.int64)
        else:
            distinct, ranks = np.unique(values[present], return_inverse=True)
            low, high = distinct, distinct
            if len(distinct) > MAX_CODES:
                bin_of = np.arange(len(distinct)) * MAX_CODES // len(distinct)
                first = np.flatnonzero(np.diff(bin_of, prepend=-1))
                low, high = distinct[first], distinct[np.append(first[1:], len(distinct)) - 1]
                ranks = bin_of[ranks]
        codes[j] = MISSING
        codes[j, present] = ranks
        lowest.append(low)
        highest.append(high)
    return Coding(codes, tuple(lowest), tuple(highest))


def grow_forest(
    codes: np.ndarray,
    coding: Coding,
    layout: Layout,
    *,
    n_trees: int,
    max_features: int,
    always: np.ndarray,
    min_real: int,
    n_drawn: int,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> Growth:
    """Grow trees on `codes` (p, 2n): n real rows, then n synthetic ones."""
    seeds = spawn_seeds(rng, n_trees)
    # two levels need no search for an order; a cut between them is the same split and cheaper to find
    n_sets = np.where(layout.unordered & (layout.n_levels > 2), layout.n_levels, 0)

    def grow_some(some: np.ndarray) -> tuple[list[GrownTree], np.ndarray, np.ndarray]:
        votes, n_votes = np.zeros(codes.shape[1], np.int64), np.zeros(codes.shape[1], np.int32)
        trees = [
            grow_tree(codes, n_sets, max_features, always, min_real, n_drawn, seed, votes, n_votes) for seed in some
        ]
        return trees, votes, n_votes

    n_parts = min(n_trees, effective_n_jobs(n_jobs))
    parts = threads(n_jobs)(delayed(grow_some)(part) for part in np.array_split(seeds, n_parts))
    trees = [tree for part in parts for tree in part[0]]
    accuracy = _accuracy(sum(part[1] for part in parts), sum(part[2] for part in parts))
    return Growth(_join(trees, coding, layout), _members(trees), accuracy)


def _accuracy(votes: np.ndarray, n_votes: np.ndarray) -> float:
    """Share of out-of-bag rows on the right side of an even vote; a tie counts half."""
    n = len(votes) // 2
    signed = np.where(np.arange(2 * n) < n, votes, -votes)[n_votes > 0]
    return float(np.mean((signed > 0) + 0.5 * (signed == 0))) if len(signed) else 0.5


def _members(trees: list[GrownTree]) -> Members:
    return Members(
        np.stack([tree.rows for tree in trees]),
        np.concatenate([tree.leaf_start[:-1] for tree in trees]).astype(np.int64),
        np.concatenate([tree.leaf_start[1:] for tree in trees]).astype(np.int64),
    )


def _join(trees: list[GrownTree], coding: Coding, layout: Layout) -> Forest:
    n_nodes = np.array([len(tree.feature) for tree in trees])
    n_leaves = np.array([len(tree.leaf_start) - 1 for tree in trees])
    n_words = np.array([len(tree.bits) for tree in trees])
    first_node, first_leaf, first_word = (np.cumsum(n) - n for n in (n_nodes, n_leaves, n_words))
    feature = np.concatenate([tree.feature for tree in trees])
    shift = np.where(feature >= 0, np.repeat(first_node, n_nodes), np.repeat(first_leaf, n_nodes))
    words = np.concatenate([tree.words for tree in trees]).astype(np.int64)
    return make_forest(
        feature=feature,
        child=(np.concatenate([tree.child for tree in trees]) + shift).astype(np.int32),
        threshold=_thresholds(trees, feature, coding, layout),
        missing_left=np.concatenate([tree.missing_left for tree in trees]),
        words=np.where(words >= 0, words + np.repeat(first_word, n_nodes), -1),
        bits=np.concatenate([tree.bits for tree in trees]),
        root=first_node.astype(np.int32),
    )


def _thresholds(trees: list[GrownTree], feature: np.ndarray, coding: Coding, layout: Layout) -> np.ndarray:
    left_max = np.concatenate([tree.left_max for tree in trees])
    right_min = np.concatenate([tree.right_min for tree in trees])
    is_cut = np.concatenate([tree.words for tree in trees]) < 0
    threshold = np.full(len(feature), np.nan)
    for j in range(len(coding.codes)):
        nodes = np.flatnonzero((feature == j) & is_cut)
        apart = right_min[nodes] != MISSING  # otherwise only missing values went right
        threshold[nodes[~apart]] = np.inf
        nodes = nodes[apart]
        left, right = coding.highest[j][left_max[nodes]], coding.lowest[j][right_min[nodes]]
        threshold[nodes] = _between(left, right, layout.step[j], layout.values.origin[j])
    return threshold


def _between(left: np.ndarray, right: np.ndarray, step: float, origin: float = 0.0) -> np.ndarray:
    """A cut c with left ≤ c < right: the midpoint, or the middle of the grid cell it lies in."""
    middle = left + 0.5 * (right - left)
    if step > 0:
        # as NumPy: both are kernels of single numbers
        place = np.floor(grid_place.py_func(middle, step, origin)) + 0.5
        middle = grid_point.py_func(place, step, origin)
    return np.where((middle >= left) & (middle < right), middle, left)


def make_forest(
    *,
    feature: np.ndarray,
    child: np.ndarray,
    threshold: np.ndarray,
    missing_left: np.ndarray,
    words: np.ndarray,
    bits: np.ndarray,
    root: np.ndarray,
) -> Forest:
    """A forest from its nodes: parents, leaves and depth follow. Children must stand after their parents."""
    inner = np.flatnonzero(feature >= 0)
    parent = np.full(len(feature), -1, np.int32)
    parent[child[inner]] = inner
    parent[child[inner] + 1] = inner
    leaves = np.flatnonzero(feature < 0)
    leaf_node = np.empty(len(leaves), np.int32)
    leaf_node[child[leaves]] = leaves
    tree_of_leaf = np.searchsorted(root, leaf_node, side="right") - 1
    leaf_start = np.searchsorted(tree_of_leaf, np.arange(len(root) + 1))
    return Forest(
        feature=feature,
        child=child,
        threshold=threshold,
        missing_left=missing_left,
        words=words,
        bits=bits,
        parent=parent,
        root=root,
        leaf_start=leaf_start.astype(np.int64),
        leaf_node=leaf_node,
        split=np.unique(feature[inner]).astype(np.int64),
        depth=int(_depth(parent)),
    )


def with_columns(forest: Forest, columns: np.ndarray) -> Forest:
    """The forest grown on some columns, as one over all of them."""
    feature = np.where(forest.feature >= 0, columns[forest.feature], -1).astype(np.int32)
    return forest._replace(feature=feature, split=columns[forest.split])


def some_trees(forest: Forest, start: int, stop: int) -> Forest:
    """A view of some of the trees; nodes and leaves keep their numbers."""
    return forest._replace(root=forest.root[start:stop], leaf_start=forest.leaf_start[start : stop + 1])


@kernel
def _depth(parent: np.ndarray) -> int:
    level, deepest = np.zeros(len(parent), np.int64), 0
    for node in range(len(parent)):
        if parent[node] >= 0:
            level[node] = level[parent[node]] + 1
            deepest = max(deepest, level[node])
    return deepest


@njit(inline="always")
def goes_left(forest: Forest, node: int, value: float) -> bool:
    """The rule of a node."""
    if np.isnan(value):
        return forest.missing_left[node]
    start = forest.words[node]
    if start < 0:
        return value <= forest.threshold[node]
    level = np.int64(value)
    return (forest.bits[start + (level >> 6)] >> np.uint64(level & 63)) & np.uint64(1) == np.uint64(1)


@kernel
def apply(forest: Forest, matrix: np.ndarray) -> np.ndarray:
    """The leaf of each row in each tree, (n, trees), numbered over the forest."""
    leaves = np.empty((len(matrix), len(forest.root)), np.int32)
    for tree in range(len(forest.root)):
        for i in range(len(matrix)):
            node = forest.root[tree]
            while forest.feature[node] >= 0:
                right = not goes_left(forest, node, matrix[i, forest.feature[node]])
                node = forest.child[node] + right
            leaves[i, tree] = forest.child[node]
    return leaves
