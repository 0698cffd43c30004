"""The way of an auditor through the page: many rows, groups, and one row of them looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the service needs fastapi: pip install countarfactuals[serve]")
pytest.importorskip("selenium", reason="tests in a browser need selenium: pip install selenium")

from countarfactuals.serve import in_background

from .page_cases import wide
from .page_driver import Person, nothing_wrong


@pytest.fixture(scope="module")
def place(served, tmp_path_factory) -> Iterator[str]:
    with in_background([served, wide()], jobs_folder=tmp_path_factory.mktemp("jobs")) as address:
        yield address


@pytest.fixture
def person(browser: Any, place: str) -> Iterator[Person]:
    someone = Person(browser, place)
    with nothing_wrong(someone):
        yield someone
        someone.script("sessionStorage.clear()")
        browser.get("about:blank")


def explained(person: Person, explainer: str, prediction: str) -> Person:
    """A batch that is done."""
    person.open(f"#explainer={explainer}").click(".modes button", "Many cases")
    person.choose(".asking label:nth-child(1) select", prediction)
    person.choose(".asking label:nth-child(2) select", "20")
    person.click("button.main", "Explain these rows")
    person.one(".progress", "20 rows were explained.")
    return person


@pytest.mark.parametrize(("name", "prediction", "by"), [("loan", "bad", "housing"), ("wide", "refer", "group_1")])
def test_the_whole_way_of_an_auditor(person: Person, name: str, prediction: str, by: str) -> None:
    explained(person, name, prediction)
    assert person.complaints() == []
    person.choose(".inline select", by)
    person.one(".groups tbody tr")
    counts = [int(person.said(one)) for one in person.all(".groups tbody td:nth-child(2)")]
    assert sum(counts) <= 20
    assert len(counts) >= 2
    assert person.complaints() == []
    person.click(".choice label", "with a way")
    n_with = len(person.all(".results tbody tr"))
    person.click(".choice label", "without a way")
    n_without = len(person.all(".results tbody tr"))
    assert n_with + n_without == 20
    person.click(".choice label", "with a way")
    key = person.said(person.one(".results tbody th"))
    person.click(".results button", "Look at it")
    person.one(".case", f"row {key}")
    person.see_ways()
    person.one(".way")


def test_a_batch_is_found_again_after_a_reload(person: Person) -> None:
    explained(person, "loan", "bad")
    person.driver.refresh()
    person.click(".modes button", "Many cases")
    person.one(".progress", "20 rows were explained.")
    assert len(person.all(".results tbody tr")) == 20


def test_a_batch_can_be_stopped(person: Person) -> None:
    person.open("#explainer=loan").click(".modes button", "Many cases")
    person.choose(".asking label:nth-child(2) select", "500")
    person.click("button.main", "Explain these rows")
    person.click(".progress button:enabled", "Stop")
    person.one(".progress", "Stopped after")
