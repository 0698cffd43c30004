"""Every kind of model gives the scores and labels that its own library gives."""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib.metadata import version

import catboost
import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from countarfactuals.exceptions import ModelError, ModelTypeError, TargetError
from countarfactuals.prediction import make_predictor, resolve
from countarfactuals.schema import Schema

from .data import APPROVED, ARRAY, GRADE, LETTER, LOANS, MERIT, NUMBERS, RISK, N, predictor_of

CATBOOST = {"iterations": 3, "depth": 2, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
LIGHTGBM = {"n_estimators": 3, "num_leaves": 4, "verbose": -1, "n_jobs": 1}
XGBOOST = {"n_estimators": 3, "max_depth": 2, "n_jobs": 1}


@pytest.fixture(autouse=True)
def _no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


def one_hot(classifier):
    encoder = make_column_transformer(
        (OneHotEncoder(), ["purpose"]), (StandardScaler(), ["income", "children"]), remainder="passthrough"
    )
    return make_pipeline(encoder, classifier)


def forest(**kwargs):
    return RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0, **kwargs)


PROBABILISTIC = {
    "logistic": (LogisticRegression(), NUMBERS),
    "forest": (forest(), NUMBERS),
    "hist": (HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype"), LOANS),
    "pipeline": (one_hot(LogisticRegression()), LOANS),
    "array": (forest(), ARRAY),
    "lightgbm": (lightgbm.LGBMClassifier(**LIGHTGBM), LOANS),
    "catboost": (catboost.CatBoostClassifier(**CATBOOST, cat_features=["purpose"]), LOANS),
}


@pytest.mark.parametrize("name", PROBABILISTIC)
@pytest.mark.parametrize(
    "y", [RISK, APPROVED, APPROVED == 1, LETTER, GRADE], ids=["text", "int", "bool", "4 text", "4 int"]
)
def test_probabilities_are_those_of_predict_proba(name, y):
    model, X = PROBABILISTIC[name]
    model.fit(X, y)
    predictor, matrix = predictor_of(model, X)
    scores = predictor.scores(matrix)
    expected = model.predict_proba(X)
    binary = expected.shape[1] == 2
    assert predictor.task == ("binary" if binary else "multiclass")
    assert predictor.classes == tuple(np.unique(y).tolist())
    assert {type(label) for label in predictor.classes} == {type(y[0].item())}
    assert predictor.is_probability
    assert predictor.threshold == 0.5
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, expected[:, 1:] if binary else expected, rtol=0, atol=1e-15)
    assert predictor.labels(scores).tolist() == np.ravel(model.predict(X)).tolist()


@pytest.mark.parametrize(("y", "classes"), [(APPROVED, (0, 1)), (GRADE, (0, 1, 2, 3))])
def test_xgb_classifier(y, classes):
    model = xgboost.XGBClassifier(**XGBOOST, enable_categorical=True).fit(LOANS, y)
    predictor, matrix = predictor_of(model, LOANS)
    scores = predictor.scores(matrix)
    assert predictor.classes == classes
    np.testing.assert_allclose(scores, model.predict_proba(LOANS)[:, -scores.shape[1] :], rtol=0, atol=1e-7)
    assert predictor.labels(scores).tolist() == model.predict(LOANS).tolist()


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        DecisionTreeRegressor(max_depth=3),
        xgboost.XGBRegressor(**XGBOOST),
        lightgbm.LGBMRegressor(**LIGHTGBM),
        catboost.CatBoostRegressor(**CATBOOST),
        catboost.CatBoost({**CATBOOST, "loss_function": "RMSE"}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_regressors(model):
    model.fit(NUMBERS, MERIT)
    predictor, matrix = predictor_of(model, NUMBERS)
    scores = predictor.scores(matrix)
    assert (predictor.task, predictor.classes, predictor.is_probability) == ("regression", (), False)
    assert predictor.score_names == ("prediction",)
    np.testing.assert_array_equal(scores[:, 0], model.predict(NUMBERS))
    np.testing.assert_array_equal(predictor.labels(scores), scores[:, 0])


@pytest.mark.parametrize("model", [LinearSVC(), make_pipeline(StandardScaler(), LinearSVC())], ids=["plain", "pipe"])
def test_a_binary_decision_function_has_threshold_zero(model):
    model.fit(NUMBERS, RISK)
    predictor, matrix = predictor_of(model, NUMBERS)
    scores = predictor.scores(matrix)
    assert (predictor.task, predictor.threshold, predictor.is_probability) == ("binary", 0.0, False)
    assert predictor.score_names == ("score(good)",)
    np.testing.assert_array_equal(scores[:, 0], model.decision_function(NUMBERS))
    assert predictor.labels(scores).tolist() == model.predict(NUMBERS).tolist()


def test_svc_of_four_classes():
    model = SVC(break_ties=True).fit(NUMBERS, LETTER)
    predictor, matrix = predictor_of(model, NUMBERS)
    scores = predictor.scores(matrix)
    assert predictor.task == "multiclass"
    assert predictor.score_names == ("score(a)", "score(b)", "score(c)", "score(d)")
    np.testing.assert_array_equal(scores, model.decision_function(NUMBERS))
    assert predictor.labels(scores).tolist() == model.predict(NUMBERS).tolist()


@pytest.mark.parametrize("wrap", [lambda svc: svc, lambda svc: make_pipeline(StandardScaler(), svc)])
def test_scores_of_pairs_of_classes_are_refused(wrap):
    # three classes have three pairs, so the number of columns would not give it away
    model = wrap(SVC(decision_function_shape="ovo")).fit(NUMBERS, np.minimum(GRADE, 2))
    with pytest.raises(ModelError, match="decision_function_shape='ovr'"):
        predictor_of(model, NUMBERS)


def test_labels_without_scores_become_indicators():
    voters = [("logistic", LogisticRegression()), ("bayes", GaussianNB()), ("forest", forest())]
    model = VotingClassifier(voters).fit(NUMBERS, LETTER)
    predictor, matrix = predictor_of(model, NUMBERS)
    scores = predictor.scores(matrix)
    assert set(np.unique(scores)) == {0.0, 1.0}
    assert predictor.labels(scores).tolist() == model.predict(NUMBERS).tolist()


def test_outlier_detector_is_one_score():
    model = IsolationForest(n_estimators=5, random_state=0).fit(NUMBERS)
    assert predictor_of(model, NUMBERS)[0].task == "regression"
    predictor, matrix = predictor_of(model, NUMBERS, classes=(-1, 1))
    scores = predictor.scores(matrix)
    assert predictor.threshold == 0
    assert predictor.labels(scores).tolist() == model.predict(NUMBERS).tolist()


def catboost_from(threshold):
    model = catboost.CatBoostClassifier(**CATBOOST).fit(NUMBERS, APPROVED)
    model.set_probability_threshold(threshold)
    return model


def sklearn_from(threshold):
    selection = pytest.importorskip("sklearn.model_selection")
    if not hasattr(selection, "FixedThresholdClassifier"):
        pytest.skip("new in scikit-learn 1.5")
    return selection.FixedThresholdClassifier(forest(), threshold=threshold).fit(NUMBERS, APPROVED)


@pytest.mark.parametrize("make", [catboost_from, sklearn_from])
def test_thresholds_of_the_model_itself(make):
    model = make(0.72)
    predictor, matrix = predictor_of(model, NUMBERS)
    scores = predictor.scores(matrix)
    assert ((scores > 0.5) & (scores < 0.72)).any()
    assert predictor.threshold == pytest.approx(0.72)
    assert predictor.labels(scores).tolist() == model.predict(NUMBERS).tolist()


def test_a_threshold_of_scikit_learn_belongs_to_the_second_class():
    plain, matrix = predictor_of(forest().fit(NUMBERS, APPROVED), NUMBERS)
    scores = plain.scores(matrix)
    model = sklearn_from(float(scores.max()))
    predictor, _ = predictor_of(model, NUMBERS)
    assert predictor.labels(scores).tolist() == model.predict(NUMBERS).tolist()
    assert (predictor.labels(scores) == 1).any()


def test_a_failing_predict_is_told():
    class Broken(LogisticRegression):
        def predict(self, X):
            raise RuntimeError("no labels today")

    with pytest.raises(ModelError, match=r"\(Broken\) failed on 120 row\(s\) with RuntimeError: no labels today"):
        predictor_of(Broken().fit(NUMBERS, RISK), NUMBERS)


def test_a_model_whose_labels_contradict_its_scores_warns():
    class Contrary(LogisticRegression):
        def predict(self, X):
            return np.where(super().predict(X) == "good", "bad", "good")

    with pytest.warns(UserWarning, match=r"`predict` of the model \(Contrary\) disagrees .* in 120 of 120 rows"):
        predictor_of(Contrary().fit(NUMBERS, RISK), NUMBERS)


@pytest.mark.parametrize("model", [forest(), OneVsRestClassifier(LogisticRegression())], ids=["outputs", "labels"])
def test_several_outcomes_at_once_are_refused(model):
    model.fit(NUMBERS, np.column_stack([APPROVED, GRADE > 0, GRADE > 2]).astype(int))
    with pytest.raises(ModelError, match=r"one is allowed\. Pass a callable"):
        predictor_of(model, NUMBERS)


def test_several_outputs_of_a_regression_are_refused():
    model = LinearRegression().fit(NUMBERS, np.column_stack([MERIT, MERIT]))
    with pytest.raises(ModelError, match=r"returned 2 score\(s\) per row, but the task 'regression' needs one score"):
        predictor_of(model, NUMBERS)


def booster(X, y, objective="binary:logistic", **kwargs):
    data = xgboost.DMatrix(X, y, enable_categorical=True)
    return xgboost.train({"objective": objective, "max_depth": 2, "nthread": 1, **kwargs}, data, 3)


def direct(model, X, **kwargs):
    return model.predict(xgboost.DMatrix(X, enable_categorical=True), **kwargs)


@pytest.mark.parametrize(
    "X", [LOANS, NUMBERS, ARRAY, pl.DataFrame(NUMBERS)], ids=["mixed", "pandas", "numpy", "polars"]
)
class TestXgboostBooster:
    def test_binary(self, X):
        model = booster(X, APPROVED)
        predictor, matrix = predictor_of(model, X)
        assert (predictor.task, predictor.classes, predictor.threshold) == ("binary", (0, 1), 0.5)
        np.testing.assert_array_equal(predictor.scores(matrix)[:, 0], direct(model, X))

    @pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
    def test_multiclass(self, X, objective):
        model = booster(X, GRADE, objective, num_class=4)
        predictor, matrix = predictor_of(model, X, classes=("a", "b", "c", "d"))
        scores = predictor.scores(matrix)
        expected = direct(booster(X, GRADE, "multi:softprob", num_class=4), X)
        assert (predictor.task, predictor.classes, predictor.is_probability) == ("multiclass", tuple("abcd"), True)
        np.testing.assert_allclose(scores, expected, rtol=1e-5)
        assert predictor.labels(scores).tolist() == [("a", "b", "c", "d")[k] for k in expected.argmax(axis=1)]

    def test_regression(self, X):
        model = booster(X, MERIT, "reg:squarederror")
        predictor, matrix = predictor_of(model, X)
        assert predictor.task == "regression"
        np.testing.assert_array_equal(predictor.scores(matrix)[:, 0], direct(model, X))


@pytest.mark.parametrize("objective", ["binary:logitraw", "binary:hinge"])
def test_xgboost_margins_have_threshold_zero(objective):
    model = booster(NUMBERS, APPROVED, objective)
    predictor, matrix = predictor_of(model, NUMBERS)
    scores = predictor.scores(matrix)
    assert (predictor.task, predictor.threshold, predictor.is_probability) == ("binary", 0.0, False)
    np.testing.assert_array_equal(scores[:, 0], direct(model, NUMBERS, output_margin=True))
    if objective == "binary:hinge":
        assert predictor.labels(scores).tolist() == direct(model, NUMBERS).tolist()


@pytest.mark.parametrize("objective", ["reg:logistic", "rank:pairwise"])
def test_other_xgboost_objectives_are_regressions(objective):
    assert predictor_of(booster(NUMBERS, APPROVED, objective), NUMBERS)[0].task == "regression"


@pytest.mark.parametrize("task", ["regression", None])
def test_a_binary_booster_as_regression(task):
    model = booster(NUMBERS, APPROVED)
    predictor, matrix = predictor_of(model, NUMBERS, task=task)
    assert predictor.task == (task or "binary")
    np.testing.assert_array_equal(predictor.scores(matrix)[:, 0], direct(model, NUMBERS))


def test_booster_without_names_takes_a_frame_of_numbers_and_booleans():
    X = LOANS[["income", "owner"]]
    model = booster(X.to_numpy(np.float64), APPROVED)
    assert model.feature_names is None
    predictor, matrix = predictor_of(model, X)
    np.testing.assert_array_equal(predictor.scores(matrix)[:, 0], direct(model, X.to_numpy(np.float64)))


def test_booster_with_names_takes_an_array_by_position():
    model = booster(NUMBERS, APPROVED)
    predictor, matrix = predictor_of(model, ARRAY)
    np.testing.assert_array_equal(predictor.scores(matrix)[:, 0], direct(model, NUMBERS))


def test_booster_without_names_refuses_levels():
    with pytest.raises(ModelError, match=r"no feature names.*'purpose' hold\(s\) levels.*enable_categorical=True"):
        predictor_of(booster(ARRAY, APPROVED), LOANS[["income", "purpose"]])


def lightgbm_booster(X, y, objective, **kwargs):
    params = {"objective": objective, "num_leaves": 4, "verbose": -1, "num_threads": 1, **kwargs}
    return lightgbm.train(params, lightgbm.Dataset(X, y), 3)


@pytest.mark.parametrize("X", [LOANS, ARRAY], ids=["pandas", "numpy"])
@pytest.mark.parametrize("stored", [False, True])
class TestLightgbmBooster:
    def same(self, model, X, stored):
        model = lightgbm.Booster(model_str=model.model_to_string()) if stored else model
        predictor, matrix = predictor_of(model, X)
        expected = model.predict(X)
        scores = predictor.scores(matrix)
        np.testing.assert_array_equal(scores, expected if expected.ndim == 2 else expected[:, np.newaxis])
        return predictor

    def test_binary(self, X, stored):
        predictor = self.same(lightgbm_booster(X, APPROVED, "binary"), X, stored)
        assert (predictor.task, predictor.classes, predictor.is_probability) == ("binary", (0, 1), True)

    @pytest.mark.parametrize("objective", ["multiclass", "multiclassova"])
    def test_multiclass(self, X, stored, objective):
        predictor = self.same(lightgbm_booster(X, GRADE, objective, num_class=4), X, stored)
        assert (predictor.task, predictor.classes) == ("multiclass", (0, 1, 2, 3))
        assert predictor.is_probability

    def test_regression(self, X, stored):
        assert self.same(lightgbm_booster(X, MERIT, "regression"), X, stored).task == "regression"


def test_lightgbm_with_an_objective_of_its_own_is_a_regression():
    def squares(predicted, data):
        return predicted - data.get_label(), np.ones_like(predicted)

    assert predictor_of(lightgbm_booster(NUMBERS, APPROVED, squares), NUMBERS)[0].task == "regression"


@pytest.mark.parametrize(("loss", "y"), [("Logloss", APPROVED), ("MultiClass", LETTER), ("MultiClass", RISK)])
def test_untyped_catboost_gives_probabilities(loss, y):
    model = catboost.CatBoost({**CATBOOST, "loss_function": loss}).fit(NUMBERS, y)
    predictor, matrix = predictor_of(model, NUMBERS)
    scores = predictor.scores(matrix)
    expected = model.predict(NUMBERS, prediction_type="Probability")
    assert predictor.classes == tuple(np.unique(y).tolist())
    np.testing.assert_array_equal(scores, expected[:, -scores.shape[1] :])


def test_catboost_takes_polars_and_arrays():
    for X in (pl.DataFrame(NUMBERS), ARRAY):
        model = catboost.CatBoostClassifier(**CATBOOST).fit(ARRAY, RISK)
        predictor, matrix = predictor_of(model, X)
        np.testing.assert_array_equal(predictor.scores(matrix)[:, 0], model.predict_proba(ARRAY)[:, 1])


@pytest.mark.skipif(
    tuple(map(int, version("scikit-learn").split(".")[:2])) < (1, 5),
    reason="column transformers of scikit-learn 1.4 take no polars frames",
)
def test_a_pipeline_on_polars():
    X = pl.DataFrame(LOANS.astype({"purpose": str}))
    model = one_hot(LogisticRegression()).set_output(transform="default").fit(X, RISK)
    predictor, matrix = predictor_of(model, X)
    np.testing.assert_array_equal(predictor.scores(matrix)[:, 0], model.predict_proba(X)[:, 1])


def test_the_model_gets_frame_type_and_dtypes_of_the_data():
    seen = []

    def model(frame):
        seen.append(frame)
        return np.zeros(len(frame))

    for X in (LOANS, pl.DataFrame(LOANS.astype({"purpose": str})), ARRAY.astype(np.float32)):
        predictor, matrix = predictor_of(model, X)
        predictor.scores(matrix)
        assert type(seen[-1]) is type(X)
        assert len(seen[-1]) == N
        if isinstance(X, pd.DataFrame):
            pd.testing.assert_frame_equal(seen[-1], X)
        elif isinstance(X, pl.DataFrame):
            assert seen[-1].schema == X.schema
        else:
            assert seen[-1].dtype == X.dtype


def test_a_subclass_is_known_by_its_base():
    class Mine(xgboost.Booster):
        pass

    model = Mine(model_file=booster(NUMBERS, APPROVED).save_raw("ubj"))
    predictor, matrix = predictor_of(model, NUMBERS)
    assert predictor.task == "binary"
    np.testing.assert_array_equal(predictor.scores(matrix)[:, 0], direct(model, NUMBERS))


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        xgboost.XGBClassifier(),
        lightgbm.LGBMClassifier(),
        catboost.CatBoostClassifier(),
        RandomForestRegressor(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_an_unfitted_model_says_so(model):
    with pytest.raises(ModelError, match=rf"The model \({type(model).__name__}\) failed on 120 row\(s\) .*fitted"):
        predictor_of(model, NUMBERS)


@pytest.mark.parametrize(("model", "message"), [(DecisionTreeClassifier, "class DecisionTree"), (3, "of type int")])
def test_what_is_no_model(model, message):
    with pytest.raises(ModelTypeError, match=rf"{message}.*Pass a fitted scikit-learn estimator"):
        predictor_of(model, NUMBERS)


def test_a_model_of_one_class_is_refused():
    with pytest.raises(ModelError, match=r"1 score\(s\) per row, but the task 'multiclass' needs a score per class"):
        predictor_of(DecisionTreeClassifier().fit(NUMBERS, np.zeros(N)), NUMBERS)


def test_libraries_are_not_imported_unasked():
    code = (
        "import sys, pandas as pd\n"
        "from countarfactuals.prediction import make_predictor\n"
        "from countarfactuals.schema import Schema\n"
        "from sklearn.dummy import DummyRegressor\n"
        "X = pd.DataFrame({'a': [1.0, 2.0]})\n"
        "make_predictor(DummyRegressor().fit(X, [1, 2]), Schema.infer(X), X)\n"
        "make_predictor(lambda frame: frame, Schema.infer(X), X)\n"
        "print({'xgboost', 'lightgbm', 'catboost', 'polars', 'torch'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_make_predictor_leaves_the_rows_alone():
    before = LOANS.copy()
    make_predictor(lambda frame: np.zeros(len(frame)), Schema.infer(LOANS), LOANS)
    pd.testing.assert_frame_equal(LOANS, before)


def test_the_method_of_an_estimator_knows_its_classes():
    X = pd.DataFrame({"a": np.linspace(-1, 1, 40)})
    model = LogisticRegression().fit(X, np.where(X["a"] > 0, "yes", "no"))
    schema = Schema.infer(X)
    by_method = make_predictor(model.predict_proba, schema, X)
    assert (by_method.task, by_method.classes) == ("binary", ("no", "yes"))
    np.testing.assert_array_equal(by_method.scores(schema.encode(X)), model.predict_proba(X)[:, 1:])


@pytest.mark.parametrize("target", [None, "yes"])
def test_a_probability_without_classes_gets_a_hint(target):
    X = pd.DataFrame({"a": np.linspace(0, 1, 40)})
    schema = Schema.infer(X)
    probability = make_predictor(lambda frame: frame["a"], schema, X)
    amount = make_predictor(lambda frame: 100 * frame["a"] + 2, schema, X)
    with pytest.raises(TargetError, match=r"regression.*classes=\("):
        resolve(target, probability, np.array([0.3]))
    with pytest.raises(TargetError, match="regression") as refused:
        resolve(target, amount, np.array([32.0]))
    assert "classes=" not in str(refused.value)


WITH_OWNER = LOANS[["income", "owner", "children"]]


@pytest.mark.parametrize(
    "model",
    [forest(), make_pipeline(StandardScaler(), LogisticRegression()), LinearSVC(), LinearRegression()],
    ids=["scores", "pipeline", "margins", "numbers"],
)
@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_a_model_that_was_fitted_on_an_array_gets_one(model, backend):
    # the fixture makes scikit-learn's warning of names an error
    array = WITH_OWNER.to_numpy(np.float64)
    model.fit(array, APPROVED)
    X = WITH_OWNER if backend == "pandas" else pl.from_pandas(WITH_OWNER)
    predictor, matrix = predictor_of(model, X)
    ask = getattr(model, "predict_proba", None) or getattr(model, "decision_function", None) or model.predict
    expected = ask(array)
    expected = expected[:, 1] if expected.ndim == 2 else expected
    np.testing.assert_allclose(predictor.scores(matrix)[:, 0], expected, rtol=1e-9)


class ByName(RandomForestClassifier):
    """A classifier of someone's own that takes columns by their names and does not note them."""

    def fit(self, X, y):
        super().fit(np.asarray(X), y)
        return self

    def predict_proba(self, X):
        return super().predict_proba(X[["income", "children"]].to_numpy())

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_models_of_other_kinds_keep_their_frames():
    own = ByName(n_estimators=3, random_state=0).fit(NUMBERS, RISK)
    assert not hasattr(own, "feature_names_in_")
    predictor, matrix = predictor_of(own, NUMBERS)
    np.testing.assert_array_equal(predictor.scores(matrix)[:, 0], own.predict_proba(NUMBERS)[:, 1])


def test_levels_are_not_made_an_array():
    text = LOANS[["purpose"]].astype(object)
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(text.to_numpy(), RISK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predictor, matrix = predictor_of(model, text)
        np.testing.assert_array_equal(predictor.scores(matrix)[:, 0], model.predict_proba(text.to_numpy())[:, 1])
