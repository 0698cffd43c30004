"""Log densities of conditions: joint, marginal and conditional, by one walk.

A row is the condition that every column has its value. Columns left free are summed out, so the same kernel gives
joint and marginal densities, and log p(a | b) = log p(a, b) − log p(b).
"""

from __future__ import annotations

import math

import numpy as np
from joblib import Parallel, delayed
from numba import njit

from countarfactuals.arf.evidence import Evidence, conditioned_columns, log_sum, scratch, visit
from countarfactuals.arf.forest import Forest
from countarfactuals.arf.leaves import LeafTable

_BLOCK = 512  # conditions per task: enough to keep a tree in the cache, few enough to share out


def log_density(forest: Forest, leaves: LeafTable, evidence: Evidence, n_jobs: int | None = None) -> np.ndarray:
    """Log probability (or density of the point parts) of each condition: the mixture over all trees."""
    return _in_blocks(forest, leaves, evidence, n_jobs, mixture=True)


def tree_log_density(forest: Forest, leaves: LeafTable, evidence: Evidence, n_jobs: int | None = None) -> np.ndarray:
    """Log density of each condition by each tree on its own, (conditions, trees)."""
    return _in_blocks(forest, leaves, evidence, n_jobs, mixture=False)


def _in_blocks(
    forest: Forest, leaves: LeafTable, evidence: Evidence, n_jobs: int | None, *, mixture: bool
) -> np.ndarray:
    log_trees = math.log(forest.n_trees)

    def block(start: int) -> np.ndarray:
        some = evidence.rows(slice(start, start + _BLOCK))
        per_tree = _tree_log_density(forest, leaves, some, *conditioned_columns(some.kind))
        return _log_sum_rows(per_tree) if mixture else per_tree + log_trees

    starts = range(0, len(evidence.kind), _BLOCK)
    if len(starts) == 1:
        return block(0)
    return np.concatenate(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(block)(start) for start in starts))


@njit(nogil=True, cache=True)
def _tree_log_density(forest, leaves, evidence, columns, n_columns):  # type: ignore[no-untyped-def]
    """Per condition and tree: log Σ over the tree's leaves."""
    n, n_trees = len(evidence.kind), len(forest.root)
    stack, leaf_found, log_found = scratch(forest)
    result = np.empty((n, n_trees))
    for tree in range(n_trees):
        for i in range(n):
            chosen = columns[i, : n_columns[i]]
            found = visit(forest, leaves, evidence, i, chosen, tree, stack, leaf_found, log_found)
            result[i, tree] = log_found[0] if found == 1 else log_sum(log_found[:found])
    return result


@njit(nogil=True, cache=True)
def _log_sum_rows(matrix):  # type: ignore[no-untyped-def]
    result = np.empty(len(matrix))
    for i in range(len(matrix)):
        result[i] = log_sum(matrix[i])
    return result
