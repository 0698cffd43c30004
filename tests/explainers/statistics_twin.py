"""The statistics of conditional inference trees, derived from the classical tests of SciPy and from plain algebra."""

from __future__ import annotations

import numpy as np
from scipy import stats


def ranked(number: np.ndarray) -> np.ndarray:
    """Ranks by counting: those below, and half of those that are equal."""
    return np.array([(number < x).sum() + 0.5 * ((number == x).sum() + 1) for x in number])


def scipy_test(x: np.ndarray, y: np.ndarray, x_is_level: bool, y_is_level: bool) -> tuple[float, int]:
    """The permutation statistic of a test of means."""
    n = len(x)
    if x_is_level and y_is_level:
        table = stats.contingency.crosstab(x, y).count
        found = stats.chi2_contingency(table, correction=False)
        return (n - 1) / n * found.statistic, found.dof
    if x_is_level or y_is_level:
        number, level = (y, x) if x_is_level else (x, y)
        number = ranked(number)
        groups = [number[level == k] for k in np.unique(level)]
        ratio = stats.f_oneway(*groups).statistic * (len(groups) - 1) / (n - len(groups))  # between over within
        return (n - 1) * ratio / (1 + ratio), len(groups) - 1
    return (n - 1) * stats.pearsonr(ranked(x), ranked(y)).statistic ** 2, 1


def influence(column: np.ndarray, is_level: bool, of_spread: bool) -> np.ndarray:
    """The columns of step 1 as they are said: indicators, or the number and its squared deviation."""
    if is_level:
        return (column[:, None] == np.unique(column)) * 1.0
    deviation = (column - column.mean()) / column.std()
    return np.column_stack([deviation, deviation**2] if of_spread else [deviation])


def algebraic_test(
    x: np.ndarray, y: np.ndarray, x_is_level: bool, y_is_level: bool, of_spread: bool = True
) -> tuple[float, int]:
    """The quadratic form by its definition, with the covariance over permutations and its pseudo-inverse."""
    g = influence(x if x_is_level else ranked(x), x_is_level, of_spread)
    h = influence(y if y_is_level else ranked(y), y_is_level, of_spread)
    n = len(x)
    linear = g.T @ h
    mean = np.outer(g.sum(axis=0), h.mean(axis=0))
    away_g, away_h = g - g.mean(axis=0), h - h.mean(axis=0)
    covariance = np.kron(away_g.T @ away_g, away_h.T @ away_h) / (n - 1)
    away = (linear - mean).ravel()
    statistic = away @ np.linalg.pinv(covariance, rcond=1e-10, hermitian=True) @ away
    return float(statistic), int(np.linalg.matrix_rank(covariance, tol=1e-10 * np.trace(covariance)))
