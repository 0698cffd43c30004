"""From candidates to tables.

1. Per data set, method and instance (`per_instance`): medians of the non-dominated counterfactuals' true log density,
   proximity and sparsity, their number, two hypervolumes, and Spearman correlations of both measures of plausibility
   to the true density over *all* candidates.
2. The *published* hypervolume minimises distance, share changed and 1 − p(c), p the true density. Each is scaled to
   mean 0 and standard deviation 1 over all candidates of all methods on the data set; the reference point is the
   worst of them. It depends on which methods take part.
3. The *plausible* hypervolume (`evaluation.plausible_hypervolume`) does not. An explanation without a counterfactual
   is worth 0 by both.
4. Per data set and method (`summary`): as in the paper's figure, medians over all non-dominated rows for the true log
   density, proximity and sparsity, and over instances for all else. Pooled rows weigh an instance by its number of
   rows; `log_density_by_instance`, the median of the instances' medians, does not.
5. `pooled`: the correlations once more, over the distinct candidates of all methods for an instance.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from countarfactuals.evaluation import plausible_hypervolume
from countarfactuals.objectives import hypervolume
from countarfactuals.study.measures import KEYS, MEASURES

SECONDS = ("seconds", "seconds_with_own_fit")
_OF_ROWS = ("log_density", "proximity", "sparsity")
_OF_INSTANCES = (
    "n_nondominated",
    "hypervolume",
    "plausible_hypervolume",
    "n_candidates",
    "n_evaluated",
    "valid_share",
    "spearman_arf",
    "spearman_gower",
    *SECONDS,
)
BY_INSTANCE = "log_density_by_instance"


def per_instance(
    candidates: pd.DataFrame, explanations: pd.DataFrame, real_log_density: Mapping[str, np.ndarray]
) -> pd.DataFrame:
    """One line per explanation.

    Parameters
    ----------
    candidates : see `measures`.
    explanations : data set, method and instance of each explanation, in the order of the result, and further columns.
    real_log_density : true log density of the data of each set.
    """
    scaled = Scaled(candidates)
    groups = {key: places for key, places in candidates.groupby(list(KEYS), sort=False).indices.items()}
    lines = []
    for key in explanations[list(KEYS)].itertuples(index=False, name=None):
        some = candidates.iloc[groups.get(key, [])]
        lines.append(_line(some, scaled, real_log_density.get(key[0])))
    return pd.concat([explanations.reset_index(drop=True), pd.DataFrame(lines)], axis=1)


def _line(some: pd.DataFrame, scaled: Scaled, real: np.ndarray | None) -> dict[str, float]:
    best = some[some["nondominated"]]
    line: dict[str, float] = {
        "n_candidates": len(some),
        "n_nondominated": len(best),
        "log_density": _median(best["log_density"]),
        "proximity": 1.0 - _median(best["distance"]),
        "sparsity": 1.0 - _median(best["share_changed"]),
        "hypervolume": scaled.hypervolume(best),
        "spearman_arf": spearman(some["log_density"], some["arf_plausibility"]),
        "spearman_gower": spearman(some["log_density"], some["gower_plausibility"]),
    }
    if real is not None:
        line["plausible_hypervolume"] = plausible_hypervolume(
            best["distance"], best["share_changed"], best["log_density"], real
        )
    return line


class Scaled:
    """The published hypervolume: the scale of each data set's objectives, and its reference point."""

    def __init__(self, candidates: pd.DataFrame) -> None:
        self._scale: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        for name, some in candidates.groupby("dataset", sort=False):
            values = _objectives(some)
            mean = values.mean(axis=0)
            sd = values.std(axis=0, ddof=1) if len(values) > 1 else np.ones(3)
            sd[sd == 0.0] = 1.0  # one value alone has no scale
            self._scale[str(name)] = mean, sd, ((values - mean) / sd).max(axis=0)

    def hypervolume(self, rows: pd.DataFrame) -> float:
        """That of rows of one data set; 0 without rows."""
        if len(rows) == 0:
            return 0.0
        mean, sd, worst = self._scale[str(rows["dataset"].iloc[0])]
        return hypervolume((_objectives(rows) - mean) / sd, worst)


def _objectives(rows: pd.DataFrame) -> np.ndarray:
    columns = [rows["distance"], rows["share_changed"], 1.0 - np.exp(rows["log_density"])]
    return np.column_stack([np.asarray(column, np.float64) for column in columns])


def summary(candidates: pd.DataFrame, instances: pd.DataFrame) -> pd.DataFrame:
    """One line per data set and method, in the order of `instances`."""
    pair = list(KEYS[:2])
    best = candidates[candidates["nondominated"]]
    best = best.assign(proximity=1.0 - best["distance"], sparsity=1.0 - best["share_changed"])
    known = [name for name in _OF_INSTANCES if name in instances]
    of_instances = instances.groupby(pair, sort=False)[known].median()
    of_rows = best.groupby(pair, sort=False)[list(_OF_ROWS)].median()
    n_unexplained = (instances["n_nondominated"] == 0).groupby([instances[name] for name in pair], sort=False).sum()
    table = of_rows.join(of_instances, how="right").assign(n_unexplained=n_unexplained)
    table[BY_INSTANCE] = instances.groupby(pair, sort=False)["log_density"].median()
    return table.loc[of_instances.index].reset_index()


def pooled(candidates: pd.DataFrame) -> pd.DataFrame:
    """Correlations over the distinct candidates of all methods, per data set and instance."""
    features = [name for name in candidates if name not in (*KEYS, *MEASURES)]
    lines = []
    for (name, instance), some in candidates.groupby(["dataset", "instance"], sort=False):
        distinct = some.drop_duplicates(features) if features else some
        lines.append(
            {
                "dataset": name,
                "instance": instance,
                "n_candidates": len(distinct),
                "spearman_arf": spearman(distinct["log_density"], distinct["arf_plausibility"]),
                "spearman_gower": spearman(distinct["log_density"], distinct["gower_plausibility"]),
            }
        )
    return pd.DataFrame(lines, columns=["dataset", "instance", "n_candidates", "spearman_arf", "spearman_gower"])


def spearman(truth: pd.Series, measure: pd.Series) -> float:
    """Rank correlation; NaN for fewer than two rows, or where one side is constant.

    >>> spearman(pd.Series([1.0, 2.0, 3.0]), pd.Series([-3.0, 5.0, 70.0]))
    1.0
    >>> spearman(pd.Series([1.0, 1.0]), pd.Series([1.0, 2.0]))
    nan
    """
    ranks = [np.asarray(values.rank(), np.float64) for values in (truth, measure)]
    if len(ranks[0]) < 2:
        return float("nan")
    a, b = (values - values.mean() for values in ranks)
    spread = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / spread if spread > 0.0 else float("nan")


def _median(values: pd.Series) -> float:
    return float(values.median()) if len(values) else float("nan")
