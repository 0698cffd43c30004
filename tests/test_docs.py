"""The documentation: every Python block and every cell of every page runs, page by page in one namespace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from countarfactuals import plotting

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "_build" not in path.parts)
BLOCK = re.compile(r"^```(?:python|\{code-cell\})\n(.*?)^```", re.MULTILINE | re.DOTALL)
WITH_CODE = [page for page in PAGES if BLOCK.search((DOCS / page).read_text(encoding="utf-8"))]
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")


def test_there_are_pages_with_code():
    assert len(WITH_CODE) >= 11


def test_every_notebook_is_run_and_listed():
    notebooks = [page for page in PAGES if page.startswith("notebooks/")]
    assert len(notebooks) >= 4
    assert set(notebooks) <= set(WITH_CODE)
    index = (DOCS / "index.md").read_text(encoding="utf-8").splitlines()
    for page in notebooks:
        assert page.removesuffix(".md") in index
        assert "file_format: mystnb" in (DOCS / page).read_text(encoding="utf-8")  # else nothing is run in the site


@pytest.mark.parametrize("page", WITH_CODE)
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = (DOCS / page).read_text(encoding="utf-8")
    namespace: dict[str, object] = {}
    for block in BLOCK.finditer(text):
        # the same line numbers as in the page, for tracebacks
        code = "\n" * text.count("\n", 0, block.start(1)) + block.group(1)
        exec(compile(code, page, "exec"), namespace)


def test_the_gallery_shows_what_its_example_draws():
    """The code above each picture is that of the example, which draws it under that name."""
    example = (DOCS.parent / "examples" / "pictures.py").read_text(encoding="utf-8")
    drawn = re.findall(r'yield "(\w+)", (plotting\..*)', example)
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"(plotting\.plot_.*)\n```\n\n!\[.*\]\(_static/gallery/(\w+)\.png\)", page)
    assert sorted(shown) == sorted((code, name) for name, code in drawn)
    functions = {code.split("(")[0] for code, _ in shown}
    assert functions == {f"plotting.{name}" for name in plotting.__all__ if name.startswith("plot_")}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_pages(page):
    links = [link for link in LINK.findall((DOCS / page).read_text(encoding="utf-8")) if "://" not in link]
    missing = [
        link for link in links if not (DOCS / page).parent.joinpath(link).exists() and "_static/gallery" not in link
    ]
    assert missing == []
