"""The forest as an estimator of scikit-learn: its checks, tags, and searches over parameters."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV

from countarfactuals import AdversarialRandomForest
from countarfactuals.exceptions import DensityWarning, EvidenceError

WORDING = "the error says the same in our own words"
NOT_PASSED = {
    "check_n_features_in_after_fitting": WORDING,
    "check_complex_data": WORDING,
    "check_dtype_object": WORDING,
    "check_estimators_empty_data_messages": WORDING,
    "check_fit2d_1sample": WORDING,
    "check_fit1d": "a one-dimensional array is a TypeError: its shape, not its values, is wrong",
    "check_array_api_input": "numba's kernels take NumPy arrays",
}


def small(**parameters: object) -> AdversarialRandomForest:
    return AdversarialRandomForest(**{"n_estimators": 3, "min_samples_leaf": 5, "random_state": 0, **parameters})


@pytest.mark.skipif(not hasattr(sklearn.utils, "get_tags"), reason="the checks tell what failed since scikit-learn 1.6")
@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_scikit_learn_pass_but_those_that_are_listed():
    from sklearn.utils.estimator_checks import check_estimator

    checks = check_estimator(small(), on_fail=None, on_skip=None)
    failed = {check["check_name"]: check["exception"] for check in checks if check["status"] != "passed"}
    assert not set(failed) - set(NOT_PASSED), failed
    assert len(checks) > 30


@pytest.mark.skipif(not hasattr(sklearn.utils, "get_tags"), reason="tags are objects since scikit-learn 1.6")
def test_tags():
    tags = sklearn.utils.get_tags(small())
    assert tags.estimator_type == "density_estimator"
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert tags.input_tags.string


def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    made = pd.DataFrame({"a": rng.normal(size=120), "town": rng.choice(["Ulm", "Bonn"], 120)})
    made.loc[7, "town"] = "Jena"  # which is in one fold only
    return made


def test_a_level_of_one_fold_does_not_spoil_a_search():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DensityWarning)
        search = GridSearchCV(small(), {"min_samples_leaf": [5, 20]}, cv=3, error_score="raise").fit(table())
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_unseen_levels_are_summed_out_with_a_warning():
    forest = small().fit(table().drop(index=7))
    with pytest.warns(DensityWarning, match=r"1 of 2 rows have a level of 'town' that the training data has not"):
        score = forest.score(table().loc[[7, 8]])
    own = [forest.score_samples(table().loc[[7], ["a"]])[0], forest.score_samples(table().loc[[8]])[0]]
    assert score == pytest.approx(np.mean(own))
    assert forest.score(table().loc[[8]]) == pytest.approx(own[1])
    assert forest.score(table().loc[[7, 8], ["a"]]) == pytest.approx(
        forest.score_samples(table().loc[[7, 8], ["a"]]).mean()
    )


def test_one_impossible_condition_of_many_gives_gaps():
    forest = small(finite_bounds="local").fit(table())
    given = [{"a": 0.0}, {"a": 1e6}, {"town": "Ulm"}]
    with pytest.warns(DensityWarning, match=r"1 of 3 conditions have probability 0, such as number 1"):
        drawn = forest.sample(4, given=given)
    assert drawn.isna().all(axis=1).tolist() == [False] * 4 + [True] * 4 + [False] * 4
    assert (drawn["a"].iloc[:4] == 0).all()
    assert (drawn["town"].iloc[8:] == "Ulm").all()
    with pytest.warns(DensityWarning, match="probability 0"):
        expected = forest.expect(["a"], given=given)
    assert expected["a"].isna().tolist() == [False, True, False]
    with pytest.raises(EvidenceError, match="probability 0"):
        forest.sample(given={"a": 1e6})
    with pytest.raises(EvidenceError, match="Condition 0 has probability 0"):
        forest.expect(["town"], given=[{"a": 1e6}, {"a": -1e6}])
