"""A process: data can be drawn from it, and its density is known.

1. `sample` draws rows of features and of the label `y`.
2. `log_density` gives log p(x) of the features, normalised, with y summed out: log Σ_y p(y) p(x | y).
   Categories count with the counting measure, numbers with the Lebesgue measure in the units of the frame.
3. `to_dict` and `from_dict` describe the process in plain data; `write_process` and `read_process` keep that
   description as `dgp.json`, whose key `kind` names the class.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import pandas as pd

from countarfactuals.exceptions import (
    DataError,
    DataTypeError,
    StorageError,
    did_you_mean,
    listed,
)

LABEL = "y"


class Process(ABC):
    """A joint distribution of features and a label, with an exact density of the features.

    A subclass names its kind, `class Cassini(Process, kind="cassini")`, which is how `read_process` finds it.
    """

    kind: ClassVar[str]
    _registry: ClassVar[dict[str, type[Process]]] = {}

    def __init_subclass__(cls, kind: str | None = None) -> None:
        super().__init_subclass__()
        # A class without a kind is a shared base: no file can name it.
        if kind is not None:
            cls.kind = kind
            Process._registry[kind] = cls

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """Names of the feature columns, in the order of the frames that `sample` returns."""

    @abstractmethod
    def sample(self, n: int, random_state: int | np.random.Generator | None = None) -> pd.DataFrame:
        """Draw `n` rows: the features, then the column `y`."""

    def log_density(self, frame: Any) -> np.ndarray:
        """Log p(x) of each row, y summed out. Columns that are no features, such as y, are ignored."""
        return self._log_density(check_features(frame, self.feature_names))

    @abstractmethod
    def _log_density(self, features: pd.DataFrame) -> np.ndarray:
        """`log_density` of a frame that has all features and no missing cells."""

    def to_dict(self) -> dict[str, Any]:
        """The process as plain data, as `dgp.json` holds it; a process without parameters has its kind only."""
        return {"kind": self.kind}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Process:
        """The process that `to_dict` described."""
        return cls()


def read_process(path: str | PathLike[str]) -> Process:
    """The process described by a `dgp.json`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"Can not read {str(path)!r} ({error}). Give the path of a dgp.json.") from error
    try:
        description = json.loads(text)
    except json.JSONDecodeError as error:
        raise StorageError(f"{str(path)!r} is not JSON ({error}). Write it anew with `write_process`.") from error
    return _process_from_dict(description, source=str(path))


def _process_from_dict(description: Any, source: str = "the description") -> Process:
    """The process that a dictionary describes; `source` is what errors call it."""
    kinds = Process._registry
    if not isinstance(description, Mapping) or "kind" not in description:
        raise StorageError(f"{source!r} has no key 'kind'. A process names one of {listed(sorted(kinds))}.")
    kind = description["kind"]
    if not isinstance(kind, str) or kind not in kinds:
        raise StorageError(
            f"{source!r} has the unknown kind {kind!r}. Known: {listed(sorted(kinds))}.{did_you_mean(kind, kinds)}"
        )
    try:
        return kinds[kind].from_dict(description)
    except KeyError as error:
        raise StorageError(f"{source!r} ({kind}) lacks the key {error}. Write it anew with `write_process`.") from error
    except (TypeError, ValueError) as error:
        raise StorageError(f"{source!r} ({kind}) can not be used: {error}") from error


def write_process(process: Process, path: str | PathLike[str]) -> None:
    """Write the description of a process as `dgp.json`; floats are kept to the last bit."""
    Path(path).write_text(json.dumps(process.to_dict(), indent=1) + "\n", encoding="utf-8")


def check_features(frame: Any, names: tuple[str, ...]) -> pd.DataFrame:
    """The feature columns in order, as pandas; an error where one is absent or has missing cells."""
    features = _as_pandas(frame)
    absent = [name for name in names if name not in features.columns]
    if absent:
        raise DataError(
            f"The frame lacks {listed(absent)}; it has {listed(features.columns)}. "
            f"The process needs {listed(names)}.{did_you_mean(absent[0], features.columns)}"
        )
    features = features[list(names)]
    holes = features.isna().any(axis=0)
    if holes.any():
        rows = int(features.isna().any(axis=1).sum())
        raise DataError(
            f"{rows} rows have missing cells in {listed(features.columns[holes])}: their density is not defined. "
            "Drop these rows or impute the cells first."
        )
    return features


def check_numbers(column: pd.Series) -> np.ndarray:
    """A column as finite floats."""
    try:
        numbers = column.to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise DataTypeError(
            f"Column {column.name!r} has dtype {column.dtype}; it must hold numbers. Convert it with `astype(float)`."
        ) from error
    if not np.isfinite(numbers).all():
        raise DataError(f"Column {column.name!r} has infinite values; it must hold finite numbers. Drop these rows.")
    return numbers


def _as_pandas(frame: Any) -> pd.DataFrame:
    if isinstance(frame, pd.DataFrame):
        return frame
    try:
        return nw.from_native(frame, eager_only=True).to_pandas()
    except TypeError as error:
        raise DataTypeError(
            f"Got {type(frame).__name__}; a data frame (pandas, polars, pyarrow) is needed, with named columns."
        ) from error


@dataclass(frozen=True)
class Dataset:
    """Features and label, and the process that they were drawn from."""

    name: str
    X: pd.DataFrame
    y: pd.Series
    process: Process
