"""A judge of single cells: each column given all others.

    s(x) = Σ_j log p(x_j | the other cells of x)

1. A continuous cell has a mean and a spread given the rest: a linear function of all other cells, then boosted trees
   on what is left (`boosting`). How residuals in spreads are distributed is read off rows that were held out.
   Trees ask about two directions besides the other cells: that of the linear function, and the one along which what is
   left of it bends most. So a column that is a wave or a bow of a sum of others is no riddle to them.
2. A level, an atom or a gap has probabilities given the rest, by boosted trees.
3. Each column's p is a judgement of its cell: how *surprising* it is beside the same column's cells of held-out real
   rows. That names the cells that do not fit.
4. Three sets of models are fitted, each without one third of the rows. Their mean judges new rows; a row of the
   training data is judged by the one that has not seen it.

The sum is no density, since it counts dependence twice. It tells broken dependence where densities are too smooth, and
a search must not be led by it: it would find rows that explain themselves well and are nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import eigh

from countarfactuals._kernels import kernel
from countarfactuals.plausibility.boosting import (
    Boosting,
    Trees,
    boost_levels,
    boost_number,
    level_log_p,
    nothing_learned,
    outputs,
)
from countarfactuals.plausibility.cells import Cells
from countarfactuals.stored_arrays import taken

_FEWEST_ROWS = 5  # with a number that can be learned from
_TREES, _DEPTH, _RATE, _SPREAD_RATE, _RIDGE, _SHARE = 30, 4, 0.3, 0.15, 3.0, 0.4
_MOST_COLUMNS = 20  # that a tree may ask about
_MOST_CODES = 32  # of a number, besides missing
_DIRECTIONS = 2  # that trees may ask about, besides the other columns
_DIGITS = 9  # along a direction, beyond which rows are level: sums of few values have ties but for their last bits
_MOST_LEVELS = 24  # of a category that are told apart, by their frequency; the others count as one
_LINEAR_RIDGE = 1e-3
_MOST_INDICATORS = 12  # levels of a category that the linear part sees
_REACH, _GRID = 8.0, 401  # of residuals in spreads, and points at which their density is kept
_FAR, _FAR_SPREAD = 0.03, 1.5  # share and width of the Student part for residuals far out
_LARGEST = 1e100  # of a number in a file
_FAR_CONSTANT = 2.0 / (math.pi * math.sqrt(3.0))  # of a Student density of three degrees of freedom


class Part(NamedTuple):
    """The models that lack one part of the rows."""

    direction: np.ndarray  # (q, 2, width): of each number the linear part's slope, and where the rest bends most
    edges: np.ndarray  # (q, 2, most codes − 1), between the codes of both directions, ascending, +∞ beyond the last
    number: tuple[Trees, ...]  # one per continuous column
    state: tuple[Trees, ...]  # one per stated column


class Coding(NamedTuple):
    """How cells become codes and the terms of the linear part."""

    edges: tuple[np.ndarray, ...]  # per column, between the codes of a number; empty for levels
    code_of_level: tuple[np.ndarray, ...]  # per column, the code of each level; empty for numbers
    n_codes: np.ndarray  # int64 (p,), missing included
    unordered: np.ndarray  # bool (p,)
    centre: np.ndarray  # (p,)
    scale: np.ndarray  # (p,)
    indicators: np.ndarray  # int64 (width, 2): column, and the code that is indicated; −1 for a number's value
    mean: np.ndarray  # (width,), of the terms


class Conditionals:
    """Each column given the others, as one judge."""

    name = "conditionals"

    def __init__(self, cells: Cells, coding: Coding, parts: tuple[Part, ...], density: np.ndarray) -> None:
        self.cells = cells
        self.coding = coding
        self.parts = parts
        self.density = density  # (q, _GRID): of residuals, on an even grid from −_REACH to _REACH

    @classmethod
    def fit(cls, cells: Cells, matrix: np.ndarray, part_of: np.ndarray, rng: np.random.Generator) -> Self:
        """Fitted to rows; the k-th set of models does not see rows with `part_of` k."""
        coding = _coding(cells, matrix)
        table = _Table.of(cells, coding, matrix)
        n_parts = int(part_of.max()) + 1
        seeds = rng.integers(2**63, size=(n_parts, 2 * matrix.shape[1]), dtype=np.int64)
        parts = tuple(_fit_part(cells, coding, table, part_of != k, seeds[k]) for k in range(n_parts))
        judge = cls(cells, coding, parts, np.zeros((len(cells.numbers), _GRID)))
        residuals = np.full((len(matrix), len(cells.numbers)), np.nan)
        for k in range(n_parts):
            held = np.flatnonzero(part_of == k)
            residuals[held] = judge._residuals(table.rows(held), k)[0]
        judge.density = np.array([_residual_density(column) for column in residuals.T]).reshape(-1, _GRID)
        return judge

    def cell_log_p(self, rows: np.ndarray, part: int) -> np.ndarray:
        """Log p of each cell given the others, (n, p), less what gaps and atoms cost, by one part of the models."""
        table = _Table.of(self.cells, self.coding, rows)
        return self._cell_log_p(table, part) - _cell_costs(self.cells, table.states)

    def column_log_p(self, rows: np.ndarray, column: int) -> np.ndarray:
        """The same for one column, by the mean of all parts."""
        table = _Table.of(self.cells, self.coding, rows)
        each = [self._cell_log_p(table, k, column)[:, column] for k in range(len(self.parts))]
        return np.asarray(np.mean(each, axis=0) - _cell_costs(self.cells, table.states)[:, column])

    def _cell_log_p(self, table: _Table, k: int, only: int | None = None) -> np.ndarray:
        result = np.zeros((len(table.states), len(self.cells.columns)))
        residual, log_spread = self._residuals(table, k, only)
        for place, j in enumerate(self.cells.numbers.tolist()):
            at = ~np.isnan(residual[:, place])
            result[at, j] = _residual_log_p(residual[at, place], self.density[place]) - log_spread[at, place]
        for place, j in enumerate(self.cells.stated.tolist()):
            if only not in (None, j):
                continue
            log_p = level_log_p(outputs(table.codes, self.coding.unordered, self.parts[k].state[place]))
            state = _known_state(self.cells, self.coding, j, table.states[:, j])
            judged = (table.states[:, j] < self.cells.n_states[j]) | self.cells.has_gaps[j]
            result[:, j] += np.where(judged, np.take_along_axis(log_p, state[:, None], axis=1)[:, 0], 0.0)
        return result

    def _residuals(self, table: _Table, k: int, only: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of the continuous cells in spreads, and the log spreads in own units; NaN for other cells."""
        part, numbers = self.parts[k], self.cells.numbers
        residual, log_spread = np.full((2, len(table.states), len(numbers)), np.nan)
        for place, j in enumerate(numbers.tolist()):
            if only not in (None, j):
                continue
            along = _linear(table.terms, part.direction[place])
            codes, unordered = _with_directions(table.codes, self.coding.unordered, along, part.edges[place])
            said = outputs(codes, unordered, part.number[place])
            z = (table.numbers[:, place] - self.coding.centre[j]) / self.coding.scale[j]
            residual[:, place] = (z - along[:, 0] - said[:, 0]) * np.exp(-said[:, 1])
            log_spread[:, place] = said[:, 1] + math.log(self.coding.scale[j])
        return residual, log_spread

    def arrays(self) -> dict[str, np.ndarray]:
        """What `restored` needs."""
        arrays = {"density": self.density}
        for name in ("n_codes", "unordered", "centre", "scale", "indicators", "mean"):
            arrays[f"coding.{name}"] = getattr(self.coding, name)
        for name in ("edges", "code_of_level"):
            for j, array in enumerate(getattr(self.coding, name)):
                arrays[f"coding.{name}.{j}"] = array
        for k, part in enumerate(self.parts):
            arrays |= {f"{k}.direction": part.direction, f"{k}.edges": part.edges}
            for kind in ("number", "state"):
                for place, trees in enumerate(getattr(part, kind)):
                    arrays |= {f"{k}.{kind}.{place}.{name}": value for name, value in trees._asdict().items()}
        return arrays

    @classmethod
    def restored(cls, cells: Cells, arrays: dict[str, np.ndarray]) -> Self:
        """The inverse of `arrays`; KeyError or ValueError for what can not be."""
        coding = _sound_coding(cells, _under("coding", arrays))
        n_parts = sum(name.endswith(".direction") for name in arrays)
        p, q, width = len(cells.columns), len(cells.numbers), len(coding.mean)

        def part(k: int) -> Part:
            own = _under(str(k), arrays)
            direction = taken(own, "direction", np.float64, (q, _DIRECTIONS, width), -_LARGEST, _LARGEST)
            edges = taken(own, "edges", np.float64, (q, _DIRECTIONS, _MOST_CODES - 1), -_LARGEST, unbounded=True)
            if (edges[..., 1:] < edges[..., :-1]).any():
                raise ValueError("edges of codes do not ascend")
            number = (_sound_trees(_under(f"number.{place}", own), p + _DIRECTIONS, 2) for place in range(q))
            state = (
                _sound_trees(_under(f"state.{place}", own), p, _n_outputs(_n_known_states(cells, coding, j)))
                for place, j in enumerate(cells.stated.tolist())
            )
            return Part(direction, edges, tuple(number), tuple(state))

        density = taken(arrays, "density", np.float64, (q, _GRID), 0.0, _LARGEST)
        return cls(cells, coding, tuple(map(part, range(n_parts))), density)


def _under(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _sound_coding(cells: Cells, arrays: Mapping[str, np.ndarray]) -> Coding:
    """The coding from a file; codes have room in a byte, and every level has one."""
    p, width = len(cells.columns), len(arrays["mean"])
    n_codes = taken(arrays, "n_codes", np.int64, (p,), 1, 255)
    edges, code_of_level = [], []
    for j, column in enumerate(cells.columns):
        n_edges = int(n_codes[j]) - 2 if column.is_number else 0
        edges.append(taken(arrays, f"edges.{j}", np.float64, (n_edges,)))
        codes = taken(arrays, f"code_of_level.{j}", np.int64, (column.n_levels,), 1, int(n_codes[j]) - 1)
        code_of_level.append(codes)
    if any((np.diff(one) <= 0.0).any() for one in edges):
        raise ValueError("edges of codes do not ascend")
    indicators = taken(arrays, "indicators", np.int64, (width, 2), -1, 255)
    if not ((indicators[:, 0] >= 0) & (indicators[:, 0] < p)).all():
        raise ValueError("a term is of a column that there is not")
    return Coding(
        edges=tuple(edges),
        code_of_level=tuple(code_of_level),
        n_codes=n_codes,
        unordered=taken(arrays, "unordered", np.bool_, (p,)),
        centre=taken(arrays, "centre", np.float64, (p,), -_LARGEST, _LARGEST),
        scale=taken(arrays, "scale", np.float64, (p,), 1.0 / _LARGEST, _LARGEST),
        indicators=indicators,
        mean=taken(arrays, "mean", np.float64, (width,), -_LARGEST, _LARGEST),
    )


def _sound_trees(arrays: Mapping[str, np.ndarray], n_columns: int, n_outputs: int) -> Trees:
    """Boosted trees from a file: they ask about columns that there are, and have a value for each leaf."""
    n_trees = len(arrays["column"])
    return Trees(
        column=taken(arrays, "column", np.int16, (n_trees, _DEPTH), -1, n_columns - 1),
        code=taken(arrays, "code", np.int16, (n_trees, _DEPTH)),
        value=taken(arrays, "value", np.float64, (n_trees, 1 << _DEPTH, n_outputs), -_LARGEST, _LARGEST),
        start=taken(arrays, "start", np.float64, (n_outputs,), -_LARGEST, _LARGEST),
    )


class _Table(NamedTuple):
    """Rows in codes and terms."""

    codes: np.ndarray  # uint8 (p, n)
    terms: np.ndarray  # (n, width)
    numbers: np.ndarray  # (n, q), NaN where a cell is not continuous
    states: np.ndarray  # int64 (n, p)

    @classmethod
    def of(cls, cells: Cells, coding: Coding, rows: np.ndarray) -> _Table:
        states = cells.states(rows)
        codes = _codes(coding, rows)
        terms = _terms(coding, rows, codes) - coding.mean
        return cls(codes, terms, cells.continuous(rows, states), states)

    def rows(self, chosen: np.ndarray) -> _Table:
        return _Table(
            np.ascontiguousarray(self.codes[:, chosen]), self.terms[chosen], self.numbers[chosen], self.states[chosen]
        )


# Coding


def _coding(cells: Cells, matrix: np.ndarray) -> Coding:
    edges, code_of_level, n_codes, unordered, indicators = [], [], [], [], []
    centre, scale = np.zeros(matrix.shape[1]), np.ones(matrix.shape[1])
    for j, column in enumerate(cells.columns):
        known = matrix[~np.isnan(matrix[:, j]), j]
        if column.is_number:
            edges.append(_edges(known))
            code_of_level.append(np.empty(0, np.int64))
            n_codes.append(len(edges[-1]) + 2)
            unordered.append(False)
            indicators.append((j, -1))
            centre[j], scale[j] = known.mean(), known.std() or 1.0
        else:
            edges.append(np.empty(0))
            code_of_level.append(_level_codes(known.astype(np.int64), column.n_levels))
            n_codes.append(int(code_of_level[-1].max(initial=0)) + 1)
            unordered.append(str(column.kind) == "category" and column.n_levels > 2)
            first = 2 if column.n_levels == 2 else 1
            indicators += [(j, code) for code in range(first, min(n_codes[-1], _MOST_INDICATORS + 1))]
    coding = Coding(
        tuple(edges),
        tuple(code_of_level),
        np.array(n_codes, np.int64),
        np.array(unordered, np.bool_),
        centre,
        scale,
        np.array(indicators, np.int64).reshape(-1, 2),
        np.zeros(len(indicators)),
    )
    return coding._replace(mean=_terms(coding, matrix, _codes(coding, matrix)).mean(axis=0))


def _edges(known: np.ndarray) -> np.ndarray:
    """Between which values of a number its codes change."""
    distinct = np.unique(known)
    if len(distinct) <= _MOST_CODES:
        return np.asarray(0.5 * (distinct[1:] + distinct[:-1]))
    return np.unique(np.quantile(known, np.linspace(0.0, 1.0, _MOST_CODES + 1)[1:-1]))


def _level_codes(known: np.ndarray, n_levels: int) -> np.ndarray:
    """Codes from 1 on: of all levels in their order, or of the most frequent ones and one for the rest."""
    if n_levels <= _MOST_LEVELS:
        return np.arange(1, n_levels + 1)
    rank = np.argsort(np.argsort(-np.bincount(known, minlength=n_levels), kind="stable"), kind="stable")
    return np.minimum(rank + 1, _MOST_LEVELS)


def _codes(coding: Coding, rows: np.ndarray) -> np.ndarray:
    codes = np.zeros(rows.shape[::-1], np.uint8)
    for j, (edges, code_of_level) in enumerate(zip(coding.edges, coding.code_of_level, strict=True)):
        known = ~np.isnan(rows[:, j])
        values = rows[known, j]
        codes[j, known] = (
            code_of_level[values.astype(np.int64)]
            if len(code_of_level)
            else (np.searchsorted(edges, values, side="left") + 1)
        )
    return codes


def _terms(coding: Coding, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """What the linear part sees: standardised numbers, 0 for gaps, and indicators of levels."""
    terms = np.empty((len(rows), len(coding.indicators)))
    for place, (j, code) in enumerate(coding.indicators.tolist()):
        if code >= 0:
            terms[:, place] = codes[j] == code
        else:
            terms[:, place] = np.nan_to_num((rows[:, j] - coding.centre[j]) / coding.scale[j], nan=0.0)
    return terms


def _n_known_states(cells: Cells, coding: Coding, j: int) -> int:
    """States of a column that are told apart, missing included where training had gaps."""
    n_values = int(cells.n_states[j] if cells.columns[j].is_number else coding.n_codes[j] - 1)
    return n_values + int(cells.has_gaps[j])


def _n_outputs(n_states: int) -> int:
    """What trees say of a column's states: of two the log odds of one."""
    return 1 if n_states == 2 else n_states


def _known_state(cells: Cells, coding: Coding, j: int, states: np.ndarray) -> np.ndarray:
    """States as they are told apart: rare levels are one, and missing is the last; 0 for gaps that are not judged."""
    n_values = _n_known_states(cells, coding, j) - int(cells.has_gaps[j])
    own = np.arange(n_values) if cells.columns[j].is_number else coding.code_of_level[j] - 1
    return np.asarray(np.append(own, n_values if cells.has_gaps[j] else 0)[states])


# Fitting


def _fit_part(cells: Cells, coding: Coding, table: _Table, is_seen: np.ndarray, seeds: np.ndarray) -> Part:
    p, q = len(cells.columns), len(cells.numbers)
    options = Boosting(_TREES, _DEPTH, _RATE, _SPREAD_RATE, _RIDGE, _SHARE, _MOST_COLUMNS)
    seen = np.flatnonzero(is_seen)
    direction = np.zeros((q, _DIRECTIONS, table.terms.shape[1]))
    direction[:, 0] = _slopes(cells, coding, table.terms[seen])
    edges = np.full((q, _DIRECTIONS, _MOST_CODES - 1), math.inf)
    n_codes = np.append(coding.n_codes, [_MOST_CODES + 1] * _DIRECTIONS)
    numbers, states, all_rows = [], [], table.rows(seen)
    for place, j in enumerate(cells.numbers.tolist()):
        is_number = ~np.isnan(all_rows.numbers[:, place])
        rows = all_rows if is_number.all() else table.rows(seen[is_number])
        if len(rows.states) < _FEWEST_ROWS:
            numbers.append(nothing_learned(2, _DEPTH))
            continue
        z = (rows.numbers[:, place] - coding.centre[j]) / coding.scale[j]
        offset = _linear(rows.terms, direction[place])[:, 0]
        direction[place, 1] = _bend(rows.terms, z - offset, coding.indicators[:, 0] != j)
        along = _linear(rows.terms, direction[place])
        for way in range(_DIRECTIONS):
            found = _edges(np.round(along[:, way], _DIGITS))
            edges[place, way, : len(found)] = found + 0.5 * 10.0**-_DIGITS
        codes, unordered = _with_directions(rows.codes, coding.unordered, along, edges[place])
        others = np.delete(np.arange(p + _DIRECTIONS), j)
        trees = boost_number(codes, n_codes, unordered, others, z, offset, np.uint64(seeds[j]), options)
        least = cells.columns[j].step / coding.scale[j] / math.sqrt(12.0)  # rounding alone spreads this much
        trees.start[1] = max(trees.start[1], math.log(max(least, 1e-9)))
        numbers.append(trees)
    for j in cells.stated.tolist():
        y = _known_state(cells, coding, j, all_rows.states[:, j])
        n_levels, others = _n_known_states(cells, coding, j), np.delete(np.arange(p), j)
        states.append(
            boost_levels(
                all_rows.codes, coding.n_codes, coding.unordered, others, y, n_levels, np.uint64(seeds[p + j]), options
            )
        )
    return Part(direction, edges, tuple(numbers), tuple(states))


def _slopes(cells: Cells, coding: Coding, terms: np.ndarray) -> np.ndarray:
    """Ridge regressions of each number on all terms but its own: rows of the inverse covariance tell them all."""
    width = terms.shape[1]
    precision = np.linalg.inv(terms.T @ terms / max(len(terms), 1) + _LINEAR_RIDGE * np.eye(width))
    slope = np.zeros((len(cells.numbers), width))
    for place, j in enumerate(cells.numbers.tolist()):
        own = int(np.flatnonzero((coding.indicators[:, 0] == j) & (coding.indicators[:, 1] < 0))[0])
        slope[place] = -precision[own] / precision[own, own]
        slope[place, own] = 0.0
    return slope


def _bend(terms: np.ndarray, residual: np.ndarray, is_other: np.ndarray) -> np.ndarray:
    """The direction of unit variance along which residuals have most curvature: the leading principal Hessian one."""
    others = terms[:, is_other]
    direction = np.zeros(terms.shape[1])
    if len(others) > others.shape[1] > 0:
        curvature = (others * (residual - residual.mean())[:, None]).T @ others / len(others)
        covariance = others.T @ others / len(others) + _LINEAR_RIDGE * np.eye(others.shape[1])
        strength, directions = eigh(curvature, covariance)
        best = directions[:, np.argmax(np.abs(strength))]
        direction[is_other] = best * np.sign(best[np.argmax(np.abs(best))])  # of two opposite ones always the same
    return direction


def _with_directions(
    codes: np.ndarray, unordered: np.ndarray, along: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the columns with those of the directions after them, and which of them have no order."""
    own = [np.searchsorted(edges[way], along[:, way], side="left") + 1 for way in range(_DIRECTIONS)]
    return np.concatenate([codes, np.array(own, np.uint8)]), np.append(unordered, [False] * _DIRECTIONS)


@kernel
def _linear(terms, slope):  # type: ignore[no-untyped-def]
    """Rows along several directions, row by row, so that a row's bits do not depend on the others."""
    result = np.zeros((len(terms), len(slope)))
    for i in range(len(terms)):
        for place in range(len(slope)):
            total = 0.0
            for k in range(terms.shape[1]):
                total += terms[i, k] * slope[place, k]
            result[i, place] = total
    return result


# Residuals


def _residual_density(residuals: np.ndarray) -> np.ndarray:
    """The density of held-out residuals on the grid, smoothed by a normal kernel."""
    known = residuals[~np.isnan(residuals)]
    grid = np.linspace(-_REACH, _REACH, _GRID)
    if len(known) < 2:
        return np.asarray(np.exp(-0.5 * grid**2) / math.sqrt(2.0 * math.pi))
    width = max(float(np.quantile(np.abs(known), 0.6827)) * len(known) ** -0.2, grid[1] - grid[0])
    count = np.bincount(np.clip(np.rint((known + _REACH) / (grid[1] - grid[0])), 0, _GRID - 1).astype(int), None, _GRID)
    kernel = np.exp(-0.5 * ((grid - grid[:, None]) / width) ** 2) / (width * math.sqrt(2.0 * math.pi))
    return np.asarray(kernel @ (count / len(known)))


@kernel
def _residual_log_p(residual, density):  # type: ignore[no-untyped-def]
    """Log density of residuals in spreads: what held-out ones show, and a heavy tail beyond."""
    result = np.empty(len(residual))
    step = 2.0 * _REACH / (_GRID - 1)
    for i in range(len(residual)):
        e = residual[i]
        near = 0.0
        if abs(e) < _REACH:
            place = (e + _REACH) / step
            k = min(int(place), _GRID - 2)
            near = density[k] + (place - k) * (density[k + 1] - density[k])
        far = 1.0 + (e / _FAR_SPREAD) ** 2 / 3.0
        result[i] = math.log((1.0 - _FAR) * near + _FAR * _FAR_CONSTANT / (_FAR_SPREAD * far * far))
    return result


def _cell_costs(cells: Cells, states: np.ndarray) -> np.ndarray:
    """What gaps cost, and atoms, which have probabilities where continuous cells have densities."""
    is_gap = states == cells.n_states
    costs = np.where(is_gap, cells.entropy, 0.0)
    for j, column in enumerate(cells.columns):
        if column.is_number and len(column.atoms):
            is_atom = ~is_gap[:, j] & (states[:, j] >= int(j in cells.numbers))
            costs[is_atom, j] = cells.log_step[j] if column.step > 0.0 else cells.entropy[j]
    return costs
