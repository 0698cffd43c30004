"""What is wanted of each of many rows: one target and one set of constraints for all, or one per row.

1. A list (or an array) is one per row; a Series goes by the labels of the frame's rows; a function is called with each
   row as a dict. Anything else, a tuple too, is the same for all rows.
2. None, or a missing cell of a Series, stands for the default.
3. Equal wishes are kept once, so that processes get them once. A wish that can not be read costs its row only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from countarfactuals.constraints import Constraints, as_constraints
from countarfactuals.exceptions import ConstraintError, CountarfactualsError, Setting, TargetError
from countarfactuals.prediction import Target

_COMPARED = 32  # latest constraints that a row's are compared with


class Wish(NamedTuple):
    """What is wanted of a row, or the error that reading it gave."""

    target: Any
    constraints: Constraints | Exception

    @property
    def stored_target(self) -> Target | None:
        """The target as a result may keep it."""
        return self.target if isinstance(self.target, Target) and self.target.function is None else None


class Wishes(NamedTuple):
    """The different wishes, and which of them each row has; one alone is that of all rows."""

    different: tuple[Wish, ...]
    which: tuple[int, ...]

    def of(self, position: int) -> Wish:
        """The wish for a row."""
        return self.different[self.which[position]]

    @property
    def common(self) -> Wish | None:
        """The wish of all rows, if they have the same."""
        return self.different[0] if len(self.different) == 1 else None


def wishes_of(target: Any, constraints: Any, X: Any, labels: Sequence[Hashable]) -> Wishes:
    """What is wanted of each row of a frame.

    Parameters
    ----------
    target, constraints : for all rows, or one per row.
    X : the frame.
    labels : of its rows.
    """
    targets = per_row("target", target, X, labels, TargetError)
    rules = per_row("constraints", constraints, X, labels, ConstraintError)
    n = len(labels)
    if targets is None and rules is None:
        return Wishes((Wish(target, as_constraints(constraints)),), (0,) * n)
    read = [as_constraints(constraints)] * n if rules is None else _read_constraints(rules)
    return _different([target] * n if targets is None else targets, read)


def per_row(
    name: str, given: Any, X: Any, labels: Sequence[Hashable], error: type[CountarfactualsError]
) -> list[Any] | None:
    """One value per row, or the error that asking for it gave; None if one is for all."""
    if callable(given):
        return [_called(given, row) for row in _records(X)]
    if isinstance(given, pd.Series):
        given = _aligned(name, given, X, error)
    elif isinstance(given, str | bytes | tuple | Mapping | Target | Constraints) or not hasattr(given, "__len__"):
        return None
    values = list(given)
    if len(values) != len(labels):
        raise error(
            "{parameter} has {got} entries for {n} rows. A list is one per row; pass a tuple for a range, and "
            "Target(any_of=[…]) for one of several classes.",
            parameter=Setting(name),
            got=len(values),
            n=len(labels),
        )
    return [None if _is_gap(value) else value for value in values]


def _aligned(name: str, given: pd.Series, X: Any, error: type[CountarfactualsError]) -> list[Any]:
    """The values of a Series in the order of the frame's rows."""
    if not isinstance(X, pd.DataFrame) or given.index.equals(X.index):
        return list(given)
    absent = X.index.difference(given.index)
    if len(absent) or not given.index.is_unique:
        why = f"has no entry for row {absent[0]!r}" if len(absent) else "has labels that occur twice"
        raise error(
            "{parameter} is a Series, which goes by the labels of rows, and {why}. Give it the index of the frame, or "
            "pass a list.",
            parameter=Setting(name),
            why=why,
        )
    return list(given.loc[X.index])


def _is_gap(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value))


def _records(X: Any) -> list[Any]:
    """Each row as a dict; rows of an array as they are."""
    if isinstance(X, pd.DataFrame):
        return list(X.to_dict("records"))
    for method in ("to_dicts", "to_pylist"):
        if hasattr(X, method):
            return list(getattr(X, method)())
    return list(X)


def _called(function: Callable[[Any], Any], row: Any) -> Any:
    try:
        return function(row)
    except Exception as error:
        return error


def _read_constraints(given: Sequence[Any]) -> list[Constraints | Exception]:
    """Constraints of each row; equal ones are the same object."""
    kept: list[Constraints] = []
    read: list[Constraints | Exception] = []
    for value in given:
        try:
            if isinstance(value, Exception):
                raise value
            own = as_constraints(value)
        except Exception as error:
            read.append(error)
            continue
        same = next((other for other in kept[-_COMPARED:] if other is own or other == own), None)
        kept += [own] if same is None else []
        read.append(own if same is None else same)
    return read


def _different(targets: Sequence[Any], constraints: Sequence[Constraints | Exception]) -> Wishes:
    numbers: dict[Any, int] = {}
    different: list[Wish] = []
    which: list[int] = []
    for target, own in zip(targets, constraints, strict=True):
        key = (type(target), target if isinstance(target, Hashable) else id(target), id(own))
        if key not in numbers:
            numbers[key] = len(different)
            different.append(Wish(target, own))
        which.append(numbers[key])
    return Wishes(tuple(different), tuple(which))
