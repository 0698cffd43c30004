"""Constraints that the names of columns suggest. They are told with their reasons and never applied by themselves.

A name is read word by word: AgeYears and age_years both hold "age". What a column is about can not be known from
its name, so every suggestion says why it is made, and a user decides.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from countarfactuals.exceptions import DataTypeError
from countarfactuals.language import tr

if TYPE_CHECKING:
    from countarfactuals.schema import Column, Schema

_WORD = re.compile(r"[A-ZÄÖÜ]?[a-zäöüß]+|[A-ZÄÖÜ]+(?![a-zäöüß])|\d+")
_INBORN = {
    "sex", "gender", "race", "ethnicity", "ethnic", "nationality", "religion", "disability", "birth", "born",
    "birthdate", "birthday", "birthplace", "birthyear", "dob", "native", "caste", "ancestry", "citizenship",
}  # fmt: skip
_PLACES = {"country", "continent", "birthplace"}
_PAST = {
    "built",
    "build",
    "construction",
    "remodelled",
    "remod",
    "founded",
    "opened",
    "joined",
    "hired",
    "issued",
    "sold",
}
_CALENDAR = {"year", "date", "yr", "day", "month", "since"}
_LEARNT = {"education", "degree", "qualification", "schooling", "diploma", "edu"}
_GROWING = {"tenure", "seniority", "experience", "employed", "employment"}
_NO_TIME = {"status", "type", "kind", "class", "sector", "income", "rate"}  # beside which such words mean no time

_REASONS = {
    "inborn": "it is given, and may be protected by law",
    "place": "few people can choose it, and it may be protected by law",
    "age": "no one gets younger",
    "past": "it lies in the past",
    "learnt": "what was learnt stays",
    "time": "time that has passed only grows",
}


class Suggestion(NamedTuple):
    """What might be said of a column.

    Parameters
    ----------
    column : its name.
    kind, value : keyword of `Constraints`, and what it would say of the column: None for `fixed`.
    code : why, a key of `_REASONS`.
    """

    column: Hashable
    kind: str
    value: Any
    code: str

    @property
    def reason(self) -> str:
        """Why, in words."""
        return tr(_REASONS[self.code])

    def __str__(self) -> str:
        way = tr("does not change" if self.kind == "fixed" else "can only increase")
        return tr("{name} {way}: {reason}", name=self.column, way=way, reason=self.reason)


def suggest_constraints(subject: Any) -> tuple[Suggestion, ...]:
    """Constraints that the names of columns suggest, with reasons; nothing is applied.

    Parameters
    ----------
    subject : a `Schema`, or a fitted explainer.

    >>> import pandas as pd
    >>> from countarfactuals.schema import Schema
    >>> people = pd.DataFrame({"age": [30, 40], "sex": ["f", "m"], "income": [1.5, 2.5]})
    >>> for suggestion in suggest_constraints(Schema.infer(people)):
    ...     print(suggestion)
    age can only increase: no one gets younger
    sex does not change: it is given, and may be protected by law
    """
    schema: Schema | None = getattr(subject, "schema_", subject)
    if not hasattr(schema, "columns") or not hasattr(schema, "names"):
        raise DataTypeError(
            "Pass a Schema or a fitted explainer, got {got}. For a frame: Schema.infer(frame).",
            got=type(subject).__name__,
        )
    assert schema is not None
    return tuple(suggestion for column in schema.columns for suggestion in _of(column))


def _of(column: Column) -> Iterator[Suggestion]:
    words = {word.lower() for word in _WORD.findall(str(column.name))}
    has_order = column.kind != "category"
    if words & _INBORN:
        yield Suggestion(column.name, "fixed", None, "inborn")
    elif words & _PLACES:
        yield Suggestion(column.name, "fixed", None, "place")
    elif "age" in words and column.is_number:
        yield Suggestion(column.name, "direction", "increase", "age")
    elif (words & _PAST and (words & _CALENDAR or column.clock)) or (column.is_number and _is_year(words, column)):
        yield Suggestion(column.name, "fixed", None, "past")
    elif words & _LEARNT and has_order:
        yield Suggestion(column.name, "direction", "increase", "learnt")
    elif words & _GROWING and not words & _NO_TIME and column.is_number:
        yield Suggestion(column.name, "direction", "increase", "time")


def _is_year(words: set[str], column: Column) -> bool:
    """Whether a name says year and the values known are years, not numbers of them."""
    known = [*column.values, *column.atoms]
    return "year" in words and bool(known) and min(known) > 1500
