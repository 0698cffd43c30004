"""What a user declares of the values of a column, in the place of what the data tells.

- `"continuous"`: any number with the column's decimals. Nothing is learned.
- A list of numbers: these only.
- A dict: `step` and `origin` of a grid, `low` and `high` that no value lies beyond, `repeated` values that have a
  probability of their own. What it does not name is learned.

Declarations are checked: the column must be there and hold numbers, and no value of the data may contradict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from ..exceptions import DataError, did_you_mean, listed
from .column import Column, Kind, decimals_of, is_finite
from .description import described
from .occurrence import FEW, MOST_VALUES, Occurrence

_CONTINUOUS = "continuous"
_KEYS = ("step", "origin", "low", "high", "repeated")
_FORMS = "'continuous', a list of numbers, or a dict with step, origin, low, high or repeated"


def as_declared(column: Column, known: np.ndarray, learned: Occurrence, said: Any) -> Column:
    """The column with the values that were declared.

    Parameters
    ----------
    column : without any.
    known : its values in the data.
    learned : what they tell.
    said : the declaration.
    """
    if not column.is_number:
        raise DataError(
            f"`values` declares {column.name!r}, which is of kind {column.kind} and holds no numbers. Leave it out; an "
            "order of levels is declared by `ordered`."
        )
    if isinstance(said, str) and said == _CONTINUOUS:
        return column
    if isinstance(said, Mapping):
        declared = _from_parts(column, learned, said)
    elif isinstance(said, Iterable) and not isinstance(said, str):
        declared = _from_list(column, learned, said)
    else:
        raise DataError(f"`values` of {column.name!r} must be {_FORMS}; got {said!r}.")
    _refuse_contradiction(declared, known)
    return declared


def _from_list(column: Column, learned: Occurrence, said: Iterable[Any]) -> Column:
    values = _numbers(column, said, "values")
    if not 0 < len(values) <= MOST_VALUES:
        raise DataError(
            f"`values` of {column.name!r} lists {len(values):,} numbers, from 1 to {MOST_VALUES:,} are allowed. Say "
            "'continuous', or a dict with a step."
        )
    # where they are many, what stands out in the data still does
    atoms = values if len(values) <= FEW else tuple(atom for atom in learned.atoms if atom in set(values))
    return _finer(replace(column, values=values, atoms=atoms), values)


def _from_parts(column: Column, learned: Occurrence, said: Mapping[Any, Any]) -> Column:
    if unknown := [key for key in said if key not in _KEYS]:
        hint = did_you_mean(unknown[0], _KEYS)
        raise DataError(f"`values` of {column.name!r} has {unknown[0]!r}; known are {listed(_KEYS)}.{hint}")
    if "origin" in said and "step" not in said:
        raise DataError(f"`values` of {column.name!r} has an origin without a step. Add the step, or leave it out.")
    fields = learned._asdict()
    if "step" in said or "repeated" in said:  # every point of the grid then, not only those that were seen
        fields["values"] = ()
        fields["atoms"] = () if learned.atoms == learned.values else learned.atoms
    if "repeated" in said:
        fields["atoms"] = _numbers(column, said["repeated"], "repeated")
    for edge in ("low", "high"):
        if edge in said:
            (fields[edge],) = _numbers(column, [said[edge]], edge)
    if fields["low"] > fields["high"]:
        raise DataError(
            f"`values` of {column.name!r} leaves nothing from {fields['low']:g} to {fields['high']:g}. Swap low and "
            "high, or correct one."
        )
    if "step" in said:
        step, origin = (_numbers(column, [said.get(key, 0.0)], key)[0] for key in ("step", "origin"))
        if step <= 0.0:
            raise DataError(f"`values` of {column.name!r} needs a step above 0, got {said['step']!r}.")
        fields["grid"] = (step, origin)
    described = replace(column, **fields)
    return described if described.grid is None else _finer(described, described.grid)


def _numbers(column: Column, said: Any, key: str) -> tuple[float, ...]:
    """Declared numbers, ascending, each once."""
    if isinstance(said, str | Real) or not isinstance(said, Iterable):
        raise DataError(f"`values` of {column.name!r} needs a list of numbers as {key}, got {said!r}.")
    numbers = list(said)
    for number in numbers:
        if isinstance(number, bool | np.bool_) or not is_finite(number):
            raise DataError(f"`values` of {column.name!r} needs finite numbers as {key}, got {number!r}.")
        if column.kind is Kind.INTEGER and float(number) != round(float(number)):
            raise DataError(
                f"`values` of {column.name!r}, which holds integers, has {number!r} as {key}. Pass whole numbers, or a "
                "column of floats."
            )
    # what cells may be given is compared with cells, which have the digits of their type
    width = column.stored_as if key in ("values", "repeated") else np.float64
    return tuple(sorted({float(width(number)) for number in numbers}))


def _finer(column: Column, declared: tuple[float, ...]) -> Column:
    """The column with the decimals that its declared numbers have too, if it has any."""
    if column.kind is Kind.INTEGER or column.decimals is None:
        return column
    decimals = decimals_of(np.array(declared), column.stored_as)
    return replace(column, decimals=None if decimals is None else max(decimals, column.decimals))


def _refuse_contradiction(column: Column, known: np.ndarray) -> None:
    wrong = known[~column.permits(known)]
    if len(wrong):
        _refuse(column, wrong)


def _refuse(column: Column, wrong: np.ndarray) -> NoReturn:
    rows = "one row" if len(wrong) == 1 else f"{len(wrong):,} rows"
    raise DataError(
        f"Column {column.name!r} is declared to hold {described(column)}, but {rows} of the data contradict, the first "
        f"with {wrong[0]:g}. Correct the data, add what is missing to the declaration, or leave it out."
    )
