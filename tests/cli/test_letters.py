"""`explain --letter` and `--language`, from files to files."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest

from .conftest import FIT

ASK = ("--want", "good", "--max-evaluations", 120, "--top", 2)


@pytest.fixture
def asked(fitted: str, table: str) -> tuple[object, ...]:
    return ("explain", "--explainer", fitted, "--data", table, *ASK)


def bad_rows(table: str) -> list[int]:
    lines = Path(table).read_text().splitlines()
    return [i for i, line in enumerate(lines[1:]) if line.split(",")[-2] == "bad"][:3]


def test_a_letter_beside_the_table(run, asked, table, fitted, tmp_path) -> None:
    row = bad_rows(table)[0]
    file = tmp_path / "letter.txt"
    said = run(
        *asked, "--rows", row, "--letter", file, "--code", "income=R12", "--protected", "age,sex",
        "--contact", "Tel. 0123", "--applicant", "No {row}", "--reference", "A-{row}", "--unit", "income=EUR",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert said.out.startswith("Counterfactuals: ")
    assert "age" not in said.out.split("unchanged")[0]
    text = file.read_text(encoding="utf-8")
    assert "R12 – income: €" in text
    assert f"Reference: A-{row}" in text
    assert f"No {row}" in text
    assert "Not known to the model: sex." in text
    assert "Held fixed when other ways were looked for: age." in text
    digest = hashlib.sha256((Path(fitted) / "model.skops").read_bytes()).hexdigest()
    assert f"SHA-256 of the model's file:\n  {digest}" in text


def test_letters_of_several_rows_in_german(run, asked, table, tmp_path) -> None:
    lines = Path(table).read_text().splitlines()
    good = next(i for i, line in enumerate(lines[1:]) if line.split(",")[-2] == "good")
    rows = [*bad_rows(table)[:2], good]
    said = run(
        *asked, "--rows", ",".join(map(str, rows)), "--letter", tmp_path / "brief-{row}.html", "--language", "de"
    )
    assert said.code == 0, said.err
    assert "Alternativen: " in said.out
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == sorted(f"brief-{row}.html" for row in rows[:2])
    assert "Hinweis: 1 Zeile hat das gewünschte Ergebnis bereits und bekommt keinen Brief." in said.err
    html = (tmp_path / f"brief-{rows[0]}.html").read_text(encoding="utf-8")
    assert '<html lang="de">' in html
    assert "Hauptgründe" in html


@pytest.mark.parametrize("form", ["sentences", "html", "table"])
def test_formats_are_in_the_language_that_is_asked_for(run, asked, table, form: str) -> None:
    said = run(*asked, "--rows", bad_rows(table)[0], "--format", form, "--language", "de")
    assert said.code == 0, said.err
    assert ("Vorhersage" if form != "table" else "Typizität") in said.out
    assert not any(word in said.out for word in ("less typical", "Prediction", "unchanged", "Typicality"))


def test_a_language_from_a_file(run, asked, table, tmp_path) -> None:
    (tmp_path / "eo.po").write_text('msgid ""\nmsgstr "Language: eo\\n"\n\nmsgid "typicality"\nmsgstr "tipeco"\n')
    said = run(*asked, "--rows", bad_rows(table)[0], "--language", tmp_path / "eo.po")
    assert said.code == 0, said.err
    assert "tipeco" in said.out


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (("--letter", "letter.pdf"), "must end in .html, or in .txt"),
        (("--letter", "nowhere/letter.html"), "There is no folder"),
        (("--rows", "0,1", "--letter", "letter.html"), "Write {row} where the row's number shall stand"),
        (("--contact", "me"), "--contact is for a letter, but none is asked for"),
        (("--letter", "letter.txt", "--rows", "0", "--code", "incom=R1"), "Did you mean 'income'"),
        (("--language", "klingon"), "--language must be a known language"),
        (("--language", "absent.po"), "There is no file"),
    ],
)
def test_wrong_use_is_told(run, asked, options, match, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = run(*asked, *options)
    assert said.code == 1
    assert match in said.err
    assert list(tmp_path.iterdir()) == []


def english_of(said: str) -> set[str]:
    """Sentences that only English begins so."""
    return {
        start for start in ("In words", "rows of", "features", "Columns", "may change", "held-out") if start in said
    }


def test_commands_for_those_who_build_speak_it_too(run, fitted, table, tmp_path) -> None:
    fitting = ("fit", "--data", table, "--outcome", "quality", "--drop", "id,price", "--model", "auto")
    made = run(*fitting, "--out", tmp_path / "neu", *FIT, "--language", "de")
    assert made.code == 0
    assert "Random Forest, Klassifikation, Genauigkeit 0," in made.out
    suggested = run("suggest", "--explainer", fitted, "--language", "de")
    assert "# Zeilen, die mit # beginnen, sagen nichts" in suggested.out
    assert not english_of(made.out + suggested.out)
    assert english_of(run("suggest", "--explainer", fitted).out)
    tomllib.loads(suggested.out)
