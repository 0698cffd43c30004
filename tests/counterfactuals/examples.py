"""Small real-looking frames and results built from them by hand."""

from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.prediction import Score, Target
from countarfactuals.schema import Schema

GRADES = ["low", "middle", "high"]
REGRESSION = (Score("prediction"),)


def probabilities(*labels: Any) -> tuple[Score, ...]:
    """What the scores are of a model that has probabilities of these classes."""
    return tuple(Score("probability", label, k) for k, label in enumerate(labels))


def margins(*labels: Any) -> tuple[Score, ...]:
    """The same for a model whose scores are no probabilities."""
    return tuple(Score("margin", label, k) for k, label in enumerate(labels))


def loans() -> pd.DataFrame:
    """Every kind of column, with missing cells; row 0 is explained, rows 1 to 4 are its counterfactuals."""
    return pd.DataFrame(
        {
            "age": np.array([30, 30, 31, 30, 30], dtype=np.int32),
            "amount": [5000.5, 3200.25, 5000.5, 7000.75, 5000.5],
            "rate": [np.pi, np.pi, np.pi, np.pi, np.pi + 1e-6],
            "job": pd.Categorical(["clerk", "clerk", "nurse", None, "clerk"], categories=["clerk", "nurse", "none"]),
            "grade": pd.Categorical(["middle", "high", "middle", "low", "middle"], categories=GRADES, ordered=True),
            "owner": [False, False, True, False, False],
            "savings": [np.nan, np.nan, 120.0, np.nan, np.nan],
            "town": ["Ulm", "Ulm", "Ulm", "Ulm", "Ulm"],
        }
    )


def result(frame: Any = None, **changes: Any) -> Counterfactuals:
    """A result whose x is the first row of the frame and whose counterfactuals are the others."""
    frame = loans() if frame is None else frame
    schema = changes.pop("schema", None) or Schema.infer(frame)
    matrix = schema.encode(frame)
    n = len(matrix) - 1
    base = np.arange(1.0, n + 1)
    fields: dict[str, Any] = {
        "schema": schema,
        "x": matrix[0],
        "rows": matrix[1:],
        "target": Target("good"),
        "method": "arf",
        "status": "found",
        "score_columns": probabilities("good"),
        "x_scores": [0.31],
        "scores": (0.5 + base / (2 * n + 2))[:, None],
        "x_label": "bad",
        "labels": ["good"] * n,
        "objectives": {
            "validity": np.zeros(n),
            "distance": 0.1 * base,
            "n_changed": (base[::-1] + 1) / 10,
            "implausibility": base * np.pi,
        },
        "log_density": -base * np.pi,
        "x_log_density": -2.5,
        "typicality": base / (n + 1),
        "x_typicality": 0.45,
        "is_real_row": base == 2,
        "provenance": {"seed": 1, "seconds": 0.25},
    }
    return Counterfactuals(**{**fields, **changes})


def wide(n_features: int = 60, n_rows: int = 22) -> Counterfactuals:
    """Many features with long names and long levels, most of which some row changes."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            f"a_rather_long_feature_name_{j}": rng.choice(
                ["a category with a very long name", "b", "c, the third"], n_rows + 1
            )
            if j % 2
            else rng.normal(size=n_rows + 1).round(2)
            for j in range(n_features)
        }
    )
    keep = rng.random((n_rows, n_features)) < 0.9
    for j, name in enumerate(frame.columns):
        frame.loc[1:, name] = np.where(keep[:, j], frame.loc[0, name], frame.loc[1:, name])
    return result(frame)
