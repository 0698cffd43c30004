"""How values are spelt in sentences and reports: cells, scores and predictions.

1. Numbers have the decimals that `wording` gives them, and thousands separators, which years such as 1998 have not.
   Decimals that are all zero are left out.
2. A score has two decimals, and more where two would hide a difference: between scores, or from 0, ½ or 1.
3. A prediction of a regression has four digits, and as many more as it takes to tell two apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from countarfactuals.counterfactuals.wording import cell_texts, name_text, score_text
from countarfactuals.schema import Column, Kind

_PLAIN_NUMBER = re.compile(r"(-?)(\d+)(\.\d+)?")
_MARKS, _ENOUGH = (0.0, 0.5, 1.0), 4  # scores that mean something, and decimals after which being near them is enough


def value_texts(column: Column, values: Sequence[float]) -> list[str]:
    """Cells of one column as text, with thousands separators and no decimals that say nothing.

    >>> value_texts(Column("income", Kind.REAL, decimals=2), [41200.0, 36000.0])
    ['41,200', '36,000']
    >>> value_texts(Column("income", Kind.REAL, decimals=2), [41200.5, 36000.0])
    ['41,200.50', '36,000.00']
    """
    texts = cell_texts(column, values)
    if column.kind is Kind.BOOLEAN:
        return [text.lower() if text in ("True", "False") else text for text in texts]
    if not column.is_number or _is_calendar(column, values):
        return texts
    return number_texts(texts)


def number_texts(texts: Sequence[str]) -> list[str]:
    """Numbers that are written already, with thousands separators; decimals that are all zero are left out."""
    found = [_PLAIN_NUMBER.fullmatch(text) for text in texts]
    whole = all(not match or not (match[3] or "").strip(".0") for match in found)
    return [
        f"{match[1]}{int(match[2]):,}{'' if whole else match[3] or ''}" if match else text
        for match, text in zip(found, texts, strict=True)
    ]


def _is_calendar(column: Column, values: Sequence[float]) -> bool:
    """Whether these are years such as 1998, which have no separator."""
    words = re.split(r"[\W_]+", name_text(column.name).lower())
    known = [value for value in values if not math.isnan(value)]
    return "year" in words and all(value == round(value) and 1000 <= value < 3000 for value in known)


def score_texts(scores: Sequence[float]) -> list[str]:
    """Scores with two decimals, and with more where it takes them to tell scores apart, or to tell one from ½.

    >>> score_texts([0.71, 0.38]), score_texts([0.504, 0.38]), score_texts([0.7141, 0.7139]), score_texts([0.9999])
    (['0.71', '0.38'], ['0.504', '0.380'], ['0.7141', '0.7139'], ['0.9999'])
    """
    if not all(abs(score) < 100 for score in scores):
        return number_texts([score_text(score) for score in scores])
    for digits in range(2, 17):
        texts = [f"{score:.{digits}f}" for score in scores]
        hides = any(float(text) in _MARKS and float(text) != score for text, score in zip(texts, scores, strict=True))
        if len(set(texts)) == len(set(scores)) and (digits >= _ENOUGH or not hides):
            return texts
    return [repr(score) for score in scores]


def outcome_texts(values: Sequence[float]) -> list[str]:
    """Predictions of a regression: four digits, and as many more as it takes to tell them apart.

    >>> outcome_texts([0.25, 0.5]), outcome_texts([1234.56]), outcome_texts([0.123456, 0.123457])
    (['0.25', '0.50'], ['1,235'], ['0.123456', '0.123457'])
    """
    texts = value_texts(Column("", Kind.REAL), values)
    while all("." in text and text.endswith("0") for text in texts):
        texts = [text[:-1] for text in texts]
    return texts
