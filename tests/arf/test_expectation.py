"""Expectations against a twin and against draws; imputation."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import truncnorm

from countarfactuals import MISSING
from countarfactuals.exceptions import DataError, ParameterError

from . import twins
from .twins import LEVELS, fit, fitted, mixed

CONDITIONS = {
    "nothing": {},
    "a point": {"age": 35},
    "an interval": {"age": (40, None), "owner": True},
    "its own interval": {"price": (2.0, 4.0)},
    "its own intervals": {"price": [(1.0, 2.0), (9.0, None)], "weight": [(-6.0, 1.0)]},
    "its own points": {"price": [2.5, 7.5, 20.0]},
    "levels": {"color": ["blue", "white"]},
    "missing": {"color": MISSING},
}


def twin_mean(arf, name: str, condition: dict) -> float:
    """Σ weight · mean of the leaf's (truncated) distribution, by SciPy."""
    said = condition.get(name)
    rest = {key: value for key, value in condition.items() if key != name}
    j = arf.schema_.index(name)
    leaves, q = arf.leaves_, arf.leaves_.number_of[j]
    low, high, mu, sigma = leaves.low[:, q], leaves.high[:, q], leaves.mu[:, q], leaves.sigma[:, q]
    total = mass = 0.0
    for part in said if isinstance(said, list) else [said if said is not None else (None, None)]:
        weight = np.exp(twins.leaf_log_weights(arf, rest | {name: part}))
        if isinstance(part, tuple):
            a = np.maximum(low, -np.inf if part[0] is None else part[0])
            b = np.minimum(high, np.inf if part[1] is None else part[1])
            mean = np.zeros(len(mu))
            for leaf in np.flatnonzero(weight > 0):
                if np.isinf(sigma[leaf]):
                    mean[leaf] = (a[leaf] + b[leaf]) / 2
                else:
                    ends = (a[leaf] - mu[leaf]) / sigma[leaf], (b[leaf] - mu[leaf]) / sigma[leaf]
                    mean[leaf] = truncnorm.mean(*ends, mu[leaf], sigma[leaf])
        else:
            mean = part
        total += (weight * mean).sum()
        mass += weight.sum()
    return total / mass


@pytest.mark.parametrize("name", ["mixed", "mixed_uniform", "complete"])
@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_means_against_the_twin(name, condition):
    if name == "complete" and MISSING in condition.values():
        return
    arf = fitted(name)
    found = arf.expect(columns=["price", "weight"], given=condition or None)
    for column in ("price", "weight"):
        assert found[column][0] == pytest.approx(twin_mean(arf, column, condition), rel=1e-6)


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_level_probabilities_against_the_twin(condition):
    arf = fitted("mixed")
    for name, levels in LEVELS.items():
        if condition.get(name) is MISSING:
            assert arf.expect(columns=[name], given=condition).isna().all(axis=None)
            continue
        asked = condition.get(name, levels)
        asked = asked if isinstance(asked, list) else [asked]
        rest = {key: value for key, value in condition.items() if key != name}
        p = np.exp([twins.log_probability(arf, rest | {name: level}) for level in levels])
        p = np.where([level in asked for level in levels], p, 0)
        found = arf.expect(columns=[name], given=condition or None)
        assert list(found.columns) == [f"{name}={level}" for level in levels]
        np.testing.assert_allclose(found.to_numpy()[0], p / p.sum(), rtol=1e-8)


def test_expectations_against_draws():
    """4,000 seeded draws: a mean may be off by 4.5 standard errors, 7e-6 by chance each."""
    arf = fitted("mixed")
    for condition in CONDITIONS.values():
        drawn = arf.sample(4000, given=condition or None, random_state=1)
        expected = arf.expect(columns=["price", "weight", "grade"], given=condition or None)
        for name in ("price", "weight"):
            values = drawn[name].dropna().to_numpy(float)
            assert abs(values.mean() - expected[name][0]) < 4.5 * values.std() / math.sqrt(len(values)) + 1e-9
        grades = drawn["grade"].dropna()
        for level in LEVELS["grade"]:
            p = expected[f"grade={level}"][0]
            assert abs((grades == level).mean() - p) < 4.5 * math.sqrt(p * (1 - p) / len(grades)) + 1e-9


def test_one_row_per_condition():
    arf = fitted("mixed")
    given = [{"age": 30}, {"color": "red", "weight": (0.0, 1.0)}, {"price": 3.0}]
    found = arf.expect(columns=["price", "color"], given=given)
    assert len(found) == 3
    assert found["price"][2] == 3.0
    assert found.loc[1, "color=red"] == 1.0
    for i in range(3):
        np.testing.assert_array_equal(found.iloc[i], arf.expect(columns=["price", "color"], given=given[i]).iloc[0])
    single = arf.expect(columns="price", given=given)
    np.testing.assert_array_equal(single["price"], found["price"])


def test_columns_by_default_are_those_not_fixed():
    arf = fitted("mixed")
    found = arf.expect(given={"age": 30, "color": "red"})
    assert list(found.columns)[:2] == ["price", "weight"]
    assert not any(name.startswith(("age", "color")) for name in found.columns)
    assert "weight" in arf.expect(given={"weight": (0.0, 1.0)}).columns
    assert "color=red" in arf.expect(given={"color": ["red", "blue"]}).columns


def test_unknown_columns():
    with pytest.raises(DataError, match=r"no column 'prise'.*Did you mean 'price'"):
        fitted("mixed").expect(columns=["prise"])


# Imputation


def holes() -> pd.DataFrame:
    X = mixed().head(80).copy()
    X.loc[X.index % 4 == 0, "weight"] = np.nan  # training had none missing here
    X["owner"] = X["owner"].astype("boolean").mask(X.index % 5 == 0)
    return X


@pytest.mark.parametrize("method", ["sample", "expected"])
def test_observed_cells_stay_and_no_hole_is_left(method):
    X = holes()
    filled = fitted("mixed").impute(X, method=method, random_state=1)
    assert not filled.isna().any(axis=None)
    assert list(filled.columns) == list(X.columns)
    for name in X.columns:
        observed = X[name].notna().to_numpy()
        assert list(filled[name].to_numpy()[observed]) == list(X[name].to_numpy()[observed])
    np.testing.assert_array_equal(filled["price"], np.rint(filled["price"] * 100) / 100)
    assert set(filled["color"]) <= set(LEVELS["color"])
    assert (filled["age"] % 1 == 0).all()


def test_imputations_differ():
    X = holes()
    filled = fitted("mixed").impute(X, 5, random_state=1)
    assert len(filled) == 5
    blank = X["weight"].isna().to_numpy()
    cells = np.stack([one["weight"][blank] for one in filled])
    assert (cells.std(axis=0) > 0).all()
    assert all(one["weight"][~blank].equals(filled[0]["weight"][~blank]) for one in filled)
    again = fitted("mixed").impute(X, 5, random_state=1)
    for one, other in zip(filled, again, strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_expected_values_are_means_and_likeliest_levels():
    arf, X = fitted("mixed"), holes()
    filled = arf.impute(X, method="expected")
    given_present = {"price": (None, None)}
    for i in np.flatnonzero(X["price"].isna() & X["color"].notna())[:5]:
        row = {name: value for name, value in X.iloc[i].items() if not pd.isna(value)}
        other = {name: (None, None) for name in ("age", "weight") if name not in row}
        other |= {name: LEVELS[name] for name in LEVELS if name not in row}
        mean = arf.expect(columns=["price"], given=row | other | given_present)["price"][0]
        assert filled["price"].iloc[i] == pytest.approx(mean, abs=0.0051)
    for i in np.flatnonzero(X["color"].isna())[:5]:
        row = {name: value for name, value in X.iloc[i].items() if not pd.isna(value)}
        other = {name: (None, None) for name in ("age", "weight", "price") if name not in row}
        other |= {name: LEVELS[name] for name in LEVELS if name not in row}
        shares = arf.expect(columns=["color"], given=row | other).iloc[0]
        assert f"color={filled['color'].iloc[i]}" == shares.idxmax()


def test_drawn_cells_follow_the_rest_of_the_row():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    X = pd.DataFrame({"x": x, "y": x + 0.1 * rng.normal(size=400)})
    arf = fit(X, n_estimators=20, min_samples_leaf=10, max_iter=4)
    asked = pd.DataFrame({"x": [-1.0, 1.0], "y": [np.nan, np.nan]})
    expected = arf.impute(asked, method="expected")["y"]
    assert expected[0] == pytest.approx(-1, abs=0.4)
    assert expected[1] == pytest.approx(1, abs=0.4)


def test_rows_without_holes_and_other_libraries():
    X = mixed(missing=False).head(10)
    pd.testing.assert_frame_equal(fitted("complete").impute(X), X)
    frame = pl.DataFrame({"x": [1.5, 2.5, None, 4.0] * 20, "c": ["a", None, "b", "b"] * 20})
    filled = fit(frame).impute(frame, random_state=1)
    assert isinstance(filled, pl.DataFrame)
    assert filled.null_count().sum_horizontal()[0] == 0


def test_the_index_of_a_pandas_frame_is_kept():
    X = mixed().tail(10)
    assert list(fitted("mixed").impute(X).index) == list(X.index)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"n_imputations": 0}, "n_imputations must be an integer from 1"), ({"method": "mean"}, "method must be one of")],
)
def test_wrong_parameters(options, words):
    with pytest.raises(ParameterError, match=words):
        fitted("mixed").impute(mixed().head(3), **options)


def test_columns_that_lack_are_named():
    with pytest.raises(DataError, match=r"lacks.*'price'"):
        fitted("mixed").impute(mixed().head(3).drop(columns="price"))
