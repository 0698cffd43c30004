import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch, Diagnosis
from countarfactuals.counterfactuals.storage import write_json
from countarfactuals.exceptions import StorageError
from countarfactuals.prediction import Score, Target

from .examples import loans, result

FLOATS = st.floats(width=64)
OLD = Path(__file__).parent.parent / "reference" / "files" / "0.1"
DOCS = Path(__file__).parent.parent.parent / "docs"


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal to the bit; every NaN is the same one."""
    a, b = (np.where(np.isnan(values), np.nan, values) for values in (np.asarray(a), np.asarray(b)))
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def full() -> Counterfactuals:
    diagnosis = Diagnosis(10, 4, {"fixed: age": 3}, result().rows[1], np.array([0.4]), np.inf, {"fixed: age": 2})
    return result(
        notes=("a note", "two\nlines"),
        constraints=Constraints(fixed=["age"], ranges={"amount": (None, 9000.5)}, allowed={"job": ["nurse"]}),
        diagnosis=diagnosis,
        error="zürich ☃ \ud800",
        measure="mean log density of the trees",
        x_log_density=-np.inf,
        x_typicality=np.nan,
        log_density=[np.nan, -0.0, np.inf, 5e-324],
        x_label=False,
        labels=[True, None, 1, np.nan],
        provenance={"a": {"$float": "nan"}, "b": [np.inf, None, 1, 1.0, True], "c": {"$x": {"deep": np.nan}}},
    )


def test_every_field_comes_back() -> None:
    made = full()
    text = made.to_json()
    again = Counterfactuals.from_json(text)
    assert again.to_json() == text
    assert again.schema == made.schema
    for name in ("x", "rows", "scores", "x_scores", "log_density", "typicality", "is_real_row"):
        assert same_bits(getattr(again, name).astype(float), getattr(made, name).astype(float)), name
    assert again.is_real_row.dtype == bool
    assert list(again.objectives) == list(made.objectives)
    assert all(same_bits(again.objectives[name], made.objectives[name]) for name in made.objectives)
    for name in ("target", "method", "status", "score_columns", "notes", "constraints", "measure", "error", "x_label"):
        assert getattr(again, name) == getattr(made, name), name
    assert [type(label) for label in again.labels] == [bool, type(None), int, float]
    assert repr(again.provenance) == repr(made.provenance)
    assert again.x_log_density == -np.inf
    assert np.isnan(again.x_typicality)
    assert again.diagnosis is not None
    assert again.diagnosis.nearest_miss_distance == np.inf
    assert again.diagnosis.text(again) == made.diagnosis.text(made)
    assert same_bits(again.diagnosis.nearest_miss, made.diagnosis.nearest_miss)
    pd.testing.assert_frame_equal(again.to_frame(objectives=True), made.to_frame(objectives=True))


def test_how_many_were_found_comes_back() -> None:
    again = Counterfactuals.from_json(result().select(2).to_json())
    assert (len(again), again.n_found) == (2, 4)
    batch = CounterfactualsBatch((result().select(1),), (0,))
    assert CounterfactualsBatch.from_json(batch.to_json())[0].n_found == 4


def test_files_of_earlier_versions_are_read() -> None:
    """Written by version 0.1, with what it printed."""
    found = Counterfactuals.from_json(OLD / "result.json")
    assert found.target == Target("good", probability=(0.7, 1.0))
    assert found.score_columns == (Score("probability", "good"),)
    assert f"{found!r}\n\n{found.describe()}".split("\n") == (OLD / "result.txt").read_text("utf-8").split("\n")
    none = Counterfactuals.from_json(OLD / "none.json")
    assert repr(none) == (OLD / "none.txt").read_text("utf-8")
    batch = CounterfactualsBatch.from_json(OLD / "batch.json")
    assert [result.target for result in batch] == [Target("good")] * 2
    assert CounterfactualsBatch.from_json(batch.to_json()) == batch


def test_the_text_is_strict_json() -> None:
    def refuse(token: str) -> None:
        raise AssertionError(token)

    stored = json.loads(full().to_json(), parse_constant=refuse)
    assert stored["format"] == "countarfactuals.Counterfactuals"
    assert stored["version"] == 2


@given(st.lists(st.tuples(FLOATS, FLOATS, FLOATS), max_size=6))
def test_floats_keep_every_bit(numbers: list[tuple[float, float, float]]) -> None:
    values = np.array(numbers, dtype=float).reshape(-1, 3)
    n = len(values)
    frame = pd.DataFrame({"a": np.arange(n + 1) + 0.5, "b": np.arange(n + 1) + 0.5})
    made = result(
        frame, rows=values[:, :2], scores=values[:, 2:], objectives={"extra": values[:, 0]}, log_density=values[:, 1]
    )
    again = Counterfactuals.from_json(made.to_json())
    assert same_bits(again.rows, made.rows)
    assert same_bits(again.scores, made.scores)
    assert same_bits(again.objectives["extra"], made.objectives["extra"])
    assert same_bits(again.log_density, made.log_density)


@pytest.mark.parametrize(
    "frame",
    [
        loans(),
        pl.DataFrame({"n": [1, 2], "c": ["a", "b"]}, schema_overrides={"n": pl.Int8, "c": pl.Enum(["a", "b"])}),
        pl.DataFrame({"n": [1, 2], "c": ["a", "b"]}).to_arrow(),
        np.array([[1.5, 2.0], [2.5, 2.0]]),
        pd.DataFrame({("a", "x"): [1.5, 2.5], ("a", "y"): [1.5, 1.5]}),
        pd.DataFrame(np.eye(3) + 0.5),
    ],
)
def test_frames_of_every_library_come_back(frame) -> None:
    made = result(frame)
    again = Counterfactuals.from_json(made.to_json())
    assert again == made
    assert type(again.to_frame()) is type(made.to_frame())
    assert repr(again) == repr(made)


@pytest.mark.parametrize("as_path", [Path, str])
def test_a_file(tmp_path: Path, as_path) -> None:
    path = as_path(tmp_path / "result.json")
    text = full().to_json(path)
    assert Counterfactuals.from_json(path) == full()
    assert Path(path).read_text(encoding="utf-8") == text
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]


def stored(**changes) -> str:
    contents = result().to_dict() | changes
    return write_json({key: value for key, value in contents.items() if value != "drop"}, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (stored(version=3), r"version 3; this countarfactuals reads up to 2\. Update"),
        (result().to_json().replace("0.31", "0.32"), "The digest does not fit"),
        (stored(version="1"), "version .* is '1'"),
        (stored(format="lime.Explanation"), "its format is 'lime.Explanation'"),
        ("{}", "its format is None"),
        (stored()[:-40], "not JSON, or cut off"),
        ('{"format": NaN}', "it holds NaN"),
        (stored(x="drop"), "lack the key 'x'"),
        (stored(x=[1.0]), "`x` has shape"),
        (stored(rows=[[1.0], [1.0, 2.0]]), "damaged"),
        (stored(rows=[["one"] * 8]), "'one' stands where a number should"),
        (stored(typicality=[True] * 4), "True stands where a number should"),
        (stored(schema={"backend": "pandas"}), "lack the key 'columns'"),
        (stored(schema=None), "damaged"),
        (stored(objectives=[1]), "damaged"),
        (stored(diagnosis={"n_tried": 3}), "lack the key 'n_invalid'"),
        (stored(n_found=1), "damaged.*`n_found`"),
        (stored(n_found="4"), "damaged.*`n_found`"),
        (stored(status="fine"), "damaged.*'found', 'already'"),
        ("[1, 2]", "neither JSON text .* nor a file"),
        ("no/such/file.json", "neither JSON text .* nor a file"),
        ("x" * 5000, "Can not read|neither"),
        ("a\0b", "Can not read"),
        (17, "JSON text or a path, got int"),
    ],
)
def test_what_can_not_be_read(text, message: str) -> None:
    with pytest.raises(StorageError, match=message):
        Counterfactuals.from_json(text)


def test_cut_anywhere_it_is_a_storage_error() -> None:
    text = full().to_json()
    for end in range(0, len(text), 97):
        with pytest.raises(StorageError):
            Counterfactuals.from_json(text[:end])


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(StorageError, match="Can not read"):
        Counterfactuals.from_json(tmp_path / "a.json")
    with pytest.raises(StorageError):
        Counterfactuals.from_json(tmp_path)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="There is no folder"):
        result().to_json(tmp_path / "no" / "result.json")


def test_labels_that_json_does_not_know() -> None:
    with pytest.raises(StorageError, match="type complex can not be written"):
        result(x_label=1j).to_json()


def test_names_that_json_does_not_know() -> None:
    with pytest.raises(StorageError, match="Use names of str or int"):
        result(pd.DataFrame({np.inf: [1.5, 2.5]})).to_json()


def test_each_kind_is_read_by_its_own_class() -> None:
    batch = CounterfactualsBatch((result(),), (0,))
    with pytest.raises(StorageError, match=r"`CounterfactualsBatch\.from_json`"):
        Counterfactuals.from_json(batch.to_json())
    with pytest.raises(StorageError, match=r"`Counterfactuals\.from_json`"):
        CounterfactualsBatch.from_json(result().to_json())


@pytest.mark.parametrize("made", [full(), result(), result().select(1), result().filter(max_changed=0)])
def test_the_text_obeys_the_written_schema(made: Counterfactuals) -> None:
    schema = json.loads((DOCS / "reference" / "result.schema.json").read_text(encoding="utf-8"))
    stored = json.loads(made.to_json())
    jsonschema.Draft202012Validator(schema).validate(stored)
    for key in ("digest", "target", "rows"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({name: value for name, value in stored.items() if name != key}, schema)
