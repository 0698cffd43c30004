"""Names in documents and docstrings: what stands in backquotes is there, in the sources or among the files."""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in path.parts),
]
# what looks like one of our names: an identifier with an underscore or a capital inside, a dotted path, a file
NAME = re.compile(r"(?<!`)`(?!`)([A-Za-z_][\w.]*(?:/[\w.]+)*)(?:\([^`]*\))?`(?!`)")
LOOKS_LIKE_OURS = re.compile(r"\w+_\w+|[A-Z]\w*[A-Z]\w+|[\w/]+\.py|countarfactuals\.[\w.]+")
# names of libraries, of data and of mathematics that no line of code has
FOREIGN = {"NUMBA_CACHE_DIR", "pyproject.toml"}


@cache
def known_names() -> frozenset[str]:
    """All identifiers of the code, and the words of its strings."""
    names: set[str] = set()
    for folder in ("src", "tests", "benchmarks", "examples", "docs"):
        for path in (ROOT / folder).rglob("*.py"):
            if path == Path(__file__):  # what is dead here on purpose
                continue
            for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
                if token.type == tokenize.NAME:
                    names.add(token.string)
                elif token.type == tokenize.STRING and not token.string.lstrip("rbfRBF").startswith('"""'):
                    names.update(re.findall(r"\w+", token.string))
    return frozenset(names - set(keyword.kwlist))


def is_known(name: str) -> bool:
    if name in FOREIGN:
        return True
    if name.endswith((".py", ".md", ".toml", ".txt", ".cff", ".json", ".js", ".css", ".sh")):
        return any(path.as_posix().endswith(f"/{name}") for path in files())
    return all(part in known_names() for part in name.split(".") if part)


@cache
def files() -> tuple[Path, ...]:
    folders = ("src", "tests", "benchmarks", "examples", "docs")
    return (*ROOT.glob("*"), *(path for folder in folders for path in (ROOT / folder).rglob("*")))


def dead(text: str) -> list[str]:
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return sorted({name for name in NAME.findall(text) if LOOKS_LIKE_OURS.fullmatch(name) and not is_known(name)})


def docstrings(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return "\n".join(ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds))


def test_dead_names_are_found():
    assert dead("`no_such_name`, `Explainer`, `never_written.py` and `countarfactuals.nowhere_at_all`") == [
        "countarfactuals.nowhere_at_all",
        "never_written.py",
        "no_such_name",
    ]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_documents_name_what_is_there(path: Path):
    assert dead(path.read_text(encoding="utf-8")) == []


def test_docstrings_name_what_is_there():
    found = {path.relative_to(ROOT).as_posix(): dead(docstrings(path)) for path in SOURCES}
    assert {path: names for path, names in found.items() if names} == {}
