"""The data sets of a study: a registry in which the six published sets are entries.

1. An entry says how its `Case` is got: the data, its process, its black box and the rows to explain.
2. A published set is read from a folder in the published layout (see `datasets.paper`). A generated study first writes
   such a folder. Per data set a process (the three illustrative ones as they are, the networks drawn anew), 5,000 rows
   that train the black box, 5,000 further ones for the explainers, and the rows to explain, as the paper's text has it.
   Everything after is the same for published and for generated data.
3. Its black box is an XGBoost booster of 10 rounds, fitted to the squared error; its score is cut at 0.5.
4. `register_set` adds a set by a function that makes its case. A plug-in is a file that calls it; it is loaded in every
   process, once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from countarfactuals.datasets import Cassini, Process, ThreeBlobs, TwoSines, load_paper_set, random_learnable_network
from countarfactuals.datasets.paper import FILES, PAPER_SETS
from countarfactuals.datasets.process import LABEL, write_process
from countarfactuals.datasets.random_network import BOOSTING_ROUNDS
from countarfactuals.exceptions import DataError, ParameterError, StorageError
from countarfactuals.prediction import Target
from countarfactuals.study.store import finished_folder, needed

if TYPE_CHECKING:
    from countarfactuals.study.design import Design

CUT = 0.5  # of the black boxes' scores
_ILLUSTRATIVE: dict[str, type[Process]] = {"cassini": Cassini, "pawelczyk": ThreeBlobs, "two_sines": TwoSines}
_N_FEATURES = {"bn_5": 4, "bn_10": 9, "bn_20": 19}  # the names count y


class KnownDensity(Protocol):
    """What the study asks of a process; `datasets.Process` has it."""

    def log_density(self, frame: Any, /) -> np.ndarray:
        """Log p(x) of each row of features."""


@dataclass(frozen=True)
class Case:
    """A data set of the study.

    Parameters
    ----------
    name : as it is registered.
    X, y : the data that explainers get, and its label of 0 and 1.
    process : knows the true density of any row.
    instances : the rows to explain.
    model : the black box: a frame's scores, cut at 0.5.
    """

    name: str
    X: pd.DataFrame
    y: pd.Series
    process: KnownDensity
    instances: pd.DataFrame
    model: Callable[[pd.DataFrame], np.ndarray]

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


# The registry


@dataclass(frozen=True)
class MadeSet:
    """A data set that a function makes."""

    name: str
    make: Callable[..., Case]

    def write(self, design: Design, folder: Path) -> None:
        """Write what has to lie in the folder of generated data: nothing."""

    def case(self, design: Design, folder: Path) -> Case:
        """The case that a design asks for; `folder` is that of generated data."""
        case = self.make(n_instances=design.n_instances, n_rows=design.n_rows, seed=design.seed)
        return _first_instances(replace(case, name=self.name), design.n_instances)

    def identity(self, design: Design) -> str | None:
        """A hash of the data, as a study that is resumed must find the same; None where the design tells it all."""
        case, digest = self.case(design, Path()), hashlib.sha256()
        for part in (case.X, case.y, case.instances):
            digest.update(pd.util.hash_pandas_object(part, index=False).to_numpy().tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class _PublishedSet:
    """A data set of the paper, in the user's folder or generated; it has what `MadeSet` has."""

    name: str

    def write(self, design: Design, folder: Path) -> None:
        if design.data is None:
            generate_case(folder, self.name, seed=design.seed, n_rows=design.n_rows, n_instances=design.n_instances)

    def case(self, design: Design, folder: Path) -> Case:
        return load_case(design.data or folder, self.name, design.n_instances)

    def identity(self, design: Design) -> str | None:
        if design.data is None:
            return None
        self.case(design, Path())  # complains at once of what is not there
        digest = hashlib.sha256()
        for file in FILES:
            digest.update(file.encode() + b"\0" + (Path(design.data) / self.name / file).read_bytes())
        return digest.hexdigest()


SETS: dict[str, MadeSet | _PublishedSet] = {name: _PublishedSet(name) for name in PAPER_SETS}
_PLUGINS: set[str] = set()  # that this process has loaded


def register_set(name: str, make: Callable[..., Case]) -> None:
    """Add a data set to those that a study can name.

    Parameters
    ----------
    name : of letters, digits, `_`, `-` and `.`, as folders are called by it.
    make : `make(n_instances=, n_rows=, seed=)` returns the `Case`, the same for the same arguments, and is called in
        each process. So a study in several processes needs it in a plug-in file, see `Design.plugins`.
    """
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise ParameterError(f"A data set is called by letters, digits, '_', '-' and '.', got {name!r}.")
    if name in SETS:
        raise ParameterError(f"There is a data set {name!r} already. Choose another name.")
    SETS[name] = MadeSet(name, make)


def load_plugin(path: str) -> None:
    """Run a file that registers data sets or methods, unless this process has done so."""
    place = str(Path(path).resolve())
    if place in _PLUGINS:
        return
    spec = spec_from_file_location(Path(place).stem, place)
    if not Path(place).is_file() or spec is None or spec.loader is None:
        raise StorageError(f"There is no Python file {path!r} to take a plug-in from.")
    module = module_from_spec(spec)
    _PLUGINS.add(place)
    spec.loader.exec_module(module)


# Published sets


class Scorer:
    """A booster as a function of a frame, on one thread."""

    def __init__(self, path: Path) -> None:
        self.booster = needed("xgboost").Booster(model_file=str(path))
        self.booster.set_param({"nthread": 1})

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        """The score of each row."""
        return np.asarray(self.booster.inplace_predict(frame.astype(float).to_numpy()))


def load_case(folder: str | Path, name: str, n_instances: int) -> Case:
    """A case from a folder in the published layout."""
    found = load_paper_set(folder, name)
    case = Case(name, found.X, found.y, found.process, found.x_interest, Scorer(found.model_path))
    return _first_instances(case, n_instances)


def _first_instances(case: Case, n_instances: int) -> Case:
    if (n := len(case.instances)) < n_instances:
        raise DataError(f"{case.name!r} has {n} rows to explain, but {n_instances} were asked for. Ask for fewer.")
    return replace(case, instances=case.instances.head(n_instances))


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
