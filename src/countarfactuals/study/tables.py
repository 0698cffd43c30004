"""The tables of a study, and how they follow from its candidates.

1. Per data set, method and instance (`per_instance`): medians of the non-dominated counterfactuals' true log density
   and rewards, their number, two hypervolumes, and Spearman correlations of both measures of plausibility to the true
   density over *all* candidates. Rewards are what the paper plots, 1 − cost: `closeness` is its proximity, one minus
   the Gower distance, and `share_kept` its sparsity, one minus the share of features changed.
2. The *published* hypervolume minimises distance, share changed and 1 − p(c), p the true density. Each is scaled to
   mean 0 and standard deviation 1 over all candidates of all methods on the data set; the reference point is the
   worst of them. It depends on which methods take part.
3. The *plausible* hypervolume (`evaluation.plausible_hypervolume`) does not. An explanation without a counterfactual
   is worth 0 by both.
4. Per data set and method (`summary`): as in the paper's figure, medians over all non-dominated rows for the true log
   density and rewards, and over instances for all else. Pooled rows weigh an instance by its number of rows;
   `log_density_by_instance`, the median of the instances' medians, does not.
5. `pooled`: the correlations once more, over the distinct candidates of all methods for an instance.
6. `claims`: of each non-dominated row the typicality that a person is told, *claimed*, and the share of real rows whose
   true density is lower, *true*. `calibration` has their means per data set and method, and the *error*, the mean of
   |claimed − true|; each row counts alike. `binned` has the mean of the true shares of the rows whose claims lie in the
   same tenth: claims that are right on average give the diagonal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from countarfactuals.evaluation import plausible_hypervolume
from countarfactuals.objectives import hypervolume
from countarfactuals.study.measures import KEYS, MEASURES

if TYPE_CHECKING:
    from countarfactuals.study.design import Design
    from countarfactuals.study.findings import Finding
    from countarfactuals.study.published import Published
    from countarfactuals.study.sets import Case

PAIR = list(KEYS[:2])
REWARDS = {"closeness": "distance", "share_kept": "share_changed"}  # 1 − cost each
OF_ROWS = ("log_density", *REWARDS)
SIDES = {"spearman_arf": "arf_plausibility", "spearman_gower": "gower_plausibility"}  # correlations, and of what
SECONDS, OWN_FIT = "seconds", "seconds_with_own_fit"
BY_INSTANCE = "log_density_by_instance"
_N_BINS = 10
_OF_INSTANCES = (
    *("n_nondominated", "hypervolume", "plausible_hypervolume", "n_candidates", "n_evaluated", "valid_share"),
    *(*SIDES, SECONDS, OWN_FIT),
)


@dataclass(frozen=True, eq=False)
class Tables:
    """What a study found; `trade_off` and `findings` are made by the modules of these names."""

    design: Design
    cases: dict[str, Case]
    candidates: pd.DataFrame
    per_instance: pd.DataFrame
    summary: pd.DataFrame
    pooled: pd.DataFrame
    fits: pd.DataFrame
    trade_off: pd.DataFrame
    claims: pd.DataFrame
    calibration: pd.DataFrame
    findings: tuple[Finding, ...]
    published: Published | None
    versions: tuple[str | None, ...]  # of this package, by which the study was made
    measures: Mapping[str, str]  # what the learned measure is on each data set, where that was recorded


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
    scaled = _Scaled(candidates)
    groups = {key: places for key, places in candidates.groupby(list(KEYS), sort=False).indices.items()}
    lines = []
    for key in explanations[list(KEYS)].itertuples(index=False, name=None):
        lines.append(_line(candidates.iloc[groups.get(key, [])], scaled, real_log_density.get(key[0])))
    return pd.concat([explanations.reset_index(drop=True), pd.DataFrame(lines)], axis=1)


def _line(rows: pd.DataFrame, scaled: _Scaled, real: np.ndarray | None) -> dict[str, float]:
    best = rows[rows["nondominated"]]
    line: dict[str, float] = {
        "n_candidates": len(rows),
        "n_nondominated": len(best),
        "log_density": _median(best["log_density"]),
        **{reward: 1.0 - _median(best[cost]) for reward, cost in REWARDS.items()},
        "hypervolume": scaled.hypervolume(best),
        **_correlations(rows),
    }
    if real is not None:
        costs = (best["distance"], best["share_changed"], best["log_density"])
        line["plausible_hypervolume"] = plausible_hypervolume(*costs, real)
    return line


def _correlations(rows: pd.DataFrame) -> dict[str, float]:
    return {side: spearman(rows["log_density"], rows[measure]) for side, measure in SIDES.items()}


class _Scaled:
    """The published hypervolume: the scale of each data set's objectives, and its reference point."""

    def __init__(self, candidates: pd.DataFrame) -> None:
        self._scale: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        for name, rows in candidates.groupby("dataset", sort=False):
            values = _objectives(rows)
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


def best_rows(candidates: pd.DataFrame) -> pd.DataFrame:
    """The non-dominated candidates, with rewards."""
    best = candidates[candidates["nondominated"]]
    return best.assign(**{reward: 1.0 - best[cost] for reward, cost in REWARDS.items()})


def summary(candidates: pd.DataFrame, instances: pd.DataFrame) -> pd.DataFrame:
    """One line per data set and method, in the order of `instances`."""
    groups = instances.groupby(PAIR, sort=False)
    of_instances = groups[[name for name in _OF_INSTANCES if name in instances]].median()
    of_rows = best_rows(candidates).groupby(PAIR, sort=False)[list(OF_ROWS)].median()
    is_unexplained = instances.assign(n_unexplained=instances["n_nondominated"] == 0)
    table = of_rows.join(of_instances, how="right")
    table["n_unexplained"] = is_unexplained.groupby(PAIR, sort=False)["n_unexplained"].sum()
    table[BY_INSTANCE] = groups["log_density"].median()
    return table.loc[of_instances.index].reset_index()


def pooled(candidates: pd.DataFrame) -> pd.DataFrame:
    """Correlations over the distinct candidates of all methods, per data set and instance."""
    features = [name for name in candidates if name not in (*KEYS, *MEASURES)]
    lines = []
    for (name, instance), rows in candidates.groupby(["dataset", "instance"], sort=False):
        distinct = rows.drop_duplicates(features) if features else rows
        key = {"dataset": name, "instance": instance, "n_candidates": len(distinct)}
        lines.append({**key, **_correlations(distinct)})
    return pd.DataFrame(lines, columns=["dataset", "instance", "n_candidates", *SIDES])


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


def claims(candidates: pd.DataFrame, real_log_density: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Data set, method, claimed and true share of each row of which something is claimed.

    Parameters
    ----------
    candidates : see above; published ones have no typicality, and nothing is claimed of them.
    real_log_density : true log density of the data of each set.
    """
    if "typicality" not in candidates:
        candidates = candidates.assign(typicality=np.nan)
    rows = candidates[candidates["nondominated"] & candidates["typicality"].notna()]
    true = np.full(len(rows), np.nan)
    for name, places in rows.groupby("dataset", sort=False).indices.items():
        true[places] = _true_share(rows["log_density"].to_numpy(float)[places], real_log_density[str(name)])
    return rows[PAIR].assign(claimed=rows["typicality"].astype(float), true=true).reset_index(drop=True)


def _true_share(log_density: np.ndarray, real: np.ndarray) -> np.ndarray:
    """Share of real rows that are less dense than each row.

    >>> _true_share(np.array([-np.inf, -2.0, 5.0]), np.array([-1.0, -2.0, -3.0, 0.0]))
    array([0.  , 0.25, 1.  ])
    """
    return np.searchsorted(np.sort(real), log_density, side="left") / len(real)


def calibration(claimed: pd.DataFrame) -> pd.DataFrame:
    """One line per data set and method of `claims`: n_rows, claimed, true, error."""
    groups = claimed.assign(error=(claimed["claimed"] - claimed["true"]).abs()).groupby(PAIR, sort=False)
    return groups[["claimed", "true", "error"]].mean().assign(n_rows=groups.size()).reset_index()


def binned(claimed: np.ndarray, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of claimed and of true within each tenth of claimed that has rows.

    >>> binned(np.array([0.02, 0.5, 0.54, 1.0]), np.array([0.1, 0.25, 0.75, 0.875]))
    (array([0.02, 0.52, 1.  ]), array([0.1  , 0.5  , 0.875]))
    """
    # ends of bins as quotients, as 0.3 * 10 is below 3 for no reason of the claim
    places = np.searchsorted(np.arange(1, _N_BINS) / _N_BINS, claimed, side="right")
    counts = np.bincount(places, minlength=_N_BINS)
    sums = [np.bincount(places, weights=values, minlength=_N_BINS) for values in (claimed, true)]
    mean_claimed, mean_true = (total[counts > 0] / counts[counts > 0] for total in sums)
    return mean_claimed, mean_true
