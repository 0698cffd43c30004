"""Files that are whole or not there."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from countarfactuals.datasets.paper import PAPER_SETS
from countarfactuals.exceptions import StorageError
from countarfactuals.files import unfinished_beside
from countarfactuals.study.design import METHODS
from countarfactuals.study.measures import KEYS
from countarfactuals.study.mending import mend
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
    assert (tmp_path / "t.csv").read_bytes() == b"a,b,c\n1.5,x,True\n3.141592653589793,y,False\n,z,True\n"


def test_a_folder_belongs_to_one_study(tmp_path: Path) -> None:
    store = Store(tmp_path / "out")
    store.begin({"seed": 1, "preset": "paper"}, resume=False)
    with pytest.raises(StorageError, match=r"holds a study already\. Pass --resume"):
        store.begin({"seed": 1, "preset": "paper"}, resume=False)
    store.begin({"seed": 1, "preset": "paper"}, resume=True)
    with pytest.raises(StorageError, match="has another 'seed', such as 1 instead of 2"):
        store.begin({"seed": 2, "preset": "paper"}, resume=True)


FOREIGN = (".2024.backup/thesis.tex", ".0notes.txt", ".7.x/summary.csv", "work/.123.bn_5/x", "work/.77.001.parquet")


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("name", [*FOREIGN, "thesis.tex", ".12.summary.csv", ".x.design.json"])
def test_a_folder_that_is_no_study_is_refused_and_left_alone(tmp_path: Path, name: str, resume: bool) -> None:
    put(tmp_path, name)
    with pytest.raises(StorageError, match="not empty and holds no study"):
        Store(tmp_path).begin({"seed": 1}, resume=resume)
    assert files(tmp_path) == {name}


@pytest.mark.parametrize("resume", [False, True])
def test_a_study_killed_at_its_very_start_can_begin_again(tmp_path: Path, resume: bool) -> None:
    put(tmp_path, ".design.json.123.unfinished")
    store = Store(tmp_path)
    store.begin({"seed": 1}, resume=resume)
    store.sweep(PAPER_SETS, METHODS)
    assert files(tmp_path) == {"design.json"}


@pytest.mark.parametrize("content", ["[1, 2]", "no JSON", "{}"])
def test_a_foreign_design_is_no_study(tmp_path: Path, content: str) -> None:
    (tmp_path / "design.json").write_text(content)
    with pytest.raises(StorageError):
        Store(tmp_path).begin({"seed": 1}, resume=True)
    assert (tmp_path / "design.json").read_text() == content
    with pytest.raises(StorageError, match="is a file"):
        Store(tmp_path / "design.json").begin({"seed": 1}, resume=True)


def unfinished(path: str) -> str:
    """What a process writes to before the file is complete."""
    return unfinished_beside(Path(path)).as_posix()


def test_sweep_removes_only_what_is_unfinished(tmp_path: Path) -> None:
    ours = [
        *(unfinished(f"{name}") for name in ("design.json", "summary.csv", "report.html", "counterfactuals.parquet")),
        *map(
            unfinished,
            (
                "trade_off.csv",
                "calibration.csv",
                "figures/calibration.png",
                "figures/boxes.png",
                "figures/pairs_bn_20.pdf",
            ),
        ),
        *(f"{unfinished('data/bn_5')}/data.csv", f"{unfinished('data/cassini')}/sub/file"),
        *map(unfinished, ("work/bn_5/forest.json", "work/bn_5/forest.npz", "work/bn_5/arf/fit.json")),
        *map(unfinished, ("work/two_sines/mocctree/001.parquet", "work/bn_5/nice/1000.parquet")),
    ]
    others = [
        *(*FOREIGN, ".hidden", ".1.summary.csv", ".summary.csv.a1.unfinished", "summary.csv.1.unfinished"),
        *(f"{unfinished('summary.csv')}.bak", "summary.csv", "work/bn_5/arf/001.parquet", "work/bn_5/arf/fit.json"),
        *map(unfinished, ("thesis.csv", "notes/summary.csv", "figures/mine.png", "work/bn_5/summary.csv")),
        *map(unfinished, ("forest.npz", "work/bn_5/arf/01.parquet", "work/mine/arf/001.parquet")),
        *(f"{unfinished('data/mine')}/data.csv", f"{unfinished('data/backup')}/bn_5/x"),
        f"{unfinished('per_instance.csv')}/thesis.tex",
    ]
    put(tmp_path, *ours, *others)
    links = {unfinished("findings.csv"): "summary.csv", unfinished("data/bn_10"): "notes"}
    for link, target in links.items():
        (tmp_path / link).symlink_to(tmp_path / target)
    Store(tmp_path).sweep(PAPER_SETS, METHODS)
    assert files(tmp_path) >= set(others)
    assert not files(tmp_path) & set(ours)
    assert not (tmp_path / unfinished("data/bn_5")).exists()
    assert all((tmp_path / link).is_symlink() for link in links)
    Store(tmp_path / "absent").sweep(PAPER_SETS, METHODS)


def test_environments_are_kept_the_first_one_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = {"written": "1", "python": "3.11"}, {"written": "2", "python": "3.12"}
    assert store.record_environment(first) == [first]
    assert store.record_environment({**first, "written": "9"}) == [first]  # the same but for its date
    assert store.record_environment(second) == [first, second]
    assert store.environments() == [first, second]
    write_json(tmp_path / "environment.json", first)  # as studies were once written
    assert store.record_environment(second) == [first, second]


def test_csv_gives_every_bit_back(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=500) * 10.0 ** np.random.default_rng(2).integers(-300, 300, 500)
    write_csv(tmp_path / "t.csv", pd.DataFrame({"a": values}))
    assert [float(line) for line in (tmp_path / "t.csv").read_text().split()[1:]] == values.tolist()


def test_flipped_bits_of_tables_are_found(tmp_path: Path) -> None:
    """Every bit that changes a cell, or what is known of the table, is told; the others change nothing."""
    path, damaged = tmp_path / "a.parquet", tmp_path / "b.parquet"
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"number": rng.normal(size=40), "count": range(40), "name": ["α", None] * 20})
    write_parquet(path, frame, {"seconds": 1.5})
    content = path.read_bytes()
    refused = harmless = 0
    for place in rng.choice(8 * len(content), 400, replace=False).tolist():
        changed = bytearray(content)
        changed[place // 8] ^= 1 << (place % 8)
        damaged.write_bytes(changed)
        try:
            pd.testing.assert_frame_equal(read_parquet(damaged), read_parquet(path))
            assert read_meta(damaged) == {"seconds": 1.5}
        except StorageError as error:
            refused += "b.parquet" in str(error)
        else:
            harmless += 1
    assert refused + harmless == 400
    assert refused > 200


def test_what_is_damaged_is_named_and_goes(tmp_path: Path) -> None:
    store, keys = Store(tmp_path), [("set", "arf", k) for k in (1, 2, 3)]
    for key in keys:
        frame = pd.DataFrame([dict(zip(KEYS, key, strict=True))])
        write_parquet(store.explanation(*key), frame, dict(zip(KEYS, key, strict=True)))
    write_json(store.fit_record("set", "arf"), {"seconds": 1.0})
    assert list(mend(store, ["set"], keys)) == []
    shutil.copyfile(store.explanation(*keys[0]), store.explanation(*keys[1]))  # whole, and of another instance
    store.explanation(*keys[2]).write_bytes(store.explanation(*keys[2]).read_bytes()[:-9])
    store.fit_record("set", "arf").write_text("{")
    damaged = [store.fit_record("set", "arf"), *(store.explanation(*key) for key in keys[1:])]
    assert list(mend(store, ["set"], keys)) == damaged
    assert [path.exists() for path in damaged] == [False] * 3
    assert store.explanation(*keys[0]).exists()
