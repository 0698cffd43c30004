"""Which values of a number occur: learned from the values of a column, all of them known.

1. `values`: where nearly all rows hold a value that another row holds too, those that occur are all there are. A new
   one would be an invention.
2. `atoms`: all of these where they are few. Otherwise single values that are far more frequent than the values around
   them: zeros, a code such as 999, a limit at which values pile up. Where every value repeats alike there is none.
3. `grid`: in units of the last decimal the distances of all values, or of all but the atoms, have a common divisor
   k > 1. The greatest counts where k^m is beyond chance, m being how many distinct values could have missed the grid.
4. `low`, `high`: 0 where no value lies beyond it, and an extreme that stands out: values pile up where they end.

A column of full precision whose values do not repeat gets nothing but a possible edge at 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

MOST_VALUES = 5_000  # that a schema keeps; more are as good as a grid
FEW = 12  # values that are atoms all, if they repeat
_SOME, _ROWS_OF_SOME = 25, 15  # so many are few too, where each is frequent: the rows per value, on average
_ENOUGH_ROWS, _ROWS_OF_FEW = 50, 10  # rows that a repetition must be seen in; fewer do for few values
_REPEATED_SHARE = 0.95  # of rows whose value another row has
_ATOM_ROWS, _ATOM_SHARE, _LIMIT_SHARE = 8, 0.05, 0.01  # fewest rows of an atom, and their share; of one at an end
_TIMES = 5.0  # how much more frequent than its surroundings an atom is
_NEAR, _FAR = 2, 8  # values to each side that are its surroundings
_SIGMAS = 5.0  # by which an atom exceeds what chance gives its surroundings
_MOST_ATOMS = 12  # more are no exceptions: people round like that
_CHANCE, _FEWEST_ON_GRID, _MOST_POINTS = 1e-4, 4, 1e6  # a finer grid is noise in the last of many decimals
_LARGEST = 2.0**53  # up to which float64 holds every whole number
_ENOUGH_FOR_EDGE = 10  # rows that lie on one side of 0


class Occurrence(NamedTuple):
    """What is known of the values of a column; the fields of `Column` of the same names."""

    grid: tuple[float, float] | None = None
    values: tuple[float, ...] = ()
    atoms: tuple[float, ...] = ()
    low: float = -math.inf
    high: float = math.inf


def learned(known: np.ndarray, decimals: int | None) -> Occurrence:
    """What the values of a column tell.

    Parameters
    ----------
    known : (n,), finite, at least one.
    decimals : of the column; None at full precision.

    >>> term = np.repeat([36.0, 60.0], 50)
    >>> learned(term, 0).values, learned(term, 0).atoms
    ((36.0, 60.0), (36.0, 60.0))
    >>> learned(np.arange(40) * 25.0, 0).grid
    (25.0, 0.0)
    """
    return learned_of(*np.unique(known, return_counts=True), decimals)


def learned_of(distinct: np.ndarray, count: np.ndarray, decimals: int | None) -> Occurrence:
    """What the different values of a column tell, ascending, and how often each is there."""
    repeats = _repeats(count)
    is_few = repeats and _are_few(count)
    is_atom = np.ones(len(count), np.bool_) if is_few else _stand_out(count)
    low, high = _edges(distinct, int(count.sum()), is_atom & (not is_few))
    return Occurrence(
        grid=None if decimals is None else _grid(distinct, is_atom, decimals),
        values=tuple(distinct.tolist()) if repeats else (),
        atoms=tuple(distinct[is_atom].tolist()),
        low=low,
        high=high,
    )


def _repeats(count: np.ndarray) -> bool:
    """Whether nearly all rows share their value with another."""
    n, m = int(count.sum()), len(count)
    enough = n >= _ENOUGH_ROWS or n >= _ROWS_OF_FEW * m
    return enough and m <= MOST_VALUES and count[count > 1].sum() >= _REPEATED_SHARE * n


def _are_few(count: np.ndarray) -> bool:
    return len(count) <= FEW or (len(count) <= _SOME and count.sum() >= _ROWS_OF_SOME * len(count))


def _stand_out(count: np.ndarray) -> np.ndarray:
    """Which values are far more frequent than those around them; none where too many are."""
    share = np.full(len(count), _ATOM_SHARE)
    share[[0, -1]] = _LIMIT_SHARE  # limits and codes such as 999 are at the ends
    atoms = _exceeds(count) & (count >= np.maximum(_ATOM_ROWS, share * count.sum()))
    return atoms if atoms.sum() <= _MOST_ATOMS else np.zeros(len(count), np.bool_)


def _exceeds(count: np.ndarray) -> np.ndarray:
    """Which counts are many times those of their neighbours, and more than chance would make of them."""
    if len(count) == 1:
        return np.zeros(1, np.bool_)
    around = np.maximum(_mean_around(count, _NEAR), _mean_around(count, _FAR))
    return (count >= _TIMES * around) & (count >= around + _SIGMAS * np.sqrt(around) + 1.0)


def _mean_around(count: np.ndarray, reach: int) -> np.ndarray:
    """Mean of the counts up to `reach` places to both sides, without the one in the middle."""
    place = np.arange(len(count))
    total = np.concatenate([[0], np.cumsum(count)])
    start, stop = np.maximum(place - reach, 0), np.minimum(place + reach + 1, len(count))
    return (total[stop] - total[start] - count) / (stop - start - 1)


def _grid(distinct: np.ndarray, is_atom: np.ndarray, decimals: int) -> tuple[float, float] | None:
    """Step and origin of a grid that is coarser than the decimals; atoms may lie beside it."""
    scale = 10.0**decimals
    if np.abs(distinct[[0, -1]]).max() * scale > _LARGEST:
        return None
    units = np.rint(distinct * scale).astype(np.int64)
    found = _grid_of_units(units)
    if found is None and not is_atom.all():
        found = _grid_of_units(units[~is_atom])
    return None if found is None else (found[0] / scale, found[1] / scale)


def _grid_of_units(units: np.ndarray) -> tuple[int, int] | None:
    step = int(np.gcd.reduce(units - units[0]))
    if step < 2 or len(units) < _FEWEST_ON_GRID or units[-1] - units[0] > _MOST_POINTS * step:
        return None
    origin = int(units[0]) % step
    # the first value is on some grid by itself, on that of the multiples it is by chance
    n_could_miss = len(units) if origin == 0 else len(units) - 1
    return (step, origin) if n_could_miss * math.log(step) >= -math.log(_CHANCE) else None


def _edges(distinct: np.ndarray, n: int, is_limit: np.ndarray) -> tuple[float, float]:
    """Hard ends: an extreme at which values pile up, or 0 with all n values on one side of it."""
    is_zero_enough = n >= _ENOUGH_FOR_EDGE
    low = 0.0 if distinct[0] >= 0.0 and is_zero_enough else -math.inf
    high = 0.0 if distinct[-1] <= 0.0 and is_zero_enough and distinct[0] < 0.0 else math.inf
    return (
        float(distinct[0]) if is_limit[0] else low,
        float(distinct[-1]) if is_limit[-1] else high,
    )
