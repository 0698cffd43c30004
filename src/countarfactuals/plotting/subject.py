"""What a picture is about: the checks of what was passed in, and what several pictures ask of it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.exceptions import DataError, DataTypeError, NotFittedError, ParameterError, listed
from countarfactuals.explainers.background import Background
from countarfactuals.explainers.base import Explainer
from countarfactuals.prediction import Goal, Target, resolve


def check_result(counterfactuals: Any) -> Counterfactuals:
    """One result, and nothing else."""
    if isinstance(counterfactuals, Counterfactuals):
        return counterfactuals
    if isinstance(counterfactuals, CounterfactualsBatch):
        raise DataTypeError(
            f"This picture shows one row, got a batch of {len(counterfactuals)}. Pass one of its results, as in "
            "`batch[0]`; `plot_frequency` shows a whole batch."
        )
    raise DataTypeError(f"Pass the `Counterfactuals` that `explain` returns, got {type(counterfactuals).__name__}.")


def background_of(explainer: Any) -> Background:
    """What a fitted explainer knows of the data."""
    if not isinstance(explainer, Explainer):
        raise DataTypeError(f"`explainer` must be a fitted explainer, got {type(explainer).__name__}.")
    if not hasattr(explainer, "background_"):
        raise NotFittedError(f"This {type(explainer).__name__} is not fitted. Call `fit(X)` first.")
    return explainer.background_


def background_for(result: Counterfactuals, explainer: Any) -> Background:
    """The same, of the explainer that the result belongs to."""
    background = background_of(explainer)
    own, other = result.schema.columns, background.schema.columns
    if [(c.name, c.kind, c.levels) for c in own] != [(c.name, c.kind, c.levels) for c in other]:
        raise DataError(
            f"The result has the features {listed(result.schema.names)}, the explainer was fitted to "
            f"{listed(background.schema.names)}, or their kinds or levels differ. Pass the explainer that made it."
        )
    return background


def goal_of(result: Counterfactuals, background: Background) -> Goal | None:
    """The result's target for the explainer's model; None if it is not recorded."""
    stored = result.provenance.get("target")
    return resolve(Target.from_dict(stored), background.predictor, result.x_scores) if stored else None


def check_most(name: str, most: Any) -> int:
    """How many of something are shown."""
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise ParameterError(f"`{name}` must be an integer of at least 1, got {most!r}. Say how many to show.")
    return int(most)


def feature_positions(result: Counterfactuals, features: Any) -> tuple[int, ...]:
    """Positions of the features named."""
    if isinstance(features, str) or not isinstance(features, list | tuple):
        raise ParameterError(f"`features` must be a list or tuple of names, got {features!r}.")
    names: tuple[Hashable, ...] = tuple(features)
    places = tuple(result.schema.index(name) for name in names)
    if len(set(places)) < len(places):
        raise ParameterError(f"`features` names a feature twice: {listed(names)}. Name different ones.")
    return places


def most_changed(result: Counterfactuals, most: int) -> tuple[int, ...]:
    """Positions, ascending, of the features that change most often, at most so many; ties go to the earlier one."""
    often = result.changed.sum(axis=0)
    return tuple(sorted(j for j in np.argsort(-often, kind="stable")[:most].tolist() if often[j]))
