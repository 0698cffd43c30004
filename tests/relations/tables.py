"""Tables whose relations are known, as they were built in."""

from __future__ import annotations

import numpy as np
import pandas as pd

from countarfactuals.relations import Relations, discover
from countarfactuals.schema import Schema


def homes(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """Sums, orders, rates, implications of levels and gaps, and a function."""
    rng = np.random.default_rng(seed)
    first = rng.integers(400, 2000, n)
    second = np.where(rng.random(n) < 0.5, 0, rng.integers(200, 1500, n))
    cellar, garden = rng.integers(0, 900, n), rng.integers(50, 4000, n)
    built = rng.integers(1900, 2010, n)
    months, rate = rng.integers(1, 72, n), np.round(rng.uniform(20, 110, n), 2)
    width = np.round(rng.uniform(3.0, 9.0, n), 1)
    net = rng.choice(["no", "dsl", "fibre"], n, p=[0.25, 0.4, 0.35])
    garage = rng.choice(["attached", "apart", None], n, p=[0.5, 0.3, 0.2])
    school = rng.choice(list("abcde"), n)
    age = rng.integers(18, 90, n)
    return pd.DataFrame(
        {
            "first": first,
            "second": second,
            "cellar": cellar,
            "garden": garden,
            "living": first + second,
            "all": first + second + cellar + garden,
            "built": built,
            "rebuilt": np.minimum(2010, built + np.where(rng.random(n) < 0.4, 0, rng.integers(0, 60, n))),
            "months": months,
            "rate": rate,
            "paid": np.round(months * rate, 2),
            "charged": np.round(months * rate * rng.normal(1, 0.02, n), 2),
            "width": width,
            "feet": np.round(3.28 * width, 2),
            "per_foot": np.round(first / np.round(3.28 * width, 2), 3),
            "net": net,
            "tv": np.where(net == "no", "none", rng.choice(["yes", "no"], n)),
            "garage": garage,
            "cars": np.where(pd.isna(garage), 0, rng.integers(1, 4, n)),
            "school": school,
            "years": pd.Series(school).map(dict(zip("abcde", [3, 9, 10, 13, 16], strict=True))),
            "age": age,
            "band": pd.cut(age, [0, 30, 60, 100], labels=["young", "middle", "old"]).astype(str),
        }
    )


HOMES = {
    "living is first + second",
    "all is first + second + cellar + garden",
    "feet is 3.28 × width",
    "paid is months × rate",
    "per_foot is first / feet",
    "charged is about paid, within 5 %",
    "years and school go one by one",
    "band follows from age",
    "where net is no, tv is none",
    "where tv is none, net is no",
    "where garage is missing, cars is 0",
    "where cars is 0, garage is missing",
    "built is at most rebuilt",
}


def relations(X: pd.DataFrame) -> Relations:
    """The relations of a table."""
    schema = Schema.infer(X)
    return Relations(schema, discover(schema, schema.encode(X)))


def found(X: pd.DataFrame) -> set[str]:
    """Their phrases."""
    return set(relations(X).phrases())


def shuffled(X: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The table with each column shuffled by itself."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: X[name].to_numpy()[rng.permutation(len(X))] for name in X})
