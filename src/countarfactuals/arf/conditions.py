"""`given`: what a user says of the columns, as `Evidence`.

| said of a number | means | said of a category | means |
|---|---|---|---|
| `3.5` | exactly this value | `"b"` | this level |
| `(1, 4)`, `(None, 4)` | an interval, ends included, None for open | `["a", "b"]`, a set | one of these levels |
| `[(1, 2), (5, None)]` | one of several intervals | `("low", "mid")` of an ordered one | from … to |
| `[1, 2, 3]`, a set | one of these values | | |
| `MISSING` | the cell is empty | `MISSING` | the cell is empty |

Conditions on different columns are joined by "and". A dict is one condition, a list of dicts several; a frame is one
per row, its empty cells are free.

Whole numbers (integers, also those that a missing cell turned to floats) have the density of the value before
rounding, so an interval of them from 18 to 30 is (17.5, 30.5]: its probability is that of the thirteen numbers in it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.arf.evidence import ANY_OF, FREE, INTERVALS, IS_MISSING, POINT, Evidence
from countarfactuals.exceptions import EvidenceError, EvidenceTypeError, listed
from countarfactuals.parameters import as_float
from countarfactuals.schema import Column, Kind, Schema


class _Missing:
    """The condition that a cell is empty."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()

Cell = tuple[int, list[tuple[float, float]]]  # kind of evidence; intervals, or alternatives as (value, value)


def parse_given(given: Any, schema: Schema, can_be_missing: np.ndarray) -> Evidence:
    """The evidence that `given` states; `can_be_missing` tells which columns had missing values in training."""
    if given is None:
        return Evidence.empty(1, len(schema.columns))
    if isinstance(given, Mapping):
        return _from_mappings([given], schema, can_be_missing)
    if isinstance(given, list | tuple):
        if not given or not all(isinstance(one, Mapping) for one in given):
            raise EvidenceTypeError(
                f"`given` as a {type(given).__name__} must hold one dict per condition and at least one, got "
                f"{listed(given, 3) or 'nothing'}."
            )
        return _from_mappings(given, schema, can_be_missing)
    if isinstance(given, str | bytes | Real) or callable(given):
        raise EvidenceTypeError(
            f"`given` must be a dict (column: condition), a list of dicts or a frame, got {given!r}. "
            f"For example given={{{schema.names[0]!r}: …}}."
        )
    return _from_frame(given, schema)


def _from_frame(frame: Any, schema: Schema) -> Evidence:
    matrix = schema.encode(frame, subset=True)
    for j, column in enumerate(schema.columns):
        values = matrix[:, j][~np.isnan(matrix[:, j])]
        if column.kind is Kind.INTEGER and (values != np.rint(values)).any():
            raise _not_an_integer(column, float(values[values != np.rint(values)][0]))
    return Evidence.points(matrix, np.zeros(matrix.shape[1], np.bool_))


def _from_mappings(given: Sequence[Mapping[Any, Any]], schema: Schema, can_be_missing: np.ndarray) -> Evidence:
    evidence = Evidence.empty(len(given), len(schema.columns))
    low: list[float] = []
    high: list[float] = []
    for i, condition in enumerate(given):
        for name, said in condition.items():
            j = schema.index(name)
            kind, parts = _parse_cell(said, schema.columns[j])
            if kind == IS_MISSING and not can_be_missing[j]:
                raise EvidenceError(
                    f"Column {name!r} had no missing value in the training data, so that it is missing has probability "
                    "0. Leave the column out of `given` to sum it out."
                )
            evidence.kind[i, j] = kind
            if kind == POINT:
                evidence.value[i, j] = parts[0][0]
            else:
                evidence.start[i, j] = len(low)
                low.extend(part[0] for part in parts)
                high.extend(part[1] for part in parts)
                evidence.stop[i, j] = len(low)
    return evidence._replace(low=np.array(low, np.float64), high=np.array(high, np.float64))


def _parse_cell(said: Any, column: Column) -> Cell:
    if said is MISSING:
        return IS_MISSING, []
    if pd.api.types.is_scalar(said) and pd.isna(said):
        raise EvidenceError(
            f"The condition on {column.name!r} is {said!r}. Leave the column out to sum it over, or say MISSING for "
            "an empty cell."
        )
    return _parse_number(said, column) if column.is_number else _parse_category(said, column)


def _parse_category(said: Any, column: Column) -> Cell:
    if column.kind is Kind.ORDERED and isinstance(said, tuple) and len(said) == 2:
        first = 0.0 if said[0] is None else _code(said[0], column)
        last = column.n_levels - 1.0 if said[1] is None else _code(said[1], column)
        codes = np.arange(first, last + 1)
    elif isinstance(said, tuple) and any(part is None for part in said):
        raise EvidenceError(
            f"The condition on {column.name!r} is {said!r}, but its levels have no order. List the levels, or make it "
            "an ordered category."
        )
    elif isinstance(said, Collection) and not isinstance(said, str | bytes | Mapping):
        codes = np.unique([_code(level, column) for level in said])
    else:
        return POINT, [(_code(said, column), math.nan)]
    if len(codes) == 0:
        raise EvidenceError(f"The condition on {column.name!r} allows no level: {said!r}. Name at least one.")
    return ANY_OF, [(code, code) for code in codes.tolist()]


def _code(level: Any, column: Column) -> float:
    if level is MISSING or (pd.api.types.is_scalar(level) and pd.isna(level)):
        raise EvidenceError(
            f"The condition on {column.name!r} mixes levels with {level!r}. Give levels only, or MISSING alone."
        )
    return column.encode(level)


def _passed(said: Any, column: Column) -> Any:
    """What is said of dates and times in the numbers that stand for them."""
    if isinstance(said, tuple | list | set | frozenset):
        return type(said)(None if part is None else _passed(part, column) for part in said)
    return column.encode(said)


def _parse_number(said: Any, column: Column) -> Cell:
    if column.clock:
        said = _passed(said, column)
    if isinstance(said, tuple):
        return _parse_intervals([said], column)
    if isinstance(said, Collection) and not isinstance(said, str | bytes | Mapping):
        parts = list(said)
        if parts and all(isinstance(part, tuple) for part in parts):
            return _parse_intervals(parts, column)
        values = sorted({_value(part, column, said) for part in parts})
        if not values:
            raise EvidenceError(f"The condition on {column.name!r} allows no value: {said!r}. Name at least one.")
        return _points(values)
    return POINT, [(_value(said, column, said), math.nan)]


def _points(values: Sequence[float]) -> Cell:
    if len(values) == 1:
        return POINT, [(values[0], math.nan)]
    return ANY_OF, [(value, value) for value in values]


def _value(part: Any, column: Column, said: Any) -> float:
    if isinstance(part, bool | np.bool_) or not isinstance(part, Real) or not math.isfinite(as_float(part)):
        raise EvidenceTypeError(
            f"The condition on {column.name!r} ({column.kind}) must be a finite number, (low, high) with None for an "
            f"open end, a list of such intervals, a collection of numbers, or MISSING; got {said!r}."
        )
    if column.kind is Kind.INTEGER and float(part) != round(float(part)):
        raise _not_an_integer(column, part)
    return float(part)


def _not_an_integer(column: Column, value: Any) -> EvidenceError:
    return EvidenceError(
        f"Column {column.name!r} holds integers and can not be {value!r}. Give an integer or an interval."
    )


def _parse_intervals(parts: Sequence[tuple[Any, ...]], column: Column) -> Cell:
    intervals = sorted(_interval(part, column) for part in parts)
    if column.decimals == 0:
        intervals = [_of_whole_numbers(low, high, column) for low, high in intervals]
    points = [low for low, high in intervals if low == high]
    if len(points) == len(intervals):
        return _points(sorted(set(points)))
    # beside an interval, a single point has probability 0
    merged: list[tuple[float, float]] = []
    for low, high in (part for part in intervals if part[0] < part[1]):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return INTERVALS, merged


def _interval(part: tuple[Any, ...], column: Column) -> tuple[float, float]:
    def is_end(end: Any) -> bool:
        return end is None or (isinstance(end, Real) and not isinstance(end, bool) and not math.isnan(as_float(end)))

    if len(part) != 2 or not all(is_end(end) for end in part):
        raise EvidenceTypeError(
            f"An interval for {column.name!r} is (low, high) with numbers or None for an open end, got {part!r}."
        )
    low = -math.inf if part[0] is None else as_float(part[0])
    high = math.inf if part[1] is None else as_float(part[1])
    if low > high or low == math.inf or high == -math.inf:
        raise EvidenceError(f"The interval {part!r} for {column.name!r} is empty: its low end is above its high end.")
    return low, high


def _of_whole_numbers(low: float, high: float, column: Column) -> tuple[float, float]:
    """The interval of values that round to the whole numbers between low and high."""
    first, last = np.ceil(low), np.floor(high)
    if first > last and column.kind is Kind.REAL:
        return low, high  # a float may lie between two whole numbers
    if first > last:
        raise EvidenceError(f"Column {column.name!r} holds integers and there is none between {low:g} and {high:g}.")
    return float(first) - 0.5, float(last) + 0.5


def merge(rows: Evidence, given: Evidence, matrix: np.ndarray) -> tuple[Evidence, np.ndarray]:
    """Rows joined with evidence by "and"; and which rows the evidence contradicts.

    `rows` are points (see `Evidence.points`) of `matrix`; `given` has one condition for each or one for all.
    """
    if len(given.kind) == 1:
        given = given.repeated(len(rows.kind))
    contradicted = np.zeros(len(matrix), np.bool_)
    for j in np.flatnonzero((given.kind != FREE).any(axis=0)).tolist():
        for i in np.flatnonzero((given.kind[:, j] != FREE) & (rows.kind[:, j] != FREE)).tolist():
            contradicted[i] |= not _contains(given, i, j, matrix[i, j])
    take = rows.kind == FREE
    merged = given._replace(
        kind=np.where(take, given.kind, rows.kind).astype(np.int8), value=np.where(take, given.value, rows.value)
    )
    return merged, contradicted


def _contains(evidence: Evidence, i: int, j: int, x: float) -> bool:
    kind = evidence.kind[i, j]
    if math.isnan(x):
        return kind == IS_MISSING
    if kind == POINT:
        return x == evidence.value[i, j]
    part = slice(evidence.start[i, j], evidence.stop[i, j])
    return kind != IS_MISSING and bool(np.any((evidence.low[part] <= x) & (x <= evidence.high[part])))
