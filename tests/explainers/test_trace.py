"""`trace`: the result of `explain`, and every row that the model was asked about."""

from __future__ import annotations

import numpy as np
import pandas as pd

from countarfactuals import AdversarialRandomForest, ARFExplainer

X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=list("abc"))


def test_the_ledger_holds_all_that_was_evaluated_and_the_result_is_part_of_it():
    asked = []

    def model(frame):
        asked.append(frame)
        return (frame["a"] > 0.5).to_numpy(float)

    forest = AdversarialRandomForest(n_estimators=5, min_samples_leaf=10)
    explainer = ARFExplainer(model, classes=[0, 1], density=forest, max_evaluations=200, random_state=1).fit(X)
    asked.clear()
    result, problem = explainer.trace(X.iloc[[0]])
    rows, scores = problem.ledger()
    told = pd.concat(asked).drop_duplicates()
    np.testing.assert_array_equal(result.rows, explainer.explain(X.iloc[[0]]).rows)
    assert {tuple(row) for row in rows} | {tuple(problem.x)} == {tuple(row) for row in told.to_numpy()}
    np.testing.assert_array_equal(scores[:, 0], rows[:, 0] > 0.5)
    assert {tuple(row) for row in result.rows} <= {tuple(row) for row in rows}
