"""Checks of parameters, one gate for all estimators and explainers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from countarfactuals.exceptions import ParameterError, Setting, listed

RandomState = int | np.random.Generator | np.random.SeedSequence | None

_LARGEST_COUNT = 2**31 - 1


def as_float(value: Any) -> float:
    """A real number as a float; whole numbers beyond all floats as infinite ones."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_int(name: str, value: Any, least: int, others: str = "") -> int:
    """A whole number from `least` on; `others` names what else is allowed."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise _refused(name, value, f"{others}an integer from {least}")
    if int(value) > _LARGEST_COUNT:
        raise _refused(name, value, f"{others}an integer from {least} to {_LARGEST_COUNT:,}")
    return int(value)


def check_float(name: str, value: Any, low: float, high: float, others: str = "") -> float:
    """A finite number between `low` and `high`."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not low <= (number := as_float(value)) <= high
        or math.isinf(number)
    ):
        allowed = f"in [{low:g}, {high:g}]" if high < math.inf else f"from {low:g}"
        raise _refused(name, value, f"{others}a finite number {allowed}")
    return number


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """One of a few values."""
    if not any(value is choice or (type(value) is type(choice) and value == choice) for choice in allowed):
        raise _refused(name, value, f"one of {listed(allowed)}")


def check_n_jobs(n_jobs: Any) -> None:
    """A number of threads or processes as joblib counts them."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise _refused("n_jobs", n_jobs, "None or an integer other than 0 (−1 for all cores)")


def as_generator(random_state: Any) -> np.random.Generator:
    """The generator that a `random_state` stands for."""
    if isinstance(random_state, np.random.RandomState):  # scikit-learn's users have it; it can not spawn
        random_state = random_state.randint(2**32, dtype=np.uint32)
    if isinstance(random_state, np.random.SeedSequence):  # a copy, as spawning would change the user's
        random_state = np.random.SeedSequence(
            random_state.entropy, spawn_key=random_state.spawn_key, pool_size=random_state.pool_size
        )
    try:
        if isinstance(random_state, bool):
            raise TypeError
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        allowed = "None, an integer from 0, or a numpy Generator, SeedSequence or RandomState"
        raise _refused("random_state", random_state, allowed) from error


def _refused(name: str, value: Any, allowed: str) -> ParameterError:
    """The error of a parameter that may be something else only."""
    return ParameterError(
        "{parameter} must be {allowed}, got {got!r}.",
        parameter=Setting(name, quoted=False),
        got=value,
        allowed=allowed,
    )
