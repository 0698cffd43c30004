import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch, Diagnosis
from countarfactuals.exceptions import DataError, StorageError
from countarfactuals.prediction import Target

from .examples import loans, result

EMPTY = {"target": Target("good"), "method": "arf"}


def batch() -> CounterfactualsBatch:
    made = result()
    none = Counterfactuals.empty(made.schema, made.x, status="none", diagnosis=Diagnosis(5, 5), **EMPTY)
    error = Counterfactuals.empty(
        made.schema, None, status="error", error="No level 'q'.", notes=("No level 'q'.",), **EMPTY
    )
    return CounterfactualsBatch((made, none, error, made.select(1, "distance")), ("a", 7, "c", "d"), ("e", "f"))


def test_it_is_a_sequence_of_results() -> None:
    made = batch()
    assert len(made) == 4
    assert made[0] == result()
    assert [len(one) for one in made] == [4, 0, 0, 1]
    assert made[-1].objectives["distance"].tolist() == [0.1]
    assert made[1:3].index == (7, "c")
    assert isinstance(made[1:3], CounterfactualsBatch)
    assert result() in made


def test_labels_are_needed_and_one_per_result() -> None:
    with pytest.raises(TypeError, match="index"):
        CounterfactualsBatch((result(),))  # type: ignore[call-arg]
    with pytest.raises(DataError, match=r"2 labels for 1 result"):
        CounterfactualsBatch((result(),), (1, 2))
    other = result(pd.DataFrame({"a": [1.5, 2.5]}))
    with pytest.raises(DataError, match="share one schema"):
        CounterfactualsBatch((result(), other), (1, 2))


def test_errors_by_label() -> None:
    assert batch().errors == {"c": "No level 'q'."}


def test_rows_are_stacked() -> None:
    frame = batch().to_frame()
    assert list(frame.columns) == ["row", "counterfactual", *loans().columns]
    assert frame["row"].tolist() == ["a"] * 4 + ["d"]
    assert frame["counterfactual"].tolist() == [0, 1, 2, 3, 0]
    rows = frame[list(loans().columns)]
    pd.testing.assert_frame_equal(rows.iloc[:4], result().to_frame())
    assert frame["amount"].iloc[4] == 3200.25
    rich = batch().to_frame(objectives=True)
    assert rich["distance"].tolist() == [*result().objectives["distance"], 0.1]
    assert rich["prediction"].tolist() == ["good"] * 5


@pytest.mark.parametrize("objectives", [False, True])
@pytest.mark.parametrize("library", ["polars", "pyarrow", "numpy"])
def test_rows_of_other_libraries_are_stacked(library: str, objectives: bool) -> None:
    frame = pl.DataFrame({"n": [1.5, 2.5, None], "row": [1.0, 2.0, 2.0]})
    native = {"polars": frame, "pyarrow": frame.to_arrow(), "numpy": frame.to_numpy()}[library]
    made = CounterfactualsBatch((result(native), result(native)), (3, 9))
    stacked = made.to_frame(objectives=objectives)
    assert type(stacked) is (pd.DataFrame if library == "numpy" else type(native))
    names = stacked.column_names if library == "pyarrow" else list(stacked.columns)
    assert names[:4] == (
        ["row", "counterfactual", "x0", "x1"] if library == "numpy" else ["row_", "counterfactual", "n", "row"]
    )
    assert len(stacked) == 4
    assert np.asarray(stacked[names[0]]).tolist() == [3, 3, 9, 9]


def test_a_batch_without_rows_has_frames_too() -> None:
    made = batch()[1:3]
    assert len(made.to_frame()) == len(made.to_frame(objectives=True)) == len(made.changes()) == 0
    assert len(CounterfactualsBatch((), (), (1, 2)).to_frame()) == 0
    assert "2 not reached" in repr(CounterfactualsBatch((), (), (1, 2)))
    assert CounterfactualsBatch((), (), (1, 2))._repr_html_()
    assert CounterfactualsBatch((), ()).summary().empty


def test_results_with_different_measures_are_not_mixed() -> None:
    made = CounterfactualsBatch((result(), result(objectives={"cost": np.zeros(4)})), (0, 1))
    with pytest.raises(DataError, match="different scores or objectives"):
        made.to_frame(objectives=True)


def test_changes_name_the_row() -> None:
    changes = batch().changes()
    assert list(changes.columns) == ["row", "counterfactual", "feature", "from", "to", "consequence"]
    assert len(changes) == 12
    assert changes.iloc[-1].tolist() == ["d", 0, "grade", "middle", "high", False]


def test_summary_by_row() -> None:
    summary = batch().summary()
    assert summary.index.tolist() == ["a", 7, "c", "d"]
    assert summary["status"].tolist() == ["found", "none", "error", "found"]
    assert summary["n_found"].tolist() == [4, 0, 0, 4]  # the last was selected of four
    assert summary.loc["a"].tolist()[2:] == [0.1, 1.0, 0.8, 0.25]
    assert summary.loc["d"].tolist()[2:] == [0.1, 2.0, 0.2, 0.25]
    assert summary.loc[["c"]].iloc[:, 2:].isna().all(axis=None)


def test_json_keeps_results_and_labels() -> None:
    time, day = pd.Timestamp("2024-05-06 07:08:09.123456789"), datetime.datetime(2024, 5, 6)
    labels = ("a", ("b", 2), time, day, np.int64(3), np.nan)
    made = CounterfactualsBatch((result(),) * 6, labels, (("z", 1), None))
    again = CounterfactualsBatch.from_json(made.to_json())
    assert again == made
    assert again.index[:5] == labels[:5]
    assert again.unfinished == (("z", 1), None)
    assert list(again) == list(made)
    assert CounterfactualsBatch.from_json(batch().to_json()).to_json() == batch().to_json()
    assert CounterfactualsBatch.from_json(CounterfactualsBatch((), ()).to_json()) == CounterfactualsBatch((), ())


def test_json_holds_the_schema_once(tmp_path) -> None:
    text = batch().to_json(tmp_path / "batch.json")
    assert text.count('"columns": [{') == 1
    assert CounterfactualsBatch.from_json(tmp_path / "batch.json") == batch()


@pytest.mark.parametrize(
    "changes", [{"results": None}, {"index": [1]}, {"schema": None}, {"results": [{}]}, {"version": 9}]
)
def test_damaged_batches(changes: dict) -> None:
    text = json.dumps(json.loads(batch().to_json()) | changes)
    with pytest.raises(StorageError):
        CounterfactualsBatch.from_json(text)


def test_text_of_a_batch() -> None:
    lines = repr(batch()).splitlines()
    assert " ".join(" ".join(lines[:2]).split()) == (
        "CounterfactualsBatch: 4 rows, 8 counterfactuals (5 shown) · 2 found, 1 without, 1 failed, 2 not reached · "
        "target: class 'good'"
    )
    assert lines[2].split("  ")[0].strip() == "row"
    assert lines[3].split() == ["a", "found", "4", "0.100", "1", "80", "%", "0.25"]
    assert lines[4].split() == ["7", "none"]
    assert lines[6].split()[:6] == ["d", "found", "1", "of", "4", "shown"]
    assert lines[-2:] == ["error in row c: No level 'q'.", "not reached: e, f"]


def test_rows_that_failed_do_not_hide_the_target() -> None:
    made = result()
    error = Counterfactuals.empty(made.schema, None, target="Target(…)", method="arf", status="error", error="No.")
    assert "· target: class 'good'" in repr(CounterfactualsBatch((error, made), (0, 1)))


def test_many_rows_are_cut() -> None:
    text = repr(CounterfactualsBatch((result(),) * 25, range(25), tuple(range(100, 400))))
    assert "… 15 more" in text
    assert max(map(len, text.splitlines())) <= 120
    assert text.splitlines()[-1].endswith("…")


def test_html_of_a_batch_is_escaped() -> None:
    made = CounterfactualsBatch((result(),), ("<b>&",))
    html = made._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;&amp;" in html
    assert '<th scope="row"' in html
