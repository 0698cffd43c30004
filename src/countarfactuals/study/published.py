"""The published results, in the form of our tables, where a data folder has them in `results/`.

1. `candidates.csv.gz` holds every candidate. Our aggregation is applied to it as to our own candidates.
2. `per_instance.csv` adds the correlations and seconds as published: the forest's measure is stored as exp(−density),
   which loses its digits where densities are small, so that correlations can not be computed again on every set.
3. The published true densities of two_sines and cassini lack the weights of the components: log 2 and log 3 are
   subtracted here. Neither ranks nor the published hypervolume notice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from countarfactuals.exceptions import DataError, listed
from countarfactuals.study import tables
from countarfactuals.study.measures import KEYS

FILES = ("candidates.csv.gz", "per_instance.csv")
LOG_WEIGHT = {"two_sines": math.log(2.0), "cassini": math.log(3.0)}  # by which published log densities are too high
_CANDIDATES = {
    "id": "instance",
    "dist_x_interest": "distance",
    "rel_no_changed": "share_changed",
    "log_probs": "log_density",
    "nondom": "nondominated",
}
_INSTANCES = {
    "id": "instance",
    "cor_lik": "spearman_arf",
    "cor_gow": "spearman_gower",
    "hv_normalized": "published_hypervolume",
    "number": "published_number",
    "runtime": "seconds",
}


@dataclass(frozen=True, eq=False)
class Published:
    """The published candidates and our tables of them; `per_instance` also has what was published per instance."""

    candidates: pd.DataFrame
    per_instance: pd.DataFrame
    summary: pd.DataFrame


def read_published(
    folder: str | Path, sets: Iterable[str], real_log_density: Mapping[str, np.ndarray]
) -> Published | None:
    """The published results on these data sets, None where the folder has none."""
    place = Path(folder) / "results"
    if not all((place / file).is_file() for file in FILES):
        return None
    candidates = _published_candidates(place / FILES[0], sets)
    as_published = published_instances(place / FILES[1], sets)
    computed = tables.per_instance(candidates, as_published[list(KEYS)], real_log_density)
    computed = computed.drop(columns=list(tables.SIDES))  # as published, see above
    table = computed.merge(as_published, on=list(KEYS), how="left", validate="one_to_one")
    table[tables.OWN_FIT] = table[tables.SECONDS]  # as published they contain it
    return Published(candidates, table, tables.summary(candidates, table))


def _published_candidates(path: Path, sets: Iterable[str]) -> pd.DataFrame:
    """Every published candidate, with our names of columns."""
    found = _renamed(path, _CANDIDATES, ("neg_lik", "dist_train"), sets)
    found["log_density"] = found["log_density"] - found["dataset"].map(LOG_WEIGHT).fillna(0.0)
    found["arf_plausibility"] = -found.pop("neg_lik")
    found["gower_plausibility"] = -found.pop("dist_train")
    return found


def published_instances(path: Path, sets: Iterable[str]) -> pd.DataFrame:
    """What was published per instance, with our names of columns."""
    return _renamed(path, _INSTANCES, (), sets)


def _renamed(path: Path, names: Mapping[str, str], others: tuple[str, ...], sets: Iterable[str]) -> pd.DataFrame:
    found = pd.read_csv(path)
    if absent := [name for name in ("dataset", "method", *names, *others) if name not in found]:
        raise DataError(f"{str(path)!r} lacks the columns {listed(absent)}. Give the folder as it was published.")
    found = found.rename(columns=dict(names))
    found["method"] = found["method"].str.lower()
    return found[found["dataset"].isin(list(sets))].reset_index(drop=True)
