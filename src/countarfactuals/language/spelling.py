"""Cells, changes, scores and names as text for people; the one place for them.

1. A number is shown with the decimals of its column; at full precision with four digits, and with as many more as it
   takes to tell different values apart, and how far apart all of them are. Zeros that all of them end in are left out,
   down to two decimals. In sentences it has thousands separators, which years such as 1998 have not, and no decimals
   that are all zero.
2. A change has an arrow: ↑ and ↓ where values have an order, ↔ for categories and for cells filled or emptied.
3. A score has three decimals in tables. In sentences it has two, and more where two would hide a difference: between
   scores, or from 0, ½ or 1. A prediction of a regression has four digits, and as many more as it takes.
4. Numbers are made with the signs of English, and shown with those of the language that is spoken.
5. Names and levels are the user's and may hold anything: control characters are escaped, long ones cut.
"""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from countarfactuals.language.catalogue import Catalogue, spoken, tr
from countarfactuals.schema import Column, Kind

MISSING_TEXT = "(missing)"
UP, DOWN, OTHER = "↑", "↓", "↔"
_DIGITS = range(4, 18)
_MOST_OFF = 0.25  # of the span of values: how wrong a change may look
_PLAIN_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_BLANKS = "\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"  # that languages have between digits, and before units
_MONEY = 2  # decimals
_KEPT = 10_000  # texts of numbers
_YEARS = 1500, 2200  # in which numbers of a column are taken for years, whatever it is called
_CALENDAR = frozenset({"year", "yr", "built", "remodelled", "renovated", "date", "jahr", "baujahr", "datum"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")  # also of YearBuilt
_MARKS, _ENOUGH = (0.0, 0.5, 1.0), 4  # scores that mean something, and decimals after which being near them is enough


def one_line(value: Any, most: int | None = None) -> str:
    """A value on one line, without control characters; beyond `most` columns its middle is left out.

    Long names often differ in their ends only.

    >>> one_line("two\\nlines"), one_line("income_of_partner_2024", 11)
    ('two\\\\nlines', 'incom…_2024')
    """
    text = str(value)
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in _BLANKS else c.encode("unicode_escape").decode() for c in text)
    if most is None or width(text) <= most:
        return text
    half = min(len(text) // 2, most)  # a character takes a column, or none: far more than these are never kept
    head, tail = text[:half], text[-half:] if half < len(text) // 2 else text[len(text) // 2 :]
    while width(head) + width(tail) > most - 1:
        if width(head) > width(tail):
            head = head[:-1]
        else:
            tail = tail[1:]
    return f"{head}…{tail}"


def width(text: str) -> int:
    """Columns that a text takes in a terminal: two for wide characters, none for combining ones."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def name_text(name: Hashable, most: int | None = None) -> str:
    """A column's name; the parts of a nested one joined by dots."""
    return one_line(".".join(map(str, name)) if isinstance(name, tuple) else name, most)


def arrow(column: Column, before: float, after: float) -> str:
    """The sign of a change.

    >>> arrow(Column("age", Kind.INTEGER), 30.0, 31.0), arrow(Column("age", Kind.INTEGER), math.nan, 31.0)
    ('↑', '↔')
    """
    if column.kind is Kind.CATEGORY or math.isnan(before) or math.isnan(after):
        return OTHER
    return UP if after > before else DOWN


def cell_texts(column: Column, values: Sequence[float]) -> list[str]:
    """Cells of one column as text: alike in their decimals, and different where the values are.

    >>> cell_texts(Column("rate", Kind.REAL), [0.12341, 0.12344])
    ['0.12341', '0.12344']
    """
    if column.is_number and not column.clock:
        return [spoken().number(text) for text in _plain_cells(column.decimals, values)]
    return [tr(MISSING_TEXT) if math.isnan(code) else one_line(_plain(column.title_of(code))) for code in values]


def _plain_cells(decimals: int | None, values: Sequence[float]) -> list[str]:
    """Numbers of one column with so many decimals, with the signs of English."""
    known = sorted({value + 0.0 for value in values if not math.isnan(value)})  # + 0.0: no minus before a zero
    texts = dict(zip(known, _without_common_zeros(_number_texts(known, decimals)), strict=True))
    return [tr(MISSING_TEXT) if math.isnan(value) else texts[value + 0.0] for value in values]


def _plain(value: Any) -> str:
    """A level or moment as text."""
    return spoken().stamp(value) if isinstance(value, datetime.date) else str(value)


def _number_texts(known: Sequence[float], decimals: int | None) -> list[str]:
    texts: list[str] = []
    if decimals is not None:
        texts = [f"{value:.{decimals}f}" for value in known]
        if len(set(texts)) == len(known):
            return texts
    largest = max((abs(value) for value in known), default=0.0)
    span = max(known, default=0.0) - min(known, default=0.0)
    for digits in _DIGITS:
        texts = [_number_text(value, largest, digits) for value in known]
        shown = [float(text) for text in texts]
        off = abs(max(shown, default=0.0) - min(shown, default=0.0) - span)
        if len(set(texts)) == len(known) and off <= _MOST_OFF * span:
            return texts
    return [repr(value) for value in known]


def _without_common_zeros(texts: Sequence[str]) -> list[str]:
    """Numbers alike in their decimals, without zeros that all of them end in, down to two decimals.

    >>> _without_common_zeros(["5.640000", "2.940000"]), _without_common_zeros(["0.350", "0.125"])
    (['5.64', '2.94'], ['0.350', '0.125'])
    """
    if not texts or len(texts[0].partition(".")[2]) <= _MONEY:
        return list(texts)  # as most are
    found = [_PLAIN_NUMBER.fullmatch(text) for text in texts]
    decimals = [match[1] or "" for match in found if match]
    if len(decimals) < len(texts):
        return list(texts)
    most = len(decimals[0]) - 1 - _MONEY
    zeros = min(most, *(len(part) - len(part.rstrip("0")) for part in decimals))
    return [text[:-zeros] for text in texts] if zeros > 0 else list(texts)


def _number_text(value: float, largest: float, digits: int) -> str:
    if largest == 0 or not 1e-3 <= largest < 1e7:
        return f"{value:.{digits}g}"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(largest)))}f}"


def score_text(score: float) -> str:
    """A score: three decimals, five digits once it is large.

    >>> score_text(0.51234), score_text(25341.68), score_text(0.0002)
    ('0.512', '25342', '0.0002')
    """
    return spoken().number(_plain_score(score))


def _plain_score(score: float) -> str:
    if not math.isfinite(score):
        return str(score)
    if 0 < abs(score) < 0.001:
        return f"{score:.1g}"
    return f"{score:.3f}" if abs(score) < 100 else _number_text(score, abs(score), 5)


def count_text(count: int) -> str:
    """How many, with thousands separators.

    >>> count_text(1200)
    '1,200'
    """
    return spoken().number(str(count), grouped=True)


def fixed_text(value: float, decimals: int) -> str:
    """A number with so many decimals.

    >>> fixed_text(0.125, 2)
    '0.12'
    """
    return spoken().number(f"{value:.{decimals}f}")


def date_text(day: datetime.date) -> str:
    """A day in words.

    >>> date_text(datetime.date(2026, 11, 16))
    '16 November 2026'
    """
    return spoken().date(day)


def scores_text(names: Sequence[str], scores: Sequence[float]) -> str:
    """Scores with their names: `P(good) = 0.512`; of many classes the highest three."""
    order = np.argsort(-np.asarray(scores), kind="stable")[:3] if len(names) > 3 else range(len(names))
    return ", ".join(f"{one_line(names[i])} = {score_text(float(scores[i]))}" for i in order)


def share_text(share: float) -> str:
    """A share in per cent; what is neither nothing nor all is not rounded to it.

    >>> share_text(0.614), share_text(0.0004), share_text(0.9999), share_text(1.0)
    ('61 %', '<1 %', '>99 %', '100 %')
    """
    if math.isnan(share):
        return "–"
    if 0 < share < 0.01:
        return f"<{spoken().percent('1')}"
    return f">{spoken().percent('99')}" if 0.99 < share < 1 else spoken().percent(f"{share * 100:.0f}")


def range_text(low: str | None, high: str | None) -> str:
    """A range by its ends as text, None for an open one.

    >>> range_text("2", None), range_text(None, "3"), range_text("2", "3")
    ('at least 2', 'at most 3', 'from 2 to 3')
    """
    if high is None:
        return tr("at least {low}", low=low)
    return tr("at most {high}", high=high) if low is None else tr("from {low} to {high}", low=low, high=high)


def capital(text: str) -> str:
    """A phrase as the beginning of a sentence or a heading.

    >>> capital("expected outcome")
    'Expected outcome'
    """
    return text[:1].upper() + text[1:]


def joined(parts: Sequence[str]) -> str:
    """Parts of a sentence.

    >>> joined(["a", "b", "c"]), joined(["a"])
    ('a, b and c', 'a')
    """
    if len(parts) < 2:
        return "".join(parts)
    return tr("{first} and {last}", first=", ".join(parts[:-1]), last=parts[-1])


def either(parts: Sequence[str]) -> str:
    """Parts of which one will do.

    >>> either(["a", "b", "c"]), either(["a"])
    ('a, b or c', 'a')
    """
    if len(parts) < 2:
        return "".join(parts)
    return tr("{first} or {last}", first=", ".join(parts[:-1]), last=parts[-1])


def names_text(names: Sequence[Hashable], room: int) -> str:
    """Names in a limited room: `age, job, …`."""
    texts = [name_text(name, 40) for name in names]
    if width(", ".join(texts)) <= room:
        return ", ".join(texts)
    kept: list[str] = []
    for text in texts:
        if width(", ".join([*kept, text, "…"])) > room:
            break
        kept.append(text)
    return ", ".join([*kept, "…"])


# In sentences


def value_texts(column: Column, values: Sequence[float]) -> list[str]:
    """Cells of one column as text, with thousands separators and no decimals that say nothing.

    >>> value_texts(Column("income", Kind.REAL, decimals=2), [41200.0, 36000.0])
    ['41,200', '36,000']
    >>> value_texts(Column("income", Kind.REAL, decimals=2), [41200.5, 36000.0])
    ['41,200.50', '36,000.00']
    """
    if column.kind is Kind.BOOLEAN:
        truth = {"True": tr("true"), "False": tr("false")}
        return [truth.get(text, text) for text in cell_texts(column, values)]
    if not column.is_number or column.clock or is_calendar(column, values):
        return cell_texts(column, values)
    return list(_told_numbers(spoken(), column.decimals, tuple(values)))


@lru_cache(_KEPT)  # a value before and after comes again and again in a result
def _told_numbers(_: Catalogue, decimals: int | None, values: tuple[float, ...]) -> tuple[str, ...]:
    return tuple(number_texts([_without_zeros(text) for text in _plain_cells(decimals, values)]))


def number_texts(texts: Sequence[str]) -> list[str]:
    """Plain numbers such as 1234.5, with thousands separators; decimals that are all zero are left out."""
    found = [_PLAIN_NUMBER.fullmatch(text) for text in texts]
    is_whole = all(not match or not (match[1] or "").strip(".0") for match in found)
    return [
        spoken().number(text.partition(".")[0] if match and is_whole else text, grouped=True)
        for match, text in zip(found, texts, strict=True)
    ]


def _without_zeros(text: str) -> str:
    """A number without zeros at the end of its decimals; two decimals, as amounts of money have, stay.

    >>> _without_zeros("0.3500"), _without_zeros("12.50"), _without_zeros("100"), _without_zeros("2.000")
    ('0.35', '12.50', '100', '2')
    """
    _, _, decimals = text.partition(".")
    return text.rstrip("0").rstrip(".") if len(decimals) > _MONEY and decimals.isdigit() else text


def is_calendar(column: Column, values: Sequence[float]) -> bool:
    """Whether these are years such as 1998 or 2016.5, which have no separator."""
    known = [value for value in values if not math.isnan(value)]
    if not all(1000 <= value < 3000 for value in known):
        return False
    words = {word.lower() for word in _WORD.findall(name_text(column.name))}
    return bool(words & _CALENDAR) or (all(value == round(value) for value in known) and _lies_in_calendar(column))


def _lies_in_calendar(column: Column) -> bool:
    """Whether all values that a column of whole numbers is known to have may be years."""
    if column.kind is not Kind.INTEGER:
        return False
    ends = (column.values[0], column.values[-1]) if column.values else (column.low, column.high)
    return ends[0] >= _YEARS[0] and ends[1] <= _YEARS[1]


def score_texts(scores: Sequence[float]) -> list[str]:
    """Scores with two decimals, and with more where it takes them to tell scores apart, or to tell one from ½.

    >>> score_texts([0.71, 0.38]), score_texts([0.504, 0.38]), score_texts([0.7141, 0.7139]), score_texts([0.9999])
    (['0.71', '0.38'], ['0.504', '0.380'], ['0.7141', '0.7139'], ['0.9999'])
    """
    if not all(abs(score) < 100 for score in scores):
        return large_score_texts(scores)
    for digits in range(2, 17):
        texts = [f"{score:.{digits}f}" for score in scores]
        hides = any(float(text) in _MARKS and float(text) != score for text, score in zip(texts, scores, strict=True))
        if len(set(texts)) == len(set(scores)) and (digits >= _ENOUGH or not hides):
            return [spoken().number(text) for text in texts]
    return [repr(score) for score in scores]


def large_score_texts(scores: Sequence[float]) -> list[str]:
    """Scores as in a table, with thousands separators.

    >>> large_score_texts([0.25, 25341.68])
    ['0.250', '25,342']
    """
    return number_texts([_plain_score(score) for score in scores])


def outcome_texts(values: Sequence[float]) -> list[str]:
    """Predictions of a regression: four digits, and as many more as it takes to tell them apart.

    >>> outcome_texts([0.25, 0.5]), outcome_texts([1234.56]), outcome_texts([0.123456, 0.123457])
    (['0.25', '0.50'], ['1,235'], ['0.123456', '0.123457'])
    """
    texts = _plain_cells(None, values)
    while all("." in text and text.endswith("0") for text in texts):
        texts = [text[:-1].removesuffix(".") for text in texts]
    return number_texts(texts)
