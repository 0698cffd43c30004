"""`fit_like`: several methods on one background."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest, ARFExplainer, make_explainer
from countarfactuals.exceptions import NotFittedError, ParameterError

X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=list("abc"))


def model(frame):
    return (frame["a"] > 0.5).to_numpy(float)


CLASSES = (0, 1)
FOREST = AdversarialRandomForest(n_estimators=5, min_samples_leaf=10)


def fitted() -> ARFExplainer:
    return ARFExplainer(model, classes=CLASSES, density=FOREST, max_evaluations=200, random_state=1).fit(X)


@pytest.mark.parametrize("method", ["arf", "nice", "random"])
def test_the_result_is_that_of_fitting_with_the_same_forest(method):
    settings = {"classes": CLASSES, "density": FOREST, "max_evaluations": 200, "random_state": 1}
    shared = make_explainer(method, model, **settings).fit_like(fitted()).explain(X.iloc[[0]])
    alone = make_explainer(method, model, **settings).fit(X).explain(X.iloc[[0]])
    assert len(shared)
    assert shared.method == method
    np.testing.assert_array_equal(shared.rows, alone.rows)
    np.testing.assert_array_equal(shared.typicality, alone.typicality)


def test_seeds_are_the_other_ones_unless_given():
    assert ARFExplainer(model, classes=CLASSES).fit_like(fitted()).seed_ == 1
    assert ARFExplainer(model, classes=CLASSES, random_state=7).fit_like(fitted()).seed_ == 7
    assert ARFExplainer(model, classes=list(CLASSES)).fit_like(fitted()).seed_ == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"classes": ("no", "yes")}, "another 'classes'"),
        ({"classes": CLASSES, "measure": "density"}, "measure=None, this one asks for 'density'"),
        ({"classes": CLASSES, "preset": "paper"}, "preset='paper'"),
    ],
)
def test_what_does_not_go_together_is_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        ARFExplainer(model, **settings).fit_like(fitted())


def test_the_papers_preset_needs_trees_that_split_on_scores():
    other = ARFExplainer(model, classes=CLASSES, measure="density", density=FOREST, random_state=1).fit(X)
    with pytest.raises(ParameterError, match="splits on scores"):
        ARFExplainer(model, classes=CLASSES, preset="paper").fit_like(other)
    published = ARFExplainer(model, classes=CLASSES, preset="paper", density=FOREST, random_state=1).fit(X)
    again = ARFExplainer(model, classes=CLASSES, preset="paper").fit_like(published)
    assert again.background_ is published.background_


def test_a_fitted_forest_of_ones_own_is_not_passed_over():
    own = ARFExplainer(model, classes=CLASSES, density=FOREST, random_state=2).fit(X).background_.plausibility.forest
    with pytest.raises(ParameterError, match="learned another one"):
        ARFExplainer(model, classes=CLASSES, density=own).fit_like(fitted())
    with_own = ARFExplainer(model, classes=CLASSES, density=own).fit(X)
    assert ARFExplainer(model, classes=CLASSES, density=own).fit_like(with_own).background_ is with_own.background_


def test_another_model_and_an_unfitted_explainer_are_refused():
    with pytest.raises(ParameterError, match="another 'model'"):
        ARFExplainer(len, classes=CLASSES).fit_like(fitted())
    with pytest.raises(NotFittedError):
        ARFExplainer(model, classes=CLASSES).fit_like(ARFExplainer(model, classes=CLASSES))
