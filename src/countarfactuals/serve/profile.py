"""What is told of an explainer: its columns with their distributions, relations, judges and methods.

1. A number has a histogram between round edges. Where no real row may leave, its smallest and largest value are the
   edges of what enough rows have, and its median the middle of a bin.
2. Counts that few rows make up are not told there, nor can they be had from what is told (`told_counts`).
3. A form starts from a typical row: the likeliest of some real rows, or of some drawn from the forest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from countarfactuals.constraints import Constraints, suggest_constraints
from countarfactuals.explainers import methods
from countarfactuals.explainers.problem import ANY_ROWS
from countarfactuals.language import languages, spoken, tr
from countarfactuals.plausibility.judgement import judgement
from countarfactuals.prediction import Score
from countarfactuals.prediction.scores import score_of_class
from countarfactuals.schema import Column, Kind
from countarfactuals.schema.clock import DAY
from countarfactuals.serve.allowances import Allowances
from countarfactuals.serve.served import Served
from countarfactuals.serve.view import plain_cell, plain_row, plain_score

FEWEST_ROWS = 5  # that a count is told of where no real row may leave
_BINS = 24
_FEW_NUMBERS = 12  # different values of a number that are listed
_OF_NUMBERS = ("low", "high", "median", "step", "decimals", "edges", "counts", "numbers")
_DRAWN = 200  # rows among which the typical one is
_SEED = 1


def outline(served: Served) -> dict[str, Any]:
    """A line of the list of explainers."""
    predictor = served.explainer.background_.predictor
    return {
        "name": served.name,
        "outcome": served.outcome,
        "task": "regression" if not predictor.classes else "classification",
        "classes": list(predictor.classes),
        "method": served.explainer.name,
        "n_features": len(served.explainer.schema_.columns),
    }


def scores_told(served: Served) -> list[Score]:
    """The scores of a model: of every class, also where that of one is what is left of the other's."""
    predictor = served.explainer.background_.predictor
    own = predictor.score_columns
    found = [score_of_class(label, own) for label in predictor.classes]
    return [score for score in found if score is not None] or list(own)


def profile(served: Served, allowances: Allowances) -> dict[str, Any]:
    """All that a page needs to know of an explainer, in the language that is spoken."""
    background = served.explainer.background_
    schema, matrix = background.schema, background.matrix
    return {
        **outline(served),
        "language": spoken().code,
        "languages": list(languages()),
        "scores": [plain_score(score) for score in scores_told(served)],
        "methods": [
            {"name": method.name, "label": method.label, "summary": method.summary}
            for method in methods().values()
            if served.shows_real_rows or method.hands_out == ANY_ROWS
        ],
        "rows_are": list(served.words.rows),
        "n_rows": len(matrix),
        "real_rows": served.shows_real_rows,
        "rows_to_pick": served.rows is not None,
        "columns": [_column(served, j) for j in range(len(schema.columns))],
        "relations": _relations(served),
        "judgement": judgement(background.plausibility.summary()),
        "typical": plain_row(schema, _typical(served)),
        "suggested": [
            {
                "text": str(suggestion),
                "constraints": _suggested(suggestion.kind, suggestion.column, suggestion.value).to_dict(),
            }
            for suggestion in suggest_constraints(schema)
        ],
        "limits": asdict(allowances),
    }


def _suggested(kind: str, column: Any, value: Any) -> Constraints:
    constraint: dict[str, Any] = {kind: [column] if value is None else {column: value}}
    return Constraints(**constraint)


def _relations(served: Served) -> list[dict[str, Any]]:
    found, words = served.explainer.relations_, served.words
    sentences = found.sentences(words)
    if not served.shows_real_rows:  # how many rows break one may be few
        sentences = [
            tr("In nearly all rows {relation}.", relation=phrase) if relation.exceptions else sentence
            for relation, phrase, sentence in zip(found, found.phrases(words), sentences, strict=True)
        ]
    return [
        {"text": text, "columns": [str(found.schema.names[j]) for j in relation.columns]}
        for relation, text in zip(found, sentences, strict=True)
    ]


# Columns


def ends_of(served: Served, j: int) -> tuple[float, float]:
    """The smallest and the largest number of a column that may be told."""
    background = served.explainer.background_
    low, high = float(background.low[j]), float(background.high[j])
    if served.shows_real_rows or not background.schema.columns[j].is_number:
        return low, high
    cells = background.matrix[:, j]
    edges, counts = _histogram(background.schema.columns[j], cells[~np.isnan(cells)])
    return _safe_ends(edges, told_counts(counts))


def _column(served: Served, j: int) -> dict[str, Any]:
    background = served.explainer.background_
    column, cells = background.schema.columns[j], background.matrix[:, j]
    known = cells[~np.isnan(cells)]
    n_missing = len(cells) - len(known)
    is_told = served.shows_real_rows or n_missing == 0 or n_missing >= FEWEST_ROWS
    unit = served.units.get(column.name)
    about = {
        "name": str(column.name),
        "label": str(column.title),
        "kind": _kind(column),
        "unit": unit if isinstance(unit, str) or unit is None else unit[1],
        "ordered": column.kind is Kind.ORDERED,
        "missing": n_missing > 0,
        "share_missing": n_missing / len(cells) if is_told else None,
    }
    of_kind = _of_number if column.is_number else _of_levels
    return {**about, **of_kind(served, j, known)}


def _kind(column: Column) -> str:
    if column.clock:
        return "date" if column.clock == DAY else "time"
    names = {Kind.REAL: "number", Kind.INTEGER: "integer", Kind.BOOLEAN: "boolean"}
    return names.get(column.kind, "category")


def _of_levels(served: Served, j: int, codes: np.ndarray) -> dict[str, Any]:
    column = served.explainer.schema_.columns[j]
    counts = np.bincount(codes.astype(np.intp), minlength=column.n_levels)
    told: Sequence[int | None] = counts.tolist() if served.shows_real_rows else told_counts(counts)
    levels = [
        {
            "value": level,
            "label": str(column.title_of(float(code))),
            "share": None if told[code] is None else int(told[code] or 0) / max(len(codes), 1),
        }
        for code, level in enumerate(column.levels)
    ]
    return {"levels": levels, **dict.fromkeys(_OF_NUMBERS)}


def _of_number(served: Served, j: int, cells: np.ndarray) -> dict[str, Any]:
    schema = served.explainer.schema_
    column = schema.columns[j]
    edges, counts = _histogram(column, cells)
    distinct, often = np.unique(cells, return_counts=True)
    low, high, median = float(cells.min()), float(cells.max()), float(np.median(cells))
    told: Sequence[int | None] = counts.tolist()
    if not served.shows_real_rows:
        told = told_counts(counts)
        low, high = _safe_ends(edges, told)
        median = _middle_of_bin(edges, median)
        distinct = distinct[often >= FEWEST_ROWS] if len(distinct) <= _FEW_NUMBERS else distinct
    is_few = 0 < len(distinct) <= _FEW_NUMBERS

    def plain(values: Sequence[float]) -> list[Any]:
        return [plain_cell(schema, j, value) if column.clock else float(value) for value in values]

    low, high, median = plain([low, high, median])
    return {
        "levels": None,
        "low": low,
        "high": high,
        "median": median,
        "step": column.step or None,
        "decimals": column.decimals,
        "edges": plain(edges.tolist()),
        "counts": list(told),
        "numbers": plain(distinct.tolist()) if is_few else None,
    }


def _histogram(column: Column, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counts between round edges, so that no edge is a value that one row alone has."""
    low, high = float(cells.min()), float(cells.max())
    width = _round_up((high - low) / _BINS) if high > low else 1.0
    width = max(width, column.unit)
    if column.kind is Kind.INTEGER:
        width = math.ceil(width)
    first, last = math.floor(low / width), math.floor(high / width) + 1
    edges = np.arange(first, last + 1) * width
    # edges are rounded like the numbers, and a number that lies on one belongs to the right of it
    places = np.clip(np.searchsorted(edges, cells, side="right") - 1, 0, len(edges) - 2)
    return edges, np.bincount(places, minlength=len(edges) - 1)


def _round_up(width: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in (1.0, 2.0, 2.5, 5.0, 10.0) if step * power >= width * (1 - 1e-12))


def told_counts(counts: np.ndarray) -> list[int | None]:
    """Counts without those below five, None in their place; nor is left out so little that a difference tells it.

    >>> told_counts(np.array([40, 3, 20, 0]))
    [40, None, None, None]
    """
    is_told = counts >= FEWEST_ROWS
    while 0 < counts[~is_told].sum() < FEWEST_ROWS and is_told.any():
        is_told[np.flatnonzero(is_told)[counts[is_told].argmin()]] = False
    return [int(count) if told else None for count, told in zip(counts, is_told, strict=True)]


def _safe_ends(edges: np.ndarray, told: Sequence[int | None]) -> tuple[float, float]:
    """Edges of what enough rows have."""
    at = [i for i, count in enumerate(told) if count is not None] or [0, len(told) - 1]
    return float(edges[at[0]]), float(edges[at[-1] + 1])


def _middle_of_bin(edges: np.ndarray, value: float) -> float:
    i = int(np.clip(np.searchsorted(edges, value, side="right") - 1, 0, len(edges) - 2))
    return float(edges[i] + edges[i + 1]) / 2


# A row to start from


def _typical(served: Served) -> np.ndarray:
    background = served.explainer.background_
    if served.shows_real_rows:
        at = np.linspace(0, len(background.matrix) - 1, min(_DRAWN, len(background.matrix))).astype(np.intp)
        rows = background.matrix[at]
        rows = rows[~np.isnan(rows).any(axis=1)] if not np.isnan(rows).any(axis=1).all() else rows
    else:
        rows = _drawn(served)
    row: np.ndarray = rows[int(np.argmax(background.plausibility(rows)))]
    return row


def _drawn(served: Served) -> np.ndarray:
    """Rows that are no one's, of values that enough rows have; the middle of each column where none could be drawn."""
    background = served.explainer.background_
    schema, forest = background.schema, background.plausibility.forest
    frame = forest.sample(_DRAWN, random_state=_SEED)
    rows = forest.schema_.encode(frame)[:, : len(schema.columns)]
    middle = _middle(served)
    rows = background.representable(background.veil.over(rows, middle))
    rows = rows[~background.is_real(rows) & ~background.veil.covers(rows).any(axis=1)]
    return rows if len(rows) else middle[None]


def _middle(served: Served) -> np.ndarray:
    """Of each column the most frequent level, or a number in the middle that no few rows have."""
    background = served.explainer.background_
    cells = []
    for j, column in enumerate(background.schema.columns):
        known = background.matrix[:, j][~np.isnan(background.matrix[:, j])]
        distinct, often = np.unique(known, return_counts=True)
        cells.append(
            float(np.median(known)) if column.is_number and often.max() < FEWEST_ROWS else distinct[often.argmax()]
        )
    return np.array(cells)
