"""What a relation says of a row, in matrix codes. A missing cell breaks none."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from countarfactuals.schema import Schema


class Relation(Protocol):
    """Something that all rows of the data keep."""

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it speaks of."""

    @property
    def support(self) -> int:
        """How many rows it speaks of."""

    def broken(self, rows: np.ndarray) -> np.ndarray:
        """Which rows break it."""

    def describe(self, schema: Schema) -> str:
        """In words."""


class Order(NamedTuple):
    """One number is at most another."""

    low: int
    high: int
    support: int

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it speaks of."""
        return (self.low, self.high)

    def broken(self, rows: np.ndarray) -> np.ndarray:
        """Which rows break it."""
        return np.asarray(rows[:, self.low] > rows[:, self.high])

    def describe(self, schema: Schema) -> str:
        """In words."""
        return f"{schema.names[self.low]} is at most {schema.names[self.high]}"


class Implication(NamedTuple):
    """A level of one column goes with one level of another."""

    column: int
    level: int
    other: int
    implied: int
    support: int

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it speaks of."""
        return (self.column, self.other)

    def broken(self, rows: np.ndarray) -> np.ndarray:
        """Which rows break it."""
        other = rows[:, self.other]
        return np.asarray((rows[:, self.column] == self.level) & (other != self.implied) & ~np.isnan(other))

    def describe(self, schema: Schema) -> str:
        """In words."""
        level = schema.decode_value(self.column, self.level)
        implied = schema.decode_value(self.other, self.implied)
        return f"where {schema.names[self.column]} is {level}, {schema.names[self.other]} is {implied}"
