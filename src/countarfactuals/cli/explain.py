"""`countarfactuals explain`: counterfactuals of rows, in every format.

1. Open the folder of `fit`; another method takes over what its explainer has learned.
2. Read the rows with the columns of the training data.
3. Explain them, write the results, and say on standard error for which rows there is none (`verdict`).
"""

from __future__ import annotations

import argparse
from typing import Any

import pandas as pd

from countarfactuals.cli import folder
from countarfactuals.cli.arguments import (
    add_explainer,
    add_output,
    add_reading,
    add_wishes,
    check_jobs,
    dialect_of,
    format_of,
    note,
)
from countarfactuals.cli.columns import add_words, units_of
from countarfactuals.cli.output import FORMATS as TEXT_FORMATS
from countarfactuals.cli.output import check_out, text_of, why_nothing, write_text
from countarfactuals.cli.tables import PARQUET, STANDARD, check_parquet, read_like, write_parquet
from countarfactuals.cli.verdict import Written, in_the_file, judged, told_of_rows
from countarfactuals.cli.wishes import constraints_of, row_numbers, target_of
from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.exceptions import CountarfactualsError
from countarfactuals.explainers import Explainer, make_explainer
from countarfactuals.parameters import check_float, check_int

FORMATS = (*TEXT_FORMATS, PARQUET)
METHODS = ("arf", "mocarf", "moc", "mocctree", "nice", "whatif", "random")
_READABLE = ("table", "sentences")  # formats in which a reader of the terminal sees why nothing was found
_EPILOG = """\
examples:
  two rows, what would make them good, with a probability of at least .7:
    countarfactuals explain --explainer explainer --data new.csv --rows 3,17 --want good --probability .7,1
  only what a person can change:
    countarfactuals explain --explainer explainer --data new.csv --rows 3 --want good --fix age,country \\
        --range income=0:60000 --direction savings=increase --allowed job=clerk,cook --max-changed 3
  a report to look at, and a table to work with:
    countarfactuals explain --explainer explainer --data new.csv --rows 3 --want good --out report.html
    countarfactuals explain --explainer explainer --data new.csv --rows all --want good --jobs 2 --out all.csv
  of a model that predicts numbers:
    countarfactuals explain --explainer prices --data new.csv --rows 0 --above 250000
  in words, with units:
    countarfactuals explain --explainer explainer --data new.csv --rows 3 --want good --format sentences \\
        --unit income=€ --unit duration=months --rows-are applicants

Rows are counted from 0. Where some rows can not be explained, the others are written and the exit code is 1; it is 3
if no row that needs a counterfactual has one.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this subcommand."""
    parser.epilog = _EPILOG
    add_explainer(parser)
    parser.add_argument(
        "--data", required=True, metavar="FILE", help="CSV or Parquet file, - for CSV from standard input"
    )
    parser.add_argument(
        "--rows", type=row_numbers, metavar="N,…", help="rows, counted from 0: 3,17 or 0-4 (default all)"
    )
    add_wishes(parser)
    search = parser.add_argument_group("search")
    search.add_argument("--method", choices=METHODS, help="how to search (default: arf)")
    search.add_argument(
        "--min-plausibility",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of real rows that must be less plausible than a counterfactual",
    )
    search.add_argument(
        "--max-evaluations", type=int, default=1000, metavar="N", help="rows the model is asked about (1000)"
    )
    search.add_argument("--seed", type=int, help="of the search (default: that of the explainer)")
    search.add_argument("--jobs", type=int, metavar="N", help="processes, -1 for all cores")
    parser.add_argument("--top", type=int, metavar="K", help="most counterfactuals per row, good and unlike each other")
    add_output(parser, FORMATS)
    add_words(parser)
    add_reading(parser)


def run(options: argparse.Namespace) -> int:
    """Explain the rows; the exit code tells whether there is anything."""
    form = _checked_form(options)
    opened = folder.read(options.explainer, trusted=options.trust_model)
    explainer = _chosen(opened.explainer, options)
    target = target_of(options, explainer.background_.predictor)
    constraints = constraints_of(options, explainer.schema_)
    words = _words(opened, options)
    dialect = dialect_of(options, opened.dialect)
    X, _ = read_like(options.data, dialect, note, explainer.schema_, rows=options.rows, known=opened.known_columns)
    batch = _explained(explainer, X, target, constraints, options.jobs)
    if len(batch) and form == PARQUET:
        write_parquet(_selected(batch, options.top).to_frame(objectives=True), options.out)
    elif len(batch):
        write_text(text_of(batch, form, explainer, options.top, meta=opened.meta, **words), options.out)
    return judged(batch, _written(options.out, form, words))


def _checked_form(options: argparse.Namespace) -> str:
    """The format; what can be refused is, before anything is read."""
    check_out(options.out)
    form = format_of(options, FORMATS)
    check_parquet(form, options.out)
    if options.top is not None:
        check_int("--top", options.top, 1)
    if options.seed is not None:
        check_int("--seed", options.seed, 0)
    check_int("--max-evaluations", options.max_evaluations, 1)
    check_float("--min-plausibility", options.min_plausibility, 0.0, 1.0)
    check_jobs(options.jobs)
    return form


def _words(opened: folder.Opened, options: argparse.Namespace) -> dict[str, Any]:
    """What things are called: as said here, else as when fitted."""
    names = [str(name) for name in opened.explainer.schema_.names]
    outcome = opened.meta.get("outcome")
    said = units_of(options.unit, names, outcome)
    return {"units": {**opened.units, **said}, "rows": options.rows_are or opened.rows, "outcome": outcome}


def _explained(
    explainer: Explainer, X: pd.DataFrame, target: Any, constraints: Constraints, jobs: int | None
) -> CounterfactualsBatch:
    """The results; of a single row an error is raised, of several it is told with the others' results."""
    rows = X.index.tolist()
    on_error = "raise" if len(rows) == 1 else "record"
    try:
        batch = explainer.explain_many(X, target, constraints, n_jobs=jobs, on_error=on_error)
    except CountarfactualsError as error:
        raise type(error)(in_the_file(str(error), rows)) from error
    return told_of_rows(batch, rows)


def _selected(batch: CounterfactualsBatch, top: int | None) -> CounterfactualsBatch:
    if top is None:
        return batch
    return CounterfactualsBatch(tuple(one.select(top) for one in batch), batch.index, batch.unfinished)


def _written(out: str, form: str, words: dict[str, Any]) -> Written:
    def why(result: Counterfactuals) -> str:
        return why_nothing(result, **words)

    if out == STANDARD:
        return Written("on standard output", form in _READABLE, why)
    return Written(f"in {out!r}", False, why)


def _chosen(loaded: Explainer, options: argparse.Namespace) -> Explainer:
    """The explainer by the method that is asked for, on what the stored one has learned."""
    return make_explainer(
        options.method or loaded.method,
        loaded.model,
        classes=loaded.classes,
        task=loaded.task,
        min_plausibility=options.min_plausibility,
        max_evaluations=options.max_evaluations,
        random_state=options.seed,
    ).fit_like(loaded)
