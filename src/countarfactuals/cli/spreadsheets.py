"""CSV that is safe to open in a spreadsheet, which runs texts that begin with certain signs as formulas.

1. A text, or a column's name, that begins with = + - @, a tab or a carriage return gets an apostrophe before it, which
   spreadsheets read as "this is text".
2. Numbers stay numbers, and so do texts that are nothing but one, such as −5.
3. Who reads the file by a program asks for the cells as they are (`--exact-cells`).
"""

from __future__ import annotations

from typing import Any

import pandas as pd

_RUN = ("=", "+", "-", "@", "\t", "\r")


def csv_text(frame: pd.DataFrame, *, exact: bool) -> str:
    """A frame as CSV, without its index."""
    written = frame if exact else frame.map(harmless).rename(columns=harmless)
    return str(written.to_csv(index=False, lineterminator="\n"))


def harmless(cell: Any) -> Any:
    """A cell that is not run.

    >>> harmless("=1+1"), harmless("-5"), harmless(-5), harmless("a=b")
    ("'=1+1", '-5', -5, 'a=b')
    """
    if not isinstance(cell, str) or not cell.startswith(_RUN) or _is_number(cell):
        return cell
    return f"'{cell}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text
