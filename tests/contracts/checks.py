"""What every result must be, judged by slow code of its own and by the model itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from .methods import Method
from .tables import LEVELS, records

BASE = ("distance", "n_changed", "implausibility")


def check_result(result: Any, method: Method, X: Any, x: Any, objectives: Sequence[str] = BASE) -> None:
    """What holds of each result, whatever was asked; whether rows are valid is for the model to say."""
    rows, own = records(result.to_frame()), records(x)[0]
    assert len(rows) == len(result)
    assert own not in rows
    assert len(set(rows)) == len(rows)
    check_types(result.to_frame(), X)
    if result.status == "found":
        assert rows
        assert result.diagnosis is None
    else:
        assert not rows
        assert (result.status == "none") == (result.diagnosis is not None)
    assert list(result.objectives)[:4] == ["validity", *BASE]
    assert (result.objectives["validity"] == 0).all()
    np.testing.assert_allclose(
        result.objectives["n_changed"], [sum(a != b for a, b in zip(row, own, strict=True)) for row in rows]
    )
    if method.is_pareto:
        check_none_dominated(result, objectives)
    known = set(records(X))
    assert result.is_real_row.tolist() == [row in known for row in rows]
    assert ((result.typicality >= 0) & (result.typicality <= 1)).all()


def check_none_dominated(result: Any, objectives: Sequence[str]) -> None:
    points = np.column_stack([result.objectives[name] for name in objectives])
    assert dominated(points).sum() == 0


def dominated(points: np.ndarray) -> np.ndarray:
    """Which points another one is nowhere worse than, and somewhere better."""
    return np.array(
        [any((other <= point).all() and (other < point).any() for other in points) for point in points], np.bool_
    )


def check_types(frame: Any, X: Any) -> None:
    """The frame has the library, the columns and the types of the training frame."""
    assert type(frame) is type(X)
    if isinstance(X, pd.DataFrame):
        pd.testing.assert_series_equal(frame.dtypes, X.dtypes)
    elif isinstance(X, pl.DataFrame):
        assert frame.schema == X.schema
    else:
        assert frame.dtype == X.dtype
        assert frame.shape[1] == X.shape[1]


def check_values(result: Any, names: Sequence[str], X: Any, x: Any) -> None:
    """New cells have values that exist: known levels, whole numbers, no more decimals, within the range of the data."""
    own, real = records(x)[0], records(X)
    for j, name in enumerate(names):
        known = [row[j] for row in real if row[j] is not None]
        for cell in {row[j] for row in records(result.to_frame())} - {own[j], None}:
            if name in (*LEVELS, "owner"):
                assert cell in set(known)
                continue
            assert min(known) <= cell <= max(known)
            if name != "rate":
                assert round(cell, 2 if name == "income" else 0) == cell


def gower(rows: Any, x: Any, names: Sequence[str], X: Any, weights: dict[str, float] | None = None) -> list[float]:
    """The Gower distance of each row to x, cell by cell."""
    own, real = records(x)[0], records(X)
    weight = [(weights or {}).get(name, 1.0) for name in names]
    is_ordered = isinstance(X, pd.DataFrame)

    def term(j: int, name: str, cell: Any) -> float:
        if cell == own[j]:
            return 0.0
        if cell is None or own[j] is None:
            return 1.0
        if name == "grade" and is_ordered:
            return abs(LEVELS[name].index(cell) - LEVELS[name].index(own[j])) / (len(LEVELS[name]) - 1)
        if name in (*LEVELS, "owner"):
            return 1.0
        known = [row[j] for row in real if row[j] is not None]
        return min(abs(cell - own[j]) / (max(known) - min(known)), 1.0)

    return [
        sum(w * term(j, name, cell) for j, (w, name, cell) in enumerate(zip(weight, names, row, strict=True)))
        / sum(weight)
        for row in records(rows)
    ]


def same(one: Any, other: Any) -> bool:
    """Whether two results are equal to the last bit; only the time that they took may differ."""
    stored = [one.to_dict(), other.to_dict()]
    for part in stored:
        part["provenance"].pop("seconds", None)
    return stored[0] == stored[1]
