"""`given`: what it may say, what it means, and what is refused with which words."""

from __future__ import annotations

import copy
import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from countarfactuals import MISSING
from countarfactuals.arf.conditions import parse_given
from countarfactuals.arf.tree_walk import leaf_weights
from countarfactuals.exceptions import CountarfactualsError, DataError, EvidenceError, EvidenceTypeError

from . import twins
from .twins import fit, fitted, mixed


def log_p(given, name: str = "mixed") -> float:
    return fitted(name).log_probability(given)


# The same said in other words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"age": (30, None)}, {"age": (29.5, math.inf)}),
        ({"age": (None, 40)}, {"age": (-math.inf, 40.9)}),
        ({"age": (20, 30)}, {"age": [(20, 25), (26, 30)]}),
        ({"weight": (0.0, 2.0)}, {"weight": [(1.0, 2.0), (0.0, 1.5)]}),
        ({"weight": (0.0, 2.0)}, {"weight": [(0.0, 2.0), (1.5, 1.5), (7.0, 7.0)]}),
        ({"weight": 1.5}, {"weight": (1.5, 1.5)}),
        ({"weight": 1.5}, {"weight": [1.5]}),
        ({"weight": [1.5, 2.5]}, {"weight": {2.5, 1.5}}),
        ({"weight": [1.5, 2.5]}, {"weight": np.array([2.5, 1.5, 1.5])}),
        ({"weight": 1.5}, {"weight": np.float32(1.5)}),
        ({"age": 30}, {"age": 30.0}),
        ({"age": 30}, {"age": np.int8(30)}),
        ({"age": [30, 31]}, {"age": range(30, 32)}),
        ({"color": "red"}, {"color": ["red"]}),
        ({"color": ["red", "blue"]}, {"color": ("blue", "red")}),
        ({"color": ["red", "blue"]}, {"color": {"blue", "red"}}),
        ({"color": ["red", "blue"]}, {"color": pd.Series(["blue", "red", "red"])}),
        ({"grade": ("mid", "top")}, {"grade": ["mid", "high", "top"]}),
        ({"grade": (None, "mid")}, {"grade": ["low", "mid"]}),
        ({"owner": True}, {"owner": np.True_}),
        ({"owner": [True, False]}, {}),
        ({"weight": (None, None)}, {}),
    ],
)
def test_the_same_said_in_other_words(one, other):
    assert log_p(one) == pytest.approx(log_p(other), abs=1e-12)


def test_a_frame_says_the_same_as_dicts():
    arf = fitted("mixed")
    frame = pd.DataFrame({"age": [30, None, 40], "color": ["red", "blue", None], "owner": [True, None, False]})
    dicts = [{"age": 30, "color": "red", "owner": True}, {"color": "blue"}, {"age": 40, "owner": False}]
    expected = arf.log_probability(dicts)
    np.testing.assert_array_equal(arf.log_probability(frame), expected)
    np.testing.assert_array_equal(arf.log_probability(pl.from_pandas(frame)), expected)
    np.testing.assert_array_equal(arf.log_probability(tuple(dicts)), expected)
    assert arf.log_probability(None) == pytest.approx(0, abs=1e-12)


def test_any_value_is_less_than_no_condition_where_cells_may_be_missing():
    present = log_p({"age": (None, None)})
    assert math.exp(present) + math.exp(log_p({"age": MISSING})) == pytest.approx(1)
    assert present < -0.01


def test_leaf_weights_are_normalised_over_all_leaves():
    arf = fitted("mixed")
    condition = {"weight": [(-6.0, -3.0), (2.0, None)], "color": ["blue", "red"], "age": (20, 45), "grade": MISSING}
    evidence = parse_given(condition, arf.schema_, arf.leaves_.missing_of >= 0)
    weights = leaf_weights(arf.forest_, arf.leaves_, evidence)
    dense = np.full(arf.forest_.n_leaves, -np.inf)
    dense[weights.leaf] = weights.log_weight
    expected = twins.leaf_log_weights(arf, condition)
    np.testing.assert_array_equal(dense > -np.inf, expected > -np.inf)
    assert 0 < (dense > -np.inf).sum() < len(dense)
    np.testing.assert_allclose(dense, expected, atol=1e-9)
    assert np.exp(weights.log_weight - weights.log_total[0]).sum() == pytest.approx(1)


# What is refused


REFUSED = [
    ("age = 3", EvidenceTypeError, "must be a dict.*list of dicts or a frame.*'age = 3'.*price"),
    (5, EvidenceTypeError, "must be a dict.*got 5"),
    (lambda row: True, EvidenceTypeError, "must be a dict"),
    ([], EvidenceTypeError, "one dict per condition.*got nothing"),
    ([1, 2], EvidenceTypeError, "one dict per condition.*1, 2"),
    ([{"age": 3}, "x"], EvidenceTypeError, "one dict per condition"),
    ({"aeg": 3}, DataError, "no column 'aeg'.*'age'.*Did you mean 'age'"),
    ({"age": "old"}, EvidenceTypeError, "'age' .integer.*finite number.*got 'old'"),
    ({"age": True}, EvidenceTypeError, "'age'.*finite number.*True"),
    ({"age": 30.5}, EvidenceError, "'age' holds integers and can not be 30.5"),
    ({"age": [30, 31.5]}, EvidenceError, "'age' holds integers.*31.5"),
    ({"age": (30.2, 30.8)}, EvidenceError, "'age' holds integers.*none between 30.2 and 30.8"),
    ({"weight": math.inf}, EvidenceTypeError, "'weight'.*finite number.*inf"),
    ({"weight": math.nan}, EvidenceError, "'weight' is nan.*MISSING"),
    ({"weight": None}, EvidenceError, "'weight' is None.*Leave the column out.*MISSING"),
    ({"color": None}, EvidenceError, "'color' is None.*MISSING"),
    ({"color": math.nan}, EvidenceError, "'color' is nan.*MISSING"),
    ({"weight": pd.NA}, CountarfactualsError, "'weight'.*<NA>"),
    ({"weight": {"low": 1}}, EvidenceTypeError, "'weight'.*low"),
    ({"weight": (1.0, 2.0, 3.0)}, EvidenceTypeError, "interval for 'weight' is .low, high.*1.0, 2.0, 3.0"),
    ({"weight": ("a", 2.0)}, EvidenceTypeError, "interval for 'weight'.*'a'"),
    ({"weight": (math.nan, 2.0)}, EvidenceTypeError, "interval for 'weight'.*nan"),
    ({"weight": (3.0, 2.0)}, EvidenceError, r"interval \(3.0, 2.0\) for 'weight' is empty"),
    ({"weight": [(3.0, 4.0), 5.0]}, EvidenceTypeError, "'weight'.*list of such intervals"),
    ({"weight": []}, EvidenceError, "'weight' allows no value"),
    ({"weight": dt.date(2020, 1, 1)}, EvidenceTypeError, "'weight'.*finite number"),
    ({"weight": MISSING}, EvidenceError, "'weight' had no missing value.*probability 0.*Leave the column out"),
    ({"color": "rde"}, DataError, "'color' has no level 'rde'.*'red'.*Did you mean 'red'"),
    ({"color": ["red", "rde"]}, DataError, "'color' has no level 'rde'"),
    ({"color": ["red", None]}, EvidenceError, "'color' mixes levels with None"),
    ({"color": ["red", MISSING]}, EvidenceError, "'color' mixes levels with MISSING"),
    ({"color": []}, EvidenceError, "'color' allows no level"),
    ({"color": dt.date(2020, 1, 1)}, CountarfactualsError, "'color' holds levels"),
    ({"grade": ("top", "low")}, EvidenceError, "'grade' allows no level.*'top', 'low'"),
    ({"owner": "yes"}, DataError, "'owner' has no level 'yes'.*False, True"),
    (pd.DataFrame({"aeg": [3]}), DataError, "no column 'aeg'.*Did you mean 'age'"),
    (pd.DataFrame({"age": [30.5]}), EvidenceError, "'age' holds integers.*30.5"),
    (pd.DataFrame({"weight": ["heavy"]}), CountarfactualsError, "'weight' holds numbers"),
    (pd.DataFrame({"color": ["red", "rde"]}), DataError, "'color' has the unknown level 'rde' in row 1"),
    (pd.DataFrame({"weight": [np.inf]}), DataError, "'weight' is infinite in row 0"),
    (pd.DataFrame({"age": []}), DataError, "no rows"),
    ({"color": pd.NA}, CountarfactualsError, "'color'"),
    ({"color": ["red", math.nan]}, CountarfactualsError, "'color'"),
    ({"color": ["red", pd.NA]}, CountarfactualsError, "'color'"),
    ({"grade": ("low", pd.NA)}, CountarfactualsError, "'grade'"),
]


@pytest.mark.parametrize(("given", "error", "words"), REFUSED, ids=range(len(REFUSED)))
def test_refused(given, error, words):
    arf = fitted("mixed")
    with pytest.raises(error, match=words):
        arf.log_probability(given)
    with pytest.raises(error, match=words):
        arf.sample(2, given=given)


def test_errors_are_also_builtin_types():
    arf = fitted("mixed")
    with pytest.raises(ValueError):
        arf.sample(given={"color": "rde"})
    with pytest.raises(TypeError):
        arf.sample(given={"age": "old"})


def test_number_of_conditions():
    with pytest.raises(EvidenceError, match=r"2 conditions for 3 rows.*one for all or one for each"):
        fitted("mixed").score_samples(mixed().head(3), given=[{"age": 30}, {"age": 31}])


# Evidence that no leaf allows


def never_together() -> pd.DataFrame:
    """Ten levels, each with values of x of its own."""
    rng = np.random.default_rng(0)
    k = np.arange(600) % 10
    return pd.DataFrame({"c": np.array([*"abcdefghij"])[k], "x": k + 0.5 * rng.random(600), "other": rng.random(600)})


def strict(**options):
    """No smoothing and closed leaves, so that a leaf forbids what it has not seen."""
    return fit(
        never_together(),
        **{"alpha": 0.0, "finite_bounds": "local", "epsilon": 0.0, "n_estimators": 2, "min_samples_leaf": 3},
        always_split=["c", "x"],
        random_state=0,
        **options,
    )


def test_clashing_columns_are_named_and_only_those():
    arf = strict()
    clash = {"c": "a", "x": (9.1, 9.3), "other": (0.2, 0.8)}
    assert arf.log_probability(clash) == -np.inf
    for column in clash:
        assert arf.log_probability({column: clash[column]}) > -np.inf
    for call in (arf.sample, arf.expect):
        with pytest.raises(EvidenceError, match=r"probability 0.*'c', 'x' together") as raised:
            call(given=clash)
        assert "'other'" not in str(raised.value)
    with pytest.raises(EvidenceError, match=r"probability 0.*'c', 'x' together"):
        arf.score_samples(pd.DataFrame({"other": [0.5]}), given={"c": "a", "x": 9.2})
    with pytest.raises(EvidenceError, match="of 'x' on its own") as raised:
        arf.sample(given={"c": "a", "x": 99.0, "other": 0.5})
    assert "'c'" not in str(raised.value)
    with pytest.raises(EvidenceError, match=r"Condition 0 has probability 0.*'x'"):
        arf.sample(given=[{"x": (70, 99)}, {"x": (80, 99)}])


def test_impossible_rows_score_minus_infinity():
    rows = pd.DataFrame({"c": ["a", "j"], "x": [9.2, 9.2], "other": [0.5, 0.5]})
    np.testing.assert_array_equal(np.isfinite(strict().score_samples(rows)), [False, True])


def test_everything_is_possible_by_default():
    arf = fit(never_together())
    drawn = arf.sample(5, given={"c": "a", "x": (9.1, 9.3), "other": 0.5})
    assert drawn["x"].between(9.1, 9.3).all()


# Inputs


def test_conditions_are_not_changed():
    arf = fitted("mixed")
    conditions = [
        {"weight": [(2.0, 3.0), (0.0, 1.0)], "color": ["red", "blue"], "age": [31, 30]},
        {"grade": ("mid", None), "age": MISSING},
    ]
    before = copy.deepcopy([{k: v for k, v in one.items() if v is not MISSING} for one in conditions])
    arf.sample(2, given=conditions)
    arf.expect(given=conditions)
    arf.score_samples(mixed().head(2), given=conditions)
    assert [{k: v for k, v in one.items() if v is not MISSING} for one in conditions] == before
    assert conditions[1]["age"] is MISSING
    frame = pd.DataFrame({"age": [30, None], "color": ["red", None]})
    copied = frame.copy(deep=True)
    arf.sample(2, given=frame)
    arf.score_samples(mixed().head(2), given=frame)
    pd.testing.assert_frame_equal(frame, copied)


def test_missing_prints_as_its_name():
    assert repr(MISSING) == "MISSING"
