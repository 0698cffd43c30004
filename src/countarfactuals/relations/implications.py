"""Implications: a level, a repeated number or a gap of one column goes with one of another.

1. The *states* of a column are its levels, the numbers that many of its rows share, and being missing. How often two
   states meet is one product of matrices.
2. A state implies another if (nearly) all of its rows have it, and chance would give it to at least 20 rows fewer.
3. What follows is left out: s → u where s → t and t → u; and of two levels s → b where the other level of that column
   implies something else than s. Of states that imply each other one stands for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from countarfactuals.language import tr
from countarfactuals.relations.chance import FEWEST_BREAKS, MOST_EXCEPTIONS, is_beyond_chance
from countarfactuals.relations.relation import Naming, with_counts
from countarfactuals.relations.searched_table import Table

_MOST_STATES = 1500
_SHARE_OF_ATOM, _MOST_ATOMS = 0.02, 8


@dataclass(frozen=True)
class Implication:
    """A state of one column goes with a state of another.

    Parameters
    ----------
    column, value : the state; NaN for a gap.
    other, implied : the state that it implies; NaN for a gap.
    away : what `column` mostly is beside each other value of `other`: pairs of the two, most frequent first.
    support, exceptions : how many rows have the state, and how many of these break it.
    """

    column: int
    value: float
    other: int
    implied: float
    away: tuple[tuple[float, float], ...] = ()
    support: int = 0
    exceptions: int = 0

    kind: ClassVar[str] = "implication"
    is_exact: ClassVar[bool] = False

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it speaks of."""
        return (self.column, self.other)

    @property
    def dependent(self) -> int:
        """The column whose state is implied."""
        return self.other

    def applies(self, rows: np.ndarray) -> np.ndarray:
        """Which rows have the state that implies the other."""
        return _is(rows[:, self.column], self.value)

    def broken(self, rows: np.ndarray) -> np.ndarray:
        """Which rows break it; a missing cell does only where a gap is what is implied otherwise."""
        other = rows[:, self.other]
        return np.asarray(self.applies(rows) & ~_is(other, self.implied) & ~np.isnan(other))

    def computed(self, rows: np.ndarray) -> np.ndarray:
        """What is implied where it applies, else the cell itself."""
        return np.where(self.applies(rows), self.implied, rows[:, self.other])

    def phrase(self, words: Naming) -> str:
        """In words."""
        return tr(
            "where {name} is {value}, {other} is {implied}",
            name=words.name(self.column),
            value=words.value(self.column, self.value),
            other=words.name(self.other),
            implied=words.value(self.other, self.implied),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Implication) and repr(self) == repr(other)  # gaps are NaN

    def __hash__(self) -> int:
        return hash(repr(self))


def _is(cells: np.ndarray, value: float) -> np.ndarray:
    return np.isnan(cells) if np.isnan(value) else np.asarray(cells == value)


class _State(NamedTuple):
    column: int
    value: float


def find_implications(table: Table, told: set[tuple[int, int]]) -> list[Implication]:
    """The implications of a table, but for pairs (column, other) of which the second is a function of the first."""
    states = _states(table)
    if len(states) < 2:
        return []
    edges = _edges(table, states, told)
    return [_implication(table, states[s], states[t]) for s, t in _without_consequences(table, states, edges)]


def _states(table: Table) -> list[_State]:
    """States of at least 20 rows, and not of all; the most frequent ones if they are very many."""
    with_support: list[tuple[int, _State]] = []
    for j, column in enumerate(table.schema.columns):
        cells = table.cells[j]
        values, counts = np.unique(cells[table.present[j]], return_counts=True)
        if column.is_number:
            often = np.argsort(-counts, kind="stable")[:_MOST_ATOMS]
            often = np.sort(often[counts[often] >= max(FEWEST_BREAKS, _SHARE_OF_ATOM * table.n_rows)])
            values, counts = values[often], counts[often]
        n_missing = table.n_rows - int(np.count_nonzero(table.present[j]))
        states = [*zip(counts.tolist(), values.tolist(), strict=True), (n_missing, np.nan)]
        with_support += [(n, _State(j, value)) for n, value in states if FEWEST_BREAKS <= n < table.n_rows]
    if len(with_support) > _MOST_STATES:
        with_support = sorted(with_support, key=lambda state: -state[0])[:_MOST_STATES]
        with_support.sort(key=lambda state: state[1][:1])
    return [state for _, state in with_support]


def _edges(table: Table, states: list[_State], told: set[tuple[int, int]]) -> dict[int, set[int]]:
    """By state the states that it implies."""
    has = np.array([_is(table.cells[state.column], state.value) for state in states], np.float32)
    column = np.array([state.column for state in states])
    is_gap = np.isnan([state.value for state in states])
    # a gap in the implied column says nothing, unless gaps are what is implied
    present = np.array([table.present[state.column] | np.isnan(state.value) for state in states], np.float32)
    both, able = np.rint(has @ has.T), np.rint(has @ present.T)
    share = has.sum(axis=1) / np.maximum(present.sum(axis=1), 1.0)
    exceptions, expected = able - both, able * (1.0 - share)
    likely = (exceptions <= MOST_EXCEPTIONS * able) & (expected >= FEWEST_BREAKS)
    likely &= column[:, None] != column
    likely &= ~(is_gap[:, None] & is_gap & (exceptions > 0))
    edges: dict[int, set[int]] = {s: set() for s in range(len(states))}
    for s, t in np.argwhere(likely).tolist():
        pair = (int(column[s]), int(column[t]))
        if pair not in told and is_beyond_chance(float(expected[s, t]), int(exceptions[s, t]), int(able[s, t])):
            edges[s].add(t)
    return edges


def _without_consequences(table: Table, states: list[_State], edges: dict[int, set[int]]) -> list[tuple[int, int]]:
    """Pairs of states that do not follow from other pairs."""
    speaker = _speakers(edges)
    kept = []
    for s, implied in edges.items():
        for t in sorted(implied):
            if speaker[s] == speaker[t]:
                follows = speaker[s] not in (s, t)  # of equals, one speaks for all
            else:
                follows = (s, t) != (speaker[s], speaker[t]) or _has_middle(edges, speaker, s, t)
            if not follows and not _is_turned(table, states, edges, s, t):
                kept.append((s, t))
    return kept


def _speakers(edges: dict[int, set[int]]) -> dict[int, int]:
    """By state the first one that implies it and is implied by it, or itself."""
    return {s: min([s, *(t for t in implied if s in edges[t])]) for s, implied in edges.items()}


def _has_middle(edges: dict[int, set[int]], speaker: dict[int, int], s: int, t: int) -> bool:
    return any(t in edges[m] and speaker[m] not in (speaker[s], speaker[t]) for m in edges[s])


def _is_turned(table: Table, states: list[_State], edges: dict[int, set[int]], s: int, t: int) -> bool:
    """Whether s → t is what the other level of t's column says: it implies something else than s."""
    column, value = states[t]
    if np.isnan(value) or not table.present[column].all():
        return False
    present = np.unique(table.cells[column])
    if len(present) != 2 or table.schema.columns[column].is_number:
        return False
    others = [k for k, state in enumerate(states) if state.column == column and state.value != value]
    beside = [u for k in others for u in edges[k] if states[u].column == states[s].column]
    return any(u != s and not np.isnan(states[s].value) for u in beside)


def _implication(table: Table, state: _State, implied: _State) -> Implication:
    found = Implication(state.column, state.value, implied.column, implied.value, _away(table, state, implied))
    applies = found.applies(table.matrix)
    if not np.isnan(implied.value):
        applies = applies & ~np.isnan(table.matrix[:, implied.column])
    return with_counts(found, int(applies.sum()), int(found.broken(table.matrix).sum()))


def _away(table: Table, state: _State, implied: _State) -> tuple[tuple[float, float], ...]:
    """By value of the implied column that is not implied, the most frequent value of the other one beside it."""
    if not np.isnan(implied.value) and table.schema.columns[implied.column].is_number:
        return ()
    cells, beside = table.cells[implied.column], table.cells[state.column]
    usable = ~_is(cells, implied.value) & ~np.isnan(cells) & ~np.isnan(beside) & ~_is(beside, state.value)
    values = np.unique(cells[usable])
    if len(values) > 50:
        return ()
    return tuple((float(value), _most_frequent(beside[usable & (cells == value)])) for value in values.tolist())


def _most_frequent(cells: np.ndarray) -> float:
    values, counts = np.unique(cells, return_counts=True)
    return float(values[counts.argmax()])
