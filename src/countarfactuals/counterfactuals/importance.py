"""How often and how far counterfactuals change each feature.

| column | of a feature |
|---|---|
| `share` | share of counterfactuals that change it |
| `up`, `down` | share that increase and that decrease it; the rest are other levels, and cells filled or emptied |
| `follows` | share in which it changes because others do, within these |
| `size` | where it changes, the mean part that it has in Gower's distance: of numbers a share of the data's range |
| `amount` | where it changes, the mean absolute difference in its own units, of dates in days, of times in seconds |

Of a batch every row counts alike, however many counterfactuals it has: each one weighs 1 / n in a row with n of them.
The range of the data is what `provenance["ranges"]` says; of results that do not say it, numbers have no size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from countarfactuals.language import tr
from countarfactuals.language.spelling import outcome_texts
from countarfactuals.language.vocabulary import Words
from countarfactuals.schema import Column, Kind
from countarfactuals.schema.clock import DAY

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals

RANGES = "ranges"  # where provenance says them
Measure = Callable[["Counterfactuals"], np.ndarray]
_HOUR, _HOURS = 3600.0, 24.0
COLUMNS = ("feature", "share", "up", "down", "follows", "size", "amount")


class Directions(NamedTuple):
    """Which cells are increased, decreased, or changed in another way, (n, p) each."""

    up: np.ndarray
    down: np.ndarray
    other: np.ndarray


def directions(result: Counterfactuals) -> Directions:
    """How each cell of the counterfactuals changes."""
    unordered = np.array([column.kind is Kind.CATEGORY for column in result.schema.columns])
    other = result.changed & (unordered | np.isnan(result.x) | np.isnan(result.rows))
    ordered = result.changed & ~other
    up = ordered & (result.rows > result.x)
    return Directions(up, ordered & ~up, other)


def importance(results: Sequence[Counterfactuals], k: int | None = None) -> pd.DataFrame:
    """The table, the features that change most often first; `k` is how many counterfactuals of each row count."""
    found = [result if k is None else result.select(k) for result in results if len(result)]
    if not found:
        nothing = results[0].schema.names if results else ()
        return _frame([[name, 0.0, 0.0, 0.0, 0.0, np.nan, np.nan] for name in nothing])
    ways = [directions(result) for result in found]
    share = _mean([result.changed for result in found])
    up, down = _mean([way.up for way in ways]), _mean([way.down for way in ways])
    follows = _mean([result.changed & result.consequence for result in found])
    size, amount = mean_where_changed(found, sizes), mean_where_changed(found, amounts)
    order = np.lexsort((-np.nan_to_num(size), -share)).tolist()
    names = found[0].schema.names
    return _frame([[names[j], share[j], up[j], down[j], follows[j], size[j], amount[j]] for j in order])


def _frame(lines: Sequence[Sequence[object]]) -> pd.DataFrame:
    frame = pd.DataFrame({name: [line[c] for line in lines] for c, name in enumerate(COLUMNS)})
    return frame.astype(dict.fromkeys(COLUMNS[1:], np.float64))


def _mean(cells: Sequence[np.ndarray]) -> np.ndarray:
    """The mean over rows of the mean over the counterfactuals of a row, (p,)."""
    return np.mean([part.mean(axis=0) for part in cells], axis=0)


def mean_where_changed(found: Sequence[Counterfactuals], measured: Measure) -> np.ndarray:
    """The mean over changed cells of which it is known, (p,), each with the weight of its row; NaN without any."""
    values = [np.where(result.changed, measured(result), np.nan) for result in found]
    total, share = _mean([np.nan_to_num(cells) for cells in values]), _mean([~np.isnan(cells) for cells in values])
    return np.divide(total, share, out=np.full(len(share), np.nan), where=share > 0)


def sizes(result: Counterfactuals) -> np.ndarray:
    """The part of each cell in Gower's distance, from 0 to 1, (n, p); NaN for numbers whose range is not known."""
    scale = ranges(result)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.minimum(np.abs(result.rows - result.x) / scale, 1.0)
    is_whole = (scale <= 0.0) | np.isnan(result.rows) | np.isnan(result.x)  # levels, no range, or one is missing
    return np.where(result.changed, np.where(is_whole, 1.0, size), 0.0)


def amounts(result: Counterfactuals) -> np.ndarray:
    """The absolute difference of each number in its own units, (n, p); NaN for levels and where one is missing."""
    is_number = np.array([column.is_number for column in result.schema.columns])
    return np.where(is_number, np.abs(result.rows - result.x), np.nan)


def ranges(result: Counterfactuals) -> np.ndarray:
    """The range of each column in Gower's distance: −1 for levels without an order, NaN where it is not known."""
    stored = result.provenance.get(RANGES)
    if isinstance(stored, list) and len(stored) == len(result.schema.columns):
        return np.array(stored, np.float64)
    return np.array(
        [
            np.nan if column.is_number else column.n_levels - 1.0 if column.kind is Kind.ORDERED else -1.0
            for column in result.schema.columns
        ]
    )


def amount_text(column: Column, amount: float, words: Words | None = None) -> str:
    """A mean difference as plain text with its unit; "" where there is none."""
    if np.isnan(amount):
        return ""
    if column.clock:
        hours = amount * _HOURS if column.clock == DAY else amount / _HOUR
        if hours < _HOURS:
            return tr("{n} hours", n=outcome_texts([hours])[0])
        return tr("{n} days", n=outcome_texts([hours / _HOURS])[0])
    (text,) = outcome_texts([amount])
    return text if words is None else words.plain.amount(column.name, text)
