"""`countarfactuals explain`: counterfactuals of rows, in every format.

1. Open the folder of `fit`; another method takes over what its explainer has learned.
2. Read the rows with the columns of the training data.
3. Explain them, write the results, and say on standard error for which rows there is none.
"""

from __future__ import annotations

import argparse
import sys

from countarfactuals.cli import folder
from countarfactuals.cli.arguments import (
    PROGRAM,
    add_explainer,
    add_output,
    add_reading,
    add_wishes,
    dialect_of,
    format_of,
    note,
)
from countarfactuals.cli.output import FORMATS, check_out, text_of, write_text
from countarfactuals.cli.tables import read_like
from countarfactuals.cli.wishes import constraints_of, row_numbers, target_of
from countarfactuals.counterfactuals import CounterfactualsBatch
from countarfactuals.exceptions import DataError, listed
from countarfactuals.explainers import Explainer, make_explainer
from countarfactuals.parameters import check_int

METHODS = ("arf", "mocarf", "moc", "mocctree", "nice", "whatif", "random")
_DONE, _NOTHING_FOUND, _INTERRUPTED = 0, 3, 130
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

Rows are counted from 0. exit codes: 0 done, 1 something to mend, 2 wrong use, 3 no counterfactual found
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
    add_reading(parser)


def run(options: argparse.Namespace) -> int:
    """Explain the rows; the exit code tells whether there is anything."""
    check_out(options.out)
    if options.top is not None:
        check_int("--top", options.top, 1)
    opened = folder.read(options.explainer, trusted=options.trust_model)
    explainer = _chosen(opened.explainer, options)
    target = target_of(options, explainer.background_.predictor)
    constraints = constraints_of(options, explainer.schema_)
    dialect = dialect_of(options, opened.dialect)
    X, _ = read_like(options.data, dialect, note, explainer.schema_, rows=options.rows, known=opened.known_columns)
    on_error = "raise" if len(X) == 1 else "record"
    batch = explainer.explain_many(X, target, constraints, n_jobs=options.jobs, on_error=on_error)
    if len(batch):
        form = format_of(options, FORMATS)
        write_text(text_of(batch, form, explainer, options.top, opened.meta.get("outcome")), options.out)
    return _judged(batch)


def _chosen(loaded: Explainer, options: argparse.Namespace) -> Explainer:
    """The explainer by the method that is asked for, on what the stored one has learned."""
    if options.seed is not None:
        check_int("--seed", options.seed, 0)
    return make_explainer(
        options.method or loaded.method,
        loaded.model,
        classes=loaded.classes,
        task=loaded.task,
        min_plausibility=options.min_plausibility,
        max_evaluations=options.max_evaluations,
        random_state=options.seed,
    ).fit_like(loaded)


def _judged(batch: CounterfactualsBatch) -> int:
    """The exit code, and what is to be said of rows without counterfactuals."""
    by_status = {
        status: [label for label, one in zip(batch.index, batch, strict=True) if one.status == status]
        for status in ("found", "already", "none", "error")
    }
    if batch.unfinished:
        print(f"{PROGRAM}: interrupted, {len(batch.unfinished)} row(s) not explained", file=sys.stderr)
        return _INTERRUPTED
    if by_status["already"] and len(batch) > 1:
        note(f"row(s) {listed(by_status['already'])} have the wanted outcome already.")
    if by_status["none"]:
        first = next(one for one in batch if one.status == "none")
        why = first.diagnosis.text(first) if first.diagnosis is not None else " ".join(first.notes)
        note(f"no counterfactual for row(s) {listed(by_status['none'])}. Row {by_status['none'][0]}: {why}")
    if by_status["error"]:
        label, error = next(iter(batch.errors.items()))
        raise DataError(
            f"{len(by_status['error'])} of {len(batch)} rows could not be explained: {listed(by_status['error'])}. "
            f"Row {label}: {error}"
        )
    return _NOTHING_FOUND if by_status["none"] and not by_status["found"] else _DONE
