"""Products and ratios of two columns, and of three where columns are few, with a constant factor.

1. In logs a product is a sum. It is looked for in the steps between two dozen random rows, in which a constant factor
   falls out; candidates are held against a sample, then against all rows.
2. c = k a b, a = c / (k b) and b = c / (k a) are the same but for rounding: the first of them is told that all rows
   keep within the rounding of what is on its left. What has most decimals is tried first, as it was computed.
3. Where none is, the product may hold loosely.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np

from countarfactuals.relations.formula import (
    MOST_RELATIVE,
    Formula,
    exact,
    loose,
    middle_ratio,
    shortest_between,
    tightest,
)
from countarfactuals.relations.relation import Naming, number_text
from countarfactuals.relations.searched_table import Table

_ROWS, _FEWEST_KNOWN = 24, 6
_MOST_COLUMNS = {2: 300, 3: 25}  # by the number of factors: beyond these there are too many choices
_NEAR, _LEAST_SPREAD = 2.0 * MOST_RELATIVE, 0.02
_LEAST_KNOWN = 0.3  # share of rows with a log


@dataclass(frozen=True)
class Product(Formula):
    """total = factor · Π part^exponent, exponents being 1 and −1."""

    exponents: tuple[int, ...] = ()
    factor: float = 1.0

    kind: ClassVar[str] = "product"

    def value(self, rows: np.ndarray) -> np.ndarray:
        """By row the product."""
        value = np.full(len(rows), self.factor)
        with np.errstate(all="ignore"):
            for j, exponent in zip(self.parts, self.exponents, strict=True):
                value = value * rows[:, j] if exponent > 0 else value / rows[:, j]
        return np.where(np.isfinite(value), value, np.nan)

    def text(self, words: Naming) -> str:
        """The product, as `a × b` or `100 × a / b`."""
        above = [words.name(j) for j, exponent in zip(self.parts, self.exponents, strict=True) if exponent > 0]
        below = [words.name(j) for j, exponent in zip(self.parts, self.exponents, strict=True) if exponent < 0]
        factor = [number_text(self.factor)] if self.factor != 1.0 else []
        text = " × ".join([*factor, *above])
        return " / ".join([text, *below])


def find_products(table: Table, multiples: Mapping[int, int]) -> list[Formula]:
    """The products and ratios of a table, loose ones last.

    With a multiple in its place a product is the same: `multiples` say of which column each is, and of such products
    that with the shortest factor is told.
    """
    found: dict[frozenset[int], Product] = {}
    near: list[Formula] = []
    for candidate in _candidates(table):
        columns = frozenset(multiples.get(j, j) for j in candidate.columns)
        if any(others < columns for others in found):
            continue
        formula = _exact_form(table, candidate) if len(columns) == len(candidate.columns) else None
        if formula is not None:
            found[columns] = min(found.get(columns, formula), formula, key=_n_digits)
        else:
            near += _loose_form(table, candidate)
    return [*{product.total: product for product in reversed(found.values())}.values(), *tightest(near)]


def _n_digits(product: Product) -> int:
    return len(number_text(product.factor))


class _Candidate(NamedTuple):
    total: int
    parts: tuple[int, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        return (*self.parts, self.total)


def _candidates(table: Table) -> Iterator[_Candidate]:
    """Columns of which the log is about the sum of two or three others' and a constant, in a sample."""
    logs = _logs(table.sample)
    known = np.count_nonzero(logs == logs, axis=1)
    at = np.array([j for j in table.numbers if known[j] >= _LEAST_KNOWN * logs.shape[1]], np.intp)
    spread = np.nanstd(logs[at], axis=1)
    at, spread = at[spread > _LEAST_SPREAD], spread[spread > _LEAST_SPREAD]
    for n_parts, most_columns in _MOST_COLUMNS.items():
        if n_parts < len(at) <= most_columns:
            parts = np.array(list(combinations(range(len(at)), n_parts)), np.intp)
            yield from _about_sums(logs[at], spread, at, parts)


def _about_sums(logs: np.ndarray, spread: np.ndarray, at: np.ndarray, parts: np.ndarray) -> Iterator[_Candidate]:
    steps = np.diff(logs[:, :_ROWS], axis=1)
    sums, room = steps[parts].sum(axis=1), spread[parts].min(axis=1)
    for total in range(len(at)):
        off = np.abs(sums - steps[total])
        most = np.minimum(np.minimum(room, spread[total]), _NEAR)
        n_present = np.count_nonzero(off == off, axis=1)
        good = (n_present >= _FEWEST_KNOWN) & (np.count_nonzero(off > most[:, None], axis=1) <= 2)
        chosen = np.flatnonzero(good & (parts != total).all(axis=1))
        for k in chosen[_held(logs, total, parts[chosen], 0.5 * most[chosen])].tolist():
            yield _Candidate(int(at[total]), tuple(at[parts[k]].tolist()))


def _logs(cells: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        logs = np.log(np.abs(cells))
    return np.where(np.isfinite(logs), logs, np.nan)


def _held(logs: np.ndarray, total: int, parts: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Which parts have the total as their product in nearly all rows of the sample, about."""
    if len(parts) == 0:
        return np.empty(0, np.intp)
    rest = logs[parts].sum(axis=1) - logs[total]
    off = np.abs(rest - np.nanmedian(rest, axis=1, keepdims=True))
    n_present = np.count_nonzero(off == off, axis=1)
    return np.flatnonzero(np.count_nonzero(off > most[:, None], axis=1) <= 0.05 * n_present)


def _exact_form(table: Table, candidate: _Candidate) -> Product | None:
    total, parts = candidate
    forms = [(total, parts, (1,) * len(parts))]
    for left in parts:
        others = tuple(j for j in parts if j != left)
        forms.append((left, (total, *others), (1, *(-1 for _ in others))))
    for left, right, exponents in sorted(forms, key=lambda form: -_precision(table, form[0])):
        factor = _factor(table, left, right, exponents)
        if factor is None:
            continue
        decimals = table.schema.columns[left].decimals
        formula = exact(table, Product(left, right, decimals, exponents=exponents, factor=factor))
        if formula is not None:
            return formula
    return None


def _precision(table: Table, j: int) -> float:
    decimals = table.schema.columns[j].decimals
    return np.inf if decimals is None else float(decimals)


def _factor(table: Table, total: int, parts: tuple[int, ...], exponents: tuple[int, ...]) -> float | None:
    """The shortest factor that explains nearly all rows within the rounding of the total."""
    value = Product(total, parts, exponents=exponents).value(table.sample.T)
    present = np.isfinite(value) & (value != 0.0) & ~np.isnan(table.sample[total])
    if present.sum() < _FEWEST_KNOWN:
        return None
    value, cells, half = value[present], table.sample[total][present], float(table.rounding[total])
    ends = np.sort([(cells - half) / value, (cells + half) / value], axis=0)
    few = 1.0 / len(value) if len(value) > 100 else 0.0  # one exception may be in the sample
    low, high = np.quantile(ends[0], 1.0 - few), np.quantile(ends[1], few)
    if low > high:
        return None
    return 1.0 if low <= 1.0 <= high else shortest_between(float(low), float(high))


def _loose_form(table: Table, candidate: _Candidate) -> list[Formula]:
    total, parts = candidate
    decimals, exponents = table.schema.columns[total].decimals, (1,) * len(parts)
    with np.errstate(all="ignore"):
        value = Product(total, parts, exponents=exponents).value(table.cells.T)
        factor = middle_ratio(table.cells[total] / value)
    if not factor:
        return []
    formula = loose(table, Product(total, parts, decimals, exponents=exponents, factor=factor), is_relative=True)
    return [] if formula is None else [formula]
