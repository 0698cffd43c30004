"""`ConstraintKind`: all that is to be known of one kind of constraint; the kinds there are; what kinds share.

1. `check` takes what a user says and checks what needs no data; it copies, so that it can not change later.
2. `parts` checks the rest against a schema and one row, and makes the parts of `Limits`. What contradicts itself for
   every row is an error. What leaves this one row no choice is not, since the same constraints serve many rows.
3. `entries` are the single things that are said, as columns and a value; `phrase` words one of them.
4. `to_json` and `from_json` keep names and levels with their types.
5. `option` is how a command line says it.

`register` makes a kind a keyword of `Constraints`, an option, a sentence and a field of the JSON at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from countarfactuals.exceptions import ConstraintError, DataError, DataTypeError, Setting, did_you_mean, listed

from .clause import MISSING_TAG, Clause, is_missing, plain, tagged, untagged
from .naming import Wording
from .parts import CellLimit, Part, Pool, Steering

if TYPE_CHECKING:
    from countarfactuals.schema import Column, Schema

    from .option import Option

__all__ = [  # what a kind is made of
    "KINDS",
    "MISSING_TAG",
    "ByColumn",
    "CellLimit",
    "Clause",
    "ColumnSets",
    "Columns",
    "ConstraintKind",
    "Part",
    "Pool",
    "Row",
    "Steering",
    "Wording",
    "is_missing",
    "plain",
    "register",
    "tagged",
    "untagged",
]

Columns = tuple[Hashable, ...]
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Row:
    """The row that constraints are bound to, and what parts of several kinds must know."""

    schema: Schema
    x: np.ndarray
    allow_missing: bool

    def column(self, name: Any, kind: ConstraintKind[Any]) -> tuple[int, Column]:
        """A column by its name, and where it stands."""
        try:
            j = self.schema.index(name)
        except DataError as error:
            raise kind.refused("{parameter}: {reason}", column=name, reason=error) from None
        except TypeError:
            raise kind.refused(
                "{parameter} must name columns, got {got!r} of type {type}; known columns: {allowed}.",
                got=name,
                type=type(name).__name__,
                allowed=listed(self.schema.names),
            ) from None
        return j, self.schema.columns[j]


class ConstraintKind(ABC, Generic[Value]):
    """One kind of constraint.

    Attributes
    ----------
    name : the keyword of `Constraints`.
    label : what the names of its clauses begin with, such as `range` in `range: income`.
    default : the value that says nothing.
    option : of a command line; None if it has none.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    default: ClassVar[Any] = ()
    option: ClassVar[Option | None] = None

    @abstractmethod
    def check(self, value: Any) -> Value:
        """What is said, copied, or an error that tells what may be said."""

    @abstractmethod
    def parts(self, value: Value, row: Row) -> Iterable[Part]:
        """What it means for one row."""

    @abstractmethod
    def entries(self, value: Value) -> Iterable[tuple[Columns, Any]]:
        """The single things that are said: of which columns, and what."""

    @abstractmethod
    def phrase(self, columns: Columns, entry: Any, words: Wording) -> str | None:
        """One thing as a sentence without its full stop; None if it says nothing."""

    def clause_text(self, clause: Clause, words: Wording) -> str:
        """A clause of this kind as a diagnosis tells it."""
        return self.phrase(clause.columns, clause.value, words) or str(clause)

    def without(self, value: Value, clause: Clause) -> Any:
        """What is said but for one thing; nothing, unless the kind says several."""
        return self.default

    def to_json(self, value: Value) -> Any:
        """What is said as plain JSON types."""
        return tagged(value)

    def from_json(self, stored: Any) -> Any:
        """The inverse of `to_json`."""
        return untagged(stored)

    def from_file(self, value: Any, schema: Schema) -> Any:
        """What a file of wishes says, where texts stand for levels and may have the form of an option."""
        return value

    def clause(self, columns: Columns, entry: Any = None) -> Clause:
        """The name of one thing that is said, and what it is."""
        about = ", ".join(map(str, columns))
        return Clause(f"{self.label}: {about}" if columns else self.label, self.name, columns, entry)

    def refused(self, sentence: str, **fields: Any) -> ConstraintError:
        """An error that speaks of this kind, as `{parameter}`."""
        return ConstraintError(sentence, parameter=Setting(self.name), **fields)

    def items(self, value: Any, what: str, example: str, where: str = "{parameter}", **fields: Any) -> tuple[Any, ...]:
        """The items of a collection that is no text."""
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Collection):
            sentence = f"{where} must be {what}, got {{got!r}}. For example {{example}}."
            raise self.refused(sentence, got=value, example=example, **fields)
        return tuple(value)

    def code(self, level: Any, column: Column) -> float:
        """The code of a level; one that is unknown or no level is refused."""
        import pandas as pd

        if pd.api.types.is_scalar(level) and pd.isna(level):
            sentence = "{parameter} of {column!r} names {got!r}. Say MISSING for a missing cell."
            raise self.refused(sentence, column=column.name, got=level)
        try:
            return column.encode(level)
        except (DataError, DataTypeError) as error:
            raise self.refused("{parameter}: {reason}", column=column.name, got=level, reason=error) from None


class ByColumn(ConstraintKind[dict[Hashable, Value]], Generic[Value]):
    """A kind that says one thing of each of some columns, in a dict."""

    default: ClassVar[Any] = {}
    example: ClassVar[str]

    @abstractmethod
    def check_entry(self, name: Hashable, entry: Any) -> Value:
        """As `check`, of one column."""

    def part(self, clause: Clause, entry: Value, j: int, column: Column, row: Row) -> Part | None:
        """As `parts`, of one column; None for a kind that forbids nothing."""
        return None

    def check(self, value: Any) -> dict[Hashable, Value]:
        """A dict with checked entries."""
        if not isinstance(value, Mapping):
            sentence = "{parameter} must be a dict by column, got {got!r}. For example {example}."
            raise self.refused(sentence, got=value, example=f"{self.name}={self.example}")
        return {name: self.check_entry(name, entry) for name, entry in value.items()}

    def entries(self, value: dict[Hashable, Value]) -> Iterable[tuple[Columns, Any]]:
        """By column."""
        return (((name,), entry) for name, entry in value.items())

    def parts(self, value: dict[Hashable, Value], row: Row) -> Iterator[Part]:
        """One part for each column."""
        for name, entry in value.items():
            j, column = row.column(name, self)
            part = self.part(self.clause((name,), entry), entry, j, column, row)
            if part is not None:
                yield part

    def without(self, value: dict[Hashable, Value], clause: Clause) -> dict[Hashable, Value]:
        """The other columns."""
        return {name: entry for name, entry in value.items() if name not in clause.columns}

    def from_file(self, value: Any, schema: Schema) -> Any:
        """By column, whose entries may have the form of an option."""
        if not isinstance(value, Mapping):
            return value
        names = schema.names_by_text
        if unknown := [name for name in value if name not in names]:
            sentence = "There is no column {column!r}; known columns: {allowed}.{hint}"
            hint = did_you_mean(unknown[0], names)
            raise self.refused(sentence, column=unknown[0], allowed=listed(names), hint=hint)
        places = {names[name]: (schema.index(names[name]), entry) for name, entry in value.items()}
        return {name: self.entry_from_file(schema.columns[j], entry) for name, (j, entry) in places.items()}

    def entry_from_file(self, column: Column, entry: Any) -> Any:
        """As `from_file`, of one column."""
        read = None if self.option is None else self.option.read_entry
        return entry if read is None or not isinstance(entry, str) else read(column, entry)

    def entry_to_json(self, entry: Value) -> Any:
        """As `to_json`, of one column."""
        return tagged(entry)

    def entry_from_json(self, stored: Any) -> Any:
        """The inverse of `entry_to_json`."""
        return untagged(stored)

    def to_json(self, value: dict[Hashable, Value]) -> Any:
        """An object where all names are text, else pairs of a name and what is said of it."""
        if all(isinstance(name, str) for name in value):
            return {name: self.entry_to_json(entry) for name, entry in value.items()}
        return [[tagged(name), self.entry_to_json(entry)] for name, entry in value.items()]

    def from_json(self, stored: Any) -> dict[Hashable, Any]:
        """The inverse of `to_json`."""
        if isinstance(stored, Mapping):
            return {name: self.entry_from_json(entry) for name, entry in stored.items()}
        return {untagged(name): self.entry_from_json(entry) for name, entry in stored}


class ColumnSets(ConstraintKind[tuple[Columns, ...]]):
    """A kind that says the same of each of some sets of columns, in a list of lists."""

    @abstractmethod
    def part(self, clause: Clause, columns: np.ndarray, row: Row) -> Part:
        """As `parts`, of one set; `columns` are where they stand, ascending."""

    def check(self, value: Any) -> tuple[Columns, ...]:
        """A tuple of tuples."""
        example = f'{self.name}=[["a", "b"]]'
        sets = self.items(value, "a list of lists of columns", example)
        return tuple(self.items(names, "a list of columns", example, "An entry of {parameter}") for names in sets)

    def entries(self, value: tuple[Columns, ...]) -> Iterable[tuple[Columns, Any]]:
        """By set."""
        return ((names, None) for names in value)

    def parts(self, value: tuple[Columns, ...], row: Row) -> Iterator[Part]:
        """One part for each set; the same set counts once."""
        positions: dict[tuple[int, ...], None] = {}
        for names in value:
            columns = tuple(sorted({row.column(name, self)[0] for name in names}))
            if len(columns) < 2:
                sentence = "An entry of {parameter} must name two or more columns, got {got}."
                raise self.refused(sentence, got=listed(names) or "none")
            positions[columns] = None
        for columns in positions:
            yield self.part(self.clause(tuple(row.schema.columns[j].name for j in columns)), np.array(columns), row)

    def without(self, value: tuple[Columns, ...], clause: Clause) -> tuple[Columns, ...]:
        """The other sets."""
        return tuple(names for names in value if set(names) != set(clause.columns))

    def to_json(self, value: tuple[Columns, ...]) -> Any:
        """A list of lists."""
        return [[tagged(name) for name in names] for names in value]


KINDS: dict[str, ConstraintKind[Any]] = {}  # by name, in the order of their sentences


def register(kind: ConstraintKind[Any]) -> None:
    """Make a kind known; one of the same name is replaced."""
    KINDS[kind.name] = kind
