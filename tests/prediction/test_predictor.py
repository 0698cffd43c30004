"""Callables of every shape, what `classes` and `task` change, and every refusal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from countarfactuals.exceptions import DataError, ModelError, ParameterError
from countarfactuals.prediction import make_predictor
from countarfactuals.schema import Schema

from .data import APPROVED, GRADE, LETTER, NUMBERS, RISK, N, predictor_of

SCHEMA = Schema.infer(NUMBERS)
MATRIX = SCHEMA.encode(NUMBERS)


def p(frame):
    """A probability of each row."""
    return 1 / (1 + np.exp(3 - frame["income"].to_numpy()))


def margin(frame):
    return frame["income"].to_numpy() - 3


def shares(frame, k=4):
    weights = np.exp(-np.abs(frame["income"].to_numpy()[:, np.newaxis] - np.arange(1, k + 1)))
    return weights / weights.sum(axis=1, keepdims=True)


def made(model, **kwargs):
    return make_predictor(model, SCHEMA, NUMBERS, **kwargs)


ONE_SCORE = {
    "(n,)": p,
    "(n, 1)": lambda frame: p(frame)[:, np.newaxis],
    "list": lambda frame: p(frame).tolist(),
    "pandas": lambda frame: pd.Series(p(frame), index=frame.index[::-1]),
    "polars": lambda frame: pl.DataFrame({"p": p(frame)}),
    "object": lambda frame: p(frame).astype(object),
}


@pytest.mark.parametrize("shape", ONE_SCORE)
class TestOneScore:
    def test_is_a_regression(self, shape):
        predictor = made(ONE_SCORE[shape])
        assert (predictor.task, predictor.classes, predictor.is_probability) == ("regression", (), False)
        assert predictor.score_names == ("prediction",)
        np.testing.assert_array_equal(predictor.scores(MATRIX), p(NUMBERS)[:, np.newaxis])

    @pytest.mark.parametrize("said", [{"classes": ("bad", "good")}, {"task": "binary"}])
    def test_is_binary_on_demand(self, shape, said):
        predictor = made(ONE_SCORE[shape], **said)
        labels = predictor.labels(predictor.scores(MATRIX))
        no, yes = said.get("classes", (0, 1))
        assert (predictor.task, predictor.threshold, predictor.is_probability) == ("binary", 0.5, True)
        assert predictor.classes == (no, yes)
        assert predictor.score_names == (f"P({yes})",)
        assert labels.dtype == object
        assert labels.tolist() == np.where(p(NUMBERS) > 0.5, yes, no).tolist()


def test_float32_and_booleans_and_whole_numbers_are_scores():
    for dtype in (np.float32, np.bool_, np.int8):
        predictor = made(lambda frame, dtype=dtype: (margin(frame) > 0).astype(dtype), task="binary")
        scores = predictor.scores(MATRIX)
        assert scores.dtype == np.float64
        np.testing.assert_array_equal(scores[:, 0], margin(NUMBERS) > 0)


def test_one_score_beyond_0_and_1_is_a_decision_function():
    predictor = made(margin, classes=(False, True))
    assert (predictor.task, predictor.threshold, predictor.is_probability) == ("binary", 0.0, False)
    assert predictor.labels(np.array([[0.0], [0.1], [-1.0]])).tolist() == [False, True, False]


def test_two_columns_are_the_probabilities_of_two_classes():
    predictor = made(lambda frame: np.column_stack([1 - p(frame), p(frame)]), classes=["bad", "good"])
    assert (predictor.task, predictor.threshold, predictor.is_probability) == ("binary", 0.5, True)
    np.testing.assert_array_equal(predictor.scores(MATRIX), p(NUMBERS)[:, np.newaxis])


def test_two_columns_as_several_classes():
    predictor = made(lambda frame: np.column_stack([1 - p(frame), p(frame)]), task="multiclass")
    assert (predictor.task, predictor.classes) == ("multiclass", (0, 1))
    assert predictor.scores(MATRIX).shape == (N, 2)


@pytest.mark.parametrize("classes", [None, ("a", "b", "c", "d"), np.array([3, 5, 7, 9]), pd.Index(list("wxyz"))])
def test_four_columns_are_four_classes(classes):
    predictor = made(shares, classes=classes)
    labels = tuple(range(4)) if classes is None else tuple(np.asarray(classes).tolist())
    scores = predictor.scores(MATRIX)
    assert (predictor.task, predictor.is_probability, predictor.classes) == ("multiclass", True, labels)
    assert predictor.score_names == tuple(f"P({label})" for label in labels)
    np.testing.assert_array_equal(scores, shares(NUMBERS))
    assert predictor.labels(scores).tolist() == [labels[k] for k in scores.argmax(axis=1)]


@pytest.mark.parametrize("scale", [lambda s: s * 2, lambda s: np.log(s), lambda s: s / 2])
def test_columns_that_do_not_sum_to_one_are_no_probabilities(scale):
    predictor = made(lambda frame: scale(shares(frame)))
    assert not predictor.is_probability
    assert predictor.score_names[0] == "score(0)"


def test_of_equal_scores_the_first_class_wins():
    several = made(shares)
    assert several.labels(np.array([[0.3, 0.4, 0.4, 0.1], [0.25] * 4])).tolist() == [1, 0]
    assert made(p, classes=("bad", "good")).labels(np.array([[0.5], [np.nextafter(0.5, 1)]])).tolist() == [
        "bad",
        "good",
    ]


def test_a_regressor_of_probabilities_as_classifier():
    model = DecisionTreeRegressor(max_depth=2).fit(NUMBERS, APPROVED)
    predictor = made(model, task="binary", classes=("bad", "good"))
    scores = predictor.scores(MATRIX)
    assert (predictor.task, predictor.threshold, predictor.is_probability) == ("binary", 0.5, True)
    assert predictor.labels(scores).tolist() == np.where(model.predict(NUMBERS) > 0.5, "good", "bad").tolist()
    assert made(model, classes=("bad", "good")) == predictor


def test_a_regressor_beyond_probabilities_is_no_classifier():
    # 0 or .5 as threshold: nobody can tell
    with pytest.raises(ModelError, match=r"\(LinearRegression\) must be probabilities, from 0 to 1, .* scores from -"):
        made(LinearRegression().fit(NUMBERS, APPROVED), task="binary")


def test_a_classifier_as_regression_uses_predict():
    model = LogisticRegression().fit(NUMBERS, GRADE)
    predictor = made(model, task="regression")
    assert (predictor.task, predictor.classes) == ("regression", ())
    np.testing.assert_array_equal(predictor.scores(MATRIX)[:, 0], model.predict(NUMBERS))


def test_classes_rename_those_of_the_model():
    model = LogisticRegression().fit(NUMBERS, APPROVED)
    predictor = made(model, classes=("no", "yes"))
    expected = np.where(model.predict(NUMBERS) == 1, "yes", "no").tolist()
    assert predictor.labels(predictor.scores(MATRIX)).tolist() == expected


def test_labels_that_are_no_scalars_stay_what_they_are():
    for classes in [(pd.Timestamp("2024-01-01"), ("a", 1)), (("a", 1), ("b", 2))]:
        predictor = made(p, classes=classes)
        assert set(predictor.labels(predictor.scores(MATRIX)).tolist()) == set(classes)


def test_probabilities_are_clipped_to_their_range():
    predictor = made(lambda frame: p(frame).round() * (1 + 1e-7), task="binary")
    assert set(np.unique(predictor.scores(MATRIX))) == {0.0, 1.0}


def test_no_rows_need_no_model():
    def model(frame):
        assert len(frame)
        return shares(frame)

    assert made(model).scores(MATRIX[:0]).shape == (0, 4)
    assert made(p, task="binary").scores(MATRIX[:0]).shape == (0, 1)


def test_one_row():
    assert made(shares).scores(MATRIX[:1]).shape == (1, 4)
    assert made(p).labels(made(p).scores(MATRIX[:1])).tolist() == p(NUMBERS.head(1)).tolist()


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda frame: p(frame)[:-1], r"scores of shape \(119,\) for 120 row\(s\)\. Allowed are \(120,\) and \(120, "),
        (lambda frame: 0.5, r"scores of shape \(\) for 120"),
        (lambda frame: np.zeros((len(frame), 2, 2)), r"scores of shape \(120, 2, 2\)"),
        (lambda frame: np.zeros((len(frame), 0)), r"scores of shape \(120, 0\)"),
        (lambda frame: None, "returned None of type NoneType, but scores must be numbers"),
        (
            lambda frame: RISK,
            r"returned 'good', .*\(120 in all\) of type str.*Return probabilities \(`predict_proba`\)",
        ),
        (lambda frame: p(frame).astype(str), "of type str, but scores must be numbers"),
        (lambda frame: p(frame) * 1j, "of type complex, but scores must be numbers"),
        (lambda frame: np.where(np.arange(N) == 7, np.nan, p(frame)), r"returned nan as a score in row 7 of 120"),
        (lambda frame: np.where(np.arange(N) == 9, -np.inf, p(frame)), r"returned -inf as a score in row 9 .* finite"),
        (lambda frame: [[1.0], [1.0, 2.0]], "returned what is no array"),
        (lambda frame: np.column_stack([p(frame), p(frame)]), "from 0 to 1 and with sum 1, but .* sums from"),
        (lambda frame: np.column_stack([-margin(frame), margin(frame)]), "must be probabilities"),
    ],
)
def test_unusable_scores(returned, message):
    with pytest.raises(ModelError, match=message):
        made(returned)


def test_an_exception_of_the_model_is_told_and_kept():
    def model(frame):
        raise KeyError("age")

    with pytest.raises(ModelError, match=r"\(model\) failed on 120 row\(s\) with KeyError: 'age'\. .*'inc") as caught:
        made(model)
    assert isinstance(caught.value.__cause__, KeyError)


def test_interrupts_pass():
    def model(frame):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(model)


def test_an_object_that_is_called_is_named_by_its_type():
    class Scorer:
        def __call__(self, frame):
            raise RuntimeError("x" * 1000)

    with pytest.raises(ModelError, match=r"The model \(Scorer\) failed") as caught:
        made(Scorer())
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(
    ("model", "said", "message"),
    [
        (shares, {"task": "binary"}, r"4 score\(s\) per row, but the task 'binary' needs one score per row, or two"),
        (shares, {"task": "regression"}, "'regression' needs one score per row"),
        (p, {"task": "multiclass"}, "'multiclass' needs a score per class"),
        (shares, {"classes": "abc"}, "is 'abc'; pass the labels as a sequence"),
        (shares, {"classes": 4}, "is 4; pass the labels as a sequence"),
        (shares, {"classes": ("a", "b", "c")}, "is 4 classes, but `classes` names 3: 'a', 'b', 'c'"),
        (p, {"classes": ("a", "b", "c")}, r"1 score\(s\) per row, which is 2 classes, but `classes` names 3"),
        (shares, {"classes": ("a", "b", "c", "a")}, "each class once"),
        (shares, {"classes": (0, 1, 2, True)}, "each class once"),
        (shares, {"classes": ("a", "b", "c", None)}, "none as missing"),
        (p, {"classes": (0.0, np.nan)}, "none as missing"),
        (p, {"classes": ("a",)}, "at least two classes, got 'a'"),
        (p, {"classes": ()}, "at least two classes, got none"),
        (p, {"classes": (["a"], ["b"])}, "can not be compared"),
        (p, {"task": "ranking"}, "`task` is 'ranking'; allowed are 'binary', 'multiclass', 'regression'"),
        (p, {"task": "regression", "classes": (0, 1)}, "A regression has no classes, got 0, 1"),
    ],
)
def test_what_does_not_go_together(model, said, message):
    with pytest.raises((ModelError, ParameterError), match=message):
        made(model, **said)


def test_classes_of_an_estimator_are_counted():
    model = LogisticRegression().fit(NUMBERS, LETTER)
    with pytest.raises(ModelError, match=r"4 score\(s\) per row, which is 4 classes, but `classes` names 2"):
        made(model, classes=("bad", "good"))


def test_a_model_that_changes_its_mind():
    def model(frame):
        return shares(frame) if len(frame) > 1 else p(frame)

    with pytest.raises(ModelError, match=r"returned 1 score\(s\) per row, but 4 before"):
        made(model).scores(MATRIX[:1])


def test_probabilities_that_turn_out_to_be_none():
    predictor = made(lambda frame: p(frame) * np.where(frame["income"] > 100, 5, 1), task="binary")
    rich = MATRIX[:2].copy()
    rich[1, 0] = 101
    with pytest.raises(ModelError, match=r"returned 5 as a probability.*whole range of scores"):
        predictor.scores(rich)


def test_no_rows_to_try():
    with pytest.raises(DataError, match="has no rows"):
        make_predictor(p, SCHEMA, NUMBERS.head(0))


def test_scores_leave_the_matrix_alone():
    before = MATRIX.copy()
    predictor, matrix = predictor_of(lambda frame: frame.mul(0).sum(axis=1), NUMBERS)
    predictor.scores(matrix)
    np.testing.assert_array_equal(matrix, before)
