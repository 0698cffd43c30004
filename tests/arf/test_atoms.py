"""Numbers with repeated values, grids and hard edges."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest
from countarfactuals.arf.atoms import Values, round_inside
from countarfactuals.arf.dependence import Dependence
from countarfactuals.arf.forest import Layout
from countarfactuals.arf.leaves import first_columns
from countarfactuals.schema import Schema

from .twins import pieces_of, quadrature

PLAIN, STRONG = None, Dependence(1.0, 5.0)
BOTH = pytest.mark.parametrize("dependence", [PLAIN, STRONG])


@cache
def loans(n: int = 800) -> pd.DataFrame:
    """Debts that are mostly none and never negative, terms of 36 and 60 months, amounts in steps of 25, rates."""
    rng = np.random.default_rng(3)
    wealth = rng.normal(size=n)
    return pd.DataFrame(
        {
            "debt": np.where(rng.random(n) < 0.82, 0.0, np.exp(rng.normal(2, 1, n))),
            "term": np.where(wealth + rng.normal(size=n) > 0.5, 60, 36),
            "amount": (25 * np.rint(4 * np.exp(0.5 * wealth + 0.3 * rng.normal(size=n)) + 4) + 5).astype(int),
            "income": wealth + 0.5 * rng.normal(size=n),
            "home": np.where(wealth > 0, "own", "rent"),
        }
    )


@cache
def schema() -> Schema:
    inferred = Schema.infer(loans(), values=None)
    known = {
        "debt": {"atoms": (0.0,), "low": 0.0},
        "term": {"atoms": (36.0, 60.0), "values": (36.0, 60.0)},
        "amount": {"grid": (25.0, 5.0), "low": 105.0},
    }
    columns = tuple(replace(column, **known.get(column.name, {})) for column in inferred.columns)
    return replace(inferred, columns=columns)


@cache
def forest(dependence=PLAIN, **parameters) -> AdversarialRandomForest:
    options = {"n_estimators": 10, "min_samples_leaf": 15, "random_state": 1, "max_iter": 1} | parameters
    arf = AdversarialRandomForest(**options, dependence=dependence, values=None)
    return arf.fit_encoded(schema(), schema().encode(loans()), quiet=True)


# Densities


@BOTH
def test_atoms_and_the_rest_have_probability_one(dependence):
    arf = forest(dependence)
    nodes, weights = quadrature(np.unique(np.concatenate([pieces_of(arf, "debt"), np.geomspace(1e-9, 300, 200)])))
    rest = weights[nodes > 0] @ np.exp(arf.score_samples(pd.DataFrame({"debt": nodes[nodes > 0]})))
    none = np.exp(arf.log_probability({"debt": 0.0}))
    assert none == pytest.approx(0.82, abs=0.03)
    assert none + rest == pytest.approx(1, abs=1e-4)
    assert np.exp(arf.log_probability({"debt": (0, None)})) == pytest.approx(1, abs=1e-6)
    assert np.exp(arf.log_probability({"debt": (0, 5)})) > none


@BOTH
def test_values_of_a_discrete_number_share_all_probability(dependence):
    arf = forest(dependence)
    # a step of 1: the density of a value before rounding is its probability
    total = np.exp(arf.log_probability([{"term": 36}, {"term": 60}])).sum()
    assert total == pytest.approx(1, abs=1e-5)
    assert np.exp(arf.log_probability({"term": 60})) == pytest.approx((loans()["term"] == 60).mean(), abs=0.03)
    assert -40 < arf.log_probability({"term": 48}) < -13  # foreign, and still finite


@BOTH
def test_joint_is_conditional_times_marginal_with_atoms(dependence):
    arf, X = forest(dependence), loans().head(30)
    given = X[["debt", "term"]].to_dict("records")
    conditional = [arf.score_samples(X.iloc[[i]], given=given[i])[0] for i in range(len(X))]
    np.testing.assert_allclose(conditional + arf.score_samples(X[["debt", "term"]]), arf.score_samples(X), atol=1e-9)


def test_a_row_sums_over_the_states_of_its_leaf():
    arf = forest(STRONG)
    for given in ({"income": 0.3}, {"income": 0.3, "debt": (0, 20)}):
        whole = arf.log_probability(given)
        parts = arf.log_probability([given | {"term": term} for term in (36, 60)])
        assert np.exp(parts).sum() == pytest.approx(np.exp(whole), rel=1e-5)


@BOTH
def test_beyond_an_edge_nothing_is_possible(dependence):
    arf = forest(dependence)
    assert arf.log_probability({"debt": -1.0}) == -math.inf
    assert np.isfinite(arf.log_probability({"amount": 105}))
    assert (arf.leaves_.low[:, 0] >= -1e-300).all()


def test_steps_count_in_the_density_of_atoms():
    finer = replace(schema().columns[1], grid=(12.0, 0.0))
    other = replace(schema(), columns=tuple(finer if c.name == "term" else c for c in schema().columns))
    arf = AdversarialRandomForest(n_estimators=10, min_samples_leaf=15, random_state=1, max_iter=1, dependence=None)
    arf.fit_encoded(other, other.encode(loans()), quiet=True)
    share = np.exp(arf.log_probability({"term": 60})) * 12
    assert share == pytest.approx((loans()["term"] == 60).mean(), abs=0.03)


# Draws


@BOTH
@pytest.mark.parametrize("given", [None, {"income": 0.2}, {"income": (-1, 1), "amount": (130, 400)}])
def test_draws_have_values_of_the_columns(dependence, given):
    drawn = forest(dependence).sample(4_000, given=given, random_state=1)
    assert (drawn["debt"] >= 0).all()
    assert set(drawn["term"]) == {36, 60}
    assert ((drawn["amount"] - 5) % 25 == 0).all()
    assert (drawn["amount"] >= 105).all()
    if given is None:
        assert (drawn["debt"] == 0).mean() == pytest.approx((loans()["debt"] == 0).mean(), abs=0.02)
        assert (drawn["term"] == 60).mean() == pytest.approx((loans()["term"] == 60).mean(), abs=0.03)
    elif "amount" in given:
        assert drawn["amount"].between(130, 400).all()


@BOTH
def test_intervals_hold_atoms(dependence):
    arf = forest(dependence)
    drawn = arf.sample(3_000, given={"debt": (0, 3), "term": (40, 70)}, random_state=1)
    assert drawn["debt"].between(0, 3).all()
    assert (drawn["term"] == 60).all()
    shares = np.exp(arf.log_probability([{"debt": 0.0}, {"debt": (0, 3)}]))
    assert (arf.sample(4_000, given={"debt": (0, 3)}, random_state=1)["debt"] == 0).mean() == pytest.approx(
        shares[0] / shares[1], abs=0.02
    )
    assert (arf.sample(2_000, given={"debt": (1, 30)}, random_state=1)["debt"] >= 1).all()


@BOTH
def test_expectations_are_the_means_of_draws(dependence):
    arf = forest(dependence)
    for given in (None, {"income": 0.5}, {"debt": (0, 10)}, {"term": [36, 60], "debt": (2, 50)}):
        expected = arf.expect(["debt", "term", "amount"], given=given).iloc[0]
        drawn = arf.sample(20_000, given=given, random_state=2)
        for name in ("debt", "term", "amount"):
            margin = 0.04 * drawn[name].std() + 0.02 * (name == "debt")
            # the nearest of few values has another mean than what was moved there
            assert expected[name] == pytest.approx(drawn[name].mean(), abs=margin + (name == "amount"))


def test_imputed_means_are_values_of_the_column():
    X = loans().head(50).astype({"amount": float, "term": float})
    filled = forest(STRONG).impute(X.assign(amount=np.nan, term=np.nan, debt=np.nan), method="expected")
    assert ((filled["amount"] - 5) % 25 == 0).all()
    assert set(filled["term"]) <= {36, 60}
    assert (filled["debt"] >= 0).all()


# Leaves


def test_atoms_outside_a_leaf_have_no_probability():
    leaves = forest().leaves_
    place = leaves.atoms_of[1]
    for leaf in range(len(leaves.log_weight)):
        cell = leaf * leaves.rest_logp.shape[1] + place
        part = slice(leaves.level_start[cell], leaves.level_start[cell + 1])
        inside = [t for t, atom in enumerate((36, 60)) if leaves.low[leaf, 1] < atom <= leaves.high[leaf, 1]]
        assert set(leaves.level[part]) <= {*inside, 2}
        unlisted = len(inside) - (len(leaves.level[part]) - 1)
        total = np.exp(leaves.level_logp[part]).sum() + unlisted * np.exp(leaves.rest_logp[leaf, place])
        assert total == pytest.approx(1, abs=1e-9)


def test_first_columns_keep_their_atoms():
    arf = forest(STRONG, never_split=("income", "home"))
    few = first_columns(arf.leaves_, 3)
    assert few.atoms_of.tolist() == [0, 1, -1]
    assert few.copula.correlation.shape[1] == 3
    assert few.rest_logp.shape[1] == 2


@BOTH
def test_files_keep_values(dependence, tmp_path):
    arf = forest(dependence)
    arf.save(tmp_path / "forest")
    loaded = AdversarialRandomForest.load(tmp_path / "forest")
    np.testing.assert_array_equal(loaded.score_samples(loans()), arf.score_samples(loans()))
    pd.testing.assert_frame_equal(loaded.sample(30, random_state=1), arf.sample(30, random_state=1))


def test_schemas_without_values_are_plain():
    layout = Layout.of(Schema.infer(loans(), values=None))
    plain = Values.plain(layout.step)
    for name in Values._fields:
        np.testing.assert_array_equal(getattr(layout.values, name), getattr(plain, name))


@pytest.mark.parametrize(
    ("x", "low", "high", "step", "origin", "expected"),
    [
        (112.0, -math.inf, math.inf, 25.0, 5.0, 105.0),
        (112.0, 106.0, math.inf, 25.0, 5.0, 130.0),
        (112.0, 106.0, 120.0, 25.0, 5.0, 112.0),
        (0.31, -math.inf, math.inf, 0.05, 0.0, 0.3),
        (0.4, -math.inf, math.inf, 0.3, 0.1, 0.4),
        (7.1, -math.inf, math.inf, 2.5, 0.0, 7.5),
    ],
)
def test_rounding_knows_grids(x, low, high, step, origin, expected):
    assert round_inside(x, low, high, step, origin) == pytest.approx(expected, abs=1e-12)
