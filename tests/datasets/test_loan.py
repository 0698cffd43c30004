from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from sklearn.metrics import roc_auc_score

from countarfactuals.datasets import LoanProcess, load_loan
from countarfactuals.datasets.factors import Choice, Quantity
from countarfactuals.datasets.loan import FACTORS, _as_values
from countarfactuals.exceptions import DataError

PROCESS = LoanProcess()
MANY = PROCESS.sample(30_000, random_state=1)
ROWS = _as_values(MANY.drop(columns="y").iloc[:12])
QUANTITIES = [factor for factor in FACTORS if isinstance(factor, Quantity)]
CHOICES = [factor for factor in FACTORS if isinstance(factor, Choice)]


@pytest.mark.parametrize("factor", QUANTITIES, ids=lambda factor: factor.name)
def test_each_quantity_integrates_to_one_over_its_own_units(factor: Quantity) -> None:
    low, high = factor.bounds(ROWS)
    for row, top in enumerate(np.broadcast_to(high, 12)):
        given = {name: values[[row]] for name, values in ROWS.items()}
        edges = np.geomspace(low + factor.shift, top + factor.shift, 30) - factor.shift
        total = sum(
            integrate.fixed_quad(
                lambda x, given=given: np.exp(
                    factor.log_density(x, {k: np.repeat(v, len(x)) for k, v in given.items()})
                ),
                left,
                right,
                n=12,
            )[0]
            for left, right in pairwise(edges)
        )
        assert total == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("factor", QUANTITIES, ids=lambda factor: factor.name)
def test_quantities_are_impossible_outside_their_support(factor: Quantity) -> None:
    low, high = factor.bounds(ROWS)
    step = 10.0**-factor.decimals
    for outside in (low - step, high + step, -1e6):
        assert np.isneginf(factor.log_density(np.broadcast_to(outside, 12), ROWS)).all()


@pytest.mark.parametrize("factor", QUANTITIES, ids=lambda factor: factor.name)
def test_recorded_end_values_lie_half_a_step_inside_the_support(factor: Quantity) -> None:
    low, high = factor.bounds(ROWS)
    inside = 0.499 * 10.0**-factor.decimals
    for end in (factor.lowest - inside, factor.lowest, high - 0.5 * 10.0**-factor.decimals):
        assert np.isfinite(factor.log_density(np.broadcast_to(end, 12), ROWS)).all()
    assert (factor.recorded(np.asarray(low + 1e-3 * inside)) == factor.lowest).all()


@pytest.mark.parametrize("factor", CHOICES, ids=lambda factor: factor.name)
def test_each_choice_sums_to_one(factor: Choice) -> None:
    total = sum(np.exp(factor.log_density(np.full(12, level), ROWS)) for level in range(len(factor.levels)))
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)


def test_density_is_finite_at_every_rounded_row() -> None:
    assert np.isfinite(PROCESS.log_density(MANY)).all()


@pytest.mark.parametrize("factor", QUANTITIES, ids=lambda factor: factor.name)
def test_quantities_follow_their_density(factor: Quantity) -> None:
    """Integrated density at a draw is uniform (KS, false alarm 1e-3 each); the CDF is written out by hand."""
    rows = MANY.drop(columns="y").iloc[:5000]
    given = _as_values(rows)
    x = factor.draw(given, len(rows), np.random.default_rng(2))
    low, high = factor.bounds(given)
    centre = factor.centre(given) if callable(factor.centre) else factor.centre

    def phi(value):
        return stats.norm.cdf((np.log(value + factor.shift) - np.log(centre + factor.shift)) / factor.spread)

    uniform = (phi(x) - phi(low)) / (phi(high) - phi(low))
    assert stats.kstest(uniform, "uniform").pvalue > 1e-3
    slope = (phi(x * (1 + 1e-6)) - phi(x * (1 - 1e-6))) / (2e-6 * x) / (phi(high) - phi(low))
    np.testing.assert_allclose(np.exp(factor.log_density(x, given)), slope, rtol=1e-3)


@pytest.mark.parametrize("factor", CHOICES, ids=lambda factor: factor.name)
def test_choices_follow_their_density(factor: Choice) -> None:
    """Counts within 4 standard errors of the sum of probabilities (false alarm 6e-5 per level)."""
    given = _as_values(MANY.drop(columns="y"))
    for level in range(len(factor.levels)):
        chance = np.exp(factor.log_density(np.full(len(MANY), level), given))
        drawn = (given[factor.name] == level).sum()
        assert abs(drawn - chance.sum()) < 4 * np.sqrt((chance * (1 - chance)).sum())


def test_children_see_recorded_parents() -> None:
    """Between two recorded ages only the factor of age itself moves."""
    row = MANY.drop(columns="y").iloc[[0]].astype({"age": float})
    moved = row.assign(age=row["age"] + 0.3)
    age = FACTORS[0]
    expected = age.log_density(moved["age"].to_numpy(), {}) - age.log_density(row["age"].to_numpy(), {})
    np.testing.assert_allclose(PROCESS.log_density(moved) - PROCESS.log_density(row), expected, rtol=1e-9)


def test_outcome_is_noisy_and_mostly_good() -> None:
    chance = PROCESS.probability_good(MANY)
    good = MANY["y"] == "good"
    assert 0.6 < chance.mean() < 0.7
    assert abs(good.mean() - chance.mean()) < 4 * np.sqrt((chance * (1 - chance)).mean() / len(MANY))
    assert 0.78 < roc_auc_score(good, chance) < 0.86


def test_load_loan_columns() -> None:
    loan = load_loan()
    assert (loan.name, loan.X.shape, len(loan.y)) == ("loan", (2000, 9), 2000)
    assert {name: str(dtype) for name, dtype in loan.X.dtypes.items()} == {
        "age": "int64",
        "education": "category",
        "employment_years": "float64",
        "income": "float64",
        "housing": "category",
        "savings": "float64",
        "purpose": "category",
        "amount": "int64",
        "duration": "int64",
    }
    assert loan.X["education"].cat.ordered
    assert not loan.X["housing"].cat.ordered
    assert not loan.X["purpose"].cat.ordered
    assert set(loan.y) == {"good", "bad"}
    for name, decimals in (("employment_years", 1), ("income", 2), ("savings", 2)):
        np.testing.assert_array_equal(loan.X[name], loan.X[name].round(decimals))
    pd.testing.assert_frame_equal(loan.X, load_loan().X)
    assert load_loan(n=10, random_state=3).X.shape == (10, 9)


def test_rows_are_credible() -> None:
    assert (MANY["employment_years"] <= MANY["age"] - 15).all()
    assert MANY["age"].between(18, 75).all()
    assert (MANY["savings"] >= 0).all()
    young = MANY[MANY["age"] <= 20]
    assert (young["education"] == "master").mean() < 0.005
    assert MANY["amount"].corr(MANY["duration"], method="spearman") > 0.5
    assert 25_000 < MANY["income"].median() < 50_000


def test_missing_cells_on_request() -> None:
    complete, holed = load_loan(), load_loan(missing=True)
    share = holed.X.isna().mean()
    assert set(share[share > 0].index) == {"savings", "employment_years", "housing"}
    assert share[share > 0].between(0.015, 0.05).all()
    assert (holed.X.dtypes == complete.X.dtypes).all()
    kept = holed.X.notna().all(axis=1)
    pd.testing.assert_frame_equal(holed.X[kept], complete.X[kept])
    with pytest.raises(DataError, match="Drop these rows or impute"):
        holed.process.log_density(holed.X)


def test_unknown_level_is_an_error() -> None:
    row = MANY.iloc[[0]].astype({"purpose": object}).assign(purpose="yacht")
    with pytest.raises(DataError, match="unknown levels 'yacht'"):
        PROCESS.log_density(row)
