"""What is wanted and what may change: from options to a `Target` and `Constraints`.

1. While options are parsed only their form is looked at (`pair`, `assignment`, `names`, `row_numbers`): what can not be
   read is a wrong use of the command.
2. `target_of` and `constraints_of` then find classes, columns and levels by their texts. What the library would refuse
   in its own words is refused here, in those of the command line.
"""

from __future__ import annotations

import argparse
import csv
import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from countarfactuals.cli.text import level_of
from countarfactuals.constraints import Constraints
from countarfactuals.exceptions import (
    ConstraintError,
    CountarfactualsError,
    DataError,
    TargetError,
    did_you_mean,
    listed,
)
from countarfactuals.prediction import Target
from countarfactuals.prediction.models import BINARY, REGRESSION
from countarfactuals.prediction.predictor import Predictor
from countarfactuals.schema import Column, Kind, Schema

_WAYS = ("increase", "decrease")


def names(text: str) -> tuple[str, ...]:
    """Names with commas between them; one that holds a comma stands in double quotes.

    >>> names('age, "born in, at"')
    ('age', 'born in, at')
    """
    parts = [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]
    if not parts or not all(parts):
        raise argparse.ArgumentTypeError(f"needs names with commas between them, such as age,country; got {text!r}")
    return tuple(parts)


def as_option(said: Sequence[str]) -> str:
    """Names as a shell hands them to `names`.

    >>> as_option(["age", "born in"])
    "'age,born in'"
    """
    return shlex.quote(",".join(f'"{name}"' if "," in name else name for name in said))


def pair(text: str) -> tuple[float, float]:
    """Two numbers with a comma between them."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"needs two numbers, low and high, such as .7,1; got {text!r}") from None
    return low, high


def assignment(text: str) -> str:
    """A column and what is said of it, with = between them."""
    name, sign, value = text.rpartition("=")
    if not (sign and name and value):
        raise argparse.ArgumentTypeError(f"needs column=value; got {text!r}")
    return text


def interval(text: str) -> str:
    """A column and a range, such as income=0:60000."""
    name, sign, value = text.rpartition("=")
    if not (sign and name) or value.count(":") != 1 or value == ":":
        raise argparse.ArgumentTypeError(
            f"needs column=low:high, one end may be left out as in income=0:60000 or income=:60000; got {text!r}"
        )
    return text


def row_numbers(text: str) -> tuple[int, ...] | None:
    """Numbers of rows, such as 3,17 or 0-4; None for "all".

    >>> row_numbers("3,0-2")
    (3, 0, 1, 2)
    """
    if text.strip().lower() == "all":
        return None
    rows: list[int] = []
    try:
        for part in text.split(","):
            first, sign, last = part.strip().partition("-")
            numbers = range(int(first), int(last if sign else first) + 1)
            if not numbers:
                raise ValueError
            rows += numbers
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"needs numbers of rows, counted from 0, such as 3,17 or 0-4, or all; got {text!r}"
        ) from None
    return tuple(dict.fromkeys(rows))


def target_of(options: argparse.Namespace, predictor: Predictor) -> Target | None:
    """The target that the options say; None for the other class of a binary model."""
    want, said = options.want, {"above": options.above, "below": options.below}
    limits = {name: value for name, value in said.items() if value is not None}
    for name, value in limits.items():
        if not math.isfinite(value):
            raise TargetError(f"--{name} needs a finite number, got {value}.")
    if predictor.task == REGRESSION:
        if want is not None or options.probability is not None:
            raise TargetError(
                "The model predicts numbers, so there is no class to want. Say --above or --below, or both."
            )
        if not limits:
            raise TargetError("The model predicts numbers. Say which are wanted: --above or --below, or both.")
        return Target(**limits)
    if options.probability is not None and want is None:
        raise TargetError(f"--probability needs --want: one of the classes {listed(predictor.classes)}.")
    if want is None and not limits:
        if predictor.task == BINARY:
            return None
        raise TargetError(
            f"The model has several classes. Say which one is wanted: --want {listed(predictor.classes)}."
        )
    outcome = None if want is None else _class_of(want, predictor.classes)
    return Target(outcome, probability=options.probability, **limits)


def _class_of(text: str, classes: Sequence[Any]) -> Any:
    """The class that a text stands for."""
    alike = [label for label in classes if str(label) == text]
    alike += [label for label in classes if str(label).lower() == text.lower()]
    alike += [label for label in classes if isinstance(label, int | float) and _is_number(text, label)]
    if not alike:
        raise TargetError(
            f"The model has no class {text!r}; its classes: {listed(classes)}.{did_you_mean(text, classes)}"
        )
    return alike[0]


def _is_number(text: str, value: float) -> bool:
    try:
        return not isinstance(value, bool) and float(text) == value
    except ValueError:
        return False


def constraints_of(options: argparse.Namespace, schema: Schema) -> Constraints:
    """The constraints that the options say."""
    fixed = [_column(name, schema, "--fix").name for said in options.fix for name in _whole(said, schema)]
    if len(set(fixed)) == len(schema.columns):
        raise ConstraintError("--fix names every column, so that nothing may change. Leave at least one out.")
    ranges = {column.name: _range(column, text) for column, text in _assigned(options.range, schema, "--range").items()}
    allowed = {
        column.name: [_level(column, part, "--allowed") for part in parts_of(text, f"--allowed {column.name}")]
        for column, text in _assigned(options.allowed, schema, "--allowed").items()
    }
    ways = _assigned(options.direction, schema, "--direction")
    if options.max_changed is not None and options.max_changed < 1:
        raise ConstraintError(
            f"--max-changed must be at least 1, got {options.max_changed}: without any change there is no "
            "counterfactual. Leave it out for no bound."
        )
    return Constraints(
        fixed=fixed,
        ranges=ranges,
        allowed=allowed,
        direction={column.name: _way(column, text) for column, text in ways.items()},
        max_changed=options.max_changed,
        allow_missing=options.allow_missing,
    )


def _whole(said: tuple[str, ...], schema: Schema) -> tuple[str, ...]:
    """The names, or their join where that is a column whose name holds a comma."""
    for joined in (",".join(said), ", ".join(said)):
        if joined in schema.names:
            return (joined,)
    return said


def _column(name: str, schema: Schema, option: str) -> Column:
    if name not in schema.names:
        raise _unknown(name, [str(one) for one in schema.names], option, ConstraintError)
    return schema.columns[schema.index(name)]


def _unknown(name: str, known: Sequence[str], option: str, error: type[CountarfactualsError]) -> CountarfactualsError:
    return error(f"{option}: there is no column {name!r}; known columns: {listed(known)}.{did_you_mean(name, known)}")


def _assigned(said: Sequence[str], schema: Schema, option: str) -> Mapping[Column, str]:
    by_name = assigned_by_name(said, [str(name) for name in schema.names], option, ConstraintError)
    return {schema.columns[schema.index(name)]: text for name, text in by_name.items()}


def assigned_by_name(
    said: Sequence[str], known: Sequence[str], option: str, error: type[CountarfactualsError]
) -> dict[str, str]:
    """What is said, by column; a name or a value may hold = itself."""
    parts: dict[str, str] = {}
    for text in said:
        fitting = [name for name in known if text.startswith(f"{name}=")]
        if not fitting:
            raise _unknown(text.partition("=")[0], known, option, error)
        name = max(fitting, key=len)
        if name in parts:
            raise error(f"{option} is given twice for {name!r}. Say it once.")
        parts[name] = text.removeprefix(f"{name}=")
    return parts


def parts_of(text: str, option: str) -> tuple[str, ...]:
    """As `names`, of a part of an option that was parsed already."""
    try:
        return names(text)
    except (argparse.ArgumentTypeError, csv.Error):
        raise ConstraintError(
            f"{option} needs levels with commas between them, such as low,high; got {text!r}."
        ) from None


def _range(column: Column, text: str) -> tuple[Any, Any]:
    if not column.is_number and column.kind is not Kind.ORDERED:
        raise ConstraintError(
            f"--range: the levels of {column.name!r} have no order, so there is no range of them. Say which are "
            f"allowed: --allowed {column.name}=LEVEL,…, of {listed(column.levels)}.{_how_to_order(column)}"
        )
    low, _, high = text.partition(":")
    ends = _end(column, low), _end(column, high)
    if column.is_number and None not in ends and ends[0] > ends[1]:
        raise ConstraintError(
            f"--range: {text!r} of {column.name!r} is empty, its low end is above its high end. Swap them."
        )
    return ends


def _end(column: Column, text: str) -> Any:
    if not text.strip():
        return None
    if not column.is_number:
        return _level(column, text, "--range")
    try:
        value = float(text)
    except ValueError:
        raise ConstraintError(f"--range: {column.name!r} holds numbers, got {text!r} as an end of its range.") from None
    if not math.isfinite(value):
        raise ConstraintError(f"--range: {column.name!r} has the end {text!r}. Leave an end out to keep it open.")
    return int(value) if value.is_integer() else value


def _way(column: Column, text: str) -> str:
    if text not in _WAYS:
        raise ConstraintError(
            f"--direction: {column.name!r} can increase or decrease, got {text!r}.{did_you_mean(text, _WAYS)}"
        )
    if column.kind is Kind.CATEGORY:
        raise ConstraintError(
            f"--direction: the levels of {column.name!r} have no order, so it can not {text}. Say which are allowed: "
            f"--allowed {column.name}=LEVEL,…, of {listed(column.levels)}.{_how_to_order(column)}"
        )
    return text


def _how_to_order(column: Column) -> str:
    if column.kind is not Kind.CATEGORY:
        return ""
    return f" Or fit again and tell their order: fit --ordered {column.name}=LOWEST,…,HIGHEST."


def _level(column: Column, text: str, option: str) -> Any:
    if column.is_number:
        raise ConstraintError(
            f"{option}: {column.name!r} holds numbers, not levels. Use --range {column.name}=low:high."
        )
    try:
        return level_of(column, text.strip())
    except DataError as error:
        raise ConstraintError(f"{option}: {error}") from None
