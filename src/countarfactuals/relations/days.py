"""Days of times: a column of dates is the day of a column of times.

Dates count days and times count seconds, so neither a formula nor an order holds between them as they are: their days
are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from countarfactuals.language import tr
from countarfactuals.relations.relation import Naming
from countarfactuals.schema import Schema
from countarfactuals.schema.clock import DAY, SECOND

_SECONDS = 86_400.0  # of a day


@dataclass(frozen=True)
class DayOf:
    """A date is the day of a time.

    Parameters
    ----------
    date, time : positions of the two.
    support, exceptions : how many rows have both, and how many of these break it.
    """

    date: int
    time: int
    support: int = 0
    exceptions: int = 0

    kind: ClassVar[str] = "day"
    is_exact: ClassVar[bool] = True

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it speaks of."""
        return (self.time, self.date)

    @property
    def dependent(self) -> int:
        """The date."""
        return self.date

    def broken(self, rows: np.ndarray) -> np.ndarray:
        """Which rows break it."""
        day = self.computed(rows)
        return np.asarray((rows[:, self.date] != day) & ~np.isnan(rows[:, self.date]) & ~np.isnan(day))

    def computed(self, rows: np.ndarray) -> np.ndarray:
        """By row the day; NaN where the time is missing."""
        return day_of(rows[:, self.time])

    def phrase(self, words: Naming) -> str:
        """In words."""
        return tr("{date} is the day of {time}", date=words.name(self.date), time=words.name(self.time))


def day_of(seconds: np.ndarray) -> np.ndarray:
    """The day that seconds are in, in days since 1970."""
    return np.asarray(np.floor(seconds / _SECONDS))


def dated_pairs(schema: Schema) -> Iterator[tuple[int, int]]:
    """Every column of dates beside every column of times."""
    clocks = [column.clock for column in schema.columns]
    for date in (j for j, clock in enumerate(clocks) if clock == DAY):
        yield from ((date, j) for j, clock in enumerate(clocks) if clock == SECOND)
