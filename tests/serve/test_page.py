"""The way of a case worker through the page, in a real browser with a real server."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the service needs fastapi: pip install countarfactuals[serve]")
pytest.importorskip("selenium", reason="tests in a browser need selenium: pip install selenium")
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from countarfactuals import Constraints, Counterfactuals, Target
from countarfactuals.serve import Access, in_background

from ..browser import resize
from .conftest import TOKEN
from .page_cases import EVIL, flats, hostile, wide
from .page_driver import Person, nothing_wrong

WIDTHS = (390, 1280, 1920)


@pytest.fixture(scope="module")
def place(served, tmp_path_factory) -> Iterator[str]:
    """A server with loans, a table of 40 columns with gaps, and flats whose rent is a number."""
    with in_background([served, wide(), flats()], jobs_folder=tmp_path_factory.mktemp("jobs")) as address:
        yield address


@pytest.fixture
def person(browser: Any, place: str) -> Iterator[Person]:
    someone = Person(browser, place)
    with nothing_wrong(someone):
        yield someone
        browser.get("about:blank")


def cells(person: Person) -> dict[str, str]:
    """The fields of "and if" by their labels."""
    found = person.script(
        "return Array.from(document.querySelectorAll('.cells li')).map((one) => "
        "[one.querySelector('label').textContent, one.querySelector('input, select').value])"
    )
    return dict(found)


def test_the_whole_way(person: Person) -> None:
    """From a row to what is taken away."""
    person.open()
    person.only("bad")
    person.wait(lambda: "of 600" in person.said(person.one(".matching")), "the filter")
    person.take_row(2)
    assert person.said(person.one(".case")).startswith("Caserow ")
    person.click(".feature:nth-child(1) .switch")  # age stays
    person.click(".feature:nth-child(6) button", "Adjust")
    person.click(".feature:nth-child(6) .bar label", "only up")
    person.see_ways()
    assert "from bad to good" in person.said(person.one(".lead"))
    assert all("age" not in person.said(one) for one in person.all(".way .changes dt"))
    person.click(".looked-at button", "Try it out")
    person.one(".result.reached")
    assert "as wanted" in person.said(person.one(".result"))
    person.step(5)
    person.one(".code pre", "fixed=")
    assert [person.said(one) for one in person.all(".things h2")] == ["Report", "Letter", "Letter as text", "Data"]


def test_wishes_are_the_librarys_json(person: Person) -> None:
    """What a preset holds is read by `Constraints` and `Target`."""
    person.open().take_row(1)
    person.script("URL.createObjectURL = (blob) => (blob.text().then((text) => (window.saved = text)), 'blob:none')")
    person.script("HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; }")
    person.click(".feature:nth-child(1) .switch")
    person.click(".feature:nth-child(4) button", "Adjust")
    person.click(".feature:nth-child(4) .bar label", "only up")
    person.click(".feature:nth-child(4) .bar label", "hard")
    person.one('.feature:nth-child(4) input[type="range"]').send_keys(*[Keys.ARROW_RIGHT] * 30)
    person.click(".feature:nth-child(7) button", "Adjust")
    person.click(".feature:nth-child(7) .checks label", "car")
    person.choose(".tools select", "3")
    person.click("label.check", "with a probability of at least")
    person.click(".presets button", "Save as a file")
    preset = json.loads(person.wait(lambda: person.script("return window.saved"), "a file"))
    assert person.script("return window.savedAs") == "loan-preset.json"
    constraints = Constraints.from_dict(preset["constraints"])
    assert constraints.fixed == ("age",)
    assert constraints.direction == {"income": "increase"}
    assert constraints.weights == {"income": "hard"}
    assert constraints.ranges["income"][0] > 6000
    assert constraints.ranges["income"][1] is None
    assert set(constraints.allowed) == {"purpose"}
    assert "car" not in constraints.allowed["purpose"]
    assert constraints.max_changed == 3
    assert Target.from_dict(preset["target"]).probability == (0.7, 1.0)


def test_a_link_carries_the_wishes_and_not_the_case(person: Person) -> None:
    person.open().take_row(1)
    person.script(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (t) => { window.copied = t; }}})"
    )
    person.click(".feature:nth-child(2) .switch")
    person.click(".presets button", "Copy a link")
    link = person.wait(lambda: person.script("return window.copied"), "a link")
    assert link.startswith(f"{person.address}/#")
    row = person.script("return fetch('v1/explainers/loan/rows?limit=1').then((one) => one.json())")["rows"][0]["row"]
    assert all(str(value) not in link for value in row.values() if isinstance(value, float))
    person.open(link.removeprefix(f"{person.address}/"))
    person.take_row(4)
    assert person.one(".feature:nth-child(2)").get_attribute("class") == "feature locked"
    assert len(person.all(".feature.locked")) == 1


def test_when_there_is_none_one_click_helps(person: Person) -> None:
    person.open("#explainer=loan")
    person.only("bad").take_row(0)
    person.click(".tools button", "Keep all as they are")
    person.click(".feature:nth-child(1) .switch")
    person.see_ways()
    person.one(".none h2", "Why there is none")
    lift = person.one(".lifts button")
    assert person.said(lift).startswith("Let ")
    lift.click()
    person.one(".way")


def test_cards_obey(person: Person) -> None:
    """Others, not this one, pin, and the slider."""
    person.open().only("bad").take_row(0).see_ways()

    def cards() -> list[str]:
        return [one.get_attribute("aria-label") for one in person.all(".way")]

    first = cards()
    assert len(first) == 3
    person.click(".way:nth-of-type(2) button", "Pin")
    pinned = first[1]
    person.wait(lambda: cards()[0] == pinned, "what is pinned on top")
    person.click(".others button", "Show me others")
    person.wait(lambda: cards()[0] == pinned and not set(cards()[1:]) & set(first), "others")
    away = cards()[1]
    person.all(".way")[1].find_element("xpath", ".//button[text()='Not this one']").click()
    person.wait(lambda: away not in cards(), "one put away")
    person.click(".others button", "Bring all back")
    slider = person.one(".balance input")
    slider.send_keys(Keys.END)
    typical = cards()
    slider.send_keys(Keys.HOME)
    person.wait(lambda: cards() != typical, "closer ones")
    shares = person.script(
        "return Array.from(document.querySelectorAll('.dot')).map((one) => one.getAttribute('aria-label'))"
    )
    assert len(shares) > 5


def test_the_picture_is_chosen_from_by_keyboard(person: Person) -> None:
    person.open().only("bad").take_row(0).see_ways()
    picture = person.one(".trade-off svg")
    picture.send_keys(Keys.HOME)
    chosen = person.one(".dot.chosen").get_attribute("aria-label")
    picture.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    person.wait(lambda: person.one(".dot.chosen").get_attribute("aria-label") != chosen, "another dot")
    summary = person.one(".dot.chosen").get_attribute("aria-label").split("; more typical")[0]
    person.wait(lambda: summary in person.said(person.one("[role=status].unseen")), "what is told")


def test_and_if_follows(person: Person) -> None:
    """What is written over is evaluated, a text that is no number is told, and the curve is that of the cell."""
    person.open().only("bad").take_row(0).step(4)
    person.one(".result .big", "bad")
    person.write("#cell-amount", "900")
    person.write("#cell-savings", "25,000.50")
    person.one(".result .big", "good")
    assert cells(person)["savings"] == "25,000.50"
    person.one(".curve h2", "savings")
    person.one(".curve polyline")
    person.write("#cell-savings", "much")
    person.one("#cell-savings-error", "needs a number")
    person.click(".cells li:nth-child(7) button")
    person.click(".level-bars button", "furniture")
    assert cells(person)["purpose"] != ""
    person.wait(lambda: person.said(person.one(".cells li:nth-child(7) .was")).startswith("was "), "what it was")


def test_a_pasted_row_is_looked_over(person: Person) -> None:
    person.open().click(".choice label", "Paste")
    row = person.script("return fetch('v1/explainers/loan/rows?limit=1').then((one) => one.json())")["rows"][0]["row"]
    person.one("textarea").send_keys("age;income\n30;2000")
    person.click("button", "Look it over")
    person.one(".error", "are not there")
    text = "\t".join(row) + "\n" + "\t".join(str(value) for value in row.values())
    person.script(
        "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
        person.one("textarea"),
        text,
    )
    person.click("button", "Look it over")
    person.click("button", "Take this case")
    person.one(".case", "own entry")


def test_a_number_to_reach(person: Person) -> None:
    """A rent: dates, yes and no, and a unit."""
    person.open("#explainer=flats").take_row(0)
    person.one(".card p", "The prediction now is")
    person.click(".bar label", "at most")
    person.click(".feature:nth-child(3) button", "Adjust")
    person.one('.feature:nth-child(3) input[type="date"]')
    person.see_ways()
    person.one(".way")
    assert {person.said(one) for one in person.all(".way dd ins")} & {"yes", "no"} or person.all(".way dd")


def test_forty_columns_with_gaps(person: Person) -> None:
    person.open("#explainer=wide")
    person.wait(lambda: "unknown" in person.said(person.one(".grid-body")), "a gap")
    person.take_row(0)
    assert len(person.all(".feature")) == 40
    person.one(".tools input[type=search]").send_keys("group")
    person.wait(lambda: len(person.all(".feature")) == 6, "the features that were sought")
    person.click(".tools button", "Keep all as they are")
    assert len(person.all(".feature.locked")) == 6
    person.see_ways()
    person.one(".way")
    assert not any("group" in person.said(one) for one in person.all(".way .changes dt"))
    person.step(4)
    person.one(".result .big")


def test_the_table_draws_only_what_is_in_sight(person: Person) -> None:
    person.open()
    person.wait(lambda: person.all(".grid-body .grid-row:not(.waiting)"), "rows")
    assert int(person.one(".grid").get_attribute("aria-rowcount")) == 601
    assert len(person.all(".grid-body .grid-row")) < 60
    person.script("document.querySelector('.grid').scrollTop = 1e9")
    keys = "return Array.from(document.querySelectorAll('.grid-body .grid-key')).map((one) => one.textContent)"
    person.wait(lambda: "599" in person.script(keys), "the end")
    assert len(person.all(".grid-body .grid-row")) < 60


def test_fifty_thousand_rows(browser: Any, served, tmp_path) -> None:
    """Who scrolls past many rows does not wait for them."""
    matrix = served.explainer.background_.matrix
    many = replace(served, table=np.tile(matrix, (50_000 // len(matrix) + 1, 1))[:50_000])
    with in_background([many], jobs_folder=tmp_path / "jobs") as address:
        person = Person(browser, address)
        with nothing_wrong(person):
            person.open()
            person.wait(lambda: person.all(".grid-body .grid-row:not(.waiting)"), "rows")
            assert int(person.one(".grid").get_attribute("aria-rowcount")) == 50_001
            most_at_once = person.driver.execute_async_script(
                """
                const done = arguments[0], grid = document.querySelector(".grid"), fetched = window.fetch;
                let going = 0, most = 0;
                window.fetch = (...asked) => {
                  most = Math.max(most, (going += 1));
                  return fetched(...asked).finally(() => (going -= 1));
                };
                let left = 200;
                const go = () => (left-- ? ((grid.scrollTop += 11000), requestAnimationFrame(go)) : done(most));
                go();
                """
            )
            person.wait(lambda: "49999" in person.said(person.one(".grid-body")), "the end")
            assert len(person.all(".grid-body .grid-row")) < 60
            assert 1 <= most_at_once <= 2
            person.one('input[type="search"]').send_keys("car own")
            person.wait(lambda: "of 50,000 rows" in person.said(person.one(".matching")), "what matches")
            person.wait(lambda: not person.all(".grid-body .waiting"), "its rows")
            assert person.script("return document.querySelector('.grid').scrollTop") == 0
            browser.get("about:blank")


def test_a_search_shows_its_rows(person: Person) -> None:
    """Also where the table is scrolled while one may still be writing."""
    person.open()
    person.wait(lambda: person.all(".grid-body .grid-row:not(.waiting)"), "rows")
    person.driver.execute_async_script(
        """
        const [search, done] = arguments;
        search.value = "rent";
        search.dispatchEvent(new Event("input", {bubbles: true}));
        const scroll = () => document.querySelector(".grid").dispatchEvent(new Event("scroll"));
        for (const time of [40, 80, 120, 150]) setTimeout(scroll, time);
        setTimeout(done, 200);
        """,
        person.one('input[type="search"]'),
    )
    person.wait(lambda: "of 600" in person.said(person.one(".matching")), "what matches")
    person.wait(lambda: all("rent" in person.said(row) for row in person.all(".grid-body .grid-row")), "only its rows")
    assert person.all(".grid-body .grid-row:not(.waiting)")


def test_sorting_keeps_the_place(person: Person) -> None:
    """What is sorted by stays in sight and has the focus, and it is told."""
    person.open("#explainer=wide", width=900)
    person.wait(lambda: person.all(".grid-body .grid-row:not(.waiting)"), "rows")
    head = person.all(".grid-head button")[-1]
    person.script("arguments[0].scrollIntoView({inline: 'end'}); arguments[0].focus()", head)
    scrolled = person.script("return document.querySelector('.grid').scrollLeft")
    assert scrolled > 0
    press(person, Keys.ENTER)
    person.one("p.unseen[role=status]", "Sorted by group_6, smallest first.")
    person.wait(lambda: person.said(person.all(".grid-body .grid-row div:last-child")[0]) == "high", "sorted rows")
    assert person.script("return document.querySelector('.grid').scrollLeft") == scrolled
    assert person.said(person.driver.switch_to.active_element).startswith("group_6")
    assert len(person.all(".grid-head [aria-sort=ascending]")) == 1


def test_numbers_are_read_as_the_language_writes_them(person: Person) -> None:
    person.open().only("bad").take_row(0).step(4)
    person.choose(".settings label:nth-last-child(2) select", "de")
    person.wait(lambda: person.script("return document.documentElement.lang") == "de", "the language")
    person.write("#cell-savings", "25.000")
    assert "." not in cells(person)["employment_years"]
    person.choose(".settings label:nth-last-child(2) select", "en")
    person.wait(lambda: cells(person)["savings"] == "25000", "the number")
    read = """
        const [texts, done] = arguments;
        import(new URL("page/values.js", document.baseURI)).then(({readNumber, cellText}) =>
          done([...texts.map(readNumber), cellText({kind: "integer", years: true}, 2016)]));
    """
    texts = ["1,234", "0,125", "1.234,5", "1,234.5", "-1,234,567", "€ 12.50", "2.5"]
    told = person.driver.execute_async_script(read, texts)
    assert told == [1234, 0.125, 1234.5, 1234.5, -1234567, 12.5, 2.5, "2016"]


def test_where_nothing_helps_by_itself_all_conditions_can_go(person: Person) -> None:
    person.open().only("bad").take_row(0)
    person.click(".tools button", "Keep all as they are")
    person.see_ways()
    person.click(".none button", "Do without all conditions")
    person.one(".way")
    person.step(2).one(".card [role=status]", "Everything may change.")


def press(person: Person, *keys: str) -> None:
    ActionChains(person.driver).send_keys(*keys).perform()


def tab_to(person: Person, css: str, text: str = "") -> None:
    """Press Tab until the focus is there."""
    for _ in range(150):
        press(person, Keys.TAB)
        focused = person.driver.switch_to.active_element
        outline = person.script("return getComputedStyle(arguments[0]).outlineStyle", focused)
        if person.script("return arguments[0].matches(arguments[1])", focused, css) and text in person.said(focused):
            assert outline != "none" or person.script(
                "return arguments[0].matches('.bar input, .switch input')", focused
            )
            return
    raise AssertionError(f"{css} {text!r} can not be reached by Tab")


def test_the_whole_way_by_keyboard(person: Person) -> None:
    person.open()
    person.wait(lambda: person.all(".grid-body .grid-row:not(.waiting)"), "rows")
    tab_to(person, ".grid")
    press(person, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    person.one(".features")
    person.wait(lambda: person.driver.switch_to.active_element.tag_name == "h1", "the focus on the heading")
    person.one(".case", "row 2")
    tab_to(person, ".switch input")
    press(person, Keys.SPACE)
    assert len(person.all(".feature.locked")) == 1
    tab_to(person, "button", "Adjust")
    press(person, Keys.ENTER)
    tab_to(person, "button.main", "Ways there")
    press(person, Keys.ENTER)
    person.one(".way")
    tab_to(person, ".trade-off svg")
    press(person, Keys.END)
    tab_to(person, "button", "Try it out")
    press(person, Keys.ENTER)
    person.one(".result.reached")
    tab_to(person, "#cell-amount")
    tab_to(person, "button.main", "Take away")
    press(person, Keys.ENTER)
    tab_to(person, "button", "Save")


def test_the_focus_is_never_lost(person: Person) -> None:
    """Whatever a button does, also to itself, the keyboard goes on from somewhere."""
    person.open().only("bad").take_row(0).see_ways()
    person.one(".way")
    for text in ("Not this one", "Pin", "Unpin", "Show me others", "Bring all back"):
        button = person.one("main button", text)
        person.script("arguments[0].focus()", button)
        press(person, Keys.ENTER)
        person.script("return new Promise((go) => setTimeout(go, 100))")
        assert person.driver.switch_to.active_element.tag_name in ("button", "h1"), text
    person.step(2).click(".tools button", "Keep all as they are")
    person.step(3)
    person.script("arguments[0].focus()", person.one(".none button", "Do without all conditions"))
    press(person, Keys.ENTER)
    person.one(".way")
    assert person.driver.switch_to.active_element.tag_name == "h1"
    person.step(5)
    person.one(".code")
    person.click(".modes button:nth-child(2)")
    button = person.one("button", "Explain these rows")
    person.script("arguments[0].focus()", button)
    press(person, Keys.ENTER)
    person.wait(lambda: person.all(".progress"), "the job")
    assert person.driver.switch_to.active_element == button
    person.one(".results")


def test_the_heads_of_the_table_are_one_stop(person: Person) -> None:
    person.open("#explainer=wide", width=900)
    person.wait(lambda: person.all(".grid-body .grid-row:not(.waiting)"), "rows")
    tab_to(person, ".grid")
    press(person, Keys.TAB)
    assert person.said(person.driver.switch_to.active_element) == "Prediction"
    press(person, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert person.said(person.driver.switch_to.active_element) == "measurement_02"
    press(person, Keys.END, Keys.ENTER)
    person.one("[aria-sort=ascending]", "group_6")
    press(person, Keys.TAB)
    assert not person.script("return document.activeElement.closest('.grid')")


def states(person: Person, language: str = "en") -> Iterator[str]:
    """The states of the page, one after the other."""
    person.choose(".settings label:nth-last-child(2) select", language)
    person.wait(lambda: person.script("return document.documentElement.lang") == language, "the language")
    person.wait(lambda: person.all(".grid-body .grid-row:not(.waiting)"), "rows")
    yield "table"
    person.one('input[type="search"]').send_keys("nothing is like this")
    person.one(".empty")
    yield "no row"
    person.click(".choice label:nth-child(2)")
    yield "form"
    person.click(".choice label:nth-child(3)")
    person.click("form button")
    yield "paste"
    person.click(".choice label:nth-child(1)").only("bad").take_row(0)
    for number in (1, 2):
        person.click(f".feature:nth-child({number}) button:last-child")
    person.click(".feature:nth-child(3) .switch")
    person.click("label.check")
    yield "wishes"
    person.see_ways()
    yield "ways"
    person.step(4)
    person.write("#cell-amount", "x")
    person.one(".result .big")
    person.one(".curve svg")
    yield "and if"
    person.click(".cells li:nth-child(5) button")
    person.one(".level-bars")
    yield "and if, levels"
    person.step(5)
    person.one(".code")
    yield "take away"
    person.step(2).click(".tools button").click(".feature:nth-child(1) .switch")
    person.see_ways()
    person.one(".none")
    yield "none"
    person.click(".modes button:nth-child(2)")
    yield "many"


def sideways(person: Person) -> int:
    scrolled: int = person.script("window.scrollTo(500, 0); const x = window.scrollX; window.scrollTo(0, 0); return x")
    return scrolled


def test_axe_finds_nothing_in_any_state(person: Person) -> None:
    found = {state: person.complaints() for state in states(person.open())}
    assert {state: one for state, one in found.items() if one} == {}


def test_on_a_phone_nothing_scrolls_sideways(person: Person) -> None:
    """On one so tall that nothing is covered by what stays at the lower edge."""
    found = {}
    person.open(width=390)
    resize(person.driver, 390, 4000)
    for state in states(person, "de"):
        found[state] = [sideways(person), person.script("return innerWidth"), person.complaints()]
    assert {state: one for state, one in found.items() if one != [0, 390, []]} == {}


@pytest.mark.full
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_axe_finds_nothing_anywhere(person: Person, width: int, scheme: str, language: str) -> None:
    feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    person.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
    try:
        person.open(width=width)
        resize(person.driver, width, 4000)
        found = {state: (person.complaints(), sideways(person)) for state in states(person, language)}
        assert {state: one for state, one in found.items() if one != ([], 0)} == {}
    finally:
        person.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_german_leaves_no_english(person: Person) -> None:
    """Headings, buttons and labels of all states are said in German."""
    import re

    from countarfactuals.serve.phrases import page_phrases

    german = page_phrases("de")
    english = {key for key, said in german["phrases"].items() if said != key and "{" not in key and len(key) > 3}
    left = set()
    for _ in states(person.open(), "de"):
        texts = person.script(
            "return Array.from(document.querySelectorAll('h1, h2, button, label > span, dt, legend, .quiet, .lead'))"
            ".map((one) => one.textContent.trim())"
        )
        left |= english & {re.sub(r"\s+", " ", text) for text in texts}
    assert left == set()


def test_hostile_names_run_nothing(browser: Any, tmp_path) -> None:
    with in_background([hostile()], jobs_folder=tmp_path / "jobs") as address:
        person = Person(browser, address)
        with nothing_wrong(person):
            person.open()
            person.wait(lambda: EVIL in person.said(person.one(".grid-body")), "the names")
            person.take_row(0)
            for button in person.all(".feature > .feature-line > button"):
                button.click()
            person.see_ways()
            person.one(".way")
            person.step(4)
            person.one(".result .big")
            person.one(".curve svg")
            person.all(".cells li button")[1].click()
            person.one(".level-bars button", EVIL)
            person.step(5)
            person.one(".code pre")
            assert person.script("return document.images.length") == 1  # the mark of the page
            assert person.script("return document.scripts.length") == 1
            browser.get("about:blank")


def test_a_token_is_asked_for_and_kept_for_this_tab(browser: Any, served, tmp_path) -> None:
    with in_background([served], jobs_folder=tmp_path / "jobs", access=Access(token=TOKEN)) as address:
        person = Person(browser, address)
        with nothing_wrong(person, also=("401",)):
            person.open()
            assert person.complaints() == []
            field = person.one("input[type=password]")
            field.send_keys("x" * 40, Keys.ENTER)
            person.one(".note.bad")
            person.one("input[type=password]").send_keys(TOKEN, Keys.ENTER)
            person.wait(lambda: person.all(".grid-body .grid-row:not(.waiting)"), "rows")
            assert TOKEN not in person.script("return JSON.stringify(localStorage) + document.cookie + location.href")
            browser.refresh()
            person.wait(lambda: person.all(".grid-body .grid-row:not(.waiting)"), "rows, without asking again")
            browser.get("about:blank")


@contextmanager
def behind_prefix(address: str, prefix: str) -> Iterator[str]:
    """A proxy that puts a prefix before all addresses, and knows no others."""
    upstream = urlsplit(address).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            if not self.path.startswith(prefix):
                self.send_error(404)
                return
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            connection = http.client.HTTPConnection(upstream, timeout=60)
            connection.request(self.command, "/" + self.path.removeprefix(prefix), body, dict(self.headers))
            answer = connection.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            connection.close()

        do_GET = do_POST = do_DELETE = _pass_on

        def log_message(self, *_: Any) -> None:
            return None

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{proxy.server_port}{prefix.rstrip('/')}"
        proxy.shutdown()
        thread.join(20)


def test_behind_a_proxy_with_a_prefix(browser: Any, place: str) -> None:
    with behind_prefix(place, "/tools/why/") as address:
        person = Person(browser, address)
        with nothing_wrong(person):
            person.open().take_row(0).see_ways().step(4)
            person.one(".result .big")
            browser.get("about:blank")


def test_a_server_that_is_gone_is_told(browser: Any, served, tmp_path) -> None:
    person = Person(browser, "")
    with in_background([served], jobs_folder=tmp_path / "jobs") as address:
        person.address = address
        person.open().take_row(0)
    person.step(3)
    person.one(".note.bad", "can not be reached")
    assert person.complaints() == []
    browser.get("about:blank")


def test_data_that_is_taken_away_is_read_by_the_library(person: Person) -> None:
    person.open().only("bad").take_row(0).step(5)
    person.one(".code pre")
    person.script("URL.createObjectURL = (blob) => (blob.text().then((text) => (window.saved = text)), 'blob:none')")
    person.script("HTMLAnchorElement.prototype.click = () => undefined")
    for number, sign in ((1, "<!DOCTYPE html>"), (2, "<!DOCTYPE html>"), (3, "decision")):
        person.script("window.saved = null")
        person.click(f".things li:nth-child({number}) button")
        text = person.wait(lambda: person.script("return window.saved"), "a document")
        assert sign.lower() in text.lower()
    person.script("window.saved = null")
    person.click(".things li:nth-child(4) button")
    stored = person.wait(lambda: person.script("return window.saved"), "the data")
    assert len(Counterfactuals.from_dict(json.loads(stored))) > 0


def test_what_moves_stays_still_when_asked(person: Person) -> None:
    person.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    )
    try:
        person.open().take_row(0)
        moving = person.script(
            "return Array.from(document.querySelectorAll('*')).filter((one) => ['transition-duration', "
            "'animation-duration'].some((name) => parseFloat(getComputedStyle(one).getPropertyValue(name)) > 0)).length"
        )
        assert moving == 0
    finally:
        person.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        resize(person.driver, 1280)
