"""Targets: what may be said, which interval of which score it is, and that goals agree with predicted labels."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals.counterfactuals.outcomes import text_of_target
from countarfactuals.exceptions import TargetError
from countarfactuals.prediction import Goal, Predictor, Target, make_predictor, resolve
from countarfactuals.schema import Schema

X = pd.DataFrame({"a": [0.0, 0.25, 1.0]})
SCHEMA = Schema.infer(X)
LETTERS = ("a", "b", "c", "d")


def of(score, **kwargs) -> Predictor:
    return make_predictor(score, SCHEMA, X, **kwargs)


PROBABILITY = of(lambda frame: frame["a"], classes=("bad", "good"))
MARGIN = of(lambda frame: 4 * frame["a"] - 2, classes=("bad", "good"))
SHARES = of(lambda frame: np.full((len(frame), 4), 0.25), classes=LETTERS)
SCORES = of(lambda frame: np.full((len(frame), 4), 7.0), classes=LETTERS)
REGRESSION = of(lambda frame: frame["a"])
INF = math.inf
ABOVE_HALF = float(np.nextafter(0.5, 1))


def interval(goal: Goal, predictor: Predictor):
    return text_of_target(goal.target, predictor.score_columns), goal.column, goal.low, goal.high, goal.wins


def at(*scores) -> np.ndarray:
    return np.array(scores, dtype=np.float64).reshape(len(scores), -1)


@pytest.mark.parametrize(
    ("predictor", "target", "expected"),
    [
        (PROBABILITY, "good", ("class 'good'", 0, ABOVE_HALF, 1.0, False)),
        (PROBABILITY, Target("good"), ("class 'good'", 0, ABOVE_HALF, 1.0, False)),
        (PROBABILITY, np.str_("bad"), ("class 'bad'", 0, 0.0, 0.5, False)),
        (PROBABILITY, Target("good", probability=(0.7, 1)), ("P(good) from 0.7 to 1", 0, 0.7, 1.0, False)),
        (PROBABILITY, Target("bad", probability=(0.75, 1)), ("P(bad) from 0.75 to 1", 0, 0.0, 0.25, False)),
        (PROBABILITY, Target("bad", above=0.75), ("P(bad) at least 0.75", 0, 0.0, 0.25, False)),
        (PROBABILITY, Target(above=0.5), ("P(good) at least 0.5", 0, 0.5, 1.0, False)),
        (PROBABILITY, Target(below=0.2), ("P(good) at most 0.2", 0, 0.0, 0.2, False)),
        (PROBABILITY, Target(above=0.2, below=0.3), ("P(good) from 0.2 to 0.3", 0, 0.2, 0.3, False)),
        (PROBABILITY, Target("good", between=[0.2, 3]), ("P(good) from 0.2 to 3", 0, 0.2, 1.0, False)),
        (MARGIN, "good", ("class 'good'", 0, 5e-324, INF, False)),
        (MARGIN, "bad", ("class 'bad'", 0, -INF, 0.0, False)),
        (MARGIN, Target(above=2), ("score(good) at least 2", 0, 2.0, INF, False)),
        (MARGIN, Target("good", below=-2), ("score(good) at most -2", 0, -INF, -2.0, False)),
        (SHARES, "c", ("class 'c'", 2, 0.0, 1.0, True)),
        (SHARES, Target("c", probability=(0.2, 0.4)), ("P(c) from 0.2 to 0.4", 2, 0.2, 0.4, False)),
        (SHARES, Target("a", above=0.4), ("P(a) at least 0.4", 0, 0.4, 1.0, False)),
        (SCORES, "d", ("class 'd'", 3, -INF, INF, True)),
        (SCORES, Target("d", between=(1, 2)), ("score(d) from 1 to 2", 3, 1.0, 2.0, False)),
        (REGRESSION, (1, 2), ("prediction from 1 to 2", 0, 1.0, 2.0, False)),
        (REGRESSION, Target((1, 2)), ("prediction from 1 to 2", 0, 1.0, 2.0, False)),
        (REGRESSION, Target(above=1234567.25), ("prediction at least 1,234,567.25", 0, 1234567.25, INF, False)),
        (REGRESSION, Target(below=np.float32(0.5)), ("prediction at most 0.5", 0, -INF, 0.5, False)),
        (REGRESSION, Target(between=(3, 3)), ("prediction from 3 to 3", 0, 3.0, 3.0, False)),
    ],
)
def test_the_interval_of_a_target(predictor, target, expected):
    assert interval(resolve(target, predictor, np.zeros(predictor.n_scores)), predictor) == expected


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
@pytest.mark.parametrize(
    ("predictor", "score", "other"),
    [(PROBABILITY, 0.5, "good"), (PROBABILITY, 0.51, "bad"), (MARGIN, 0.0, "good"), (MARGIN, 0.1, "bad")],
)
def test_none_is_the_other_class(predictor, score, other, shape):
    goal = resolve(None, predictor, np.full(shape, score))
    assert goal.target == Target(other)
    assert not goal.reached(at(score))[0]


@pytest.mark.parametrize("labels", [(0, 1), (False, True), (1.5, 2.5), ("0", "1")])
def test_labels_of_every_kind(labels):
    predictor = of(lambda frame: frame["a"], classes=labels)
    for k, label in enumerate(labels):
        goal = resolve(label, predictor, np.array([0.0]))
        assert text_of_target(goal.target, predictor.score_columns) == f"class {label!r}"
        assert goal.reached(at(0.1, 0.9)).tolist() == [k == 0, k == 1]


def test_the_first_class_may_be_false_or_zero():
    assert resolve(Target(False), of(lambda frame: frame["a"], classes=(False, True)), np.array([0.9])).high == 0.5


@given(st.lists(st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, ABOVE_HALF, 1.0, -2.0]), min_size=4, max_size=4)))
def test_a_class_is_reached_where_it_is_predicted(rows):
    scores = np.array(rows, dtype=np.float64).reshape(-1, 4)
    for label in LETTERS:
        goal = resolve(label, SCORES, scores)
        distance = goal.distance(scores)
        predicted = SCORES.labels(scores) == label
        assert ((distance == 0) == predicted).all()
        assert (distance >= 0).all()
        assert (goal.reached(scores) == predicted).all()
        lead = (scores - scores[:, [goal.column]]).max(axis=1)
        assert (distance[lead > 0] == lead[lead > 0]).all()
    for predictor in (PROBABILITY, MARGIN):
        one = scores[:, :1] if predictor is MARGIN else np.abs(scores[:, :1] / 2)
        for label in predictor.classes:
            assert (resolve(label, predictor, one).reached(one) == (predictor.labels(one) == label)).all()


def test_a_lost_tie_is_the_smallest_step_away():
    goal = resolve("b", SCORES, np.zeros(4))
    tie = at([0.4, 0.4, 0.1, 0.1], [0, 0, 0, 0], [0.1, 0.4, 0.4, 0.1], [0.4, 0.4, 0.5, 0])
    distance = goal.distance(tie)
    assert distance.tolist() == [np.spacing(0.4), np.spacing(0.0), 0.0, pytest.approx(0.1)]
    assert (distance[:2] > 0).all()


def test_distance_to_a_range():
    goal = resolve(Target(between=(1, 2)), REGRESSION, np.zeros(1))
    assert goal.distance(at(0.5, 1, 1.7, 2, 4)).tolist() == [0.5, 0, 0, 0, 2]
    assert goal.reached(at(0.5, 1, 1.7, 2, 4)).tolist() == [False, True, True, True, False]
    assert goal.distance(np.empty((0, 1))).shape == (0,)


def test_distance_just_outside_is_positive():
    for goal in (resolve("good", MARGIN, np.zeros(1)), resolve("good", PROBABILITY, np.zeros(1))):
        edge = at(MARGIN.threshold if goal.high == INF else 0.5)
        assert goal.distance(edge)[0] > 0
        assert not goal.reached(edge)[0]


def test_a_winner_outside_its_range_is_not_there():
    goal = Goal(Target("b"), 1, 0.6, 1.0, wins=True)
    assert goal.distance(at([0.2, 0.5], [0.9, 0.7], [0.1, 0.8])).tolist() == pytest.approx([0.1, 0.2, 0.0])


def test_keys_tell_goals_apart_and_nothing_else():
    targets = ["good", "bad", Target("good", probability=(0.7, 1)), Target(above=0.5), Target(above=0.5 + 1e-16)]
    keys = [resolve(target, PROBABILITY, np.zeros(1)).key() for target in targets]
    assert len(set(keys)) == 4
    assert resolve(Target(above=0.7), PROBABILITY, np.zeros(1)).key() == keys[2]
    assert resolve("b", SHARES, np.zeros(4)).key() != resolve("c", SHARES, np.zeros(4)).key()
    assert keys[1] == "0 0x0.0p+0 0x1.0000000000000p-1 0"


@pytest.mark.parametrize(
    "target",
    [
        Target("good"),
        Target(np.int64(3)),
        Target(False, probability=(0.7, 1)),
        Target(above=np.float32(0.5)),
        Target(between=[1, 2]),
        Target((1, 2)),
        Target("c", above=1, below=2),
    ],
)
def test_targets_come_back_from_json(target):
    stored = json.loads(json.dumps(target.to_dict(), allow_nan=False))
    assert Target.from_dict(stored) == target
    assert type(Target.from_dict(stored).outcome) is type(target.outcome)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({}, r"says nothing\. Name a class"),
        ({"above": 1, "between": (1, 2)}, "more than one range: 'above', 'between'"),
        ({"outcome": "good", "probability": (0, 1), "below": 1}, "more than one range: 'probability', 'below'"),
        ({"probability": (0.7, 1)}, r"`probability` needs a class, as in Target\('good'"),
        ({"above": 2, "below": 1}, "No score is above 2 and below 1"),
        ({"between": (2, 1)}, "`between` is empty, as its low end 2 is above its high end 1"),
        ({"outcome": "good", "probability": (1, 0.7)}, "`probability` is empty"),
        ({"between": 3}, r"`between` needs \(low, high\), got 3"),
        ({"between": (1, 2, 3)}, r"`between` needs \(low, high\), got \(1, 2, 3\)"),
        ({"between": (None, 3)}, "open to one side use above= or below= alone"),
        ({"between": "ab"}, r"`between` needs \(low, high\)"),
        ({"between": (1, math.nan)}, "`between` needs a finite number, got nan"),
        ({"above": math.nan}, "`above` needs a finite number, got nan"),
        ({"below": math.inf}, "`below` needs a finite number, got inf"),
        ({"above": "0.5"}, "`above` needs a finite number, got '0.5'"),
        ({"above": True}, "`above` needs a finite number, got True"),
        ({"outcome": ["good"]}, r"is one class, got \['good'\] of type list"),
        ({"outcome": math.nan}, "outcome of a target is NaN"),
        ({"outcome": Target("good")}, "got a Target"),
    ],
)
def test_what_can_not_be_said(said, message):
    with pytest.raises(TargetError, match=message):
        Target(**said)


def test_ranges_are_keyword_only():
    with pytest.raises(TypeError):
        Target("good", (0.7, 1))


@pytest.mark.parametrize(
    ("predictor", "target", "message"),
    [
        (REGRESSION, None, r"a target is needed: a range, such as \(low, high\), Target\(above=…\)"),
        (PROBABILITY, "goood", "no class 'goood'; its classes: 'bad', 'good'. Did you mean 'good'?"),
        (of(lambda f: f["a"], task="binary"), "1", r"no class '1'; its classes: 0, 1\. Did you mean 1 \(int\)\?"),
        (of(lambda f: f["a"], classes=(False, True)), "True", r"Did you mean True \(bool\)\?"),
        (PROBABILITY, (0.7, 1), r"no class \(0\.7, 1\).*For a range of the score say Target\(between=…\)"),
        (PROBABILITY, ["good"], "is one class, got"),
        (PROBABILITY, Target("good", probability=(70, 100)), r"P\(good\) runs from 0 to 1 and is never from 70 to 100"),
        (PROBABILITY, Target("bad", probability=(-2, -1)), r"P\(bad\) runs from 0 to 1 and is never"),
        (PROBABILITY, Target(above=1.5), "is never at least 1.5. Give a range within 0 and 1; 70 % is 0.7"),
        (SHARES, Target("a", below=-0.1), r"P\(a\) .* never at most -0\.1"),
        (MARGIN, Target("good", probability=(0.7, 1)), r"\(<lambda>\) are no probabilities.*Say above="),
        (SCORES, Target("a", probability=(0.7, 1)), "are no probabilities"),
        (MARGIN, Target("bad", above=1), "one score, that of class 'good', and none of 'bad'"),
        (SHARES, Target(above=0.5), r"has 4 scores\. Say which class the range is for.*Target\('a', above=…\)"),
        (REGRESSION, "good", r"regression and has no class 'good'\. Give a range"),
        (REGRESSION, 3.0, r"regression and has no class 3\.0"),
        (REGRESSION, Target("good", above=3), "has no class 'good'"),
        (REGRESSION, Target("good", probability=(0, 1)), "regression and has no probabilities"),
        (REGRESSION, (2, 1), "`between` is empty"),
        (REGRESSION, (1, 2, 3), r"needs \(low, high\)"),
    ],
)
def test_what_a_model_can_not_reach(predictor, target, message):
    with pytest.raises(TargetError, match=message):
        resolve(target, predictor, np.zeros(predictor.n_scores))


def test_distance_leaves_the_scores_alone():
    scores = at([0.4, 0.4, 0.1, 0.1])
    before = scores.copy()
    resolve("b", SHARES, scores).distance(scores)
    np.testing.assert_array_equal(scores, before)


# Sets of classes


@pytest.mark.parametrize(
    ("target", "text", "winners"),
    [
        (Target(any_of=["b", "d"]), "class 'b' or 'd'", (1, 3)),
        (Target(none_of="a"), "any class but 'a'", (1, 2, 3)),
        (Target(none_of=["a", "c"]), "any class but 'a' or 'c'", (1, 3)),
        (None, "any class but 'c'", (0, 1, 3)),
    ],
)
def test_several_classes(target, text, winners):
    goal = resolve(target, SHARES, np.array([0.1, 0.2, 0.4, 0.3]))
    assert text_of_target(goal.target, SHARES.score_columns) == text
    assert goal.winners == winners
    assert goal.column == max(winners, key=[0.1, 0.2, 0.4, 0.3].__getitem__)


@pytest.mark.parametrize(
    ("predictor", "target", "plain"),
    [
        (SHARES, Target(any_of=["b"]), Target("b")),
        (SHARES, Target(none_of=["a", "c", "d"]), Target("b")),
        (PROBABILITY, Target(any_of="bad"), Target("bad")),
        (PROBABILITY, Target(none_of="bad"), Target("good")),
        (MARGIN, Target(none_of=["good"]), Target("bad")),
    ],
)
def test_one_class_that_is_left_is_wanted_as_such(predictor, target, plain):
    own = np.zeros(predictor.n_scores)
    assert resolve(target, predictor, own) == resolve(plain, predictor, own)


@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.1, 0.3, 1.0, -2.0]), min_size=4, max_size=4), min_size=1),
    st.sets(st.sampled_from(LETTERS), min_size=1, max_size=3),
)
def test_several_classes_are_reached_where_one_is_predicted(rows, wanted):
    scores = np.array(rows, dtype=np.float64)
    every = [Target(any_of=wanted), Target(none_of=set(LETTERS) - wanted)]
    goals = [resolve(target, SCORES, scores[:1]) for target in every]
    predicted = np.isin(SCORES.labels(scores).astype(str), sorted(wanted))
    inside = [LETTERS.index(label) for label in sorted(wanted)]
    behind = np.delete(scores, inside, axis=1).max(axis=1) - scores[:, inside].max(axis=1)
    for goal in goals:
        distance = goal.distance(scores)
        assert (goal.reached(scores) == predicted).all()
        assert (distance[behind > 0] == behind[behind > 0]).all()
        assert (distance >= 0).all()
    assert goals[0].key() == goals[1].key()


# Relative to the row


@pytest.mark.parametrize(
    ("predictor", "own", "target", "ends", "text"),
    [
        (REGRESSION, 200.0, Target(change="-10%"), (-INF, 180.0), "prediction at least 10 % less"),
        (REGRESSION, -200.0, Target(change="-10 %"), (-INF, -220.0), "prediction at least 10 % less"),
        (REGRESSION, 200.0, Target(change="+2.5%"), (205.0, INF), "prediction at least 2.5 % more"),
        (REGRESSION, 200.0, Target(change=5), (205.0, INF), "prediction at least 5 more"),
        (REGRESSION, 200.0, Target(change=(5, 8)), (205.0, 208.0), "prediction from 5 to 8 more"),
        (REGRESSION, 200.0, Target(change=("-20%", "-10%")), (160.0, 180.0), "prediction from 10 % to 20 % less"),
        (REGRESSION, 200.0, Target(change=(-5, 1000)), (195.0, 1200.0), "prediction changed by −5 to +1,000"),
        (REGRESSION, 200.0, Target(change=(None, 5)), (-INF, 205.0), "prediction at most 5 more"),
        (REGRESSION, 200.0, Target(change=(-5, None)), (195.0, INF), "prediction at most 5 less"),
        (PROBABILITY, 0.5, Target(change=0.25), (0.75, 1.0), "P(good) at least 0.25 more"),
        (PROBABILITY, 0.5, Target("good", change="-50%"), (0.0, 0.25), "P(good) at least 50 % less"),
        (PROBABILITY, 0.75, Target("bad", change=0.25), (0.0, 0.5), "P(bad) at least 0.25 more"),
        (MARGIN, 1.0, Target(change=1), (2.0, INF), "score(good) at least 1 more"),
    ],
)
def test_a_change_of_the_own_score(predictor, own, target, ends, text):
    goal = resolve(target, predictor, np.array([own]))
    assert (goal.low, goal.high) == ends
    assert text_of_target(goal.target, predictor.score_columns) == text
    assert Target.from_dict(json.loads(json.dumps(goal.target.to_dict()))) == target


def test_a_function_of_the_own_score():
    double = resolve(Target(function=lambda own: (2 * own, None)), REGRESSION, np.array([3.0]))
    assert double.target == Target(above=6)
    surer = resolve(Target("bad", function=lambda own: (own + 0.25, 1)), PROBABILITY, np.array([0.75]))
    assert (surer.target, surer.high) == (Target("bad", above=0.5, below=1), 0.5)
    following = {"a": "b", "b": "c", "c": "d"}
    assert resolve(Target(function=following.get), SHARES, np.array([0.1, 0.6, 0.2, 0.1])).target == Target("c")
    either = resolve(Target(function=lambda label: Target(any_of=["b", label])), SHARES, np.array([0, 0, 0.9, 0.1]))
    assert either.winners == (1, 2)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (lambda: Target(change=0), "asks for nothing"),
        (lambda: Target(change="10"), "a number or a share such as '-10%'"),
        (lambda: Target(change=(3, 1)), "low end is above its high end"),
        (lambda: Target(change=(None, None)), "a pair has a low and a high end"),
        (lambda: Target(change=5, above=3), "more than one range: 'above', 'change'"),
        (lambda: Target("a", any_of=["b"]), "in more than one way: 'outcome', 'any_of'"),
        (lambda: Target(any_of=["a", "b"], above=0.5), "A range is for the score of one class"),
        (lambda: Target(any_of=[]), "`any_of` needs classes"),
        (lambda: Target(function=3), "Pass a function"),
        (lambda: Target(function=len).to_dict(), "can not be stored"),
        (lambda: resolve(Target(any_of=LETTERS), SHARES, np.zeros(4)), "takes every class"),
        (lambda: resolve(Target(none_of=LETTERS), SHARES, np.zeros(4)), "excludes every class"),
        (lambda: resolve(Target(any_of=["a", "x"]), SHARES, np.zeros(4)), "no class 'x'"),
        (lambda: resolve(Target(any_of=["a"]), REGRESSION, np.zeros(1)), "regression and has no class 'a'"),
        (lambda: resolve(Target(change="5%"), REGRESSION, np.zeros(1)), "own score is 0"),
        (lambda: resolve(Target(change=0.2), PROBABILITY, np.array([0.9])), "Ask for a smaller change"),
        (lambda: resolve(Target(change=0.2), SHARES, np.zeros(4)), "Say which class the range is for"),
        (lambda: resolve(Target(function=lambda own: own / 0), REGRESSION, np.ones(1)), "failed on 1.0 with Zero"),
        (lambda: resolve(Target(function=lambda own: None), REGRESSION, np.ones(1)), "returned None"),
    ],
)
def test_relative_and_several_that_can_not_be(target, message):
    with pytest.raises(TargetError, match=message):
        target()
