"""`Constraints`: what a user says of the changes a counterfactual may make.

1. Here is checked what needs no data: shapes, signs, words. What is said is copied, so that it can not change later.
2. `bind` checks the rest against a schema and one row (see `binding`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from numbers import Integral, Real
from typing import Any

import numpy as np

from countarfactuals.exceptions import ConstraintError, DataTypeError, did_you_mean
from countarfactuals.schema import Schema

from .binding import DIRECTIONS, bound
from .limits import Limits
from .parts import COMPARISONS
from .wording import as_dict, sentences


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """What may change, how far and in which direction. Every part is optional.

    Parameters
    ----------
    fixed : columns that do not change.
    ranges : by column the interval (low, high) of a changed value, ends included, None for an open end. For numbers,
        and with levels as ends for ordered categories.
    allowed : by column the levels that a changed cell may have; or a dict from each level to those that it may change
        to, where levels that it does not name can not change. `MISSING` stands for a missing cell.
    direction : by column "increase" or "decrease": numbers, ordered categories and booleans (False is below True).
    max_changed : how many columns may change.
    rules : comparisons of two columns such as `("income_min", "<=", "income_max")`, which hold if one is missing; and
        functions of a frame that return one bool per row. They must hold for the whole row, whatever changed. A
        function sees missing cells as its library has them: NaN >= 18 is False and so a violation, NA >= 18 is NA
        and counts as holding.
    groups : lists of columns that change together or not at all.
    exactly_one : lists of columns of which exactly one is 1 (or True), the others 0.
    weights : cost of a change by column in the distance, 1 by default.
    allow_missing : whether a present value may become missing. Even so, a changed cell with a range, a direction or
        allowed levels stays present, unless `MISSING` is among these levels.

    The row's own values may lie outside of what is said and stay. Filling a missing cell is a change.

    >>> import pandas as pd
    >>> loans = pd.DataFrame({"age": [30, 40], "income": [1.5, 2.5], "purpose": ["car", "study"]})
    >>> schema = Schema.infer(loans)
    >>> constraints = Constraints(fixed=["purpose"], ranges={"income": (None, 3)}, direction={"age": "increase"})
    >>> rows = schema.encode(loans)
    >>> limits = constraints.bind(schema, rows[0])
    >>> limits.hold(rows)
    array([ True, False])
    >>> [name for name, violated in limits.violations(rows).items() if violated.any()]
    ['fixed: purpose']
    >>> print("\\n".join(constraints.describe()))
    'purpose' does not change.
    If 'income' changes, it becomes at most 3.
    'age' can only increase.
    """

    fixed: Collection[Hashable] = ()
    ranges: Mapping[Hashable, Sequence[Any]] = field(default_factory=dict)
    allowed: Mapping[Hashable, Collection[Any] | Mapping[Any, Collection[Any]]] = field(default_factory=dict)
    direction: Mapping[Hashable, str] = field(default_factory=dict)
    max_changed: int | None = None
    rules: Sequence[Callable[[Any], Any] | Sequence[Any]] = ()
    groups: Sequence[Collection[Hashable]] = ()
    exactly_one: Sequence[Collection[Hashable]] = ()
    weights: Mapping[Hashable, float] = field(default_factory=dict)
    allow_missing: bool = False

    def __post_init__(self) -> None:
        checked = {
            "fixed": _items(self.fixed, "`fixed`", "a list of columns", 'fixed=["age"]'),
            "ranges": {name: _range(name, said) for name, said in _mapping(self.ranges, "ranges").items()},
            "allowed": {name: _levels(name, said) for name, said in _mapping(self.allowed, "allowed").items()},
            "direction": {name: _direction(name, said) for name, said in _mapping(self.direction, "direction").items()},
            "max_changed": _max_changed(self.max_changed),
            "rules": _rules(self.rules),
            "groups": _sets(self.groups, "groups"),
            "exactly_one": _sets(self.exactly_one, "exactly_one"),
            "weights": {name: _weight(name, said) for name, said in _mapping(self.weights, "weights").items()},
        }
        if not isinstance(self.allow_missing, bool | np.bool_):
            raise ConstraintError(f"`allow_missing` must be True or False, got {self.allow_missing!r}.")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def limited(self, max_changed: int | None) -> Constraints:
        """The same, with at most so many changes; None adds nothing."""
        if max_changed is None:
            return self
        return replace(self, max_changed=min(max_changed, self.max_changed or max_changed))

    def bind(self, schema: Schema, x: np.ndarray) -> Limits:
        """The limits for one row `x` in the codes of `schema`, shape (p,); all names and values are checked."""
        return bound(self, schema, x)

    def to_dict(self) -> dict[str, Any]:
        """What is said as plain JSON types; functions by their names, missing cells and open ends as None."""
        return as_dict(self)

    def describe(self) -> list[str]:
        """What is said as sentences."""
        return sentences(self)


def as_constraints(said: Any) -> Constraints:
    """Constraints from what a user passes: themselves, a dict of their fields, or None for none."""
    if said is None:
        return Constraints()
    if isinstance(said, Constraints):
        return said
    if isinstance(said, Mapping):
        fields = [one.name for one in dataclass_fields(Constraints)]
        if unknown := [name for name in said if name not in fields]:
            raise ConstraintError(
                f"There is no constraint {unknown[0]!r}; known: {', '.join(fields)}.{did_you_mean(unknown[0], fields)}"
            )
        return Constraints(**said)
    raise DataTypeError(f"constraints must be `Constraints` or a dict of its fields, got {said!r}.")


def _items(said: Any, where: str, what: str, example: str) -> tuple[Any, ...]:
    if isinstance(said, str | bytes | Mapping) or not isinstance(said, Collection):
        raise ConstraintError(f"{where} must be {what}, got {said!r}. For example {example}.")
    return tuple(said)


def _mapping(said: Any, field_name: str) -> dict[Hashable, Any]:
    if not isinstance(said, Mapping):
        examples = {
            "ranges": '{"income": (20, None)}',
            "allowed": '{"purpose": ["car", "study"]}',
            "direction": '{"age": "increase"}',
            "weights": '{"age": 2.0}',
        }
        raise ConstraintError(
            f"`{field_name}` must be a dict by column, got {said!r}. For example {field_name}={examples[field_name]}."
        )
    return dict(said)


def _range(name: Hashable, said: Any) -> tuple[Any, Any]:
    if isinstance(said, str | bytes) or not isinstance(said, Sequence | np.ndarray) or len(said) != 2:
        raise ConstraintError(
            f"The range of {name!r} must be (low, high), ends included, with None for an open end; got {said!r}."
        )
    return said[0], said[1]


def _levels(name: Hashable, said: Any) -> tuple[Any, ...] | dict[Any, tuple[Any, ...]]:
    where, what = f"`allowed` for {name!r}", "a list of levels or a dict from each level to a list of levels"
    if not isinstance(said, Mapping):
        levels: Any = _items(said, where, what, f"[{said!r}]")
    else:
        levels = {
            start: _items(ends, f"{where} from {start!r}", "a list of levels", f"[{ends!r}]")
            for start, ends in said.items()
        }
    if not levels:
        raise ConstraintError(f"{where} names no level: {said!r}. Name at least one, or put the column into `fixed`.")
    return levels


def _direction(name: Hashable, said: Any) -> str:
    if not isinstance(said, str) or said not in DIRECTIONS:
        raise ConstraintError(
            f"The direction of {name!r} must be 'increase' or 'decrease', got {said!r}.{did_you_mean(said, DIRECTIONS)}"
        )
    return str(said)


def _max_changed(said: Any) -> int | None:
    if said is None:
        return None
    if isinstance(said, bool | np.bool_) or not isinstance(said, Integral) or int(said) < 1:
        raise ConstraintError(
            f"`max_changed` must be a whole number of at least 1, or None for no bound; got {said!r}. "
            "Without any change there is no counterfactual."
        )
    return int(said)


def _rules(said: Any) -> tuple[Any, ...]:
    example = 'rules=[("income_min", "<=", "income_max"), lambda frame: frame["age"] >= 18]'
    rules = _items(said, "`rules`", "a list of rules", example)
    for rule in rules:
        if not callable(rule) and not (isinstance(rule, tuple | list) and len(rule) == 3):
            raise ConstraintError(
                f"A rule must be (column, sign, column) or a function of a frame, got {rule!r}. For example {example}."
            )
        if not callable(rule) and not (isinstance(rule[1], str) and rule[1] in COMPARISONS):
            raise ConstraintError(f"The sign of rule {rule!r} must be one of {', '.join(COMPARISONS)}.")
    return tuple(rule if callable(rule) else tuple(rule) for rule in rules)


def _sets(said: Any, field_name: str) -> tuple[tuple[Hashable, ...], ...]:
    example = f'{field_name}=[["a", "b"]]'
    sets = _items(said, f"`{field_name}`", "a list of lists of columns", example)
    return tuple(_items(one, f"An entry of `{field_name}`", "a list of columns", example) for one in sets)


def _weight(name: Hashable, said: Any) -> float:
    if isinstance(said, bool | np.bool_) or not isinstance(said, Real) or not 0 <= float(said) < math.inf:
        raise ConstraintError(f"The weight of {name!r} must be a finite number of at least 0, got {said!r}.")
    return float(said)
