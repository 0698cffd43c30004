"""The data sets of the published study, from a folder that the user provides.

A set is a sub-folder with `data.csv` (features and y), `x_interest.csv` (the instances explained), `dgp.json` (the
process) and `model.json` (the black box, an XGBoost booster). Its bernoulli nodes are published as numbers 0.0 and
1.0; here they are categories with the levels '0' and '1', unless the published numbers are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import pandas as pd

from countarfactuals.datasets.networks import BayesianNetwork
from countarfactuals.datasets.process import LABEL, Dataset, Process, check_features, read_process
from countarfactuals.exceptions import DataError, did_you_mean, listed

PAPER_SETS = ("cassini", "pawelczyk", "two_sines", "bn_5", "bn_10", "bn_20")
FILES = ("data.csv", "x_interest.csv", "dgp.json", "model.json")


@dataclass(frozen=True)
class PaperSet(Dataset):
    """A published data set with the instances explained (features only) and the path of its black box."""

    x_interest: pd.DataFrame
    model_path: Path


def load_paper_set(folder: str | PathLike[str], name: str, *, categories: bool = True) -> PaperSet:
    """A published data set; `categories=False` leaves bernoulli features as the numbers 0.0 and 1.0."""
    place = _check_place(Path(folder), name)
    process = read_process(place / "dgp.json")
    data = pd.read_csv(place / "data.csv")
    if LABEL not in data.columns:
        raise DataError(f"{str(place / 'data.csv')!r} has no column {LABEL!r}, only {listed(data.columns)}.")
    return PaperSet(
        name=name,
        X=_features(data, process, categories),
        y=data[LABEL],
        process=process,
        x_interest=_features(pd.read_csv(place / "x_interest.csv"), process, categories),
        model_path=place / "model.json",
    )


def _check_place(folder: Path, name: str) -> Path:
    if name not in PAPER_SETS:
        raise DataError(
            f"{name!r} is no published data set. Known: {listed(PAPER_SETS)}.{did_you_mean(name, PAPER_SETS)}"
        )
    place = folder / name
    absent = [file for file in FILES if not (place / file).is_file()]
    if absent:
        raise DataError(
            f"{str(place)!r} lacks {listed(absent)}. Give the folder that holds the published study, "
            f"with {listed(FILES)} for each data set."
        )
    return place


def _features(frame: pd.DataFrame, process: Process, categories: bool) -> pd.DataFrame:
    features = check_features(frame, process.feature_names)
    if not categories or not isinstance(process, BayesianNetwork):
        return features
    levels = {node.name: node.levels for node in process.features if node.discrete}
    return features.assign(
        **{
            name: pd.Categorical(features[name].astype(int).astype(str), categories=known)
            for name, known in levels.items()
        }
    )
