"""Relations that all rows of a table keep and that chance would break.

Sought in coded rows (numbers, positions of levels, NaN for a gap):

1. order: a ≤ b.
2. equation: c is a linear function of one to three other numbers (sums, differences, rates, age = schooling + work + 6)
   or of a product of two, up to 1 % of c's range in every row and to 0.01 % of its variance.
3. implication: where a has this value, b has that one; a gap counts as a value.
4. split: the ranges of a number within the levels of a category do not overlap.

A relation counts if columns shuffled apart would break it at least 15 times in the rows it was found in, and if rows
that were not searched keep it as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

EVIDENCE, TOLERANCE, PROBES, MOST_VALUES = 15, 0.01, 60, 20
_GAP = -1e300
Breaks = Callable[[np.ndarray], np.ndarray]


class Relation(NamedTuple):
    """What it says, and which coded rows break it."""

    name: str
    breaks: Breaks


def find_relations(train: np.ndarray, confirm: np.ndarray, names: list[str], is_level: np.ndarray) -> list[Relation]:
    """Relations of the rows in `train` that those in `confirm` keep."""
    rng = np.random.default_rng(0)
    shuffled = np.column_stack([rng.permutation(column) for column in train.T])
    numbers = [j for j in np.flatnonzero(~is_level) if len(np.unique(train[:, j])) > 2]
    kinds = (
        _orders(train, numbers, names),
        _equations(train, numbers, names),
        _implications(train, names),
        _splits(train, np.flatnonzero(is_level), numbers, names),
    )
    return [
        found
        for kind in kinds
        for found in kind
        if not found.breaks(train).any()
        and found.breaks(shuffled).sum() >= EVIDENCE
        and not found.breaks(confirm).any()
    ]


def broken(relations: list[Relation], rows: np.ndarray, originals: np.ndarray) -> np.ndarray:
    """Rows that break a relation which their originals keep."""
    found = np.zeros(len(rows), bool)
    for relation in relations:
        found |= relation.breaks(rows) & ~relation.breaks(originals)
    return found


def _orders(data: np.ndarray, numbers: list[int], names: list[str]) -> Iterator[Relation]:
    for a, b in permutations(numbers, 2):
        if not (data[:, a] > data[:, b]).any():
            yield Relation(f"{names[a]} <= {names[b]}", lambda rows, a=a, b=b: rows[:, a] > rows[:, b])


def _equations(data: np.ndarray, numbers: list[int], names: list[str]) -> Iterator[Relation]:
    """Fitted to a few rows first: nearly all of the many sets of columns fail there."""
    terms = [(set(some), _linear(some)) for k in (1, 2, 3) for some in combinations(numbers, k)]
    terms += [(set(some), _product(*some)) for some in combinations(numbers, 2)]
    known: set[int] = set()  # results of shorter equations: a longer one would say the same again
    for used, design in terms:
        left = [c for c in numbers if c not in used and c not in known and not used & known]
        for c in _fitting(data, design, left):
            relation = _equation(data, design, c, " and ".join(names[a] for a in sorted(used)), names[c])
            if relation is not None:
                known.add(c)
                yield relation


def _linear(columns: tuple[int, ...]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda rows: np.column_stack([np.ones(len(rows)), rows[:, list(columns)]])


def _product(a: int, b: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda rows: np.column_stack([np.ones(len(rows)), rows[:, a] * rows[:, b]])


def _fitting(data: np.ndarray, design: Callable[[np.ndarray], np.ndarray], left: list[int]) -> list[int]:
    """Which of the columns may be given by the design, by a few rows of those without gaps."""
    if not left:
        return []
    some = data[:PROBES]
    terms, values = np.nan_to_num(design(some)), np.nan_to_num(some[:, left])
    weights = (~np.isnan(design(some)).any(axis=1)).astype(float)[:, None]
    fit = np.linalg.lstsq(terms * weights, values * weights, rcond=None)[0]
    error = np.abs(terms @ fit - values) * weights * ~np.isnan(some[:, left])
    spread = np.nanmax(data[:, left], axis=0) - np.nanmin(data[:, left], axis=0)
    return [c for c, largest, range_ in zip(left, error.max(axis=0), spread, strict=True) if largest <= range_ / 10]


def _equation(
    data: np.ndarray, design: Callable[[np.ndarray], np.ndarray], c: int, of: str, name: str
) -> Relation | None:
    known = ~np.isnan(design(data)).any(axis=1) & ~np.isnan(data[:, c])
    if known.sum() < 3 * EVIDENCE:
        return None
    rows = data[known]
    fit = np.linalg.lstsq(design(rows), rows[:, c], rcond=None)[0]
    error, spread = np.abs(design(rows) @ fit - rows[:, c]).max(), np.ptp(rows[:, c])
    if error > TOLERANCE * spread or _explained(rows[:, c], design(rows)) < 1.0 - TOLERANCE**2:
        return None
    most = 1.5 * error + 1e-9 * spread
    return Relation(f"{name} by {of}", lambda some: np.abs(design(some) @ fit - some[:, c]) > most)


def _explained(values: np.ndarray, design: np.ndarray) -> float:
    """Share of the variance that a linear fit explains: a narrow error may be due to a few far values alone."""
    fit = np.linalg.lstsq(design, values, rcond=None)[0]
    return 1.0 - float(np.var(values - design @ fit) / max(np.var(values), 1e-300))


def _implications(data: np.ndarray, names: list[str]) -> Iterator[Relation]:
    filled = np.where(np.isnan(data), _GAP, data)
    for a in range(data.shape[1]):
        values, counts = np.unique(filled[:, a], return_counts=True)
        frequent = values[np.argsort(-counts, kind="stable")[:MOST_VALUES]]
        for value in frequent[np.isin(frequent, values[counts >= 2 * EVIDENCE])]:
            group = filled[filled[:, a] == value]
            for b in np.flatnonzero((group == group[0]).all(axis=0)):
                if b != a:
                    yield _implication(a, value, int(b), group[0, b], names)


def _implication(a: int, value: float, b: int, only: float, names: list[str]) -> Relation:
    def breaks(rows: np.ndarray) -> np.ndarray:
        some = np.where(np.isnan(rows[:, [a, b]]), _GAP, rows[:, [a, b]])
        return (some[:, 0] == value) & (some[:, 1] != only)

    return Relation(f"{names[a]} = {value:g} -> {names[b]} = {only:g}", breaks)


def _splits(data: np.ndarray, levels: np.ndarray, numbers: list[int], names: list[str]) -> Iterator[Relation]:
    for a in levels:
        for b in numbers:
            both = data[~np.isnan(data[:, [a, b]]).any(axis=1)][:, [a, b]]
            known = np.unique(both[:, 0])
            ends = np.array([[np.min(own), np.max(own)] for own in (both[both[:, 0] == k, 1] for k in known)])
            order = np.argsort(ends[:, 0])
            low, high, known = ends[order, 0], ends[order, 1], known[order]
            if len(known) > 1 and (high[:-1] < low[1:]).all():
                yield _split(int(a), int(b), known, (high[:-1] + low[1:]) / 2, names)


def _split(a: int, b: int, known: np.ndarray, cuts: np.ndarray, names: list[str]) -> Relation:
    def breaks(rows: np.ndarray) -> np.ndarray:
        expected = known[np.searchsorted(cuts, rows[:, b])]
        present = ~np.isnan(rows[:, [a, b]]).any(axis=1)
        return present & np.isin(rows[:, a], known) & (rows[:, a] != expected)

    return Relation(f"{names[a]} splits {names[b]}", breaks)
