"""Whether a stored forest can be walked: kernels trust every index, so those of a file are checked once.

1. *Nodes.* Each tree has its own stretch of nodes and of leaves. Children stand after their node, within the stretch,
   and have one parent; so trees have no cycles, and every leaf is reached. A node asks about a column that there is,
   by a threshold that is a number or by a set of levels that has a bit for each level. What follows from the nodes
   (parents, depth, the nodes of leaves) is made anew instead of read.
2. *Leaves.* Places of columns follow from the schema. Weights sum to 1, shares of missing and of levels to 1 at most;
   levels are ascending and exist. Bounds, means and spreads are such that a density between them is a number.
3. *Values and correlations.* Values are those that the schema tells; correlations are symmetric and can be factorised.

A fault is a ValueError, or a KeyError for what is not there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from countarfactuals._kernels import kernel
from countarfactuals.arf.atoms import Values
from countarfactuals.arf.copula import factorise
from countarfactuals.arf.forest import Forest, Layout, make_forest
from countarfactuals.arf.leaves import lists_of, places
from countarfactuals.stored_arrays import taken

_ROUNDING = 1e-6  # by which sums of probabilities may miss 1
_LEAST_LOG = -745.0  # of a probability that is not 0
_MOST_LOG_NORM = 1e100
_MOST_SPREADS = 1e100  # of a mean from zero
_LEAST_SPREAD = 1e-290  # whose inverse is finite
_LEAST_PIVOT = 1e-9  # of correlations; those that are fitted have 2e-3
_FAULTS = (
    "",
    "its trees do not share out their nodes",
    "a node asks about a column that there is not",
    "a node has children that can not be its own",
    "a node's set of levels is not there",
    "a node has no threshold",
    "its leaves are not numbered tree by tree",
    "its levels are not ascending, or there are no such",
    "probabilities of levels sum to more than 1",
)

Arrays = Mapping[str, np.ndarray]


def sound_forest(arrays: Arrays, layout: Layout) -> Forest:
    """The forest of stored nodes, from arrays named as its fields."""
    n = len(arrays["feature"])
    feature = taken(arrays, "feature", np.int32, (n,))
    child = taken(arrays, "child", np.int32, (n,))
    threshold = taken(arrays, "threshold", np.float64, (n,), gaps=True, unbounded=True)
    missing_left = taken(arrays, "missing_left", np.bool_, (n,))
    words = taken(arrays, "words", np.int64, (n,))
    bits = taken(arrays, "bits", np.uint64, (None,))
    root = taken(arrays, "root", np.int32, (None,))
    n_words = (np.where(layout.unordered, layout.n_levels, 0) + 63) >> 6
    _refuse(_faulty_node(feature, child, threshold, words, len(bits), root, n_words))
    return make_forest(
        feature=feature,
        child=child,
        threshold=threshold,
        missing_left=missing_left,
        words=words,
        bits=bits,
        root=root,
    )


def sound_leaves(arrays: Arrays, layout: Layout, values: Values, n_leaves: int) -> dict[str, np.ndarray]:
    """The stored fields of a leaf table."""
    is_number = layout.n_levels == 0
    p, q = len(is_number), int(is_number.sum())
    _, list_size = lists_of(layout.n_levels, values)
    has_missing = taken(arrays, "missing_of", np.int64, (p,), -1, p) >= 0
    n_missing, n_cells = int(has_missing.sum()), n_leaves * len(list_size)
    found = {
        "n_levels": layout.n_levels,
        "number_of": places(is_number),
        "category_of": places(~is_number),
        "missing_of": places(has_missing),
    }
    for name, expected in found.items():
        if not np.array_equal(taken(arrays, name, np.int64, (p,)), expected):
            raise ValueError(f"{name!r} does not fit its columns")
    found["unused"] = layout.unused
    found["log_weight"] = taken(arrays, "log_weight", np.float64, (n_leaves,), high=_ROUNDING, unbounded=True)
    for name in ("low", "high", "sigma"):
        found[name] = taken(arrays, name, np.float64, (n_leaves, q), unbounded=True)
    found["mu"] = taken(arrays, "mu", np.float64, (n_leaves, q))
    found["log_norm"] = taken(arrays, "log_norm", np.float64, (n_leaves, q), -_MOST_LOG_NORM, _MOST_LOG_NORM)
    found["missing"] = taken(arrays, "missing", np.float64, (n_leaves, n_missing, 2), high=_ROUNDING, unbounded=True)
    found["level_start"] = taken(arrays, "level_start", np.int64, (n_cells + 1,), 0)
    found["level"] = taken(arrays, "level", np.int32, (None,), 0)
    n_listed = (len(found["level"]),)
    found["level_logp"] = taken(arrays, "level_logp", np.float64, n_listed, high=_ROUNDING, unbounded=True)
    rest_shape = (n_leaves, len(list_size))
    found["rest_logp"] = taken(arrays, "rest_logp", np.float64, rest_shape, high=_ROUNDING, unbounded=True)
    _check_numbers(found)
    _check_shares(found, list_size)
    return found


def sound_correlations(arrays: Arrays, n_leaves: int, q: int) -> dict[str, np.ndarray]:
    """The stored fields of a copula."""
    n_regions = len(arrays["correlation"])
    if len(arrays["region"]) == 0:
        n_leaves = 0
    region = taken(arrays, "region", np.int32, (n_leaves,), 0, max(n_regions - 1, 0))
    if n_leaves == 0:
        return {"region": region, "correlation": np.empty((0, 0, 0))}
    correlation = taken(arrays, "correlation", np.float64, (n_regions, q, q), -1.0, 1.0)
    if not _are_correlations(correlation):
        raise ValueError("its correlations can not be")
    return {"region": region, "correlation": correlation}


def _refuse(fault: int) -> None:
    if fault:
        raise ValueError(_FAULTS[fault])


def _check_numbers(found: Arrays) -> None:
    low, high, mu, sigma = found["low"], found["high"], found["mu"], found["sigma"]
    if not (low < high).all():
        raise ValueError("a leaf has no room between its bounds")
    uniform = np.isinf(sigma)
    if (sigma < _LEAST_SPREAD).any() or not np.isfinite(np.where(uniform, high - low, 0.0)).all():
        raise ValueError("a leaf has a spread that can not be")
    if (np.abs(mu) > _MOST_SPREADS * sigma).any():
        raise ValueError("a leaf has a mean that can not be")


def _check_shares(found: Arrays, list_size: np.ndarray) -> None:
    if not abs(math.fsum(np.exp(found["log_weight"])) - 1.0) < _ROUNDING:
        raise ValueError("the weights of its leaves do not sum to 1")
    if not (np.abs(np.exp(found["missing"]).sum(axis=2) - 1.0) < _ROUNDING).all():
        raise ValueError("shares of missing values do not sum to 1")
    if _is_lost(found["rest_logp"]) or _is_lost(found["level_logp"]):
        raise ValueError("a probability is smaller than can be")
    _refuse(_faulty_levels(found["level_start"], found["level"], found["level_logp"], list_size))


def _is_lost(log_p: np.ndarray) -> bool:
    return bool(((log_p < _LEAST_LOG) & (log_p > -math.inf)).any())


@kernel
def _faulty_node(feature, child, threshold, words, n_bits, root, n_words):  # type: ignore[no-untyped-def]
    """The first fault of any node, by its place in `_FAULTS`; 0 for none."""
    n_trees, n_nodes, first_leaf = len(root), len(feature), 0
    has_parent = np.zeros(n_nodes, np.bool_)
    is_numbered = np.zeros(n_nodes, np.bool_)  # leaves are fewer than nodes
    for tree in range(n_trees):
        first = root[tree]
        end = root[tree + 1] if tree + 1 < n_trees else n_nodes
        if first < 0 or end > n_nodes or first >= end or (tree == 0 and first > 0):
            return 1
        n_leaves = 0
        for node in range(first, end):
            n_leaves += feature[node] < 0
        for node in range(first, end):
            if node > first and not has_parent[node]:
                return 3
            j, at = feature[node], np.int64(child[node])
            if j < 0:
                if at < first_leaf or at >= first_leaf + n_leaves or is_numbered[at]:
                    return 6
                is_numbered[at] = True
                continue
            if j >= len(n_words):
                return 2
            if at <= node or at + 1 >= end or has_parent[at] or has_parent[at + 1]:
                return 3
            has_parent[at] = has_parent[at + 1] = True
            if words[node] < 0:
                if np.isnan(threshold[node]):
                    return 5
            elif n_words[j] == 0 or words[node] > n_bits - n_words[j] or not np.isnan(threshold[node]):
                return 4
        first_leaf += n_leaves
    return 0 if n_trees > 0 else 1


@kernel
def _faulty_levels(start, level, level_logp, list_size):  # type: ignore[no-untyped-def]
    """The first fault of any list of levels, by its place in `_FAULTS`; 0 for none."""
    if start[0] != 0 or start[-1] != len(level):
        return 7
    for cell in range(len(start) - 1):
        if start[cell + 1] < start[cell] or start[cell + 1] > len(level):
            return 7
        size, last, total = list_size[cell % len(list_size)], -1, 0.0
        for k in range(start[cell], start[cell + 1]):
            if level[k] <= last or level[k] >= size:
                return 7
            last = level[k]
            total += math.exp(level_logp[k])
        if total > 1.0 + _ROUNDING:
            return 8
    return 0


@kernel
def _are_correlations(correlation):  # type: ignore[no-untyped-def]
    """Whether every matrix is symmetric, has ones on its diagonal, and can be factorised."""
    n_regions, q = correlation.shape[0], correlation.shape[1]
    factor = np.empty((q, q))
    for r in range(n_regions):
        for a in range(q):
            if correlation[r, a, a] != 1.0:
                return False
            for b in range(a):
                if correlation[r, a, b] != correlation[r, b, a]:
                    return False
        factor[:] = correlation[r]
        if factorise(factor, q) < _LEAST_PIVOT:
            return False
    return True
