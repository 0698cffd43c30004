"""A real browser without a screen, what axe finds in a page, and what of a page can not be seen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

WAIT = 30  # seconds after which a browser or a page that does not answer has failed
WCAG = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
AXE = Path(__file__).with_name("vendor") / "axe.min.js"

_RECORD = """
window.violations = []; window.errors = []; window.hacked = 0;
document.addEventListener("securitypolicyviolation", (e) => window.violations.push(e.violatedDirective));
window.addEventListener("error", (e) => window.errors.push(e.message), true);
"""
_AXE = """
const done = arguments[1];
axe.run(document, {runOnly: arguments[0]}).then(
  (found) => done(found.violations.map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 200))])),
  (error) => done([["error", [String(error)]]]));
"""
_CUT_OFF = """
const page = document.scrollingElement, found = [];
if (page.scrollWidth > page.clientWidth) found.push(`the page is ${page.scrollWidth} wide`);
const outside = (one, left, right) => {
  const {left: a, right: b, width} = one.getBoundingClientRect();
  return width > 0 && (a < left - 1 || b > right + 1);
};
for (const one of document.querySelectorAll("body *"))
  if (!one.closest(".scroll") && outside(one, 0, page.clientWidth)) found.push(one.outerHTML.slice(0, 120));
for (const box of document.querySelectorAll(".scroll"))
  for (const one of box.querySelectorAll("thead th, thead td")) {
    one.scrollIntoView({inline: "nearest", block: "nearest"});
    const {left, right} = box.getBoundingClientRect();
    if (outside(one, left, right)) found.push(one.outerHTML.slice(0, 120));
  }
for (const box of document.querySelectorAll(".scroll")) box.scrollLeft = 0;
return found;
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, with what it says recorded."""
    webdriver: Any = pytest.importorskip(
        "selenium.webdriver", reason="tests in a browser need selenium: pip install selenium"
    )
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")]
    binary = next((path for path in found if path), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip(
            "no browser: install chromium and chromedriver, on Debian with `apt-get install chromium chromium-driver`"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    try:
        browser.set_page_load_timeout(WAIT)
        browser.set_script_timeout(WAIT)
        browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _RECORD})
        yield browser
    finally:
        browser.quit()


def resize(browser: Any, width: int, height: int = 900) -> None:
    """As wide as a phone or a screen."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def complaints(browser: Any, tags: Sequence[str] = WCAG) -> list[Any]:
    """What axe finds in the page as it is."""
    if not browser.execute_script("return 'axe' in window"):
        browser.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
    found: list[Any] = browser.execute_async_script(_AXE, list(tags))
    return found


def cut_off(browser: Any) -> list[str]:
    """What can not be seen: it lies outside of the page, or is the head of a column that can not be scrolled to."""
    found: list[str] = browser.execute_script(_CUT_OFF)
    return found


def misses(browser: Any, page: Path, widths: Sequence[int] = (1200, 390)) -> dict[int, Any]:
    """By width, what axe finds in a file and what is cut off there; nothing, if all is well."""
    browser.get(page.as_uri())
    found = {}
    for width in widths:
        resize(browser, width)
        found[width] = [*complaints(browser), *cut_off(browser)]
    browser.get("about:blank")
    return {width: what for width, what in found.items() if what}
