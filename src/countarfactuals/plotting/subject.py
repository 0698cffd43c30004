"""What a picture is about: the checks of what was passed in, and where values of any kind stand on an axis (`Scale`).

1. Numbers are at their value. The axis holds the values in use and the middle 96 % of the data: a few extreme rows
   would squeeze all others.
2. Levels stand one step apart, in the column's order. Where there are too many, only those in use have a place, and
   the most frequent others while there is room.
3. Missing has a place of its own: for numbers below the axis, for levels one more step.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.exceptions import DataTypeError, ParameterError, listed
from countarfactuals.language import spoken, tr
from countarfactuals.language.spelling import MISSING_TEXT, cell_texts, one_line
from countarfactuals.schema import Column, Kind

_MIDDLE = (0.02, 0.98)
_MOST_USED = 40  # levels in use that have a place
_GAP = 0.14  # between the axis of a number and the place for missing, as a share of the range


def check_result(counterfactuals: Any) -> Counterfactuals:
    """One result, and nothing else."""
    if isinstance(counterfactuals, Counterfactuals):
        return counterfactuals
    if isinstance(counterfactuals, CounterfactualsBatch):
        raise DataTypeError(
            f"This picture shows one row, got a batch of {len(counterfactuals)}. Pass one of its results, as in "
            "`batch[0]`; `plot_frequency` shows a whole batch."
        )
    raise DataTypeError(f"Pass the `Counterfactuals` that `explain` returns, got {type(counterfactuals).__name__}.")


def results_of(counterfactuals: Any) -> tuple[Counterfactuals, ...]:
    """The results of a batch, or a result as the only one."""
    is_batch = isinstance(counterfactuals, CounterfactualsBatch)
    return counterfactuals.results if is_batch else (check_result(counterfactuals),)


def feature_positions(result: Counterfactuals, features: Any) -> tuple[int, ...]:
    """Positions of the features named."""
    if isinstance(features, str) or not isinstance(features, list | tuple):
        raise ParameterError(f"`features` must be a list or tuple of names, got {features!r}.")
    names: tuple[Hashable, ...] = tuple(features)
    places = tuple(result.schema.index(name) for name in names)
    if len(set(places)) < len(places):
        raise ParameterError(f"`features` names a feature twice: {listed(names)}. Name different ones.")
    return places


def most_changed(changed: np.ndarray, most: int) -> list[int]:
    """Positions, ascending, of the features that change most often, at most so many; ties go to the earlier one."""
    often = changed.sum(axis=0)
    return sorted(j for j in np.argsort(-often, kind="stable")[:most].tolist() if often[j])


@dataclass(frozen=True)
class Scale:
    """An axis for one feature.

    Parameters
    ----------
    column : the feature.
    low, high : ends of the axis, without the place for missing.
    levels : codes with a place, in order; () for numbers.
    has_missing : whether missing has a place.
    """

    column: Column
    low: float
    high: float
    levels: tuple[int, ...] = ()
    has_missing: bool = False

    @classmethod
    def of(cls, column: Column, used: np.ndarray, data: np.ndarray | None = None, most_levels: int = 12) -> Scale:
        """The axis for the values in use, of which the first never loses its place, and for those of the data."""
        has_missing = bool(np.isnan(used).any())
        used = used[~np.isnan(used)]
        data = np.empty(0) if data is None else data[~np.isnan(data)]
        if column.is_number:
            middle = np.quantile(data, _MIDDLE, method="nearest") if len(data) else data
            return cls(column, *_range(np.concatenate([used, middle])), has_missing=has_missing)
        levels = _levels(column, used, data, most_levels)
        return cls(column, -0.5, len(levels) - 0.5, levels, has_missing)

    @property
    def missing_at(self) -> float:
        """The place for missing."""
        return self.high + 0.5 if self.levels else self.low - _GAP * (self.high - self.low)

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the axis with the place for missing."""
        if not self.has_missing:
            return self.low, self.high
        if self.levels:
            return self.low, self.high + 1.0
        return self.missing_at - 0.4 * _GAP * (self.high - self.low), self.high

    def place(self, values: np.ndarray) -> np.ndarray:
        """Where values stand; NaN for a level that has no place."""
        values = np.asarray(values, np.float64)
        places = values.copy()
        if self.levels:
            steps = {float(code): float(i) for i, code in enumerate(self.levels)}
            places = np.array([steps.get(value, np.nan) for value in values.tolist()])
        return np.where(np.isnan(values), self.missing_at, places)

    def share(self, places: np.ndarray) -> np.ndarray:
        """Places as shares of the axis: 0 and 1 are its ends without the place for missing."""
        return (np.asarray(places, np.float64) - self.low) / (self.high - self.low)

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Places and texts of the ticks; of many levels some, evenly spaced; missing at last."""
        ticks = self._level_ticks(most) if self.levels else self._number_ticks(most)
        return [*ticks, (self.missing_at, tr(MISSING_TEXT))] if self.has_missing else ticks

    def _level_ticks(self, most: int) -> list[tuple[float, str]]:
        shown = np.unique(np.linspace(0, len(self.levels) - 1, min(most, len(self.levels))).round()).astype(int)
        return [(float(i), one_line(self.column.title_of(self.levels[i]))) for i in shown.tolist()]

    def _number_ticks(self, most: int) -> list[tuple[float, str]]:
        is_whole = self.column.kind is Kind.INTEGER
        locator = MaxNLocator(nbins=max(most - 1, 1), steps=[1, 2, 2.5, 5, 10], integer=is_whole, min_n_ticks=1)
        values = np.asarray(locator.tick_values(self.low, self.high))
        values = values[(values >= self.low) & (values <= self.high)]
        if len(values) < 2 and not is_whole:
            values = np.array([self.low, self.high])
        if self.column.clock:
            return list(zip(values.tolist(), cell_texts(self.column, values.tolist()), strict=True))
        return list(zip(values.tolist(), number_texts(values.tolist()), strict=True))


def _range(values: np.ndarray) -> tuple[float, float]:
    """Ends of an axis that holds the values, never equal."""
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if low < high:
        return low, high
    around = max(abs(low) * 0.1, 0.5)
    return low - around, high + around


def _levels(column: Column, used: np.ndarray, data: np.ndarray, most: int) -> tuple[int, ...]:
    """Codes in the column's order: all of them, or the ones in use and the most frequent others."""
    if column.n_levels <= most:
        return tuple(range(column.n_levels))
    in_use = list(dict.fromkeys([*used[:1].astype(int).tolist(), *_by_frequency(used)]))[:_MOST_USED]
    every = list(dict.fromkeys([*in_use, *_by_frequency(data)]))
    return tuple(sorted(every[: max(most, len(in_use))]))


def _by_frequency(codes: np.ndarray) -> list[int]:
    values, counts = np.unique(codes, return_counts=True)
    order = np.argsort(-counts, kind="stable").tolist()
    return [int(values[i]) for i in order]


def number_texts(values: Sequence[float]) -> list[str]:
    """Numbers on an axis, with as many digits as it takes to tell them apart.

    >>> number_texts([36000.0, 0.25, 2.5e9, -0.0]), number_texts([3.1415926, 3.1415927])
    (['36,000', '0.25', '2.5e+09', '0'], ['3.1415926', '3.1415927'])
    """
    texts: list[str] = []
    for digits in range(6, 18):
        texts = [_number_text(value + 0.0, digits) for value in values]  # + 0.0: no minus before a zero
        if len(set(texts)) == len(set(values)):
            break
    return texts


def _number_text(value: float, digits: int) -> str:
    is_large = abs(value) >= 1e6
    return spoken().number(f"{value:.{digits - 2 * is_large}g}", grouped=not is_large)
