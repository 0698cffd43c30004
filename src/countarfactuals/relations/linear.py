"""Linear formulas: equal columns, constant multiples with an offset, and sums.

1. Of each pair, the slope is the median slope between random rows, which exceptions do not move. Rate and offset are
   the shortest numbers that explain all rows within their rounding.
2. Sums of two columns are looked for among all triples, in two dozen rows; candidates are held against a sample, then
   against all rows. A difference is the same sum. It is told of the column that stands last, which people compute from
   what stands before: `sale is price − discount`.
3. Longer sums are found by least squares of each column on all others, of which those with a part in it have ±1.
4. A sum that others give is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from countarfactuals.language import tr
from countarfactuals.relations.formula import Formula, exact, loose, middle_ratio, shortest_between, tightest
from countarfactuals.relations.relation import Naming, number_text
from countarfactuals.relations.searched_table import Table

_ROWS_OF_SLOPES, _ROWS_OF_SUMS = 120, 24
_FEWEST_KNOWN = 6
_MOST_COLUMNS = 300  # beyond which triples are too many
_NEAR = 0.25  # of the least spread: how far a candidate for a loose sum may be off
_MOST_PARTS = 12
_ROWS_OF_LEAST_SQUARES, _RIDGE, _EXPLAINED = 2000, 1e-9, 1e-3


@dataclass(frozen=True)
class Linear(Formula):
    """total = offset + Σ coefficient · part."""

    coefficients: tuple[float, ...] = ()
    offset: float = 0.0

    kind: ClassVar[str] = "linear"

    @property
    def is_multiple(self) -> bool:
        """Whether the total is a multiple of one other column, and nothing else."""
        return self.is_exact and len(self.parts) == 1 and self.offset == 0.0

    def _can_be_checked(self, words: Naming) -> bool:
        """Dates beside dates can be: what is counted from falls out of their differences."""
        dated = [bool(words.schema.columns[j].clock) for j in self.parts]
        if not any(dated):
            return super()._can_be_checked(words)
        weights = [weight for weight, is_date in zip(self.coefficients, dated, strict=True) if is_date]
        return sum(weights) == float(bool(words.schema.columns[self.total].clock)) and {*map(abs, weights)} == {1.0}

    def value(self, rows: np.ndarray) -> np.ndarray:
        """By row the sum."""
        value = np.full(len(rows), self.offset)
        for j, coefficient in zip(self.parts, self.coefficients, strict=True):
            value += coefficient * rows[:, j]
        return value

    def text(self, words: Naming) -> str:
        """The sum, as `a + 2 × b − c`."""
        terms = [
            (coefficient < 0, _term(abs(coefficient), words.name(j)))
            for j, coefficient in sorted(zip(self.parts, self.coefficients, strict=True), key=lambda term: term[1] < 0)
        ]
        if self.offset:
            terms.append((self.offset < 0, number_text(abs(self.offset))))
            terms.sort(key=lambda term: term[0])
        text = "".join(f"{' − ' if negative else ' + '}{term}" for negative, term in terms)
        return text.removeprefix(" + ").replace(" − ", "−", 1) if terms[0][0] else text.removeprefix(" + ")


def _term(coefficient: float, name: str) -> str:
    return name if coefficient == 1.0 else tr("{factor} × {name}", factor=number_text(coefficient), name=name)


def find_linear(table: Table) -> list[Formula]:
    """The linear formulas of a table: exact ones that do not follow from each other, then loose ones."""
    multiples, near = _multiples(table)
    sums, near_sums = _sums_of_two(table, table.numbers)
    found = _independent(table, [*multiples, *sums])
    standing = [j for j in table.numbers if j not in {formula.total for formula in found}]
    found = _independent(table, [*found, *_longer_sums(table, standing)])
    taken = {frozenset(formula.columns) for formula in found}
    rest = [formula for formula in tightest([*near, *near_sums]) if frozenset(formula.columns) not in taken]
    totals = {formula.total for formula in found}
    return [*found, *(formula for formula in rest if formula.total not in totals)]


# Multiples


def _multiples(table: Table) -> tuple[list[Formula], list[Formula]]:
    """Columns that are a multiple of an earlier one, with an offset; and those that nearly are."""
    found: list[Formula] = []
    near: list[Formula] = []
    totals: set[int] = set()
    for first, second in _parallel_pairs(table):
        if first in totals or second in totals:
            continue
        formula = _simpler(_line(table, second, first), _line(table, first, second))
        if formula is not None:
            found.append(formula)
            totals.add(formula.total)
        else:
            near += _near_multiple(table, second, first)
    return found, [formula for formula in near if not totals & set(formula.columns)]


def _parallel_pairs(table: Table) -> Iterator[tuple[int, int]]:
    """Pairs of columns of which nearly all rows of a sample lie on a line."""
    numbers = np.array(table.numbers, np.intp)
    if len(numbers) < 2:
        return
    sample = table.sample[numbers, :_ROWS_OF_SLOPES]
    steps, spread = np.diff(sample, axis=1), table.spread[numbers]
    for place, j in enumerate(numbers.tolist()):
        with np.errstate(all="ignore"):
            slopes = np.where(steps[place] != 0.0, steps[place + 1 :] / steps[place], np.nan)
            slope = _median(slopes)[:, None]
            rest = sample[place + 1 :] - slope * sample[place]
            off = np.abs(rest - _median(rest)[:, None])
            present = ~np.isnan(off)
            is_far = present & (off > 0.1 * spread[place + 1 :, None])
        good = (present.sum(axis=1) >= 20) & (is_far.sum(axis=1) <= 0.05 * present.sum(axis=1))
        yield from ((j, int(other)) for other in numbers[place + 1 :][good & (slope[:, 0] != 0.0)])


def _median(values: np.ndarray) -> np.ndarray:
    """By row the median of what is known; NaN where nothing is."""
    ascending = np.sort(values, axis=1)  # NaN last
    n = np.count_nonzero(~np.isnan(values), axis=1)
    middle = ascending[np.arange(len(values)), np.maximum(n - 1, 0) // 2]
    return np.where(n > 0, middle, np.nan)


def _line(table: Table, total: int, part: int) -> Linear | None:
    """total = rate · part + offset with the shortest numbers that explain nearly all rows; None if there are none."""
    y, x = table.cells[total], table.cells[part]
    present = table.present[total] & table.present[part]
    y, x = y[present], x[present]
    tight = float(table.rounding[total])
    fit = _least_squares_line(y, x)
    for tolerance in (tight, tight + abs(fit.rate) * float(table.rounding[part])):
        line = _shortest_line(y, x, fit, tolerance)
        if line is not None:
            decimals = table.schema.columns[total].decimals
            formula = Linear(total, (part,), decimals, coefficients=(line.rate,), offset=line.offset)
            return exact(table, formula, tolerance - tight)
    return None


def _simpler(later: Linear | None, earlier: Linear | None) -> Linear | None:
    """Of two ways to say the same the one with shorter numbers; the later column follows if they are alike."""
    if later is None or earlier is None:
        return later or earlier
    return later if _n_digits(later) <= _n_digits(earlier) else earlier


def _n_digits(formula: Linear) -> int:
    numbers = (formula.coefficients[0], formula.offset)
    return sum(len(repr(number).strip("-0").replace(".", "").rstrip("0")) for number in numbers)


class _Line(NamedTuple):
    rate: float
    offset: float


def _least_squares_line(y: np.ndarray, x: np.ndarray) -> _Line:
    """By least squares, twice: the second time without the two hundredth of rows that are farthest off."""
    rate, offset = np.polyfit(x - x.mean(), y, 1)
    off = np.abs(y - offset - rate * (x - x.mean()))
    kept = off <= np.quantile(off, 0.99)
    if np.ptp(x[kept]) > 0.0:
        rate, offset = np.polyfit(x[kept] - x.mean(), y[kept], 1)
    return _Line(float(rate), float(offset - rate * x.mean()))


def _shortest_line(y: np.ndarray, x: np.ndarray, fit: _Line, tolerance: float) -> _Line | None:
    off = np.abs(y - fit.rate * x - fit.offset)
    kept = off <= max(np.quantile(off, 0.99), tolerance)
    y, x = y[kept], x[kept]
    for digits in range(1, 13):
        rate = float(f"{fit.rate:.{digits}g}")
        rest = y - rate * x
        low, high = float(rest.max() - tolerance), float(rest.min() + tolerance)
        if rate and low <= high:
            return _Line(rate, shortest_between(low, high))
    return None


def _near_multiple(table: Table, total: int, part: int) -> list[Formula]:
    with np.errstate(all="ignore"):
        rate = middle_ratio(table.cells[total] / table.cells[part])
    if not rate:
        return []
    formula = loose(table, Linear(total, (part,), _decimals(table, total), coefficients=(rate,)), is_relative=True)
    return [] if formula is None else [formula]


def _decimals(table: Table, j: int) -> int | None:
    return table.schema.columns[j].decimals


# Sums


def _sums_of_two(table: Table, columns: Sequence[int]) -> tuple[list[Formula], list[Formula]]:
    """Columns that are, or nearly are, the sum of two others."""
    found: list[Formula] = []
    near: list[Formula] = []
    for total, first, second in _triples(table, columns):
        formula = Linear(total, (first, second), _decimals(table, total), coefficients=(1.0, 1.0))
        sum_ = exact(table, formula, float(table.rounding[first] + table.rounding[second]))
        sum_ = None if sum_ is None else _told_of_the_last(table, sum_)
        near_sum = None if sum_ else loose(table, formula, is_relative=False)
        found += [sum_] if sum_ else []
        near += [near_sum] if near_sum else []
    return found, near


def _told_of_the_last(table: Table, sum_: Linear) -> Linear:
    """A sum of two as a difference where a part stands last."""
    last, first = max(sum_.parts), min(sum_.parts)
    if last < sum_.total:
        return sum_
    parts = (first, sum_.total)
    slack = float(sum(table.rounding[j] for j in parts))
    formula = Linear(last, parts, _decimals(table, last), coefficients=(-1.0, 1.0))
    return exact(table, formula, slack) or sum_


def _triples(table: Table, columns: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Triples (total, part, part) that a sample lets be a sum."""
    if not 3 <= len(columns) <= _MOST_COLUMNS:
        return
    at = np.array(columns, np.intp)
    few = table.sample[at, :_ROWS_OF_SUMS]
    first, second = np.triu_indices(len(at), 1)
    pairs, spread, noise = few[first] + few[second], table.spread[at], table.noise[at]
    room = _NEAR * np.minimum(spread[first], spread[second])
    for place, total in enumerate(at.tolist()):
        off = np.abs(pairs - few[place])
        most = np.minimum(room, _NEAR * spread[place]) + noise[place]
        n_present = np.count_nonzero(off == off, axis=1)
        good = (n_present >= _FEWEST_KNOWN) & (np.count_nonzero(off > most[:, None], axis=1) <= 1)
        good &= (first != place) & (second != place)
        for k in _held(table, total, at[first[good]], at[second[good]]).tolist():
            yield total, int(at[first[good][k]]), int(at[second[good][k]])


def _held(table: Table, total: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Which of the pairs add up to the total in nearly all rows of the sample, about."""
    off = np.abs(table.sample[first] + table.sample[second] - table.sample[total])
    most = _NEAR * np.minimum(np.minimum(table.spread[first], table.spread[second]), table.spread[total])
    is_far = off > (most + table.noise[total])[:, None]
    return np.flatnonzero(np.count_nonzero(is_far, axis=1) <= 0.02 * off.shape[1])


def _longer_sums(table: Table, columns: Sequence[int]) -> Iterator[Formula]:
    """Columns that are the sum of three or more others, by signs; each found one leaves, as it would hide others."""
    left = list(columns)
    rows = _complete_rows(table, left)
    while len(left) > 3 and rows.shape[1] > 2 * len(left):
        formula = _explained(table, left, rows)
        if formula is None:
            return
        yield formula
        place = left.index(formula.total)
        left.remove(formula.total)
        rows = np.delete(rows, place, axis=0)


def _complete_rows(table: Table, columns: Sequence[int]) -> np.ndarray:
    rows = table.cells[:, :_ROWS_OF_LEAST_SQUARES][list(columns)]
    return np.asarray(rows[:, ~np.isnan(rows).any(axis=0)])


def _explained(table: Table, columns: Sequence[int], rows: np.ndarray) -> Formula | None:
    centred = rows - rows.mean(axis=1, keepdims=True)
    size = np.sqrt((centred**2).mean(axis=1))
    used = size > 0.0
    scaled = centred[used] / size[used, None]
    inverse = np.linalg.inv(scaled @ scaled.T / scaled.shape[1] + _RIDGE * np.eye(len(scaled)))
    at = np.flatnonzero(used)
    for k in np.argsort(-np.diag(inverse), kind="stable").tolist():
        if 1.0 / inverse[k, k] > _EXPLAINED:
            return None
        coefficients = -inverse[k] / inverse[k, k] * size[at[k]] / size[used]
        formula = _unit_sum(table, columns, at, k, coefficients)
        if formula is not None:
            return formula
    return None


def _unit_sum(table: Table, columns: Sequence[int], at: np.ndarray, k: int, coefficients: np.ndarray) -> Formula | None:
    """The sum that coefficients near ±1 tell, solved for the column that is alone on its side."""
    signs = np.where(np.abs(np.abs(coefficients) - 1.0) < 0.2, np.sign(coefficients), 0.0)
    signs[k] = -1.0
    parts = np.flatnonzero(signs)
    if not 4 <= len(parts) <= _MOST_PARTS + 1:
        return None
    signed = {columns[at[place]]: float(signs[place]) for place in parts.tolist()}
    total = _alone(table, signed)
    own = signed.pop(total)
    names, weights = zip(*sorted((j, -own * sign) for j, sign in signed.items()), strict=True)
    formula = Linear(total, names, _decimals(table, total), coefficients=weights)
    formula = replace(formula, offset=_offset(table, formula))
    return exact(table, formula, float(sum(table.rounding[j] for j in names)))


def _offset(table: Table, formula: Linear) -> float:
    """The shortest number that explains what the parts leave of the total, in nearly all rows."""
    rest = table.cells[formula.total] - formula.value(table.cells.T)
    low, high = np.quantile(rest[~np.isnan(rest)], [0.01, 0.99]).tolist()
    half = float(table.rounding[formula.total])
    # with parts that are rounded too, no number explains all
    return shortest_between(*((high - half, low + half) if high - low <= 2 * half else (low, high)))


def _alone(table: Table, signed: dict[int, float]) -> int:
    """The column whose sign no other has; where there is none, the one that varies most, the last of equals."""
    for sign in (-1.0, 1.0):
        same = [j for j in signed if signed[j] == sign]
        if len(same) == 1:
            return same[0]
    return max(signed, key=lambda j: (table.spread[j], j))


def _independent(table: Table, formulas: Sequence[Formula]) -> list[Formula]:
    """The formulas that those before do not give."""
    kept: list[Formula] = []
    basis: list[np.ndarray] = []
    for formula in formulas:
        vector = np.zeros(len(table.cells))
        vector[formula.total] = -1.0
        vector[list(formula.parts)] = formula.coefficients  # type: ignore[attr-defined]
        for other in basis:
            vector -= (vector @ other) * other
        size = float(np.linalg.norm(vector))
        if size > 1e-6:
            basis.append(vector / size)
            kept.append(formula)
    return kept
