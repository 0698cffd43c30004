"""What the leaves that rows end in say together, where their densities are not asked for."""

from __future__ import annotations

import numpy as np
from numba import njit

from countarfactuals.arf.walk import _reach_one


@njit(nogil=True, cache=True)
def mean_of_leaves(forest, rows, leaf_value):  # type: ignore[no-untyped-def]
    """The mean, over the trees, of the value that the leaf of each row has."""
    n, n_trees = len(rows), len(forest.root)
    visitor, visited, total = np.empty(n, np.int32), np.empty(n, np.int32), np.zeros(n)
    for tree in range(n_trees):
        _reach_one(forest, rows, tree, visitor, visited)
        for i in range(n):
            total[i] += leaf_value[visited[i]]
    return total / n_trees
