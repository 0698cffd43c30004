"""Which few of many counterfactuals to show, and which to drop.

Choice of k rows:

1. Each preferred objective is scaled to [0, 1] over the set; their weighted mean is the cost of a row.
2. The cheapest row is taken.
3. Then, again and again, the row with the highest (1 − diversity) (1 − cost) + diversity · d, where d is the distance
   to the closest row taken so far, divided by the largest such distance.
4. The rows taken are ordered by cost.

The distance is Gower's over the columns that vary, with ranges from the set itself. Ties go to the earlier row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.constraints.parts import in_order_of
from countarfactuals.exceptions import ParameterError, did_you_mean, listed
from countarfactuals.objectives import Gower, changed
from countarfactuals.schema import Schema


def choose(schema: Schema, rows: np.ndarray, cost: np.ndarray, k: int, diversity: float) -> np.ndarray:
    """Positions of k rows, the cheapest first."""
    distances = distance_between(schema, rows)
    taken = [int(np.argmin(cost))] if len(rows) else []
    nearest = np.full(len(rows), np.inf)
    while len(taken) < min(k, len(rows)):
        nearest = np.minimum(nearest, distances(taken[-1]))
        largest = nearest.max()
        apart = nearest / largest if largest > 0 else nearest
        gain = (1 - diversity) * (1 - cost) + diversity * apart
        gain[taken] = -np.inf
        taken.append(int(np.argmax(gain)))
    return np.array(sorted(taken, key=lambda i: (cost[i], i)), dtype=np.intp)


def distance_between(schema: Schema, rows: np.ndarray) -> Callable[[int], np.ndarray]:
    """The distances of all rows to one of them, as a function of its position."""
    varies = np.flatnonzero(changed(rows, rows[:1]).any(axis=0))
    if len(varies) == 0:
        return lambda i: np.zeros(len(rows))
    cells = rows[:, varies]
    gower = Gower.of(schema.select(varies.tolist()), cells)
    return lambda i: gower.to(cells[i], cells)


def cost_of(objectives: Mapping[str, np.ndarray], weights: Mapping[str, float], n: int) -> np.ndarray:
    """Weighted mean of the scaled objectives, 0 for the best."""
    total = sum(weights.values())
    cost = np.zeros(n)
    for name, weight in weights.items():
        cost += weight / total * _scaled(objectives[name])
    return cost


def _scaled(values: np.ndarray) -> np.ndarray:
    """To [0, 1]; infinite ones to the ends, NaN to the worse end."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    # halves first: a difference of huge numbers overflows
    half = high / 2 - low / 2
    scaled = (values / 2 - low / 2) / half if half > 0 else np.zeros(len(values))
    scaled = np.where(np.isneginf(values), 0.0, scaled)
    return np.where(np.isnan(values) | np.isposinf(values), 1.0, scaled)


def check_count(k: Any) -> int:
    """`k` as an integer of at least 1."""
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise ParameterError(f"`k` must be an integer of at least 1, got {k!r}. Say how many rows to select.")
    return int(k)


def check_share(name: str, share: Any) -> float:
    """A number from 0 to 1."""
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= float(share) <= 1:
        raise ParameterError(f"`{name}` must be a number from 0 to 1, got {share!r}.")
    return float(share)


def check_prefer(prefer: Any, objectives: Mapping[str, np.ndarray]) -> dict[str, float]:
    """`prefer` as weights by objective: all alike for None, one for a name."""
    if prefer is None:
        return dict.fromkeys(objectives, 1.0)
    weights = {prefer: 1.0} if isinstance(prefer, str) else prefer
    if not isinstance(weights, Mapping) or not weights:
        raise ParameterError(
            f"`prefer` must be the name of an objective or a dict of weights, got {prefer!r}. "
            f"Objectives: {listed(objectives)}."
        )
    for name, weight in weights.items():
        if name not in objectives:
            raise ParameterError(
                f"`prefer` names {name!r}, which is no objective; known: {listed(objectives)}."
                f"{did_you_mean(name, objectives)}"
            )
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
            raise ParameterError(f"The weight of {name!r} in `prefer` must be a finite number ≥ 0, got {weight!r}.")
    if not sum(weights.values()) > 0:
        raise ParameterError(f"The weights in `prefer` are all 0: {prefer!r}. Give at least one a positive weight.")
    return {name: float(weight) for name, weight in weights.items()}


def mask_of(where: Callable[[Any], Any], frame: Any, n: int) -> np.ndarray:
    """What a user's function says of each row; missing is no."""
    if not callable(where):
        raise ParameterError(f"`where` must be a function of the frame, got {where!r}.")
    try:
        said = in_order_of(frame, where(frame))
    except Exception as error:
        raise ParameterError(
            f"`where` failed on the frame of `to_frame(objectives=True)`: {type(error).__name__}: {error}"
        ) from error
    values = np.asarray(said.to_numpy() if hasattr(said, "to_numpy") else said)
    if values.dtype == object:
        missing = np.asarray(pd.isna(values))
        if all(isinstance(value, bool | np.bool_) for value in values[~missing].tolist()):
            values = np.where(missing, False, values).astype(np.bool_)
    if values.shape != (n,) or values.dtype != np.bool_:
        raise ParameterError(
            f"`where` must return one bool per row, {n} in all, got {values.dtype} of shape {values.shape}."
        )
    return values
