"""Mixtures in the plane whose density is known: x1 ~ N(m1, s1), x2 | x1 ~ N(m2(x1), s2) in each component.

`PlaneMixture` is what the paper's illustrative processes share. `random_plane` draws others, of bent and straight
strands of different lengths and widths: what works on them can be chosen without a look at the published ones.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from countarfactuals.datasets.process import LABEL, Process, check_numbers
from countarfactuals.exceptions import ParameterError
from countarfactuals.parameters import as_generator, check_int


class PlaneMixture(Process):
    """An equal mixture of components x1 ~ N(m1, s1), x2 | x1 ~ N(m2(x1), s2)."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the feature columns."""
        return ("x1", "x2")

    @property
    @abstractmethod
    def _n_components(self) -> int:
        """How many components the mixture has."""

    @abstractmethod
    def _first(self, component: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of x1."""

    @abstractmethod
    def _second(self, component: np.ndarray, x1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of x2 given x1."""

    @abstractmethod
    def _label(self, component: np.ndarray, x2: np.ndarray) -> np.ndarray:
        """The label of a row."""

    def sample(self, n: int, random_state: int | np.random.Generator | None = None) -> pd.DataFrame:
        """Draw `n` rows: the features, then y."""
        n = check_int("n", n, 1)
        rng = as_generator(random_state)
        component = rng.integers(self._n_components, size=n)
        x1 = rng.normal(*self._first(component))
        x2 = rng.normal(*self._second(component, x1))
        label = self._label(component, x2).astype(np.int64)
        return pd.DataFrame({"x1": x1, "x2": x2, LABEL: label})

    def _log_density(self, features: pd.DataFrame) -> np.ndarray:
        x1, x2 = check_numbers(features["x1"]), check_numbers(features["x2"])
        terms = []
        for index in range(self._n_components):
            component = np.full(len(x1), index)
            terms.append(
                normal_log_density(x1, *self._first(component)) + normal_log_density(x2, *self._second(component, x1))
            )
        return logsumexp(terms, axis=0) - np.log(self._n_components)


@dataclass(frozen=True)
class Strand:
    """A component: x1 ~ N(mean, length), x2 | x1 ~ N(height + slope x1 + bend sin(frequency x1), width)."""

    mean: float
    length: float
    height: float
    slope: float
    bend: float
    frequency: float
    width: float


@dataclass(frozen=True)
class Strands(PlaneMixture, kind="strands"):
    """An equal mixture of strands; y is 1 in every other one."""

    strands: tuple[Strand, ...]

    def __post_init__(self) -> None:
        if not self.strands or not all(strand.length > 0 and strand.width > 0 for strand in self.strands):
            raise ParameterError(f"strands is {self.strands!r}; give at least one, of lengths and widths above 0.")

    @property
    def _n_components(self) -> int:
        return len(self.strands)

    def _of(self, name: str, component: np.ndarray) -> np.ndarray:
        return np.array([getattr(strand, name) for strand in self.strands], dtype=float)[component]

    def _first(self, component: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._of("mean", component), self._of("length", component)

    def _second(self, component: np.ndarray, x1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        wave = self._of("bend", component) * np.sin(self._of("frequency", component) * x1)
        centre = self._of("height", component) + self._of("slope", component) * x1 + wave
        return centre, self._of("width", component)

    def _label(self, component: np.ndarray, x2: np.ndarray) -> np.ndarray:
        return component % 2

    def to_dict(self) -> dict[str, Any]:
        """The process as `dgp.json` holds it."""
        return {"kind": self.kind, "strands": [asdict(strand) for strand in self.strands]}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Strands:
        """The process that `to_dict` described."""
        return cls(tuple(Strand(**strand) for strand in description["strands"]))


def random_plane(n_strands: int = 4, *, random_state: int | np.random.Generator | None = None) -> Strands:
    """Draw `n_strands` strands, half of them straight."""
    check_int("n_strands", n_strands, 1)
    rng = as_generator(random_state)
    return Strands(
        tuple(
            Strand(
                mean=rng.normal(0.0, 2.0),
                length=rng.uniform(0.5, 2.5),
                height=rng.normal(0.0, 3.0),
                slope=rng.normal(0.0, 0.7),
                bend=0.0 if k % 2 else rng.uniform(0.5, 2.0),
                frequency=rng.uniform(0.7, 2.5),
                width=rng.uniform(0.15, 0.8),
            )
            for k in rng.permutation(n_strands).tolist()
        )
    )


def normal_log_density(x: np.ndarray, mean: np.ndarray | float, sd: np.ndarray | float) -> np.ndarray:
    """Log density of N(mean, sd²)."""
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2.0 * np.pi)
