"""Draws: they follow the density, stay inside what was asked for, and come back in the types of the training frame.

Statistics are seeded, so a test that passes keeps passing; with another seed each comparison would fail by chance with
the probability stated (p-values are compared with 1e-4).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from countarfactuals import MISSING, AdversarialRandomForest
from countarfactuals.arf.sampling import round_inside
from countarfactuals.exceptions import ParameterError

from . import twins
from .twins import LEVELS, fit, fitted, mixed, two_sines

RARE = 1e-4  # the chance of a false alarm per comparison
N = 4000


def distribution(arf, name: str, condition: dict):
    """The distribution function of a number given a condition, by the twin's interval masses."""
    weights = np.exp(twins.leaf_log_weights(arf, condition))
    j = arf.schema_.index(name)
    place = arf.leaves_.missing_of[j]
    if place >= 0 and name not in condition:
        weights = weights * np.exp(arf.leaves_.missing[:, place, 1])
    weights /= weights.sum()
    return lambda values: np.array([weights @ np.exp(twins.log_between(arf, j, -np.inf, x)) for x in values])


CONDITIONS = {
    "nothing": {},
    "a point": {"age": 35},
    "an interval": {"age": (40, None), "owner": True},
    "a level": {"color": "red"},
    "levels": {"color": ["blue", "white"], "grade": ["mid", "top"]},
    "missing": {"color": MISSING},
}


@pytest.mark.parametrize("name", ["two_sines", "moments", "uniform", "local"])
@pytest.mark.parametrize("condition", [{}, {"x1": (0.5, 1.5)}, {"x1": -1.0}], ids=str)
def test_numbers_follow_the_density(name, condition):
    arf = fitted(name)
    drawn = arf.sample(N, given=condition or None, random_state=1)
    assert kstest(drawn["x2"], distribution(arf, "x2", condition)).pvalue > RARE


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_numbers_of_mixed_data_follow_the_density(condition):
    arf = fitted("mixed")
    drawn = arf.sample(N, given=condition or None, random_state=2)
    # rounding moves a number by half a step at most, so the distribution is compared at edges of grid cells
    for name, half in (("price", 0.005), ("weight", 0.0)):
        values = drawn[name].dropna().to_numpy(float)
        of = distribution(arf, name, condition)
        points = np.quantile(values, np.linspace(0.05, 0.95, 10), method="lower") + half
        cells = np.diff(np.r_[0.0, of(points), 1.0])
        counts = np.histogram(values, np.r_[-np.inf, points, np.inf])[0]
        kept = cells > 1e-12
        assert chisquare(counts[kept], len(values) * cells[kept] / cells[kept].sum()).pvalue > RARE


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_levels_and_missing_cells_follow_the_density(condition):
    arf = fitted("mixed")
    drawn = arf.sample(N, given=condition or None, random_state=3)
    log_total = twins.log_probability(arf, condition)
    for name, levels in LEVELS.items():
        if name in condition:
            continue
        blank = [] if name == "owner" else [MISSING]
        cells = [*levels, *blank]
        expected = np.exp([twins.log_probability(arf, condition | {name: cell}) - log_total for cell in cells])
        assert expected.sum() == pytest.approx(1)
        counts = [(drawn[name].isna() if cell is MISSING else drawn[name] == cell).sum() for cell in cells]
        enough = expected * N > 3
        assert (
            chisquare(
                np.r_[np.array(counts)[enough], sum(np.array(counts)[~enough]) + 1e-9],
                np.r_[expected[enough], expected[~enough].sum() + 1e-9]
                * (sum(counts) + 1e-9)
                / (expected.sum() + 1e-9),
            ).pvalue
            > RARE
        )
    for name in ("price", "age"):
        if name in condition:
            continue
        share = math.exp(twins.log_probability(arf, condition | {name: MISSING}) - log_total)
        error = math.sqrt(share * (1 - share) / N)
        assert abs(drawn[name].isna().mean() - share) < 4 * error  # 6e-5 by chance


def test_alternatives_are_drawn_by_their_probability():
    arf = fitted("mixed")
    values = [25, 35, 60]
    drawn = arf.sample(N, given={"age": values}, random_state=4)["age"]
    expected = np.exp([twins.log_probability(arf, {"age": value}) for value in values])
    assert chisquare([(drawn == value).sum() for value in values], N * expected / expected.sum()).pvalue > RARE
    parts = [(-6.0, -5.0), (0.0, 0.3), (4.0, 6.0)]
    drawn = arf.sample(N, given={"weight": parts}, random_state=5)["weight"]
    expected = np.exp([twins.log_probability(arf, {"weight": part}) for part in parts])
    assert chisquare([drawn.between(*part).sum() for part in parts], N * expected / expected.sum()).pvalue > RARE
    drawn = arf.sample(N, given={"color": ["red", "white"]}, random_state=6)["color"]
    expected = np.exp([twins.log_probability(arf, {"color": level}) for level in ("red", "white")])
    assert (
        chisquare([(drawn == level).sum() for level in ("red", "white")], N * expected / expected.sum()).pvalue > RARE
    )


def test_columns_are_dependent_as_in_the_density():
    """Joint draws: P(weight in a cell, owner) by the twin, χ² over 8 cells."""
    arf = fitted("mixed")
    drawn = arf.sample(N, random_state=7)
    edges = [None, -6.0, -3.0, 4.0, None]
    cells = [(low, high, owner) for low, high in pairwise(edges) for owner in (True, False)]
    counts, expected = [], []
    for low, high, owner in cells:
        inside = drawn["weight"].between(-np.inf if low is None else low, np.inf if high is None else high)
        counts.append((inside & (drawn["owner"] == owner)).sum())
        expected.append(math.exp(twins.log_probability(arf, {"weight": (low, high), "owner": owner})))
    assert chisquare(counts, N * np.array(expected) / sum(expected)).pvalue > RARE


# What was asked for


def test_fixed_values_come_back_bit_identical():
    arf = fitted("mixed")
    given = {"price": 0.123456, "weight": 0.1 + 0.2, "age": 33, "color": "green", "grade": "top", "owner": False}
    for name, value in given.items():
        drawn = arf.sample(5, given={name: value}, random_state=1)[name]
        assert list(drawn) == [value] * 5
    drawn = arf.sample(3, given=given, random_state=1)
    assert drawn.to_dict("records") == [given] * 3


def test_fixed_values_of_narrow_types():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "half": np.round(rng.normal(size=100), 1).astype("float32"),
            "full": rng.normal(size=100).astype("float32"),
            "byte": rng.integers(0, 200, 100).astype("uint8"),
            "text": rng.choice(["a", "b"], 100),
            "flag": rng.random(100) < 0.5,
        }
    )
    arf = fit(X)
    given = pd.DataFrame({"half": np.float32([0.123456]), "full": np.float32([1 / 3]), "byte": np.uint8([7])})
    drawn = arf.sample(4, given=given, random_state=1)
    assert [str(dtype) for dtype in drawn.dtypes] == [str(dtype) for dtype in X.dtypes]
    assert (drawn["half"] == np.float32(0.123456)).all()
    assert (drawn["full"] == np.float32(1 / 3)).all()
    assert (drawn["byte"] == 7).all()
    drawn = arf.sample(4, given={"flag": True, "text": "b", "byte": 200}, random_state=1)
    assert drawn["flag"].all()
    assert (drawn["text"] == "b").all()
    assert (drawn["byte"] == 200).all()


@pytest.mark.parametrize(
    ("low", "high"),
    [(2.0, 3.0), (2.001, 2.009), (2.004, 2.0051), (1.5, None), (None, 0.75), (7.0, 7.0), (0.07, 0.075), (0.285, 0.29)],
)
def test_numbers_lie_inside_their_interval_after_rounding(low, high):
    arf = fitted("mixed")
    drawn = arf.sample(300, given={"price": (low, high)}, random_state=1)["price"].to_numpy()
    assert not np.isnan(drawn).any()
    assert (drawn >= (-np.inf if low is None else low)).all()
    assert (drawn <= (np.inf if high is None else high)).all()
    if (low, high) not in ((2.001, 2.009), (2.004, 2.0051)):  # these hold no grid point
        # also where 0.07 × 100 and 0.29 × 100 are not whole
        np.testing.assert_array_equal(drawn, np.rint(drawn * 100) / 100)


def test_numbers_lie_inside_lists_of_intervals():
    arf = fitted("mixed")
    parts = [(1.0, 1.25), (2.001, 2.009), (5.0, 5.5), (30.0, None)]
    drawn = arf.sample(500, given={"price": parts}, random_state=1)["price"]
    assert sum(drawn.between(low, np.inf if high is None else high) for low, high in parts).eq(1).all()
    integers = arf.sample(500, given={"age": [(20, 22), (30.5, 33.2)]}, random_state=1)["age"]
    assert set(integers) == {20, 21, 22, 31, 32, 33}


@given(st.floats(-1000, 1000), st.floats(0, 3), st.integers(0, 4), st.floats(0, 1))
def test_rounding_never_leaves_the_interval(low, width, decimals, share):
    high = low + width
    assume(low < high)
    x = min(max(low + share * width, low), high)
    step = 1 / 10**decimals
    rounded = round_inside(x, low, high, step)
    assert low <= rounded <= high
    grid = np.arange(math.floor(low * 10**decimals) - 1, math.ceil(low * 10**decimals) + 3) / 10**decimals
    inside = grid[(grid >= low) & (grid <= high)]
    if len(inside):
        assert rounded == np.rint(rounded * 10**decimals) / 10**decimals
        assert abs(rounded - x) <= step * (1 + 1e-9)


def test_sampled_values_are_on_the_grid_of_the_column():
    drawn = fitted("complete").sample(500, random_state=1)
    np.testing.assert_array_equal(drawn["price"], np.rint(drawn["price"] * 100) / 100)
    assert drawn["age"].dtype == mixed(missing=False)["age"].dtype
    assert (drawn["weight"] != drawn["weight"].round(6)).mean() > 0.99


# Several conditions


def test_conditions_are_drawn_in_order():
    arf = fitted("mixed")
    dicts = [{"owner": True, "age": 30}, {"color": "red"}, {"weight": (5.0, 6.0)}]
    drawn = arf.sample(20, given=dicts, random_state=1)
    assert len(drawn) == 60
    assert drawn["owner"][:20].all()
    assert (drawn["age"][:20] == 30).all()
    assert (drawn["color"][20:40] == "red").all()
    assert drawn["weight"][40:].between(5, 6).all()
    assert drawn["color"][:20].nunique() > 1


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas], ids=["pd", "pl", "pa"])
def test_empty_cells_of_a_frame_are_free(convert):
    arf = fitted("mixed")
    frame = pd.DataFrame({"price": [4.25, None, 1.5], "color": ["red", "blue", None]})
    drawn = arf.sample(20, given=convert(frame), random_state=1)
    assert isinstance(drawn, pd.DataFrame)  # like the training frame, not like the condition
    assert len(drawn) == 60
    assert (drawn["price"][:20] == 4.25).all()
    assert (drawn["color"][:20] == "red").all()
    assert (drawn["color"][20:40] == "blue").all()
    assert drawn["price"][20:40].nunique() > 10
    assert (drawn["price"][40:] == 1.5).all()
    assert drawn["color"][40:].nunique(dropna=False) > 1


def test_missing_cells_on_request():
    drawn = fitted("mixed").sample(30, given={"age": MISSING, "color": MISSING}, random_state=1)
    assert drawn["age"].isna().all()
    assert drawn["color"].isna().all()


def test_a_condition_on_a_value_rules_missing_out():
    arf = fitted("mixed")
    given = {"price": (0, 1000), "age": (0, 200), "color": LEVELS["color"], "grade": ("low", None)}
    assert not arf.sample(500, given=given, random_state=1).isna().any(axis=None)


# Seeds and types


def test_random_state():
    arf = fitted("mixed")
    one, same = arf.sample(50, random_state=3), arf.sample(50, random_state=3)
    pd.testing.assert_frame_equal(one, same)
    assert not one.equals(arf.sample(50, random_state=4))
    rng = np.random.default_rng(3)
    pd.testing.assert_frame_equal(one, arf.sample(50, random_state=rng))
    assert not one.equals(arf.sample(50, random_state=rng))  # the generator has moved on
    pd.testing.assert_frame_equal(arf.sample(5), arf.sample(5))  # the estimator's own seed
    assert not fit(two_sines(), random_state=None).sample(5).equals(fit(two_sines(), random_state=None).sample(5))


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_draws_do_not_depend_on_threads(n_jobs):
    one, many = fitted("two_sines"), fit(two_sines(), n_jobs=n_jobs)
    pd.testing.assert_frame_equal(one.sample(40_000, random_state=1), many.sample(40_000, random_state=1))


def test_frames_like_the_training_frame():
    X = mixed()
    expected = fitted("mixed").sample(30, random_state=1)
    assert [str(dtype) for dtype in expected.dtypes] == [str(dtype) for dtype in X.dtypes]
    assert list(expected.columns) == list(X.columns)
    plain = X.assign(grade=X["grade"].astype(object))
    as_polars = pl.from_pandas(plain)
    drawn = fit(as_polars).sample(30, random_state=1)
    assert isinstance(drawn, pl.DataFrame)
    assert drawn.schema == as_polars.schema
    as_arrow = pa.Table.from_pandas(plain, preserve_index=False)
    drawn = fit(as_arrow).sample(30, random_state=1)
    assert isinstance(drawn, pa.Table)
    assert drawn.schema.types == as_arrow.schema.types
    for dtype in (np.float64, np.float32, np.int64):
        array = np.random.default_rng(0).integers(0, 50, (60, 2)).astype(dtype)
        drawn = fit(array).sample(30, random_state=1)
        assert isinstance(drawn, np.ndarray)
        assert drawn.dtype == dtype
        assert drawn.shape == (30, 2)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_narrow_floats_stay_inside_their_interval(dtype):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=300).astype(dtype), "y": rng.normal(size=300)})
    arf = AdversarialRandomForest(n_estimators=5, random_state=1).fit(X)
    width = float(np.finfo(dtype).eps)
    low, high = 0.3 + 0.3 * width, 0.3 + 5.3 * width  # a few floats wide, with ends that are none
    rows = arf.sample(500, given=[{"x": [(low, high), (1.0, 1.1)]}, {}], random_state=1)["x"]
    assert rows.dtype == dtype
    drawn = rows.head(500).to_numpy().astype(float)
    assert (((drawn >= low) & (drawn <= high)) | ((drawn >= 1.0) & (drawn <= 1.1))).all()


def test_the_same_rows_for_every_library():
    X = mixed().assign(grade=mixed()["grade"].astype(object))
    one = fit(X).sample(40, random_state=1)
    other = fit(pl.from_pandas(X)).sample(40, random_state=1).to_pandas()
    for name in ("price", "weight"):
        np.testing.assert_array_equal(one[name], other[name])
    assert one["color"].fillna("").tolist() == other["color"].fillna("").tolist()


@pytest.mark.parametrize("n_samples", [0, -1, 2.5, "3", True, None])
def test_number_of_samples(n_samples):
    with pytest.raises(ParameterError, match="n_samples must be an integer from 1"):
        fitted("two_sines").sample(n_samples)
