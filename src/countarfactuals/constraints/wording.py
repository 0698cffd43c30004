"""Constraints in words: sentences for reports, and plain JSON types for records."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.arf.given import MISSING

if TYPE_CHECKING:
    from .language import Constraints


def is_missing(level: Any) -> bool:
    """Whether a user means a missing cell; a copy of `MISSING` from another process does too."""
    return isinstance(level, type(MISSING))


def function_name(function: Callable[[Any], Any]) -> str:
    """The name of a rule's function, also of a partial one or an object that can be called."""
    function = getattr(function, "func", function)
    return str(getattr(function, "__name__", type(function).__name__))


def is_open(end: Any) -> bool:
    """Whether an interval has no such end."""
    return end is None or (isinstance(end, float | np.floating) and math.isinf(end))


def as_dict(said: Constraints) -> dict[str, Any]:
    """What is said, in plain JSON types; parts of which nothing is said are left out."""
    written = {
        "fixed": [_label(name) for name in said.fixed],
        "ranges": {
            _label(name): [None if is_open(end) else _plain(end) for end in ends] for name, ends in said.ranges.items()
        },
        "allowed": {_label(name): _allowed_as_json(levels) for name, levels in said.allowed.items()},
        "direction": {_label(name): way for name, way in said.direction.items()},
        "max_changed": said.max_changed,
        "rules": [
            {"function": function_name(rule)} if callable(rule) else [_label(rule[0]), rule[1], _label(rule[2])]
            for rule in said.rules
        ],
        "groups": [[_label(name) for name in names] for names in said.groups],
        "exactly_one": [[_label(name) for name in names] for names in said.exactly_one],
        "weights": {_label(name): weight for name, weight in said.weights.items()},
        "allow_missing": bool(said.allow_missing),
    }
    return {key: value for key, value in written.items() if value}


def _allowed_as_json(levels: Any) -> Any:
    if isinstance(levels, Mapping):
        # pairs and not a dict, as JSON has no keys but strings
        return {"from_to": [[_plain(start), [_plain(end) for end in ends]] for start, ends in levels.items()]}
    return [_plain(level) for level in levels]


def _label(name: Hashable) -> str:
    return str(name)


def _plain(value: Any) -> Any:
    if is_missing(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def sentences(said: Constraints) -> list[str]:
    """One sentence for each thing that is said."""
    return [
        *(f"{_quoted(name)} does not change." for name in said.fixed),
        *(_range_sentence(name, *ends) for name, ends in said.ranges.items() if not all(map(is_open, ends))),
        *(_allowed_sentence(name, levels) for name, levels in said.allowed.items()),
        *(f"{_quoted(name)} can only {way}." for name, way in said.direction.items()),
        *(
            [f"At most {said.max_changed} feature{'s' * (said.max_changed > 1)} may change."]
            if said.max_changed
            else []
        ),
        *(_rule_sentence(rule) for rule in said.rules),
        *(f"{_joined(names, 'and')} change together or not at all." for names in said.groups),
        *(f"Exactly one of {_joined(names, 'and')} is 1." for names in said.exactly_one),
        *(f"A change of {_quoted(name)} is weighted by {weight:g}." for name, weight in said.weights.items()),
        *(["Values may become missing."] if said.allow_missing else []),
    ]


def _range_sentence(name: Hashable, low: Any, high: Any) -> str:
    if is_open(low):
        ends = f"at most {_plain(high)}"
    elif is_open(high):
        ends = f"at least {_plain(low)}"
    else:
        ends = f"a value from {_plain(low)} to {_plain(high)}"
    return f"If {_quoted(name)} changes, it becomes {ends}."


def _allowed_sentence(name: Hashable, levels: Any) -> str:
    if not isinstance(levels, Mapping):
        return f"If {_quoted(name)} changes, it becomes {_joined(levels, 'or')}."
    ways = "; ".join(f"from {_quoted(start)} to {_joined(ends, 'or')}" for start, ends in levels.items() if ends)
    return f"{_quoted(name)} can only change {ways}." if ways else f"{_quoted(name)} does not change."


def _rule_sentence(rule: Any) -> str:
    if callable(rule):
        return f"The rule {function_name(rule)} holds."
    return f"{_quoted(rule[0])} {rule[1]} {_quoted(rule[2])}."


def _quoted(value: Any) -> str:
    return "missing" if is_missing(value) else repr(_plain(value))


def _joined(values: Iterable[Any], word: str) -> str:
    quoted = [_quoted(value) for value in values]
    return f" {word} ".join([part for part in (", ".join(quoted[:-1]), *quoted[-1:]) if part])
