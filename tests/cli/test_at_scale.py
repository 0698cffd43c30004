"""Files explained part by part: what `explain` gives, also after a kill, and never results of another question."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from countarfactuals.counterfactuals.lines import FIELDS
from countarfactuals.scale import saved

from ..scale.conftest import folder

__all__ = ["folder"]
N = 40


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of rows with keys, a CSV and a Parquet file, in one of which a cell can not be read."""
    place, rng = tmp_path_factory.mktemp("rows"), np.random.default_rng(3)
    frame = pd.DataFrame({"id": [f"0{i}" for i in range(N)], "income": rng.gamma(4, 6000, N).round(2)})
    frame["job"], frame["wanted"] = rng.choice(["clerk", "cook"], N), ["good", None] * (N // 2)
    first = frame[: N // 2].astype({"income": object})
    first.iloc[4, 1] = "abc"
    first.to_csv(place / "0.csv", index=False)
    frame[N // 2 :].to_parquet(place / "1.parquet", index=False)
    return place


def words(folder: Path, data: Path, out: Path, *more: object) -> list[str]:
    asked = ["--want", "good", "--max-evaluations", "20", "--rows-per-part", "6", "--key", "id", "--engine", "local"]
    named = ["explain", "--explainer", folder, "--data", data / "?.*", "--out", out]
    return [str(word) for word in (*named, *asked, *more)]


@pytest.fixture(scope="module")
def whole(folder: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of one run that nothing disturbs."""
    from countarfactuals.cli import main

    out = tmp_path_factory.mktemp("whole") / "results"
    assert main(words(folder, data, out)) == 1  # as one row has an error
    return out


def lines_of(out: Path) -> pd.DataFrame:
    return pd.read_parquet(out)


def stamps(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in out.glob("*.parquet")}


def copy_of(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "results"))


def test_lines_are_those_of_all_rows_at_once(folder, data, whole):
    made = lines_of(whole)
    assert list(made) == ["file", *(field.name for field in FIELDS)]
    assert made["row"].drop_duplicates().tolist() == [f"0{i}" for i in range(N)]
    assert set(made["file"]) == {str(data / "0.csv"), str(data / "1.parquet")}
    assert sorted(path.name for path in whole.glob("part-*")) == [f"part-00000{k}.parquet" for k in range(8)]
    error = made[made["status"] == "error"]
    assert error["row"].tolist() == ["04"]
    assert "'abc'" in error["reason"].item()
    rows = pd.read_parquet(data / "1.parquet").drop(columns="wanted")
    expected = saved(folder, max_evaluations=20).loaded().explain_frame(rows, "good", key="id")
    own = made[made["file"] == str(data / "1.parquet")].drop(columns="file").reset_index(drop=True)
    pd.testing.assert_frame_equal(own, expected, check_dtype=False)


def test_a_kill_costs_no_part_that_is_finished(folder, data, whole, tmp_path, run):
    out = tmp_path / "results"
    command = [sys.executable, "-m", "countarfactuals", *words(folder, data, out)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    for _ in range(1200):
        if len(stamps(out)) >= 2 or process.poll() is not None:
            break
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    before = stamps(out)
    assert 2 <= len(before) < 8
    assert run(*words(folder, data, out, "--resume")).code == 1
    assert {name: stamp for name, stamp in stamps(out).items() if name in before} == before
    pd.testing.assert_frame_equal(lines_of(out), lines_of(whole))


def test_parts_that_are_damaged_or_of_others_are_done_again(folder, data, whole, tmp_path, run):
    out = copy_of(whole, tmp_path)
    shutil.copyfile(out / "part-000000.parquet", out / "part-000003.parquet")
    content = bytearray((out / "part-000005.parquet").read_bytes())
    for at in range(len(content) // 4, len(content) // 2, 7):  # single bytes may lie where nothing depends on them
        content[at] ^= 1
    (out / "part-000005.parquet").write_bytes(content)
    (out / "part-000006.parquet").unlink()
    (out / ".part-000006.parquet.4711.unfinished").touch()
    before = stamps(out)
    done = run(*words(folder, data, out, "--resume"))
    assert "5 of 8 parts are finished already" in done.err
    after = stamps(out)
    assert {name for name in after if after[name] != before.get(name)} == {f"part-00000{k}.parquet" for k in (3, 5, 6)}
    assert not list(out.glob(".part*"))
    pd.testing.assert_frame_equal(lines_of(out), lines_of(whole))


@pytest.mark.parametrize(
    ("more", "differing"),
    [
        (["--want", "bad"], "'target'"),
        (["--fix", "job"], "'constraints'"),
        (["--max-evaluations", "50"], "'explainer', 'settings'"),
        (["--rows-per-part", "7"], "'rows per part'"),
        (["--top", "1"], "'top'"),
    ],
)
def test_another_question_is_refused(folder, data, whole, run, more, differing):
    before = stamps(whole)
    done = run(*words(folder, data, whole, "--resume", *more))
    assert done.code == 1
    assert f"were begun with another {differing}" in done.lines[-1]
    assert stamps(whole) == before


def test_changed_input_is_refused(folder, data, whole, tmp_path, run):
    changed = Path(shutil.copytree(data, tmp_path / "rows"))
    out = tmp_path / "results"
    run(*words(folder, changed, out))
    text = (changed / "0.csv").read_text(encoding="utf-8")
    (changed / "0.csv").write_text(text.replace("abc", "123"), encoding="utf-8")
    assert "were begun with another 'input'" in run(*words(folder, changed, out, "--resume")).lines[-1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "has results already. Pass --resume"),
        (["--rows", "1"], "'--rows' can not be said with --engine"),
        (["--format", "csv"], "--engine writes Parquet files"),
        (["--out", "-"], "Name a folder"),
        (["--key", "idd"], "has no column 'idd'"),
        (["--address", "tcp://x"], "--address is that of a cluster"),
        (["--rows-per-part", "0"], "--rows-per-part must be"),
    ],
)
def test_what_can_not_be_done_is_refused(folder, data, whole, run, more, said):
    done = run(*words(folder, data, whole, *more))
    assert done.code == 1
    assert said in done.lines[-1]


def test_options_of_engines_need_one(folder, data, run):
    done = run("explain", "--explainer", folder, "--data", data / "0.csv", "--resume")
    assert "belong to --engine" in done.err


def test_strange_files_are_refused(folder, data, whole, tmp_path, run):
    out = copy_of(whole, tmp_path)
    shutil.copyfile(out / "part-000000.parquet", out / "copy.parquet")
    assert "holds 'copy.parquet' besides its parts" in run(*words(folder, data, out, "--resume")).err
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.txt").touch()
    assert "holds something else" in run(*words(folder, data, other)).err


def test_a_column_says_what_is_wanted_of_each_row(folder, data, tmp_path, run):
    out = tmp_path / "results"
    line = words(folder, data, out, "--want-column", "wanted")
    at = line.index("--want")
    assert run(*line[:at], *line[at + 2 :]).code == 1
    first = lines_of(out).drop_duplicates("row")
    assert (first["status"] == "already").sum() < N / 2
    without = first[first["row"].isin([f"0{i}" for i in range(1, N, 2)])]
    assert "already" not in set(without["status"])


def test_numbers_of_rows_are_keys_where_none_is_named(folder, data, tmp_path, run):
    out = tmp_path / "results"
    run("explain", "--explainer", folder, "--data", data / "0.csv", "--out", out, "--want", "good", "--top", 1,
        "--max-evaluations", 20, "--engine", "local", "--rows-per-part", 8)  # fmt: skip
    made = lines_of(out)
    assert made["row"].tolist() == list(range(N // 2))


@pytest.mark.scale
@pytest.mark.parametrize("engine", ["local", "dask", "spark", "ray"])
def test_all_engines_give_the_same_files(folder, data, whole, tmp_path, run, engine):
    skip_without_java(engine)
    out = tmp_path / "results"
    assert run(*words(folder, data, out, "--engine", engine, "--jobs", 2)).code == 1
    pd.testing.assert_frame_equal(lines_of(out), lines_of(whole))


@pytest.mark.scale
@pytest.mark.parametrize("engine", ["dask", "spark", "ray"])
def test_an_engine_goes_on_after_a_kill(folder, data, whole, tmp_path, run, engine):
    skip_without_java(engine)
    out = tmp_path / "results"
    command = [sys.executable, "-m", "countarfactuals", *words(folder, data, out, "--engine", engine, "--jobs", 1)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        for _ in range(6000):
            if stamps(out) or process.poll() is not None:
                break
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)  # with its workers, which would go on
    before = at_rest(out)
    assert 1 <= len(before) < 8
    done = run(*words(folder, data, out, "--engine", engine, "--jobs", 2, "--resume"))
    assert f"{len(before)} of 8 parts are finished already" in done.err
    assert {name: stamp for name, stamp in stamps(out).items() if name in before} == before
    pd.testing.assert_frame_equal(lines_of(out), lines_of(whole))


def at_rest(out: Path) -> dict[str, int]:
    """The stamps when nothing has been written for five seconds: Ray's workers end a little after their driver."""
    before: dict[str, int] = {}
    while before != (now := stamps(out)):
        before = now
        time.sleep(5.0)
    return before


def skip_without_java(engine: str) -> None:
    if engine == "spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed; its tests are left out")
