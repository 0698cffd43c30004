"""Checks of parameters, one gate for all estimators and explainers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from countarfactuals.exceptions import ParameterError, listed

RandomState = int | np.random.Generator | np.random.SeedSequence | None


def check_int(name: str, value: Any, least: int, others: str = "") -> int:
    """A whole number from `least` on; `others` names what else is allowed."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(f"{name} must be {others}an integer from {least}, got {value!r}.")
    return int(value)


def check_float(name: str, value: Any, low: float, high: float, others: str = "") -> float:
    """A finite number between `low` and `high`."""
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= float(value) <= high or math.isinf(value):
        allowed = f"in [{low:g}, {high:g}]" if high < math.inf else f"from {low:g}"
        raise ParameterError(f"{name} must be {others}a finite number {allowed}, got {value!r}.")
    return float(value)


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """One of a few values."""
    if not any(value is one or (type(value) is type(one) and value == one) for one in allowed):
        raise ParameterError(f"{name} must be one of {listed(allowed)}, got {value!r}.")


def check_n_jobs(n_jobs: Any) -> None:
    """A number of threads or processes as joblib counts them."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ParameterError(f"n_jobs must be None or an integer other than 0 (−1 for all cores), got {n_jobs!r}.")


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
        raise ParameterError(
            "random_state must be None, an integer from 0, or a numpy Generator, SeedSequence or RandomState, got "
            f"{random_state!r}."
        ) from error
