"""`countarfactuals suggest`: a file of wishes to be edited, from what an explainer knows of the data.

Everything in it is a comment: the columns with what they hold, an example of each thing that can be said, and what the
names of columns suggest, with reasons. Nothing counts until a user removes the sign before it.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from countarfactuals.cli import folder
from countarfactuals.cli.arguments import DONE, STANDARD
from countarfactuals.cli.data_files import check_out, write_text
from countarfactuals.constraints import Suggestion, suggest_constraints
from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers import Explainer
from countarfactuals.language import tr
from countarfactuals.language.spelling import cell_texts, one_line
from countarfactuals.prediction.models import REGRESSION
from countarfactuals.schema import Column

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_MOST_LEVELS = 12
_KINDS = {
    "real": "real",
    "integer": "integer",
    "boolean": "boolean",
    "category": "category",
    "ordered": "ordered",
}
_INTRODUCTION = """\
# What is wanted and what may change, for `countarfactuals explain --constraints FILE`.
# Lines that begin with # say nothing: remove the sign to use one."""


def run(options: argparse.Namespace) -> int:
    """Write the file; always 0, as everything else is an error."""
    if options.out != STANDARD and Path(options.out).exists() and not options.force:
        raise ParameterError(f"The file {options.out!r} exists. Choose another name, or pass --force to replace it.")
    check_out(options.out)
    opened = folder.read(options.explainer, trusted=options.trust_model)
    write_text(template(opened.explainer, opened.units), options.out)
    return DONE


def template(explainer: Explainer, units: Mapping[str, Any]) -> str:
    """The file, as text that TOML can read whichever of its lines are used."""
    columns = explainer.schema_.columns
    found = suggest_constraints(explainer)
    blocks = [
        [_INTRODUCTION],
        _described(explainer),
        [f"# {tr('Suggested by names of columns, never applied by itself:')}", *(f"#   {one_line(s)}" for s in found)]
        if found
        else [],
        ["# allow_real_rows = false", '# rows = "applicants"'],
        ["[target]", *_target(explainer)],
        ["[constraints]", *_whole(columns, found)],
        *_tables(explainer, found),
        ["[labels]", *_labels(columns)],
        ["[units]", *_units(columns, units)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _described(explainer: Explainer) -> list[str]:
    """Every column with its kind, and its range or levels."""
    columns = explainer.schema_.columns
    width = max(len(str(column.name)) for column in columns)
    cells = zip(columns, explainer.background_.distinct, strict=True)
    return [
        f"# {tr('Columns:')}",
        *(f"#   {one_line(column.name):<{width}}  {_held(column, values)}" for column, values in cells),
    ]


def _held(column: Column, values: np.ndarray) -> str:
    if column.is_number:
        kind = tr("date" if column.clock == "day" else "time") if column.clock else tr(_KINDS[column.kind])
        if not len(values):
            return kind
        low, high = cell_texts(column, [float(values[0]), float(values[-1])])
        return tr("{kind}, {low} to {high}", kind=kind, low=low, high=high)
    shown = [one_line(level, 40) for level in column.levels[:_MOST_LEVELS]]
    more = ["…"] if column.n_levels > _MOST_LEVELS else []
    sign = " < " if column.kind == "ordered" else ", "
    return f"{tr(_KINDS[column.kind])}: {sign.join([*shown, *more])}"


def _target(explainer: Explainer) -> Iterator[str]:
    predictor = explainer.background_.predictor
    if predictor.task == REGRESSION:
        low, high = np.quantile(explainer.background_.scores[:, 0], [0.25, 0.75])
        yield f"# above = {high:.6g}"
        yield f"# below = {low:.6g}"
        return
    yield f"# want = {_text(str(predictor.classes[-1]))}"
    yield "# probability = [0.7, 1]"


def _whole(columns: Sequence[Column], found: Sequence[Suggestion]) -> Iterator[str]:
    """What is said of the whole row."""
    names = [str(column.name) for column in columns]
    fixed = [str(suggestion.column) for suggestion in found if suggestion.kind == "fixed"] or names[:1]
    yield f"# fixed = {_texts(fixed)}  # columns that do not change"
    yield f"# vary = {_texts([name for name in names if name not in fixed][:3])}  # the only ones that may change"
    yield f"# max_changed = {min(3, len(columns))}"
    yield "# allow_missing = true  # a known cell may become missing"
    numbers = [str(column.name) for column in columns if column.is_number and not column.clock]
    if len(numbers) > 1:
        yield f"# rules = [{_text(f'{numbers[0]} <= {numbers[1]}')}]  # columns or formulas of them compared"
    if len(names) > 1:
        yield f"# groups = [{_texts(names[:2])}]  # change together or not at all"


def _tables(explainer: Explainer, found: Sequence[Suggestion]) -> Iterator[list[str]]:
    """What is said of columns, one table for each kind."""
    columns = explainer.schema_.columns
    cells = list(zip(columns, explainer.background_.distinct, strict=True))
    numbers = [(column, values) for column, values in cells if column.is_number and not column.clock and len(values)]
    levels = [column for column in columns if not column.is_number]
    ways = {suggestion.column: suggestion.value for suggestion in found if suggestion.kind == "direction"}
    ordered = [column for column in columns if column.kind != "category" and not column.clock]
    yield _table(
        "ranges", "[low, high] of a changed value, or text as ':60000'", {c.name: _ends(v) for c, v in numbers}
    )
    change = {c.name: _text("-20%:20%") for c, _ in numbers}
    yield _table("change", "relative to the row's own value: '0:5', '20%' for both ways", change)
    steps = {c.name: f"{_step(v):g}" for c, v in numbers}
    yield _table("steps", "multiples of this, or '±50' for steps from the row's own value", steps)
    allowed = {c.name: _values(c.levels[:_MOST_LEVELS]) for c in levels}
    yield _table("allowed", "levels or numbers that a changed cell may have", allowed)
    ways = {c.name: _text(ways.get(c.name, "increase")) for c in ordered}
    yield _table("direction", "'increase' or 'decrease'", ways)
    weights = {c.name: _text("hard") for c in columns}
    yield _table("weights", "'immutable', 'hard', 'normal', 'easy', or a number", weights)


def _table(name: str, what: str, lines: Mapping[Any, str]) -> list[str]:
    if not lines:
        return []
    return [f"[constraints.{name}]  # {what}", *(f"# {_key(column)} = {value}" for column, value in lines.items())]


def _labels(columns: Sequence[Column]) -> Iterator[str]:
    for column in columns:
        text = _text(str(column.title).replace("_", " "))
        if column.is_number or not column.levels:
            yield f"# {_key(column.name)} = {text}"
        else:
            level = column.levels[0]
            yield f"# {_key(column.name)} = [{text}, {{ {_key(level)} = {_text(str(level))} }}]  # and its levels"


def _units(columns: Sequence[Column], units: Mapping[str, Any]) -> Iterator[str]:
    for column in columns:
        if column.is_number and not column.clock:
            unit = units.get(str(column.name), "")
            yield f"# {_key(column.name)} = {_texts(unit) if isinstance(unit, tuple) else _text(unit or 'units')}"


def _ends(values: np.ndarray) -> str:
    return f"[{values[0]:.10g}, {values[-1]:.10g}]"


def _step(values: np.ndarray) -> float:
    """A round number, about a hundredth of the range."""
    span = float(values[-1] - values[0]) or 1.0
    return float(10.0 ** np.floor(np.log10(span / 10.0)))


def _values(levels: Sequence[Any]) -> str:
    return f"[{', '.join(json.dumps(level, ensure_ascii=False) for level in levels)}]"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _texts(texts: Sequence[str]) -> str:
    return _values(list(texts))


def _key(name: Any) -> str:
    return str(name) if _BARE.fullmatch(str(name)) else _text(str(name))
