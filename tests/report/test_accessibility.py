"""Reports and letters for everyone: axe finds nothing (WCAG 2 A and AA), and no width of a screen cuts anything off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from countarfactuals import CounterfactualsBatch, report
from countarfactuals.study import Design, run_study
from countarfactuals.study.report import write_report

from ..browser import misses
from ..counterfactuals.examples import wide
from ..letter.test_letter import written
from .cases import explained, hostile_empty, pictured

PICTURE = Path(__file__).parents[2] / "docs" / "report.png"


def many_columns() -> str:
    """A batch whose rows have 30 columns and change most of them, with groups."""
    made = wide(30)
    batch = CounterfactualsBatch((made, made.select(3), made.select(1)), ("applicant 2041-17", "applicant 2041-18", 3))
    groups = batch.recourse(pd.Series(["city", "country", "city"], index=batch.index, name="place of residence"))
    return report.to_html(batch, by=[groups], pictures=False, units={"a_rather_long_feature_name_0": "€"})


def letter(language: str) -> str:
    address = {"sender": "Bank of Examples\n1 High Street", "applicant": "A. Example", "reference": "2026-4711"}
    options: dict[str, Any] = {"protected": ["age", "sex"], "codes": {"income": "R12"}}
    return written(contact="Complaints office, Tel. 0123 456", **address, **options).to_html(language=language)


REPORTS: dict[str, Callable[[], str]] = {
    "single": pictured,
    "single of many columns": lambda: report.to_html(wide(30), pictures=False),
    "single without any": lambda: report.to_html(hostile_empty("none"), pictures=False),
    "batch": lambda: report.to_html(explained()[2], explained()[0], by=["housing"]),
    "batch of many columns": many_columns,
    "batch in German": lambda: report.to_html(explained()[2], pictures=False, language="de"),
    "letter": lambda: letter("en"),
    "letter in German": lambda: letter("de"),
}


@pytest.mark.parametrize("kind", REPORTS)
def test_everyone_can_read_all_of_it(browser: Any, tmp_path: Path, kind: str) -> None:
    page = tmp_path / "report.html"
    page.write_text(REPORTS[kind](), encoding="utf-8")
    assert misses(browser, page) == {}


def test_everyone_can_read_all_of_a_study(browser: Any, tmp_path: Path) -> None:
    for package in ("xgboost", "networkx", "pyarrow"):
        pytest.importorskip(package)
    asked: dict[str, Any] = {"methods": ("arf", "moc"), "sets": ("cassini", "bn_5", "bn_10")}
    small: dict[str, Any] = {"n_instances": 1, "max_evaluations": 40, "n_rows": 120, "n_estimators": 2}
    tables = run_study(Design(**asked, **small), tmp_path / "out", pictures=False, quiet=True)
    page = tmp_path / "report.html"
    write_report(tables, dict.fromkeys(("boxes", "pairs_cassini"), PICTURE), page)  # drawing all takes long
    assert misses(browser, page) == {}


def test_what_is_wrong_is_found(browser: Any, tmp_path: Path) -> None:
    """A picture without a description, a paragraph wider than a phone, and a column that can not be scrolled to."""
    page = tmp_path / "wrong.html"
    page.write_text(
        '<!DOCTYPE html><html lang="en"><meta name="viewport" content="width=device-width"><title>Wrong</title>'
        '<img src="data:,"><p style="width: 800px">wide</p><div class="scroll" style="overflow: clip; width: 99px">'
        '<table style="width: 900px"><thead><tr><th>first</th><th>last</th></tr></thead></table></div></html>'
    )
    found = {width: str(what) for width, what in misses(browser, page).items()}
    assert all("image-alt" in what and "<th>last</th>" in what for what in found.values())
    assert {width: "<p " in what for width, what in found.items()} == {1200: False, 390: True}
