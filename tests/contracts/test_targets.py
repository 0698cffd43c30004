"""Targets: such as no real row reaches, ranges and their ends, thresholds of models, the observed outcome."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from countarfactuals import AdversarialRandomForest, ARFExplainer, Constraints, Target
from countarfactuals.explainers.proposals import draws, outcome_shares, weighed_leaves

from . import normal_table as normal


def test_a_target_that_no_real_row_reaches_is_searched_for():
    """Shuffled columns of this data would reach it: the budget is spent, and some rows are found."""
    seen = normal.X[~((normal.X["a"] > 0.5) & (normal.X["b"] > 0.5))]

    def both(frame: pd.DataFrame) -> np.ndarray:
        return 0.1 + 0.8 * ((frame["a"] > 0.5) & (frame["b"] > 0.5)).to_numpy()

    explainer = normal.fitted(both, seen, max_evaluations=1000)
    results = [explainer.explain(seen.iloc[[i]], "good") for i in range(6)]
    assert sum(result.status == "found" for result in results) >= 4
    assert all("extrapolates" in " ".join(map(str, result.notes)) for result in results)


@pytest.mark.parametrize("tenth", range(1, 10))
def test_the_ends_of_a_mirrored_range_are_included(tenth):
    explainer = normal.fitted(lambda frame: np.full(len(frame), tenth / 10))
    target = Target("bad", probability=((10 - tenth) / 10, (10 - tenth) / 10))
    assert explainer.explain(normal.X.head(1), target).status == "already"


@pytest.mark.parametrize(("low", "high", "wanted"), [(0.3, 1.0, 1.0), (0.501, 1.0, 1.0), (0.0, 0.4, 0.0)])
def test_an_observed_outcome_is_steered_to_the_right_class(low, high, wanted):
    y = np.where(normal.X["a"] + normal.X["b"] > 0, "good", "bad")
    explainer = normal.fitted(None, y=y, outcome="observed", classes=None)
    problem = explainer.problem(explainer.background_.matrix[0], Target("good", probability=(low, high)), Constraints())
    shares = explainer.background_.goal_shares(problem.goal)
    evidence_of_good = explainer.background_.goal_shares(
        explainer.problem(problem.x, Target("good"), Constraints()).goal
    )
    np.testing.assert_allclose(shares, evidence_of_good if wanted else 1 - evidence_of_good, atol=1e-9)


def test_the_threshold_inside_a_pipeline_is_the_models_own():
    threshold = pytest.importorskip("sklearn.model_selection").__dict__.get("FixedThresholdClassifier")
    if threshold is None:
        pytest.skip("scikit-learn before 1.5 has no such classifier")
    y = np.where(normal.X["a"] + normal.X["b"] > 0, "yes", "no")
    model = make_pipeline(StandardScaler(), threshold(LogisticRegression(), threshold=0.8)).fit(normal.X, y)
    explainer = normal.fitted(model, classes=None)
    for i in np.flatnonzero(model.predict(normal.X) == "no")[:3]:
        result = explainer.explain(normal.X.iloc[[i]], "yes")
        assert result.status == "found"
        assert (model.predict(result.to_frame()) == "yes").all()


def test_draws_go_by_the_outcome_where_it_is_a_category():
    """With all columns kept but one, leaves are weighed by their share of the observed outcome."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 2000)
    data = pd.DataFrame(
        {"a": np.where(rng.random(2000) < np.where(y == 1, 0.8, 0.3), "u", "v"), "b": rng.choice(["p", "q"], 2000)}
    )
    forest = AdversarialRandomForest(n_estimators=20, min_samples_leaf=20)
    explainer = ARFExplainer(None, outcome="observed", density=forest, random_state=1).fit(data, y)
    row = explainer.encode_row(data[y == 0].iloc[[0]])
    problem = explainer.problem(row, 1, Constraints())
    trees = explainer.background_.plausibility.forest.forest_
    leaves = weighed_leaves(problem, outcome_shares(problem))
    drawn = draws(problem, leaves, row[None], np.array([[True, False]]), 4000, trees)
    u = explainer.schema_.encode_value(0, "u")
    expected = (data["a"][y == 1] == "u").mean()
    assert abs((drawn[:, 0] == u).mean() - expected) < 0.05  # without the weights it would be .25 lower
