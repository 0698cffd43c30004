"""The Python and the command line that give the same result, to be copied.

The command gets the row by a pipe and what is said by options. Where something was said that options can not say, there
is no command.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from countarfactuals.constraints import KINDS, Constraints
from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.prediction import Target

_PROGRAM = "countarfactuals"


class _Unsayable(Exception):
    """What no option says."""


def code_of(result: Counterfactuals, name: str) -> dict[str, str | None]:
    """Both as texts; None in the place of a command where there is none."""
    try:
        command: str | None = _command(result, name)
    except _Unsayable:
        command = None
    return {"python": _python(result), "command": command}


def _row(result: Counterfactuals) -> dict[Any, Any]:
    return {name: result.schema.decode_value(j, result.x[j]) for j, name in enumerate(result.schema.names)}


def _python(result: Counterfactuals) -> str:
    wishes = ", ".join(f"{name}={value!r}" for name, value in _said(result.constraints))
    target = "None" if result.target is None else repr(result.target)
    return f"explainer.explain(\n    {_row(result)!r},\n    {target},\n    Constraints({wishes}),\n)"


def _said(constraints: Constraints) -> list[tuple[str, Any]]:
    """The kinds that say something."""
    nothing: tuple[Any, ...] = ((), {}, False)
    return [(name, value) for name, value in vars(constraints).items() if value not in (KINDS[name].default, *nothing)]


def _command(result: Counterfactuals, name: str) -> str:
    row = _row(result)
    lines = [_listed(row), _listed("" if cell is None else cell for cell in row.values())]
    options = ["--explainer", name, "--data", "-", *_of_target(result.target), *_of_settings(result)]
    for kind, value in _said(result.constraints):
        for text in _texts(kind, value):
            options += [KINDS[kind].option.flag, text]  # type: ignore[union-attr]  # those that are written have one
    return f"printf '%s\\n' {shlex.join(lines)} |\n  {_PROGRAM} explain {shlex.join(options)}"


def _listed(cells: Any) -> str:
    """Texts with commas between them, in quotes where they need it."""
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow([str(cell) for cell in cells])
    return written.getvalue()


def _of_settings(result: Counterfactuals) -> Iterator[str]:
    settings = result.provenance.get("settings", {})
    yield from ("--method", result.method, "--seed", str(result.provenance.get("seed", 0)))
    yield from ("--max-evaluations", str(settings.get("max_evaluations", 1000)))
    if not settings.get("allow_real_rows", True):
        yield "--no-allow-real-rows"


def _of_target(target: Target | None) -> Iterator[str]:
    """What is wanted; ranges with = before them, as some begin with a minus."""
    if target is None:
        return
    if target.change is not None:
        raise _Unsayable
    if target.classes:
        yield from ("--want-not" if target.none_of else "--want", _listed(target.classes))
    if target.probability is not None:
        yield f"--probability={target.probability[0]!r},{target.probability[1]!r}"
    low, high = (target.above, target.below) if target.between is None else target.between
    yield from (f"--{name}={end!r}" for name, end in (("above", low), ("below", high)) if end is not None)


def _texts(kind: str, value: Any) -> list[str]:
    if kind not in _WRITERS:
        raise _Unsayable
    return _WRITERS[kind](value)


def _by_column(entry: Callable[[Any], str]) -> Callable[[Mapping[Any, Any]], list[str]]:
    return lambda value: [f"{name}={entry(wish)}" for name, wish in value.items()]


def _range(ends: Sequence[Any]) -> str:
    return ":".join("" if end is None else str(end) for end in ends)


def _levels(levels: Any) -> str:
    if isinstance(levels, Mapping) or not all(isinstance(level, str | int | float) for level in levels):
        raise _Unsayable
    return _listed(levels)


_WRITERS: dict[str, Callable[[Any], list[str]]] = {
    "fixed": lambda names: [_listed(names)],
    "vary": lambda names: [_listed(names)],
    "ranges": _by_column(_range),
    "allowed": _by_column(_levels),
    "direction": _by_column(str),
    "weights": _by_column(str),
    "max_changed": lambda most: [str(most)],
}
