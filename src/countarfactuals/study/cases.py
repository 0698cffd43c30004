"""Cases: a data set with its process, its black box and the rows to explain.

1. A case is read from a folder in the published layout (see `datasets.paper`).
2. A generated study first writes such a folder. Per data set a process (the three illustrative ones as they are, the
   networks drawn anew), 5,000 rows that train the black box, 5,000 further ones for the explainers, and the rows to
   explain, as the paper's text has it. Everything after is the same for published and for generated data.
3. The black box is an XGBoost booster of 10 rounds, fitted to the squared error; its score is cut at 0.5.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.datasets import Cassini, Process, ThreeBlobs, TwoSines, load_paper_set, random_learnable_network
from countarfactuals.datasets.paper import FILES, PAPER_SETS
from countarfactuals.datasets.process import LABEL, write_process
from countarfactuals.datasets.random_network import BOOSTING_ROUNDS
from countarfactuals.exceptions import DataError, MissingDependencyError
from countarfactuals.prediction import Target
from countarfactuals.study.design import CUT
from countarfactuals.study.store import finished_folder

_ILLUSTRATIVE: dict[str, type[Process]] = {"cassini": Cassini, "pawelczyk": ThreeBlobs, "two_sines": TwoSines}
_N_FEATURES = {"bn_5": 4, "bn_10": 9, "bn_20": 19}  # the names count y


class Scorer:
    """A booster as a function of a frame, on one thread."""

    def __init__(self, path: Path) -> None:
        self.booster = needed("xgboost").Booster(model_file=str(path))
        self.booster.set_param({"nthread": 1})

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        """The score of each row."""
        return np.asarray(self.booster.inplace_predict(frame.astype(float).to_numpy()))


@dataclass(frozen=True)
class Case:
    """A data set of the study."""

    name: str
    X: pd.DataFrame
    y: pd.Series
    process: Process
    instances: pd.DataFrame
    model: Scorer

    @property
    def n_features(self) -> int:
        """How many features it has."""
        return self.X.shape[1]

    @cached_property
    def real_log_density(self) -> np.ndarray:
        """True log density of the data."""
        return self.process.log_density(self.X)

    def target(self, x: pd.DataFrame) -> Target:
        """The other side of the cut."""
        return Target(above=CUT) if self.model(x)[0] < CUT else Target(below=CUT)


def load_case(folder: str | Path, name: str, n_instances: int) -> Case:
    """A case from a folder in the published layout."""
    found = load_paper_set(folder, name)
    if len(found.x_interest) < n_instances:
        raise DataError(
            f"{name!r} has {len(found.x_interest)} rows to explain, but {n_instances} were asked for. Ask for fewer."
        )
    instances = found.x_interest.head(n_instances)
    return Case(name, found.X, found.y, found.process, instances, Scorer(found.model_path))


def checksum(folder: str | Path, name: str) -> str:
    """A hash of the files of a case: a study that is resumed must find the same data."""
    digest = hashlib.sha256()
    for file in FILES:
        digest.update(file.encode() + b"\0" + (Path(folder) / name / file).read_bytes())
    return digest.hexdigest()


def generate_case(folder: Path, name: str, *, seed: int, n_rows: int, n_instances: int) -> None:
    """Write a new data set, unless it is there already; whole or not at all."""
    if (folder / name).is_dir():
        return
    rng = np.random.default_rng([seed, PAPER_SETS.index(name)])
    process: Process
    if name in _ILLUSTRATIVE:
        process = _ILLUSTRATIVE[name]()
    else:
        process = random_learnable_network(_N_FEATURES[name], random_state=rng)
    training, data = process.sample(n_rows, rng), process.sample(n_rows, rng)
    with finished_folder(folder / name) as place:
        write_process(process, place / "dgp.json")
        _numbers(data).to_csv(place / "data.csv", index=False)
        _numbers(process.sample(n_instances, rng)).to_csv(place / "x_interest.csv", index=False)
        _train(training).save_model(str(place / "model.json"))


def _numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame as it is published: y first, levels as numbers."""
    return pd.concat([frame[[LABEL]], frame.drop(columns=LABEL).astype(float)], axis=1)


def _train(frame: pd.DataFrame) -> Any:
    xgboost = needed("xgboost")
    features = frame.drop(columns=LABEL).astype(float).to_numpy()
    settings = {"objective": "reg:squarederror", "nthread": 1, "verbosity": 0}
    return xgboost.train(settings, xgboost.DMatrix(features, frame[LABEL].to_numpy()), num_boost_round=BOOSTING_ROUNDS)


def needed(package: str, extra: str = "study") -> ModuleType:
    """An optional package, or an error that says how to get it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingDependencyError(
            f"The study needs {package}, which is not installed. Install it with "
            f"`pip install 'countarfactuals[{extra}]'`."
        ) from error
