"""Columns of a table of many rows: what is predicted for each, and what would be predicted for its best counterfactual.

1. Of classes one column has the prediction and one the score of the wanted class, each before and after.
2. Of numbers one column has the prediction. Rows that failed have neither.
3. If not all rows want the same class, each score stands with its name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.outcomes import REGRESSION, Score, wanted_score
from countarfactuals.counterfactuals.spelling import score_texts
from countarfactuals.counterfactuals.vocabulary import Words
from countarfactuals.counterfactuals.wording import one_line
from countarfactuals.report import table
from countarfactuals.report.page import cell, spoken, text
from countarfactuals.report.single import CELL, NAME, prediction_texts

Pair = tuple[Counterfactuals, Counterfactuals | None]  # a result, and the same with its best counterfactual alone


def outcome_columns(pairs: Sequence[Pair], words: Words) -> list[table.Column]:
    """The columns for these rows."""
    if any(result.score_names == REGRESSION for result, _ in pairs):
        return [_numbers(pairs, words)]
    labels = [[str(label) for label in _labels(result, best)] for result, best in pairs]
    predictions = [cell(_before_after([text(label, CELL) for label in known])) for known in labels]
    columns = [table.Column("Prediction", predictions, [known[-1] if known else "" for known in labels])]
    scores = [wanted_score(result) if result.score_names else None for result, _ in pairs]
    return [*columns, _scores(pairs, scores)] if any(scores) else columns


def _labels(result: Counterfactuals, best: Counterfactuals | None) -> list[object]:
    if not result.score_names:
        return []
    return [result.x_label, *([] if best is None else [best.labels[0]])]


def _numbers(pairs: Sequence[Pair], words: Words) -> table.Column:
    values = [_values(result, best, Score("prediction", 0)) for result, best in pairs]
    cells = [_before_after([text(one) for one in prediction_texts(np.array(known), words)]) for known in values]
    return table.Column("Prediction", [cell(one, "number") for one in cells], _keys(values), "number")


def _scores(pairs: Sequence[Pair], scores: Sequence[Score | None]) -> table.Column:
    names = list(dict.fromkeys(score.name for score in scores if score is not None))
    values = [
        [] if score is None else _values(result, best, score)
        for (result, best), score in zip(pairs, scores, strict=True)
    ]
    cells = []
    for score, known in zip(scores, values, strict=True):
        shown = _before_after([text(one) for one in score_texts(known)])
        label = f"{text(score.name, NAME)}: " if score is not None and len(names) > 1 else ""
        cells.append(cell(f"{label}{shown}", "number"))
    head = one_line(names[0], NAME) if len(names) == 1 else "Score of the wanted class"
    return table.Column(head, cells, _keys(values), "number")


def _values(result: Counterfactuals, best: Counterfactuals | None, score: Score) -> list[float]:
    """Before and, if there is a counterfactual, after."""
    if not result.score_names:
        return []
    return [float(score.of(result.x_scores)), *([] if best is None else [float(score.of(best.scores[0]))])]


def _keys(values: Sequence[Sequence[float]]) -> list[float]:
    return [known[-1] if known else math.nan for known in values]


def _before_after(known: Sequence[str]) -> str:
    """HTML of one value, or of two with an arrow between them."""
    if not known:
        return "–"
    arrow = f'<span aria-hidden="true">→</span>{spoken("then")}'
    return f" {arrow} ".join(known)
