"""Every method hands out only numbers that occur, and no value that tells who has it where no one's row may be."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from .methods import BY_NAME, METHODS, Method, every_method

N = 500
LEARNING = pytest.mark.parametrize(
    "method", [method for method in METHODS if "paper" not in method.name], ids=lambda method: method.name
)


@cache
def table() -> pd.DataFrame:
    """Zeros, a grid with a code beside it, few values, a limit, repeating and continuous numbers."""
    rng = np.random.default_rng(5)
    wealth = rng.normal(0.0, 1.0, N)
    amount = 25.0 * np.round(np.exp(5.0 + 0.6 * wealth + rng.normal(0.0, 0.3, N)))
    return pd.DataFrame(
        {
            "debt": np.where(rng.random(N) < 0.6, 0.0, rng.gamma(2.0, 1000.0, N)),
            "amount": np.where(rng.random(N) < 0.1, 999, amount).astype(int),
            "term": rng.choice([12, 36, 60], N),
            "score": np.minimum((60 + 25 * wealth + rng.normal(0.0, 5.0, N)).round(1), 100.0),
            "age": rng.integers(18, 60, N),
            "rate": 3.0 + rng.gamma(2.0, 1.0, N) - 0.4 * wealth,
            "purpose": np.where(np.arange(N) < 3, "boat", rng.choice(["car", "house"], N)),
        }
    )


def good(frame: pd.DataFrame) -> np.ndarray:
    value = frame["score"] / 25 - frame["debt"] / 3000 + frame["age"] / 40 - frame["rate"] / 4 - frame["term"] / 60
    return 1 / (1 + np.exp(-(value.to_numpy() - 0.8 + 0.3 * (frame["purpose"] == "house").to_numpy())))


@cache
def fitted(name: str, **own: Any) -> Any:
    return BY_NAME[name].make(good, classes=("bad", "good"), max_evaluations=400, **own).fit(table())


def rejected(n: int) -> pd.DataFrame:
    return table()[good(table()) < 0.4].head(n)


def test_the_table_is_what_it_is_meant_to_be():
    debt, amount, term, score, age, rate, _ = fitted("nice").schema_.columns
    assert (debt.atoms, debt.low, debt.values) == ((0.0,), 0.0, ())
    assert (amount.atoms, amount.grid) == ((999.0,), (25.0, 0.0))
    assert term.atoms == term.values == (12.0, 36.0, 60.0)
    assert (score.atoms, score.high) == ((100.0,), 100.0)
    assert age.values
    assert not age.atoms
    assert not rate.is_restricted


@LEARNING
def test_changed_numbers_occur(method: Method):
    explainer = fitted(method.name)
    n_changed = np.zeros(7, int)
    for said in ({}, {"ranges": {"amount": (1000, 5000), "debt": (0, 500)}, "direction": {"age": "increase"}}):
        for result in explainer.explain_many(rejected(4), "good", said, progress=False):
            for j, column in enumerate(explainer.schema_.columns):
                cells = result.rows[result.changed[:, j], j]
                n_changed[j] += len(cells)
                if column.is_number:
                    assert column.permits(cells).all()
    assert n_changed.sum() > 20


@LEARNING
def test_all_rows_that_the_model_is_asked_about_have_numbers_that_occur(method: Method):
    explainer = fitted(method.name)
    for i in range(3):
        rows = explainer.trace(rejected(3).iloc[[i]], "good")[1].ledger()[0]
        for j, column in enumerate(explainer.schema_.columns):
            if column.is_number:
                assert column.permits(rows[:, j]).all()


@LEARNING
def test_a_row_may_keep_what_does_not_occur(method: Method):
    x = rejected(1).assign(amount=1013, term=48, age=17)
    result = fitted(method.name).explain(x, "good")
    assert result.status == "found"
    frame = result.to_frame()
    assert set(frame["term"]) <= {12, 36, 48, 60}
    assert set(frame["amount"][frame["amount"] != 1013] % 25) <= {0, 999 % 25}


def test_the_paper_learns_nothing():
    assert not fitted("arf, as in the paper").schema_.restricted


def test_a_declaration_is_obeyed():
    explainer = BY_NAME["random"].make(good, classes=("bad", "good"), max_evaluations=300)
    explainer.fit(table(), values={"age": {"step": 1}, "rate": {"low": 0}, "debt": "continuous"})
    assert explainer.schema_.columns[0].atoms == ()
    assert explainer.schema_.columns[4].grid == (1.0, 0.0)


@every_method
def test_no_value_tells_who_has_it(method: Method):
    if method.name in ("nice", "whatif"):
        pytest.skip("copies cells of real rows")
    explainer = fitted(method.name, allow_real_rows=False)
    X, n_found = table(), 0
    held = {name: X[name].value_counts() for name in X.columns}
    for i, result in enumerate(explainer.explain_many(rejected(4), "good", progress=False)):
        n_found += len(result)
        own, rows = rejected(4).iloc[i], result.to_frame()
        for name in X.columns:
            new = rows[name][rows[name] != own[name]]
            assert all(held[name].get(value, 0) not in (1, 2, 3, 4) for value in new)
    assert n_found
