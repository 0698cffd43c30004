"""`RowTable`: rows to pick from, searched, sorted and shown in pages; made once for each explainer.

A search is for a text in any cell. What is sorted by the same value stays in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from countarfactuals.counterfactuals.storage import plain_number
from countarfactuals.exceptions import DataError
from countarfactuals.language.spelling import cell_texts
from countarfactuals.serve.served import Served
from countarfactuals.serve.view import plain_row

PREDICTION, SCORE, KEY = "prediction", "score", "key"
_SEPARATOR = "\x1f"  # between cells, which no search can reach over


class RowTable:
    """Rows with what is predicted of them.

    Parameters
    ----------
    served : whose rows may be picked from.
    matrix : these rows.
    """

    def __init__(self, served: Served, matrix: np.ndarray) -> None:
        self.schema = served.explainer.schema_
        self.matrix = matrix
        self._background = served.explainer.background_

    @cached_property
    def scores(self) -> np.ndarray:
        """What the model says of each row."""
        is_known = self.matrix is self._background.matrix
        return self._background.scores if is_known else self._background.predictor.scores(self.matrix)

    @cached_property
    def labels(self) -> list[Any]:
        """The predicted class, or number, of each row."""
        found: list[Any] = self._background.predictor.labels(self.scores).tolist()
        return found

    @cached_property
    def _texts(self) -> list[str]:
        """All cells of each row as one text."""
        columns = [cell_texts(column, cells) for column, cells in zip(self.schema.columns, self.matrix.T, strict=True)]
        return [_SEPARATOR.join(cells).casefold() for cells in zip(*columns, strict=True)]

    def row(self, key: int) -> np.ndarray:
        """The row with a key, which is its position."""
        if not 0 <= key < len(self.matrix):
            raise DataError(
                "There is no row {got}; rows are counted from 0 to {last}.", got=key, last=len(self.matrix) - 1
            )
        row: np.ndarray = self.matrix[key]
        return row

    def page(
        self, search: str, prediction: str | None, sort: str | None, is_falling: bool, offset: int, limit: int
    ) -> dict[str, Any]:
        """The rows that match, in order, from `offset` on."""
        at = self._matching(search, prediction)
        order = self._order(at, sort, is_falling)
        shown = order[offset : offset + limit]
        return {
            "total": len(self.matrix),
            "matching": len(at),
            "columns": [str(name) for name in self.schema.names],
            "rows": [self._entry(key) for key in shown.tolist()],
        }

    def _matching(self, search: str, prediction: str | None) -> np.ndarray:
        is_in = np.ones(len(self.matrix), np.bool_)
        if prediction is not None:
            is_in &= np.array([str(label) == prediction for label in self.labels], np.bool_)
        for word in search.casefold().split():
            is_in &= np.array([word in text for text in self._texts], np.bool_)
        return np.flatnonzero(is_in)

    def _order(self, at: np.ndarray, sort: str | None, is_falling: bool) -> np.ndarray:
        if sort in (None, KEY):
            return at[::-1] if is_falling else at
        values = self._values(str(sort))[at]
        is_missing = np.isnan(values)  # which comes last either way
        return at[np.lexsort((-values if is_falling else values, is_missing))]

    def _values(self, sort: str) -> np.ndarray:
        if sort == SCORE:
            return self.scores[:, -1]
        if sort == PREDICTION:
            return np.unique([str(label) for label in self.labels], return_inverse=True)[1].astype(np.float64)
        names: Sequence[Any] = [str(name) for name in self.schema.names]
        if sort not in names:
            raise DataError("Rows can be sorted by {allowed}; got {column!r}.", allowed=", ".join(names), column=sort)
        return self.matrix[:, names.index(sort)]

    def _entry(self, key: int) -> dict[str, Any]:
        return {
            "key": key,
            "row": plain_row(self.schema, self.matrix[key]),
            "prediction": self.labels[key],
            "score": plain_number(self.scores[key, -1]),
        }
