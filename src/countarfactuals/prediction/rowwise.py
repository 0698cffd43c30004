"""Whether a model gives a row the same score, to the last bit, alone as among others.

1. Of some models it is known. Trees compare single cells, and so do all that only scales or codes cells before them;
   libsvm takes row after row. What multiplies matrices adds up in another order for other numbers of rows.
2. Of others, and of functions, nothing is known. `measured` asks about some rows in pieces of several sizes, which must
   have the scores that they have among all. As a few rows prove nothing of all others, who relies on it goes on
   comparing (`explainers.together`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from countarfactuals.exceptions import CountarfactualsError
from countarfactuals.prediction.predictor import Predictor

_TREES = (
    "sklearn.ensemble._forest",
    "sklearn.ensemble._gb",
    "sklearn.ensemble._hist_gradient_boosting",
    "sklearn.tree",
)
_BY_LIBSVM = ("SVC", "NuSVC", "SVR", "NuSVR")
_BOOSTERS = ("xgboost", "lightgbm", "catboost")
_BY_MATRICES = (
    "sklearn.cross_decomposition",
    "sklearn.decomposition",
    "sklearn.discriminant_analysis",
    "sklearn.gaussian_process",
    "sklearn.kernel_ridge",
    "sklearn.linear_model",
    "sklearn.neighbors",
    "sklearn.neural_network",
    "sklearn.svm",
)
_CELL_BY_CELL = ("sklearn.preprocessing", "sklearn.impute._base", "sklearn.compose", "sklearn.feature_selection")
_PIECES = (
    1,
    2,
    1,
    3,
    1,
    5,
    7,
    11,
    17,
)  # rows, a call each; matrices are multiplied otherwise by one, two, three, … rows


def is_rowwise(model: Any) -> bool | None:
    """Whether rows depend on each other as far as it is known; None where nothing is.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    >>> [is_rowwise(model) for model in (tree, LogisticRegression(), len)]
    [True, False, None]
    """
    steps = getattr(model, "steps", None)
    if isinstance(steps, list) and steps:
        known = [_is_cell_by_cell(step) for _, step in steps[:-1]] + [is_rowwise(steps[-1][1])]
        return _all(known)
    if _is_of(model, _TREES) or _library(model) in _BOOSTERS:
        return True
    if _is_of(model, ("sklearn.svm",)) and type(model).__name__ in _BY_LIBSVM:
        return True
    return False if _is_of(model, _BY_MATRICES) else None


def measured(predictor: Predictor, rows: np.ndarray) -> bool:
    """Whether rows in small pieces have the scores that they have among all."""
    ends = np.cumsum(_PIECES)
    if len(rows) < ends[-1]:
        return False
    spread = np.linspace(0, len(rows) - 1, ends[-1]).astype(np.int64)
    try:
        whole = predictor.scores(rows)[spread]
        pieces = [predictor.scores(piece) for piece in np.split(rows[spread], ends[:-1])]
    except CountarfactualsError:
        return False
    return bool((np.concatenate(pieces) == whole).all())


def _all(known: list[bool | None]) -> bool | None:
    """False if one is, None if one is unknown."""
    return False if False in known else None if None in known else True


def _is_cell_by_cell(step: Any) -> bool | None:
    if step in ("passthrough", "drop"):
        return True
    parts = getattr(step, "transformers", None) or getattr(step, "steps", None)
    if isinstance(parts, list):
        return _all([_is_cell_by_cell(part[1]) for part in parts])
    if _is_of(step, _CELL_BY_CELL):
        return True
    return False if _is_of(step, _BY_MATRICES) else None


def _is_of(model: Any, modules: tuple[str, ...]) -> bool:
    return type(model).__module__.startswith(modules)


def _library(model: Any) -> str:
    return type(model).__module__.partition(".")[0]
