"""The ledger: no row is asked about twice until it leaves, and none beyond the budget."""

from __future__ import annotations

import numpy as np
import pandas as pd

from countarfactuals import ARFExplainer

from ..contracts import income_table as income
from ..contracts import normal_table as normal


def test_a_batch_asks_the_model_about_no_more_rows_than_the_budget():
    asked = []

    def counting(frame: pd.DataFrame) -> np.ndarray:
        asked.append(len(frame))
        return normal.logistic(frame)

    explainer = normal.fitted(counting, max_evaluations=60)
    asked.clear()
    explainer.explain_many(normal.X.head(1))
    assert sum(asked) <= 60


def test_no_row_is_asked_about_twice_until_it_leaves_and_zero_has_one_sign():
    rng = np.random.default_rng(5)
    data = pd.DataFrame(
        {"r": np.round(rng.normal(size=400), 1), "k": rng.integers(0, 3, 400), "c": rng.choice(["u", "v"], 400)}
    )
    asked = []

    def score(frame):
        asked.append(frame.copy())
        return 1 / (1 + np.exp(-(frame["r"] + frame["k"] - 1.5).to_numpy()))

    explainer = ARFExplainer(score, classes=(0, 1), density=income.FOREST, random_state=1).fit(data)
    asked.clear()
    result = explainer.explain(data[score(data) < 0.4].iloc[[0]])
    asked.pop(0)  # the whole data, above
    every = pd.concat(asked)
    again = asked.pop()
    assert not pd.concat(asked).duplicated().any()
    assert sorted(again.to_numpy().tolist()) == sorted(result.to_frame().to_numpy().tolist())
    assert not np.signbit(every["r"].to_numpy()[every["r"] == 0]).any()
    assert len(every) == result.provenance["evaluations"]
