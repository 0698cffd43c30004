"""The table that relations are looked for in: its columns apart, a sample of rows to screen candidates by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from countarfactuals.relations.chance import is_beyond_chance
from countarfactuals.relations.relation import AnyRelation, Relation, with_counts
from countarfactuals.schema import Schema

_MOST_ROWS, _SAMPLE = 20_000, 400
_DIGITS_LOST = 16.0  # times the rounding error of a cell's float type, by sums and products of few cells


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in the codes of a schema.

    Parameters
    ----------
    schema : of the columns.
    matrix : all rows.
    cells : by column the cells of at most 20,000 of them, shape (p, n).
    """

    schema: Schema
    matrix: np.ndarray
    cells: np.ndarray

    @classmethod
    def of(cls, schema: Schema, matrix: np.ndarray) -> Table:
        """The table of a matrix; which rows of many are taken is the same every time."""
        rows = matrix
        if len(matrix) > _MOST_ROWS:
            rows = matrix[np.sort(np.random.default_rng(0).choice(len(matrix), _MOST_ROWS, replace=False))]
        return cls(schema, matrix, np.ascontiguousarray(rows.T, np.float64))

    @property
    def n_rows(self) -> int:
        """How many rows `cells` has."""
        return self.cells.shape[1]

    @cached_property
    def present(self) -> np.ndarray:
        """Which cells are not missing, (p, n)."""
        return ~np.isnan(self.cells)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the columns of numbers with more than one value."""
        is_number = [column.is_number for column in self.schema.columns]
        return tuple(j for j in np.flatnonzero(is_number).tolist() if self.low[j] < self.high[j])

    @cached_property
    def low(self) -> np.ndarray:
        """Least value by column."""
        return np.fmin.reduce(self.cells, axis=1)

    @cached_property
    def high(self) -> np.ndarray:
        """Largest value by column."""
        return np.fmax.reduce(self.cells, axis=1)

    @cached_property
    def spread(self) -> np.ndarray:
        """Standard deviation by column."""
        return np.nanstd(self.cells, axis=1)

    @cached_property
    def rounding(self) -> np.ndarray:
        """By column how far a cell may be from what was rounded to it: half a unit, and what floats lose."""
        columns = self.schema.columns
        unit = np.array([column.unit for column in columns])
        digits = np.array([np.finfo(column.stored_as).eps for column in columns])
        return 0.5 * unit * (1 + 1e-6) + _DIGITS_LOST * digits * self.largest

    @cached_property
    def noise(self) -> np.ndarray:
        """By column what floats lose in sums and products."""
        digits = np.array([np.finfo(column.stored_as).eps for column in self.schema.columns])
        return _DIGITS_LOST * digits * self.largest

    @cached_property
    def largest(self) -> np.ndarray:
        """Largest absolute value by column."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @cached_property
    def sample(self) -> np.ndarray:
        """The cells of some rows, in random order, (p, m)."""
        return self.cells[:, np.random.default_rng(1).permutation(self.n_rows)[:_SAMPLE]]

    @cached_property
    def shuffled(self) -> np.ndarray:
        """The rows in random order."""
        return np.random.default_rng(2).permutation(self.n_rows)

    def with_support(self, relation: AnyRelation) -> AnyRelation | None:
        """The relation with its counts on all rows; None if it does not count."""
        if not is_beyond_chance(self._chance_breaks(relation), relation.exceptions, relation.support):
            return None
        support = int(np.count_nonzero(~np.isnan(self.matrix[:, list(relation.columns)]).any(axis=1)))
        relation = with_counts(relation, support, int(np.count_nonzero(relation.broken(self.matrix))))
        expected = self._chance_breaks(relation) * len(self.matrix) / self.n_rows
        return relation if is_beyond_chance(expected, relation.exceptions, relation.support) else None

    def broken_if_shuffled(self, relation: Relation, j: int) -> np.ndarray:
        """Which rows would break a relation, were the cells of one column shuffled."""
        rows = np.empty((self.n_rows, len(self.cells)))
        for k in relation.columns:
            rows[:, k] = self.cells[k][self.shuffled] if k == j else self.cells[k]
        return relation.broken(rows)

    def _chance_breaks(self, relation: Relation) -> float:
        return float(min(np.count_nonzero(self.broken_if_shuffled(relation, j)) for j in relation.columns))
