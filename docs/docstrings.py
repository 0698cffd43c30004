"""Docstrings as reStructuredText: their Markdown tables, and names of parameters that go over several lines."""

import re

RULE = re.compile(r"^\s*\|(-+\|)+\s*$")
CELL = re.compile(r"(?<!\\)\|")


def setup(app) -> dict:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", rewrite, priority=100)  # before napoleon reads the sections
    return {"parallel_read_safe": True}


def rewrite(app, what, name, object_, options, lines: list[str]) -> None:
    """Rewrite the lines of a docstring in place."""
    lines[:] = with_tables(with_joined_names(lines))


def with_joined_names(lines: list[str]) -> list[str]:
    """`a, b,` and `c : text` as one line, as napoleon wants the names of parameters."""
    joined: list[str] = []
    for line in lines:
        before = joined[-1] if joined else ""
        is_names = re.fullmatch(r"[\w, ]+,", before) and not before.startswith(" ")
        if is_names and re.match(r"[\w, ]+( :|,$)", line):
            joined[-1] = f"{before} {line}"
        else:
            joined.append(line)
    return joined


def with_tables(lines: list[str]) -> list[str]:
    """Markdown tables as list-tables."""
    rewritten: list[str] = []
    i = 0
    while i < len(lines):
        if i + 1 < len(lines) and lines[i].lstrip().startswith("|") and RULE.match(lines[i + 1]):
            end = i + 2
            while end < len(lines) and lines[end].lstrip().startswith("|"):
                end += 1
            rewritten += ["", ".. list-table::", "   :header-rows: 1", ""]
            for row in (lines[i], *lines[i + 2 : end]):
                cells = [cell.strip() for cell in CELL.split(row.strip().strip("|"))]
                rewritten += [f"   {'* -' if k == 0 else '  -'} {cell}" for k, cell in enumerate(cells)]
            rewritten.append("")
            i = end
        else:
            rewritten.append(lines[i])
            i += 1
    return rewritten
