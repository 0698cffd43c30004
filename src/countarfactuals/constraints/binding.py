"""From what a user says to the parts of `Limits`: the checks against a schema and one row.

1. Each thing that is said becomes one part with a name for people, such as `range: income`.
2. Names and levels must be known to the schema, and each constraint must suit the kind of its column.
3. What contradicts itself for every row is an error. What leaves this one row no choice is not: the column can not
   change then, since the same constraints serve many rows.

This is done for every row that is explained, so it stays far below a millisecond.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from countarfactuals.exceptions import ConstraintError, DataError, DataTypeError, listed
from countarfactuals.schema import Column, Kind, Schema, described

from .limits import Limits
from .parts import CellLimit, Comparison, ExactlyOne, Group, MaxChanged, Part, Rule
from .wording import function_name, is_missing

if TYPE_CHECKING:
    from .language import Constraints

DIRECTIONS = ("increase", "decrease")
_IN_ORDER = (Kind.ORDERED, Kind.BOOLEAN)


def bound(said: Constraints, schema: Schema, x: np.ndarray) -> Limits:
    """The limits that `said` sets to changes of the row `x`."""
    row = np.array(x, np.float64)
    if row.shape != (len(schema.columns),):
        raise DataError(f"The row must be one-dimensional with {len(schema.columns)} cell(s), got shape {row.shape}.")
    parts = _with_own_names(_parts(said, schema, row))
    _refuse_all_fixed(parts, schema)
    return Limits.of(schema, row, parts, _weights(said.weights, schema), bool(said.allow_missing))


def _parts(said: Constraints, schema: Schema, x: np.ndarray) -> Iterator[Part]:
    for j in dict.fromkeys(_index(name, schema, "fixed") for name in said.fixed):
        yield CellLimit(f"fixed: {schema.columns[j].name}", j, np.inf, -np.inf)
    for name, ends in said.ranges.items():
        j = _index(name, schema, "ranges")
        low, high = _ends(ends, schema.columns[j])
        yield CellLimit(f"range: {name}", j, low, high)
    for name, levels in said.allowed.items():
        j = _index(name, schema, "allowed")
        yield _allowed(f"allowed: {name}", j, levels, schema.columns[j], x[j], bool(said.allow_missing))
    for name, way in said.direction.items():
        j = _index(name, schema, "direction")
        yield _direction(f"direction: {name}", j, way, schema.columns[j], float(x[j]))
    if said.max_changed is not None:
        yield MaxChanged("max_changed", min(said.max_changed, len(x)))
    for number, rule in enumerate(said.rules, start=1):
        yield _rule(number, rule, schema)
    for columns in _column_sets(said.groups, schema, "groups"):
        yield Group(f"group: {_labels(columns, schema)}", columns)
    for columns in _column_sets(said.exactly_one, schema, "exactly_one"):
        yield _exactly_one(columns, schema, x)
    if not said.allow_missing:
        for j in np.flatnonzero(~np.isnan(x)).tolist():
            yield CellLimit(f"missing: {schema.columns[j].name}", j)


def _with_own_names(parts: Iterable[Part]) -> list[Part]:
    """The parts with names made different, as columns 1 and "1" would share one."""
    named: dict[str, Part] = {}
    for part in parts:
        name, number = part.name, 2
        while name in named:
            name, number = f"{part.name} ({number})", number + 1
        named[name] = part if name == part.name else replace(part, name=name)
    return list(named.values())


def _index(name: Any, schema: Schema, where: str) -> int:
    try:
        return schema.index(name)
    except DataError as error:
        raise ConstraintError(f"`{where}`: {error}") from None
    except TypeError:
        raise ConstraintError(
            f"`{where}` must name columns, got {name!r} of type {type(name).__name__}; known columns: "
            f"{listed(schema.names)}."
        ) from None


def _code(level: Any, column: Column, where: str) -> float:
    if pd.api.types.is_scalar(level) and pd.isna(level):
        raise ConstraintError(f"`{where}` of {column.name!r} names {level!r}. Say MISSING for a missing cell.")
    try:
        return column.encode(level)
    except (DataError, DataTypeError) as error:
        raise ConstraintError(f"`{where}`: {error}") from None


def _codes(levels: Collection[Any], column: Column) -> list[float]:
    """Codes of levels; NaN for MISSING."""
    known = column.codes
    try:
        return [float(known[level]) for level in levels]
    except (KeyError, TypeError):
        return [math.nan if is_missing(level) else _code(level, column, "allowed") for level in levels]


def _ends(ends: Sequence[Any], column: Column) -> tuple[float, float]:
    if column.is_number:
        low, high = (_number(end, column, open_end) for end, open_end in zip(ends, (-np.inf, np.inf), strict=True))
    elif column.kind is Kind.ORDERED:
        low = 0.0 if ends[0] is None else _code(ends[0], column, "ranges")
        high = column.n_levels - 1.0 if ends[1] is None else _code(ends[1], column, "ranges")
    else:
        raise ConstraintError(
            f"`ranges` has {column.name!r}, which is of kind {column.kind} and has no range. Say "
            f"allowed={{{column.name!r}: […]}} with some of its levels {listed(column.levels)}."
        )
    if low > high or low == np.inf or high == -np.inf:
        raise ConstraintError(
            f"The range {tuple(ends)!r} of {column.name!r} is empty: its low end is above its high end. Swap them."
        )
    if column.kind is Kind.INTEGER:
        low, high = float(np.ceil(low)), float(np.floor(high))
    if low > high or not _has_value(low, high, column):
        what = "integers" if column.kind is Kind.INTEGER else f"numbers with {column.decimals} decimal(s)"
        what = described(column) if column.is_restricted else what
        raise ConstraintError(
            f"The range {tuple(ends)!r} of {column.name!r} is empty: the column holds {what} and there is none in "
            "between. Widen it."
        )
    return low, high


def _has_value(low: float, high: float, column: Column) -> bool:
    """Whether a value that the column can hold lies between the ends, or these lie outside of all that occur."""
    if column.values and (high < column.values[0] or low > column.values[-1]):
        return True  # as with any range that the data does not reach: the column keeps x's value
    if column.is_restricted:
        return column.permitted.between(low, high)
    step = column.unit
    if step == 0.0 or not np.isfinite(low) or not np.isfinite(high):
        return True
    scale = np.rint(1.0 / step)
    nearest = np.rint(low * scale)
    return bool(any(low <= point / scale <= high for point in (nearest, nearest + 1.0)))


def _number(end: Any, column: Column, open_end: float) -> float:
    if end is None:
        return open_end
    if isinstance(end, bool | np.bool_) or not isinstance(end, Real) or end != end:
        raise ConstraintError(
            f"The range of {column.name!r} ({column.kind}) needs numbers as ends, or None for an open one; got {end!r}."
        )
    try:
        return float(end)
    except OverflowError:
        raise ConstraintError(
            f"The range of {column.name!r} has an end that is too large for a number. Say None for an open one."
        ) from None


def _allowed(name: str, j: int, levels: Any, column: Column, x: float, allow_missing: bool) -> CellLimit:
    if column.is_number:
        raise ConstraintError(
            f"`allowed` has {column.name!r}, which holds numbers ({column.kind}) and no levels. Say "
            f"ranges={{{column.name!r}: (low, high)}}."
        )
    if isinstance(levels, Mapping):
        starts = _codes(levels.keys(), column)
        ways = {None if math.isnan(start) else start: ends for start, ends in zip(starts, levels.values(), strict=True)}
        coded = {start: _codes(ends, column) for start, ends in ways.items()}
        lists_missing = any(start is not None and math.isnan(end) for start, ends in coded.items() for end in ends)
        codes = coded.get(None if math.isnan(x) else float(x), [])
    else:
        codes = _codes(levels, column)
        lists_missing = any(map(math.isnan, codes))
    if lists_missing and not allow_missing:
        raise ConstraintError(
            f"`allowed` lets {column.name!r} become MISSING, but `allow_missing` is False. Say allow_missing=True, or "
            "leave MISSING out."
        )
    mask = np.zeros(column.n_levels, np.bool_)
    mask[[int(code) for code in codes if not math.isnan(code)]] = True
    return CellLimit(name, j, levels=mask, missing_ok=any(map(math.isnan, codes)))


def _direction(name: str, j: int, way: str, column: Column, x: float) -> CellLimit:
    if column.kind is Kind.CATEGORY:
        raise ConstraintError(
            f"`direction` has {column.name!r}, a category whose levels have no order, so it can not {way}. Make it an "
            f"ordered category, tell its order by `fit(X, ordered={{{column.name!r}: [lowest, …]}})`, or say "
            f"allowed={{{column.name!r}: {{from: [to, …]}}}}."
        )
    if math.isnan(x):  # there is nothing to compare with
        return CellLimit(name, j)
    return CellLimit(name, j, low=x) if way == "increase" else CellLimit(name, j, high=x)


def _rule(number: int, rule: Any, schema: Schema) -> Comparison | Rule:
    if callable(rule):
        return Rule(f"rule {number}: {function_name(rule)}", rule, schema)
    left, sign, right = _index(rule[0], schema, "rules"), rule[1], _index(rule[2], schema, "rules")
    one, other = schema.columns[left], schema.columns[right]
    if left == right:
        raise ConstraintError(f"The rule {rule!r} compares {one.name!r} with itself. Name two columns.")
    if one.is_number and other.is_number:
        recode = None
    elif sign in ("==", "!=") and not one.is_number and set(one.levels) == set(other.levels):
        recode = np.array([one.codes[level] for level in other.levels], np.float64)
    elif one.kind in _IN_ORDER and other.kind in _IN_ORDER and one.levels == other.levels:
        recode = None
    else:
        raise ConstraintError(
            f"The rule {rule!r} can not compare {one.name!r} ({one.kind}) with {other.name!r} ({other.kind}). Numbers "
            "compare with numbers, ordered categories with those of the same levels in the same order, and other "
            "categories of the same levels only by == and !=. Write a function of the frame for anything else."
        )
    return Comparison(f"rule {number}: {one.name} {sign} {other.name}", left, sign, right, recode)


def _column_sets(sets: Iterable[Collection[Hashable]], schema: Schema, where: str) -> list[np.ndarray]:
    """Positions of each set's columns, ascending; the same set counts once."""
    found: dict[tuple[int, ...], np.ndarray] = {}
    for names in sets:
        columns = tuple(sorted({_index(name, schema, where) for name in names}))
        if len(columns) < 2:
            raise ConstraintError(
                f"An entry of `{where}` must name two or more columns, got {listed(names) or 'none'}."
            )
        found[columns] = np.array(columns)
    return list(found.values())


def _labels(columns: np.ndarray, schema: Schema) -> str:
    return ", ".join(str(schema.columns[j].name) for j in columns)


def _exactly_one(columns: np.ndarray, schema: Schema, x: np.ndarray) -> ExactlyOne:
    codes = []
    for j in columns.tolist():
        column = schema.columns[j]
        if column.is_number:
            fits, got = math.isnan(x[j]) or x[j] in (0, 1), f"is {x[j]:g} in this row"
            codes.append((0.0, 1.0))
        else:
            fits, got = {0, 1}.issuperset(column.levels), f"has the levels {listed(column.levels)}"
            codes.append((column.codes.get(0, math.nan), column.codes.get(1, math.nan)))
        if not fits:
            raise ConstraintError(
                f"`exactly_one` needs columns of 0 and 1, or False and True, but {column.name!r} {got}. Leave it out."
            )
    zero, one = np.array(codes, np.float64).T
    return ExactlyOne(f"exactly_one: {_labels(columns, schema)}", columns, zero, one)


def _weights(weights: Mapping[Hashable, float], schema: Schema) -> np.ndarray:
    by_column = np.ones(len(schema.columns))
    for name, weight in weights.items():
        by_column[_index(name, schema, "weights")] = weight
    largest = by_column.max()
    if largest == 0:
        raise ConstraintError("`weights` is 0 for every column, so that no change costs anything. Weigh one above 0.")
    by_column /= largest  # the sum of very large weights would overflow
    return by_column / by_column.sum()


def _refuse_all_fixed(parts: Sequence[Part], schema: Schema) -> None:
    """Refuse constraints under which no row at all could change; a group with a fixed column is fixed."""
    fixed = {part.column for part in parts if isinstance(part, CellLimit) and part.forbids_all}
    groups = [set(part.columns.tolist()) for part in parts if isinstance(part, Group)]
    before = -1
    while fixed and before != len(fixed):
        before = len(fixed)
        fixed.update(*(group for group in groups if not group.isdisjoint(fixed)))
    if len(fixed) == len(schema.columns):
        raise ConstraintError(
            "`fixed` and the `groups` of fixed columns leave no column that may change, so there is no counterfactual. "
            "Free at least one."
        )
