"""What is computed for requests about single rows: plain functions of a served explainer and a request."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from countarfactuals.constraints import clause_text
from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.sentences import odd_sentences
from countarfactuals.counterfactuals.storage import plain_number
from countarfactuals.evaluation import appraise
from countarfactuals.explainers import Explainer
from countarfactuals.explainers.curves import points_along
from countarfactuals.explainers.questions import Asking
from countarfactuals.language import speaking, tr
from countarfactuals.prediction import Goal, Score, resolve, wanted_score
from countarfactuals.serve.messages import Curve, Evaluate, Predict, Search
from countarfactuals.serve.privacy import check_method, veiled, veiling
from countarfactuals.serve.profile import ends_of, scores_told
from countarfactuals.serve.served import Served
from countarfactuals.serve.view import plain_cell, plain_score, view_of
from countarfactuals.serve.wanted import constraints_of, target_of


def predict(served: Served, asked: Predict) -> dict[str, Any]:
    """What the model says of rows."""
    explainer, predictor = served.explainer, served.explainer.background_.predictor
    rows = np.array([explainer.encode_row(served.row_of(row)) for row in asked.rows])
    scores, told = predictor.scores(rows), scores_told(served)
    labels = predictor.labels(scores).tolist()
    return {
        "predictions": [
            {"label": label, "scores": [plain_number(float(score.of(own))) for score in told]}
            for label, own in zip(labels, scores, strict=True)
        ]
    }


def explainer_for(served: Served, asked: Search) -> Explainer:
    """The explainer with the settings that are asked for."""
    check_method(served, asked.method)
    settings = {"max_evaluations": asked.max_evaluations, "random_state": asked.seed, "trade_off": asked.trade_off}
    return served.variant(asked.method, **settings)


def search(served: Served, asked: Search, x: Any) -> Asking[Counterfactuals]:
    """The search for a row, as the library's `explain` takes it, whose result is what that gives."""
    constraints = constraints_of(asked.constraints, served.explainer.schema_)
    with veiling(served):
        result = yield from explainer_for(served, asked).search(x, target_of(asked.target), constraints)
    return veiled(served, result)


def explanation(served: Served, asked: Search, result: Counterfactuals) -> dict[str, Any]:
    """A result with its view, in the language that is asked for."""
    with speaking(asked.language):
        told = labelled(served, asked, result)
        return {"result": told.to_dict(), "view": view_of(told, served.words, asked.top, served.name)}


def labelled(served: Served, asked: Search, result: Counterfactuals) -> Counterfactuals:
    """A result with the labels that are asked for."""
    return result.labelled(served.labels_of(asked.labels))


def evaluate(served: Served, asked: Evaluate) -> dict[str, Any]:
    """What a row that was edited by hand is worth for the row that it comes from."""
    explainer, schema = served.explainer, served.explainer.schema_
    constraints = constraints_of(asked.constraints, schema)
    row, x, target = served.row_of(asked.row), served.row_of(asked.x), target_of(asked.target)
    with veiling(served):
        found, words = appraise(row, x, explainer, target, constraints), served.words
    score = wanted_score(found.target, explainer.background_.predictor.score_columns)
    names = [str(name) for name in schema.names]
    return {
        "prediction": found.label,
        "score": plain_number(float(found.scores.max() if score is None else score.of(found.scores))),
        "score_of": plain_score(score),
        "scores": [plain_number(float(one.of(found.scores))) for one in scores_told(served)],
        "reached": found.reached,
        "distance": plain_number(found.distance),
        "n_changed": found.n_changed,
        "typicality": plain_number(found.typicality),
        "typicality_range": [plain_number(end) for end in found.typicality_range],
        "odd": [
            {
                "column": names[oddity.column],
                "beside": None if oddity.beside is None else names[oddity.beside],
                "sentence": " ".join(odd_sentences(schema, found.row, [oddity], words)),
            }
            for oddity in found.oddities
        ],
        "violated": [tr("{phrase}.", phrase=clause_text(clause, words, schema)) for clause in found.violated],
        "broken": [explainer.relations_.phrase(relation, words) for relation in found.broken],
    }


def curve(served: Served, asked: Curve) -> dict[str, Any]:
    """What the model says along one column, and where real rows are."""
    explainer, background = served.explainer, served.explainer.background_
    schema, x = background.schema, explainer.encode_row(served.row_of(asked.row))
    (column,) = served.row_of({asked.column: None})
    j = schema.index(column)
    values = points_along(background, x, j, asked.points, ends_of(served, j), hides_rare=not served.shows_real_rows)
    rows = np.repeat(x[None], len(values) + 1, axis=0)
    rows[1:, j] = values
    scores = background.predictor.scores(background.representable(rows))
    goal = resolve(target_of(asked.target), background.predictor, scores[0])
    score = wanted_score(goal.target, background.predictor.score_columns)
    told = scores[1:, goal.column] if score is None else score.of(scores[1:])
    return {
        "column": asked.column,
        "values": [plain_cell(schema, j, value) for value in values],
        "scores": [plain_number(one) for one in told],
        "reached": goal.reached(scores[1:]).tolist(),
        "score_of": plain_score(score),
        "threshold": _threshold(goal, score),
        "labels": background.predictor.labels(scores[1:]).tolist(),
        "x": plain_cell(schema, j, x[j]),
    }


def _threshold(goal: Goal, score: Score | None) -> float | None:
    """Where the score begins to reach the goal, if that is one number."""
    ends = [end for end in (goal.low, goal.high) if math.isfinite(end)]
    if goal.wins or score is None or len(ends) != 1:
        return None
    return 1.0 - ends[0] if score.is_mirrored else ends[0]
