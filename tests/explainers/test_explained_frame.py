"""`explain_frame`: lines of all rows, in the user's library, whatever the cuts; compared with `explain_many`."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import RandomForestClassifier

from countarfactuals import AdversarialRandomForest, ARFExplainer, Constraints
from countarfactuals.counterfactuals.lines import FIELDS, arrow_schema
from countarfactuals.datasets import load_loan
from countarfactuals.exceptions import DataError, ParameterError, TargetError

NAMES = [field.name for field in FIELDS]
LOAN = load_loan()
X = LOAN.X[["age", "savings", "amount", "housing"]]
ROWS = X.head(8)


def is_rich(frame: pd.DataFrame) -> np.ndarray:
    return np.where(frame["savings"] - frame["amount"] / 4 > 1000, "good", "bad")


@pytest.fixture(scope="module")
def explainer() -> ARFExplainer:
    numbers = RandomForestClassifier(10, random_state=1).fit(X.drop(columns="housing"), is_rich(X))

    def model(frame: pd.DataFrame) -> np.ndarray:
        return numbers.predict_proba(frame.drop(columns="housing"))

    forest = AdversarialRandomForest(n_estimators=6)
    return ARFExplainer(model, classes=["bad", "good"], density=forest, max_evaluations=60, random_state=1).fit(X[:400])


@pytest.fixture(scope="module")
def explained(explainer) -> pd.DataFrame:
    return explainer.explain_frame(ROWS, "good")


def alike(left: pd.DataFrame, right: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(left.reset_index(drop=True), right.reset_index(drop=True), check_dtype=False)


def test_lines_are_what_explain_many_gives(explainer, explained):
    batch = explainer.explain_many(ROWS, "good", progress=False)
    assert list(explained) == NAMES
    assert explained["row"].drop_duplicates().tolist() == ROWS.index.tolist()
    for label, result in zip(batch.index, batch, strict=True):
        lines = explained[explained["row"] == label]
        best = result.select(3)
        assert set(lines["status"]) == {result.status}
        assert lines["rank"].dropna().tolist() == list(range(1, len(best) + 1))
        if len(best):
            frame = best.to_frame(objectives=True)
            np.testing.assert_array_equal(lines["distance"], frame["distance"])
            np.testing.assert_array_equal(lines["typicality"], frame["typicality"])
            np.testing.assert_array_equal(lines["n_changed"].astype(int), best.n_changed)
            np.testing.assert_array_equal(lines["score"], frame["P(good)"])
            assert lines["reason"].isna().all()
        else:
            assert "as wanted" in lines["reason"].item()
    assert {"found", "already"} <= set(explained["status"])


def test_the_changes_of_a_line_give_the_wanted_prediction(explainer, explained):
    found = explained[explained["status"] == "found"]
    for line in found.itertuples():
        row = ROWS.loc[[line.row]].copy()
        edits = json.loads(line.changes_json)
        for edit in edits:
            assert row[edit["column"]].item() == edit["from"]
            row[edit["column"]] = edit["to"]
        assert len(edits) == line.n_changed
        assert explainer.model(row)[0, 1] == pytest.approx(line.score)
        assert line.score > 0.5 >= line.x_score
        assert all(f"{edit['column']} " in line.changes for edit in edits)


@pytest.mark.parametrize("cuts", [(3,), (1, 2, 7), range(1, 8)])
def test_parts_give_the_lines_of_the_whole(explainer, explained, cuts):
    ends = [0, *cuts, len(ROWS)]
    parts = [ROWS.iloc[first:last] for first, last in pairwise(ends)]
    alike(pd.concat([explainer.explain_frame(part, "good") for part in reversed(parts)][::-1]), explained)


def test_every_library_gets_its_own_back(explainer, explained):
    keyed = ROWS.assign(id=[f"k{i}" for i in range(len(ROWS))])
    by_key = explained.assign(row=explained["row"].map(dict(zip(ROWS.index, keyed["id"], strict=True))))
    alike(explainer.explain_frame(keyed, "good", key="id"), by_key)
    alike(explainer.explain_frame(pl.from_pandas(keyed), "good", key="id").to_pandas(), by_key)
    table = pa.Table.from_pandas(keyed, preserve_index=False)
    made = explainer.explain_frame(table, "good", key="id")
    assert made.schema.remove_metadata() == arrow_schema(table.schema.field("id").type)
    alike(made.to_pandas(), by_key)
    by_position = explainer.explain_frame(table.drop_columns("id"), "good")
    assert by_position.schema == arrow_schema()
    assert by_position["row"].to_pylist() == [ROWS.index.tolist().index(label) for label in explained["row"]]


def test_columns_have_their_types_without_any_line(explainer, explained):
    keyed = ROWS.assign(id=np.arange(len(ROWS), dtype=np.int32))
    empty = explainer.explain_frame(keyed.head(0), "good", key="id")
    assert empty.dtypes.drop("row").equals(explained.dtypes.drop("row"))
    assert empty["row"].dtype == np.int32
    assert not len(empty)
    table = pa.Table.from_pandas(keyed, preserve_index=False)
    assert explainer.explain_frame(table[:0], "good", key="id").schema == arrow_schema(pa.int32())


def test_an_error_costs_its_row(explainer, explained):
    rows = ROWS.astype({"housing": object})
    rows.iloc[2, 3] = "castle"
    made = explainer.explain_frame(rows, "good")
    bad = made[made["row"] == rows.index[2]]
    assert bad["status"].tolist() == ["error"]
    assert "'castle'" in bad["reason"].item()
    assert f"row {rows.index[2]}" in bad["reason"].item()
    assert bad["rank"].isna().all()
    alike(made[made["row"] != rows.index[2]], explained[explained["row"] != rows.index[2]])


def test_a_row_without_counterfactuals_says_why(explainer):
    made = explainer.explain_frame(ROWS, "good", Constraints(fixed=["age", "savings", "amount"]))
    none = made[made["status"] == "none"]
    assert len(none)
    assert none["reason"].str.contains("Nothing was found").all()
    assert none["x_prediction"].eq("bad").all()


def test_functions_get_all_columns_of_a_row(explainer):
    rows = ROWS.assign(wanted=["good", "bad"] * 4)
    made = explainer.explain_frame(rows, lambda row: row["wanted"])
    now = explainer.explain_frame(ROWS, "good").drop_duplicates("row").set_index("row")["x_prediction"]
    is_settled = made.drop_duplicates("row").set_index("row")["status"] == "already"
    assert is_settled.equals(now == rows["wanted"])
    failing = explainer.explain_frame(rows, lambda row: row["wanted"] if row["wanted"] == "good" else 1 / 0)
    assert failing[failing["status"] == "error"]["row"].tolist() == rows.index[1::2].tolist()
    assert failing["reason"].str.contains("ZeroDivisionError").sum() == 4


def test_long_frames_are_taken_in_blocks(explainer, explained, monkeypatch):
    monkeypatch.setattr("countarfactuals.explainers.explained_frame._BLOCK", 3)
    alike(explainer.explain_frame(ROWS, "good"), explained)
    alike(explainer.explain_frame(ROWS, ["good"] * 8), explained)


def test_top_says_how_many_lines_a_row_has(explainer, explained):
    alike(explainer.explain_frame(ROWS, "good", top=1), explained[explained["rank"].fillna(1) == 1])
    every = explainer.explain_frame(ROWS, "good", top=None)
    counts = [max(1, len(result)) for result in explainer.explain_many(ROWS, "good", progress=False)]
    assert every.groupby("row", sort=False).size().tolist() == counts


def test_what_can_not_be_read_is_told(explainer):
    with pytest.raises(DataError, match=r"no column 'idd' to be the key.*Did you mean 'id'"):
        explainer.explain_frame(ROWS.assign(id=1), "good", key="idd")
    with pytest.raises(DataError, match=r"lacks the column\(s\) 'savings'"):
        explainer.explain_frame(ROWS.drop(columns="savings"), "good")
    with pytest.raises(DataError, match="labels of several parts"):
        explainer.explain_frame(ROWS.set_index("age", append=True, drop=False), "good")
    with pytest.raises(TargetError, match="best"):
        explainer.explain_frame(ROWS, "best")
    with pytest.raises(ParameterError, match="top"):
        explainer.explain_frame(ROWS, "good", top=0)
