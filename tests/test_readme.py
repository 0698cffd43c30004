"""The README: its code runs, its outputs are true, its links lead somewhere."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")
NAMED_FILE = re.compile(
    r"`((?:src|tests|benchmarks|examples|arf|schema|datasets)/[\w./]+|\w+\.(?:py|md|cff|toml|txt))`"
)


def test_every_block_runs_and_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a report is written
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) >= 2
    namespace: dict[str, object] = {}
    for block in blocks:
        code, line = block.group(1), text.count("\n", 0, block.start(1))
        if ">>>" not in code:
            # the same line numbers as in the README, for tracebacks
            exec(compile("\n" * line + code, "README.md", "exec"), namespace)
            continue
        parsed = doctest.DocTestParser().get_doctest(code, namespace, "README.md", "README.md", line)
        assert parsed.examples
        report: list[str] = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
        result = runner.run(parsed, out=report.append, clear_globs=False)
        assert result.failed == 0, "".join(report)
        namespace = parsed.globs


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_to_files(document):
    links = [link for link in LINK.findall((ROOT / document).read_text(encoding="utf-8")) if "://" not in link]
    missing = [link for link in links if not (ROOT / link).exists()]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_that_are_named_exist(document):
    names = set(NAMED_FILE.findall((ROOT / document).read_text(encoding="utf-8")))
    package = ROOT / "src" / "countarfactuals"
    files = [
        path.relative_to(ROOT).as_posix()
        for part in ("src", "tests", "benchmarks")
        for path in (ROOT / part).rglob("*")
    ]
    missing = [
        name
        for name in names
        if not (ROOT / name).exists()
        and not (package / name).exists()
        and not any(path.endswith(f"/{name}") for path in files)
    ]
    assert missing == []


def test_it_can_be_read_in_two_minutes():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 150
    assert lines.index("## Install") < lines.index("## Five lines") < lines.index("## What comes back")


def test_the_two_commands_come_first():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert 0 < text.index("make demo") < text.index("make test") < text.index("\n## ")


def test_every_notation_of_given_is_understood():
    """The table of `given` in the documentation, cell by cell."""
    from countarfactuals import MISSING
    from countarfactuals.arf.conditions import parse_given
    from countarfactuals.datasets import load_loan
    from countarfactuals.schema import Schema

    text = (ROOT / "docs" / "how-to" / "density.md").read_text(encoding="utf-8")
    table = text[text.index("## What `given` can say") :].split("\n\n")[1]
    conditions = re.findall(r"`(\{.*?\})`", table)
    assert len(conditions) == 10
    X = load_loan(missing=True).X
    X["signed"] = pd.date_range("2019-01-01", periods=len(X))
    for condition in conditions:
        parsed = parse_given(eval(condition, {"MISSING": MISSING}), Schema.infer(X), X.isna().any().to_numpy())
        assert (parsed.kind != 0).sum() == 1
