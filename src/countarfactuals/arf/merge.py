"""Several forests of one schema as one: the mixture of their densities, each weighed by its number of trees.

1. Nodes, leaves and sets of levels are numbered on, forest after forest.
2. A leaf's weight is its weight in its forest times that forest's share of all trees.
3. Tables of leaves are put one after the other. A column that has missing values in one forest only is never missing in
   the leaves of the others. Where one forest is dependent, leaves of an independent one get a region without
   correlations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from countarfactuals.arf.copula import Copula, no_copula, with_scores
from countarfactuals.arf.forest import Forest, make_forest
from countarfactuals.arf.leaves import LeafTable, with_shortcuts

_STACKED = ("low", "high", "mu", "sigma", "log_norm", "level", "level_logp", "rest_logp")


def join_forests(forests: Sequence[Forest]) -> Forest:
    """All trees in one forest."""
    first_node = _starts([len(forest.feature) for forest in forests])
    first_leaf = _starts([forest.n_leaves for forest in forests])
    first_word = _starts([len(forest.bits) for forest in forests])
    child = [
        forest.child + np.where(forest.feature >= 0, node, leaf)
        for forest, node, leaf in zip(forests, first_node, first_leaf, strict=True)
    ]
    words = [
        np.where(forest.words >= 0, forest.words + word, -1) for forest, word in zip(forests, first_word, strict=True)
    ]
    return make_forest(
        feature=np.concatenate([forest.feature for forest in forests]),
        child=np.concatenate(child).astype(np.int32),
        threshold=np.concatenate([forest.threshold for forest in forests]),
        missing_left=np.concatenate([forest.missing_left for forest in forests]),
        words=np.concatenate(words),
        bits=np.concatenate([forest.bits for forest in forests]),
        root=np.concatenate([forest.root + node for forest, node in zip(forests, first_node, strict=True)]).astype(
            np.int32
        ),
    )


def join_tables(tables: Sequence[LeafTable], n_trees: Sequence[int]) -> LeafTable:
    """The parameters of all leaves in one table; `n_trees` are the trees behind each."""
    shares = np.log(np.array(n_trees, np.float64)) - math.log(sum(n_trees))
    missing_of = _joint_places([table.missing_of for table in tables])
    level_start = np.concatenate([[0], *(np.diff(table.level_start) for table in tables)]).cumsum()

    def stacked(name: str) -> Any:
        return np.concatenate([getattr(table, name) for table in tables])

    own: dict[str, Any] = {
        "log_weight": np.concatenate([table.log_weight + share for table, share in zip(tables, shares, strict=True)]),
        "missing_of": missing_of,
        "missing": np.concatenate([_missing(table, missing_of) for table in tables]),
        "level_start": level_start.astype(np.int64),
        "closed": any(table.closed for table in tables),
    }
    joined = tables[0]._replace(**own, **{name: stacked(name) for name in _STACKED})
    copula = with_scores(_join_copulas(tables), joined.low, joined.high, joined.mu, joined.sigma)
    return with_shortcuts(joined._replace(copula=copula))


def _starts(sizes: Sequence[int]) -> np.ndarray:
    return np.cumsum(sizes) - np.array(sizes)


def _joint_places(places: Sequence[np.ndarray]) -> np.ndarray:
    """The running number of the columns that have a place in any table."""
    has_place = np.any([place >= 0 for place in places], axis=0)
    return np.where(has_place, np.cumsum(has_place) - 1, -1).astype(np.int64)


def _missing(table: LeafTable, missing_of: np.ndarray) -> np.ndarray:
    """Log shares of missing and present for all columns that need them."""
    shares = np.empty((len(table.log_weight), int(missing_of.max()) + 1, 2))
    shares[:] = -math.inf, 0.0
    for column in np.flatnonzero(table.missing_of >= 0):
        shares[:, missing_of[column]] = table.missing[:, table.missing_of[column]]
    return shares


def _join_copulas(tables: Sequence[LeafTable]) -> Copula:
    if not any(len(table.copula.region) for table in tables):
        return no_copula()
    regions, correlations, n_regions = [], [], 0
    for table in tables:
        region, correlation = table.copula.region, table.copula.correlation
        if not len(region):
            region, correlation = np.zeros(len(table.log_weight), np.int32), np.eye(table.mu.shape[1])[None]
        regions.append(region + np.int32(n_regions))
        correlations.append(correlation)
        n_regions += len(correlation)
    return no_copula()._replace(region=np.concatenate(regions), correlation=np.concatenate(correlations))
