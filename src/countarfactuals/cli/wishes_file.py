"""A file of wishes, `--constraints wishes.toml`: target, constraints and words in one place.

    allow_real_rows = false
    rows = "applicants"
    [target]                      # the options of "what is wanted", such as
    want = "good"
    [constraints]                 # the keywords of `Constraints`
    fixed = ["age"]
    [constraints.change]
    income = "-20%:20%"
    [labels]
    emp_len = "years in the job"
    [units]
    income = "€"

1. Texts may have the form of the command line's options; other values are those of Python.
2. What the command line says is added: of a column or a target it counts more than the file.
3. Errors name the file, the key and what is allowed.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from countarfactuals.cli.arguments import wanted_actions
from countarfactuals.constraints import KINDS
from countarfactuals.exceptions import CountarfactualsError, ParameterError, did_you_mean, listed
from countarfactuals.language.vocabulary import Unit
from countarfactuals.schema import Schema

_TABLES = ("target", "constraints", "labels", "units")
_KEYS = (*_TABLES, "rows", "allow_real_rows")


@dataclass(frozen=True)
class Wishes:
    """What a file says.

    Parameters
    ----------
    file : its name; empty where there is none.
    target, constraints, labels, units : as written.
    rows : what rows are called.
    allow_real_rows : None where nothing is said.
    """

    file: str = ""
    target: Mapping[str, Any] = field(default_factory=dict)
    constraints: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[Hashable, Any] = field(default_factory=dict)
    units: Mapping[str, Any] = field(default_factory=dict)
    rows: Any = None
    allow_real_rows: bool | None = None

    def constraints_for(self, schema: Schema) -> dict[str, Any]:
        """The constraints by kind, each checked."""
        return {name: self._read(name, value, schema) for name, value in self.constraints.items()}

    def _read(self, name: str, value: Any, schema: Schema) -> Any:
        kind = KINDS[name]
        return self.located(f"constraints.{name}", lambda: kind.check(kind.from_file(value, schema)))

    def located(self, key: str, read: Callable[[], Any]) -> Any:
        """What is read of a key; an error names the file and the key."""
        try:
            return read()
        except CountarfactualsError as error:
            raise type(error)("{file}: {key}: {reason}", file=self.file, key=key, reason=str(error)) from error

    def units_read(self) -> dict[Any, Unit]:
        """Units by column; a pair of words is a list."""
        return {name: tuple(unit) if isinstance(unit, list) else unit for name, unit in self.units.items()}

    def fill(self, options: argparse.Namespace) -> None:
        """Take over what the options do not say of the target."""
        if any(getattr(options, name) is not None for name in wanted_actions()):
            return
        for name, value in self.target.items():
            setattr(options, name, self._wanted(name, value))

    def _wanted(self, name: str, value: Any) -> Any:
        """As the option of the same name would read it."""
        action = wanted_actions()[name]
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        if action.nargs == 0:
            return value
        try:
            return text if action.type is None else action.type(text)  # type: ignore[operator]
        except (argparse.ArgumentTypeError, ValueError) as error:
            raise ParameterError(f"{self.file}: target.{name} {error}.") from None


def read_wishes(path: str | None) -> Wishes:
    """The wishes of a file; none without a file."""
    if path is None:
        return Wishes()
    try:
        said = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # beside what the parser says: digits and depths without end
        raise ParameterError(
            f"{path}: it is no TOML file ({error}). `countarfactuals suggest --explainer … --out {path}` writes one."
        ) from None
    _check_keys(path, "", said, _KEYS)
    for table in _TABLES:
        if not isinstance(said.get(table, {}), dict):
            raise ParameterError(f"{path}: {table} must be a table, [{table}], got {said[table]!r}.")
    _check_keys(path, "target.", said.get("target", {}), tuple(wanted_actions()))
    _check_keys(path, "constraints.", said.get("constraints", {}), tuple(KINDS))
    if not isinstance(said.get("allow_real_rows", True), bool):
        raise ParameterError(f"{path}: allow_real_rows must be true or false, got {said['allow_real_rows']!r}.")
    rows = said.pop("rows", None)
    return Wishes(path, **said, rows=tuple(rows) if isinstance(rows, list) else rows)


def _check_keys(path: str, before: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise ParameterError(
                f"{path}: there is no key {before}{key}; known: {listed(known, len(known))}.{did_you_mean(key, known)}"
            )


def joined(file: Any, options: Any) -> Any:
    """What a file and the options say of one kind together; None and False say nothing."""
    if isinstance(file, Mapping) and isinstance(options, Mapping):
        return {**file, **options}
    if isinstance(file, list | tuple) and isinstance(options, list | tuple):
        return [*file, *options]
    return file if options is None or options is False else options
