"""Relations: found where every row keeps them and chance would not; kept by what is handed out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from countarfactuals import make_explainer
from countarfactuals.relations import Implication, Order, discover
from countarfactuals.schema import Schema


def loans(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """A loan is at most the price, with a gap here and there; without a phone there are no lines."""
    rng = np.random.default_rng(seed)
    price = rng.integers(500, 3000, n).astype(float)
    loan = np.round(price * rng.uniform(0.2, 1.0, n))
    phone = rng.choice(["no", "yes"], n, p=[0.3, 0.7])
    lines = np.where(phone == "no", "none", rng.choice(["one", "many"], n))
    X = pd.DataFrame({"loan": loan, "price": price, "age": rng.integers(18, 80, n), "phone": phone, "lines": lines})
    X.loc[rng.random(n) < 0.05, "loan"] = np.nan
    return X


def found(X: pd.DataFrame) -> set[str]:
    schema = Schema.infer(X)
    return {relation.describe(schema) for relation in discover(schema, schema.encode(X))}


def test_orders_and_implications_are_found():
    assert found(loans()) == {
        "loan is at most price",
        "where phone is no, lines is none",
        "where lines is none, phone is no",
        "where lines is many, phone is yes",
        "where lines is one, phone is yes",
    }


def test_one_exception_ends_a_relation():
    X = loans()
    X.loc[0, ["loan", "price"]] = [2000.0, 1000.0]
    assert "loan is at most price" not in found(X)


@pytest.mark.parametrize("seed", range(20))
def test_shuffled_columns_have_no_relations(seed):
    """20 tables of 20 pairs: at e⁻²⁰ per pair the chance of a single false find is below 1e-6."""
    rng = np.random.default_rng(seed)
    X = loans(seed=seed)
    assert found(pd.DataFrame({name: rng.permutation(X[name].to_numpy()) for name in X})) == set()


def test_ranges_that_do_not_meet_are_no_relation():
    """A year is above an age in every row, and chance would not break that."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"age": rng.integers(18, 80, 500), "year": rng.integers(1990, 2020, 500)})
    assert found(X) == set()


def test_gaps_break_nothing():
    rows = np.array([[1.0, 2.0], [2.0, 1.0], [np.nan, 1.0], [2.0, np.nan]])
    assert Order(0, 1, 4).broken(rows).tolist() == [False, True, False, False]
    assert Implication(0, 2, 1, 1, 4).broken(rows).tolist() == [False, False, False, False]
    assert Implication(0, 2, 1, 0, 4).broken(rows).tolist() == [False, True, False, False]


@pytest.mark.parametrize("method", ["arf", "mocarf", "moc", "random"])
def test_nothing_that_is_handed_out_breaks_a_relation(method):
    X = loans(400)
    y = np.where((X["loan"].fillna(0) > 900) | (X["lines"] == "many"), "bad", "good")
    encoded = X.astype({"phone": "category", "lines": "category"})
    model = HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype", random_state=0)
    model.fit(encoded, y)
    explainer = make_explainer(method, model, max_evaluations=200, random_state=0).fit(encoded)
    assert len(explainer.background_.relations) == 5
    n = 0
    for i in np.flatnonzero(model.predict(encoded) == "bad")[:6]:
        result = explainer.explain(encoded.iloc[[i]], "good")
        n += len(result)
        for relation in explainer.background_.relations:
            assert not relation.broken(result.rows).any()
    assert n > 0


def test_a_relation_that_x_breaks_is_not_asked_for():
    X = loans(400).dropna()
    y = np.where(X["loan"] > 900, "bad", "good")
    numbers = X[["loan", "price", "age"]]
    model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(numbers, y)
    explainer = make_explainer("arf", model, max_evaluations=200, random_state=0).fit(numbers)
    x = pd.DataFrame({"loan": [2500.0], "price": [1000.0], "age": [40]})
    assert len(explainer.explain(x, "good")) > 0
