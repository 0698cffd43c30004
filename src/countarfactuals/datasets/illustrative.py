"""The paper's three illustrative processes, each a mixture in the plane with two features x1 and x2.

1. Cassini: three components (y1, y2) = (0, 0), (1, 0), (1, 1) of weight 1/3 each;
   x1 ~ N(0, 0.2) and x2 ~ N(0, 0.2) if y1 = 0, else x1 ~ N(0, 0.5) and x2 ~ N((-1)^y2 cos x1, 0.2).
   The label is y1, as in the published data: the core against the two arcs.
2. TwoSines: y ~ Bern(1/2), x1 ~ N(y, 3), x2 ~ N(sin x1 - 2y + 1, 0.3).
3. ThreeBlobs (the paper's pawelczyk): an equal mixture of normals with unit variance; y = 1 if x2 > 6.

The densities contain the weights of the mixtures; the published ones of Cassini and TwoSines leave them out and
are larger by the constants log 3 and log 2.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from countarfactuals.datasets.process import LABEL, Process, check_n, check_numbers, generator
from countarfactuals.exceptions import ParameterError

# The paper's text puts the third blob at (0, 0); the published data has it here.
PUBLISHED_MEANS = ((-10.0, 5.0), (0.0, 5.0), (10.0, 0.0))
BLOB_LABEL_THRESHOLD = 6.0


class _PlaneMixture(Process):
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
        n = check_n(n)
        rng = generator(random_state)
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
class Cassini(_PlaneMixture, kind="cassini"):
    """A core between two arcs; y tells the core (0) from the arcs (1)."""

    @property
    def _n_components(self) -> int:
        return 3

    def _first(self, component: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(component)), np.where(component == 0, 0.2, 0.5)

    def _second(self, component: np.ndarray, x1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        side = np.array([0.0, 1.0, -1.0])[component]
        return side * np.cos(x1), np.full(len(component), 0.2)

    def _label(self, component: np.ndarray, x2: np.ndarray) -> np.ndarray:
        return component > 0


@dataclass(frozen=True)
class TwoSines(_PlaneMixture, kind="two_sines"):
    """Two sine waves, one above the other; y tells them apart."""

    @property
    def _n_components(self) -> int:
        return 2

    def _first(self, component: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return component.astype(float), np.full(len(component), 3.0)

    def _second(self, component: np.ndarray, x1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.sin(x1) - 2.0 * component + 1.0, np.full(len(component), 0.3)

    def _label(self, component: np.ndarray, x2: np.ndarray) -> np.ndarray:
        return component


@dataclass(frozen=True)
class ThreeBlobs(_PlaneMixture, kind="three_blobs"):
    """Round normals around `means`; y = 1 in the upper part, x2 > 6."""

    means: tuple[tuple[float, float], ...] = PUBLISHED_MEANS
    sd: float = 1.0

    def __post_init__(self) -> None:
        shape = np.shape(self.means)
        if len(shape) != 2 or shape[0] < 1 or shape[1] != 2:
            raise ParameterError(f"means is {self.means!r}; give pairs (x1, x2), such as {PUBLISHED_MEANS!r}.")
        if not self.sd > 0:
            raise ParameterError(f"sd is {self.sd!r}; it must be a number above 0.")

    @property
    def _n_components(self) -> int:
        return len(self.means)

    def _first(self, component: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(self.means, dtype=float)[component, 0], np.full(len(component), self.sd)

    def _second(self, component: np.ndarray, x1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(self.means, dtype=float)[component, 1], np.full(len(component), self.sd)

    def _label(self, component: np.ndarray, x2: np.ndarray) -> np.ndarray:
        return x2 > BLOB_LABEL_THRESHOLD

    def to_dict(self) -> dict[str, Any]:
        """The process as `dgp.json` holds it."""
        return {"kind": self.kind, "means": [list(mean) for mean in self.means], "sd": self.sd}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> ThreeBlobs:
        """The process that `to_dict` described."""
        means = tuple((float(first), float(second)) for first, second in description["means"])
        return cls(means=means, sd=float(description["sd"]))


def normal_log_density(x: np.ndarray, mean: np.ndarray | float, sd: np.ndarray | float) -> np.ndarray:
    """Log density of N(mean, sd²)."""
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2.0 * np.pi)
