from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from countarfactuals.datasets import (
    Cassini,
    LoanProcess,
    Process,
    ThreeBlobs,
    TwoSines,
    random_network,
    random_plane,
    read_process,
    write_process,
)
from countarfactuals.exceptions import DataError, DataTypeError, ParameterError, StorageError

PROCESSES = [
    Cassini(),
    TwoSines(),
    ThreeBlobs(),
    ThreeBlobs(means=((-10.0, 5.0), (0.0, 5.0), (0.0, 0.0)), sd=0.5),
    LoanProcess(),
    random_plane(random_state=3),
    random_network(6, categorical_share=0.5, n_levels=[2, 4], random_state=1),
    random_network(3, sine=False, random_state=2),
]
every_process = pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.kind)


@every_process
def test_sample_has_features_then_label_and_finite_density(process: Process) -> None:
    frame = process.sample(50, random_state=0)
    assert tuple(frame.columns) == (*process.feature_names, "y")
    density = process.log_density(frame)
    assert density.shape == (50,)
    assert np.isfinite(density).all()


@every_process
def test_sample_is_determined_by_random_state(process: Process) -> None:
    first = process.sample(30, random_state=7)
    pd.testing.assert_frame_equal(first, process.sample(30, random_state=7))
    pd.testing.assert_frame_equal(first, process.sample(30, random_state=np.random.default_rng(7)))
    assert not first.equals(process.sample(30, random_state=8))


@every_process
def test_file_round_trip_keeps_every_bit(process: Process, tmp_path) -> None:
    path = tmp_path / "dgp.json"
    write_process(process, path)
    again = read_process(path)
    assert again == process
    frame = process.sample(40, random_state=3)
    np.testing.assert_array_equal(again.log_density(frame), process.log_density(frame))


@every_process
def test_log_density_ignores_other_columns_their_order_and_does_not_mutate(process: Process) -> None:
    frame = process.sample(20, random_state=4)
    before = frame.copy(deep=True)
    turned = frame[frame.columns[::-1]].assign(extra=1.0)
    np.testing.assert_array_equal(process.log_density(turned), process.log_density(frame.drop(columns="y")))
    pd.testing.assert_frame_equal(frame, before)


@every_process
def test_missing_cells_and_columns_are_errors(process: Process) -> None:
    frame = process.sample(10, random_state=5)
    name = process.feature_names[-1]
    holed = frame.assign(**{name: frame[name].mask(frame.index == 3)})
    with pytest.raises(DataError, match="Drop these rows or impute"):
        process.log_density(holed)
    with pytest.raises(DataError, match=f"lacks '{name}'"):
        process.log_density(frame.drop(columns=name))


def test_polars_frames_are_accepted() -> None:
    polars = pytest.importorskip("polars")
    for process in PROCESSES:
        frame = process.sample(20, random_state=6)
        np.testing.assert_array_equal(process.log_density(polars.from_pandas(frame)), process.log_density(frame))


def test_wrong_arguments_are_errors() -> None:
    process = Cassini()
    for n in (0, -1, 2.5, True, "3"):
        with pytest.raises(ParameterError, match="n must be an integer from 1"):
            process.sample(n)
    with pytest.raises(ParameterError, match="random_state"):
        process.sample(3, random_state="today")
    with pytest.raises(DataTypeError, match="data frame"):
        process.log_density(np.zeros((2, 2)))
    with pytest.raises(DataTypeError, match="must hold numbers"):
        process.log_density(pd.DataFrame({"x1": ["a"], "x2": [0.0]}))
    with pytest.raises(DataError, match="infinite"):
        process.log_density(pd.DataFrame({"x1": [np.inf], "x2": [0.0]}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[1]", "no key 'kind'"),
        ('{"nodes": []}', "no key 'kind'"),
        ('{"kind": "casini"}', "Did you mean 'cassini'"),
        ('{"kind": ["cassini"]}', "unknown kind"),
        ('{"kind": "three_blobs", "sd": 1.0}', "lacks the key 'means'"),
        ('{"kind": "three_blobs", "sd": 1.0, "means": [[1, 2, 3]]}', "can not be used"),
        ('{"kind": "three_blobs", "sd": 0, "means": [[1, 2]]}', "above 0"),
        ('{"kind": "bayesian_network", "nodes": [{"name": "y"}]}', "lacks the key 'kind'"),
        ('{"kind": "bayesian_network", "nodes": "abc"}', "can not be used"),
    ],
)
def test_damaged_files_are_errors(text: str, message: str, tmp_path) -> None:
    path = tmp_path / "dgp.json"
    path.write_text(text)
    with pytest.raises(StorageError, match=message):
        read_process(path)


def test_missing_file_is_an_error(tmp_path) -> None:
    with pytest.raises(StorageError, match="Can not read"):
        read_process(tmp_path / "absent.json")


def test_written_file_is_plain_json(tmp_path) -> None:
    path = tmp_path / "dgp.json"
    write_process(ThreeBlobs(), path)
    assert json.loads(path.read_text()) == {"kind": "three_blobs", "means": [[-10, 5], [0, 5], [10, 0]], "sd": 1.0}
