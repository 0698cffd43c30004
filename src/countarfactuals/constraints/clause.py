"""`Clause`: one thing that is said, as data, with the name that people see; and values in JSON that keep their types.

JSON has text, numbers, booleans, null and lists. The rest is tagged: `{"$tuple": […]}`, `{"$missing": true}`,
`{"$float": "inf"}`, `{"$time": "…"}`, and a dict, whose keys may be levels, as `{"$pairs": [[key, value], …]}`.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Self

import numpy as np

from countarfactuals.exceptions import StorageError


class Clause(str):
    """The name of one constraint in violations and diagnoses, such as `range: income`, and what it stands for.

    Parameters
    ----------
    text : the name.
    kind : keyword of `Constraints`, such as "ranges".
    columns : names of the columns it speaks of.
    value : what is said of them, such as (None, 60000).

    >>> clause = Clause("range: income", "ranges", ("income",), (None, 60000))
    >>> clause == "range: income", clause.columns, Clause.from_dict(clause.to_dict()).value
    (True, ('income',), (None, 60000))
    """

    kind: str
    columns: tuple[Hashable, ...]
    value: Any

    def __new__(cls, text: str, kind: str, columns: tuple[Hashable, ...] = (), value: Any = None) -> Self:
        """A text with what it stands for."""
        clause = super().__new__(cls, text)
        clause.kind, clause.columns, clause.value = kind, columns, value
        return clause

    def __getnewargs__(self) -> tuple[Any, ...]:
        return str(self), self.kind, self.columns, self.value

    def numbered(self, number: int) -> Clause:
        """The same under a name of its own."""
        return Clause(f"{self} ({number})", self.kind, self.columns, self.value)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        columns = [tagged(name) for name in self.columns]
        return {"text": str(self), "kind": self.kind, "columns": columns, "value": tagged(self.value)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Clause:
        """The inverse of `to_dict`."""
        return cls(stored["text"], stored["kind"], tuple(map(untagged, stored["columns"])), untagged(stored["value"]))


def is_missing(level: Any) -> bool:
    """Whether a user means a missing cell; a copy of `MISSING` from another process does too."""
    from countarfactuals.arf.conditions import MISSING

    return isinstance(level, type(MISSING))


def plain(value: Any) -> Any:
    """A value as Python has it."""
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value


def as_written(value: float) -> int | float:
    """A number as people write it: a whole one has no point."""
    return int(value) if value.is_integer() else value


def tagged(value: Any) -> Any:
    """A name, a level or a collection of them as plain JSON types; what is of another type becomes its text."""
    value = plain(value)
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list):
        return [tagged(part) for part in value]
    if is_missing(value):
        return {MISSING_TAG: True}
    for tag, (types, to_json, _) in _TAGS.items():
        if isinstance(value, types):
            return {tag: to_json(value)}
    return str(value)


def untagged(stored: Any) -> Any:
    """The inverse of `tagged`."""
    if isinstance(stored, list):
        return [untagged(part) for part in stored]
    if not isinstance(stored, dict):
        return stored
    if MISSING_TAG in stored:
        from countarfactuals.arf.conditions import MISSING

        return MISSING
    tag = next((tag for tag in _TAGS if tag in stored), None)
    if tag is None:
        sentence = "{got!r} is no tagged value; known tags: {allowed}."
        raise StorageError(sentence, got=stored, allowed=", ".join([MISSING_TAG, *_TAGS]))
    return _TAGS[tag][2](stored[tag])


def _time(text: Any) -> Any:
    import pandas as pd

    return pd.Timestamp(text)


MISSING_TAG = "$missing"
_TAGS: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "$float": (float, str, float),
    "$time": ((datetime.date, np.datetime64), lambda time: _time(time).isoformat(), _time),
    "$tuple": (tuple, lambda parts: tagged(list(parts)), lambda parts: tuple(untagged(parts))),
    "$pairs": (
        Mapping,
        lambda items: [[tagged(key), tagged(value)] for key, value in items.items()],
        lambda pairs: {untagged(key): untagged(value) for key, value in pairs},
    ),
}
