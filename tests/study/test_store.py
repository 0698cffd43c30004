"""Files that are whole or not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from countarfactuals.exceptions import StorageError
from countarfactuals.study.store import (
    Store,
    finished_folder,
    read_meta,
    read_parquet,
    replace,
    write_csv,
    write_json,
    write_parquet,
)


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a" / "file.txt"
    replace(path, lambda place: place.write_text("old"))

    def fail(place: Path) -> None:
        place.write_text("half of")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        replace(path, fail)
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_appears_when_it_is_whole(tmp_path: Path) -> None:
    def write(fails: bool) -> None:
        with finished_folder(tmp_path / "set") as place:
            (place / "one").write_text("1")
            assert not (tmp_path / "set").exists()
            if fails:
                raise RuntimeError
            (place / "two").write_text("2")

    with pytest.raises(RuntimeError):
        write(fails=True)
    assert list(tmp_path.iterdir()) == []
    write(fails=False)
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == ["one", "two"]
    with finished_folder(tmp_path / "set") as place:  # another process was faster: what it wrote stays
        (place / "three").write_text("3")
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == ["one", "two"]


def test_tables_come_back(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.5, np.pi, np.nan], "b": ["x", "y", "z"], "c": [True, False, True]})
    write_parquet(tmp_path / "t.parquet", frame, {"seconds": 1.25})
    pd.testing.assert_frame_equal(read_parquet(tmp_path / "t.parquet"), frame, check_dtype=False)
    assert read_meta(tmp_path / "t.parquet") == {"seconds": 1.25}
    write_csv(tmp_path / "t.csv", frame)
    assert (tmp_path / "t.csv").read_bytes() == b"a,b,c\n1.5,x,True\n3.141592654,y,False\n,z,True\n"


def test_a_folder_belongs_to_one_study(tmp_path: Path) -> None:
    store = Store(tmp_path / "out")
    store.begin({"seed": 1, "preset": "paper"}, resume=False)
    with pytest.raises(StorageError, match=r"holds a study already\. Pass --resume"):
        store.begin({"seed": 1, "preset": "paper"}, resume=False)
    store.begin({"seed": 1, "preset": "paper"}, resume=True)
    with pytest.raises(StorageError, match="has another 'seed', such as 1 instead of 2"):
        store.begin({"seed": 2, "preset": "paper"}, resume=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    with pytest.raises(StorageError, match="not empty"):
        Store(tmp_path / "full").begin({"seed": 1}, resume=False)


def test_sweep_removes_only_what_is_unfinished(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "work" / ".123.bn_5").mkdir(parents=True)
    (tmp_path / "work" / ".123.bn_5" / "x").write_text("")
    (tmp_path / "work" / ".77.001.parquet").write_text("")
    (tmp_path / "work" / "forest.npz.77.unfinished").write_text("")
    write_json(tmp_path / "work" / "fit.json", {})
    (tmp_path / ".hidden").write_text("")
    store.sweep()
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        ".hidden",
        "work",
        "work/fit.json",
    ]
