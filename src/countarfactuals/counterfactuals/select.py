"""Which few of many counterfactuals to show, and which to drop.

One rule says what comes first, in results and everywhere they are shown (`burden`): easy *and* likely.

1. The burden of a row is ½ e + ½ (1 − t) + 2 s + ½ o + m. e is how hard it is: the mean of its distance, its number of
   changes, each over the largest of the set, and the user's own objectives, scaled to [0, 1]; t is its typicality, s
   the share by which that falls short of 30 %, o is 1 where a changed cell is unusual beside the others, and m is the
   share of its changes that are beyond ten, which nobody follows. So unusual rows come last, and a row with many
   changes comes before one that hardly exists.
2. Where a user prefers objectives, the weighted mean of these, scaled to [0, 1] over the set, takes its place.

Choice of k rows:

1. The row with the least burden is taken.
2. Then, again and again, the row with the highest (1 − diversity) (1 − burden) + diversity · d, where d is the distance
   to the closest row taken so far, divided by the largest such distance.
3. Near-twins of rows taken are passed over, unless diversity is 0: the same features changed to the same levels, and to
   numbers that differ by less than a tenth of the change.
4. The rows taken are ordered by their burden.

The distance is Gower's over the columns that vary, with ranges from the set itself. Ties go to the earlier row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.constraints.asked_functions import in_order_of
from countarfactuals.exceptions import ParameterError, did_you_mean, listed
from countarfactuals.objectives import DISTANCE, KEYS, N_CHANGED, Gower, changed
from countarfactuals.parameters import as_float
from countarfactuals.schema import Schema

FRAGILITY = "fragility"  # an objective that is added afterwards
_SHORT = {"robust": FRAGILITY}  # what `prefer` may say instead
_ENOUGH = 0.3  # typicality of a row that nobody wonders at
_SHORTFALL, _ODD = 2.0, 0.5
_FOLLOWED = 10  # changes
_TWIN = 0.1  # of a change, by which those of near-twins may differ


def burden(objectives: Mapping[str, np.ndarray], typicality: np.ndarray, is_odd: np.ndarray) -> np.ndarray:
    """How little each row should come first: hard, unlikely, odd."""
    hard = [_scaled(values) for name, values in objectives.items() if name not in KEYS]
    hard += [_of_largest(objectives[name]) for name in (DISTANCE, N_CHANGED) if name in objectives]
    likely = np.where(np.isnan(typicality), _ENOUGH, typicality)
    shortfall = np.maximum(_ENOUGH - likely, 0.0) / _ENOUGH
    ease = np.mean(hard, axis=0) if hard else np.zeros(len(likely))
    n_changed = np.asarray(objectives.get(N_CHANGED, np.zeros(len(likely))), np.float64)
    beyond = 1.0 - _FOLLOWED / np.maximum(n_changed, _FOLLOWED)
    return np.asarray((ease + 1.0 - likely) / 2 + _SHORTFALL * shortfall + _ODD * is_odd + beyond)


def choose(schema: Schema, x: np.ndarray, rows: np.ndarray, cost: np.ndarray, k: int, diversity: float) -> list[int]:
    """Positions of at most k rows, the cheapest first."""
    distances = distance_between(schema, rows)
    is_open, nearest = np.ones(len(rows), np.bool_), np.full(len(rows), np.inf)
    taken: list[int] = []
    gain = -cost
    while len(taken) < k and is_open.any():
        taken.append(int(np.argmax(np.where(is_open, gain, -np.inf))))
        is_open[taken[-1]] = False
        is_open &= ~twins(schema, x, rows, taken[-1]) if diversity > 0 else True
        nearest = np.minimum(nearest, distances(taken[-1]))
        largest = nearest.max()
        apart = nearest / largest if largest > 0 else nearest
        gain = (1 - diversity) * (1 - cost) + diversity * apart
    return sorted(taken, key=lambda i: (cost[i], i))


def twins(schema: Schema, x: np.ndarray, rows: np.ndarray, i: int) -> np.ndarray:
    """Which rows are all but row i: the same features changed, to the same levels and about the same numbers."""
    is_number = np.array([column.is_number for column in schema.columns])
    with np.errstate(invalid="ignore"):
        apart = np.abs(rows - rows[i])
        is_close = is_number & (apart < _TWIN * np.maximum(np.abs(rows - x), np.abs(rows[i] - x)))
    same_features = changed(rows, x) == changed(rows[i : i + 1], x)
    return np.asarray((same_features & (is_close | ~changed(rows, rows[i]))).all(axis=1))


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


def _of_largest(values: np.ndarray) -> np.ndarray:
    """Costs from 0 on as parts of the largest that is finite."""
    largest = np.max(values, where=np.isfinite(values), initial=0.0)
    return np.where(values >= 0, np.minimum(values / largest, 1.0), 1.0) if largest > 0 else np.zeros(len(values))


def _scaled(values: np.ndarray) -> np.ndarray:
    """To [0, 1]; infinite ones to the ends, NaN to the worse end."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    # halves first: a difference of huge numbers overflows
    half = high / 2 - low / 2
    scaled = (values / 2 - low / 2) / half if half > 0 else np.zeros(len(values))
    scaled = np.where(np.isneginf(values), 0.0, scaled)
    return np.where(np.isnan(values) | np.isposinf(values), 1.0, scaled)


def check_prefer(prefer: Any, objectives: Mapping[str, np.ndarray]) -> dict[str, float]:
    """`prefer` as weights by objective: all alike for None, one for a name."""
    if prefer is None:
        return dict.fromkeys(objectives, 1.0)
    weights = {_SHORT.get(prefer, prefer): 1.0} if isinstance(prefer, str) else prefer
    if not isinstance(weights, Mapping) or not weights:
        raise ParameterError(
            f"`prefer` must be the name of an objective or a dict of weights, got {prefer!r}. "
            f"Objectives: {listed(objectives)}."
        )
    for name, weight in weights.items():
        if name == FRAGILITY and name not in objectives:
            raise ParameterError(
                "`prefer` asks for robust counterfactuals, but how robust these are is not known. Find out by "
                "`frame = explainer.robustness(result)`, then select from `result.with_robustness(frame)`."
            )
        if name not in objectives:
            raise ParameterError(
                f"`prefer` names {name!r}, which is no objective; known: {listed(objectives)}."
                f"{did_you_mean(name, objectives)}"
            )
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= as_float(weight) < np.inf:
            raise ParameterError(f"The weight of {name!r} in `prefer` must be a finite number ≥ 0, got {weight!r}.")
    if not sum(weights.values()) > 0:
        raise ParameterError(f"The weights in `prefer` are all 0: {prefer!r}. Give at least one a positive weight.")
    return {name: float(weight) for name, weight in weights.items()}


def mask_of(where: Callable[[Any], Any], frame: Any, n: int) -> np.ndarray:
    """What a user's function says of each row; missing is no."""
    if not callable(where):
        raise ParameterError(f"`where` must be a function of the frame, got {where!r}.")
    try:
        answer = in_order_of(frame, where(frame))
    except Exception as error:
        raise ParameterError(
            f"`where` failed on the frame of `to_frame(objectives=True)`: {type(error).__name__}: {error}"
        ) from error
    values = np.asarray(answer.to_numpy() if hasattr(answer, "to_numpy") else answer)
    if values.dtype == object:
        missing = np.asarray(pd.isna(values))
        if all(isinstance(value, bool | np.bool_) for value in values[~missing].tolist()):
            values = np.where(missing, False, values).astype(np.bool_)
    if values.shape != (n,) or values.dtype != np.bool_:
        raise ParameterError(
            f"`where` must return one bool per row, {n} in all, got {values.dtype} of shape {values.shape}."
        )
    return values
