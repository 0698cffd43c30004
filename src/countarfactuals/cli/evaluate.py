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
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.cli import folder
from countarfactuals.cli.arguments import (
    DONE,
    EVALUATE_FORMATS,
    PARQUET,
    STANDARD,
    Dialect,
    dialect_of,
    format_of,
    note,
)
from countarfactuals.cli.column_kinds import silent
from countarfactuals.cli.data_files import check_out, check_rows, read_like, shown, write_parquet, write_text
from countarfactuals.cli.spreadsheets import csv_text
from countarfactuals.cli.wishes import constraints_of, target_of, targets_of_rows, wanted_cells
from countarfactuals.cli.wishes_file import read_wishes
from countarfactuals.evaluation import evaluate, evaluate_set
from countarfactuals.exceptions import DataError, ParameterError
from countarfactuals.explainers import Explainer
from countarfactuals.language import tr
from countarfactuals.prediction import Target
from countarfactuals.schema import free_name

_ROW = "row"


def run(options: argparse.Namespace) -> int:
    """Measure and write; always 0, as everything else is an error."""
    form = format_of(options, EVALUATE_FORMATS)
    check_out(options.out, form)
    if options.data == options.counterfactuals == STANDARD:
        raise ParameterError("Standard input can be read once: --data or --counterfactuals must be a file.")
    if options.row is not None and options.row < 0:
        raise ParameterError(f"--row is counted from 0, got {options.row}.")
    wishes = read_wishes(options.constraints)
    wishes.fill(options)
    opened = folder.read(options.explainer, trusted=options.trust_model)
    explainer, dialect = opened.explainer, dialect_of(options, opened.dialect)
    schema, known = explainer.schema_, opened.known_columns
    constraints = constraints_of(options, schema, wishes)
    X, targets = _rows_and_targets(options, dialect, explainer, known)
    label = free_name(_ROW, schema.names)  # as `explain` names it
    # columns that are no features, such as measures, need no word
    theirs, others = read_like(options.counterfactuals, dialect, silent, schema, known=known, extra=[label])
    parts, together = [], {}
    for row, at in _by_row(theirs, others.get(label), X, options).items():
        given = (theirs.iloc[at], X.loc[[row]], explainer, targets[row], constraints)
        measured = evaluate(*given)
        measured.insert(0, "counterfactual", measured.index)
        measured.insert(0, _ROW, row)
        parts.append(measured)
        together[row] = evaluate_set(*given)
    measured = pd.concat(parts, ignore_index=True)
    if form == PARQUET:
        write_parquet(measured, options.out)
    else:
        write_text(_text(measured, together, form, options.exact_cells), options.out)
    return DONE


def _rows_and_targets(
    options: argparse.Namespace, dialect: Dialect, explainer: Explainer, known: Collection[str]
) -> tuple[pd.DataFrame, list[Target | None]]:
    """The rows that are explained, and what is wanted of each."""
    predictor, column = explainer.background_.predictor, options.want_column
    target = target_of(options, predictor) if column is None else None
    X, others = read_like(
        options.data, dialect, note, explainer.schema_, known=known, extra=[] if column is None else [column]
    )
    if column is None:
        return X, [target] * len(X)
    return X, targets_of_rows(options, predictor, wanted_cells(options, others))


def _by_row(
    theirs: pd.DataFrame, labels: list[Any] | None, X: pd.DataFrame, options: argparse.Namespace
) -> dict[int, list[int]]:
    """Positions of the counterfactuals of each row."""
    if options.row is None and labels is not None:
        groups: dict[int, list[int]] = {}
        for position, cell in enumerate(labels):
            groups.setdefault(_number(cell, position), []).append(position)
    elif options.row is None and len(X) > 1:
        raise ParameterError(
            f"{shown(options.data)} has {len(X)} rows. Say which one the counterfactuals are for: --row 0."
        )
    else:
        groups = {options.row or 0: list(range(len(theirs)))}
    check_rows(options.data, len(X), list(groups))
    return groups


def _number(cell: Any, position: int) -> int:
    try:
        return int(cell)
    except (TypeError, ValueError):
        raise DataError(
            f"The column 'row' of the counterfactuals says {cell!r} in line {position} (counted from 0), where the "
            "number of a row should be. Mend it, or pass --row."
        ) from None


def _text(measured: pd.DataFrame, together: dict[int, dict[str, float]], form: str, exact: bool) -> str:
    if form == "csv":
        return csv_text(measured, exact=exact)
    sets = pd.DataFrame.from_dict(together, orient="index").rename_axis(_ROW).reset_index()
    if form == "json":
        stored = {"counterfactuals": _records(measured), "sets": _records(sets)}
        return json.dumps(stored, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    return f"{_grid(measured)}\n\n{tr('all counterfactuals of a row together')}\n{_grid(sets)}\n"


def _records(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    return [{name: _plain(value) for name, value in line.items()} for line in frame.to_dict("records")]


def _grid(frame: pd.DataFrame) -> str:
    """A frame as people read it."""
    return str(pd.DataFrame({name: map(_short, frame[name]) for name in frame.columns}).to_string(index=False))


def _short(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return tr("yes") if value else tr("no")
    if isinstance(value, float | np.floating):
        return "–" if math.isnan(value) else f"{value:.4g}"
    return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
