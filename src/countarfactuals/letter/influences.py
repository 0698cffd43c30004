"""Which features were in fact scored: by the counterfactuals, and by the model's own word along ICE curves.

1. The model is asked about rows that differ from x in one feature (`ice_curves`). A feature's *gain* is how far the
   best of them moves the wanted score towards the target.
2. A feature is a reason only if its gain is positive, or a counterfactual changes it. What neither the model nor a
   counterfactual heeds is never named.
3. Reasons are ranked by gain, then by the number of counterfactuals that change them, then by the order of the data.
4. A feature's *span* is how far the score moves in any direction: whether the model heeds it at all in this row.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.outcomes import wanted_score
from countarfactuals.explainers.background import Background
from countarfactuals.explainers.curves import Curve, ice_curves
from countarfactuals.letter.contents import Reason
from countarfactuals.prediction import Goal, Score

_MOST_REASONS = 4
_ROUNDING = 1e-9  # of a score: by less than this nothing has moved


class Measured(NamedTuple):
    """The score that a letter tells of: which, x's own, and whether more of it is closer to the target (1) or less."""

    score: Score
    own: float
    sign: int


def measured(result: Counterfactuals, goal: Goal) -> Measured:
    """The score of the wanted class, or the one that the target is about."""
    score = wanted_score(result) or result.score_columns[goal.column]
    sign = -1 if not goal.wins and result.x_scores[goal.column] > goal.high else 1
    return Measured(score, float(score.of(result.x_scores)), -sign if score.is_mirrored else sign)


def curves_of(result: Counterfactuals, background: Background, *, hides_rare: bool) -> list[Curve]:
    """What the model says along each feature."""
    return ice_curves(background, result.x, hides_rare=hides_rare)


def reasons_of(
    result: Counterfactuals, curves: list[Curve], told: Measured, codes: Mapping[Hashable, str]
) -> tuple[Reason, ...]:
    """The principal reasons, at most four."""
    often = result.changed.sum(axis=0).tolist()
    every = [_reason(result.schema.names[j], j, curve, told, codes, often[j]) for j, curve in enumerate(curves)]
    scored = [reason for reason in every if reason.gain > 0 or reason.n_changed]
    return tuple(sorted(scored, key=lambda reason: (-reason.gain, -reason.n_changed))[:_MOST_REASONS])


def _reason(
    name: Hashable, j: int, curve: Curve, told: Measured, codes: Mapping[Hashable, str], n_changed: int
) -> Reason:
    scores = told.score.of(curve.scores)
    best = int(np.argmax(told.sign * scores)) if len(scores) else -1
    if best < 0 or told.sign * (scores[best] - told.own) <= _rounding(told):
        return Reason(name, j, codes.get(name, ""), told.own, told.own, None, n_changed)
    return Reason(name, j, codes.get(name, ""), told.own, float(scores[best]), float(curve.values[best]), n_changed)


def span(curve: Curve, told: Measured) -> float:
    """How far the score moves at most along a curve; 0 if it does not."""
    farthest = float(np.abs(told.score.of(curve.scores) - told.own).max(initial=0.0))
    return farthest if farthest > _rounding(told) else 0.0


def _rounding(told: Measured) -> float:
    return _ROUNDING * max(abs(told.own), 1.0)
