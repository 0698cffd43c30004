"""What a result tells of the training data is left out of it where no real row may leave.

The search hands out no row of the data, and no value that few rows have. What a result tells besides is mended here:

1. The ranges that changes are measured by, and the edges that notes tell of, are those of what enough rows have.
2. Values that a column is known to have are told only where enough rows have them.
3. How many rows of the data reach the target is told only where they are enough.
4. Errors that tell what a column holds do so in the same way.

Methods that hand out cells of real rows are refused (`check_method`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals, Note
from countarfactuals.counterfactuals.importance import RANGES
from countarfactuals.counterfactuals.remarks import BEYOND, UNSEEN
from countarfactuals.exceptions import CountarfactualsError, ParameterError, Setting, listed
from countarfactuals.explainers import methods
from countarfactuals.explainers.problem import ANY_ROWS
from countarfactuals.language import tr
from countarfactuals.schema import Column, Schema, described
from countarfactuals.serve.profile import FEWEST_ROWS, ends_of
from countarfactuals.serve.served import Served


def check_method(served: Served, method: str | None) -> None:
    """Refuse a method whose counterfactuals are made of real cells."""
    usable = [one.name for one in methods().values() if one.hands_out == ANY_ROWS]
    if method is not None and method in methods() and method not in usable and not served.shows_real_rows:
        raise ParameterError(
            "{parameter} is {got!r}, which hands out cells of real rows, and none may leave here; allowed: {allowed}.",
            parameter=Setting("method"),
            got=method,
            allowed=listed(usable),
        )


@contextmanager
def veiling(served: Served) -> Iterator[None]:
    """Errors inside do not tell values that few rows have, where no real row may leave."""
    try:
        yield
    except CountarfactualsError as error:
        raise _told(served, error) from error


def _told(served: Served, error: CountarfactualsError) -> CountarfactualsError:
    columns = {column.name: j for j, column in enumerate(served.explainer.schema_.columns) if column.is_number}
    name = error.fields.get("column")
    if served.shows_real_rows or "allowed" not in error.fields or name not in columns:
        return error
    j = columns[name]
    column = _column(served.explainer.schema_.columns[j], served.explainer.background_.veil.rare[j])
    return error.having(allowed=described(column))


def veiled(served: Served, result: Counterfactuals) -> Counterfactuals:
    """A result without what tells of few rows; the same where real rows may leave."""
    if served.shows_real_rows:
        return result
    diagnosis = result.diagnosis
    if diagnosis is not None and diagnosis.n_real < FEWEST_ROWS:
        diagnosis = replace(diagnosis, n_real=0)
    return replace(
        result,
        schema=_schema(served, result.schema),
        notes=tuple(_note(note, result.schema) for note in result.notes if note.code != UNSEEN),
        diagnosis=diagnosis,
        provenance={**result.provenance, **({RANGES: _ranges(served)} if RANGES in result.provenance else {})},
    )


def _note(note: Note, schema: Schema) -> Note:
    if note.code != BEYOND:
        return note
    (name,) = note.titled(schema).columns
    return Note.of(tr("'{column}' lies beyond nearly all real rows.", column=name))


def _ranges(served: Served) -> list[float]:
    """By column, from one safe end to the other; as they are for levels."""
    scale = served.explainer.background_.gower.scale.tolist()
    ends = [ends_of(served, j) for j in range(len(scale))]
    columns = served.explainer.schema_.columns
    return [
        high - low if column.is_number else own for column, own, (low, high) in zip(columns, scale, ends, strict=True)
    ]


def _schema(served: Served, schema: Schema) -> Schema:
    rare = served.explainer.background_.veil.rare
    return replace(
        schema, columns=tuple(_column(column, few) for column, few in zip(schema.columns, rare, strict=True))
    )


def _column(column: Column, rare: np.ndarray) -> Column:
    values = tuple(value for value in column.values if value not in rare)
    return replace(column, values=values, atoms=tuple(value for value in column.atoms if value not in rare))
