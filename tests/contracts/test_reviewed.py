"""What reviews found, kept from coming back."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from countarfactuals import AdversarialRandomForest, ARFExplainer, Constraints, Target
from countarfactuals.exceptions import DataError, DensityWarning, ModelTypeError, ParameterError

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(300, 4)), columns=list("abcd")).assign(k=RNG.integers(0, 9, 300))
SMALL = AdversarialRandomForest(n_estimators=10, min_samples_leaf=10)


def logistic(frame: pd.DataFrame) -> np.ndarray:
    return 1 / (1 + np.exp(-2 * (frame["a"] + frame["b"]).to_numpy()))


def fitted(model=logistic, data: pd.DataFrame = X, y=None, **parameters) -> ARFExplainer:
    options = {"classes": ("bad", "good"), "random_state": 1, "density": SMALL, "max_evaluations": 300} | parameters
    return ARFExplainer(model, **options).fit(data, y)


def test_a_target_that_no_real_row_reaches_is_searched_for():
    """Shuffled columns of this data would reach it: the budget is spent, and some rows are found."""
    seen = X[~((X["a"] > 0.5) & (X["b"] > 0.5))]

    def both(frame: pd.DataFrame) -> np.ndarray:
        return 0.1 + 0.8 * ((frame["a"] > 0.5) & (frame["b"] > 0.5)).to_numpy()

    explainer = fitted(both, seen, max_evaluations=1000)
    results = [explainer.explain(seen.iloc[[i]], "good") for i in range(6)]
    assert sum(result.status == "found" for result in results) >= 4
    assert all("extrapolates" in " ".join(result.notes) for result in results)


@pytest.mark.parametrize("tenth", range(1, 10))
def test_the_ends_of_a_mirrored_range_are_included(tenth):
    explainer = fitted(lambda frame: np.full(len(frame), tenth / 10))
    target = Target("bad", probability=((10 - tenth) / 10, (10 - tenth) / 10))
    assert explainer.explain(X.head(1), target).status == "already"


@pytest.mark.parametrize(("low", "high", "wanted"), [(0.3, 1.0, 1.0), (0.501, 1.0, 1.0), (0.0, 0.4, 0.0)])
def test_an_observed_outcome_is_steered_to_the_right_class(low, high, wanted):
    y = np.where(X["a"] + X["b"] > 0, "good", "bad")
    explainer = fitted(None, y=y, outcome="observed", classes=None)
    problem = explainer.problem(explainer.background_.matrix[0], Target("good", probability=(low, high)), Constraints())
    shares = explainer.background_.goal_shares(problem.goal)
    evidence_of_good = explainer.background_.goal_shares(
        explainer.problem(problem.x, Target("good"), Constraints()).goal
    )
    np.testing.assert_allclose(shares, evidence_of_good if wanted else 1 - evidence_of_good, atol=1e-9)


def test_never_split_of_a_given_density_is_kept():
    explainer = fitted(density=AdversarialRandomForest(n_estimators=10, min_samples_leaf=10, never_split=["k"]))
    assert explainer.background_.plausibility.forest.never_split == ("k", "P(good)")


def test_a_density_of_other_kinds_is_refused():
    other = AdversarialRandomForest(n_estimators=5, min_samples_leaf=10).fit(X.assign(k=X["k"] + 0.5))
    with pytest.raises(DataError, match="'k'"):
        fitted(density=other)


def test_a_fitted_density_has_not_learnt_the_observed_outcome():
    with pytest.raises(ParameterError, match="unfitted"):
        fitted(None, y=X["a"] > 0, outcome="observed", classes=None, density=SMALL.__class__(n_estimators=5).fit(X))


def test_a_first_row_that_contradicts_a_constraint_costs_itself_only():
    table = X.assign(u=(X["a"] > 0).astype(int), v=(X["a"] <= 0).astype(int))
    explainer = fitted(data=table)
    rows = table.iloc[[5, 3]].copy()
    rows.iloc[0, rows.columns.get_loc("u")] = 7
    constraints = Constraints(exactly_one=[["u", "v"]])
    batch = explainer.explain_many(rows, constraints=constraints)
    assert batch[0].status == "error"
    assert batch[1].status in ("found", "none")


def test_a_batch_asks_the_model_about_no_more_rows_than_the_budget():
    asked = []

    def counting(frame: pd.DataFrame) -> np.ndarray:
        asked.append(len(frame))
        return logistic(frame)

    explainer = fitted(counting, max_evaluations=60)
    asked.clear()
    explainer.explain_many(X.head(1))
    assert sum(asked) <= 60


def test_fits_in_threads_leave_the_warning_filters_alone():
    before = list(warnings.filters)
    threads = [threading.Thread(target=fitted) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(
        entry[0] == "ignore" and entry[2] is DensityWarning for entry in warnings.filters if entry not in before
    )


def test_what_can_not_be_sent_to_processes_is_said():
    lock = threading.Lock()

    def locked(frame: pd.DataFrame) -> np.ndarray:
        with lock:
            return logistic(frame)

    with pytest.raises(ModelTypeError, match="n_jobs=1"):
        fitted(locked).explain_many(X.head(3), n_jobs=2)


def test_max_changed_of_the_explainer_limits_results():
    result = fitted(max_changed=1).explain(X.iloc[[4]])
    assert len(result)
    assert (result.changed.sum(axis=1) == 1).all()


def test_a_fraction_in_a_column_of_integers_is_refused():
    with pytest.raises(DataError, match="held integers"):
        fitted().explain(X.iloc[[4]].assign(k=3.5))


def test_no_training_row_is_a_nearest_miss_where_none_may_be_handed_out():
    table = pd.DataFrame(RNG.choice(list("xyzuvw"), (60, 3)), columns=list("abc"))

    def share_of_x(frame: pd.DataFrame) -> np.ndarray:
        return 0.1 + 0.1 * (frame == "x").to_numpy().sum(axis=1)

    explainer = fitted(share_of_x, table, allow_real_rows=False)
    known = set(table.itertuples(index=False, name=None))
    for i in range(10):
        diagnosis = explainer.explain(table.iloc[[i]], "good").diagnosis
        assert tuple(explainer.schema_.decode(diagnosis.nearest_miss[None]).iloc[0]) not in known


def test_the_threshold_inside_a_pipeline_is_the_models_own():
    threshold = pytest.importorskip("sklearn.model_selection").__dict__.get("FixedThresholdClassifier")
    if threshold is None:
        pytest.skip("scikit-learn before 1.5 has no such classifier")
    y = np.where(X["a"] + X["b"] > 0, "yes", "no")
    model = make_pipeline(StandardScaler(), threshold(LogisticRegression(), threshold=0.8)).fit(X, y)
    explainer = fitted(model, classes=None)
    for i in np.flatnonzero(model.predict(X) == "no")[:3]:
        result = explainer.explain(X.iloc[[i]], "yes")
        assert result.status == "found"
        assert (model.predict(result.to_frame()) == "yes").all()
