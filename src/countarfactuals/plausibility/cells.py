"""Rows as judges read them: which state each cell is in, and the numbers of the continuous ones.

1. A number is continuous, one of the values that repeat in its column (`Column.atoms`), or missing. A column whose
   values are all such atoms has no continuous part.
2. A category has a level, or is missing.
3. The *state* of a cell is its level, atom or "continuous", then "missing". Columns with more than one state have a
   distribution of states; a state that training has not seen keeps a little probability.
4. A gap, and an atom of a column of full precision, has a probability where a continuous cell has a density per unit:
   which is larger would be a question of units. As in the forest, such a cell also costs what a cell of its column is
   worth on average, the entropy of the column (`Cells.cost`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from countarfactuals.schema import Column, Schema

_SPACINGS = 20  # quantiles between which a density counts as even


class Cells(NamedTuple):
    """How the cells of a table are read."""

    columns: tuple[Column, ...]
    numbers: np.ndarray  # int64 (q,), the columns with a continuous part
    n_states: np.ndarray  # int64 (p,), missing not counted
    has_gaps: np.ndarray  # bool (p,), whether training had missing cells
    log_step: np.ndarray  # float64 (p,), of the width that an atom's probability is spread over, 0 for levels
    entropy: np.ndarray  # float64 (p,), nats that a cell costs on average

    @classmethod
    def of(cls, schema: Schema, matrix: np.ndarray) -> Cells:
        """How the rows of a matrix in the codes of a schema are read."""
        columns = schema.columns
        return cls(
            columns=columns,
            numbers=np.array([j for j, column in enumerate(columns) if _has_continuous_part(column)], np.int64),
            n_states=np.array([_n_states(column) for column in columns], np.int64),
            has_gaps=np.isnan(matrix).any(axis=0),
            log_step=np.array([math.log(c.step) if c.is_number and c.step > 0 else 0.0 for c in columns]),
            entropy=np.array([_entropy(column, matrix[:, j]) for j, column in enumerate(columns)]),
        )

    @property
    def stated(self) -> np.ndarray:
        """Positions of the columns whose state is a question."""
        return np.flatnonzero((self.n_states > 1) | self.has_gaps)

    def states(self, rows: np.ndarray) -> np.ndarray:
        """The state of each cell, (n, p); missing is the last one of its column."""
        states = np.zeros(rows.shape, np.int64)
        for j, column in enumerate(self.columns):
            states[:, j] = _states(column, rows[:, j])
        return np.where(np.isnan(rows), self.n_states, states)

    def continuous(self, rows: np.ndarray, states: np.ndarray) -> np.ndarray:
        """The continuous cells of the columns that have such, (n, q); NaN for others."""
        first = np.array([_first_atom(self.columns[j]) for j in self.numbers], np.int64)
        return np.where(states[:, self.numbers] < first, rows[:, self.numbers], np.nan)

    def cost(self, states: np.ndarray) -> np.ndarray:
        """What gaps and atoms of each row cost besides their probability, so that units do not matter."""
        is_mass = states == self.n_states
        for j in self.numbers:
            if self.columns[j].step == 0.0:
                is_mass[:, j] |= states[:, j] > 0
        return np.where(is_mass, self.entropy, 0.0).sum(axis=1)


def _has_continuous_part(column: Column) -> bool:
    return column.is_number and (len(column.atoms) == 0 or column.atoms != column.values)


def _first_atom(column: Column) -> int:
    """The state of a number's first atom: 1 after "continuous", 0 where there is nothing else."""
    return int(_has_continuous_part(column))


def _n_states(column: Column) -> int:
    """States of present cells; values that no training row had count as one more of a column of atoms alone."""
    if not column.is_number:
        return column.n_levels
    return len(column.atoms) + 1


def _states(column: Column, values: np.ndarray) -> np.ndarray:
    if not column.is_number:
        return np.where(np.isnan(values), 0, values).astype(np.int64)
    atoms = np.array(column.atoms)
    if len(atoms) == 0:
        return np.zeros(len(values), np.int64)
    place = np.minimum(np.searchsorted(atoms, values), len(atoms) - 1)
    is_atom = atoms[place] == values
    first = _first_atom(column)
    return np.where(is_atom, place + first, 0 if first else len(atoms))


def _entropy(column: Column, values: np.ndarray) -> float:
    """What a present cell costs on average; of a number by the gaps between its quantiles."""
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return 0.0
    if not _has_continuous_part(column):
        share = np.unique(known, return_counts=True)[1] / len(known)
        width = column.step if column.is_number and column.step > 0 else 1.0  # an atom is spread over its step
        return float(-(share * np.log(share)).sum() + math.log(width))
    width = np.diff(np.quantile(known, np.linspace(0.0, 1.0, _SPACINGS + 1)))
    least = max(column.step, 1e-6 * float(np.ptp(known)), 1e-12)
    return float(np.log(np.maximum(width, least) * _SPACINGS).mean())
