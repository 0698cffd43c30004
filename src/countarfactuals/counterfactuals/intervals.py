"""Estimates with intervals: shares, means and medians, and differences of two of them.

1. A share has Wilson's interval, a difference of two shares Newcombe's, which is made of two of Wilson's (his
   method 10).
2. Means and medians are drawn again by the bootstrap. The ends are percentiles, moved outwards as Student's t is wider
   than the normal (Hesterberg 2015, the expanded percentile interval). Asked for 95 %, they hold the mean of ten
   exponential values in 90 % of cases and of forty in 93 %, the median of ten in 96 %.
3. A difference of two means or medians has the percentiles of the differences of draws from either, as far outwards as
   the smaller of the two asks for. Of 12 and 60 exponential values they hold the truth in 94 % (means) and 97 %
   (medians) of cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm, t

Statistic = Callable[..., Any]  # as numpy has them, with `axis`
_CELLS = 2_000_000  # that are drawn at once


class Estimate(NamedTuple):
    """A number with the ends of its interval, NaN where it has none, and from how many rows it was made."""

    value: float
    low: float
    high: float
    n: int

    @property
    def is_known(self) -> bool:
        """Whether it has an interval."""
        return not math.isnan(self.low)


def share(count: int, n: int, confidence: float) -> Estimate:
    """A share with Wilson's interval.

    >>> [round(end, 4) for end in share(2, 20, 0.95)]
    [0.1, 0.0279, 0.301, 20]
    """
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    z = float(norm.ppf(0.5 + confidence / 2))
    p = count / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # none and all are ends themselves: rounding may miss them by a hair
    return Estimate(p, 0.0 if count == 0 else centre - half, 1.0 if count == n else centre + half, n)


def difference_of_shares(own: Estimate, other: Estimate) -> Estimate:
    """One share minus another, with Newcombe's interval."""
    value = own.value - other.value
    low = value - math.hypot(own.value - own.low, other.high - other.value)
    high = value + math.hypot(own.high - own.value, other.value - other.low)
    return Estimate(value, low, high, own.n)


def bootstrap(values: np.ndarray, statistic: Statistic, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """The statistic of samples drawn from the values with replacement, (n_draws,)."""
    n, drawn = len(values), []
    at_once = max(1, _CELLS // n)
    for start in range(0, n_draws, at_once):
        places = rng.integers(n, size=(min(at_once, n_draws - start), n))
        drawn.append(statistic(values[places], axis=1))
    return np.concatenate(drawn)


def estimate(values: np.ndarray, statistic: Statistic, draws: np.ndarray | None, confidence: float) -> Estimate:
    """A mean or median with the interval that its draws give; without draws it has none."""
    n = len(values)
    value = float(statistic(values, axis=0)) if n else math.nan
    low, high = (math.nan, math.nan) if draws is None else _ends(draws, n, confidence)
    return Estimate(value, low, high, n)


def difference(own: Estimate, draws: np.ndarray, other: Estimate, others: np.ndarray, confidence: float) -> Estimate:
    """One mean or median minus another, with the interval of the differences of their draws."""
    low, high = _ends(draws - others, min(own.n, other.n), confidence)
    return Estimate(own.value - other.value, low, high, own.n)


def _ends(draws: np.ndarray, n: int, confidence: float) -> tuple[float, float]:
    """The percentiles that stand for the confidence with n values."""
    beyond = norm.cdf(-math.sqrt(n / (n - 1)) * t.ppf(0.5 + confidence / 2, n - 1))
    low, high = np.quantile(draws, [beyond, 1 - beyond])
    return float(low), float(high)
