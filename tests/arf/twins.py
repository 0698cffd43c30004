"""Slow twins in plain NumPy and SciPy, and the small fitted forests that several tests share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numba import njit
from scipy.special import logsumexp
from scipy.stats import norm, truncnorm

from countarfactuals import MISSING, AdversarialRandomForest
from countarfactuals.datasets import TwoSines
from countarfactuals.exceptions import DensityWarning


def called(kernel: Any) -> Any:
    """An inner kernel, which only kernels call, for Python."""
    return njit(lambda *arguments: kernel(*arguments))


def fit(X: Any, **parameters: Any) -> AdversarialRandomForest:
    """Fit a small forest; how well it tells the rows apart is no concern of most tests."""
    small = {"n_estimators": 6, "min_samples_leaf": 5, "random_state": 1, "max_iter": 2}
    parameters = small | {"dependence": None, "values": None} | parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DensityWarning)
        return AdversarialRandomForest(**parameters).fit(X)


@cache
def two_sines() -> pd.DataFrame:
    return TwoSines().sample(400, 1).drop(columns="y")


@cache
def mixed(n: int = 400, missing: bool = True) -> pd.DataFrame:
    """All kinds of columns that depend on each other; `price`, `age`, `color` and `grade` have missing values."""
    rng = np.random.default_rng(7)
    color = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    age = np.clip(np.rint(rng.normal(30 + 8 * color, 6)), 18, 80)
    price = np.round(np.exp(rng.normal(0.05 * age, 0.5)), 2)
    weight = rng.normal(np.where(color == 2, 5, -5), 1.0 + age / 40)
    grade = np.clip(np.rint(age / 20 + rng.normal(0, 0.7, n)), 0, 3).astype(int)
    X = pd.DataFrame(
        {
            "price": price,
            "weight": weight,
            "age": age.astype(int),
            "color": np.array(["blue", "green", "red", "white"], dtype=object)[color],
            "grade": pd.Categorical.from_codes(grade, ["low", "mid", "high", "top"], ordered=True),
            "owner": rng.random(n) < 1 / (1 + np.exp(-weight / 2)),
        }
    )
    if missing:
        X["price"] = X["price"].mask((rng.random(n) < 0.3) & (color == 1))
        X["age"] = X["age"].astype("Int64").mask(rng.random(n) < 0.1)
        X["color"] = X["color"].mask((rng.random(n) < 0.6) & (age > 45))
        X["grade"] = X["grade"].mask(rng.random(n) < 0.05)
    return X


NUMBERS = {"price": (0.5, 60.0), "weight": (-9.0, 9.0), "age": (18, 70)}
LEVELS = {
    "color": ["blue", "green", "red", "white"],
    "grade": ["low", "mid", "high", "top"],
    "owner": [False, True],
}


@cache
def fitted(name: str) -> AdversarialRandomForest:
    return _FITTED[name]()


_MIXED = {"min_samples_leaf": 12}
_FITTED: dict[str, Callable[[], AdversarialRandomForest]] = {
    "two_sines": lambda: fit(two_sines()),
    "moments": lambda: fit(two_sines(), leaf_fit="moments"),
    "uniform": lambda: fit(two_sines(), family="uniform"),
    "local": lambda: fit(two_sines(), finite_bounds="local", epsilon=0.1),
    "global": lambda: fit(two_sines(), finite_bounds="global"),
    "complete": lambda: fit(mixed(missing=False), **_MIXED),
    "mixed": lambda: fit(mixed(), **_MIXED),
    "mixed_moments": lambda: fit(mixed(), **_MIXED, leaf_fit="moments"),
    "mixed_uniform": lambda: fit(mixed(), **_MIXED, family="uniform"),
}


# The mixture, summed over all leaves


def goes_left(forest, node: int, value: float) -> bool:
    if np.isnan(value):
        return bool(forest.missing_left[node])
    if forest.words[node] < 0:
        return bool(value <= forest.threshold[node])
    word, bit = divmod(int(value), 64)
    return bool((int(forest.bits[forest.words[node] + word]) >> bit) & 1)


def leaf_of(forest, tree: int, row: np.ndarray) -> int:
    node = int(forest.root[tree])
    while forest.feature[node] >= 0:
        node = int(forest.child[node]) + (not goes_left(forest, node, row[forest.feature[node]]))
    return int(forest.child[node])


def reaching(forest, j: int, value: float) -> np.ndarray:
    """Per leaf, whether a value of column j (others are free) can get there."""
    found = np.zeros(forest.n_leaves, bool)
    stack = [int(root) for root in forest.root]
    while stack:
        node = stack.pop()
        left = int(forest.child[node])
        if forest.feature[node] < 0:
            found[left] = True
        elif forest.feature[node] != j:
            stack += [left, left + 1]
        else:
            stack.append(left + (not goes_left(forest, node, value)))
    return found


def log_level(arf, j: int, code: int) -> np.ndarray:
    """Per leaf the log probability of a level, given that the cell is not empty."""
    leaves = arf.leaves_
    c, n_categories = leaves.category_of[j], leaves.rest_logp.shape[1]
    logp = np.where(reaching(arf.forest_, j, float(code)), leaves.rest_logp[:, c], -np.inf)
    for leaf in range(arf.forest_.n_leaves):
        cell = leaf * n_categories + c
        for k in range(leaves.level_start[cell], leaves.level_start[cell + 1]):
            if leaves.level[k] == code:
                logp[leaf] = leaves.level_logp[k]
    return logp


def _number_parameters(arf, j: int) -> tuple[np.ndarray, ...]:
    leaves, q = arf.leaves_, arf.leaves_.number_of[j]
    return leaves.low[:, q], leaves.high[:, q], leaves.mu[:, q], leaves.sigma[:, q]


def log_point(arf, j: int, x: float) -> np.ndarray:
    low, high, mu, sigma = _number_parameters(arf, j)
    inside = (x > low) & (x <= high)
    if np.isinf(sigma).all():
        return np.where(inside, -np.log(high - low), -np.inf)
    return np.where(inside, truncnorm.logpdf(x, (low - mu) / sigma, (high - mu) / sigma, mu, sigma), -np.inf)


def log_between(arf, j: int, a: float, b: float) -> np.ndarray:
    low, high, mu, sigma = _number_parameters(arf, j)
    from_, to = np.maximum(low, a), np.minimum(high, b)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if np.isinf(sigma).all():
            return np.where(to > from_, np.log(np.maximum(to - from_, 0) / (high - low)), -np.inf)
        return np.where(to > from_, _log_mass(from_, to, mu, sigma) - _log_mass(low, high, mu, sigma), -np.inf)


def _log_mass(a, b, mu, sigma):
    alpha, beta = (a - mu) / sigma, (b - mu) / sigma
    mirrored = alpha > 0
    alpha, beta = np.where(mirrored, -beta, alpha), np.where(mirrored, -alpha, beta)
    upper, lower = norm.logcdf(beta), norm.logcdf(alpha)
    return upper + np.log1p(-np.exp(lower - upper))


def log_cell(arf, name: Any, said: Any) -> np.ndarray:
    """Per leaf the log probability (density) of what `given` may say of a column."""
    j = arf.schema_.index(name)
    column, place = arf.schema_.columns[j], arf.leaves_.missing_of[j]
    if said is MISSING:
        return arf.leaves_.missing[:, place, 0]
    present = arf.leaves_.missing[:, place, 1] if place >= 0 else 0.0
    if not column.is_number:
        levels = said if isinstance(said, list) else [said]
        return present + logsumexp([log_level(arf, j, column.levels.index(level)) for level in levels], axis=0)
    parts = said if isinstance(said, list) else [said]
    terms = []
    for part in parts:
        if isinstance(part, tuple):
            low, high = (-np.inf if part[0] is None else part[0]), (np.inf if part[1] is None else part[1])
            if column.decimals == 0:
                low, high = low - 0.5, high + 0.5
            terms.append(log_between(arf, j, low, high))
        else:
            terms.append(log_point(arf, j, float(part)))
    return present + logsumexp(terms, axis=0)


def leaf_log_weights(arf, condition: Mapping[Any, Any]) -> np.ndarray:
    total = arf.leaves_.log_weight.copy()
    for name, said in condition.items():
        total = total + log_cell(arf, name, said)
    return total


def log_probability(arf, condition: Mapping[Any, Any]) -> float:
    return float(logsumexp(leaf_log_weights(arf, condition)))


# Integrals


def pieces_of(arf, name: str, spread: float = 12.0) -> np.ndarray:
    """Points between which the density of a number is smooth: all cuts, and steps of each leaf's own scale."""
    j = arf.schema_.index(name)
    low, high, mu, sigma = _number_parameters(arf, j)
    ends = [low, high]
    if np.isfinite(sigma).all():
        centre = np.clip(mu, np.where(np.isfinite(low), low, -np.inf), np.where(np.isfinite(high), high, np.inf))
        for k in (-spread, -6, -4, -2, 0, 2, 4, 6, spread):
            ends.append(np.clip(centre + k * sigma, low, high))
    points = np.unique(np.concatenate(ends))
    return points[np.isfinite(points)]


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


def quadrature(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gauss–Legendre nodes and weights on every piece between neighbouring points; no node falls on a point."""
    middle, half = (points[1:] + points[:-1]) / 2, (points[1:] - points[:-1]) / 2
    return (middle[:, None] + half[:, None] * _NODES).ravel(), (half[:, None] * _WEIGHTS).ravel()
