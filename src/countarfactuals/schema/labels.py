"""What readers call columns and levels, where data has codes: "years in the job" for `emp_len`, "new car" for A40.

By column a text, its name; or a dict from levels to their names; or both as a pair. Names in data stay what they are:
frames, constraints and JSON have them, only what people read has the labels.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..exceptions import ParameterError, unknown_column
from .column import Column

Label = str | Mapping[Any, str] | tuple[str, Mapping[Any, str]]
Labels = Mapping[Hashable, Label]
_EXAMPLE = """{'emp_len': 'years in the job', 'purpose': {'A40': 'new car'}, 'sex': ('gender', {'A91': 'male'})}"""


def relabelled(columns: Sequence[Column], labels: Any) -> Iterator[Column]:
    """The columns with their labels."""
    if not isinstance(labels, Mapping):
        raise ParameterError(f"`labels` must be a dict of names by column, got {labels!r}. For example {_EXAMPLE}.")
    known = [column.name for column in columns]
    for name in labels:
        if name not in known:
            raise unknown_column("labels", name, known)
    for column in columns:
        yield _with_label(column, labels[column.name]) if column.name in labels else column


def _with_label(column: Column, said: Any) -> Column:
    label, levels = _both(column, said)
    taken = column.level_labels or tuple(map(str, column.levels))
    new = tuple(levels.get(level, label) for level, label in zip(column.levels, taken, strict=True))
    label_of_levels = new if levels else column.level_labels
    return replace(column, label=column.label if label is None else label, level_labels=label_of_levels)


def _both(column: Column, said: Any) -> tuple[str | None, Mapping[Any, str]]:
    """The name of a column, None to keep it, and names of levels."""
    if isinstance(said, str):
        said = (said, {})
    elif isinstance(said, Mapping):
        said = (None, said)
    if not (isinstance(said, tuple | list) and len(said) == 2 and isinstance(said[1], Mapping)):
        raise _no_label(column, said)
    label, levels = said[0], {_level(column, level): text for level, text in said[1].items()}
    if any(
        not isinstance(text, str) or not text.strip()
        for text in [*([] if label is None else [label]), *levels.values()]
    ):
        raise _no_label(column, said)
    return label, levels


def _no_label(column: Column, said: Any) -> ParameterError:
    return ParameterError(
        f"`labels` of {column.name!r} must be a text, a dict from levels to texts, or a pair of both; got {said!r}. "
        f"For example {_EXAMPLE}."
    )


def _level(column: Column, said: Any) -> Any:
    """The level that is named; files name those that are no text by their text."""
    if said in column.codes:
        return said
    by_text = {str(level): level for level in column.levels}
    if str(said) not in by_text:
        what = (
            column.known_levels(said) if column.levels else f"It holds numbers ({column.kind}), which have no labels."
        )
        raise ParameterError(f"`labels` of {column.name!r} names the level {said!r}. {what}")
    return by_text[str(said)]
