"""Random schemas, rows and constraints; and a twin that judges one row at a time, in the user's values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from countarfactuals import MISSING
from countarfactuals.constraints import Constraints, Limits
from countarfactuals.schema import Column, Kind, Schema

LEVELS = {
    Kind.BOOLEAN: [(False, True)],
    Kind.CATEGORY: [("a", "b", "c"), ("c", "a", "b"), ("x", "y"), ("only",), (1, 0)],
    Kind.ORDERED: [("low", "mid", "high"), ("high", "mid", "low"), (0, 1)],
}
NUMBERS = {Kind.INTEGER: [-1.0, 0.0, 1.0, 2.0, 3.0], Kind.REAL: [-1.0, 0.0, 0.5, 1.0, 2.25]}
STEPS = (0.5, 1, 2.0, "±0.5", "±1")
CHANGES = {
    "number": [(0, 1), (None, 1.5), (-1, None), (-0.3, 1), 1, "50%", ("-50%", "200%"), (1, 2), (0, "100%")],
    "ordered": [(0, 1), (-1, None), 1, (None, -1)],
}
SIGNS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


class Case(NamedTuple):
    schema: Schema
    x: np.ndarray
    rows: np.ndarray
    said: dict[str, Any]

    @property
    def limits(self) -> Limits:
        return Constraints(**self.said).bind(self.schema, self.x)


# Drawing


@st.composite
def columns(draw, j: int) -> Column:
    kind = draw(st.sampled_from(Kind))
    levels = draw(st.sampled_from(LEVELS[kind])) if kind in LEVELS else ()
    return Column(f"c{j}", kind, levels, 0 if kind is Kind.INTEGER else None)


def codes(column: Column):
    values = NUMBERS[column.kind] if column.is_number else [float(code) for code in range(column.n_levels)]
    return st.sampled_from([*values, np.nan] if values else [np.nan])


@st.composite
def cases(draw) -> Case:
    schema = Schema(tuple(draw(columns(j)) for j in range(draw(st.integers(1, 5)))), "pandas")
    x = np.array([draw(codes(column)) for column in schema.columns])
    rows = np.array(
        [
            [draw(st.one_of(st.just(own), codes(column))) for own, column in zip(x, schema.columns, strict=True)]
            for _ in range(draw(st.integers(0, 8)))
        ]
    ).reshape(-1, len(x))
    return Case(schema, x, rows, draw(constraints(schema, x)))


def sometimes(draw, strategy, otherwise):
    return draw(strategy) if draw(st.booleans()) else otherwise


@st.composite
def constraints(draw, schema: Schema, x: np.ndarray) -> dict[str, Any]:
    names = list(schema.names)
    free = draw(st.sampled_from(names))  # in no group and not fixed, so that not everything is fixed
    others = [name for name in names if name != free]
    numbers = [column for column in schema.columns if column.is_number]
    ranged = [column for column in schema.columns if column.is_number or column.kind is Kind.ORDERED]
    ordered = [column.name for column in schema.columns if column.kind is not Kind.CATEGORY]
    binary = [
        column.name
        for j, column in enumerate(schema.columns)
        if (set(column.levels) <= {0, 1} and column.levels)
        or (column.is_number and (np.isnan(x[j]) or x[j] in (0.0, 1.0)))
    ]
    allow_missing = draw(st.booleans())
    sets = st.lists(st.lists(st.sampled_from(others or [free]), min_size=2, max_size=3, unique=True), max_size=2)
    one_hot = st.lists(st.sampled_from(binary or [free]), min_size=2, max_size=3, unique=True)
    ways = st.sampled_from(["increase", "decrease"])
    said = {
        "fixed": sometimes(draw, st.sets(st.sampled_from(others)), ()) if others else (),
        "ranges": {column.name: draw(ranges(column)) for column in ranged if draw(st.integers(0, 3)) == 0},
        "change": {column.name: draw(changes(column)) for column in ranged if draw(st.integers(0, 3)) == 0},
        "steps": {column.name: draw(st.sampled_from(STEPS)) for column in numbers if draw(st.integers(0, 3)) == 0},
        "allowed": {
            column.name: draw(levels(column, allow_missing))
            for column in schema.columns
            if draw(st.integers(0, 2)) == 0
        },
        "direction": {name: draw(ways) for name in ordered if draw(st.integers(0, 2)) == 0},
        "max_changed": sometimes(draw, st.integers(1, 6), None),
        "rules": draw(st.lists(rules(schema), max_size=3)),
        "groups": draw(sets) if len(others) > 1 else [],
        "exactly_one": [draw(one_hot)] if len(binary) > 1 and draw(st.booleans()) else [],
        "weights": {column.name: draw(st.floats(0.1, 9) | st.sampled_from(["hard", "easy"])) for column in numbers},
        "allow_missing": allow_missing,
    }
    said["rules"] = [rule for rule in said["rules"] if rule is not None]
    varied = draw(st.sets(st.sampled_from(names), min_size=1)) | {free}
    said["vary"] = sometimes(draw, st.just(sorted(varied - set(said["fixed"]))), None)
    if others and draw(st.integers(0, 3)) == 0:
        still = draw(st.sampled_from(others))
        if still not in (said["vary"] or ()):
            said["weights"][still] = "immutable"
    return said


@st.composite
def ranges(draw, column: Column):
    ends = [*NUMBERS[column.kind], 0.3] if column.is_number else range(column.n_levels)
    low, high = sorted(draw(st.tuples(st.sampled_from(ends), st.sampled_from(ends))))
    if low == high == 0.3:
        low = 0.0  # no integer lies there
    if not column.is_number:
        low, high = column.levels[low], column.levels[high]
    return sometimes(draw, st.none(), low), sometimes(draw, st.none(), high)


def changes(column: Column):
    return st.sampled_from(CHANGES["number" if column.is_number else "ordered"])


@st.composite
def levels(draw, column: Column, allow_missing: bool):
    values = NUMBERS[column.kind] if column.is_number else column.levels
    ends = st.lists(st.sampled_from([*values, MISSING] if allow_missing else values), max_size=3)
    if draw(st.booleans()):
        return draw(ends.filter(len))
    starts = draw(st.lists(st.sampled_from([*values, MISSING]), min_size=1, unique=True))
    return {start: draw(ends) for start in starts}


class Known:
    """A rule as a function: the column has a value."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, frame):
        return frame[self.name].notna()


@st.composite
def rules(draw, schema: Schema):
    one = draw(st.sampled_from(schema.columns))
    others = [other for other in schema.columns if other is not one and signs(one, other)]
    if not others or draw(st.integers(0, 3)) == 0:
        return Known(one.name) if draw(st.booleans()) else None
    other = draw(st.sampled_from(others))
    return one.name, draw(st.sampled_from(signs(one, other))), other.name


def signs(one: Column, other: Column) -> list[str]:
    """How two columns may be compared."""
    if one.is_number or other.is_number:
        return list(SIGNS) if one.is_number and other.is_number else []
    if Kind.CATEGORY not in (one.kind, other.kind) and one.levels == other.levels:
        return list(SIGNS)
    return ["==", "!="] if set(one.levels) == set(other.levels) else []


# The twin


def values_of(schema: Schema, row: np.ndarray) -> dict[str, Any]:
    return {column.name: column.decode(code) for column, code in zip(schema.columns, row.tolist(), strict=True)}


def is_one_of(value: Any, collection) -> bool:
    """Whether a value (None for a missing cell) is in what a user lists."""
    return any(value is None if one is MISSING else value is not None and value == one for one in collection)


def opposite(end: Any) -> Any:
    return f"-{end}" if isinstance(end, str) else -end


def amount(own: Fraction, end: Any) -> Fraction:
    return abs(own) * Fraction(end[:-1]) / 100 if isinstance(end, str) else Fraction(str(end))


def judge(case: Case, row: np.ndarray) -> dict[str, bool]:
    """Name of each constraint, and whether the row violates it."""
    schema, said = case.schema, case.said
    old, new = values_of(schema, case.x), values_of(schema, row)
    column = {column.name: column for column in schema.columns}
    changed = {name for name in old if old[name] != new[name]}  # None == None

    def rank(name: str, value: Any) -> Any:
        return value if column[name].is_number else column[name].levels.index(value)

    def listed(names) -> str:
        return ", ".join(name for name in schema.names if name in names)

    verdict = {}
    for name in said["fixed"]:
        verdict[f"fixed: {name}"] = name in changed
    if said["vary"] is not None:
        for name in schema.names:
            if name not in said["vary"]:
                verdict[f"not varied: {name}"] = name in changed
    for name, (low, high) in said["ranges"].items():
        inside = new[name] is not None
        inside = inside and (low is None or rank(name, low) <= rank(name, new[name]))
        inside = inside and (high is None or rank(name, new[name]) <= rank(name, high))
        verdict[f"range: {name}"] = name in changed and not inside
    for name, ends in said["change"].items():
        low, high = ends if isinstance(ends, tuple) else (opposite(ends), ends)
        wrong = name in changed and new[name] is None
        if name in changed and None not in (new[name], old[name]):
            own, moved = Fraction(str(rank(name, old[name]))), Fraction(str(rank(name, new[name])))
            wrong = low is not None and moved < own + amount(own, low)
            wrong = wrong or (high is not None and moved > own + amount(own, high))
        verdict[f"change: {name}"] = wrong
    for name, step in said["steps"].items():
        wrong = name in changed and new[name] is None
        if name in changed and not wrong and (old[name] is not None or not isinstance(step, str)):
            start = Fraction(str(old[name])) if isinstance(step, str) else 0
            places = (Fraction(str(new[name])) - start) / Fraction(str(step).lstrip("±"))
            wrong = places.denominator != 1
        verdict[f"step: {name}"] = wrong
    for name, allowed in said["allowed"].items():
        if isinstance(allowed, dict):
            ways = [ends for start, ends in allowed.items() if is_one_of(old[name], [start])]
            allowed = ways[0] if ways else []
        verdict[f"allowed: {name}"] = name in changed and not is_one_of(new[name], allowed)
    for name, way in said["direction"].items():
        wrong = False
        if name in changed and old[name] is not None:
            wrong = new[name] is None or (rank(name, new[name]) > rank(name, old[name])) != (way == "increase")
        verdict[f"direction: {name}"] = wrong
    if said["max_changed"] is not None:
        verdict["max_changed"] = len(changed) > said["max_changed"]
    for number, rule in enumerate(said["rules"], start=1):
        if callable(rule):
            verdict[f"rule {number}: Known"] = new[rule.name] is None
            continue
        a, sign, b = rule
        known = new[a] is not None and new[b] is not None
        by_value = sign in ("==", "!=")
        left, right = (new[a], new[b]) if by_value or not known else (rank(a, new[a]), rank(b, new[b]))
        verdict[f"rule {number}: {a} {sign} {b}"] = known and not SIGNS[sign](left, right)
    for names in said["groups"]:
        verdict[f"group: {listed(names)}"] = any(name in changed for name in names) and not changed.issuperset(names)
    for names in said["exactly_one"]:
        cells = [new[name] for name in names]
        ones = sum(cell is not None and cell == 1 for cell in cells)
        other = any(cell is not None and cell not in (0, 1) for cell in cells)
        verdict[f"exactly_one: {listed(names)}"] = other or ones > 1 or (ones == 0 and None not in cells)
    for name, weight in said["weights"].items():
        if weight == "immutable":
            verdict[f"immutable: {name}"] = name in changed
    if not said["allow_missing"]:
        for name in schema.names:
            if old[name] is not None:
                verdict[f"missing: {name}"] = new[name] is None
    return verdict
