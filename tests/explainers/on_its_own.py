"""A part of a search run by itself, with the model asked at once."""

from __future__ import annotations

from countarfactuals.explainers.problem import Problem
from countarfactuals.explainers.questions import Asking, Result, alone


def run(part: Asking[Result], problem: Problem) -> Result:
    """What a part of a search returns; it has asked the problem's model."""
    return alone(part, problem.background.predictor)
