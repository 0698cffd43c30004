"""What a request wants: targets and constraints from JSON. Nothing of it is run; rules and formulas are parsed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from countarfactuals.constraints import KINDS, Constraints
from countarfactuals.exceptions import ConstraintError, CountarfactualsError, Setting, TargetError
from countarfactuals.prediction import Target
from countarfactuals.schema import Schema

_UNREADABLE = (ArithmeticError, AttributeError, KeyError, IndexError, RecursionError, TypeError, ValueError)


def target_of(stored: Any) -> Any:
    """A target as `explain` takes it: None, a class, (low, high), or a `Target`."""
    if isinstance(stored, list):
        return tuple(stored)
    if not isinstance(stored, Mapping):
        return stored
    try:
        return Target.from_dict(stored)
    except CountarfactualsError:
        raise
    except _UNREADABLE as error:
        raise TargetError(
            "{parameter} can not be read: {reason}. Say a class, (low, high), or what the library's JSON has.",
            parameter=Setting("target"),
            reason=str(error),
        ) from error


def constraints_of(stored: Mapping[str, Any] | None, schema: Schema) -> Constraints:
    """Constraints as the library's JSON has them; rules may also be texts such as "loan <= price"."""
    if stored is None:
        return Constraints()
    fields: dict[str, Any] = {}
    for name, value in stored.items():
        if name not in KINDS:
            return Constraints(**{name: value})  # which is refused by name
        fields[name] = _read(name, value, schema)
    return Constraints(**fields)


def _read(name: str, value: Any, schema: Schema) -> Any:
    kind = KINDS[name]
    if value is None:
        return kind.default
    try:
        return kind.from_file(kind.from_json(value), schema)
    except CountarfactualsError:
        raise
    except _UNREADABLE as error:
        raise ConstraintError(
            "{parameter} can not be read: {reason}. Say what the library's JSON has.",
            parameter=Setting(name),
            reason=str(error),
        ) from error
