"""The page's files: what is not ours is what it says, all is small, stays on this machine and speaks its languages."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("fastapi", reason="the service needs fastapi: pip install countarfactuals[serve]")

from countarfactuals.language import catalogue_of, languages
from countarfactuals.language.extraction import PACKAGE, extracted
from countarfactuals.serve.phrases import PAGE, page_phrases, spoken_by_page

from ..browser import AXE

MOST_BYTES = 150_000
FILES = sorted(path for path in PAGE.rglob("*") if path.is_file())
OURS = [path for path in FILES if "vendor" not in path.parts]
SCRIPTS = [path for path in OURS if path.suffix == ".js"]


def test_what_is_vendored_is_what_was_published() -> None:
    """By the hash that is told beside it."""
    told = (PAGE / "vendor" / "VENDORED.md").read_text(encoding="utf-8")
    for path in (PAGE / "vendor").glob("*.js"):
        assert f"`{path.name}`" in told
        assert hashlib.sha256(path.read_bytes()).hexdigest() in told
    for licence in re.findall(r"`(LICENSE[^`]*)`", told):
        assert (PAGE / "vendor" / licence).stat().st_size > 500
    assert len(re.findall(r"\b[0-9a-f]{64}\b", told)) == len(list((PAGE / "vendor").glob("*.js")))


def test_the_checker_of_the_tests_is_what_was_published() -> None:
    expected = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878"
    assert hashlib.sha256(AXE.read_bytes()).hexdigest() == expected


def fetched(address: str, path: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body as they were sent, to a browser that takes gzip."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
    try:
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def test_all_files_and_the_phrases_are_small(address) -> None:
    """What a browser takes in all, on its way."""
    taken = [path for path in FILES if path.suffix not in (".md", ".txt", ".html")]
    sent = 0
    for path in (PAGE / "index.html", *taken):
        name = "/" if path.name == "index.html" else f"/page/{path.relative_to(PAGE).as_posix()}"
        status, headers, body = fetched(address, name)
        assert status == 200, name
        sent += len(body)
        whole = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        assert whole == path.read_bytes()
    sent += len(fetched(address, "/page/phrases/de.json")[2])
    assert 10_000 < sent < MOST_BYTES


def test_the_page_asks_for_nothing_elsewhere() -> None:
    """No address of another place, and none from the root, which a proxy's prefix would break."""
    for path in OURS:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|[\"'(]//", text), path
        assert not re.search(r"(?:src|href|fetch\(|from |import\()\s*=?\s*[\"'`]/", text), path


def test_nothing_is_written_into_the_page_as_html() -> None:
    for path in SCRIPTS:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text), (
            path
        )
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", html)


def test_every_module_that_is_imported_is_there() -> None:
    reached = {PAGE / "main.js"}
    for path in SCRIPTS:
        for name in re.findall(r'from "(\.[^"]+)"', path.read_text(encoding="utf-8")):
            target = (path.parent / name).resolve()
            assert target.is_file(), (path, name)
            reached.add(target)
    assert {path for path in SCRIPTS if path not in reached} == set()


def test_modules_stay_small() -> None:
    assert max(len(path.read_text(encoding="utf-8").splitlines()) for path in SCRIPTS) <= 220


def test_every_phrase_of_the_page_is_german_too() -> None:
    german = catalogue_of("de")
    found = [phrase for phrase in extracted(PACKAGE).phrases if phrase.place[0].startswith("serve/page/")]
    assert len(found) == len(spoken_by_page()) > 200
    told = page_phrases("de")
    for phrase in spoken_by_page():
        if phrase.several is None:
            assert told["phrases"][phrase.one] == german.phrase(phrase.one) != ""
        else:
            assert set(told["plurals"][phrase.several]) == {"one", "other"}


def test_scripts_whose_phrases_can_not_be_told_are_found(tmp_path: Path) -> None:
    (tmp_path / "one.js").write_text(
        'tr("{n} rows \\"here\\"", { n });\ntr(words);\ncounted(list.length, "one", "more");'
    )
    found = extracted(tmp_path)
    assert [(one.one, one.several) for one in found.phrases] == [('{n} rows "here"', None), ("one", "more")]
    assert found.unclear == [("one.js", 2)]


def test_phrases_come_by_language(address) -> None:
    assert json.loads(fetched(address, "/page/phrases/en.json")[2]) == {"phrases": {}, "plurals": {}}
    for code in languages():
        assert fetched(address, f"/page/phrases/{code}.json")[0] == 200
    for code in ("xx", "de.po", "..%2Fde", "DE"):
        assert fetched(address, f"/page/phrases/{code}.json")[0] == 404


@pytest.mark.parametrize("path", ["/", "/page/main.js", "/page/style.css", "/page/phrases/de.json"])
def test_the_policy_allows_files_of_the_page_alone(address, path: str) -> None:
    headers = fetched(address, path)[1]
    policy = headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self';", "style-src 'self';"):
        assert part in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
