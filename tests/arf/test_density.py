"""Densities: integrals are one, marginals are integrals, conditions are quotients, and all agree with slow twins."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from countarfactuals import MISSING
from countarfactuals.arf.evidence import Evidence
from countarfactuals.arf.tree_walk import tree_log_weights

from . import twins
from .twins import LEVELS, NUMBERS, fit, fitted, mixed, pieces_of, quadrature, two_sines

FAMILIES = pytest.mark.parametrize("name", ["two_sines", "moments", "uniform", "local", "global"])
MIXED = pytest.mark.parametrize("name", ["complete", "mixed", "mixed_moments", "mixed_uniform"])


def integral(arf, name: str, given=None, low: float = -np.inf, high: float = np.inf, **fixed) -> float:
    """∫ p(name, fixed | given) over a number, between low and high."""
    points = pieces_of(arf, name)
    ends = [end for end in (low, high) if np.isfinite(end)]
    points = np.unique(np.concatenate([points, ends]))
    nodes, weights = quadrature(points[(points >= low) & (points <= high)])
    frame = pd.DataFrame({name: nodes, **{key: [value] * len(nodes) for key, value in fixed.items()}})
    return float(weights @ np.exp(arf.score_samples(frame, given=given)))


# Integrals


@FAMILIES
@pytest.mark.parametrize("column", ["x1", "x2"])
def test_marginal_of_a_number_integrates_to_one(name, column):
    assert integral(fitted(name), column) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    "options",
    [{}, {"leaf_fit": "moments"}, {"family": "uniform"}, {"finite_bounds": "local"}, {"finite_bounds": "global"}],
    ids=str,
)
def test_joint_of_two_numbers_integrates_to_one(options):
    arf = fit(two_sines(), n_estimators=2, min_samples_leaf=50, **options)
    assert arf.forest_.n_leaves > 5
    (x, wx), (y, wy) = (quadrature(pieces_of(arf, column)) for column in arf.schema_.names)
    total = 0.0
    for some in np.array_split(np.arange(len(x)), 10):
        frame = pd.DataFrame({"x1": np.repeat(x[some], len(y)), "x2": np.tile(y, len(some))})
        total += wx[some] @ np.exp(arf.score_samples(frame)).reshape(len(some), len(y)) @ wy
    assert total == pytest.approx(1, abs=1e-6)


@FAMILIES
def test_marginal_is_the_integral_of_the_joint(name):
    arf = fitted(name)
    for value in (-2.0, 0.3, 4.0):
        marginal = np.exp(arf.score_samples(pd.DataFrame({"x2": [value]})))[0]
        assert integral(arf, "x1", x2=value) == pytest.approx(marginal, rel=1e-5, abs=1e-9)


@MIXED
def test_marginals_of_mixed_data_sum_to_one(name):
    arf = fitted(name)
    for column in NUMBERS:
        missing = 0.0
        if arf.leaves_.missing_of[arf.schema_.index(column)] >= 0:
            missing = np.exp(arf.log_probability({column: MISSING}))
            assert missing > 0.01
        assert integral(arf, column) + missing == pytest.approx(1, abs=1e-6)
    for column, levels in LEVELS.items():
        cells = [{column: level} for level in levels]
        if arf.leaves_.missing_of[arf.schema_.index(column)] >= 0:
            cells.append({column: MISSING})
        assert np.exp(arf.log_probability(cells)).sum() == pytest.approx(1, abs=1e-9)


@MIXED
def test_joint_of_levels_and_a_number_sums_to_one(name):
    """Σ over levels (and missing) of two categories of the integral over a number, missing included."""
    arf = fitted(name)
    blank = name != "complete"
    total = 0.0
    for color, owner in product([*LEVELS["color"], *([None] if blank else [])], LEVELS["owner"]):
        total += integral(arf, "price", color=color, owner=owner)
        if blank:
            frame = pd.DataFrame({"price": [np.nan], "color": [color], "owner": [owner]})
            total += np.exp(arf.score_samples(frame))[0]
    assert total == pytest.approx(1, abs=1e-6)


CONDITIONS = {
    "nothing": {},
    "an interval": {"weight": (-4.0, 3.0)},
    "an open interval": {"age": (40, None)},
    "several intervals": {"weight": [(-7.0, -6.5), (0.0, 0.5), (5.5, None)]},
    "a point": {"age": 35},
    "several points": {"age": [25, 35, 60]},
    "a level": {"color": "red"},
    "levels": {"color": ["red", "white"], "owner": True},
    "a range of levels": {"grade": ("mid", None)},
    "all kinds": {"weight": (None, 2.0), "color": ["blue", "green"], "age": 28},
}
WITH_MISSING = {
    "missing number": {"age": MISSING},
    "missing level": {"color": MISSING},
    "missing and more": {"color": MISSING, "grade": MISSING, "weight": (-6.0, 6.0)},
}


@pytest.mark.parametrize("condition", [*CONDITIONS.values(), *WITH_MISSING.values()], ids=[*CONDITIONS, *WITH_MISSING])
def test_conditional_densities_integrate_to_one(condition):
    arf = fitted("mixed")
    price = integral(arf, "price", given=condition or None)
    missing = np.exp(arf.log_probability(condition | {"price": MISSING}) - arf.log_probability(condition))
    assert price + missing == pytest.approx(1, abs=1e-6)


def test_integral_of_the_conditioned_number_itself():
    arf = fitted("mixed")
    inside = {"weight": [(-6.0, -5.0), (4.0, 6.0)], "color": ["red", "blue"]}
    parts = [integral(arf, "weight", given=inside, low=low, high=high) for low, high in ((-6, -5), (4, 6))]
    assert sum(parts) == pytest.approx(1, abs=1e-6)
    assert integral(arf, "weight", given=inside, low=-4.9, high=3.9) == 0.0


def test_interval_probability_is_an_integral():
    for name, column, low, high in (
        ("two_sines", "x1", 0.1, 1.7),
        ("uniform", "x2", -0.5, 0.25),
        ("mixed", "price", 3.0, 7.123),
        ("mixed", "weight", -20.0, -4.5),
    ):
        arf = fitted(name)
        probability = np.exp(arf.log_probability({column: (low, high)}))
        assert integral(arf, column, low=low, high=high) == pytest.approx(probability, rel=1e-6)


def test_interval_of_integers_counts_the_integers_in_it():
    arf = fitted("mixed")
    whole = np.exp(arf.log_probability({"age": (25, 31)}))
    assert integral(arf, "age", low=24.5, high=31.5) == pytest.approx(whole, rel=1e-6)
    single = np.exp(arf.log_probability([{"age": (k, k)} for k in range(25, 32)]))
    assert single.sum() == pytest.approx(whole, rel=1e-9)
    assert np.exp(arf.log_probability({"age": (24.2, 31.9)})) == pytest.approx(whole, rel=1e-12)


# Quotients


def test_the_mixture_is_the_mean_over_trees():
    arf = fitted("mixed")
    rows = Evidence.points(arf.schema_.encode(mixed()), arf.leaves_.missing_of >= 0)
    trees = tree_log_weights(arf.forest_, arf.leaves_, rows) + np.log(arf.forest_.n_trees)
    assert trees.shape == (arf.forest_.n_trees, len(mixed()))
    np.testing.assert_allclose(logsumexp(trees, axis=0) - np.log(arf.forest_.n_trees), arf.score_samples(mixed()))


def test_chain_rule_for_points():
    for name, X in (("two_sines", two_sines()), ("complete", mixed(missing=False)), ("mixed", mixed())):
        arf, rows = fitted(name), X.head(60)
        joint = arf.score_samples(rows)
        for a in (X.columns[:1], X.columns[1:]):
            b = X.columns.difference(a, sort=False)
            complete = rows[b].notna().all(axis=1)  # an empty cell of `given` is free
            given = rows.loc[complete, b]
            conditional = arf.score_samples(rows.loc[complete, a], given=given)
            log_b = arf.score_samples(given)
            np.testing.assert_allclose(conditional + log_b, joint[complete], atol=1e-9)
            # the columns of the condition may be repeated in the row
            repeated = arf.score_samples(rows.loc[complete], given=given)
            np.testing.assert_allclose(repeated, conditional, atol=1e-9)


@pytest.mark.parametrize("name", ["complete", "mixed", "mixed_uniform"])
def test_chain_rule_for_events(name):
    arf, rows = fitted(name), mixed(missing=name != "complete").head(80)
    joint = arf.score_samples(rows)
    event = {"weight": [(-6.0, -3.0), (2.0, None)], "color": ["blue", "red"], "age": (20, 45)}
    weight, age = rows["weight"], rows["age"].astype(float)
    inside = weight.between(-6, -3) | (weight >= 2)
    inside &= rows["color"].isin(["blue", "red"]) & age.between(20, 45)
    conditional = arf.score_samples(rows, given=event)
    expected = np.where(inside, joint - arf.log_probability(event), -np.inf)
    assert 5 < inside.sum() < 75
    np.testing.assert_allclose(conditional, expected, atol=1e-9)


def test_other_rows_than_the_condition_have_density_zero():
    arf, rows = fitted("mixed"), mixed().head(80)
    for condition, inside in (
        ({"age": MISSING}, rows["age"].isna()),
        ({"color": MISSING}, rows["color"].isna()),
        ({"owner": True}, rows["owner"]),
        ({"age": [20, 30, 31]}, rows["age"].isin([20, 30, 31])),
        ({"grade": ("low", "mid")}, rows["grade"].isin(["low", "mid"])),
    ):
        inside = inside.to_numpy(bool)
        assert 0 < inside.sum() < 80
        np.testing.assert_array_equal(arf.score_samples(rows, given=condition) > -np.inf, inside)


def test_one_condition_for_each_row():
    arf, rows = fitted("mixed"), mixed().head(3)
    conditions = [{"weight": (-10, 10)}, {"owner": [True, False]}, {"age": (None, None)}]
    single = [arf.score_samples(rows.iloc[[i]], given=conditions[i])[0] for i in range(3)]
    np.testing.assert_array_equal(arf.score_samples(rows, given=conditions), single)


# Twins


@pytest.mark.parametrize("name", ["complete", "mixed", "mixed_moments", "mixed_uniform"])
def test_rows_against_the_twin(name):
    arf, X = fitted(name), mixed(missing=name != "complete").head(25)
    expected = []
    for row in X.to_dict("records"):
        condition = {key: MISSING if pd.isna(value) else value for key, value in row.items()}
        expected.append(twins.log_probability(arf, condition))
    np.testing.assert_allclose(arf.score_samples(X), expected, atol=1e-9)


@st.composite
def conditions(draw, blank: bool):
    """What `given` may say, in the words of both the estimator and the twin."""
    said = {}
    for name, (low, high) in NUMBERS.items():
        value = st.integers(low, high) if name == "age" else st.floats(low, high).map(lambda x: round(x, 3))
        interval = (
            st.tuples(value, value).map(lambda ends: (min(ends), max(ends) + 1))
            | st.tuples(st.none(), value).map(tuple)
            | st.tuples(value, st.none())
        )
        apart = value.map(lambda x: [(None, x), (x + 2, x + 3), (x + 5, None)])
        kinds = [st.none(), value, interval, apart, st.lists(value, min_size=1, max_size=4, unique=True)]
        said[name] = draw(st.one_of(*kinds, *([st.just(MISSING)] if blank and name != "weight" else [])))
    for name, levels in LEVELS.items():
        some = st.lists(st.sampled_from(levels), min_size=1, max_size=3, unique=True)
        kinds = [st.none(), st.sampled_from(levels), some]
        said[name] = draw(st.one_of(*kinds, *([st.just(MISSING)] if blank and name != "owner" else [])))
    return {name: condition for name, condition in said.items() if condition is not None}


@pytest.mark.parametrize("name", ["complete", "mixed", "mixed_moments", "mixed_uniform"])
@given(data=st.data())
def test_random_evidence_against_the_twin(name, data):
    arf = fitted(name)
    condition = data.draw(conditions(blank=name != "complete"))
    expected = twins.log_probability(arf, condition)
    assert arf.log_probability(condition) == pytest.approx(expected, abs=1e-8, rel=1e-9)


# Finite by default


@given(data=st.data())
@pytest.mark.parametrize("name", ["complete", "mixed", "mixed_moments"])
def test_density_is_finite_inside_the_data(name, data):
    arf, X = fitted(name), mixed(missing=name != "complete")
    row = {}
    for column in X.columns:
        if column in LEVELS:
            row[column] = data.draw(st.sampled_from(LEVELS[column]))
        else:
            low, high = float(X[column].min()), float(X[column].max())
            row[column] = data.draw(st.integers(int(low), int(high)) if column == "age" else st.floats(low, high))
        if X[column].isna().any() and data.draw(st.booleans()):
            row[column] = None
    assert np.isfinite(arf.score_samples(pd.DataFrame([row]).astype({"owner": bool})))[0]


@given(
    values=st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=30),
    levels=st.lists(st.sampled_from("abc"), min_size=30, max_size=30),
    min_samples_leaf=st.integers(1, 5),
    share=st.floats(0, 1),
)
def test_density_is_finite_whatever_the_data(values, levels, min_samples_leaf, share):
    X = pd.DataFrame({"x": values, "c": levels[: len(values)]})
    arf = fit(X, n_estimators=3, min_samples_leaf=min_samples_leaf)
    between = min(values) + share * (max(values) - min(values))
    between = min(max(between, min(values)), max(values))
    frame = pd.DataFrame({"x": [between] * 3 + values, "c": [*"abc", *levels[: len(values)]]})
    frame = frame[frame["c"].isin(X["c"])]
    assert np.isfinite(arf.score_samples(frame)).all()
    assert np.isfinite(arf.score_samples(frame[["c"]])).all()
    assert np.isfinite(arf.score_samples(frame[["x"]])).all()


def test_extremely_small_numbers():
    """p-values: a leaf of values around 1e-200 must not turn the rest of its room to density 0 or NaN."""
    values = [1e-300, 2e-300, 1e-250, 3e-200, 1e-160, 2e-160, 1e-30, 0.01, 0.4, 0.9]
    X = pd.DataFrame({"p": values * 6, "x": np.linspace(0, 1, 60)})
    arf = fit(X, min_samples_leaf=12)
    between = pd.DataFrame({"p": [0.0, 1e-280, 1e-100, 1e-10, 0.2, 0.5], "x": 0.3})
    assert np.isfinite(arf.score_samples(X)).all()
    assert np.isfinite(arf.score_samples(between.iloc[1:])).all()
    assert np.isfinite(arf.score_samples(between[["x"]])).all()


# Small print


def test_missing_cells_are_summed_out_where_training_had_none():
    arf, rows = fitted("complete"), mixed(missing=False).head(5)
    blank = rows.assign(weight=np.nan, color=None)
    np.testing.assert_array_equal(arf.score_samples(blank), arf.score_samples(rows.drop(columns=["weight", "color"])))


def test_absent_columns_are_summed_out_even_where_training_had_missing_values():
    arf, rows = fitted("mixed"), mixed().head(5)
    marginal = arf.score_samples(rows.drop(columns="color"))
    cells = [arf.score_samples(rows.assign(color=level)) for level in [*LEVELS["color"], None]]
    np.testing.assert_allclose(np.exp(cells).sum(axis=0), np.exp(marginal), rtol=1e-9)
    assert (arf.score_samples(rows.assign(color=None)) < marginal).all()


def test_score_is_the_mean():
    arf, X = fitted("mixed"), mixed()
    assert arf.score(X) == pytest.approx(arf.score_samples(X).mean())


def test_rows_and_threads_do_not_change_a_density():
    X = pd.concat([mixed()] * 3, ignore_index=True)
    arf = fitted("mixed")
    whole = arf.score_samples(X)
    np.testing.assert_array_equal(
        whole, np.concatenate([arf.score_samples(X.iloc[i : i + 1]) for i in range(len(mixed()))] * 3)
    )
    threaded = fit(mixed(), min_samples_leaf=12, n_jobs=2)
    np.testing.assert_array_equal(whole, threaded.score_samples(X))
