"""Whether a file is divided by another sign than the one it is read with.

1. Divide the first lines by each other common sign that is in the header.
2. A sign that divides the header and these lines into the same number of cells, at least two, is likely the file's.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

N_FIRST = 20  # lines that are looked at
NAMES = {";": ";", "\t": "tab", "|": "|", ",": ","}
_OTHERS = (";", "\t", "|")  # no comma: decimal commas are as many in each line, too


def other(first: Sequence[str], delimiter: str, *, at_least: int = 2) -> str | None:
    """Another sign that divides the first lines of a file evenly, into so many cells at least; None if none does."""
    signs = [sign for sign in _OTHERS if sign != delimiter and first and sign in first[0]]
    return next((sign for sign in signs if _n_cells(first, sign) >= max(2, at_least)), None)


def divided(sign: str, delimiter: str) -> str:
    """By which sign cells are divided and by which they are not, and what to do; to end a sentence with."""
    name = NAMES[sign]
    return f"its cells are divided by {name!r}, not by {NAMES.get(delimiter, delimiter)!r}. Pass --delimiter '{name}'."


def _n_cells(lines: Sequence[str], sign: str) -> int:
    """How many cells each row has; 0 if rows differ, or if there is a header only."""
    sizes = [len(cells) for cells in _whole_rows(lines, sign) if cells]
    return sizes[0] if len(sizes) > 1 and len(set(sizes)) == 1 else 0


def _whole_rows(lines: Sequence[str], sign: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(lines, delimiter=sign, skipinitialspace=True, strict=True)
    except csv.Error:  # quotes that end after these lines, or that stand elsewhere than this sign allows
        return
