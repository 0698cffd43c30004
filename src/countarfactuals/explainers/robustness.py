"""Robustness: whether counterfactuals stay valid under other models and small changes of their values.

1. Other models are those that a user passes, or clones of the explainer's own that are fitted to rows drawn from the
   training data with replacement, with seeds of their own. A counterfactual that has the wanted outcome by a model
   agrees with it.
2. Small changes: every number of a counterfactual moves by at most a share of its column's range, and by one step at
   least where its values have steps; it stays within the data's range and among the values that occur. Levels and gaps
   stay. All counterfactuals are moved by the same draws, so that they are compared fairly.
3. *Fragility* is one minus the mean of the two shares, or of the one that was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.select import FRAGILITY
from countarfactuals.exceptions import DataError, ModelError, ModelTypeError, ParameterError
from countarfactuals.explainers.background import Background
from countarfactuals.parameters import check_float, check_int
from countarfactuals.prediction import Predictor, make_predictor, resolve

if TYPE_CHECKING:
    from countarfactuals.explainers.base import Explainer

MODELS_AGREE, NOISE_VALID = "models_agree", "noise_valid"
_MOST_ROWS = 100_000  # that a model is asked about at once
_SEEN_ROWS = 200  # that a new model is shown, to tell what it returns
_TRIES = 20  # draws of rows until all classes are there


class Noise(NamedTuple):
    """How far numbers move, and how often."""

    size: float
    n_draws: int
    seed: int


def robustness(
    explainer: Explainer,
    found: Counterfactuals | CounterfactualsBatch,
    models: Sequence[Any] | None,
    bootstrap: int | None,
    training: tuple[Any, Any],
    noise: Noise | None,
) -> pd.DataFrame:
    """One line per counterfactual; see `Explainer.robustness`."""
    background = explainer.background_
    predictors = [_predictor(explainer, model) for model in _given(models)]
    if bootstrap is not None:
        predictors += [_predictor(explainer, model) for model in _refitted(explainer, bootstrap, *training)]
    if not predictors and noise is None:
        raise ParameterError("Nothing is asked for. Pass `models`, `bootstrap` or `noise`.")
    if isinstance(found, Counterfactuals):
        return _frame(background, found, predictors, noise)
    parts = [_frame(background, result, predictors, noise) for result in found]
    for label, part in zip(found.index, parts, strict=True):
        part.insert(0, "row", pd.Series([label] * len(part), dtype=object))
    return pd.concat(parts, ignore_index=True)


def _frame(
    background: Background, result: Counterfactuals, predictors: Sequence[Predictor], noise: Noise | None
) -> pd.DataFrame:
    agree = np.full(len(result), np.nan)
    if predictors and len(result):
        agree = np.mean([_valid(predictor, result, result.rows) for predictor in predictors], axis=0)
    stays = np.full(len(result), np.nan)
    if noise is not None and len(result):
        stays = _valid_under_noise(background, result, noise)
    asked = [shares for shares, is_asked in ((agree, bool(predictors)), (stays, noise is not None)) if is_asked]
    return pd.DataFrame(
        {
            "counterfactual": np.arange(len(result)),
            MODELS_AGREE: agree,
            NOISE_VALID: stays,
            FRAGILITY: 1.0 - np.mean(asked, axis=0),
        }
    )


def _valid(predictor: Predictor, result: Counterfactuals, rows: np.ndarray) -> np.ndarray:
    """Which rows have the wanted outcome by a model."""
    goal = resolve(result.target, predictor, result.x_scores)
    return goal.reached(predictor.scores(rows))


# Other models


def _given(models: Any) -> list[Any]:
    if models is None:
        return []
    if isinstance(models, str) or not isinstance(models, Sequence):
        raise ParameterError(f"`models` must be a list of fitted models, got {type(models).__name__}.")
    return list(models)


def _predictor(explainer: Explainer, model: Any) -> Predictor:
    background = explainer.background_
    shown = background.schema.decode(background.matrix[:_SEEN_ROWS])
    return make_predictor(model, background.schema, shown, classes=explainer.classes, task=explainer.task)


def _refitted(explainer: Explainer, n: int, X: Any, y: Any) -> list[Any]:
    """Clones of the model, fitted to rows that were drawn with replacement."""
    background = explainer.background_
    if y is None:
        raise ParameterError("`bootstrap` fits the model anew, which needs `y`: the outcomes of the training data.")
    X = background.schema.decode(background.matrix) if X is None else X
    if len(X) != len(y):
        raise DataError(f"`y` has {len(y)} outcomes for {len(X)} rows of training data. Give one per row.")
    outcomes = np.asarray(y)
    return [_refit(explainer, X, outcomes, np.random.default_rng([explainer.seed_, k])) for k in range(n)]


def _refit(explainer: Explainer, X: Any, y: np.ndarray, rng: np.random.Generator) -> Any:
    model = _seeded(_cloned(explainer.model), rng)
    at = _drawn(y, explainer.background_.predictor.task == "regression", rng)
    try:
        return model.fit(_rows_at(X, at), y[at])
    except Exception as error:
        name = type(error).__name__
        raise ModelError(
            f"A clone of the model could not be fitted: {name}: {error} Pass refitted ones as `models`."
        ) from error


def _rows_at(X: Any, at: np.ndarray) -> Any:
    """Some rows of a frame of any library."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[at]
    return X.take(at) if hasattr(X, "take") and not isinstance(X, np.ndarray) else X[at]


def _cloned(model: Any) -> Any:
    try:
        copy = clone(model)
    except TypeError as error:
        raise ModelTypeError(
            f"The model, {type(model).__name__}, can not be cloned as scikit-learn's can: {error} Pass refitted models "
            "as `models`, and leave `bootstrap` out."
        ) from error
    if not hasattr(copy, "fit"):
        raise ModelTypeError(f"The model, {type(model).__name__}, has no `fit`. Pass refitted models as `models`.")
    return copy


def _seeded(model: Any, rng: np.random.Generator) -> Any:
    """The model with seeds of its own, its steps too: a refit differs by its rows and by its seed."""
    names = sorted(name for name in model.get_params() if name.split("__")[-1] == "random_state")
    return model.set_params(**{name: int(rng.integers(2**31)) for name in names})


def _drawn(y: np.ndarray, is_regression: bool, rng: np.random.Generator) -> np.ndarray:
    """Rows drawn with replacement, of classes so that none is lost."""
    for _ in range(_TRIES):
        at = rng.integers(len(y), size=len(y))
        if is_regression or len(np.unique(y[at])) == len(np.unique(y)):
            return at
    raise DataError(
        f"A class is so rare that {_TRIES} draws of the training data lost one. Merge rare classes, or pass `models`."
    )


# Small changes


def _valid_under_noise(background: Background, result: Counterfactuals, noise: Noise) -> np.ndarray:
    """Of each counterfactual the share of its moved copies that have the wanted outcome."""
    rng = np.random.default_rng([noise.seed, noise.n_draws])
    moves = rng.uniform(-1.0, 1.0, (noise.n_draws, len(result.x)))
    at_once = max(1, _MOST_ROWS // noise.n_draws)
    shares = []
    for start in range(0, len(result), at_once):
        rows = result.rows[start : start + at_once]
        moved = perturbed(background, rows, moves, noise.size).reshape(-1, rows.shape[1])
        valid = _valid(background.predictor, result, moved)
        shares.append(valid.reshape(len(rows), noise.n_draws).mean(axis=1))
    return np.concatenate(shares)


def perturbed(background: Background, rows: np.ndarray, moves: np.ndarray, size: float) -> np.ndarray:
    """Copies of the rows, moved by shares of the largest move, (rows, moves, p); levels and gaps stay."""
    copies = np.repeat(rows[:, None, :], len(moves), axis=1)
    for j, column in enumerate(background.schema.columns):
        if column.is_number:
            low, high = background.low[j], background.high[j]
            largest = max(size * (high - low), column.step)
            cells = copies[:, :, j] + largest * moves[:, j]
            # what a row has itself may lie beyond the data
            ends = np.fmin(rows[:, j], low)[:, None], np.fmax(rows[:, j], high)[:, None]
            ends = np.broadcast_to(ends[0], cells.shape), np.broadcast_to(ends[1], cells.shape)
            copies[:, :, j] = column.permitted.nearest(cells, *ends, otherwise=copies[:, :, j])
    return background.representable(copies.reshape(-1, rows.shape[1])).reshape(copies.shape)


def checked_noise(noise: float | None, n_draws: int, seed: int) -> Noise | None:
    """What a user says of small changes."""
    check_int("n_noise", n_draws, 1)
    if noise is None:
        return None
    return Noise(check_float("noise", noise, 0.0, 1.0, "None or "), int(n_draws), seed)
