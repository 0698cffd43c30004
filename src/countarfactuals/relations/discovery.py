"""Which relations a table has.

1. An order a ≤ b of two numbers, or an implication "level of A → level of B", is a candidate where every row keeps it.
2. It counts where independent columns with the same values would break it in at least 20 rows on average. Chance alone
   then keeps it with a probability of about e⁻²⁰, far below one false find among millions of pairs.
"""

from __future__ import annotations

import numpy as np

from countarfactuals.relations.relation import Implication, Order, Relation
from countarfactuals.schema import Schema

_FEWEST_BREAKS = 20.0


def discover(schema: Schema, matrix: np.ndarray) -> tuple[Relation, ...]:
    """The orders and implications that every row of a matrix in the codes of the schema keeps."""
    numbers = [j for j, column in enumerate(schema.columns) if column.is_number]
    categories = [j for j, column in enumerate(schema.columns) if not column.is_number]
    return (*_orders(matrix, numbers), *_implications(schema, matrix, categories))


def _orders(matrix: np.ndarray, numbers: list[int]) -> list[Relation]:
    found: list[Relation] = []
    columns = {j: np.ascontiguousarray(matrix[:, j]) for j in numbers}
    ascending = {j: np.sort(column[~np.isnan(column)]) for j, column in columns.items()}
    for a in numbers:
        for b in numbers:
            if a == b or (columns[a] > columns[b]).any():
                continue
            n = int((~np.isnan(columns[a]) & ~np.isnan(columns[b])).sum())
            if n * _share_above(ascending[a], ascending[b]) >= _FEWEST_BREAKS:
                found.append(Order(a, b, n))
    return found


def _share_above(first: np.ndarray, second: np.ndarray) -> float:
    """How often a value of the first would exceed one of the second, were they independent."""
    if len(first) == 0 or len(second) == 0:
        return 0.0
    return float(np.searchsorted(second, first, side="left").mean() / len(second))


def _implications(schema: Schema, matrix: np.ndarray, categories: list[int]) -> list[Relation]:
    found: list[Relation] = []
    for a in categories:
        for b in categories:
            if a != b:
                known = ~np.isnan(matrix[:, a]) & ~np.isnan(matrix[:, b])
                size = (schema.columns[a].n_levels, schema.columns[b].n_levels)
                found += _of_pair(a, b, matrix[known, a].astype(np.int64), matrix[known, b].astype(np.int64), size)
    return found


def _of_pair(a: int, b: int, first: np.ndarray, second: np.ndarray, size: tuple[int, int]) -> list[Relation]:
    """The levels of a column that go with one level of the other."""
    if len(first) == 0 or size[0] * size[1] > 10 * len(first):  # near-unique levels imply everything
        return []
    table = np.bincount(first * size[1] + second, minlength=size[0] * size[1]).reshape(size)
    share = table.sum(axis=0) / table.sum()
    rows, implied = table.sum(axis=1), table.argmax(axis=1)
    is_only = (table > 0).sum(axis=1) == 1
    expected = rows * (1.0 - share[implied])
    return [
        Implication(a, level, b, int(implied[level]), int(rows[level]))
        for level in np.flatnonzero(is_only & (expected >= _FEWEST_BREAKS)).tolist()
    ]
