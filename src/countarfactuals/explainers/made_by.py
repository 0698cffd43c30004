"""The explainer that made a result, checked: what it knows of the data, and the result's target for its model."""

from __future__ import annotations

from typing import Any

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.exceptions import DataTypeError
from countarfactuals.explainers.background import Background
from countarfactuals.explainers.base import Explainer
from countarfactuals.prediction import Goal, resolve


def background_for(result: Counterfactuals, explainer: Any) -> Background:
    """What the fitted explainer that a result belongs to knows of the data."""
    if not isinstance(explainer, Explainer):
        raise DataTypeError(f"`explainer` must be a fitted explainer, got {type(explainer).__name__}.")
    background = explainer._fitted()
    background.check_columns(result.schema)
    return background


def goal_of(result: Counterfactuals, background: Background) -> Goal | None:
    """The result's target for the explainer's model; None if it is not recorded."""
    if result.target is None:
        return None
    return resolve(result.target, background.predictor, result.x_scores)
