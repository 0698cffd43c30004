"""Functions: a column that another one determines, such as years of schooling by degree, or an age band by age.

1. Rows are put in the order of the determining column. Where the other never differs among equal cells, it is a
   function on the values that occur; between two numbers with the same image, that is the image too.
2. Evidence is what repeats: rows with the same value, or of numbers the rows of one band, if each image has just one.
   A column of which hardly any value repeats determines everything and says nothing.
3. Of two columns that determine each other the second follows from the first; of several in a row each from the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from countarfactuals.language import tr
from countarfactuals.relations.chance import is_beyond_chance
from countarfactuals.relations.relation import Naming, with_counts
from countarfactuals.relations.searched_table import Table

_ROWS = 2000  # that candidates are screened by
_MOST_VALUES, _ROWS_PER_RUN = 2000, 8.0


@dataclass(frozen=True)
class Function:
    """One column as a function of another.

    Parameters
    ----------
    source, target : positions of the two.
    values, images : values of the source, ascending, and what the target is beside each.
    is_number : whether the source holds numbers, between which images of neighbours hold.
    is_mutual : whether the target determines the source too.
    support, exceptions : how many rows have both, and how many of these break it.
    """

    source: int
    target: int
    values: tuple[float, ...]
    images: tuple[float, ...]
    is_number: bool
    is_mutual: bool = False
    support: int = 0
    exceptions: int = 0

    kind: ClassVar[str] = "function"
    is_exact: ClassVar[bool] = True

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it speaks of."""
        return (self.source, self.target)

    @property
    def dependent(self) -> int:
        """The column that is determined."""
        return self.target

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.values), np.array(self.images)

    def computed(self, rows: np.ndarray) -> np.ndarray:
        """By row the image; NaN where no row of the data tells it."""
        values, images = self._arrays
        cells = rows[:, self.source]
        above = np.minimum(np.searchsorted(values, cells), len(values) - 1)
        is_there = values[above] == cells
        below = np.maximum(above - 1, 0)
        between = self.is_number & (images[below] == images[above]) & (values[below] < cells) & (cells < values[above])
        return np.where(is_there | between, images[above], np.nan)

    def broken(self, rows: np.ndarray) -> np.ndarray:
        """Which rows have another image, or a value of which none is known."""
        present = ~np.isnan(rows[:, self.source]) & ~np.isnan(rows[:, self.target])
        return np.asarray(present & (self.computed(rows) != rows[:, self.target]))

    def phrase(self, words: Naming) -> str:
        """In words."""
        phrase = "{target} and {source} go one by one" if self.is_mutual else "{target} follows from {source}"
        return tr(phrase, target=words.name(self.target), source=words.name(self.source))


def find_functions(table: Table, told: Iterable[tuple[int, ...]]) -> list[Function]:
    """The functions of a table, but for pairs of columns that a formula tells already."""
    pairs = {frozenset(columns) for columns in told if len(columns) == 2}
    found: dict[tuple[int, int], Function] = {}
    for source, target in _candidates(table):
        if frozenset((source, target)) not in pairs:
            function = _function(table, source, target)
            if function is not None:
                found[source, target] = function
    return _without_consequences(found)


def _candidates(table: Table) -> list[tuple[int, int]]:
    """Pairs of which a sample has the second as a function of the first, or of its order."""
    n = min(_ROWS, table.n_rows)
    rows = table.cells[:, np.sort(np.random.default_rng(3).choice(table.n_rows, n, replace=False))]
    varying = [j for j in range(len(rows)) if table.low[j] < table.high[j]]
    targets = np.array([j for j in varying if _is_coarse(rows[j])], np.intp)
    pairs = []
    for source in varying:
        order = np.argsort(rows[source], kind="stable")[: np.count_nonzero(~np.isnan(rows[source]))]  # gaps stand last
        cells, images = rows[source][order], rows[targets][:, order]
        tied = cells[1:] == cells[:-1]
        differs = (images[:, 1:] != images[:, :-1]) & ~np.isnan(images[:, 1:]) & ~np.isnan(images[:, :-1])
        n_values = np.count_nonzero(~tied) + 1
        runs = np.count_nonzero(differs, axis=1) + 1
        # runs count for numbers alone: the order of levels means nothing
        limits = runs if table.schema.columns[source].is_number else np.full(len(targets), n_values)
        few = np.minimum(limits, n_values) <= len(order) / _ROWS_PER_RUN
        good = (np.count_nonzero(differs & tied, axis=1) <= 0.01 * len(order)) & few
        pairs += [(source, int(target)) for target in targets[good] if target != source]
    return pairs


def _is_coarse(cells: np.ndarray) -> bool:
    present = cells[~np.isnan(cells)]
    return len(present) > 0 and len(np.unique(present)) <= min(_MOST_VALUES, max(2.0, len(present) / _ROWS_PER_RUN))


def _function(table: Table, source: int, target: int) -> Function | None:
    present = table.present[source] & table.present[target]
    cells, images = table.cells[source][present], table.cells[target][present]
    values, place = np.unique(cells, return_inverse=True)
    levels, code = np.unique(images, return_inverse=True)
    if len(levels) < 2 or len(values) < 2 or len(values) * len(levels) > 5_000_000:
        return None
    counts = np.bincount(place * len(levels) + code, minlength=len(values) * len(levels)).reshape(len(values), -1)
    best = counts.argmax(axis=1)
    is_number = table.schema.columns[source].is_number
    # what a value tells of itself alone is no evidence: one row of each, or of each band
    n_runs = int(np.count_nonzero(np.diff(best))) + 1
    is_banded = is_number and n_runs == len(levels)
    n_free = n_runs if is_banded else len(values)
    n, exceptions = len(cells), len(cells) - int(counts.max(axis=1).sum())
    share = counts.sum(axis=0) / n
    expected = (n - n_free) * (1.0 - float((share**2).sum()))
    if n < _ROWS_PER_RUN * n_free or not is_beyond_chance(expected, exceptions, n):
        return None
    if is_number:  # between two values with the same image it is the same: the ends of runs say all
        turns = np.diff(best) != 0
        ends = np.append(True, turns) | np.append(turns, True)
        values, best = values[ends], best[ends]
    function = Function(source, target, tuple(values.tolist()), tuple(levels[best].tolist()), is_number)
    return _on_all_rows(table, function, expected / n)


def _on_all_rows(table: Table, function: Function, share: float) -> Function | None:
    matrix = table.matrix
    n = int(np.count_nonzero(~np.isnan(matrix[:, [function.source, function.target]]).any(axis=1)))
    broken = int(np.count_nonzero(function.broken(matrix)))
    return with_counts(function, n, broken) if is_beyond_chance(share * n, broken, n) else None


def _without_consequences(found: dict[tuple[int, int], Function]) -> list[Function]:
    """The functions without the way back of mutual ones and without what two others give."""
    kept = []
    for (source, target), function in found.items():
        is_mutual = (target, source) in found
        if is_mutual and target < source:
            continue
        if any(
            (source, middle) in found and (middle, target) in found and _is_before(middle, source, target, found)
            for middle in {pair[1] for pair in found if pair[0] == source} - {target}
        ):
            continue
        kept.append(replace(function, is_mutual=is_mutual))
    return kept


def _is_before(middle: int, source: int, target: int, found: dict[tuple[int, int], Function]) -> bool:
    """Whether a column between two speaks for them: of columns that determine each other the first one does."""
    with_source, with_target = (middle, source) in found, (target, middle) in found
    return (not with_source or middle < source) and (not with_target or middle < target)
