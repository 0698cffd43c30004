"""What is remarkable about a result, as data: `Note`, with its words, and `Oddity`, a cell unusual given the rest."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from countarfactuals.exceptions import listed
from countarfactuals.language import tr
from countarfactuals.schema import Schema

OBSERVED, EXTRAPOLATES, NOWHERE = "observed outcome", "extrapolates", "no real row"
GAP, GAPS, BEYOND, UNSEEN, FILTERED, TEXT = "gap", "gaps", "beyond the data", "unseen level", "filtered", "text"
BREAKS, CONTRADICTS = "breaks a relation", "contradicts itself"
_PHRASES = {
    OBSERVED: "Judged by the observed outcome: the forest's own probability of it decides what counts as reached, not "
    "the model.",
    EXTRAPOLATES: "No real row reaches the target: every counterfactual extrapolates.",
    NOWHERE: "No real row reaches the target: any counterfactual extrapolates.",
    GAP: "{columns} is missing, as in no real row: it counts as an average value in the plausibility.",
    GAPS: "{columns} are missing, as in no real row: they count as average values in the plausibility.",
    BEYOND: "{columns} is {own}, beyond all real rows, which have {low} to {high}.",
    UNSEEN: "{columns} is {own}, which no real row has.",
    BREAKS: "{n} of {all} counterfactual(s) break what the data keeps: {relation}.",
    CONTRADICTS: "The model contradicts itself: of {asked} row(s) that it was asked about twice, {differing} got "
    "clearly different scores. {left_out} row(s) that did not have the outcome twice are left out.",
    FILTERED: "None of the {n} counterfactual(s) passes the filter: {filters}.",
}


@dataclass(frozen=True)
class Note:
    """What a reader should know.

    Parameters
    ----------
    code : what kind of note it is.
    columns : names of the columns that it is about.
    values : numbers and texts that belong to it, of JSON types.

    >>> print(Note("beyond the data", ("age",), {"own": 99, "low": 18, "high": 75}))
    'age' is 99, beyond all real rows, which have 18 to 75.
    """

    code: str
    columns: tuple[Hashable, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, note: Note | str) -> Note:
        """The note itself, or one of a user's own words."""
        return note if isinstance(note, Note) else cls(TEXT, values={"text": str(note)})

    def __str__(self) -> str:
        if self.code not in _PHRASES:
            return str(self.values.get("text", self.code))
        columns = {"columns": listed(self.columns, 3)} if self.columns and "{columns}" in _PHRASES[self.code] else {}
        return tr(_PHRASES[self.code], **columns, **self.values)

    def titled(self, schema: Schema) -> Note:
        """The same of columns by what readers call them."""
        titles = dict(zip(schema.names, schema.titles, strict=True))
        return replace(self, columns=tuple(titles.get(name, name) for name in self.columns))

    def __hash__(self) -> int:
        return hash((self.code, self.columns, tuple(sorted(self.values))))


class Oddity(NamedTuple):
    """One changed cell that hardly any real row has beside such others.

    Parameters
    ----------
    column : position of the cell's feature.
    beside : position of the feature that makes it unusual, None where no single one does.
    share : of the real cells of this feature that are more surprising given the rest of their rows.
    """

    column: int
    beside: int | None
    share: float

    @classmethod
    def from_list(cls, stored: Any) -> Oddity:
        """From JSON types; ValueError or TypeError for what is none."""
        column, beside, share = stored
        return cls(int(column), None if beside is None else int(beside), float(share))
