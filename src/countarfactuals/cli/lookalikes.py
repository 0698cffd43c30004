"""Numbers and dates as people write them, which are no numbers to a program: recognised, to say how to mend them.

1. A column looks like numbers if nearly all its different cells are numbers with separators of thousands, or with one
   and the same currency or unit ("36,000.00", "€36000", "23 years").
2. Such cells are refused, as each would become a level of its own. A few with a unit may well be categories
   ("2 rooms"), so that a note is enough.
3. A date with the name of its month, or a month of a year, gets a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from countarfactuals.exceptions import DataError, listed

_NEARLY_ALL = 0.9
_FEW = 12  # different cells up to which they may be meant as categories
_SIGNS = "$€£¥₹%°"
_FIRST = r"[1-9]\d{0,2}"
_GROUPED = rf"{_FIRST}(?:[,'’ \u00a0\u202f]\d{{3}})+(?:\.\d+)?|{_FIRST}(?:\.\d{{3}})+,\d+|{_FIRST}(?:\.\d{{3}}){{2,}}"
_AMOUNT = re.compile(
    rf"(?P<minus>[+-]?)(?P<before>[{_SIGNS}]|[A-Z]{{3}}\s)?\s*(?P<inner>[+-]?)(?P<number>{_GROUPED}|\d+(?:[.,]\d+)?)\s*"
    rf"(?P<after>[{_SIGNS}][A-Za-z]?|[^\W\d_][^\W\d_./²³]{{0,11}})?"
)
_THOUSANDS_OR_DECIMALS = re.compile(r"[+-]?\d{1,3},\d{3}")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATES = re.compile(
    rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}.*|\d{{1,2}}(?:st|nd|rd|th|\.)?[ -]{_MONTH},?[ -]\d{{2,4}}.*"
    rf"|{_MONTH},?[ -]\d{{2,4}}|(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])",
    re.IGNORECASE,
)


def refuse_or_tell(name: str, cells: Sequence[str], say: Callable[[str], None], advice: str) -> bool:
    """Whether different cells look like numbers or dates; `say` is told, and where there are many it is an error.

    Parameters
    ----------
    name : of the column.
    cells : its different cells.
    say : takes a note.
    advice : how else to get rid of the trouble, to end a sentence with; may be empty.
    """
    if len(cells) < 2:
        return False
    if are_dates(cells):
        say(
            f"column {name!r} looks like dates, such as {cells[0]!r}, and is read as text, each of them a level of its "
            f"own. Turn it into a number, e.g. the days since a fixed date{advice and ','}{advice}."
        )
        return True
    found = _amounts(name, cells)
    if found is None:
        return False
    cell, how_to_mend, has_unit = found
    if len(cells) > _FEW or not has_unit:
        raise DataError(
            f"Column {name!r} holds numbers as people write them, such as {cell!r}. Write {how_to_mend}{_others(cells)}"
            f"{advice and ','}{advice}."
        )
    say(
        f"column {name!r} is read as text, though its cells look like numbers, such as {cell!r}. If they are numbers, "
        f"write {how_to_mend}."
    )
    return True


def are_dates(cells: Sequence[str]) -> bool:
    """Whether all cells are dates with the names of their months, or months of years."""
    return all(_DATES.fullmatch(cell) for cell in cells)


def _amounts(name: str, cells: Sequence[str]) -> tuple[str, str, bool] | None:
    """A cell that looks like a number, how to mend it, and whether it has a unit; None if they do not look so."""
    read = {cell: match for cell in cells if (match := _AMOUNT.fullmatch(cell))}
    units = {unit for match in read.values() if (unit := _unit(match))}
    decorated = [cell for cell, match in read.items() if _unit(match) or _is_grouped(match)]
    if len(read) < _NEARLY_ALL * len(cells) or not decorated or len({unit.rstrip("s") for unit in units}) > 1:
        return None
    if not units and any("," in cell and not _is_grouped(match) for cell, match in read.items()):
        return None  # its commas stand before decimals
    cell = next((one for one in decorated if _is_grouped(read[one])), decorated[0])
    advice = f"plain numbers, here {_plain(read[cell])}"
    if units:
        advice += f", and tell the unit by --unit {name}={max(units, key=len)}"
    if all(_THOUSANDS_OR_DECIMALS.fullmatch(one) for one in decorated):
        advice += ", or pass --decimal , if the comma is the decimal sign"
    return cell, advice, bool(units)


def _unit(match: re.Match[str]) -> str:
    return (match["before"] or match["after"] or "").strip()


def _is_grouped(match: re.Match[str]) -> bool:
    return re.fullmatch(_GROUPED, match["number"]) is not None


def _plain(match: re.Match[str]) -> str:
    """The number without separators of thousands."""
    number, sign = match["number"], match["minus"] or match["inner"]
    if not _is_grouped(match):
        return sign + number
    separator = next(one for one in number if not one.isdigit())
    return sign + number.replace(separator, "")


def _others(cells: Sequence[str]) -> str:
    others = [cell for cell in cells if not _AMOUNT.fullmatch(cell)]
    return f"; what means missing can be said by --missing ({listed(others, 3)})" if others else ""
