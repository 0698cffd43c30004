"""The values of a column in plain words; the one place for them."""

from __future__ import annotations

import math

from ..exceptions import listed
from .clock import DAY
from .column import Column, Kind

_MOST = 12


def described(column: Column) -> str:
    """What values the column has.

    >>> described(Column("term", Kind.INTEGER, decimals=0, values=(36.0, 60.0), atoms=(36.0, 60.0)))
    '36 or 60'
    >>> described(Column("amount", Kind.INTEGER, decimals=0, grid=(25.0, 0.0), low=0.0))
    'multiples of 25 from 0'
    >>> described(Column("debt", Kind.REAL, atoms=(0.0,), low=0.0))
    '0 in many rows, otherwise any number from 0'
    """
    if column.unused:
        used = [level for level, is_used in zip(column.levels, column.is_used, strict=True) if is_used]
        return f"{listed(used)}; in no row {listed(column.levels[code] for code in column.unused)}"
    if not column.is_number:
        return listed(column.levels)
    if column.values and len(column.values) <= _MOST:
        return _alternatives(column, column.values)
    if column.atoms and column.atoms != column.values:
        return f"{_alternatives(column, column.atoms)} in many rows, otherwise {_otherwise(column)}"
    return _otherwise(column)


def _otherwise(column: Column) -> str:
    if column.values:
        first, last = (_spelt(column, value) for value in (column.values[0], column.values[-1]))
        of_grid = "" if column.grid is None else f", all {_points(column)}"
        return f"one of {len(column.values):,} values from {first} to {last}{of_grid}"
    low, high = (_spelt(column, edge) if math.isfinite(edge) else "" for edge in (column.low, column.high))
    edges = (f" from {low}" if low else "") + (f" {'to' if low else 'up to'} {high}" if high else "")
    return f"{_points(column)}{edges}"


def _points(column: Column) -> str:
    if column.clock:
        return _moments(column)
    if column.grid is not None:
        step, origin = (_spelt(column, part) for part in column.grid)
        return f"multiples of {step}" if column.grid[1] == 0.0 else f"{origin} plus multiples of {step}"
    if column.decimals is None:
        return "any number"
    if column.decimals == 0:
        return "whole numbers"
    return f"numbers with {column.decimals} decimal{'s' if column.decimals > 1 else ''}"


def _moments(column: Column) -> str:
    kind, unit = ("dates", "days") if column.clock == DAY else ("times", "seconds")
    return kind if column.grid is None else f"{kind} in steps of {column.grid[0]:,g} {unit}"


def _alternatives(column: Column, values: tuple[float, ...]) -> str:
    spelt = [_spelt(column, value) for value in values]
    return spelt[0] if len(spelt) == 1 else f"{', '.join(spelt[:-1])} or {spelt[-1]}"


def _spelt(column: Column, value: float) -> str:
    """A number as people write it: no more digits than the column's type holds."""
    if column.clock:
        return str(column.decode(value))
    if column.kind is Kind.INTEGER or value == round(value):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.0f}"  # years have no comma
    return str(column.stored_as(value))
