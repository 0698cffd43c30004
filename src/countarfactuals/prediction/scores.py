"""`Score`: what one number of a model is about, and which one a target is about.

1. A model has the probability or the margin of classes, or predicts a number. A binary model has one score, that of its
   second class; where it is a probability that of the first class is one minus it.
2. The score of a target is that of the class it names; without a class it is the model's one score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from countarfactuals.prediction.target import Target

PROBABILITY, MARGIN, PREDICTION = "probability", "margin", "prediction"
KINDS = (PROBABILITY, MARGIN, PREDICTION)


@dataclass(frozen=True)
class Score:
    """One score.

    Parameters
    ----------
    kind : "probability", "margin" (any other score of a class) or "prediction" (the number of a regression).
    label : the class that it is the score of.
    column : where it is among the model's scores.
    is_mirrored : whether it is one minus that column.

    >>> Score("probability", "good").name, Score("margin", 3).name, Score("prediction").name
    ('P(good)', 'score(3)', 'prediction')
    """

    kind: str
    label: Any = None
    column: int = 0
    is_mirrored: bool = False

    @property
    def name(self) -> str:
        """What it is called in frames."""
        if self.kind == PREDICTION:
            return PREDICTION
        return f"{'P' if self.kind == PROBABILITY else 'score'}({self.label})"

    def of(self, scores: np.ndarray) -> np.ndarray:
        """Its values: of one row of scores, or of many."""
        values: np.ndarray = scores[..., self.column]
        return 1.0 - values if self.is_mirrored else values


def score_of_class(label: Any, columns: Sequence[Score]) -> Score | None:
    """The score of a class; None where the model has none."""
    for score in columns:
        if score.label == label and score.kind != PREDICTION:
            return score
    if len(columns) == 1 and columns[0].kind == PROBABILITY:
        return replace(columns[0], label=label, is_mirrored=True)
    return None


def wanted_score(target: Target | None, columns: Sequence[Score]) -> Score | None:
    """The score that a target is about; None where there is no such."""
    if target is None:
        return None
    if target.outcome is not None and columns and columns[0].kind != PREDICTION:
        return score_of_class(target.outcome, columns)
    return columns[0] if len(columns) == 1 else None
