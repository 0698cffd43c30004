"""Small things to attack: a table with every kind of column, a model of it, and fitted files."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from countarfactuals import AdversarialRandomForest, Explainer, make_explainer
from countarfactuals.schema import Schema

N_TREES, EVALUATIONS = 10, 100


@lru_cache(maxsize=1)
def table(n: int = 150) -> pd.DataFrame:
    """Numbers on grids, with atoms and without, levels few and many, dates, and gaps."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": np.round(rng.lognormal(8, 0.5, n), 2),
            "debt": np.where(rng.random(n) < 0.4, 0.0, rng.gamma(2.0, 500.0, n)),
            "term": rng.choice([12.0, 36.0, 60.0], n),
            "town": pd.Categorical(rng.choice([f"t{k}" for k in range(9)], n)),
            "home": rng.choice(["own", "rent", "free"], n),
            "member": rng.random(n) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
        }
    )
    frame["income"] += 20.0 * frame["age"]
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame.loc[rng.random(n) < 0.1, "home"] = None
    return frame


def schema() -> Schema:
    """What is known of the table."""
    return Schema.infer(table())


def codes() -> np.ndarray:
    """Its first row, in codes."""
    return schema().encode(table().head(1))[0]


def model(frame: pd.DataFrame) -> np.ndarray:
    """Probabilities of "no" and "yes"."""
    odds = (frame["income"].fillna(4000.0).to_numpy(np.float64) - 4000.0) / 1500.0 + 0.8 * frame["member"].to_numpy()
    p = 1.0 / (1.0 + np.exp(-odds))
    return np.column_stack([1.0 - p, p])


def fit(method: str = "arf", **parameters: object) -> Explainer:
    """An explainer of the model."""
    settings = {"classes": ("no", "yes"), "random_state": 1, "max_evaluations": EVALUATIONS, **parameters}
    return make_explainer(method, model, **settings).fit(table())


def files(folder: Path) -> dict[str, Path]:
    """Fitted files by what they hold."""
    forest = AdversarialRandomForest(n_estimators=N_TREES, random_state=1).fit(table())
    forest.save(folder / "forest.arf")
    fit().save(folder / "arf.npz")
    fit("mocctree").save(folder / "mocctree.npz")
    answers = np.where(model(table())[:, 1] > 0.4, "yes", "no")
    make_explainer("nice", model, classes=("no", "yes"), only_correct=True).fit(table(), answers).save(
        folder / "nice.npz"
    )
    return {path.stem: path for path in sorted(folder.iterdir())}
