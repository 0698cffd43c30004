"""Four normal columns and a whole number, a logistic model of two of them, and an ARF explainer of it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from countarfactuals import AdversarialRandomForest, ARFExplainer

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(300, 4)), columns=list("abcd")).assign(k=RNG.integers(0, 9, 300))
SMALL = AdversarialRandomForest(n_estimators=10, min_samples_leaf=10)


def logistic(frame: pd.DataFrame) -> np.ndarray:
    return 1 / (1 + np.exp(-2 * (frame["a"] + frame["b"]).to_numpy()))


def fitted(model=logistic, data: pd.DataFrame = X, y=None, **parameters) -> ARFExplainer:
    options = {"classes": ("bad", "good"), "random_state": 1, "density": SMALL, "max_evaluations": 300} | parameters
    return ARFExplainer(model, **options).fit(data, y)
