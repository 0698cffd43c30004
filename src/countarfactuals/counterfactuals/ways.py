"""`CommonWays`: a few changes that would help many rows, with whom they help; as data and in words.

A way is a set of changes that are the same for all: numbers and ordered levels become at least, or at most, a value,
which a row that is there already keeps; other levels become one. It helps a row that needs the outcome if the changed
row has it, violates none of the row's constraints, and is typical enough.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import pandas as pd

from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import joined, name_text, share_text, value_texts
from countarfactuals.language.vocabulary import TEXT, Words, words_of
from countarfactuals.schema import Column, Schema

if TYPE_CHECKING:
    from countarfactuals.language.vocabulary import Unit

AT_LEAST, AT_MOST, BECOMES = "at least", "at most", "becomes"


class Change(NamedTuple):
    """What becomes of one column: `kind` is "at least", "at most" or "becomes", `value` is in matrix codes."""

    column: int
    kind: str
    value: float

    def applied(self, cells: np.ndarray) -> np.ndarray:
        """The cells after it; a missing one is filled."""
        if self.kind == BECOMES:
            return np.full(len(cells), self.value)
        return np.fmax(cells, self.value) if self.kind == AT_LEAST else np.fmin(cells, self.value)


@dataclass(frozen=True, eq=False)
class Way:
    """Some changes, and whom they help.

    Parameters
    ----------
    changes : what becomes of which columns.
    helped : labels of all rows that it helps.
    newly : how many of them none of the ways before it helps.
    n_needing : how many rows need the outcome.
    typicality : of the changed rows, one for each row that is helped.
    distance : of the changed rows to their own, likewise.
    """

    changes: tuple[Change, ...]
    helped: tuple[Hashable, ...]
    newly: int
    n_needing: int
    typicality: np.ndarray
    distance: np.ndarray

    @property
    def share(self) -> float:
        """Share of the rows that need the outcome which it helps."""
        return len(self.helped) / self.n_needing


@dataclass(frozen=True, eq=False, repr=False)
class CommonWays(Sequence[Way]):
    """Ways in the order in which they were found: each helps most of those whom the ways before it do not help.

    Parameters
    ----------
    schema : of the rows.
    ways : at most as many as were asked for.
    needing : labels of the rows that need the outcome.
    min_typicality : that a changed row must have to count as helped.
    n_tried : how many sets of changes were tried, with one call of the model each.
    """

    schema: Schema
    ways: tuple[Way, ...]
    needing: tuple[Hashable, ...]
    min_typicality: float
    n_tried: int

    def __len__(self) -> int:
        return len(self.ways)

    @overload
    def __getitem__(self, at: int) -> Way: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Way]: ...

    def __getitem__(self, at: int | slice) -> Way | Sequence[Way]:
        """The way at a position."""
        return self.ways[at]

    @property
    def share(self) -> float:
        """Share of the rows that need the outcome which at least one way helps."""
        return sum(way.newly for way in self.ways) / len(self.needing) if self.needing else 0.0

    def changes(self) -> pd.DataFrame:
        """One line per change: way, feature, kind ("at least", "at most" or "becomes"), value."""
        lines = [
            [
                number,
                self.schema.names[change.column],
                change.kind,
                self.schema.decode_value(change.column, change.value),
            ]
            for number, way in enumerate(self.ways)
            for change in way.changes
        ]
        return pd.DataFrame(lines, columns=["way", "feature", "kind", "value"])

    def to_frame(self) -> pd.DataFrame:
        """One line per way: its changes in words, whom it helps, and the medians of typicality and distance."""
        words = self._words(None, "rows")
        lines = [
            [
                number,
                way_text(self.schema, way, words),
                len(way.changes),
                len(way.helped),
                way.share,
                way.newly,
                float(np.median(way.typicality)),
                float(np.median(way.distance)),
            ]
            for number, way in enumerate(self.ways)
        ]
        names = ["way", "changes", "n_changes", "n_helped", "share", "newly", "typicality", "distance"]
        return pd.DataFrame(lines, columns=names)

    def helped(self) -> pd.DataFrame:
        """Whom each way helps: one line per row that needs the outcome, one column of bools per way."""
        columns = {number: [label in set(way.helped) for label in self.needing] for number, way in enumerate(self.ways)}
        index = pd.Index(list(self.needing), name="row", tupleize_cols=False)
        return pd.DataFrame(columns, index=index, dtype=np.bool_)

    def describe(self, *, units: Mapping[Hashable, Unit] | None = None, rows: Unit = "rows") -> str:
        """In plain language; the parameters are those of `Counterfactuals.describe`."""
        return "\n".join(sentences(self, self._words(units, rows)))

    def _words(self, units: Mapping[Hashable, Unit] | None, rows: Unit) -> Words:
        return words_of(self.schema.names, units, rows, None, TEXT)

    def __repr__(self) -> str:
        return self.describe()


def way_text(schema: Schema, way: Way, words: Words) -> str:
    """`income at least €40,000 and duration at most 24 months`."""
    return joined([_change_text(schema.columns[change.column], change, words) for change in way.changes])


def _change_text(column: Column, change: Change, words: Words) -> str:
    (text,) = value_texts(column, [change.value])
    name, value = words.style.escape(name_text(column.title, 60)), words.amount(column.name, text)
    phrases = {AT_LEAST: "{name} at least {value}", AT_MOST: "{name} at most {value}", BECOMES: "{name} {value}"}
    return tr(phrases[change.kind], name=name, value=value)


def sentences(ways: CommonWays, words: Words) -> list[str]:
    """What each way would do, and what it does not promise."""
    n, rows = len(ways.needing), words.rows[1]
    if not n:
        return [tr("All {rows} have the wanted outcome already.", rows=rows)]
    if not ways:
        least = share_text(ways.min_typicality)
        return [
            tr("None of {tried:,} sets of changes helps any of {n:,} {rows} with a typicality of at least {least}.",
               tried=ways.n_tried, n=n, rows=rows, least=least),
        ]  # fmt: skip
    told = [f"{number}. {_sentence(ways, way, number, words)}" for number, way in enumerate(ways, start=1)]
    total = counted(
        len(ways),
        "With this one way {share} of {all:,} {rows} that need it would have the wanted outcome.",
        "With one of these {n} ways {share} of {all:,} {rows} that need it would have the wanted outcome.",
        share=share_text(ways.share),
        all=n,
        rows=rows,
    )
    return [*told, f"{total} {tr('By the model, not as a promise: what follows if someone acts is another question.')}"]


def _sentence(ways: CommonWays, way: Way, number: int, words: Words) -> str:
    values: dict[str, Any] = {
        "way": way_text(ways.schema, way, words),
        "n": len(way.helped),
        "all": way.n_needing,
        "rows": words.rows[1],
        "share": share_text(way.share),
        "new": way.newly,
        "typicality": share_text(float(np.median(way.typicality))),
    }
    if number == 1:
        helps = tr("{way}: would help {n:,} of {all:,} {rows} ({share}).", **values)
    else:
        helps = tr("{way}: would help {n:,} of {all:,} {rows} ({share}), {new:,} of them new.", **values)
    typical = tr("In the median they would be more typical than {typicality} of real {rows}.", **values)
    return f"{helps} {typical}"
