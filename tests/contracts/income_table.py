"""An income in cents, a number and a level, a model of the first two, explainers by name, and a row to explain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from countarfactuals import AdversarialRandomForest, make_explainer

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {"inc": np.round(RNG.gamma(3, 1000, 300), 2), "b": RNG.normal(size=300), "c": RNG.choice(list("uvw"), 300)}
)
FOREST = AdversarialRandomForest(n_estimators=10, min_samples_leaf=10)


def model(frame: Any) -> np.ndarray:
    return 1 / (1 + np.exp(-(frame["inc"].to_numpy() / 1000 - 3 + frame["b"].to_numpy())))


def fit(method: str, **parameters: Any) -> Any:
    settings = {"classes": ("no", "yes"), "density": FOREST, "random_state": 1, **parameters}
    return make_explainer(method, model, **settings).fit(X)


x = X[model(X) < 0.3].iloc[[0]]
