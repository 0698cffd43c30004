"""RQ1, the trade-off: what higher plausibility costs in sparsity and proximity.

1. *At most k changes*: per instance the highest true log density among the non-dominated counterfactuals that change at
   most k features, k the smaller of 3 and the number of features; then the median over instances. An instance without
   such a counterfactual counts as minus infinity.
2. *Changes and distance*: medians over all non-dominated counterfactuals.
3. *Surfaces*: of the corners of MOC's, MOCCTREE's and NICE's median attainment surfaces, the share that a method's own
   surface attains, and the share of its corners that theirs attain together (see `surfaces`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from countarfactuals.study.findings import OTHERS, OURS
from countarfactuals.study.surfaces import COORDINATES, Surface, share_attained, surfaces

MOST_CHANGES = 3


def trade_off(candidates: pd.DataFrame, instances: pd.DataFrame, n_features: Mapping[str, int]) -> pd.DataFrame:
    """One line per data set and method, in the order of `instances`.

    Parameters
    ----------
    candidates, instances : see `aggregate`.
    n_features : of each data set.
    """
    best = candidates[candidates["nondominated"]]
    pair = ["dataset", "method"]
    table = instances.groupby(pair, sort=False).size().index.to_frame(index=False)
    table["most_changes"] = [min(MOST_CHANGES, n_features[name]) for name in table["dataset"]]
    values = [_sparse_density(best, instances, *line) for line in table.itertuples(index=False, name=None)]
    table["log_density_within"] = values
    medians = best.groupby(pair, sort=False)[["n_changed", "distance"]].median()
    table = table.join(medians, on=pair)
    for column in COORDINATES:
        table = table.join(_attained(candidates, instances, column), on=pair)
    return table


def _sparse_density(best: pd.DataFrame, instances: pd.DataFrame, name: str, method: str, most: int) -> float:
    every = instances.loc[(instances["dataset"] == name) & (instances["method"] == method), "instance"]
    mine = best[(best["dataset"] == name) & (best["method"] == method) & (best["n_changed"] <= most)]
    highest = mine.groupby("instance")["log_density"].max().reindex(every, fill_value=-np.inf)
    low, high = np.quantile(highest, 0.5, method="lower"), np.quantile(highest, 0.5, method="higher")
    return float(low if np.isinf(low) else (low + high) / 2.0)  # infinities have no middle


def _attained(candidates: pd.DataFrame, instances: pd.DataFrame, column: str) -> pd.DataFrame:
    """Of each of our methods: the share of the others' corners that it attains, and the reverse."""
    known = surfaces(candidates, instances, column)
    lines = []
    for (name, method), surface in known.items():
        others = [known[name, other] for other in OTHERS if (name, other) in known]
        if method in OURS and others:
            together = Surface(*(np.concatenate([one[k] for one in others]) for k in (0, 1)))
            lines.append((name, method, share_attained(surface, others), share_attained(together, [surface])))
    names = ["dataset", "method", f"{column}_attained", f"{column}_attained_by_others"]
    return pd.DataFrame(lines, columns=names).set_index(["dataset", "method"])
