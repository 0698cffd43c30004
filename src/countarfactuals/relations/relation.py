"""What a relation says of a row, in matrix codes. A missing cell breaks none, unless gaps are what it is about."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np

from countarfactuals.language import tr
from countarfactuals.language.spelling import name_text, value_texts

if TYPE_CHECKING:
    from countarfactuals.language.vocabulary import Words
    from countarfactuals.schema import Schema


@runtime_checkable
class Relation(Protocol):
    """Something that all rows of the data keep, or all but few."""

    kind: ClassVar[str]

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it speaks of."""

    @property
    def dependent(self) -> int | None:
        """The column that changes along with the others; None if none does more than another."""

    @property
    def is_exact(self) -> bool:
        """Whether `computed` is the only value that the dependent column may have."""

    @property
    def support(self) -> int:
        """How many rows it speaks of."""

    @property
    def exceptions(self) -> int:
        """How many of them break it."""

    def broken(self, rows: np.ndarray) -> np.ndarray:
        """Which rows break it."""

    def computed(self, rows: np.ndarray) -> np.ndarray:
        """By row what the dependent column follows to be; NaN where that is not known."""

    def phrase(self, words: Naming) -> str:
        """In words, as a part of a sentence."""


AnyRelation = TypeVar("AnyRelation", bound=Relation)


class Naming:
    """What columns and values are called in sentences; in the words of a reader, if they are known."""

    def __init__(self, schema: Schema, words: Words | None = None) -> None:
        self.schema = schema
        self.words = None if words is None else words.plain

    def name(self, j: int) -> str:
        """The name of a column."""
        text = name_text(self.schema.names[j])
        return text if self.words is None else self.words.written(text)

    def value(self, j: int, code: float) -> str:
        """A cell of a column; a gap is "missing"."""
        if np.isnan(code):
            return tr("missing")
        (text,) = value_texts(self.schema.columns[j], [code])
        is_amount = self.words is not None and self.schema.columns[j].is_number
        return self.words.amount(self.schema.names[j], text) if is_amount and self.words is not None else text


def with_counts(relation: AnyRelation, support: int, exceptions: int) -> AnyRelation:
    """The same relation with other counts."""
    return replace(relation, support=support, exceptions=exceptions)  # type: ignore[type-var]


def number_text(value: float) -> str:
    """A number of a formula, with no more digits than it has.

    >>> number_text(2.54), number_text(12.0), number_text(1 / 3)
    ('2.54', '12', '0.333333')
    """
    return f"{value:.6g}"


def plain_fields(relation: Any) -> dict[str, Any]:
    """A relation as JSON types, with its kind."""
    stored = {field.name: _plain(getattr(relation, field.name)) for field in fields(relation)}
    return {"kind": relation.kind, **stored}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value


def restored(stored: Any) -> Any:
    """The inverse of the fields of `plain_fields`."""
    if isinstance(stored, list):
        return tuple(restored(part) for part in stored)
    return float(stored) if stored in ("nan", "inf", "-inf") else stored
