"""A small study from end to end: its files, its resumption after a kill, and processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("xgboost")
pytest.importorskip("networkx")
pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

from countarfactuals import _optional
from countarfactuals.cli import main
from countarfactuals.exceptions import MissingDependencyError, StorageError
from countarfactuals.explainers import ARFExplainer
from countarfactuals.language import Catalogue, speaking
from countarfactuals.report.page import text
from countarfactuals.study import Design, run_study, store
from countarfactuals.study.report import to_html
from countarfactuals.study.store import FIGURES, TABLES, read_meta, read_parquet, write_parquet
from countarfactuals.study.tables import Tables
from countarfactuals.study.telling import CLAIMS, claim_sentences, told_required

DESIGN = Design(
    methods=("arf", "moc", "nice"),
    sets=("cassini", "bn_5"),
    n_instances=2,
    max_evaluations=120,
    n_rows=300,
    n_estimators=5,
    seed=3,
)
OPTIONS = ["--generate", "--methods", "arf,moc,nice", "--sets", "cassini,bn_5", "--instances", "2"]
OPTIONS += ["--evaluations", "120", "--rows", "300", "--trees", "5", "--seed", "3"]
N_EXPLANATIONS = 12
TOP = ("design.json", "environment.json", "report.html", "counterfactuals.parquet")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tables, Path]:
    out = tmp_path_factory.mktemp("whole") / "out"
    return run_study(DESIGN, out, quiet=True), out


def same_tables(one: Path, other: Path) -> None:
    """Byte for byte, apart from seconds."""
    for name in ("counterfactuals.parquet", "pooled_correlations.csv", "calibration.csv", "design.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    for name in ("per_instance.csv", "summary.csv", "fit_seconds.csv"):
        tables = [pd.read_csv(place / name, dtype=str) for place in (one, other)]
        texts = [table[[c for c in table if not c.startswith("seconds")]].to_csv() for table in tables]
        assert texts[0] == texts[1], name


def as_in(X: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The features of candidates, whose levels are written as numbers."""
    levels = [name for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)]
    whole = rows[list(X)].astype(dict.fromkeys(levels, int)).astype(dict.fromkeys(levels, str))
    return whole.astype(X.dtypes)


def explained(out: Path) -> list[Path]:
    return sorted(out.glob("work/*/*/[0-9]*.parquet"))


def test_all_files_are_there(whole: tuple[Tables, Path]) -> None:
    tables, out = whole
    names = {path.name for path in out.iterdir()}
    assert names >= {
        *("counterfactuals.parquet", "per_instance.csv", "summary.csv", "fit_seconds.csv", "environment.json"),
        *("report.html", "findings.csv", "pooled_correlations.csv", "calibration.csv"),
    }
    figures = ["boxes", "attainment_distance", "attainment_changed", "correlations", "calibration"]
    figures += ["pairs_cassini", "pairs_bn_5"]
    for figure in figures:
        assert (out / "figures" / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / "figures" / f"{figure}.pdf").read_bytes().startswith(b"%PDF")
    assert len(explained(out)) == N_EXPLANATIONS
    assert len(tables.versions) == 1
    (environment,) = json.loads((out / "environment.json").read_text())["environments"]
    assert environment["design"] == DESIGN.to_dict()
    assert environment["packages"]["xgboost"]
    assert not list(out.rglob(".[0-9]*"))
    instances = pd.read_csv(out / "per_instance.csv")
    pd.testing.assert_frame_equal(instances, tables.per_instance, check_dtype=False, rtol=1e-14)
    assert names >= {f"{name}.csv" for name in TABLES}
    assert {path.stem for path in (out / "figures").iterdir()} <= {
        *FIGURES,
        "pairs_cassini",
        "pairs_bn_5",
    }  # else the sweep would miss them
    assert names <= {*(f"{name}.csv" for name in TABLES), *TOP, "figures", "work", "data"}


def test_tables_tell_what_candidates_say(whole: tuple[Tables, Path]) -> None:
    tables, out = whole
    candidates = pd.read_parquet(out / "counterfactuals.parquet")
    instances = tables.per_instance
    assert len(instances) == N_EXPLANATIONS
    keys = ["dataset", "method", "instance"]
    counted = candidates.groupby(keys)["nondominated"].agg(["size", "sum"])
    found = instances.set_index(keys)[["n_candidates", "n_nondominated"]]
    for key, line in counted.iterrows():
        assert tuple(found.loc[key]) == tuple(line)
    assert found["n_candidates"].sum() == len(candidates)
    assert (instances["n_evaluated"] <= 120).all()
    assert instances.loc[instances["method"] != "nice", "n_evaluated"].between(108, 120).all()
    assert (candidates["validity"] == 0).all()
    assert candidates.loc[candidates["dataset"] == "cassini", ["x3", "x4"]].isna().all().all()
    assert candidates.loc[candidates["dataset"] == "bn_5", ["x3", "x4"]].notna().all().all()
    assert (instances["seconds_with_own_fit"] >= instances["seconds"]).all()
    assert len(tables.summary) == 6
    assert tables.published is None


def test_the_report_is_self_contained_and_has_the_numbers(whole: tuple[Tables, Path]) -> None:
    tables, out = whole
    html = (out / "report.html").read_text(encoding="utf-8")
    assert html.count("<img ") == 7
    assert not re.findall(r"(?:src|href)=\"(?!data:)", html)
    line = tables.summary.set_index(["dataset", "method"]).loc[("bn_5", "moc")]
    assert f"{line['plausible_hypervolume']:.3f}" in html
    assert f"{line['log_density']:.2f}".replace("-", "−") in html
    assert f"<em>{told_required(tables.findings)}</em>" in html
    for finding in tables.findings:
        assert CLAIMS[finding.key].removesuffix(".").replace("'", "&#x27;") in html
    assert f">{line['valid_share']:.0%}<".replace("%", " %") in html
    assert "not independent" in html


def test_the_report_tells_seconds_with_own_fits(whole: tuple[Tables, Path]) -> None:
    """NICE's autoencoder takes longer than its explanations: both numbers are shown, in this order."""
    tables, out = whole
    line = tables.summary.set_index(["dataset", "method"]).loc[("bn_5", "nice")]
    assert line["seconds_with_own_fit"] > line["seconds"]
    cells = [f'<td class="number">{line[name]:.3g}</td>' for name in ("seconds_with_own_fit", "seconds")]
    assert "".join(cells) in (out / "report.html").read_text(encoding="utf-8")
    assert line["n_evaluated"] < 120


def test_claims_are_those_of_the_judges_and_are_reported(whole: tuple[Tables, Path]) -> None:
    tables, out = whole
    candidates = pd.read_parquet(out / "counterfactuals.parquet")
    np.testing.assert_array_equal(candidates["typicality"].notna(), candidates["nondominated"])
    for name, case in tables.cases.items():
        background = ARFExplainer.load(out / "work" / name / "forest.npz", case.model).background_
        best = candidates[(candidates["dataset"] == name) & candidates["nondominated"]]
        rows = background.schema.encode(as_in(case.X, best))
        np.testing.assert_allclose(best["typicality"], background.plausibility.typicality(rows), atol=1e-12)
        assert tables.measures[name] == background.plausibility.name  # the forest alone, as in the paper
    table = pd.read_csv(out / "calibration.csv")
    assert table["n_rows"].sum() == candidates["nondominated"].sum()
    html = (out / "report.html").read_text(encoding="utf-8")
    assert "Do claims hold?" in html
    assert all(text(sentence) in html for sentence in claim_sentences(table))


def test_explanations_of_an_earlier_version_stay_without_claims(whole: tuple[Tables, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole[1], out)
    for path in explained(out):
        write_parquet(path, read_parquet(path).drop(columns="typicality"), read_meta(path))
    for record in out.glob("work/*/forest.json"):
        known = json.loads(record.read_text())
        record.write_text(json.dumps({name: value for name, value in known.items() if name != "measure"}))
    tables = run_study(DESIGN, out, resume=True, quiet=True)
    assert (len(tables.calibration), tables.measures) == (0, {})
    html = (out / "report.html").read_text(encoding="utf-8")
    assert "Nothing is claimed in this run" in html
    assert html.count("<img ") == 6
    assert (out / "summary.csv").read_bytes() == (whole[1] / "summary.csv").read_bytes()


def test_another_version_is_told_and_the_first_is_kept(
    whole: tuple[Tables, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole[1], out)
    known = json.loads((out / "environment.json").read_text())["environments"]
    known[0]["packages"]["countarfactuals"] = "0.0.1"
    (out / "environment.json").write_text(json.dumps({"environments": known}))
    fit = out / "work" / "cassini" / "nice" / "fit.json"
    fit.write_text('{"seconds": 1234.5}')
    (out / "work" / "cassini" / "nice" / "002.parquet").unlink()
    tables = run_study(DESIGN, out, resume=True, pictures=False, quiet=True)
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert told[0].startswith("warning: versions 0.0.1 and ")
    assert json.loads((out / "environment.json").read_text())["environments"][0] == known[0]
    assert (tables.versions[0], len(tables.versions)) == ("0.0.1", 2)
    assert json.loads(fit.read_text())["seconds"] == 1234.5  # the first fit's
    assert "resumed with another" in (out / "report.html").read_text(encoding="utf-8")
    run_study(DESIGN, whole[1], resume=True, pictures=False, quiet=True)
    assert capsys.readouterr().err == ""


def test_resume_leaves_files_of_others_alone(whole: tuple[Tables, Path], tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    for place in (foreign, tmp_path / "study"):
        (place / ".2024.backup").mkdir(parents=True)
        (place / ".2024.backup" / "thesis.tex").write_text("years of work")
        (place / ".0notes.txt").write_text("notes")
    with pytest.raises(StorageError, match="holds no study"):
        run_study(DESIGN, foreign, resume=True, pictures=False, quiet=True)
    shutil.copytree(whole[1], tmp_path / "study", dirs_exist_ok=True)
    run_study(DESIGN, tmp_path / "study", resume=True, pictures=False, quiet=True)
    for place in (foreign, tmp_path / "study"):
        assert (place / ".2024.backup" / "thesis.tex").read_text() == "years of work"
        assert (place / ".0notes.txt").read_text() == "notes"
    assert len(list(foreign.iterdir())) == 2


def test_killed_and_resumed_with_two_processes(whole: tuple[Tables, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "countarfactuals", "study", *OPTIONS, "--no-figures", "--quiet", "--out", str(out)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not explained(out) and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    before = {path: path.read_bytes() for path in explained(out)}
    assert 0 < len(before) < N_EXPLANATIONS
    assert not (out / "summary.csv").exists()
    with pytest.raises(StorageError, match="--resume"):
        run_study(DESIGN, out, quiet=True)
    run_study(DESIGN, out, n_jobs=2, resume=True, pictures=False, quiet=True)
    assert all(path.read_bytes() == content for path, content in before.items())  # nothing is made twice
    assert len(explained(out)) == N_EXPLANATIONS
    same_tables(whole[1], out)


def test_resuming_what_is_finished_changes_nothing(whole: tuple[Tables, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole[1], out)
    stamps = {path: path.stat().st_mtime_ns for path in explained(out)}
    again = run_study(replace(DESIGN, methods=("arf", "nice")), out, resume=True, pictures=False, quiet=True)
    assert len(again.per_instance) == 8  # methods may be left out
    run_study(DESIGN, out, resume=True, pictures=False, quiet=True)
    assert {path: path.stat().st_mtime_ns for path in explained(out)} == stamps
    for name in (
        "per_instance.csv",
        "summary.csv",
        "findings.csv",
        "fit_seconds.csv",
        "trade_off.csv",
        "calibration.csv",
        "counterfactuals.parquet",
    ):
        assert (out / name).read_bytes() == (whole[1] / name).read_bytes()
    with pytest.raises(StorageError, match="another 'preset'"):
        run_study(replace(DESIGN, preset="default"), out, resume=True, quiet=True)


def test_the_command_line_refuses_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = str(tmp_path / "out")
    assert main(["study", "--generate", "--methods", "mock", "--out", out]) == 1
    assert "There is no method 'mock'. Known: 'arf'" in capsys.readouterr().err
    assert main(["study", "--data", str(tmp_path / "absent"), "--out", out]) == 1
    assert "lacks 'data.csv'" in capsys.readouterr().err
    assert not os.path.exists(out)
    assert main(["study", "--out", out]) == 2  # neither --data nor --generate
    monkeypatch.setattr(_optional, "import_module", _absent)
    with pytest.raises(MissingDependencyError, match=r"pip install 'countarfactuals\[study\]'"):
        store.needed("xgboost")


def _absent(name: str) -> None:
    raise ImportError(name)


class Pseudo(Catalogue):
    """A language in which no word is English: letters outside of places to fill in are Cyrillic."""

    def phrase(self, english: str) -> str:
        parts = re.split(r"(\{[^}]*\})", english)
        return "".join(part if part.startswith("{") else re.sub("[A-Za-z]", "ж", part) for part in parts)


def test_every_word_of_the_report_can_be_translated(whole: tuple[Tables, Path]) -> None:
    tables, _ = whole
    with speaking(Pseudo("xx")):
        html = to_html(tables, {})
    main_part = html[html.index("<h1>") : html.index("</main>")].replace("<wbr>", "")
    body = unescape(re.sub(r"<[^>]*>", " ", main_part))
    names = {*tables.design.sets, "ARF", "MOC", "NICE", "paper", *tables.versions}  # which stay in every language
    for name in sorted(map(str, names), key=len, reverse=True):
        body = body.replace(name, "")
    assert re.findall("[A-Za-z]{2,}", body) == []


def test_progress_is_told_unless_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design = replace(DESIGN, sets=("cassini",), methods=("whatif",))
    run_study(design, tmp_path / "out", pictures=False)
    assert "2/2" in capsys.readouterr().err
    run_study(replace(design, methods=("whatif", "arf")), tmp_path / "out", resume=True, pictures=False, quiet=True)
    assert capsys.readouterr().err == ""
