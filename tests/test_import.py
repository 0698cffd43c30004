"""What is imported when: the package's names on demand, the command line's options without what commands need."""

from __future__ import annotations

import subprocess
import sys

import pytest

import countarfactuals

HEAVY = ("babel", "numba", "pandas", "pyarrow", "scipy", "sklearn")


def imported(program: str) -> set[str]:
    """Which heavy packages a program has imported in the end."""
    report = f"import sys; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{report}"], capture_output=True, encoding="utf-8", check=True, timeout=120
    )
    return set(done.stdout.splitlines()[-1].split()) if done.stdout.strip() else set()


@pytest.mark.parametrize("arguments", [["--help"], ["explain", "--help"], ["fit"], ["explain", "--wnat", "x"], ["no"]])
def test_help_and_wrong_use_need_no_heavy_package(arguments):
    assert imported(f"from countarfactuals.cli import main; main({arguments!r})") == set()


def test_the_package_alone_needs_none():
    assert imported("import countarfactuals, countarfactuals.exceptions") == set()


@pytest.mark.parametrize("name", countarfactuals.__all__)
def test_every_public_name_is_there_and_listed(name):
    assert getattr(countarfactuals, name) is getattr(countarfactuals, name)
    assert name in dir(countarfactuals)


def test_modules_are_there_and_other_names_are_not():
    assert countarfactuals.exceptions.NotFittedError.__module__ == "countarfactuals.exceptions"
    for module in (countarfactuals, countarfactuals.exceptions):
        with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
            module.Nothing


def test_the_version_is_that_of_the_package():
    import importlib.metadata

    import countarfactuals

    assert countarfactuals.__version__ == importlib.metadata.version("countarfactuals")
