"""A density that is handed in, or learned by another explainer, and what it must have seen."""

from __future__ import annotations

import threading
import warnings

import pytest

from countarfactuals import AdversarialRandomForest, ARFExplainer
from countarfactuals.exceptions import DataError, DensityWarning, ParameterError

from . import income_table as income
from . import normal_table as normal


def test_never_split_of_a_given_density_is_kept():
    explainer = normal.fitted(density=AdversarialRandomForest(n_estimators=10, min_samples_leaf=10, never_split=["k"]))
    assert explainer.background_.plausibility.forest.never_split == ("k", "P(good)")


def test_a_density_of_other_kinds_is_refused():
    other = AdversarialRandomForest(n_estimators=5, min_samples_leaf=10).fit(normal.X.assign(k=normal.X["k"] + 0.5))
    with pytest.raises(DataError, match="'k'"):
        normal.fitted(density=other)


def test_a_fitted_density_has_not_learnt_the_observed_outcome():
    with pytest.raises(ParameterError, match="unfitted"):
        normal.fitted(
            None,
            y=normal.X["a"] > 0,
            outcome="observed",
            classes=None,
            density=normal.SMALL.__class__(n_estimators=5).fit(normal.X),
        )


def test_fits_in_threads_leave_the_warning_filters_alone():
    before = list(warnings.filters)
    threads = [threading.Thread(target=normal.fitted) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(
        entry[0] == "ignore" and entry[2] is DensityWarning for entry in warnings.filters if entry not in before
    )


def test_the_papers_preset_does_not_take_another_forest():
    with pytest.raises(ParameterError, match="preset='paper'"):
        ARFExplainer(income.model, classes=("no", "yes"), preset="paper").fit_like(income.fit("arf"))
