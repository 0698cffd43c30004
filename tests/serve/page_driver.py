"""A person at the page: a real browser without a screen, what it waits for, and what must never happen in it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from selenium.common.exceptions import StaleElementReferenceException

from ..browser import WAIT, WCAG, complaints, resize


class Person:
    """Looks for what can be seen and does what can be done.

    Parameters
    ----------
    driver : the browser.
    address : of the page.
    """

    def __init__(self, driver: Any, address: str) -> None:
        self.driver = driver
        self.address = address

    def open(self, fragment: str = "", width: int = 1280) -> Person:
        """The page, anew, as someone who was never there."""
        resize(self.driver, width)
        self.driver.get("about:blank")
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(self.address))
        cleared = {
            "origin": origin,
            "storageTypes": "local_storage",
        }  # the language and light or dark of an earlier test
        self.driver.execute_cdp_cmd("Storage.clearDataForOrigin", cleared)
        self.driver.get(f"{self.address}/{fragment}")
        self.wait(lambda: self.all("h1"), "a heading")
        return self

    def all(self, css: str) -> list[Any]:
        """Everything that a selector finds."""
        found: list[Any] = self.driver.find_elements("css selector", css)
        return found

    def one(self, css: str, text: str = "") -> Any:
        """The first that a selector finds and that says something, once it is there."""
        return self.wait(lambda: [one for one in self.all(css) if text in self.said(one)], f"{css} {text!r}")[0]

    def said(self, element: Any) -> str:
        """The text of an element, with what is for screen readers alone."""
        return " ".join(str(self.script("return arguments[0].textContent", element)).split())

    def click(self, css: str, text: str = "") -> Person:
        """Click on it, as soon as it can be clicked."""
        found = self.one(css, text)
        self.script("arguments[0].scrollIntoView({block: 'center'})", found)
        found.click()
        return self

    def step(self, number: int) -> Person:
        """Go to a step by its number."""
        self.click(f".steps li:nth-child({number}) button")
        self.wait(lambda: self.all(f".steps li:nth-child({number}) button[aria-current=step]"), f"step {number}")
        return self

    def script(self, text: str, *values: Any) -> Any:
        """Run a script of the test."""
        return self.driver.execute_script(text, *values)

    def wait(self, found: Callable[[], Any], what: str) -> Any:
        """What is there at last."""
        latest = time.monotonic() + WAIT
        while time.monotonic() < latest:
            with suppress(StaleElementReferenceException):  # it was drawn anew just now
                if got := found():
                    return got
            time.sleep(0.02)
        raise AssertionError(f"waited in vain for {what}; the page says: {self.said(self.all('body')[0])[:800]}")

    def take_row(self, number: int = 0) -> Person:
        """Take a row of the table."""
        self.wait(lambda: len(self.all(".grid-body .grid-row:not(.waiting)")) > number, "rows")
        self.all(".grid-body .grid-row")[number].click()
        self.one(".features")
        return self

    def only(self, prediction: str) -> Person:
        """Filter the table by what is predicted."""
        self.choose(".finder select", prediction)

        def are_filtered() -> bool:
            tags = [self.said(one) for one in self.all(".grid-body .tag")]
            return bool(tags) and set(tags) == {prediction}

        self.wait(are_filtered, "filtered rows")
        return self

    def see_ways(self) -> Person:
        """Go to the ways, and wait until they are there, or it is told why there are none."""
        self.step(3)
        self.one(".way, .none")
        return self

    def choose(self, css: str, value: str) -> Person:
        """Choose in a list."""
        text = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change', {bubbles: true}))"
        self.script(text, self.one(css), value)
        return self

    def write(self, css: str, text: str) -> Person:
        """Write over a field."""
        self.script("arguments[0].select()", self.one(css))
        self.one(css).send_keys(text)
        return self

    def complaints(self) -> list[Any]:
        """What axe finds in the page as it is."""
        return complaints(self.driver, (*WCAG, "best-practice"))


@contextmanager
def nothing_wrong(person: Person, *, also: tuple[str, ...] = ()) -> Iterator[Person]:
    """Meanwhile no error, no violation of the policy, no word on the console, and no request to elsewhere."""
    person.driver.get_log("browser")
    person.driver.get_log("performance")
    yield person
    messages = [one["message"] for one in person.driver.get_log("browser")]
    unexpected = [one for one in messages if not any(text in one for text in also)]
    assert unexpected == [], unexpected
    wrong = person.script("return [window.violations, window.errors, window.hacked]")
    assert wrong == [[], [], 0], wrong
    elsewhere = [
        url for url in _requests(person.driver) if not url.startswith((person.address, "blob:", "data:", "about:"))
    ]
    assert elsewhere == [], elsewhere


def _requests(driver: Any) -> list[str]:
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    return [url for url in sent if not url.startswith("chrome")]
