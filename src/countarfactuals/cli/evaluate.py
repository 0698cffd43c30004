"""`countarfactuals evaluate`: measures of counterfactuals from anywhere.

1. Read the rows that are explained, and the counterfactuals with the same columns.
2. Each counterfactual belongs to one row: that of `--row`, or the one that its column "row" numbers, as `explain`
   writes it.
3. Every measure of each of them, and what those of one row are worth together.
"""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.cli import folder
from countarfactuals.cli.arguments import (
    add_explainer,
    add_output,
    add_reading,
    add_wishes,
    dialect_of,
    format_of,
    note,
)
from countarfactuals.cli.output import check_out, write_text
from countarfactuals.cli.tables import PARQUET, STANDARD, check_parquet, read_like, shown, write_parquet
from countarfactuals.cli.text import counted
from countarfactuals.cli.wishes import constraints_of, target_of
from countarfactuals.evaluation import evaluate, evaluate_set
from countarfactuals.exceptions import DataError, ParameterError
from countarfactuals.schema import free_name

FORMATS = ("table", "csv", "json", PARQUET)
_ROW = "row"
_EPILOG = """\
examples:
  counterfactuals of the first row, however they were made:
    countarfactuals evaluate --explainer explainer --data x.csv --row 0 --counterfactuals theirs.csv --want good
  those that `countarfactuals explain --format csv` wrote, each for its own row:
    countarfactuals evaluate --explainer explainer --data new.csv --counterfactuals all.csv --want good --format csv

The counterfactuals have the columns of the training data; others are left out.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this subcommand."""
    parser.epilog = _EPILOG
    add_explainer(parser)
    parser.add_argument(
        "--data", required=True, metavar="FILE", help="the rows explained: CSV, Parquet, - for standard input"
    )
    parser.add_argument(
        "--row", type=int, metavar="N", help="the row of --data, counted from 0, that all of them are for"
    )
    parser.add_argument("--counterfactuals", required=True, metavar="FILE", help="rows to measure: CSV, Parquet, -")
    add_wishes(parser)
    add_output(parser, FORMATS)
    add_reading(parser)


def run(options: argparse.Namespace) -> int:
    """Measure and write; always 0, as everything else is an error."""
    check_out(options.out)
    form = format_of(options, FORMATS)
    check_parquet(form, options.out)
    if options.data == options.counterfactuals == STANDARD:
        raise ParameterError("Standard input can be read once: --data or --counterfactuals must be a file.")
    if options.row is not None and options.row < 0:
        raise ParameterError(f"--row is counted from 0, got {options.row}.")
    opened = folder.read(options.explainer, trusted=options.trust_model)
    explainer, dialect = opened.explainer, dialect_of(options, opened.dialect)
    schema, known = explainer.schema_, opened.known_columns
    target = target_of(options, explainer.background_.predictor)
    constraints = constraints_of(options, schema)
    X, _ = read_like(options.data, dialect, note, schema, known=known)
    label = free_name(_ROW, schema.names)  # as `explain` names it
    theirs, others = read_like(options.counterfactuals, dialect, _silent, schema, known=known, extra=[label])
    parts, together = [], {}
    for row, at in _by_row(theirs, others.get(label), X, options).items():
        given = (theirs.iloc[at], X.loc[[row]], explainer, target, constraints)
        measured = evaluate(*given)
        measured.insert(0, "counterfactual", measured.index)
        measured.insert(0, _ROW, row)
        parts.append(measured)
        together[row] = evaluate_set(*given)
    measured = pd.concat(parts, ignore_index=True)
    if form == PARQUET:
        write_parquet(measured, options.out)
    else:
        write_text(_text(measured, together, form), options.out)
    return 0


def _silent(_: str) -> None:
    """Columns of counterfactuals that are no features, such as measures, need no word."""


def _by_row(
    theirs: pd.DataFrame, said: list[Any] | None, X: pd.DataFrame, options: argparse.Namespace
) -> dict[int, list[int]]:
    """Positions of the counterfactuals of each row."""
    if options.row is None and said is not None:
        groups: dict[int, list[int]] = {}
        for position, cell in enumerate(said):
            groups.setdefault(_number(cell, position), []).append(position)
    elif options.row is None and len(X) > 1:
        raise ParameterError(
            f"{shown(options.data)} has {len(X)} rows. Say which one the counterfactuals are for: --row 0."
        )
    else:
        groups = {options.row or 0: list(range(len(theirs)))}
    if beyond := [row for row in groups if not 0 <= row < len(X)]:
        raise DataError(
            f"{shown(options.data)} has {counted(len(X), 'row')}, counted from 0, so there is no row {beyond[0]}."
        )
    return groups


def _number(cell: Any, position: int) -> int:
    try:
        return int(cell)
    except (TypeError, ValueError):
        raise DataError(
            f"The column 'row' of the counterfactuals says {cell!r} in line {position} (counted from 0), where the "
            "number of a row should be. Mend it, or pass --row."
        ) from None


def _text(measured: pd.DataFrame, together: dict[int, dict[str, float]], form: str) -> str:
    if form == "csv":
        return str(measured.to_csv(index=False, lineterminator="\n"))
    if form == "json":
        lines = [{name: _plain(value) for name, value in line.items()} for line in measured.to_dict("records")]
        sets = [
            {_ROW: row, **{name: _plain(value) for name, value in worth.items()}} for row, worth in together.items()
        ]
        return (
            json.dumps({"counterfactuals": lines, "sets": sets}, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        )
    sets_frame = pd.DataFrame.from_dict(together, orient="index").rename_axis(_ROW)
    return (
        "\n".join([_grid(measured), "", "all counterfactuals of a row together", _grid(sets_frame.reset_index())])
        + "\n"
    )


def _grid(frame: pd.DataFrame) -> str:
    """A frame as people read it."""
    shown_frame = pd.DataFrame({name: [_short(value) for value in frame[name]] for name in frame.columns})
    return str(shown_frame.to_string(index=False))


def _short(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return "–" if math.isnan(value) else f"{value:.4g}"
    return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
