"""The two families of conditional distributions that make up the loan process.

1. `Quantity`: log(x + shift) is normal around log(centre + shift) with sd `spread`, truncated, and x is then rounded to
   `decimals`. Its density in the units of x has the Jacobian 1 / (x + shift).
2. `Choice`: level k has probability proportional to weight_k.

Rounding and density agree by construction. The support of a quantity reaches half a rounding step beyond its lowest
and its highest recorded value, so a rounded draw stays strictly inside and the end values get the mass of a full step
like all others; and children depend on the *recorded*, that is rounded,
values of their parents, so a bound that moves with a parent is the same when a row is drawn and when it is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import truncnorm

Columns = dict[str, np.ndarray]
"""Recorded values: numbers of quantities, level indices of choices."""


@dataclass(frozen=True)
class Quantity:
    """A number with a truncated, shifted log-normal distribution given other columns."""

    name: str
    decimals: int
    lowest: float
    highest: float | Callable[[Columns], np.ndarray]
    centre: float | Callable[[Columns], np.ndarray]
    spread: float
    shift: float = 0.0

    def recorded(self, x: np.ndarray) -> np.ndarray:
        """Values as they are written down."""
        # Adding 0 turns -0.0, which rounding makes of the half step below zero, into 0.0.
        return np.round(x, self.decimals) + 0.0

    def draw(self, given: Columns, n: int, rng: np.random.Generator) -> np.ndarray:
        """Values before rounding."""
        low, high, location = self._standard(given)
        z = truncnorm.rvs(low, high, size=n, random_state=rng)
        return np.exp(location + self.spread * z) - self.shift

    def log_density(self, x: np.ndarray, given: Columns) -> np.ndarray:
        """Log density at x in the units of x; -inf outside the support."""
        low, high, location = self._standard(given)
        positive = x + self.shift > 0
        log_x = np.log(np.where(positive, x + self.shift, 1.0))
        inside = truncnorm.logpdf((log_x - location) / self.spread, low, high)
        return np.where(positive, inside - np.log(self.spread) - log_x, -np.inf)

    def bounds(self, given: Columns) -> tuple[float, float | np.ndarray]:
        """The support: recorded bounds, widened by half a rounding step."""
        half_step = 0.5 * 10.0**-self.decimals
        return self.lowest - half_step, _evaluated(self.highest, given) + half_step

    def _standard(self, given: Columns) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Bounds in standard deviations around the location, and the location."""
        location = np.log(_evaluated(self.centre, given) + self.shift)
        low, high = (np.log(bound + self.shift) for bound in self.bounds(given))
        return (low - location) / self.spread, (high - location) / self.spread, location


@dataclass(frozen=True)
class Choice:
    """A category given other columns."""

    name: str
    levels: tuple[str, ...]
    ordered: bool
    weights: Callable[[Columns], np.ndarray]

    def log_levels(self, given: Columns) -> np.ndarray:
        """Log probabilities (rows, levels)."""
        weights = self.weights(given)
        return np.log(weights) - np.log(weights.sum(axis=1, keepdims=True))

    def draw(self, given: Columns, n: int, rng: np.random.Generator) -> np.ndarray:
        """Level indices."""
        below = np.cumsum(np.exp(self.log_levels(given)), axis=1)[:, :-1]
        return (rng.random(n)[:, None] > below).sum(axis=1)

    def log_density(self, x: np.ndarray, given: Columns) -> np.ndarray:
        """Log probability of the level index x."""
        return self.log_levels(given)[np.arange(len(x)), x]


def _evaluated(parameter: float | Callable[[Columns], np.ndarray], given: Columns) -> float | np.ndarray:
    return parameter(given) if callable(parameter) else parameter
