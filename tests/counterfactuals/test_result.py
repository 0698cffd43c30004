import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.exceptions import DataError, DataTypeError, ParameterError
from countarfactuals.prediction import Target
from countarfactuals.schema import Schema

from .examples import REGRESSION, loans, result

ADDED = ["P(good)", "prediction", "validity", "distance", "n_changed", "implausibility", "log_density"]
ADDED += ["density_cost", "typicality", "typicality_low", "typicality_high", "is_real_row"]


def test_rows_count_and_an_empty_result_is_false() -> None:
    assert len(result()) == 4
    assert result()
    assert not result().filter(max_changed=0)


def test_nothing_can_be_changed_and_inputs_are_copied() -> None:
    x = np.array([1.0, 2.0])
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": [2.5, 3.5]})
    made = replace(result(frame), x=x)
    x[0] = 9
    assert made.x[0] == 1
    with pytest.raises(FrozenInstanceError):
        made.x = x  # type: ignore[misc]
    for array in (made.x, made.rows, made.scores, made.typicality, made.objectives["distance"], made.changed):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("again", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_copies_are_equal_and_read_only_too(again) -> None:
    made = result()
    assert again(made) == made
    assert not again(made).rows.flags.writeable
    assert again(made) != made.select(2)


def test_the_frame_has_the_types_of_the_data() -> None:
    pd.testing.assert_frame_equal(result().to_frame(), loans().iloc[1:].reset_index(drop=True))


def test_objectives_are_added_as_columns() -> None:
    made = result()
    frame = made.to_frame(objectives=True)
    assert list(frame.columns) == [*loans().columns, *ADDED]
    pd.testing.assert_frame_equal(frame[list(loans().columns)], made.to_frame())
    np.testing.assert_array_equal(frame["distance"], made.objectives["distance"])
    assert frame["prediction"].tolist() == ["good"] * 4
    assert frame["is_real_row"].tolist() == [False, True, False, False]
    frame.loc[0, "distance"] = 99.0
    assert made.objectives["distance"][0] == 0.1


@pytest.mark.parametrize("labels", [["good"] * 4, [True] * 4, [1] * 4, [np.int64(1)] * 4])
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_libraries_stay_themselves(library: str, labels: list) -> None:
    frame = pl.DataFrame(
        {"n": [1, 2, 3, None, 4], "c": ["a", "b", "a", "b", None], "t": [True, False, True, True, None]}
    )
    native = frame if library == "polars" else frame.to_arrow()
    made = result(native, labels=labels)
    plain, rich = made.to_frame(), made.to_frame(objectives=True)
    assert type(plain) is type(rich) is type(native)
    as_polars = plain if library == "polars" else pl.from_arrow(plain)
    assert as_polars.equals(frame[1:])
    names = rich.columns if library == "polars" else rich.column_names
    assert names == [*frame.columns, *ADDED]
    assert np.asarray(rich["prediction"]).tolist() == labels
    nothing = made.filter(max_changed=0).to_frame(objectives=True)
    assert type(nothing) is type(native)
    assert len(nothing) == 0


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1.0, 2.5], [2.0, 2.5], [1.0, 3.5]]),
        np.array([["a", "b"], ["c", "b"], ["a", "d"]]),
        np.array([[1, "b"], [2, None], [1, "d"]], dtype=object),
    ],
)
def test_arrays_stay_arrays_and_get_pandas_for_objectives(array: np.ndarray) -> None:
    made = result(array)
    np.testing.assert_array_equal(made.to_frame(), array[1:])
    rich = made.to_frame(objectives=True)
    assert list(rich.columns) == ["x0", "x1", *ADDED]
    assert len(rich) == 2
    assert made.changes()["feature"].tolist() == (["x0", "x1", "x1"] if array.dtype == object else ["x0", "x1"])


def test_a_feature_keeps_its_name_and_the_added_column_gives_way() -> None:
    frame = pd.DataFrame({"prediction": [1.5, 2.5], "typicality": ["a", "b"]})
    rich = result(frame).to_frame(objectives=True)
    assert rich["prediction"].tolist() == [2.5]
    assert rich["prediction_"].tolist() == ["good"]
    assert rich["typicality_"].tolist() == [0.5]


def test_nested_and_integer_names() -> None:
    nested = pd.DataFrame({("a", "x"): [1.5, 2.5], ("a", "y"): [1.5, 1.5]})
    assert result(nested).changes()["feature"].tolist() == [("a", "x")]
    assert "a.x" in repr(result(nested))
    rich = result(nested).to_frame(objectives=True)
    assert rich.columns.tolist() == [("a", "x"), ("a", "y"), *((name, "") for name in ADDED)]
    assert len(result(nested).filter(where=lambda frame: frame["distance"] > 1)) == 0
    assert list(result(pd.DataFrame({0: [1.5, 2.5]})).to_frame(objectives=True).columns) == [0, *ADDED]


def test_a_regression_names_its_prediction_once() -> None:
    made = result(
        score_columns=REGRESSION, x_scores=[10.5], scores=np.arange(4.0)[:, None], labels=list(np.arange(4.0))
    )
    columns = list(made.to_frame(objectives=True).columns)
    assert columns.count("prediction") == 1
    assert "prediction_" not in columns
    assert repr(made).splitlines()[1].count("prediction") == 1


def test_where_rows_change_is_what_the_tables_of_cells_say() -> None:
    plain = result()
    follows = plain.changed & (np.arange(plain.changed.shape[1]) % 2 == 0)
    made = replace(plain, consequence=follows)
    for i, (own, along) in enumerate(made.changes_at):
        assert own == np.flatnonzero(made.changed[i] & ~follows[i]).tolist()
        assert along == np.flatnonzero(follows[i]).tolist()
    assert follows.any()
    assert made.label_texts >= {str(label) for label in (made.x_label, *made.labels)}


def test_changes_are_in_the_users_values() -> None:
    changes = result().changes()
    assert list(changes.columns) == ["counterfactual", "feature", "from", "to", "consequence"]
    assert not changes["consequence"].any()
    assert [tuple(line)[:4] for line in changes.itertuples(index=False)] == [
        (0, "amount", 5000.5, 3200.25),
        (0, "grade", "middle", "high"),
        (1, "age", 30, 31),
        (1, "job", "clerk", "nurse"),
        (1, "owner", False, True),
        (1, "savings", None, 120.0),
        (2, "amount", 5000.5, 7000.75),
        (2, "job", "clerk", None),
        (2, "grade", "middle", "low"),
        (3, "rate", np.pi, np.pi + 1e-6),
    ]
    assert type(changes["to"][2]) is int
    assert changes["from"][5] is None


def test_two_missing_cells_do_not_differ() -> None:
    changed = result().changed
    assert changed.sum(axis=1).tolist() == [2, 4, 3, 1]
    savings = list(loans().columns).index("savings")
    assert changed[:, savings].tolist() == [False, True, False, False]


def test_filter_by_each_condition() -> None:
    made = result()

    def kept(**conditions) -> list[float]:
        return made.filter(**conditions).typicality.tolist()

    every = made.typicality.tolist()
    assert kept() == every
    assert kept(max_changed=2) == [every[0], every[3]]
    assert kept(min_typicality=0.6) == every[2:]
    assert kept(max_distance=0.2) == every[:2]
    assert kept(real_rows=True) == [every[1]]
    assert kept(real_rows=False) == [every[0], *every[2:]]
    assert kept(where=lambda frame: (frame["age"] == 30) & (frame["distance"] < 0.25)) == every[:1]
    assert kept(where=lambda frame: frame["savings"].astype("Float64") > 100) == [every[1]]
    assert kept(where=lambda frame: frame[::-1]["age"] == 30) == kept(where=lambda frame: frame["age"] == 30)
    assert kept(max_changed=2, min_typicality=0.6) == [every[3]]


def test_every_field_follows_the_filter() -> None:
    made = result().filter(real_rows=True)
    assert made.rows.shape == (1, 8)
    assert made.scores.shape == (1, 1)
    assert len(made.labels) == 1
    assert {len(values) for values in made.objectives.values()} == {1}
    assert made.log_density.tolist() == [-2 * np.pi]
    assert made.status == "found"


def test_a_filter_that_leaves_nothing_says_so() -> None:
    made = result().filter(max_changed=0, real_rows=True)
    assert made.status == "none"
    assert "None of the 4 counterfactual(s) passes the filter: max_changed=0, real_rows=True." in repr(made)
    assert made.filter(max_changed=0).notes == made.notes


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"max_changed": -1}, "`max_changed` must be"),
        ({"max_changed": "2"}, "got '2'"),
        ({"min_typicality": 50}, r"in \[0, 1\], got 50"),
        ({"max_distance": float("nan")}, "`max_distance` must be"),
        ({"real_rows": "no"}, "True, False or None"),
        ({"where": "age > 3"}, "must be a function"),
        ({"where": lambda frame: frame["agee"] > 3}, "`where` failed .* KeyError"),
        ({"where": lambda frame: True}, "one bool per row, 4 in all"),
        ({"where": lambda frame: frame["age"]}, "got int32"),
    ],
)
def test_conditions_that_can_not_be_used(conditions: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        result().filter(**conditions)


def test_a_distance_is_needed_to_filter_by_it() -> None:
    with pytest.raises(ParameterError, match="no objective 'distance'; it has 'cost'"):
        result(objectives={"cost": np.zeros(4)}).filter(max_distance=0.5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"x": np.zeros(3)}, r"`x` has shape \(3,\), expected \(8,\)"),
        ({"scores": np.zeros((3, 1))}, "`scores` has shape"),
        ({"typicality": np.zeros(5)}, "`typicality` has shape"),
        ({"objectives": {"cost": np.zeros(2)}}, "objectives"),
        ({"labels": ["good"]}, "1 labels for 4 row"),
        ({"status": "fine"}, "'found', 'already', 'none', 'error'"),
    ],
)
def test_fields_that_do_not_go_together(wrong: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        result(**wrong)


def test_provenance_is_plain() -> None:
    made = result(provenance={"seed": np.int64(3), "sizes": (1, np.float64(2)), "a": np.arange(2)})
    assert made.provenance == {"seed": 3, "sizes": [1, 2.0], "a": [0, 1]}
    with pytest.raises(DataTypeError, match=r"`provenance\['distance'\]`"):
        result(provenance={"distance": len})


def test_an_empty_result_needs_no_row() -> None:
    schema = Schema.infer(loans())
    made = Counterfactuals.empty(schema, None, target=Target("a"), method="arf", status="error", error="No level 'q'.")
    assert len(made) == 0
    assert np.isnan(made.x).all()
    assert len(made.to_frame(objectives=True)) == 0
    assert made.changes().empty
    assert len(made.select(3)) == 0


def test_the_papers_measure_follows_from_the_log_density() -> None:
    made = replace(result(), log_density=[0.0, -1.0, -50.0, 900.0])
    np.testing.assert_allclose(made.density_cost, [np.exp(-1.0), np.exp(-np.exp(-1.0)), 1.0, 0.0], rtol=1e-15)


def test_history_is_a_frame_of_what_an_evolution_left() -> None:
    assert result().history().empty
    left = {
        "generation": [0, 1],
        "hypervolume": [0.1, 0.2],
        "best": {"validity": [0.3, 0.0]},
        "mean": {"validity": [0.5, 0.1]},
    }
    made = replace(result(), provenance={"history": left}).history()
    assert made.columns.tolist() == ["generation", "hypervolume", "best validity", "mean validity"]
    assert made["hypervolume"].tolist() == [0.1, 0.2]
    assert made["mean validity"].tolist() == [0.5, 0.1]
