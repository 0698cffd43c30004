"""How true typicality is: what is claimed of counterfactuals against the true density.

1. *Claimed* is the typicality that a person is told: the share of real rows that are less typical than the row. It is
   known of non-dominated counterfactuals (see `measures`).
2. *True* is the share of real rows whose true density is lower than the row's.
3. Per data set and method (`calibration`): the means of both, and the *error*, the mean of |claimed − true| over rows.
   Each row counts alike, so that an instance with more rows weighs more.
4. By bins (`binned`): the mean of the true shares of the rows whose claims lie in the same tenth. Claims that are right
   on average give the diagonal.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

N_BINS = 10
_PAIR = ["dataset", "method"]


def claims(candidates: pd.DataFrame, real_log_density: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Data set, method, claimed and true share of each row of which something is claimed.

    Parameters
    ----------
    candidates : see `measures`; published ones have no typicality, and nothing is claimed of them.
    real_log_density : true log density of the data of each set.
    """
    if "typicality" not in candidates:
        candidates = candidates.assign(typicality=np.nan)
    known = candidates[candidates["nondominated"] & candidates["typicality"].notna()]
    true = np.full(len(known), np.nan)
    for name, places in known.groupby("dataset", sort=False).indices.items():
        true[places] = true_share(known["log_density"].to_numpy(float)[places], real_log_density[str(name)])
    return known[_PAIR].assign(claimed=known["typicality"].astype(float), true=true).reset_index(drop=True)


def true_share(log_density: np.ndarray, real: np.ndarray) -> np.ndarray:
    """Share of real rows that are less dense than each row.

    >>> true_share(np.array([-np.inf, -2.0, 5.0]), np.array([-1.0, -2.0, -3.0, 0.0]))
    array([0.  , 0.25, 1.  ])
    """
    return np.searchsorted(np.sort(real), log_density, side="left") / len(real)


def calibration(known: pd.DataFrame) -> pd.DataFrame:
    """One line per data set and method of `claims`: n_rows, claimed, true, error."""
    groups = known.assign(error=(known["claimed"] - known["true"]).abs()).groupby(_PAIR, sort=False)
    return groups[["claimed", "true", "error"]].mean().assign(n_rows=groups.size()).reset_index()


def binned(claimed: np.ndarray, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of claimed and of true within each tenth of claimed that has rows.

    >>> binned(np.array([0.02, 0.5, 0.54, 1.0]), np.array([0.1, 0.25, 0.75, 0.875]))
    (array([0.02, 0.52, 1.  ]), array([0.1  , 0.5  , 0.875]))
    """
    # ends of bins as quotients, as 0.3 * 10 is below 3 for no reason of the claim
    places = np.searchsorted(np.arange(1, N_BINS) / N_BINS, claimed, side="right")
    counts = np.bincount(places, minlength=N_BINS)
    sums = [np.bincount(places, weights=values, minlength=N_BINS) for values in (claimed, true)]
    first, second = (one[counts > 0] / counts[counts > 0] for one in sums)
    return first, second
