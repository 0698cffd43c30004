"""The schema of data that is read in pieces, in one pass and bounded memory.

1. `sketch` keeps a random sample of rows: each has a random key, and the rows with the smallest keys stay. Which they
   are depends on their places and the seed alone, not on the pieces. Where the sample holds all rows it is the table
   itself, in its order.
2. Of every column it notes what all rows tell: the levels, the smallest and the largest number, the decimals, and the
   different numbers with their counts as long as these are at most 100,000.
3. `infer_sketched` reads the schema of the sample and widens it by these. Which numbers occur is told by all rows where
   the counts were kept. Otherwise grids and repeated values are those of the sample, and edges hold for all rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from ..exceptions import DataError
from .clock import is_time
from .column import Column, Kind, decimals_of, sorted_levels
from .occurrence import learned_of
from .reading import declares_categories, factorise, is_missing, kind_of, numbers, read, stored_as
from .schema import MOST_LEVELS, Schema, Values, plain_levels

_MOST_DISTINCT = 100_000
_SEED = 0  # of the sample: which rows it has is no part of what a model draws


@dataclass
class _ColumnSketch:
    """What all rows tell of a column."""

    levels: set[Any] = field(default_factory=set)
    low: float = math.inf
    high: float = -math.inf
    decimals: int | None = 0
    distinct: np.ndarray | None = field(default_factory=lambda: np.empty(0))
    count: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def add(self, series: nw.Series[Any], name: Hashable) -> None:
        """Take in a piece of the column."""
        if is_missing(series) or is_time(series):
            return
        if kind_of(series, name) not in (Kind.REAL, Kind.INTEGER):
            self._add_levels(series, name)
            return
        cells = numbers(series, name)
        known = cells[~np.isnan(cells)]
        if not len(known):
            return
        self.low, self.high = min(self.low, known.min()), max(self.high, known.max())
        if self.decimals is not None:
            decimals = decimals_of(known, stored_as(series))
            self.decimals = None if decimals is None else max(decimals, self.decimals)
        if self.distinct is not None:
            self._count(self.distinct, known)

    def _add_levels(self, series: nw.Series[Any], name: Hashable) -> None:
        codes, values = factorise(series, name)
        seen = [values[code] for code in np.unique(codes[codes >= 0]).tolist()]
        self.levels.update(plain_levels(name, [value for value in seen if value is not None]))
        if len(self.levels) > MOST_LEVELS:
            raise DataError(
                f"Column {name!r} has more than {MOST_LEVELS:,} levels. Drop it if it is an identifier, or merge rare "
                "levels."
            )

    def _count(self, seen: np.ndarray, known: np.ndarray) -> None:
        distinct, place = np.unique(np.concatenate([seen, known]), return_inverse=True)
        weight = np.concatenate([self.count, np.ones(len(known), np.int64)])
        self.count = np.bincount(place, weight, len(distinct)).astype(np.int64)
        self.distinct = distinct if len(distinct) <= _MOST_DISTINCT else None


class SampledRows(NamedTuple):
    """Which rows of a table were kept: their places, ascending, counted from 0, and how many rows the table has."""

    places: np.ndarray  # int64
    n_rows: int


@dataclass
class Sketch:
    """What one pass over the data keeps.

    Parameters
    ----------
    n_rows : of all pieces.
    sample : a frame of rows drawn at random, in their order.
    places : where they stand among all rows.
    columns : by name.
    """

    n_rows: int
    sample: Any
    places: np.ndarray
    columns: dict[Hashable, _ColumnSketch]

    @property
    def is_whole(self) -> bool:
        """Whether the sample is all there is."""
        return len(self.sample) == self.n_rows


def sketch(pieces: Iterator[Any], most_rows: Callable[[int], int]) -> Sketch:
    """One pass; `most_rows` tells how many rows the sample has at most, given the number of columns."""
    n_rows, columns, kept = 0, dict[Hashable, _ColumnSketch](), _Sample()
    for piece in pieces:
        frame = read(piece)
        for j, name in enumerate(frame.names):
            columns.setdefault(name, _ColumnSketch()).add(frame.column(j), name)
        n_rows += frame.n_rows
        kept.add(piece, most_rows(len(frame.names)))
    if not n_rows:
        raise DataError("The data has no rows. Pass a table with at least one.")
    return Sketch(n_rows, *kept.rows(), columns)


class _Sample:
    """The rows with the smallest keys so far."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(_SEED)
        self._frames: list[Any] = []
        self._keys, self._places = np.empty(0), np.empty(0, np.int64)
        self._n_seen, self._most = 0, 0

    def add(self, piece: Any, most: int) -> None:
        keys, places = self._rng.random(len(piece)), self._n_seen + np.arange(len(piece))
        self._n_seen += len(piece)
        if len(self._keys) >= self._most > 0:  # most rows of later pieces are out at once
            chosen = np.flatnonzero(keys < self._keys.max())
            piece, keys, places = _rows(piece, chosen), keys[chosen], places[chosen]
        self._frames.append(piece)
        self._keys, self._places = np.concatenate([self._keys, keys]), np.concatenate([self._places, places])
        self._most = most
        if len(self._keys) > 1.25 * most:
            self._shrink()

    def rows(self) -> tuple[Any, np.ndarray]:
        """The frame and the places of its rows."""
        self._shrink()
        return self._frames[0], self._places

    def _shrink(self) -> None:
        frame = nw.to_native(nw.concat([nw.from_native(frame, eager_only=True) for frame in self._frames]))
        if len(self._keys) > self._most:
            chosen = np.sort(np.argpartition(self._keys, self._most - 1)[: self._most])
            frame, self._keys, self._places = _rows(frame, chosen), self._keys[chosen], self._places[chosen]
        self._frames = [frame]


def _rows(frame: Any, chosen: np.ndarray) -> Any:
    return nw.to_native(nw.from_native(frame, eager_only=True)[chosen, :])


def infer_sketched(
    found: Sketch, *, ordered: Mapping[Hashable, Sequence[Any]] | None = None, values: Values = "auto"
) -> Schema:
    """The schema of all rows."""
    schema = Schema.infer(found.sample, ordered=ordered, values=values)
    if found.is_whole:
        return schema
    declared = {*(ordered or {}), *(values if isinstance(values, Mapping) else ())}
    columns = []
    for column in schema.columns:
        told, is_declared = found.columns[column.name], column.name in declared
        if column.is_number:
            columns.append(column if is_declared or column.clock else _widened(column, told, values is not None))
        else:
            columns.append(_with_levels(column, told, is_declared, values is not None))
    return replace(schema, columns=tuple(columns))


def _with_levels(column: Column, told: _ColumnSketch, is_declared: bool, learns: bool) -> Column:
    is_open = column.kind is Kind.CATEGORY and not (column.dtype and declares_categories(column.dtype))
    if is_open and not is_declared:
        return replace(column, levels=sorted_levels(told.levels))
    unused = (code for code, level in enumerate(column.levels) if learns and level not in told.levels)
    return replace(column, unused=tuple(unused))


def _widened(column: Column, told: _ColumnSketch, learns: bool) -> Column:
    column = replace(column, decimals=told.decimals if column.kind is Kind.REAL else 0)
    if learns and told.distinct is not None:
        return replace(column, **learned_of(told.distinct, told.count, column.decimals)._asdict())
    return replace(
        column,
        low=column.low if told.low >= column.low else -math.inf,
        high=column.high if told.high <= column.high else math.inf,
        grid=None if column.decimals is None else column.grid,
        values=(),
        atoms=() if column.values else column.atoms,
    )
