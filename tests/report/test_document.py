"""The page as text: one whole document, tables with heads, pictures with texts, nothing of the user's as markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals import Counterfactuals, CounterfactualsBatch, report
from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Diagnosis
from countarfactuals.exceptions import DataTypeError, ParameterError, StorageError
from countarfactuals.language import speaking
from countarfactuals.language.vocabulary import TEXT, words_of
from countarfactuals.prediction import Target
from countarfactuals.report.page import cost_filter, part

from ..counterfactuals.examples import REGRESSION, probabilities, result, wide
from ..pseudo import PSEUDO
from .cases import HOSTILE, HOSTILE_UNITS, OPTIONS, explained, hostile, hostile_batch, hostile_empty, pictured

VOID = {"meta", "link", "img", "input", "br", "wbr"}
ALLOWED = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "link",
        "style",
        "body",
        "main",
        "h1",
        "h2",
        "section",
        "p",
        "em",
        "span",
        "div",
    ),
    *("ol", "ul", "li", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "img", "svg"),
    *("rect", "script", "fieldset", "legend", "label", "input", "output", "button"),
    *("wbr", "details", "summary"),
}


class Page(HTMLParser):
    """Reads a page strictly: every tag is closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.texts.setdefault(tag, []).append(data)

    def text(self, tag: str) -> str:
        return re.sub(r"\s+", " ", "".join(self.texts.get(tag, [])))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def regression() -> Counterfactuals:
    scores = {"score_columns": REGRESSION, "x_scores": [180000.0], "scores": np.arange(4.0)[:, None] * 1e5 + 2e5}
    return result(**scores, labels=list(np.arange(4.0) * 1e5 + 2e5), x_label=180000.0, target=Target(above=2e5))


def multiclass(n_classes: int) -> Counterfactuals:
    names = "abcdef"[:n_classes]
    scores = np.tile(np.linspace(0.1, 0.7, n_classes), (4, 1))
    return result(score_columns=probabilities(*names), x_scores=scores[0], scores=scores, labels=["b"] * 4, x_label="a")


def empty(status: str, **known: Any) -> Counterfactuals:
    made = result()
    fields = {"target": made.target, "method": "arf", "status": status, "score_columns": made.score_columns}
    return Counterfactuals.empty(made.schema, made.x, **fields, x_scores=[0.3], x_label="bad", **known)


def unread() -> Counterfactuals:
    return Counterfactuals.empty(result().schema, None, target=None, method="arf", status="error", error="Not a row.")


CASES = {
    "found": result,
    "one": lambda: result().select(1),
    "wide": wide,
    "regression": regression,
    "three classes": lambda: multiclass(3),
    "five classes": lambda: multiclass(5),
    "already": lambda: empty("already"),
    "none": lambda: empty("none", diagnosis=Diagnosis(20, 20, lifting={"fixed: age": 3})),
    "error": lambda: empty("error", error="The model fell."),
    "unread": unread,
    "filtered": lambda: result().filter(max_distance=0.0),
    "no numbers known": lambda: result(typicality=[np.nan] * 4, x_typicality=np.nan, provenance={}, objectives={}),
    "infinite": lambda: result(objectives={"distance": np.array([np.inf, 1.0, np.nan, 0.0])}),
    "real": lambda: explained()[1],
    "hostile": hostile,
    "hostile none": lambda: hostile_empty("none"),
    "hostile error": lambda: hostile_empty("error"),
    "hostile already": lambda: hostile_empty("already"),
    "batch": lambda: explained()[2],
    "hostile batch": hostile_batch,
    "empty batch": lambda: CounterfactualsBatch((), ()),
    "batch of nothing": lambda: CounterfactualsBatch((unread(), empty("already")), ("a", 1), (("u", 2),)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("has_options", [False, True])
def test_every_page_is_one_clean_document(case: str, has_options: bool) -> None:
    made = CASES[case]()
    options: dict[str, Any] = OPTIONS if has_options else {}
    if has_options and case.startswith("hostile"):
        options = options | {"units": HOSTILE_UNITS}
    html = report.to_html(made, pictures=False, **options)
    assert html.startswith("<!DOCTYPE html>")
    html.encode("utf-8")
    page = Page(html)
    counts = Counter(tag for tag, _ in page.tags)
    assert set(counts) <= ALLOWED
    assert all(counts[tag] == 1 for tag in ("html", "head", "title", "style", "body", "main", "h1"))
    assert page.all("html")[0]["lang"] == "en"
    _check_attributes(page)
    _check_references(page)
    _check_tables(html)


def _check_attributes(page: Page) -> None:
    for tag, attrs in page.tags:
        assert not any(name.startswith("on") or name in ("style", "srcdoc", "action") for name in attrs)
        for name in ("src", "href"):
            if name in attrs:
                assert (attrs[name] or "").startswith("data:"), (tag, attrs)
        if tag == "img":
            assert len(attrs["alt"] or "") > 30


def _check_references(page: Page) -> None:
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in page.tags:
        for name in ("aria-labelledby", "for", "data-for"):
            assert attrs.get(name) is None or attrs[name] in ids
    labelled = {attrs["for"] for attrs in page.all("label")}
    assert {attrs["id"] for attrs in page.all("input")} == labelled


def _check_tables(html: str) -> None:
    for table in re.findall(r"<table.*?</table>", html, re.DOTALL):
        assert re.match(r"<table[^>]*><caption><span>[^<]+</span></caption><thead><tr>", table)
        page = Page(table)
        assert all(attrs.get("scope") in ("col", "row") for attrs in page.all("th"))
        n_columns = len(re.findall(r"<t[hd]", table.split("</thead>")[0])) - 1  # less <thead
        body = table.split("<tbody>")[1]
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL):
            assert row.startswith('<th scope="row"')
            assert len(re.findall(r"<t[hd][ >]", row)) == n_columns


def test_the_policy_names_style_and_script_by_their_hashes() -> None:
    html = report.to_html(result(), pictures=False)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    parts = {part.split()[0]: part.split()[1:] for part in policy.split(";")}
    assert parts["default-src"] == ["'none'"]
    assert parts["img-src"] == ["data:"]
    assert set(parts) == {"default-src", "style-src", "script-src", "img-src", "base-uri", "form-action"}
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert parts[f"{tag}-src"] == [f"'sha256-{digest}'"]
    assert "http:" not in html
    assert "https:" not in html


@pytest.mark.parametrize("text", HOSTILE)
def test_data_can_not_leave_its_block(text: str) -> None:
    block = part("data_block", "t", {"a": [text, 1.5, None]})
    inner = block.removeprefix('<script type="application/json" data-for="t">').removesuffix("</script>")
    assert not set("<>&\u2028\u2029") & set(inner)
    assert json.loads(inner) == {"a": [text, 1.5, None]}


def test_what_the_page_says() -> None:
    made = result(constraints=Constraints(fixed=["age"]), notes=("Mind this.",))
    page = Page(
        report.to_html(
            made, title="My title", units={"amount": "€"}, rows="applicants", k=2, prefer="distance", pictures=False
        )
    )
    said = page.text("main")
    assert page.text("title") == page.text("h1") == "My title"
    assert "The prediction is bad (P(good) = 0.31). Wanted is: class 'good'; 4 counterfactuals were found." in said
    assert "If amount had been €3,200.25 instead of €5,000.50 and grade high instead of middle, the prediction" in said
    assert "20 % of real applicants are less typical than this." in said
    assert "Mind this." in said
    assert "age does not change." in said
    assert "It is no causal advice." in said
    assert "Other notions of plausibility exist" in said
    assert "Seed1" in said
    assert "This report was written with countarfactuals" in said
    assert len(re.findall(r"#\d+ below", said)) == 2


def test_how_it_was_made() -> None:
    explainer, one, _ = explained()
    said = Page(report.to_html(one, pictures=False)).text("main")
    assert "Budget per row150 evaluations of the model" in said
    assert f"Spent{one.provenance['evaluations']} evaluations" in said
    assert "Trees of the forest10" in said
    assert f"Rows of data{len(explainer.background_.matrix)}" in said
    assert "min_typicality0.0" in said
    assert "There were none: every feature was free to change." in said


def test_what_the_caller_knows_of_model_and_data_is_told(tmp_path: Path) -> None:
    meta = {"Model file": "m.joblib", "SHA-256 of the model": "ab12", "Data file": "<train>.csv"}
    for made in (result(), result(provenance={}), explained()[2], CounterfactualsBatch((), ())):
        said = Page(report.to_html(made, pictures=False, meta=meta)).text("main")
        assert "Model filem.joblibSHA-256 of the modelab12Data file<train>.csv" in said
    assert "The model and the data" not in report.to_html(result(), pictures=False)
    assert result().to_html(pictures=False, meta=meta) == report.to_html(result(), pictures=False, meta=meta)
    path = report.write(result(), tmp_path / "a.html", pictures=False, meta=meta)
    assert "m.joblib" in path.read_text(encoding="utf-8")
    for wrong in ({"rows": 3}, {3: "rows"}, "text"):
        with pytest.raises(ParameterError, match="`meta` must be a dict of texts"):
            report.to_html(result(), pictures=False, meta=wrong)  # type: ignore[arg-type]


def test_a_selection_is_not_taken_for_all_that_was_found() -> None:
    said = Page(report.to_html(result().select(2), pictures=False)).text("main")
    assert "4 counterfactuals were found, 2 of 4 shown." in said
    assert "2 counterfactuals were found" not in said


@pytest.mark.parametrize("target", [Target("bad"), Target("bad", probability=(0.7, 1))])
def test_the_wanted_classs_score_is_shown(target: str) -> None:
    scores = {"x_scores": [0.95], "scores": [[0.3], [0.2], [0.1], [0.05]], "labels": ["bad"] * 4, "x_label": "good"}
    made = result(target=target, **scores)
    for shown in (made, CounterfactualsBatch((made, made.filter(max_changed=0)), (0, 1))):
        html = report.to_html(shown, pictures=False)
        assert "P(bad)" in html
        assert "P(good)" not in html
    html = report.to_html(made, pictures=False)
    assert [number for number in ("0.700", "0.800", "0.900", "0.950") if number not in html] == []


def test_constraints_have_units_and_separators() -> None:
    made = result(constraints=Constraints(ranges={"amount": (None, 45000)}, direction={"age": "increase"}))
    said = Page(report.to_html(made, units={"amount": "€"}, pictures=False)).text("main")
    assert "If amount changes, it becomes at most €45,000." in said
    assert "age can only increase." in said


def test_long_names_may_be_broken_at_underscores() -> None:
    made = result(pd.DataFrame({"monthly_income": [1.5, 2.5]}), objectives={"a_cost": np.zeros(1)})
    html = report.to_html(made, pictures=False)
    assert html.count("monthly_<wbr>income") == 2  # in the row, and in the table of all
    assert "disabled>a_<wbr>cost</button>" in html
    html = report.to_html(CounterfactualsBatch((made,), (0,)), pictures=False)
    assert html.count("monthly_<wbr>income") == 2  # what changes most often, and row by row


def test_the_table_of_all_counterfactuals() -> None:
    html = report.to_html(result(), pictures=False)
    table = html[html.index('<table id="cf"') :].split("</table>")[0]
    rows = [re.sub("<[^>]+>", "|", row) for row in re.findall(r"<tr>(.*?)</tr>", table.split("<tbody>")[1])]
    cells = [[cell for cell in row.split("|") if cell.strip()] for row in rows]
    assert [row[0] for row in cells] == ["0", "1", "2", "3"]
    assert cells[3][1:6] == ["rate ", "↑", " 3.141594 ", "(from 3.141593)", "good"]
    assert [row[-5:] for row in cells] == [
        ["0.600", "2", "0.100", "20 %", "no"],
        ["0.700", "4", "0.200", "40 %", "yes"],
        ["0.800", "3", "0.300", "60 %", "no"],
        ["0.900", "1", "0.400", "80 %", "no"],
    ]


def test_only_a_front_is_said_to_be_one() -> None:
    said = "None is beaten by another"
    front = result(objectives={"distance": np.arange(4.0), "n_changed": -np.arange(4.0)})
    assert said in report.to_html(front, pictures=False)
    beaten = replace(front, objectives={"distance": np.arange(4.0), "n_changed": np.arange(4.0)})
    assert said not in report.to_html(beaten, pictures=False)
    assert said in report.to_html(explained()[1], pictures=False)


def test_privacy_is_mentioned_where_a_real_row_is_shown() -> None:
    assert "Think of privacy" in report.to_html(result(), pictures=False)
    unreal = result(is_real_row=[False] * 4)
    assert "Think of privacy" not in report.to_html(unreal, pictures=False)
    assert "In the data" not in report.to_html(unreal, pictures=False)


@pytest.mark.parametrize(
    "values", [[0.1, 0.35], [3.0, 3.0], [1e-9, 5e-9], [2e7, 9e9], [np.nan, 1.0], [np.inf, 1.0, 2.0]]
)
def test_a_slider_reaches_all_its_values_in_whole_steps(values: list[float]) -> None:
    slider = cost_filter("d", "Distance at most {limit}", np.array(values))
    known = np.array(values)[np.isfinite(values)]
    assert slider.low <= known.min()
    assert slider.high >= known.max()
    steps = (slider.high - slider.low) / slider.step
    assert abs(steps - round(steps)) < 1e-6
    assert steps <= 502


# Many rows


def test_a_batch_says_what_changes_and_for_whom_there_is_nothing() -> None:
    _, _, batch = explained()
    statuses = Counter(one.status for one in batch)
    assert statuses["found"]
    assert statuses["none"] == statuses["already"] == 1
    page = Page(report.to_html(batch, rows="applicants", units={"duration": "months"}, pictures=False))
    said = page.text("main")
    n = sum(map(len, batch))
    assert f"Of 6 applicants, {statuses['found']} have a counterfactual ({n} in all)." in said
    assert "1 has the wanted outcome already. For 1 none was found." in said
    none = next(one for one in batch if one.status == "none")
    words = words_of(none.schema.names, {"duration": "months"}, "applicants", None, TEXT)
    assert re.sub(r"\s+", " ", none.diagnosis.text(none, words)) in said  # type: ignore[union-attr]
    assert "fixed:" not in said
    assert "max_evaluations`" not in said
    found = [one for one in batch if len(one)]
    usual = [np.flatnonzero(one.typicality >= 0.05) for one in found]
    best = [
        (one.filter(min_typicality=0.05) if len(at) else one).select(1) for one, at in zip(found, usual, strict=True)
    ]
    income = np.mean([one.changed[0, 0] for one in best])
    every = np.mean([one.changed[:, 0].mean() for one in found])
    assert f"income{income * 100:.0f} %{every * 100:.0f} %" in said
    assert "Never changed: duration, owner." in said


def cells_of(html: str, table: str) -> list[list[str]]:
    """Texts of the cells of a table's body."""
    body = html[html.index(table) :].split("<tbody>")[1].split("</table>")[0]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", body)]
    return [[re.sub(r'<span class="hidden">.*?</span>|<[^>]+>', "", one) for one in row] for row in rows]


def test_an_unusual_best_is_marked_and_told_in_the_lead() -> None:
    absurd = result(typicality=[0.0, 0.01, 0.049, 0.04])
    mixed = result(typicality=[0.0, 0.01, 0.5, 0.04])
    batch = CounterfactualsBatch((absurd, mixed, result().select(1), absurd.select(1)), ("a", "b", "c", "d"))
    html = report.to_html(batch, pictures=False)
    said = Page(html).text("main")
    assert "Of 4 rows, 4 have a counterfactual (16 in all; 10 of 16 shown), for 2 only an unusual one is shown." in said
    rows = {row[0]: row for row in cells_of(html, 'id="rows-table"')}
    assert [rows[label][1] for label in "abcd"] == [
        "4 found, all unusual",
        "4 found",
        "1 of 4 shown",
        "1 of 4 shown, unusual",
    ]
    assert rows["b"][-1] == "50 %"  # not an unusual one
    assert mixed.select(1).typicality[0] == 0.5
    usual = report.to_html(CounterfactualsBatch((result(),), (0,)), pictures=False)
    assert "only an unusual" not in Page(usual).text("p")
    unknown = report.to_html(CounterfactualsBatch((result(typicality=[np.nan] * 4),), (0,)), pictures=False)
    assert "only an unusual one" not in Page(unknown).text("p")
    one = report.to_html(CounterfactualsBatch((absurd, result()), (0, 1)), pictures=False)
    assert "2 have a counterfactual (8 in all), for 1 only an unusual one." in Page(one).text("main")


def test_rows_that_need_nothing_are_folded() -> None:
    batch = CounterfactualsBatch((empty("already"), result(), empty("none"), empty("already")), ("a", "b", "c", "d"))
    html = report.to_html(batch, pictures=False, rows="applicants")
    assert [row[0] for row in cells_of(html, 'id="rows-table"')] == ["b", "c"]
    assert "Not needed: 2 applicants have the wanted outcome already." in Page(html).text("summary")
    assert cells_of(html, "<details>") == [["a", "bad", "0.30"], ["d", "bad", "0.30"]]
    only = report.to_html(CounterfactualsBatch((empty("already"),), (0,)), pictures=False)
    assert 'id="rows-table"' not in only
    assert "Not needed: 1 row has the wanted outcome already." in Page(only).text("summary")


def test_predictions_before_and_after() -> None:
    html = report.to_html(CounterfactualsBatch((result(), empty("none"), unread()), (0, 1, 2)), pictures=False)
    rows = cells_of(html, 'id="rows-table"')
    assert [row[3:5] for row in rows] == [["bad → good", "0.31 → 0.90"], ["bad", "0.30"], ["–", "–"]]
    assert "P(good)" in html
    options: dict[str, Any] = {"outcome": "price", "units": {"price": "€"}}
    html = report.to_html(CounterfactualsBatch((regression(),), (0,)), pictures=False, **options)
    assert cells_of(html, 'id="rows-table"')[0][3] == "€180,000 → €500,000"
    assert "Wanted is: price at least €200,000." in Page(html).text("main")


def test_rows_that_want_different_classes_name_their_scores() -> None:
    bad = result(target=Target("bad"), labels=["bad"] * 4, x_label="good", scores=[[0.2]] * 4, x_scores=[0.9])
    html = report.to_html(CounterfactualsBatch((result(), bad), (0, 1)), pictures=False)
    assert [row[4] for row in cells_of(html, 'id="rows-table"')] == ["P(good): 0.31 → 0.90", "P(bad): 0.10 → 0.80"]
    assert "Wanted is: class 'good' or class 'bad'." in Page(html).text("main")


def test_rows_that_failed_do_not_hide_what_was_wanted() -> None:
    failed = replace(unread(), target="Target(outcome='good')")
    html = report.to_html(CounterfactualsBatch((failed, result()), (0, 1)), pictures=False, outcome="risk")
    assert "Wanted is, for risk: class 'good'." in Page(html).text("main")
    assert "Target(" not in Page(html).text("main")


def test_constraints_in_the_way_are_counted_over_rows() -> None:
    blocked = [empty("none", diagnosis=Diagnosis(5, 5, lifting=lifting)) for lifting in ({"a": 3}, {"a": 1, "b": 9})]
    said = Page(report.to_html(CounterfactualsBatch(tuple(blocked), (1, 2)), pictures=False)).text("main")
    assert "ConstraintRowsa2b1" in said


def test_long_batches_are_cut_and_say_so() -> None:
    one = result()
    batch = CounterfactualsBatch((one,) * 1100, tuple(range(1100)))
    html = report.to_html(batch, pictures=False)
    assert "100 more are left out here." in html
    assert html.count('<td class="changes">') == 1000


# Pictures


def test_pictures_stand_inside_the_page() -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    explainer, one, batch = explained()
    html = pictured()
    images = Page(html).all("img")
    assert len(images) == 5
    assert "could not be drawn" not in html
    assert "need the explainer" not in html
    _check_attributes(Page(html))
    for image in images:
        svg = base64.b64decode((image["src"] or "").removeprefix("data:image/svg+xml;base64,"))
        assert svg.lstrip().startswith(b"<?xml")
        assert b"<svg" in svg
        assert b"<script" not in svg
    assert report.to_html(one, explainer) == html
    without = report.to_html(one)
    assert len(Page(without).all("img")) == 3
    assert "need the explainer, which was not given" in without
    assert len(Page(report.to_html(batch)).all("img")) == 1


def test_figures_are_closed() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="pictures need matplotlib")
    before = pyplot.get_fignums()
    report.to_html(explained()[1])
    assert pyplot.get_fignums() == before


def test_without_matplotlib_a_sentence_stands_in_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    html = report.to_html(explained()[1], explained()[0])
    assert "Pictures are left out, as matplotlib is not installed." in html
    assert not Page(html).all("img")


def test_a_picture_that_fails_costs_itself_only() -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    html = report.to_html(explained()[1], explainer="<b>no explainer</b>")
    assert "This picture could not be drawn" in html
    assert len(Page(html).all("img")) >= 2


def test_alt_texts_have_the_numbers() -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    alts = [image["alt"] for image in Page(report.to_html(result())).all("img")]
    pareto = (
        "4 counterfactuals: typicality from 20 % to 80 %, distance from 0.100 to 0.400 and features changed from 1 to 4"
    )
    assert any((alt or "").startswith(pareto) for alt in alts)
    assert any("amount in 50 %" in (alt or "") for alt in alts)


# Files and errors


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "report ü.html"
    assert report.write(result(), path, pictures=False) == path
    assert path.read_bytes().decode("utf-8") == report.to_html(result(), pictures=False)
    report.write(hostile(), str(path), pictures=False, **OPTIONS)
    assert path.read_text(encoding="utf-8") == report.to_html(hostile(), pictures=False, **OPTIONS)
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_result_gives_the_same_page() -> None:
    stored = Counterfactuals.from_json(explained()[1].to_json())
    assert report.to_html(stored, pictures=False) == report.to_html(explained()[1], pictures=False)


def test_errors(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(DataTypeError, match=r"got DataFrame\. Pass what `explain`"):
        report.to_html(pd.DataFrame())  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="`title` must be a text or None"):
        report.to_html(result(), title=3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="pictures must be one of"):
        report.to_html(result(), pictures="all")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no column"):
        report.to_html(result(), units={"amonut": "€"})
    with pytest.raises(ParameterError, match="k must be"):
        report.to_html(result(), k=0)
    with pytest.raises(StorageError, match="There is no folder"):
        report.write(result(), tmp_path / "no" / "report.html")
    with pytest.raises(StorageError, match="can not be written"):
        report.write(result(), folder, pictures=False)
    assert list(tmp_path.iterdir()) == [folder]


# Words in another language


@pytest.mark.parametrize("case", ["found", "one", "five classes", "none", "already", "unread", "batch", "mixed batch"])
def test_headings_labels_and_captions_are_in_the_language_that_is_spoken(case: str) -> None:
    mixed = CounterfactualsBatch((result(), empty("none"), empty("already")), (0, 1, 2), (3,))
    made = mixed if case == "mixed batch" else CASES[case]()
    with speaking(PSEUDO):
        html = report.to_html(made, pictures=case in ("found", "mixed batch"), rows=("жж", "жжж"))
    assert '<html lang="xx">' in html
    own = {"#", *(f"P({label})" for label in ("good", *"abcdef"))}
    for tag in ("h1", "h2", "caption", "legend", "label", "summary", "figcaption", "thead", "button"):
        for inside in re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", html, re.DOTALL):
            texts = [unescape(text).strip() for text in re.sub("<wbr>", "", inside).replace("<", ">").split(">")[::2]]
            assert [text for text in texts if re.search("[A-Za-z]", text) and text not in own] == [], tag
    limits = html[html.index('<h2 id="limits">') :].split("</section>")[0]
    assert not re.search("[A-Za-z]", re.sub("<[^>]+>|&#x27;", "", limits))
    for name in ("aria-label", "data-shown"):
        for text in re.findall(rf' {name}="([^"]*)"', html):
            assert not re.search("[A-Za-z]", re.sub(r"\{\w+\}", "", text)), text


# Groups


def test_groups_have_a_section_with_figures_comparisons_and_a_picture() -> None:
    batch = CounterfactualsBatch(tuple(result() for _ in range(24)), tuple(range(24)))
    sexes = pd.Series(["<f>", "m"] * 12, name="sex & more")
    html = report.to_html(batch, by=["grade", batch.recourse(sexes)], pictures=True, rows="applicants")
    for heading in ("Cost of recourse by grade", "Cost of recourse by sex &amp; more"):
        assert f">{heading}</h2>" in html
    assert html.count("In brackets are 95 % intervals") == 2
    assert "<f>" not in html
    section = html[html.index("Cost of recourse by sex") :].split("</section>")[0]
    assert "&lt;f&gt;: No clear difference to other applicants: already fine" in section
    assert html.count("What recourse costs by ") == 4  # a caption, and a label for those who do not see it
    assert "Mean change, where it changes" in html
    with pytest.raises(ParameterError, match="compares groups"):
        report.to_html(result(), by="grade")


def test_groups_are_in_the_language_that_is_spoken() -> None:
    batch = CounterfactualsBatch((*[result()] * 12, *[empty("none")] * 12), tuple(range(24)))
    with speaking(PSEUDO):
        html = report.to_html(
            batch, by=[batch.recourse(pd.Series([1, 2] * 12, name="ж"))], rows=("жж", "жжж"), pictures=False
        )
    section = html[html.index('<h2 id="groups-1">') :].split("</section>")[0]
    assert not re.search("[A-Za-z]", re.sub("<[^>]+>|&#x27;|&lt;", "", section))
