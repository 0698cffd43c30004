"""Consumer loans: a generated credit data set whose plausibility is known and not guessed.

1. Each feature is drawn given features before it in `FACTORS` (money in euros, income per year):
   age → education → employment_years → income → housing → savings → purpose → amount → duration.
2. Each draw is rounded as it would be written down (whole years, euros, months; 0.1 years; cents),
   and later features depend on the rounded values.
3. The outcome y is good or bad with P(good) = sigmoid(logit of the features), so no model separates it fully.
4. log p(x) = Σ_j log p(x_j | recorded parents) is the exact density of the values before rounding, in the units of the
   columns, evaluated at the row. y depends on x alone, so nothing is left of it when it is summed out.

The numbers below are made up: they imitate what a lender sees and describe no real person or bank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from countarfactuals.datasets.factors import Choice, Columns, Quantity
from countarfactuals.datasets.process import LABEL, Dataset, Process, check_features, check_numbers
from countarfactuals.exceptions import DataError, listed
from countarfactuals.parameters import as_generator, check_int

_EDUCATION = ("primary", "secondary", "apprenticeship", "bachelor", "master")
_HOUSING = ("own", "rent", "free")
PURPOSE = ("car", "furniture", "education", "business", "repairs")
_OUTCOME = ("bad", "good")
_TYPICAL_INCOME = 36_000.0
_DEFAULT_SEED = 20240612


def _education_weights(given: Columns) -> np.ndarray:
    # A degree takes years: its weight rises from almost nothing around the age at which it is usually earned.
    usual_age = np.array([10.0, 14.0, 19.5, 22.5, 25.0])
    return np.array([0.07, 0.21, 0.40, 0.19, 0.13]) * expit((given["age"][:, None] - usual_age) / 0.7)


def _longest_employment(given: Columns) -> np.ndarray:
    # The age at which work can start depends on the degree; two years are possible for everyone (age is 18 or more).
    start = np.array([15.0, 16.0, 16.0, 19.0, 21.0])[given["education"]]
    return np.clip(given["age"] - start, 2.0, 45.0)


def _usual_employment(given: Columns) -> np.ndarray:
    return 0.5 + 0.3 * _longest_employment(given)


def _usual_income(given: Columns) -> np.ndarray:
    degree = np.array([0.0, 0.10, 0.24, 0.48, 0.66])[given["education"]]
    age = given["age"]
    career = 0.55 * (1.0 - np.exp(-(age - 18.0) / 9.0)) - 0.35 * expit(age - 66.0)
    return 18_500.0 * np.exp(degree + career + 0.008 * np.minimum(given["employment_years"], 25.0))


def _housing_weights(given: Columns) -> np.ndarray:
    age, wealth = given["age"], _relative_income(given)
    own = np.exp(-0.7 + 0.05 * (age - 38.0) + 0.9 * wealth) * expit((age - 26.0) / 2.5)
    free = np.exp(-1.9 - 0.11 * np.clip(age - 32.0, -14.0, 14.0))
    return np.stack([own, np.ones(len(age)), free], axis=1)


def _usual_savings(given: Columns) -> np.ndarray:
    owner = np.array([0.35, 0.0, -0.1])[given["housing"]]
    return 0.09 * given["income"] * np.exp(owner + 0.6 * _relative_income(given) + 0.025 * (given["age"] - 38.0))


def _purpose_weights(given: Columns) -> np.ndarray:
    age, housing = given["age"], given["housing"]
    car = np.full(len(age), 0.38)
    furniture = np.array([0.22, 0.30, 0.15])[housing]
    education = 0.14 * np.exp(-0.08 * (age - 30.0))
    business = 0.12 * np.exp(0.5 * _relative_income(given)) * expit((68.0 - age) / 3.0)
    repairs = np.array([0.34, 0.06, 0.03])[housing]
    return np.stack([car, furniture, education, business, repairs], axis=1)


def _usual_amount(given: Columns) -> np.ndarray:
    base = np.array([9_500.0, 3_000.0, 5_500.0, 13_000.0, 7_000.0])[given["purpose"]]
    return base * np.exp(0.55 * _relative_income(given))


def _usual_duration(given: Columns) -> np.ndarray:
    return 28.0 * np.exp(0.5 * np.log(given["amount"] / 7_000.0) - 0.3 * _relative_income(given))


def _relative_income(given: Columns) -> np.ndarray:
    return np.log(given["income"] / _TYPICAL_INCOME)


FACTORS: tuple[Quantity | Choice, ...] = (
    Quantity("age", 0, 18.0, 75.0, 37.0, spread=0.34),
    Choice("education", _EDUCATION, True, _education_weights),
    Quantity("employment_years", 1, 0.0, _longest_employment, _usual_employment, spread=0.85, shift=0.5),
    Quantity("income", 2, 6_000.0, 250_000.0, _usual_income, spread=0.30),
    Choice("housing", _HOUSING, False, _housing_weights),
    Quantity("savings", 2, 0.0, 300_000.0, _usual_savings, spread=1.0, shift=300.0),
    Choice("purpose", PURPOSE, False, _purpose_weights),
    Quantity("amount", 0, 500.0, 75_000.0, _usual_amount, spread=0.50),
    Quantity("duration", 0, 6.0, 120.0, _usual_duration, spread=0.33),
)
INTEGERS = ("age", "amount", "duration")


def _good_logit(given: Columns) -> np.ndarray:
    instalment = given["amount"] / given["duration"]
    burden = np.log(12.0 * instalment / given["income"])
    housing = np.array([0.35, 0.0, -0.25])[given["housing"]]
    purpose = np.array([0.25, 0.1, -0.1, -0.9, 0.3])[given["purpose"]]
    return (
        -3.65
        - 1.3 * burden
        + 0.55 * np.log1p(given["employment_years"])
        + 0.55 * np.log((given["savings"] + 300.0) / 3_000.0)
        - 0.030 * (given["duration"] - 30.0)
        + 0.25 * (given["education"] - 2.0)
        - 0.7 * expit((25.0 - given["age"]) / 1.5)
        + housing
        + purpose
    )


@dataclass(frozen=True)
class LoanProcess(Process, kind="loan"):
    """The process behind `load_loan`; it has no parameters."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the feature columns."""
        return tuple(factor.name for factor in FACTORS)

    def sample(self, n: int, random_state: int | np.random.Generator | None = None) -> pd.DataFrame:
        """Draw `n` rows: the features, then y."""
        n = check_int("n", n, 1)
        rng = as_generator(random_state)
        given: Columns = {}
        for factor in FACTORS:
            drawn = factor.draw(given, n, rng)
            given[factor.name] = factor.recorded(drawn) if isinstance(factor, Quantity) else drawn
        good = rng.random(n) < expit(_good_logit(given))
        columns = {factor.name: _as_column(factor, given[factor.name]) for factor in FACTORS}
        return pd.DataFrame({**columns, LABEL: pd.Categorical.from_codes(good.astype(int), categories=list(_OUTCOME))})

    def probability_good(self, frame: Any) -> np.ndarray:
        """The true P(y = good | x) of each row."""
        values = _as_values(check_features(frame, self.feature_names))
        return expit(_good_logit(_recorded(values)))

    def _log_density(self, features: pd.DataFrame) -> np.ndarray:
        values = _as_values(features)
        given = _recorded(values)
        return np.sum([factor.log_density(values[factor.name], given) for factor in FACTORS], axis=0)


def load_loan(
    *, n: int = 2000, missing: bool = False, random_state: int | np.random.Generator | None = _DEFAULT_SEED
) -> Dataset:
    """Loans with their outcome, good or bad, and the process that they come from.

    With `missing`, about 3 % of the cells of savings, employment_years and housing are blank: at random given
    columns that are complete, so that small loans lack savings, older people employment_years.

    >>> from countarfactuals.datasets import load_loan
    >>> loan = load_loan()
    >>> loan.X.shape
    (2000, 9)
    >>> bool((loan.process.log_density(loan.X) > -60).all())
    True
    """
    process = LoanProcess()
    rng = as_generator(random_state)
    frame = process.sample(n, rng)
    X = frame.drop(columns=LABEL)
    if missing:
        X = _with_missing(X, rng)
    return Dataset(name="loan", X=X, y=frame[LABEL], process=process)


def _with_missing(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    chances = {
        "savings": np.where(X["amount"] < 4_000, 0.06, 0.015),
        "employment_years": np.where(X["age"] >= 50, 0.07, 0.02),
        "housing": np.where(X["purpose"] == "furniture", 0.06, 0.02),
    }
    blanks = {name: rng.random(len(X)) < chance for name, chance in chances.items()}
    return X.assign(**{name: X[name].mask(blank) for name, blank in blanks.items()})


def _recorded(values: Columns) -> Columns:
    """Parents as the process saw them when it drew their children."""
    return {
        factor.name: factor.recorded(values[factor.name]) if isinstance(factor, Quantity) else values[factor.name]
        for factor in FACTORS
    }


def _as_column(factor: Quantity | Choice, values: np.ndarray) -> Any:
    if isinstance(factor, Choice):
        return pd.Categorical.from_codes(values, categories=list(factor.levels), ordered=factor.ordered)
    return values.astype(np.int64) if factor.name in INTEGERS else values


def _as_values(features: pd.DataFrame) -> Columns:
    return {
        factor.name: check_numbers(features[factor.name])
        if isinstance(factor, Quantity)
        else _level_indices(factor, features[factor.name])
        for factor in FACTORS
    }


def _level_indices(factor: Choice, column: pd.Series) -> np.ndarray:
    indices = pd.Index(factor.levels).get_indexer(column.astype(object))
    if (indices < 0).any():
        raise DataError(
            f"Column {factor.name!r} has the unknown levels {listed(column[indices < 0].unique())}. "
            f"Allowed: {listed(factor.levels)}."
        )
    return indices
