"""What the cells of a column are: told by all of them when a table is read first, and read alike ever after.

1. `infer` looks at the different cells that are not missing and turns them into what they tell:

   | cells | column |
   |---|---|
   | true, false, in any case | booleans |
   | whole numbers without leading zeros | integers, also where cells are missing |
   | numbers | reals |
   | dates and times with the year first | dates and times |
   | other dates | refused: 01/02/2024 may be in January or in February |
   | numbers with one unit, or with separators of thousands | refused, as each would become a level of its own; a few |
   | | with a unit may well be categories ("2 rooms"), so that a note is enough |
   | dates with the names of their months, months of years | text, with a note |
   | anything else | text, that is, a category |
2. `tell_identifiers` says which features name their rows: texts or whole numbers that differ in every row. Amounts may
   all differ, too, so numbers must also lie close together, or their column must be called an id. Of texts that differ
   in nearly every row most are seen once, which tells a density nothing. Whole numbers that all read as dates
   (20190713) are no days: from the end of a month to the next day they leap.
3. `convert` turns the cells of new data into what the column held before, whatever they look like.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.cli.arguments import Dialect, as_option
from countarfactuals.constraints.option import level_of
from countarfactuals.exceptions import DataError, listed
from countarfactuals.language import tr
from countarfactuals.schema import Column, Kind
from countarfactuals.schema.column import LARGEST_INTEGER, integer_too_large

Say = Callable[[str], None]

_BOOLEANS = {"true": True, "false": False}
_INTEGER = re.compile(r"[+-]?(0|[1-9]\d*)", re.ASCII)
_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|infinity)", re.IGNORECASE | re.ASCII)
_WITH_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+", re.ASCII)
_LEADING_ZERO = re.compile(r"[+-]?0\d")  # a code such as 0123, and no number
_DATES = (
    re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T]\d{1,2}:\d{2}.*)?"),
    re.compile(r"\d{1,2}([-/.])\d{1,2}\1(\d{4}|\d{2})([ T]\d{1,2}:\d{2}.*)?"),
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATES_IN_WORDS = re.compile(
    rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}.*|\d{{1,2}}(?:st|nd|rd|th|\.)?[ -]{_MONTH},?[ -]\d{{2,4}}.*"
    rf"|{_MONTH},?[ -]\d{{2,4}}|(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])",
    re.IGNORECASE,
)
_SIGNS = "$€£¥₹%°"
_FIRST = r"[1-9]\d{0,2}"
_GROUPED = rf"{_FIRST}(?:[,'’ \u00a0\u202f]\d{{3}})+(?:\.\d+)?|{_FIRST}(?:\.\d{{3}})+,\d+|{_FIRST}(?:\.\d{{3}}){{2,}}"
_AMOUNT = re.compile(
    rf"(?P<minus>[+-]?)(?P<before>[{_SIGNS}]|[A-Z]{{3}}\s)?\s*(?P<inner>[+-]?)(?P<number>{_GROUPED}|\d+(?:[.,]\d+)?)\s*"
    rf"(?P<after>[{_SIGNS}][A-Za-z]?|[^\W\d_][^\W\d_./²³]{{0,11}})?"
)
_THOUSANDS_OR_DECIMALS = re.compile(r"[+-]?\d{1,3},\d{3}")
_MOSTLY = 0.9  # share of numbers from which the other cells of a column look like slips
_FEW = 12  # different cells with a unit up to which they may be meant as categories
_FEWEST_IDENTIFIERS, _FEWEST_TEXTS, _FEWEST_DATES = 21, 30, 20  # with fewer rows, values may all differ by chance
_DAYS = (19000101, 21001231)
_NO_ID = {"acid", "aid", "bid", "covid", "fluid", "grid", "lipid", "paid", "prepaid", "solid", "unpaid"}
_NOTES = {
    "identifier": "every row has another value in the {columns}. Leave out names and identifiers: {drop}.",
    "nearly": (
        "nearly every row has another text in the {columns}, with which typicality says little. Group the values, or "
        "leave them out: {drop}."
    ),
    "dates": (
        "the numbers in the {columns} look like dates, but numbers such as 20190713 are no days. Turn them into the "
        "days since a fixed date, or leave them out: {drop}."
    ),
}


def silent(text: str) -> None:
    """For what needs not be told."""


def infer(name: str, cells: Sequence[str | None], dialect: Dialect, say: Say, *, drop: bool = True) -> pd.Series:
    """The column in the type that its cells tell; `drop` says whether a message may advise to leave it out."""
    codes, values = pd.factorize(np.array(cells, dtype=object))
    distinct = [str(value) for value in values]
    advice = f" or leave it out: --drop {name}" if drop else ""
    if not distinct:
        raise DataError(f"Column {name!r} has no value, all cells are missing. Fill it{advice}.")
    if all(cell.lower() in _BOOLEANS for cell in distinct):
        return _series(codes, [_BOOLEANS[cell.lower()] for cell in distinct], "bool", "boolean")
    plain = [_with_point(cell, dialect) for cell in distinct]
    if all(_INTEGER.fullmatch(cell) for cell in plain):
        return _integers(name, codes, [int(cell) for cell in plain])
    is_number = np.array([_NUMBER.fullmatch(cell) is not None for cell in plain])
    if is_number.all() and not any(_LEADING_ZERO.match(cell) for cell in plain):
        return _series(codes, [float(cell) for cell in plain], "float64", "float64")
    if all(_DATES[0].fullmatch(cell) for cell in distinct):
        return _times(name, codes, distinct, advice)
    _refuse_dates(name, distinct, advice)
    if not _tell_lookalikes(name, distinct, say, advice):
        if dialect.decimal == "." and all(_WITH_COMMA.fullmatch(c) or _INTEGER.fullmatch(c) for c in distinct):
            raise DataError(f"Column {name!r} holds numbers such as {distinct[0]!r}. Pass --decimal , to read them.")
        _tell_of_text(name, distinct, is_number, np.bincount(codes[codes >= 0]), say)
    as_read = pd.Series(["", np.nan]).dtype  # what this pandas gives to text when it reads files
    return pd.Series(np.array([*distinct, np.nan], dtype=object)[codes], dtype=as_read)


def _series(codes: np.ndarray, values: Sequence[Any], dtype: str, with_missing: str) -> pd.Series:
    cells = np.array([*values, None], dtype=object)[codes]  # the code of a missing cell, −1, picks the last
    return pd.Series(cells).astype(with_missing if (codes < 0).any() else dtype)


def _integers(name: str, codes: np.ndarray, values: list[int]) -> pd.Series:
    largest = max(values, key=abs)
    if abs(largest) > LARGEST_INTEGER:
        raise integer_too_large(name, largest)
    return _series(codes, values, "int64", "Int64")


def _with_point(cell: str, dialect: Dialect) -> str:
    """A number as Python writes it; what is written otherwise stays as it is."""
    if dialect.decimal == "," and (_WITH_COMMA.fullmatch(cell) or re.fullmatch(r"[+-]?,[0-9]+", cell)):
        return cell.replace(".", "").replace(",", ".")
    return cell


def _times(name: str, codes: np.ndarray, distinct: Sequence[str], advice: str) -> pd.Series:
    """Dates, or times of a day, that begin with the year."""
    try:
        moments = [pd.Timestamp(cell.replace(".", "-", 2)) for cell in distinct]
        return pd.Series(pd.to_datetime(np.array([*moments, pd.NaT], dtype=object)[codes]))
    except (ValueError, TypeError) as error:
        raise DataError(f"Column {name!r} holds dates that can not be read: {error}. Mend it{advice}.") from None


def _refuse_dates(name: str, distinct: Sequence[str], advice: str) -> None:
    if all(_DATES[1].fullmatch(cell) for cell in distinct):
        raise DataError(
            f"Column {name!r} holds dates, such as {distinct[0]!r}, whose day and month can be mistaken. Write them "
            f"with the year first, such as 2024-03-01,{advice or ' first'}."
        )


def _tell_of_text(name: str, distinct: list[str], is_number: np.ndarray, counts: np.ndarray, say: Say) -> None:
    if is_number.all():
        code = next(cell for cell in distinct if _LEADING_ZERO.match(cell))
        say(tr("column {name!r} is read as text, as cells such as {code!r} have leading zeros.", name=name, code=code))
    elif counts[is_number].sum() >= _MOSTLY * counts.sum():
        others = [distinct[position] for position in np.flatnonzero(~is_number)]
        say(
            tr(
                "column {name!r} is read as text, as {n} of {n_cells} cells are no numbers: {cells}. If they mean "
                "missing, pass --missing {cell!r}.",
                name=name,
                n=counts[~is_number].sum(),
                n_cells=counts.sum(),
                cells=listed(others, 3),
                cell=others[0],
            )
        )


def _tell_lookalikes(name: str, distinct: Sequence[str], say: Say, advice: str) -> bool:
    """Whether cells look like numbers or dates as people write them: a note, or an error where there are many."""
    if len(distinct) < 2:
        return False
    otherwise = f",{advice}" if advice else ""
    if _are_dates_in_words(distinct):
        say(
            tr(
                "column {name!r} looks like dates, such as {cell!r}, and is read as text, each of them a level of its "
                "own. Turn it into a number, e.g. the days since a fixed date{otherwise}.",
                name=name,
                cell=distinct[0],
                otherwise=otherwise,
            )
        )
        return True
    found = _amounts(name, distinct)
    if found is None:
        return False
    cell, how_to_mend, has_unit = found
    if len(distinct) > _FEW or not has_unit:
        words = [text for text in distinct if not _AMOUNT.fullmatch(text)]
        missing = f"; what means missing can be said by --missing ({listed(words, 3)})" if words else ""
        raise DataError(
            f"Column {name!r} holds numbers as people write them, such as {cell!r}. Write {how_to_mend}{missing}"
            f"{otherwise}."
        )
    say(
        tr(
            "column {name!r} is read as text, though its cells look like numbers, such as {cell!r}. If they are "
            "numbers, write {how_to_mend}.",
            name=name,
            cell=cell,
            how_to_mend=how_to_mend,
        )
    )
    return True


def _are_dates_in_words(cells: Sequence[str]) -> bool:
    return all(_DATES_IN_WORDS.fullmatch(cell) for cell in cells)


def _amounts(name: str, cells: Sequence[str]) -> tuple[str, str, bool] | None:
    """A cell that looks like a number, how to mend it, and whether it has a unit; None if they do not look so."""
    read = {cell: match for cell in cells if (match := _AMOUNT.fullmatch(cell))}
    units = {unit for match in read.values() if (unit := _unit(match))}
    decorated = [cell for cell, match in read.items() if _unit(match) or _is_grouped(match)]
    if len(read) < _MOSTLY * len(cells) or not decorated or len({unit.rstrip("s") for unit in units}) > 1:
        return None
    if not units and any("," in cell and not _is_grouped(match) for cell, match in read.items()):
        return None  # its commas stand before decimals
    cell = next((text for text in decorated if _is_grouped(read[text])), decorated[0])
    advice = f"plain numbers, here {_plain(read[cell])}"
    if units:
        advice += f", and tell the unit by --unit {name}={max(units, key=len)}"
    if all(_THOUSANDS_OR_DECIMALS.fullmatch(text) for text in decorated):
        advice += ", or pass --decimal , if the comma is the decimal sign"
    return cell, advice, bool(units)


def _unit(match: re.Match[str]) -> str:
    return (match["before"] or match["after"] or "").strip()


def _is_grouped(match: re.Match[str]) -> bool:
    return re.fullmatch(_GROUPED, match["number"]) is not None


def _plain(match: re.Match[str]) -> str:
    """The number without separators of thousands, of which the first sign that is no digit is one."""
    number, sign = match["number"], match["minus"] or match["inner"]
    return sign + (number.replace(number.lstrip("0123456789")[0], "") if _is_grouped(match) else number)


def tell_identifiers(X: pd.DataFrame, dialect: Dialect, say: Say) -> None:
    """Say which features name their rows, which nearly do, and which are dates: one note for each."""
    roles = {str(name): _role(str(name), series, dialect) for name, series in X.items()}
    for role, form in _NOTES.items():
        if names := [name for name, its_role in roles.items() if its_role == role]:
            say(tr(form, columns=columns_named(names), drop=f"--drop {as_option(names)}"))


def _role(name: str, series: pd.Series, dialect: Dialect) -> str | None:
    present = series.dropna()
    if pd.api.types.is_integer_dtype(series.dtype):
        if _are_days(present):
            return "dates"
        return "identifier" if len(present) == len(series) and _are_numbered(name, present) else None
    cells = present.tolist()
    if not all(isinstance(cell, str) for cell in cells):
        return None
    n_distinct = len(set(cells))
    if n_distinct <= len(cells) / 2 or _can_be_mended(cells, dialect):
        return None
    if n_distinct == len(cells) >= _FEWEST_IDENTIFIERS:
        return "identifier"
    return "nearly" if n_distinct < len(cells) >= _FEWEST_TEXTS else None


def _are_numbered(name: str, numbers: pd.Series) -> bool:
    if len(numbers) < _FEWEST_IDENTIFIERS or not numbers.is_unique:
        return False
    return int(numbers.max()) - int(numbers.min()) < 2 * len(numbers) or _is_called_id(name)


def _is_called_id(name: str) -> bool:
    """Whether a name ends with id, and not with a word that does.

    >>> [name for name in ("ID", "customerId", "jobid", "amount_paid", "amountPaid") if _is_called_id(name)]
    ['ID', 'customerId', 'jobid']
    """
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    return name.lower().endswith("id") and words[-1].lower() not in _NO_ID


def _are_days(numbers: pd.Series) -> bool:
    distinct = pd.Series(numbers.unique())
    if len(distinct) < _FEWEST_DATES or not distinct.between(*_DAYS).all():
        return False
    return bool(pd.to_datetime(distinct.astype(str), format="%Y%m%d", errors="coerce").notna().all())


def _can_be_mended(cells: list[str], dialect: Dialect) -> bool:
    """Whether reading the cells gave another note, after which they will be texts no longer."""
    n_numbers = sum(_NUMBER.fullmatch(_with_point(cell, dialect)) is not None for cell in cells)
    return _MOSTLY * len(cells) <= n_numbers < len(cells) or _are_dates_in_words(cells)


def convert(column: Column, cells: Sequence[Any], rows: Sequence[int], dialect: Dialect) -> pd.Series:
    """Cells of new data as what the column held in training; `rows` are their numbers in the file."""
    values: dict[Any, Any] = {None: np.nan if column.is_number else None}
    for cell, row in zip(cells, rows, strict=True):
        if cell not in values:
            if column.clock:
                values[cell] = _moment(column, str(cell), row)
            elif column.is_number:
                values[cell] = _number(column, str(cell), row, dialect)
            else:
                values[cell] = level_of(column, str(cell))
    if column.clock:
        return pd.Series(pd.to_datetime(np.array([values[cell] for cell in cells], dtype=object)))
    return pd.Series([values[cell] for cell in cells], dtype="float64" if column.is_number else object)


def _moment(column: Column, cell: str, row: int) -> Any:
    try:
        return column.decode(column.encode(cell))
    except DataError:
        raise DataError(
            f"Column {column.name!r} holds dates or times, got {cell!r} in row {row} (counted from 0). Write it like "
            "2024-03-01, or leave it empty if it is unknown."
        ) from None


def _number(column: Column, cell: str, row: int, dialect: Dialect) -> float:
    plain = _with_point(cell, dialect)
    if not _NUMBER.fullmatch(plain):
        raise DataError(
            f"Column {column.name!r} holds numbers, got {cell!r} in row {row} (counted from 0). Mend the cell, or "
            "leave it empty if it is unknown."
        )
    if abs(float(plain)) > LARGEST_INTEGER and column.kind is Kind.INTEGER:
        raise integer_too_large(column.name, cell)
    return float(plain)


def columns_named(names: Sequence[str]) -> str:
    """Columns for a sentence, in the right number."""
    return f"column{'s' * (len(names) > 1)} {listed(names)}"
