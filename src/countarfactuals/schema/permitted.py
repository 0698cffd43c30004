"""The values that cells of a number column may be given: the one place that moves numbers to them.

1. Where `values` are known, one of them.
2. Otherwise a point of the grid, the column's own or that of its decimals, or an atom, which may lie beside it. At full
   precision any number is permitted.
3. Never beyond the hard edges.

Grid points are quotients of whole numbers, (o + m s) / 10^d, so that they are the very floats that a reader of the
decimal number gets. What a row has itself is not judged here: it may always stay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

Limit = float | np.ndarray
_FINEST = 10**15  # a grid of finer parts is beyond the digits of its numbers


@dataclass(frozen=True, eq=False)
class Permitted:
    """Permitted values of one column.

    Parameters
    ----------
    values : ascending, all there are; empty where a grid or any number is permitted.
    atoms : ascending, permitted beside the grid.
    low, high : hard edges.
    step, origin, scale : grid points are (origin + m · step) / scale; step is 0 where any number is permitted.
    width : the float type of cells, whose digits grid points have.
    """

    values: np.ndarray
    atoms: np.ndarray
    low: float
    high: float
    step: float
    origin: float
    scale: float
    width: type[np.floating] = np.float64

    def nearest(
        self, cells: np.ndarray, low: Limit = -math.inf, high: Limit = math.inf, otherwise: Limit | None = None
    ) -> np.ndarray:
        """The permitted values within the limits that are nearest to the cells; missing cells stay.

        Where there is none, the cell is what `otherwise` says, or stays.
        """
        cells = np.asarray(cells, np.float64)
        kept = cells if otherwise is None else otherwise
        with np.errstate(invalid="ignore"):  # missing cells
            if len(self.values):
                point, is_there = self._nearest_value(cells, low, high)
            else:
                point, is_there = self._nearest_point(cells, np.maximum(low, self.low), np.minimum(high, self.high))
                for atom in self.atoms.tolist():
                    is_inside = (low <= atom) & (atom <= high)
                    is_nearer = ~is_there | (np.abs(atom - cells) < np.abs(point - cells))
                    point, is_there = np.where(is_inside & is_nearer, atom, point), is_there | is_inside
        return np.where(np.isnan(cells), cells, np.where(is_there, point, kept))

    def _nearest_value(self, cells: np.ndarray, low: Limit, high: Limit) -> tuple[np.ndarray, np.ndarray]:
        first = np.searchsorted(self.values, low, side="left")
        last = np.searchsorted(self.values, high, side="right") - 1
        is_there = first <= last
        above = np.clip(np.searchsorted(self.values, cells), first, np.maximum(last, first))
        below = np.clip(above - 1, first, np.maximum(last, first))
        above, below = (np.minimum(place, len(self.values) - 1) for place in (above, below))
        is_below = cells - self.values[below] <= self.values[above] - cells
        return np.where(is_below, self.values[below], self.values[above]), np.broadcast_to(is_there, cells.shape)

    def _nearest_point(self, cells: np.ndarray, low: Limit, high: Limit) -> tuple[np.ndarray, np.ndarray]:
        if self.step == 0.0:
            return np.clip(cells, low, high), np.broadcast_to(np.less_equal(low, high), cells.shape)
        first, last = self._first(low), self._last(high)
        place = np.clip(self._place(cells), first, np.maximum(first, last))
        return self._point(place), np.broadcast_to(np.less_equal(first, last), cells.shape)

    def _place(self, number: Limit) -> np.ndarray:
        return np.rint((np.multiply(number, self.scale) - self.origin) / self.step)

    def _point(self, place: np.ndarray) -> np.ndarray:
        point = np.asarray((self.origin + place * self.step) / self.scale)
        return point if self.width is np.float64 else point.astype(self.width).astype(np.float64)

    def _first(self, low: Limit) -> np.ndarray:
        """Place of the first grid point that is not below; compared as the float it is."""
        place = self._place(low)
        return np.asarray(place + (self._point(place) < low))

    def _last(self, high: Limit) -> np.ndarray:
        place = self._place(high)
        return np.asarray(place - (self._point(place) > high))

    def between(self, low: float, high: float) -> bool:
        """Whether a permitted value lies within the limits."""
        inside = self.nearest(np.array([low if math.isfinite(low) else min(high, 0.0)]), low, high, math.nan)
        return not math.isnan(inside[0])

    def holds(self, cells: np.ndarray) -> np.ndarray:
        """Which cells are permitted, or missing; compared with the digits that the cells' type holds."""
        cells = np.asarray(cells, np.float64)
        gap = np.abs(self.nearest(cells) - cells)
        return ~(gap > 4 * np.finfo(self.width).eps * np.abs(cells))

    def has_other(self, value: float, low: float, high: float) -> bool:
        """Whether a permitted value other than `value` lies within the limits."""
        if len(self.values):
            others = self.values[(self.values >= low) & (self.values <= high)]
        else:
            start = 0.0 if math.isnan(value) else value
            step = self.step / self.scale
            ends = [end for end in (low, high) if math.isfinite(end)]
            others = self.nearest(np.array([start, start - step, start + step, *ends]), low, high, math.nan)
        return bool((others[~np.isnan(others)] != value).any())

    def joined(self, other: Permitted) -> Permitted | None:
        """What both permit; None for nothing."""
        if len(other.values) and not len(self.values):
            return other.joined(self)
        edges: dict[str, Any] = {"low": max(self.low, other.low), "high": min(self.high, other.high)}
        if len(self.values):
            values = self.values[other.holds(self.values)]
            return replace(self, values=values, **edges) if len(values) else None
        atoms = np.union1d(self.atoms[other.holds(self.atoms)], other.atoms[self.holds(other.atoms)])
        grid = _joint_grid(self, other)
        if grid is not None:
            return replace(self, atoms=atoms, **grid, **edges)
        return replace(self, values=atoms, atoms=atoms, **edges) if len(atoms) else None

    def uniform(self, n: int, low: float, high: float, rng: np.random.Generator, otherwise: float) -> np.ndarray:
        """n permitted values within finite limits, all alike; `otherwise` where there is none.

        Beside a grid, or any number, each atom counts as much as the whole grid: it would hardly be drawn else.
        """
        if len(self.values):
            inside = self.values[(self.values >= low) & (self.values <= high)]
            return rng.choice(inside, n) if len(inside) else np.full(n, otherwise)
        atoms = self.atoms[(self.atoms >= low) & (self.atoms <= high)]
        cells = self._uniform_points(n, max(low, self.low), min(high, self.high), rng)
        if len(atoms) == 0:
            return np.full(n, otherwise) if cells is None else cells
        if cells is None:
            return rng.choice(atoms, n)
        which = rng.integers(len(atoms) + 1, size=n)
        return np.where(which < len(atoms), atoms[np.minimum(which, len(atoms) - 1)], cells)

    def _uniform_points(self, n: int, low: float, high: float, rng: np.random.Generator) -> np.ndarray | None:
        if self.step == 0.0:
            return rng.uniform(low, high, n) if low <= high else None
        first, last = int(self._first(low)), int(self._last(high))
        return self._point(rng.integers(first, last + 1, n).astype(np.float64)) if first <= last else None


def _joint_grid(one: Permitted, other: Permitted) -> dict[str, Any] | None:
    """Step, origin and scale of the points that two grids share; None where they share none."""
    if one.step == 0.0 or other.step == 0.0:
        finer = other if one.step == 0.0 else one
        return {"step": finer.step, "origin": finer.origin, "scale": finer.scale}
    parts = [Fraction(number) / Fraction(grid.scale) for grid in (one, other) for number in (grid.origin, grid.step)]
    scale = math.lcm(*(part.denominator for part in parts))
    if scale > _FINEST:
        return None
    first, step, second, step_2 = (int(part * scale) for part in parts)
    shared = math.gcd(step, step_2)
    if (second - first) % shared:
        return None
    places = (second - first) // shared * pow(step // shared, -1, step_2 // shared) % (step_2 // shared)
    both = math.lcm(step, step_2)
    return {"step": float(both), "origin": float((first + step * places) % both), "scale": float(scale)}


def multiples(step: float, origin: float = 0.0, width: type[np.floating] = np.float64) -> Permitted:
    """The numbers origin + m · step, for all whole m; decimals are those that a reader sees.

    >>> multiples(0.05).nearest(np.array([0.33])), multiples(50, 9347).nearest(np.array([9400.0]))
    (array([0.35]), array([9397.]))
    """
    exact = Fraction(repr(float(step))), Fraction(repr(float(origin)))
    scale = math.lcm(*(part.denominator for part in exact))
    if scale > _FINEST:
        grid = float(step), float(origin), 1.0
    else:
        grid = float(exact[0] * scale), float(exact[1] * scale), float(scale)
    return Permitted(np.empty(0), np.empty(0), -math.inf, math.inf, *grid, width=width)


def listed_values(values: Sequence[float], width: type[np.floating] = np.float64) -> Permitted:
    """Nothing but some numbers, of which there is at least one."""
    points = np.unique(np.asarray(values, np.float64).astype(width).astype(np.float64))
    return Permitted(points, np.empty(0), -math.inf, math.inf, 0.0, 0.0, 1.0, width=width)
