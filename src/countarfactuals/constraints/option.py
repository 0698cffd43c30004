"""How a command line says a constraint: the option, and how its texts become a value.

1. While options are parsed only their form is looked at (`names`, `assignment`): what can not be read is a wrong use of
   the command.
2. `Option.read` then finds columns and levels by their texts. What the library would refuse in its own words is
   refused here, in those of the command line.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from countarfactuals.exceptions import ConstraintError, CountarfactualsError, did_you_mean, listed

if TYPE_CHECKING:
    from countarfactuals.schema import Column, Schema

_BOOLEANS = {"true": True, "false": False}
REPEATED: dict[str, Any] = {"action": "append", "default": []}


@dataclass(frozen=True)
class Option:
    """An option of the command line.

    Parameters
    ----------
    flag : such as `--range`.
    read : from what the parser gives, and a schema, to what `Constraints` takes.
    arguments : of `ArgumentParser.add_argument`.
    read_entry : of a kind that says something of each column, how the text for one is read.
    """

    flag: str
    read: Callable[[Any, Schema], Any]
    arguments: Mapping[str, Any]
    read_entry: Callable[[Column, str], Any] | None = None

    @property
    def field(self) -> str:
        """Where the parser puts it."""
        return self.flag.removeprefix("--").replace("-", "_")


def by_column(
    flag: str,
    metavar: str,
    help: str,
    read_entry: Callable[[Column, str], Any],
    form: Callable[[str], str] | None = None,
) -> Option:
    """An option that says one thing of one column, `column=value`; it may be repeated."""

    def read(texts: Sequence[str], schema: Schema) -> dict[Any, Any]:
        by_name = assigned_by_name(texts, list(schema.names_by_text), flag, ConstraintError)
        columns = {name: schema.columns[schema.index(name)] for name in by_name}
        return {column.name: read_entry(column, by_name[name]) for name, column in columns.items()}

    return Option(flag, read, {"type": form or assignment, "metavar": metavar, "help": help, **REPEATED}, read_entry)


def of_columns(flag: str, help: str) -> Option:
    """An option that names a set of columns; it may be repeated."""

    def read(texts: Sequence[tuple[str, ...]], schema: Schema) -> list[list[Any]]:
        return [columns_named([parts], schema, flag) for parts in texts]

    return Option(flag, read, {"type": names, "metavar": "COLUMN,…", "help": help, **REPEATED})


def names(text: str) -> tuple[str, ...]:
    """Names with commas between them; one that holds a comma stands in double quotes.

    >>> names('age, "born in, at"')
    ('age', 'born in, at')
    """
    parts = [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]
    if not parts or not all(parts):
        raise argparse.ArgumentTypeError(f"needs names with commas between them, such as age,country; got {text!r}")
    return tuple(parts)


def columns_named(texts: Sequence[tuple[str, ...]], schema: Schema, flag: str) -> list[Any]:
    """The columns that are named; an unknown one is refused."""
    by_text = schema.names_by_text
    found = [name for parts in texts for name in _whole(parts, by_text)]
    for name in found:
        if name not in by_text:
            raise no_column(name, list(by_text), flag)
    return [by_text[name] for name in found]


def _whole(parts: tuple[str, ...], known: Container[str]) -> tuple[str, ...]:
    """The names, or their join where that is a column whose name holds a comma."""
    joined = [name for name in (",".join(parts), ", ".join(parts)) if name in known]
    return tuple(joined[:1]) or parts


def assignment(text: str) -> str:
    """A column and what is said of it, with = between them."""
    name, sign, value = text.rpartition("=")
    if not (sign and name and value):
        raise argparse.ArgumentTypeError(f"needs column=value; got {text!r}")
    return text


def assigned_by_name(
    texts: Sequence[str], columns: Sequence[str], flag: str, error: type[CountarfactualsError]
) -> dict[str, str]:
    """What is said, by column; a name or a value may hold = itself."""
    parts: dict[str, str] = {}
    for text in texts:
        fitting = [name for name in columns if text.startswith(f"{name}=")]
        if not fitting:
            raise no_column(text.partition("=")[0], columns, flag, error)
        name = max(fitting, key=len)
        if name in parts:
            raise error("{option} is given twice for {column!r}. Say it once.", option=flag, column=name)
        parts[name] = text.removeprefix(f"{name}=")
    return parts


def parts_of(text: str, option: str) -> tuple[str, ...]:
    """As `names`, of a part of an option that was parsed already."""
    try:
        return names(text)
    except (argparse.ArgumentTypeError, csv.Error):
        sentence = "{option} needs levels with commas between them, such as low,high; got {got!r}."
        raise ConstraintError(sentence, option=option, got=text) from None


def level_of(column: Column, text: str) -> Any:
    """The level that a text stands for; a text that stands for none comes back as it is."""
    by_text = {str(level): level for level in column.levels}
    if text not in by_text and column.kind == "boolean":
        return _BOOLEANS.get(text.lower(), text)
    return by_text.get(text, text)


def level_named(column: Column, text: str, flag: str) -> Any:
    """The level of a column that the text of an option stands for."""
    if column.is_number:
        sentence = "{option}: {column!r} holds numbers, not levels. Use --range {column}=low:high."
        raise ConstraintError(sentence, option=flag, column=column.name)
    level = level_of(column, text.strip())
    if level not in column.codes:
        raise ConstraintError(
            "{option}: Column {column!r} has no level {got!r}. {allowed}",
            option=flag,
            column=column.name,
            got=level,
            allowed=column.known_levels(level),
        )
    return level


def without_order(sentence: str, column: Column, **fields: Any) -> ConstraintError:
    """That levels have no order, and what to say instead."""
    order = " Or fit again and tell their order: fit --ordered {column}=LOWEST,…,HIGHEST."
    advice = " Say which are allowed: --allowed {column}=LEVEL,…, of {allowed}."
    sentence += advice + (order if column.kind == "category" else "")
    return ConstraintError(sentence, column=column.name, allowed=listed(column.levels), **fields)


def no_column(
    name: str, columns: Sequence[str], flag: str, error: type[CountarfactualsError] = ConstraintError
) -> CountarfactualsError:
    """The error for an unknown column."""
    return error(
        "{option}: there is no column {column!r}; known columns: {allowed}.{hint}",
        option=flag,
        column=name,
        allowed=listed(columns),
        hint=did_you_mean(name, columns),
    )
