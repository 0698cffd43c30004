"""Small tables of loans in every kind of frame, and models of every library trained on them."""

from __future__ import annotations

from functools import cache
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

N = 240
LEVELS = {
    "purpose": ["car", "house", "study"],
    "job": ["clerk", "farmer", "nurse", "none"],
    "grade": ["low", "middle", "high"],
    "region": ["east", "north", "west"],
}
TABLES = {
    "numeric": ("income", "age", "rate", "children"),
    "categorical": ("purpose", "job", "grade", "owner", "region"),
    "mixed": ("income", "age", "purpose", "grade", "owner"),
    "missing": ("income", "age", "purpose", "grade", "owner"),
}
FRAMES = ("pandas", "polars", "numpy")
MODELS = ("pipeline", "forest", "xgboost", "lightgbm", "catboost", "callable")
TASKS = ("binary", "multiclass", "regression")
LABELS = {"binary": ("bad", "good"), "multiclass": ("a", "b", "c", "d")}
# cells of a category that are missing are too much for catboost; the missing numbers remain
NO_MISSING_LEVELS = ("catboost",)


def possible(task: str, table: str, frame: str, model: str) -> bool:
    """Whether the model's own library takes such frames.

    xgboost and lightgbm take numpy arrays of numbers only, and lightgbm ends the process on polars' categories.
    """
    if table == "numeric":
        return True
    return not (model in ("xgboost", "lightgbm") and frame == "numpy") and not (
        model == "lightgbm" and frame == "polars"
    )


@cache
def columns(table: str, missing_levels: bool = True) -> dict[str, list[Any]]:
    """Cells by column, as Python values; None where one is missing."""
    rng = np.random.default_rng(7)
    every = {
        "income": rng.normal(3, 1, N),
        "age": rng.integers(18, 70, N),
        "rate": rng.gamma(2.0, 1.0, N),
        "children": rng.integers(0, 4, N),
        **{name: rng.choice(levels, N) for name, levels in LEVELS.items()},
        "owner": rng.random(N) < 0.5,
    }
    every["income"] = (every["income"] + every["owner"]).round(2)  # something for the forest to learn
    cells = {name: every[name].tolist() for name in TABLES[table]}
    if table == "missing":
        for name, share in {"income": 0.15, "purpose": 0.15 if missing_levels else 0.0}.items():
            cells[name] = [
                None if gone else cell for cell, gone in zip(cells[name], rng.random(N) < share, strict=True)
            ]
    return cells


def frame_of(cells: dict[str, list[Any]], frame: str) -> Any:
    """The cells as a frame; numbers alone as an array of floats."""
    if frame == "polars":
        types = {name: pl.Enum(levels) for name, levels in LEVELS.items()}
        return pl.DataFrame({name: pl.Series(name, values, types.get(name)) for name, values in cells.items()})
    if frame == "pandas":
        return pd.DataFrame({name: _pandas_column(name, values) for name, values in cells.items()})
    is_numeric = not set(cells) & {*LEVELS, "owner"}
    return np.array(list(zip(*cells.values(), strict=True)), np.float64 if is_numeric else object)


def _pandas_column(name: str, values: list[Any]) -> Any:
    if name in LEVELS:
        return pd.Categorical(values, categories=LEVELS[name], ordered=name == "grade")
    return pd.Series(values)


def records(frame: Any) -> list[tuple[Any, ...]]:
    """Rows of any frame as Python values, None for a missing cell."""
    if isinstance(frame, pd.DataFrame):
        rows = list(zip(*(frame[name].tolist() for name in frame.columns), strict=True))
    else:
        rows = frame.rows() if isinstance(frame, pl.DataFrame) else [tuple(row) for row in frame.tolist()]
    return [tuple(None if pd.isna(cell) else cell for cell in row) for row in rows]


def row_of(frame: Any, at: int) -> Any:
    return frame.iloc[[at]] if isinstance(frame, pd.DataFrame) else frame[at : at + 1]


def head(frame: Any, n: int) -> Any:
    return frame.iloc[:n] if isinstance(frame, pd.DataFrame) else frame[:n]


def merit(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> np.ndarray:
    """How good a loan is, about from −3 to 3; a missing cell neither adds nor takes."""
    worth: dict[str, Any] = {
        "income": lambda value: value - 3.5,
        "age": lambda value: (value - 44) / 30,
        "rate": lambda value: 1.5 - 0.7 * value,
        "children": lambda value: 0.4 * (value - 1.5),
        "purpose": {"car": -0.9, "house": 0.1, "study": 0.8}.get,
        "job": {"clerk": 0.4, "farmer": -0.5, "nurse": 0.6, "none": -0.6}.get,
        "grade": {"low": -0.8, "middle": 0.0, "high": 0.9}.get,
        "region": {"east": -0.3, "north": 0.0, "west": 0.4}.get,
        "owner": lambda value: 0.5 if value else -0.5,
    }
    return np.array(
        [sum(0.0 if cell is None else worth[name](cell) for name, cell in zip(names, row, strict=True)) for row in rows]
    )


class Scorer:
    """A model that is a callable, and counts the rows that it is asked about."""

    def __init__(self, table: str, task: str = "binary") -> None:
        self.names, self.task, self.n_rows = TABLES[table], task, 0

    def __call__(self, frame: Any) -> np.ndarray:
        rows = records(frame)
        self.n_rows += len(rows)
        value = merit(self.names, rows)
        if self.task == "regression":
            return value
        if self.task == "binary":
            return 1 / (1 + np.exp(-2 * value))
        score = np.exp(-((value[:, None] - np.array([-1.5, -0.5, 0.5, 1.5])) ** 2))
        return score / score.sum(axis=1, keepdims=True)


@cache
def trained(task: str, table: str, frame: str, model: str) -> tuple[Any, Any]:
    """A fitted model and its frame."""
    cells = columns(table, model not in NO_MISSING_LEVELS)
    X = frame_of(cells, frame)
    if model == "callable":
        return Scorer(table, task), X
    value = merit(TABLES[table], records(X))
    y: np.ndarray = value
    if task != "regression":
        y = np.digitize(value, [np.median(value)] if task == "binary" else np.quantile(value, [0.25, 0.5, 0.75]))
        y = y if model == "xgboost" else np.array(LABELS[task])[y]
    names = list(cells)
    with_levels = [name if frame != "numpy" else j for j, name in enumerate(names) if name in {*LEVELS, "owner"}]
    numbers = [name if frame != "numpy" else j for j, name in enumerate(names) if name not in {*LEVELS, "owner"}]
    return _unfitted(model, task == "regression", with_levels, numbers).fit(X, y), X


def _unfitted(model: str, is_regression: bool, with_levels: list[Any], numbers: list[Any]) -> Any:
    if model == "pipeline":
        encoder = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), with_levels),
            (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        )
        return make_pipeline(encoder, Ridge() if is_regression else LogisticRegression())
    if model == "forest":
        kind = RandomForestRegressor if is_regression else RandomForestClassifier
        forest = kind(n_estimators=10, max_depth=5, random_state=0)
        if not with_levels:
            return forest
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        return make_pipeline(make_column_transformer((encoder, with_levels), remainder="passthrough"), forest)
    if model == "xgboost":
        kind = xgboost.XGBRegressor if is_regression else xgboost.XGBClassifier
        return kind(n_estimators=10, max_depth=3, n_jobs=1, enable_categorical=True)
    if model == "lightgbm":
        kind = lightgbm.LGBMRegressor if is_regression else lightgbm.LGBMClassifier
        return kind(n_estimators=10, num_leaves=8, min_child_samples=5, verbose=-1, n_jobs=1)
    kind = catboost.CatBoostRegressor if is_regression else catboost.CatBoostClassifier
    levels = [name for name in with_levels if name != "owner"] if numbers or with_levels else None
    return kind(
        iterations=20, depth=3, verbose=0, allow_writing_files=False, thread_count=1, random_seed=0, cat_features=levels
    )


def own_classes(task: str, model: str) -> tuple[Any, ...] | None:
    """What `classes` must say: a callable knows no labels."""
    return LABELS.get(task) if model == "callable" else None


def predicted(model: Any, frame: Any) -> list[Any]:
    """What the model itself predicts: labels, or numbers."""
    if not isinstance(model, Scorer):
        return np.ravel(model.predict(frame)).tolist()
    scores = model(frame)
    if model.task == "regression":
        return scores.tolist()
    winner = scores.argmax(axis=1) if model.task == "multiclass" else (scores > 0.5).astype(int)
    return [LABELS[model.task][k] for k in winner.tolist()]
