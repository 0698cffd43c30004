"""The one table of changes, as data: what counterfactuals make of each feature, and what would then be predicted.

1. A `Line` is one feature, or one number of the outcome: x's text, and per counterfactual a text, an arrow where it
   changes, and the value to sort by.
2. `feature_line` makes those of features, `outcome_lines` all others in one order: the prediction, its scores, how much
   changes, the distance, objectives of the user's own, the typicality, whether the data has such a row.
3. With `words`, values are spelt as in sentences and have their units; without them as in a terminal.

Whoever shows the table chooses counterfactuals and lines, names them by their `kind`, and lays them out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from countarfactuals.counterfactuals.outcomes import is_regression, outcome_head, score_name, shown_scores
from countarfactuals.language import tr
from countarfactuals.language.spelling import (
    arrow,
    cell_texts,
    large_score_texts,
    name_text,
    one_line,
    score_text,
    share_text,
    value_texts,
)
from countarfactuals.language.vocabulary import Words

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals

_LONGEST = 60  # characters of a value that stands with its unit
_OWN_LINES = ("validity", "distance", "n_changed", "implausibility")


@dataclass(frozen=True)
class Line:
    """One line of the table.

    Parameters
    ----------
    kind : "feature", "prediction", "score", "highest score", "changes", "distance", "objective", "typicality", "real".
    name : what users call the feature, the score or the objective.
    x : x's text.
    texts, signs, values : per counterfactual; a sign is "" where nothing changes.
    follows : per counterfactual, whether the change follows from others.
    is_number : whether texts are numbers, which are never shortened.
    """

    kind: str
    name: str
    x: str
    texts: tuple[str, ...]
    values: tuple[float | str, ...]
    signs: tuple[str, ...] = ()
    is_number: bool = True
    follows: tuple[bool, ...] = ()


def feature_line(result: Counterfactuals, j: int, at: Sequence[int], words: Words | None = None) -> Line:
    """What the counterfactuals with the numbers `at` make of feature j."""
    column, before = result.schema.columns[j], float(result.x[j])
    values = tuple(float(result.rows[i, j]) for i in at)
    x, *texts = _cells(result, j, [before, *values], words)
    signs = (arrow(column, before, value) if result.changed[i, j] else "" for i, value in zip(at, values, strict=True))
    follows = tuple(bool(result.consequence[i, j]) for i in at)
    return Line("feature", name_text(column.title), x, tuple(texts), values, tuple(signs), column.is_number, follows)


def _cells(result: Counterfactuals, j: int, values: Sequence[float], words: Words | None) -> list[str]:
    column = result.schema.columns[j]
    if words is None:
        return cell_texts(column, values)
    texts = [one_line(text, _LONGEST) for text in value_texts(column, values)]
    return [
        text if math.isnan(value) else words.plain.amount(column.name, text)
        for value, text in zip(values, texts, strict=True)
    ]


def changes_of(result: Counterfactuals, i: int, words: Words | None = None) -> list[Line]:
    """The features that counterfactual i changes; those that follow from others come last."""
    own, along = result.changes_at[i]
    return [feature_line(result, j, [i], words) for j in (*own, *along)]


def outcome_lines(result: Counterfactuals, at: Sequence[int], words: Words | None = None) -> Iterator[Line]:
    """What is predicted for the counterfactuals with the numbers `at`, and how good they are."""
    yield from _predictions(result, list(at), words)
    counts = result.n_changed[at].tolist()
    yield Line("changes", "", "", tuple(map(str, counts)), tuple(map(float, counts)))
    own = {"distance": "distance"} | {name: "objective" for name in result.objectives if name not in _OWN_LINES}
    for name, kind in own.items():
        if name in result.objectives:
            costs = result.objectives[name][at].tolist()
            yield Line(kind, name, "", tuple(map(score_text, costs)), tuple(costs))
    shares = result.typicality[at].tolist()
    yield Line("typicality", "", share_text(result.x_typicality), tuple(map(share_text, shares)), tuple(shares))
    real = result.is_real_row[at].tolist()
    if any(real):
        texts = (tr("yes") if is_real else tr("no") for is_real in real)
        yield Line("real", "", "", tuple(texts), tuple(map(float, real)), is_number=False)


def _predictions(result: Counterfactuals, at: list[int], words: Words | None) -> Iterator[Line]:
    scores, own = result.scores[at], result.x_scores
    if is_regression(result):
        (x,), texts = prediction_texts([float(own[0])], words), prediction_texts(scores[:, 0].tolist(), words)
        yield Line("prediction", outcome_head(result), x, tuple(texts), tuple(scores[:, 0].tolist()))
        return
    labels = tuple(one_line(result.labels[i]) for i in at)
    yield Line("prediction", outcome_head(result), one_line(result.x_label), labels, labels, is_number=False)
    shown = shown_scores(result)
    for score in shown:
        yield _score_line("score", score_name(score), score.of(scores), float(score.of(own)), words)
    if result.score_names and not shown:
        yield _score_line("highest score", "", scores.max(axis=1), float(own.max()), words)


def _score_line(kind: str, name: str, scores: np.ndarray, own: float, words: Words | None) -> Line:
    texts = large_score_texts(scores.tolist()) if words else list(map(score_text, scores.tolist()))
    return Line(kind, name, score_text(own), tuple(texts), tuple(scores.tolist()))


def prediction_texts(values: Sequence[float], words: Words | None) -> list[str]:
    """Predictions of a regression; with `words` they have the outcome's unit."""
    if words is None:
        return [score_text(value) for value in values]
    return [words.plain.amount(words.outcome or "prediction", text) for text in large_score_texts(values)]
