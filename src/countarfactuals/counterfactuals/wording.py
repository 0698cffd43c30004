"""Single cells, changes and scores as text for people.

1. A number is shown with the decimals of its column; at full precision with four digits, and with as many more as it
   takes to tell different values apart.
2. A change has an arrow: ↑ and ↓ where values have an order, ↔ for categories and for cells filled or emptied.
3. Names and levels are the user's and may hold anything: control characters are escaped, long ones cut.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from countarfactuals.schema import Column, Kind

MISSING_TEXT = "(missing)"
UP, DOWN, OTHER = "↑", "↓", "↔"
_DIGITS = range(4, 18)


def one_line(value: Any, most: int | None = None) -> str:
    """A value on one line, without control characters; beyond `most` columns its middle is left out.

    Long names often differ in their ends only.

    >>> one_line("two\\nlines"), one_line("income_of_partner_2024", 11)
    ('two\\\\nlines', 'incom…_2024')
    """
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(value))
    if most is None or width(text) <= most:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while width(head) + width(tail) > most - 1:
        if width(head) > width(tail):
            head = head[:-1]
        else:
            tail = tail[1:]
    return f"{head}…{tail}"


def width(text: str) -> int:
    """Columns that a text takes in a terminal: two for wide characters, none for combining ones."""
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
    if not column.is_number:
        return [MISSING_TEXT if math.isnan(code) else one_line(column.decode(code)) for code in values]
    known = sorted({value + 0.0 for value in values if not math.isnan(value)})  # + 0.0: no minus before a zero
    texts = dict(zip(known, _number_texts(known, column.decimals), strict=True))
    return [MISSING_TEXT if math.isnan(value) else texts[value + 0.0] for value in values]


def _number_texts(known: Sequence[float], decimals: int | None) -> list[str]:
    texts: list[str] = []
    if decimals is not None:
        texts = [f"{value:.{decimals}f}" for value in known]
        if len(set(texts)) == len(known):
            return texts
    largest = max((abs(value) for value in known), default=0.0)
    for digits in _DIGITS:
        texts = [_number_text(value, largest, digits) for value in known]
        if len(set(texts)) == len(known):
            return texts
    return [repr(value) for value in known]


def _number_text(value: float, largest: float, digits: int) -> str:
    if largest == 0 or not 1e-3 <= largest < 1e7:
        return f"{value:.{digits}g}"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(largest)))}f}"


def score_text(score: float) -> str:
    """A score: three decimals, five digits once it is large.

    >>> score_text(0.51234), score_text(25341.68), score_text(0.0002)
    ('0.512', '25342', '0.0002')
    """
    if not math.isfinite(score):
        return str(score)
    if 0 < abs(score) < 0.001:
        return f"{score:.1g}"
    return f"{score:.3f}" if abs(score) < 100 else _number_text(score, abs(score), 5)


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
        return "<1 %"
    return ">99 %" if 0.99 < share < 1 else f"{share * 100:.0f} %"


def joined(parts: Sequence[str]) -> str:
    """Parts of a sentence.

    >>> joined(["a", "b", "c"]), joined(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


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
