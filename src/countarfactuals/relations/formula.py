"""`Formula`: a number that follows from others, exactly, but for rounding, or loosely.

|t − f(parts)| ≤ absolute + relative · |f(parts)|

An exact one allows what rounding of the total to its decimals makes, and at most what rounding of the parts adds. A
loose one allows what 99 of 100 rows have.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import numpy as np

from countarfactuals.language import tr
from countarfactuals.language.spelling import share_text
from countarfactuals.relations.relation import Naming, number_text, with_counts
from countarfactuals.relations.searched_table import Table

_WITHIN = 0.99  # share of rows that a loose formula holds for
MOST_RELATIVE, MOST_ABSOLUTE = 0.15, 0.1  # of the value and of a spread: beyond these a loose formula says too little
_FEWEST_ROWS = 100  # that a loose formula is learned from
_FEWEST_SHUFFLED = 0.5  # share of rows that break a loose formula once a column is shuffled


@dataclass(frozen=True)
class Formula(ABC):
    """A number that follows from others.

    Parameters
    ----------
    total, parts : positions of the number and of what it follows from.
    decimals : of the total; None at full precision.
    absolute, relative : how far it may be from what follows.
    is_loose : whether that is more than rounding explains.
    support, exceptions : how many rows have all of them, and how many of these break it.
    """

    total: int
    parts: tuple[int, ...]
    decimals: int | None = None
    absolute: float = 0.0
    relative: float = 0.0
    is_loose: bool = False
    support: int = 0
    exceptions: int = 0

    kind: ClassVar[str]

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it speaks of."""
        return (*self.parts, self.total)

    @property
    def dependent(self) -> int:
        """The total."""
        return self.total

    @property
    def is_exact(self) -> bool:
        """Whether the total is what follows, and nothing else."""
        return not self.is_loose

    @abstractmethod
    def value(self, rows: np.ndarray) -> np.ndarray:
        """By row what follows, not rounded; not finite where nothing does."""

    @abstractmethod
    def text(self, words: Naming) -> str:
        """The right-hand side."""

    def broken(self, rows: np.ndarray) -> np.ndarray:
        """Which rows break it."""
        value = self.value(rows)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(rows[:, self.total] - value) > self.absolute + self.relative * np.abs(value))

    def computed(self, rows: np.ndarray) -> np.ndarray:
        """By row what follows, with the decimals of the total."""
        value = self.value(rows)
        value = np.where(np.isfinite(value), value, np.nan)
        if self.decimals is None:
            return value
        scale = 10.0**self.decimals
        return np.asarray(np.rint(value * scale) / scale) + 0.0

    def phrase(self, words: Naming) -> str:
        """In words."""
        name, text = words.name(self.total), self.text(words)
        if not self.is_loose:
            return tr("{name} is {formula}", name=name, formula=text)
        if self.relative:
            return tr("{name} is about {formula}, within {share}", name=name, formula=text, share=self._share)
        within = number_text(float(f"{self.absolute:.2g}"))
        return tr("{name} is about {formula}, give or take {within}", name=name, formula=text, within=within)

    @property
    def _share(self) -> str:
        return share_text(max(self.relative, 0.01))


AnyFormula = TypeVar("AnyFormula", bound=Formula)


def with_support(table: Table, formula: AnyFormula) -> AnyFormula | None:
    """The formula with its counts; None where chance explains it, or too many rows break it."""
    rows = table.cells.T
    broken = formula.broken(rows)
    present = table.present[list(formula.columns)].all(axis=0)
    return table.with_support(with_counts(formula, int(present.sum()), int(np.count_nonzero(broken))))


def exact(table: Table, formula: AnyFormula, slack: float = 0.0) -> AnyFormula | None:
    """The formula within the rounding of its total, or else within that of its parts too, which adds `slack`."""
    tight = float(table.rounding[formula.total])
    for absolute in (tight, tight + slack):
        # rounding must not explain what the columns say: a count beside another differs by one or two
        if absolute > tight and absolute > 0.02 * table.spread[formula.total]:
            break
        found = with_support(table, replace(formula, absolute=absolute))
        if found is not None:
            return found
    return None


def loose(table: Table, formula: Formula, *, is_relative: bool) -> Formula | None:
    """The formula within the data's own spread; None where that is wide, or a shuffled column would seldom be seen."""
    rows = table.cells.T
    with np.errstate(all="ignore"):
        value = formula.value(rows)
        off = np.abs(rows[:, formula.total] - value)
    present = np.isfinite(off) & np.isfinite(value)
    if present.sum() < max(0.5 * table.n_rows, _FEWEST_ROWS):
        return None
    relative = _relative_room(off[present], np.abs(value[present])) if is_relative else 0.0
    absolute = max(_left_room(off[present], relative * np.abs(value[present])), float(table.rounding[formula.total]))
    least = min(table.spread[j] for j in formula.columns) if not is_relative else table.spread[formula.total]
    if relative > MOST_RELATIVE or absolute > MOST_ABSOLUTE * least:
        return None
    found = replace(formula, is_loose=True, relative=relative, absolute=absolute)
    if min(table.broken_if_shuffled(found, j).mean() for j in found.columns) < _FEWEST_SHUFFLED * present.mean():
        return None
    matrix = table.matrix
    n = np.count_nonzero(~np.isnan(matrix[:, list(found.columns)]).any(axis=1))
    return with_counts(found, int(n), int(np.count_nonzero(found.broken(matrix))))


def _relative_room(off: np.ndarray, value: np.ndarray) -> float:
    """How far off, relative to the value, nearly all rows are whose value is large; small ones may be more so."""
    large = (value >= np.median(value)) & (value > 0.0)
    return float(np.quantile(off[large] / value[large], _WITHIN)) if large.any() else np.inf


def _left_room(off: np.ndarray, relative: np.ndarray) -> float:
    """How much farther off nearly all rows are."""
    return max(float(np.quantile(off - relative, _WITHIN)), 0.0) * (1 + 1e-9)


def middle_ratio(ratio: np.ndarray) -> float | None:
    """The median of what is known of ratios, with three digits, and 1 where it is about that; None if nothing is."""
    ratio = ratio[np.isfinite(ratio)]
    if len(ratio) == 0:
        return None
    middle = float(f"{np.median(ratio):.3g}")
    return 1.0 if abs(middle - 1.0) < 0.02 else middle


def tightest(formulas: list[Formula]) -> list[Formula]:
    """Of loose formulas the best one of each total."""
    best: dict[int, Formula] = {}
    for formula in formulas:
        other = best.get(formula.total)
        if other is None or _room(formula) < _room(other):
            best[formula.total] = formula
    return list(best.values())


def _room(formula: Formula) -> tuple[float, int, float]:
    """How much a loose formula leaves open; of those that leave about the same, short ones are better."""
    return round(formula.relative, 2), len(formula.parts), formula.absolute


def shortest_between(low: float, high: float) -> float:
    """The number with the fewest digits between two ends.

    >>> shortest_between(2.5399, 2.5401), shortest_between(-0.2, 0.1), shortest_between(31.6, 32.3)
    (2.54, 0.0, 32.0)
    """
    if low <= 0.0 <= high:
        return 0.0
    middle = 0.5 * (low + high)
    for number in _roundings(middle):
        if low <= number <= high:
            return number
    return middle


def _roundings(number: float) -> Iterator[float]:
    for digits in range(1, 13):
        yield float(f"{number:.{digits}g}")
