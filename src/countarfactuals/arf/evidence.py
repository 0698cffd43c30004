"""What is asked of the columns: evidence.

`Evidence` holds one condition per row: for each column nothing, a point, missing, present, intervals, or any of several
points or levels. What a condition is worth in a leaf is in `weigh`, which leaves can meet it in `walk`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from countarfactuals._tables import by_reference

FREE, POINT, IS_MISSING, PRESENT, INTERVALS, ANY_OF = range(6)


@by_reference
class Evidence(NamedTuple):
    """Conditions on the columns of the matrix, one per row."""

    kind: np.ndarray  # int8 (n, p)
    value: np.ndarray  # float64 (n, p), of points, NaN elsewhere
    start: np.ndarray  # int32 (n, p), where intervals or alternatives start in `low`, `high`
    stop: np.ndarray  # int32 (n, p)
    low: np.ndarray  # float64, an interval's end, or an alternative (low = high)
    high: np.ndarray  # float64

    @classmethod
    def empty(cls, n: int, p: int) -> Evidence:
        """Conditions that ask nothing."""
        return cls(
            np.zeros((n, p), np.int8),
            np.full((n, p), np.nan),
            np.zeros((n, p), np.int32),
            np.zeros((n, p), np.int32),
            np.empty(0),
            np.empty(0),
        )

    @classmethod
    def points(cls, matrix: np.ndarray, missing_is_event: np.ndarray) -> Evidence:
        """Each row as a condition: cells are points; a missing one is an event where the column has such, else free."""
        evidence = cls.empty(*matrix.shape)
        blank = np.isnan(matrix)
        evidence.kind[~blank] = POINT
        evidence.kind[blank & missing_is_event] = IS_MISSING
        evidence.value[:] = matrix
        return evidence

    def rows(self, chosen: np.ndarray | slice) -> Evidence:
        """Some of the conditions."""
        return self._replace(
            kind=self.kind[chosen], value=self.value[chosen], start=self.start[chosen], stop=self.stop[chosen]
        )

    def repeated(self, n: int) -> Evidence:
        """One condition n times."""
        return self.rows(np.zeros(n, np.int64))

    def without(self, column: int) -> Evidence:
        """The same conditions with one column free."""
        kind, value = self.kind.copy(), self.value.copy()
        kind[:, column], value[:, column] = FREE, np.nan
        return self._replace(kind=kind, value=value)
