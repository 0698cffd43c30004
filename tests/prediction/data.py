"""One small table of loans for all model tests, and its outcomes in every kind of label."""

from __future__ import annotations

import numpy as np
import pandas as pd

from countarfactuals.prediction import Predictor, make_predictor
from countarfactuals.schema import Schema

_rng = np.random.default_rng(7)
N = 120
INCOME = np.round(_rng.normal(3, 1, N), 2)
PURPOSE = _rng.choice(["car", "house", "study"], N)
_merit = INCOME - 0.8 * (PURPOSE == "car") + _rng.normal(0, 0.3, N)

LOANS = pd.DataFrame(
    {
        "income": INCOME,
        "children": _rng.integers(0, 4, N),
        "owner": _rng.random(N) < 0.5,
        "purpose": pd.Categorical(PURPOSE),
    }
)
NUMBERS = LOANS[["income", "children"]]
ARRAY = NUMBERS.to_numpy(np.float64)

APPROVED = (_merit > np.median(_merit)).astype(np.int64)
GRADE = np.digitize(_merit, np.quantile(_merit, [0.25, 0.5, 0.75]))
MERIT = _merit
RISK = np.array(["bad", "good"])[APPROVED]
LETTER = np.array(["a", "b", "c", "d"])[GRADE]


def predictor_of(model, X, **kwargs) -> tuple[Predictor, np.ndarray]:
    """The predictor on the frame `X`, and the encoded rows."""
    schema = Schema.infer(X)
    return make_predictor(model, schema, X, **kwargs), schema.encode(X)
