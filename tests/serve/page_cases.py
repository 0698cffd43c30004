"""Explainers that the page is tried with: 40 columns with gaps, a number to reach, and names that want to do harm."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline

from countarfactuals import AdversarialRandomForest, ARFExplainer
from countarfactuals.serve import Served

EVIL = '<img src=x onerror="window.hacked = 1">'
SCRIPT = "</script><script>window.hacked = 2</script>"
_N = 300


def _fitted(model: object, X: pd.DataFrame) -> ARFExplainer:
    density = AdversarialRandomForest(n_estimators=10, random_state=1)
    return ARFExplainer(model, density=density, max_evaluations=300, random_state=1).fit(X)


@cache
def wide() -> Served:
    """40 columns, numbers and levels, of which many cells are missing."""
    rng = np.random.default_rng(7)
    hidden = rng.normal(size=(_N, 6))
    columns = {
        f"measurement_{j + 1:02d}": np.round(50 + 12 * (hidden[:, j % 6] + 0.7 * rng.normal(size=_N)), 1)
        for j in range(34)
    }
    levels = np.array(["low", "middle", "high"])
    columns |= {f"group_{j + 1}": levels[np.digitize(hidden[:, j], [-0.5, 0.5])].astype(object) for j in range(6)}
    X = pd.DataFrame(columns)
    y = np.where(hidden[:, 0] + hidden[:, 1] > 0, "accept", "refer")
    X = X.mask(rng.random(X.shape) < 0.08)
    numbers = [name for name in X if str(name).startswith("measurement")]
    boosted = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    model = make_pipeline(make_column_transformer(("passthrough", numbers)), boosted).fit(X, y)
    return Served("wide", _fitted(model, X), outcome="decision")


@cache
def flats() -> Served:
    """A rent to reach, by an area, a day, a yes or no, and a quarter."""
    rng = np.random.default_rng(3)
    built = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 25_000, _N), "D")
    X = pd.DataFrame(
        {
            "area": np.round(rng.gamma(9, 9, _N), 1),
            "balcony": rng.random(_N) < 0.6,
            "built": built,
            "quarter": rng.choice(["centre", "north", "harbour"], _N),
        }
    )

    def rent(rows: pd.DataFrame) -> np.ndarray:
        return 200.0 + 9 * rows["area"] + 60 * rows["balcony"] + 90 * (rows["quarter"] == "centre")

    return Served("flats", _fitted(rent, X), outcome="rent", units={"area": "m²", "rent": "€"}, rows_are="flats")


@cache
def hostile() -> Served:
    """Names, levels, units and classes that are HTML."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({EVIL: rng.normal(size=_N).round(2), SCRIPT: rng.choice([EVIL, SCRIPT, "a & b"], _N)})

    class Model:
        classes_ = np.array([SCRIPT, EVIL], dtype=object)

        def predict_proba(self, rows: pd.DataFrame) -> np.ndarray:
            share = 1 / (1 + np.exp(-3 * rows[EVIL].to_numpy(np.float64)))
            return np.column_stack([1 - share, share])

        def predict(self, rows: pd.DataFrame) -> np.ndarray:
            return self.classes_[self.predict_proba(rows).argmax(axis=1)]

    return Served(EVIL, _fitted(Model(), X), outcome=EVIL, units={EVIL: SCRIPT}, rows_are=EVIL)
