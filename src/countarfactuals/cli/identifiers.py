"""Features that name their rows, or nearly do, and dates written as numbers: kept as they are, with a note.

1. Texts or whole numbers that differ in every row are names or identifiers. Amounts may all differ, too, so numbers
   must also lie close together, or their column must be called an id.
2. Of texts that differ in nearly every row, such as ZIP codes, most are seen once, which tells a density nothing.
3. Whole numbers that all read as dates (20190713) are no days: from the end of a month to the next day they leap.

Each of the three gets one note, which lists its columns.
"""

from __future__ import annotations

import re

import pandas as pd

from countarfactuals.cli import lookalikes
from countarfactuals.cli.tables import columns_named
from countarfactuals.cli.text import MOSTLY, Dialect, Say, is_number
from countarfactuals.cli.wishes import as_option

_FEWEST_IDENTIFIERS = 21  # with fewer rows, values may all differ by chance
_FEWEST_TEXTS = 30
_FEWEST_DATES = 20
_DATES = (19000101, 21001231)
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


def tell(X: pd.DataFrame, dialect: Dialect, say: Say) -> None:
    """Say which features name their rows, which nearly do, and which are dates."""
    kinds = {str(name): _kind(str(name), series, dialect) for name, series in X.items()}
    for kind, form in _NOTES.items():
        if names := [name for name, its_kind in kinds.items() if its_kind == kind]:
            say(form.format(columns=columns_named(names), drop=f"--drop {as_option(names)}"))


def _kind(name: str, series: pd.Series, dialect: Dialect) -> str | None:
    known = series.dropna()
    if pd.api.types.is_integer_dtype(series.dtype):
        if _are_dates(known):
            return "dates"
        return "identifier" if len(known) == len(series) and _are_numbered(name, known) else None
    cells = known.tolist()
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


def _are_dates(numbers: pd.Series) -> bool:
    distinct = pd.Series(numbers.unique())
    if len(distinct) < _FEWEST_DATES or not distinct.between(*_DATES).all():
        return False
    return bool(pd.to_datetime(distinct.astype(str), format="%Y%m%d", errors="coerce").notna().all())


def _can_be_mended(cells: list[str], dialect: Dialect) -> bool:
    """Whether reading the cells gave another note, after which they will be texts no longer."""
    n_numbers = sum(is_number(cell, dialect) for cell in cells)
    return MOSTLY * len(cells) <= n_numbers < len(cells) or lookalikes.are_dates(cells)
