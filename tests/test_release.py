"""What must be the same in several files when a version is released."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def found(pattern: str, file: str) -> list[str]:
    """All that the pattern's group matches in a file of the repository."""
    return re.findall(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_one_version():
    assert found(r"^version: (.*)$", "CITATION.cff") == [PROJECT["version"]]
    assert found(r"^## \[(.*?)\]", "CHANGELOG.md")[0] == PROJECT["version"]
    assert PROJECT["version"].startswith(found(r"^## ([\d.]+)$", "docs/release-notes.md")[0] + ".")


def test_the_workflow_begins_with_the_oldest_python():
    (listed,) = found(r"^ +python: \[(.*)\]$", ".github/workflows/tests.yml")
    assert re.findall(r"[\d.]+", listed)[0] == PROJECT["requires-python"].removeprefix(">=")


def test_the_oldest_versions_are_those_that_are_allowed():
    requirements = [*PROJECT["dependencies"], *chain.from_iterable(PROJECT["optional-dependencies"].values())]
    allowed = dict(requirement.partition(">=")[::2] for requirement in requirements)
    for line in found(r"^([\w-]+==[\d.]+)$", "oldest.txt"):
        name, _, version = line.partition("==")
        assert f"{version}.".startswith(f"{allowed[name]}."), name
