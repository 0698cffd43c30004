"""New rows from old ones: pure functions of matrices, limits and a generator; what they get is never changed.

- `sbx` recombines pairs. Real cells y₁ < y₂ become ½ (y₁ + y₂ ∓ β (y₂ − y₁)), where the density of the spread β falls
  with |log β|, the faster the larger η is, and is cut where a child would leave the limits (Deb & Agrawal, 1995). Cells
  of other columns, and those of which one is missing, are exchanged.
- `gaussian_mutation` moves numbers by a normal distribution that is truncated at the limits, `uniform_mutation` draws
  them between the limits, missing ones too, `level_mutation` draws a level.
- `reset` puts cells back to x, and `beyond` tells which where too many differ.

A `probability` is one number, or an array that broadcasts to one per cell. Limits are arrays of one number per column,
infinite where free. A cell that is made lies within them and on the grid of its column (`step`, 0 for full precision).
Where the limits leave no such value, and where nothing is made, cells stay as they are: x may lie outside the limits
and is kept. A missing cell has nothing to move from and stays missing, until an exchange, a level or a reset replaces
it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_NARROW = 2.5  # standard deviations between the limits below which a uniform proposal is the better one


def sbx(
    parents_a: np.ndarray,
    parents_b: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    probability: float | np.ndarray,
    eta: float,
    *,
    is_real: np.ndarray,
    step: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Two children of each pair of parents.

    Parameters
    ----------
    parents_a, parents_b : (n, p), the pairs row by row.
    low, high : (p,), the limits.
    probability : that a pair recombines a feature.
    eta : how near real cells stay to those of their parents.
    is_real : (p,), which columns are crossed as real numbers; cells of the others are exchanged.
    step : (p,), the grids.
    rng : for everything random.
    """
    shape = parents_a.shape
    taken = rng.random(shape) < probability
    spread, exchanged = rng.random(shape), rng.random(shape) < 0.5
    # equal cells stay what they are, to the last bit; if one of two is missing neither comparison holds
    crossed = taken & is_real & ((parents_a < parents_b) | (parents_a > parents_b)) & (low <= high)
    swapped = np.where(crossed, exchanged, taken)
    a, b = np.where(swapped, parents_b, parents_a), np.where(swapped, parents_a, parents_b)
    i, j = np.nonzero(crossed)
    a[i, j], b[i, j] = _crossed(a[i, j], b[i, j], low[j], high[j], eta, step[j], spread[i, j])
    return a, b


def _crossed(
    a: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray, eta: float, step: np.ndarray, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The children of two vectors of different cells, each on the side of its own parent."""
    y1, y2 = np.minimum(a, b), np.maximum(a, b)
    gap = y2 - y1
    with np.errstate(over="ignore"):  # limits may be any number of gaps away
        room_down, room_up = 1.0 + 2.0 * (y1 - low) / gap, 1.0 + 2.0 * (high - y2) / gap
    down = 0.5 * (y1 + y2 - _spread(u, room_down, eta) * gap)
    up = 0.5 * (y1 + y2 + _spread(u, room_up, eta) * gap)
    return (
        _allowed(np.where(a < b, down, up), a, low, high, step),
        _allowed(np.where(a < b, up, down), b, low, high, step),
    )


def _spread(u: np.ndarray, most: np.ndarray, eta: float) -> np.ndarray:
    """The quantile u of β, whose density is ½ (η + 1) β^η to 1 and ½ (η + 1) β^−(η + 2) from there, cut at `most`."""
    mass = u * (2.0 - np.maximum(most, 1.0) ** -(eta + 1.0))  # a parent outside the limits: children lie in between
    return np.where(mass <= 1.0, mass, 1.0 / (2.0 - np.maximum(mass, 1.0))) ** (1.0 / (eta + 1.0))


def gaussian_mutation(
    rows: np.ndarray,
    sd: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    step: np.ndarray,
    probability: float | np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """The rows with some numbers moved by a truncated normal distribution; columns whose `sd` is 0 are left alone."""
    moved = (rng.random(rows.shape) < probability) & (sd > 0.0) & (low <= high) & np.isfinite(rows)
    rows = np.array(rows, np.float64)
    i, j = np.nonzero(moved)
    new = _truncated_normal(np.clip(rows[i, j], low[j], high[j]), sd[j], low[j], high[j], rng)
    rows[i, j] = _allowed(new, rows[i, j], low[j], high[j], step[j])
    return rows


def uniform_mutation(
    rows: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    step: np.ndarray,
    probability: float | np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """The rows with some numbers drawn anew, all grid points within the limits alike; limits must be finite or empty.

    Limits may differ by row, (n, p).
    """
    drawn, uniform = rng.random(rows.shape) < probability, rng.random(rows.shape)
    low, high = np.broadcast_to(low, rows.shape), np.broadcast_to(high, rows.shape)
    i, j = np.nonzero(drawn & (low <= high))
    a, b, steps, old = low[i, j], high[i, j], step[j], rows[i, j]
    # what rounds to a grid point at the end lies half a step around it
    first, last = _allowed(a, a, a, b, steps) - 0.5 * steps, _allowed(b, b, a, b, steps) + 0.5 * steps
    rows = np.array(rows, np.float64)
    rows[i, j] = _allowed(first + uniform[i, j] * (last - first), old, a, b, steps)
    return rows


def _truncated_normal(
    mean: np.ndarray, sd: np.ndarray, low: np.ndarray, high: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """A draw for each mean, which lies within the limits, by rejection: about half of the proposals are accepted."""
    with np.errstate(over="ignore"):  # as above
        least, most = (low - mean) / sd, (high - mean) / sd
    is_narrow = most - least < _NARROW
    z = np.zeros(len(mean))
    open_ = np.arange(len(mean))
    while len(open_):
        narrow, a, b = is_narrow[open_], least[open_], most[open_]
        width = np.where(narrow, b - a, 0.0)
        proposed = np.where(
            narrow, np.where(narrow, a, 0.0) + rng.random(len(open_)) * width, rng.standard_normal(len(open_))
        )
        inside = (a <= proposed) & (proposed <= b)
        good = np.where(narrow, rng.random(len(open_)) < np.exp(-0.5 * proposed**2), inside)
        z[open_[good]] = proposed[good]
        open_ = open_[~good]
    return mean + sd * z


def _allowed(new: np.ndarray, old: np.ndarray, low: np.ndarray, high: np.ndarray, step: np.ndarray) -> np.ndarray:
    """The grid points within the limits that are nearest to new cells; the old cells where there are none."""
    new = np.clip(new, low, high)
    has_grid = step > 0.0
    # 1 / step is a whole number: multiples of the step itself would be off by rounding
    scale = np.rint(1.0 / np.where(has_grid, step, 1.0))
    point = np.rint(new * scale)
    point = point + (point / scale < low) - (point / scale > high)
    point = point / scale
    on_grid = np.where((low <= point) & (point <= high), point, old)
    return np.where(has_grid, on_grid, new)


def level_mutation(
    rows: np.ndarray, levels: Sequence[np.ndarray | None], probability: float | np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The rows with some levels drawn anew, all allowed ones alike.

    Parameters
    ----------
    rows : (n, p).
    levels : by column, whether each level is allowed; None for columns that are left alone.
    probability : that a cell is drawn.
    rng : for everything random.
    """
    drawn, uniform = rng.random(rows.shape) < probability, rng.random(rows.shape)
    rows = np.array(rows, np.float64)
    for j, allowed in enumerate(levels):
        codes = np.empty(0) if allowed is None else np.flatnonzero(allowed).astype(np.float64)
        if len(codes):
            rows[drawn[:, j], j] = codes[(uniform[drawn[:, j], j] * len(codes)).astype(np.int64)]
    return rows


def reset(rows: np.ndarray, x: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The rows with these cells put back to those of x."""
    return np.where(cells, x, rows)


def beyond(differs: np.ndarray, most: int, unit: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Which of the cells that differ from x to put back, so that no row has more than `most`; at random.

    Parameters
    ----------
    differs : (n, p), which cells differ.
    unit : (p,), a number for each column, the same for columns that are put back together.
    """
    cells = np.zeros(differs.shape, np.bool_)
    over = np.flatnonzero(differs.sum(axis=1) > most)
    if len(over):
        # a random order of the units, each as a whole: those are kept that end within the limit
        order = np.where(differs[over], rng.random((len(over), differs.shape[1]))[:, unit], 2.0)
        n_until = (differs[over][:, None, :] & (order[:, None, :] <= order[:, :, None])).sum(axis=2)
        cells[over] = differs[over] & (n_until > most)
    return cells
