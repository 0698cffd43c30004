"""What is said of the rows that were explained, and the exit code.

1. `in_the_file` and `told_of_rows` turn the position of a row, of which the library speaks, into its number in the
   file, and the library's words into those of the command line.
2. `judged` tells on standard error for which rows there is nothing and why, and where the others are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

from countarfactuals import exceptions
from countarfactuals.cli.arguments import PROGRAM, by_options, note
from countarfactuals.cli.text import counted
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.exceptions import CountarfactualsError, DataError, listed

DONE, NOTHING_FOUND, INTERRUPTED = 0, 3, 130
_POSITION = re.compile(r"\bin row (\d+) \(counted from 0\)")
_OURS = [
    name for name, one in vars(exceptions).items() if isinstance(one, type) and issubclass(one, CountarfactualsError)
]
_CLASS = re.compile(rf"^(?:{'|'.join(_OURS)}): ")


class Written(NamedTuple):
    """Where results went.

    Parameters
    ----------
    place : for sentences.
    tells_why : whether a reader of it sees there why nothing was found.
    why : the reason for which a result has no counterfactuals, in the words of the command line.
    """

    place: str
    tells_why: bool
    why: Callable[[Counterfactuals], str]


def in_the_file(text: str, rows: Sequence[Hashable]) -> str:
    """A sentence that counts rows of a frame, with their numbers in the file instead.

    >>> in_the_file("Column 'a' is infinite in row 1 (counted from 0).", [3, 17])
    "Column 'a' is infinite in row 17 (counted from 0)."
    """

    def number(found: re.Match[str]) -> str:
        position = int(found[1])
        return f"in row {rows[position]} (counted from 0)" if position < len(rows) else found[0]

    return _POSITION.sub(number, text)


def told_of_rows(batch: CounterfactualsBatch, rows: Sequence[Hashable]) -> CounterfactualsBatch:
    """The batch with its errors in the words of the command line."""

    def told(result: Counterfactuals) -> Counterfactuals:
        if result.error is None:
            return result
        text = _CLASS.sub("", in_the_file(result.error, rows))
        return replace(result, error=by_options(text))

    return replace(batch, results=tuple(map(told, batch)))


def judged(batch: CounterfactualsBatch, written: Written) -> int:
    """The exit code; what is to be said of rows without counterfactuals goes to standard error."""
    labels: dict[str, list[Hashable]] = {"found": [], "already": [], "none": [], "error": []}
    for label, one in zip(batch.index, batch, strict=True):
        labels[one.status].append(label)
    if batch.unfinished:
        print(f"{PROGRAM}: interrupted, {counted(len(batch.unfinished), 'row')} not explained", file=sys.stderr)
        return INTERRUPTED
    if labels["already"] and len(batch) > 1:
        verb = "has" if len(labels["already"]) == 1 else "have"
        note(f"{_rows(labels['already'])} {verb} the wanted outcome already.")
    if labels["none"]:
        _tell_of_nothing(batch, labels["none"], written)
    if labels["error"]:
        raise _failure(batch, labels["error"], written)
    return NOTHING_FOUND if labels["none"] and not labels["found"] else DONE


def _rows(labels: Sequence[Hashable]) -> str:
    return f"row{'s' * (len(labels) > 1)} {listed(labels)}"


def _tell_of_nothing(batch: CounterfactualsBatch, labels: Sequence[Hashable], written: Written) -> None:
    if len(batch) == 1 and written.tells_why:
        note(f"no counterfactual for {_rows(labels)}; the reason stands {written.place}.")
        return
    why = written.why(next(one for one in batch if one.status == "none"))
    if len(batch) == 1:
        note(f"no counterfactual for {_rows(labels)}. {why}")
        return
    note(
        f"no counterfactual for {len(labels)} of {counted(len(batch), 'row')}: {listed(labels)}. Row {labels[0]}: {why}"
        f"{_others(batch, len(labels), written)}"
    )


def _failure(batch: CounterfactualsBatch, labels: Sequence[Hashable], written: Written) -> DataError:
    first, error = next(iter(batch.errors.items()))
    return DataError(
        f"{len(labels)} of {counted(len(batch), 'row')} could not be explained: {listed(labels)}. Row {first}: {error}"
        f"{_others(batch, len(labels), written)}"
    )


def _others(batch: CounterfactualsBatch, n_without: int, written: Written) -> str:
    """Where the counterfactuals of other rows are; nothing if there are none."""
    n_others, n_found = len(batch) - n_without, sum(one.status == "found" for one in batch)
    if not n_found:
        return ""
    if n_found < n_others:  # a row that needs or has no counterfactual may leave no line in the file
        return f" Counterfactuals of {counted(n_found, 'row')} are {written.place}."
    return f" The other {'row is' if n_found == 1 else f'{n_found} rows are'} {written.place}."
