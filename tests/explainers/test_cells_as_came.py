"""Cells that did not change come back as the objects that came: −0.0, numpy's strings, mixed objects."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from countarfactuals import AdversarialRandomForest, Constraints, Counterfactuals, CounterfactualsBatch, make_explainer
from countarfactuals.explainers import Explainer
from countarfactuals.schema import Schema

FIXED = ("balance", "code")
CELLS = (np.str_("b"), 2, "2", True, 2.0, None, np.nan, np.int64(2))  # `code` knows "b", "2", 2, True and gaps


def rows(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    code = np.empty(n, object)
    code[:] = [("b", 2, "2", True, None)[k % 5] for k in range(n)]
    balance = np.round(rng.normal(size=n), 2)
    return pd.DataFrame({"age": rng.normal(size=n), "balance": balance, "code": pd.Series(code, dtype=object)})


def model(frame: Any) -> np.ndarray:
    return (np.asarray(frame["age"], np.float64) > 0.0).astype(np.float64)


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    forest = AdversarialRandomForest(n_estimators=5, random_state=0)
    made = make_explainer("arf", model, density=forest, classes=("no", "yes"), max_evaluations=60, random_state=0)
    return made.fit(rows())


def row(cell: Any, balance: float = -0.0) -> pd.DataFrame:
    code = np.empty(1, object)
    code[0] = cell
    return pd.DataFrame({"age": [-0.5], "balance": [balance], "code": pd.Series(code, dtype=object)})


def is_same(cell: Any, other: Any) -> bool:
    return type(cell) is type(other) and repr(cell) == repr(other)


def check(result: Counterfactuals, cell: Any) -> None:
    for frame in (result.to_frame(), result.to_frame(objectives=True)):
        assert len(frame) > 0
        assert all(math.copysign(1.0, zero) == -1.0 and zero == 0.0 for zero in frame["balance"])
        assert all(is_same(one, cell) for one in frame["code"])


@pytest.mark.parametrize("cell", CELLS, ids=repr)
def test_unchanged_cells_are_those_that_came(explainer: Explainer, cell: Any):
    result = explainer.explain(row(cell), "yes", Constraints(fixed=FIXED))
    check(result, cell)
    check(result.select(1), cell)
    check(explainer.explain({"age": -0.5, "balance": -0.0, "code": cell}, "yes", Constraints(fixed=FIXED)), cell)
    batch = explainer.explain_many(pd.concat([row("b", 0.0), row(cell)]), "yes", {"fixed": FIXED}, progress=False)
    check(batch[1], cell)
    frame = batch.to_frame()
    assert frame["code"].tolist()[: len(batch[0])] == ["b"] * len(batch[0])
    assert not np.signbit(frame["balance"].to_numpy()[: len(batch[0])]).any()
    assert all(is_same(one, cell) for one in frame["code"].tolist()[len(batch[0]) :])


def test_changed_cells_are_not_those_that_came(explainer: Explainer):
    cell = np.str_("b")
    result = explainer.explain(row(cell), "yes")
    rows = np.concatenate([result.rows, result.rows])
    rows[: len(result), 1:] = [0.5, 0.0]
    twice = replace(result, n_found=len(rows))._take(np.tile(np.arange(len(result)), 2))
    result = replace(twice, rows=rows)
    told = result.changes()
    assert {"balance", "code"} <= set(told["feature"])
    frame = result.to_frame()
    for j, name in ((1, "balance"), (2, "code")):
        is_changed = result.changed[:, j]
        own = np.array([is_same(one, -0.0 if j == 1 else cell) for one in frame[name].tolist()])
        np.testing.assert_array_equal(own, ~is_changed)
    assert all(is_same(one, cell) for one in told.loc[told["feature"] == "code", "from"])
    assert all(is_same(one, -0.0) for one in told.loc[told["feature"] == "balance", "from"])


@pytest.mark.parametrize("cell", CELLS, ids=repr)
def test_json_says_what_it_can(explainer: Explainer, cell: Any):
    result = explainer.explain(row(cell), "yes", Constraints(fixed=FIXED))
    read = Counterfactuals.from_json(result.to_json())
    assert read == result
    can_not = {np.str_: "b", np.int64: 2}
    check(read, can_not.get(type(cell), cell))
    batch = explainer.explain_many(row(cell), "yes", {"fixed": FIXED}, progress=False)
    check(CounterfactualsBatch.from_json(batch.to_json())[0], can_not.get(type(cell), cell))


def test_cells_that_came_otherwise_are_refused_where_x_has_others(explainer: Explainer):
    stored = explainer.explain(row(2.0), "yes").to_dict()
    assert stored["x_cells"] == [[1, -0.0], [2, 2.0]]
    for wrong in ([[1, 1.5]], [[2, "b"]], [[7, 2]], [[True, 0.0]], [[2]], [[2, "no such"]]):
        with pytest.raises(ValueError, match="damaged"):
            Counterfactuals.from_dict({**stored, "x_cells": wrong})


def test_plain_rows_keep_nothing_beside_their_codes(explainer: Explainer):
    result = explainer.explain(row("b", 0.5), "yes")
    assert result.x_cells == {}
    assert "x_cells" not in json.loads(result.to_json())


@pytest.mark.parametrize("library", [pl.DataFrame, pa.Table.from_pandas, pd.DataFrame.to_numpy])
def test_zeros_keep_their_sign_in_every_library(library: Any):
    frame = pd.DataFrame({"a": [0.5, -0.0, 1.0], "b": [0.0, 1.5, -0.0]})
    schema = Schema.infer(library(frame))
    odd = schema.odd_cells(library(frame))
    assert [list(cells) for cells in odd] == [[], [0], [1]]
    cells = {0: {1: odd[1][0]}, 1: {2: odd[2][1]}}
    written = schema.decode(schema.encode(library(frame)) + 0.0, cells=cells)
    np.testing.assert_array_equal(
        np.signbit(np.column_stack([np.asarray(c) for c in columns_of(written)])), np.signbit(frame.to_numpy())
    )


def columns_of(frame: Any) -> list[Any]:
    if isinstance(frame, np.ndarray):
        return list(frame.T)
    return [frame[name] for name in ("a", "b")]


def test_arrays_of_objects_keep_theirs():
    array = np.array([[np.str_("b"), 1.5], ["b", -0.0], ["c", 2.5]], object)
    schema = Schema.infer(array)
    odd = schema.odd_cells(array)
    assert [list(cells) for cells in odd] == [[0], [1], []]
    written = schema.decode(schema.encode(array) + 0.0, cells={0: {0: odd[0][0]}, 1: {1: odd[1][1]}})
    assert all(is_same(one, other) for one, other in zip(written.ravel(), array.ravel(), strict=True))
