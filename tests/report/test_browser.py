"""The page in a real browser, without a screen. No network is needed: pages are files, or come from loopback."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals import Counterfactuals, CounterfactualsBatch, Target, report

from ..browser import WAIT, resize
from ..counterfactuals.examples import probabilities, result, wide
from .cases import HOSTILE_UNITS, OPTIONS, explained, hostile, hostile_batch, hostile_empty, pictured

webdriver: Any = pytest.importorskip(
    "selenium.webdriver", reason="tests in a browser need selenium: pip install selenium"
)
from selenium.webdriver.common.keys import Keys  # noqa: E402

Opened = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Opened]:
    """Opens the report of a result at a width; afterwards nothing may have gone wrong."""

    def open_page(made: Any, explainer: Any = None, width: int = 1200, **options: Any) -> Any:
        resize(browser, width)
        path = report.write(made, tmp_path / "report.html", explainer, **{"pictures": False, **options})
        browser.get(path.as_uri())
        return browser

    _forget_logs(browser)
    yield open_page
    _check_quiet(browser)
    browser.get("about:blank")


def _forget_logs(browser: Any) -> None:
    browser.get_log("browser")
    browser.get_log("performance")


def _check_quiet(browser: Any) -> None:
    """No message, no violation of the policy, nothing fetched but the page itself and what it holds."""
    assert browser.get_log("browser") == []
    assert browser.execute_script("return [window.violations, window.errors, window.hacked]") == [[], [], 0]
    assert [url for url in _requests(browser) if not url.startswith(("file:///", "data:", "about:"))] == []


def _requests(browser: Any) -> list[str]:
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    return [url for url in sent if not url.startswith("chrome")]


def shown(browser: Any) -> list[int]:
    """Numbers of the counterfactuals that are visible, in the order of the table."""
    return browser.execute_script(  # one question for all rows
        "return Array.from(document.querySelectorAll('#cf tbody tr')).filter((row) => row.getClientRects().length)"
        ".map((row) => Number(row.cells[0].textContent))"
    )


def slide(browser: Any, name: str, value: float) -> None:
    """By keyboard, as a person would: to the end first, then step by step."""
    slider = browser.find_element("id", f"cf-{name}")
    low, high, step = (float(slider.get_attribute(one)) for one in ("min", "max", "step"))
    from_low = value - low < high - value
    count = round((value - low if from_low else high - value) / step)
    slider.send_keys(Keys.HOME if from_low else Keys.END, *[Keys.ARROW_RIGHT if from_low else Keys.ARROW_LEFT] * count)
    assert float(slider.get_attribute("value")) == pytest.approx(value)


def head(browser: Any, name: str) -> Any:
    buttons = browser.find_elements("css selector", "#cf th button")
    return next(button for button in buttons if button.text == name)


@pytest.fixture(scope="module")
def found() -> Counterfactuals:
    made = explained()[1]
    assert len(made) > 10
    assert len(set(made.changed.sum(axis=1).tolist())) > 1
    return made


def test_sliders_filter(opened: Opened, found: Counterfactuals) -> None:
    browser = opened(found)
    everything = list(range(len(found)))
    assert shown(browser) == everything
    typical = float(np.round(np.median(found.typicality), 2))
    slide(browser, "typicality", typical * 100)
    expected = np.flatnonzero(found.typicality >= typical - 1e-9).tolist()
    assert shown(browser) == expected
    assert 0 < len(expected) < len(found)
    assert browser.find_element("id", "cf-status").text == f"Shown: {len(expected)} of {len(found)}."
    assert f"{typical * 100:.0f} %" in browser.find_element("css selector", "label[for=cf-typicality]").text
    browser.find_element("css selector", "#cf-controls button").click()
    assert shown(browser) == everything
    few = int(found.changed.sum(axis=1).min())
    slide(browser, "changes", few)
    assert shown(browser) == np.flatnonzero(found.changed.sum(axis=1) <= few).tolist()
    browser.find_element("css selector", "#cf-controls button").send_keys(Keys.ENTER)
    distance = found.objectives["distance"]
    step = float(browser.find_element("id", "cf-distance").get_attribute("step"))
    limit = round(round(float(np.median(distance)) / step) * step, 12)
    slide(browser, "distance", limit)
    assert shown(browser) == np.flatnonzero(distance <= limit).tolist()
    slide(browser, "changes", few)
    assert shown(browser) == np.flatnonzero((distance <= limit) & (found.changed.sum(axis=1) <= few)).tolist()


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_sorting_sorts(opened: Opened, found: Counterfactuals, by: str) -> None:
    browser = opened(found)
    keys = {
        "Typicality": found.typicality,
        "Distance": found.objectives["distance"],
        "Changes": found.changed.sum(axis=1),
        "P(good)": found.scores[:, 0],
        "#": np.arange(len(found)),
    }
    for name, values in keys.items():
        for sign, way in ((1, "ascending"), (-1, "descending"), (1, "ascending")):
            button = head(browser, name)
            if by == "mouse":
                button.click()
            else:
                button.send_keys(Keys.ENTER if sign > 0 else Keys.SPACE)
            assert shown(browser) == np.argsort(sign * values, kind="stable").tolist(), (name, way)
            sorted_heads = browser.find_elements("css selector", "#cf th[aria-sort]")
            assert [(one.text, one.get_attribute("aria-sort")) for one in sorted_heads] == [(name, way)]


def test_sorting_and_sliders_go_together(opened: Opened, found: Counterfactuals) -> None:
    browser = opened(found)
    few = int(found.changed.sum(axis=1).min())
    slide(browser, "changes", few)
    head(browser, "Typicality").click()
    head(browser, "Typicality").click()
    order = np.argsort(-found.typicality, kind="stable")
    assert shown(browser) == [int(i) for i in order if found.changed[i].sum() <= few]


def test_missing_and_infinite_numbers(opened: Opened) -> None:
    made = result(objectives={"distance": np.array([np.inf, 1.0, np.nan, 0.0])}, typicality=[0.5, np.nan, 0.2, 0.9])
    browser = opened(made)
    assert shown(browser) == [0, 1, 2, 3]
    head(browser, "Distance").click()
    assert shown(browser) == [3, 1, 0, 2]
    head(browser, "Distance").click()
    assert shown(browser) == [0, 1, 3, 2]
    head(browser, "Typicality").click()
    assert shown(browser) == [2, 0, 3, 1]
    slide(browser, "typicality", 1)
    assert shown(browser) == [2, 0, 3]


def test_a_batch_can_be_sorted(opened: Opened) -> None:
    batch = explained()[2]
    browser = opened(batch)

    def order() -> list[str]:
        return [one.text for one in browser.find_elements("css selector", "#rows-table tbody th")]

    labels = [str(label) for label, one in zip(batch.index, batch, strict=True) if one.status != "already"]
    assert len(labels) == len(batch) - 1
    assert order() == labels
    by_label = sorted(labels, key=int)
    browser.find_element("css selector", "#rows-table th button").click()
    assert order() == by_label
    found = next(one for one in browser.find_elements("css selector", "#rows-table th button") if one.text == "Result")
    found.click()
    counts = {str(label): len(one) for label, one in zip(batch.index, batch, strict=True) if one.status != "already"}
    assert [counts[label] for label in order()] == sorted(counts.values())


def test_rows_that_need_nothing_unfold(opened: Opened) -> None:
    batch = explained()[2]
    browser = opened(batch)
    (label,) = [str(label) for label, one in zip(batch.index, batch, strict=True) if one.status == "already"]
    line = browser.find_element("css selector", "details th[scope=row]")
    assert not line.is_displayed()
    browser.find_element("css selector", "summary").send_keys(Keys.ENTER)
    assert line.is_displayed()
    assert line.text == label


def test_a_batch_fits_the_width_of_a_page(opened: Opened) -> None:
    browser = opened(explained()[2])
    region = browser.find_element("css selector", "#rows-table").find_element("xpath", "..")
    assert browser.execute_script("return arguments[0].scrollWidth <= arguments[0].clientWidth", region)


def test_every_column_of_a_batch_is_in_sight(opened: Opened) -> None:
    words: Any = {"x_label": "not creditworthy", "labels": ["creditworthy"] * 4, "target": Target("creditworthy")}
    made = result(**words, score_columns=probabilities("creditworthy"), typicality=[0.01] * 4)
    batch = CounterfactualsBatch((made.select(1), made), ("applicant 2041-17", "applicant 2041-18"))
    browser = opened(batch, units={"amount": "€"})
    table = browser.find_element("css selector", "#rows-table")
    last = table.find_elements("css selector", "thead th")[-1]
    assert last.text == "Typicality"
    inside = "const [a, b] = arguments; return a.getBoundingClientRect().right <= b.getBoundingClientRect().right + 1"
    assert browser.execute_script(inside, last, table.find_element("xpath", ".."))


def test_on_a_phone_long_names_break_at_underscores(opened: Opened) -> None:
    names = ["monthly_income_of_household", "years_of_employment_so_far"]
    browser = opened(result(pd.DataFrame([[1.5, 2.5], [3.5, 4.5]], columns=names)), width=375)
    head = browser.find_element("css selector", "section[aria-labelledby=row] tbody th")
    assert head.text == names[0]
    lines = "const range = document.createRange(); range.selectNodeContents(arguments[0]);"
    tops = browser.execute_script(f"{lines} return Array.from(range.getClientRects()).map((one) => one.top)", head)
    assert len(set(tops)) > 1
    region = head.find_element("xpath", "ancestor::div")
    assert browser.execute_script("return arguments[0].scrollWidth <= arguments[0].clientWidth", region)


@pytest.mark.parametrize("has_policy", [True, False])
@pytest.mark.parametrize("case", ["found", "none", "error", "already", "batch"])
def test_hostile_strings_execute_nothing(browser: Any, tmp_path: Path, case: str, has_policy: bool) -> None:
    """With the policy, and without it: escaping alone must do."""
    made: Any = {"found": hostile, "batch": hostile_batch}.get(case, lambda: hostile_empty(case))()
    html = report.to_html(made, units=HOSTILE_UNITS, pictures=has_policy and case == "found", **OPTIONS)
    if not has_policy:
        html, n = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
        assert n == 1
    path = tmp_path / "hostile.html"
    path.write_text(html, encoding="utf-8")
    _forget_logs(browser)
    browser.get(path.as_uri())
    for button in browser.find_elements("css selector", "th button"):
        browser.execute_script("arguments[0].click()", button)
    assert browser.execute_script("return document.scripts.length") == html.count("<script")
    outside = "return document.querySelectorAll('img:not([src^=\"data:\"]), iframe, object, embed, form, a').length"
    assert browser.execute_script(outside) == 0
    _check_quiet(browser)


def test_the_counter_of_hostile_strings_counts(browser: Any, tmp_path: Path) -> None:
    """The test above could not fail if the strings were harmless anyhow."""
    path = tmp_path / "raw.html"
    path.write_text(f"<!DOCTYPE html><body>{OPTIONS['rows'][0]}{OPTIONS['rows'][1]}</body>", encoding="utf-8")
    browser.get(path.as_uri())
    assert browser.execute_script("return window.hacked") >= 1
    browser.get("about:blank")


@pytest.fixture
def server() -> Iterator[tuple[str, dict[str, bytes], list[str]]]:
    """Pages by path, and the paths that were asked for."""
    pages: dict[str, bytes] = {}
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(pages.get(self.path, b""))

        def log_message(self, *_: Any) -> None:
            return None

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}", pages, asked
        served.shutdown()
        thread.join(WAIT)


_FETCH = """
const done = arguments[0], image = new Image();
image.onload = image.onerror = () => fetch("/stolen").then(() => done("fetched"), () => done("refused"));
image.src = "/picture.png";
"""


@pytest.mark.parametrize("has_policy", [True, False])
def test_nothing_is_fetched(browser: Any, server: tuple[str, dict[str, bytes], list[str]], has_policy: bool) -> None:
    """The page asks for nothing; and if something in it tried to, the policy would refuse it."""
    address, pages, asked = server
    html = pictured()
    if not has_policy:  # the twin that shows that the server would notice
        html = html.replace("Content-Security-Policy", "X-Nothing")
    pages["/report"] = html.encode()
    _forget_logs(browser)
    browser.get(f"{address}/report")
    entries = browser.execute_script("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert [name for name in entries if not name.startswith("data:")] == []
    assert asked == ["/report"]
    if has_policy:
        assert browser.execute_script("return [window.violations, window.errors]") == [[], []]
        assert browser.get_log("browser") == []
    assert browser.execute_async_script(_FETCH) == ("refused" if has_policy else "fetched")
    assert asked == ["/report"] if has_policy else asked[1:] == ["/picture.png", "/stolen"]
    browser.get("about:blank")


@pytest.mark.parametrize("case", ["found", "wide", "real", "hostile", "none", "batch", "hostile batch"])
def test_the_page_never_scrolls_sideways(opened: Opened, case: str) -> None:
    cases: dict[str, Any] = {
        "found": result,
        "wide": wide,
        "real": lambda: explained()[1],
        "hostile": hostile,
        "none": lambda: hostile_empty("none"),
        "batch": lambda: explained()[2],
        "hostile batch": hostile_batch,
    }
    browser = opened(cases[case](), width=1200, pictures=case == "real")
    for width in (1200, 390, 320):
        resize(browser, width)
        inner = browser.execute_script("return document.documentElement.clientWidth")
        assert width - 20 < inner <= width  # a scroll bar may stand beside it
        assert browser.execute_script("return document.documentElement.scrollWidth") == inner
        assert browser.execute_script("window.scrollTo(500, 0); return window.scrollX") == 0


def test_pictures_are_shown(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    path = tmp_path / "report.html"
    path.write_text(pictured(), encoding="utf-8")
    resize(browser, 1200)
    _forget_logs(browser)
    browser.get(path.as_uri())
    # a busy machine may still be decoding them
    sizes = browser.execute_async_script(
        "const done = arguments[0], all = Array.from(document.images);"
        "Promise.allSettled(all.map((one) => one.decode())).then("
        "() => done(all.map((one) => [one.complete, one.naturalWidth, one.clientWidth])))"
    )
    assert len(sizes) == 5
    assert all(complete and natural > 100 and width > 300 for complete, natural, width in sizes)
    _check_quiet(browser)


def test_everything_is_reached_by_keyboard(opened: Opened, found: Counterfactuals) -> None:
    browser = opened(found)
    wanted = browser.execute_script("return document.querySelectorAll('button, input, .scroll').length")
    assert wanted > 10
    browser.execute_script("document.activeElement.blur()")
    reached = set()
    for _ in range(wanted + 2):
        webdriver.ActionChains(browser).send_keys(Keys.TAB).perform()
        reached.add(
            browser.execute_script("return Array.from(document.querySelectorAll('*')).indexOf(document.activeElement)")
        )
        outline = browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
        if browser.execute_script("return document.activeElement !== document.body"):
            assert outline != "none"
    focusable = browser.execute_script(
        "const all = Array.from(document.querySelectorAll('*'));"
        "return Array.from(document.querySelectorAll('button, input, .scroll')).map((one) => all.indexOf(one))"
    )
    assert set(focusable) <= reached


_CONTRAST = """
const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const parsed = (text) => text.match(/[\\d.]+/g).map(Number);
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const ground = (one) => {
  for (; one; one = one.parentElement) {
    const colour = parsed(getComputedStyle(one).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
return Array.from(document.querySelectorAll("main *"))
  .filter((one) => Array.from(one.childNodes).some((node) => node.nodeType === 3 && node.data.trim()))
  .map((one) => {
    const [a, b] = [parsed(getComputedStyle(one).color), ground(one)].map(luminance);
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), one.outerHTML.slice(0, 80)];
  });
"""


@pytest.mark.parametrize("case", ["found", "batch"])
def test_texts_stand_out(opened: Opened, case: str) -> None:
    browser = opened({"found": result(notes=("Mind this.",)), "batch": explained()[2]}[case])
    ratios = browser.execute_script(_CONTRAST)
    assert len(ratios) > 50
    assert [one for one in ratios if one[0] < 4.5] == []


def test_printing(opened: Opened, found: Counterfactuals) -> None:
    browser = opened(found)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not browser.find_element("id", "cf-controls").is_displayed()
        heads = browser.find_elements("css selector", "#cf thead th")
        assert [one.text for one in heads][3:7] == ["P(good)", "Changes", "Distance", "Typicality"]
        assert not any(one.is_displayed() for one in browser.find_elements("css selector", "th button"))
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"]
    assert len(printed) > 10_000


def test_in_print_the_heading_of_pictures_stays_with_the_first(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext to read pages with: on Debian `apt-get install poppler-utils`")
    start, caption = '<section aria-labelledby="pictures">', "Each point is a counterfactual"
    pages_seen = set()
    for n_lines in range(0, 40, 5):  # moves the heading down the page and over its foot
        path = tmp_path / f"{n_lines}.html"
        path.write_text(pictured().replace(start, "<p>line</p>" * n_lines + start), encoding="utf-8")
        browser.get(path.as_uri())
        pages = _printed_pages(browser, tmp_path / "printed.pdf")
        headed = [i for i, page in enumerate(pages) if re.search("^Pictures$", page, re.MULTILINE)]
        assert headed == [i for i, page in enumerate(pages) if caption in page]
        pages_seen |= set(headed)
    assert len(pages_seen) > 1
    browser.get("about:blank")


def _printed_pages(browser: Any, path: Path) -> list[str]:
    """The text of each page of paper."""
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"]
    path.write_bytes(base64.b64decode(printed))
    done = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, encoding="utf-8", check=True)
    return done.stdout.split("\f")[:-1]


def test_pictures_are_smaller_in_print(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    path = tmp_path / "report.html"
    path.write_text(pictured(), encoding="utf-8")
    browser.get(path.as_uri())
    resize(browser, 800)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        heights = browser.execute_script("return Array.from(document.images).map((one) => one.clientHeight)")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(heights) == 5
    assert max(heights) <= 85 / 25.4 * 96 + 1  # 85 mm
    browser.get("about:blank")


def test_without_scripts_the_tables_are_whole(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    html = report.to_html(result(), pictures=False)
    path.write_text(re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL), encoding="utf-8")
    browser.get(path.as_uri())
    assert shown(browser) == [0, 1, 2, 3]
    assert not browser.find_element("id", "cf-controls").is_displayed()
    assert not any(one.is_enabled() for one in browser.find_elements("css selector", "th button"))
    browser.get("about:blank")
