"""Orders: one number is at most another.

1. Pairs that hardly any row of a sample breaks are candidates, unless their ranges do not meet.
2. How often chance would break one is told by all pairs of the quantiles of the two columns.
3. What follows is left out: a ≤ c where a ≤ b and b ≤ c, if b is known wherever a and c are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from countarfactuals.language import tr
from countarfactuals.relations.chance import FEWEST_BREAKS, is_beyond_chance
from countarfactuals.relations.relation import Naming, with_counts
from countarfactuals.relations.searched_table import Table

_SCREENED = 0.03  # share of a sample that may break a candidate
_QUANTILES = 256


@dataclass(frozen=True)
class Order:
    """One number is at most another.

    Parameters
    ----------
    low, high : positions of the two.
    support, exceptions : how many rows have both, and how many of these break it.
    """

    low: int
    high: int
    support: int = 0
    exceptions: int = 0

    kind: ClassVar[str] = "order"
    dependent: ClassVar[int | None] = None
    is_exact: ClassVar[bool] = False

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it speaks of."""
        return (self.low, self.high)

    def broken(self, rows: np.ndarray) -> np.ndarray:
        """Which rows break it."""
        return np.asarray(rows[:, self.low] > rows[:, self.high])

    def computed(self, rows: np.ndarray) -> np.ndarray:
        """Nothing."""
        return np.full(len(rows), np.nan)

    def phrase(self, words: Naming) -> str:
        """In words."""
        return tr("{low} is at most {high}", low=words.name(self.low), high=words.name(self.high))


def find_orders(table: Table) -> list[Order]:
    """The orders of a table, without those that follow from others."""
    found: list[Order] = []
    quantiles = {j: _quantiles(table.cells[j]) for j in table.numbers}
    for low, high in _candidates(table):
        n = int(np.count_nonzero(table.present[low] & table.present[high]))
        expected = n * _share_above(quantiles[low], quantiles[high])
        if expected < FEWEST_BREAKS:
            continue
        broken = int(np.count_nonzero(table.cells[low] > table.cells[high]))
        if is_beyond_chance(expected, broken, n):
            found += _counted(table, Order(low, high), expected / n)
    return _without_consequences(table, found)


def _candidates(table: Table) -> list[tuple[int, int]]:
    numbers = np.array(table.numbers, np.intp)
    sample = table.sample[numbers]
    most = max(1.0, _SCREENED * sample.shape[1])
    pairs = []
    for place, low in enumerate(numbers.tolist()):
        few = np.count_nonzero(sample[place] > sample, axis=1) <= most
        meets = table.high[low] > table.low[numbers]
        pairs += [(low, int(high)) for high in numbers[few & meets] if high != low]
    return pairs


def _counted(table: Table, order: Order, share: float) -> list[Order]:
    low, high = (table.matrix[:, j] for j in order.columns)
    n, broken = int(np.count_nonzero(~np.isnan(low) & ~np.isnan(high))), int(np.count_nonzero(low > high))
    return [with_counts(order, n, broken)] if is_beyond_chance(share * n, broken, n) else []


def _quantiles(cells: np.ndarray) -> np.ndarray:
    ascending = np.sort(cells[~np.isnan(cells)])
    places = ((np.arange(_QUANTILES) + 0.5) * len(ascending) / _QUANTILES).astype(np.intp)
    return ascending[places]


def _share_above(first: np.ndarray, second: np.ndarray) -> float:
    """How often a value of the first would exceed one of the second, were they independent."""
    return float(np.searchsorted(second, first, side="left").mean() / len(second))


def _without_consequences(table: Table, orders: list[Order]) -> list[Order]:
    """The orders that no two others give: those of the widest gap in ranks fall first."""
    exact = {order.columns for order in orders if order.exceptions == 0}
    above: dict[int, set[int]] = {}
    for low, high in exact:
        above.setdefault(low, set()).add(high)
    return [order for order in orders if not _follows(table, order, above)]


def _follows(table: Table, order: Order, above: dict[int, set[int]]) -> bool:
    both = table.present[order.low] & table.present[order.high]
    between = above.get(order.low, set())
    # of two columns that are equal each is above the other: then neither stands between
    return any(
        order.high in above.get(middle, set())
        and order.low not in above.get(middle, set())
        and middle not in above.get(order.high, set())
        and bool(table.present[middle][both].all())
        for middle in between
    )
