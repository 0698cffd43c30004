"""Packages that are not installed with this one: imported when they are needed, by an error that says how if absent.

Plug-ins are among them: what installed packages announce under the name of a group is loaded once.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Any

from countarfactuals.exceptions import MissingDependencyError


def optional(module: str, what: str, extra: str | None) -> Any:
    """The module of an optional package.

    Parameters
    ----------
    module : its name.
    what : what needs it, and the verb, such as "Pictures need".
    extra : of this package that installs it; None if no extra does.

    >>> optional("json", "Examples need", "test").dumps(1)
    '1'
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            "{what} {package}, which is not installed. Install it with `pip install {name}`.",
            what=what,
            package=package,
            name=package if extra is None else f"'countarfactuals[{extra}]'",
        ) from error


@cache
def load_plug_ins(group: str) -> None:
    """Import all that is announced for a group; plug-ins register what they add."""
    for entry in entry_points(group=group):
        entry.load()


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """The versions of those that are installed, by name."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
