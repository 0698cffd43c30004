"""`countarfactuals explain`: counterfactuals of rows, in every format.

1. Open the folder of `fit`; another method takes over what its explainer has learned.
2. Read the rows with the columns of the training data, and explain them. Errors name rows by their numbers in the file.
3. Write the results, in one of `formats`.
4. Write the letters that are asked for (`letters`).
5. Say on standard error for which rows there is nothing and why, and where the others are (`judged`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pandas as pd

from countarfactuals.cli import folder
from countarfactuals.cli.arguments import (
    DONE,
    INTERRUPTED,
    NOTHING_FOUND,
    OPTIONS,
    PROGRAM,
    STANDARD,
    Dialect,
    check_jobs,
    dialect_of,
    format_of,
    note,
)
from countarfactuals.cli.column_kinds import infer, silent
from countarfactuals.cli.data_files import check_out, read_like, write
from countarfactuals.cli.formats import ROWS, Output, formats
from countarfactuals.cli.letters import check_letter, protect, write_letters
from countarfactuals.cli.wishes import constraints_of, labels_of, target_of, targets_of_rows, units_of, wanted_cells
from countarfactuals.cli.wishes_file import Wishes, read_wishes
from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.recourse import Recourse
from countarfactuals.counterfactuals.result import STATUSES
from countarfactuals.counterfactuals.sentences import result_sentences
from countarfactuals.exceptions import CountarfactualsError, DataError, ParameterError, listed
from countarfactuals.explainers import Explainer, make_explainer
from countarfactuals.language import counted, speaking, tr
from countarfactuals.language.spelling import count_text, date_text
from countarfactuals.language.vocabulary import TEXT, Unit, words_of
from countarfactuals.parameters import check_float, check_int

_FACTS = {
    "model_from": "Model file",
    "model_file": "Model in the folder",
    "model_sha256": "SHA-256 of the model",
    "model_summary": "Quality of the model",
    "outcome": "Outcome",
    "data": "Data file",
    "n_rows": "Rows of the data file",
    "date": "Fitted on",
}


def run(options: argparse.Namespace) -> int:
    """Explain the rows in the language that is asked for; the exit code tells whether there is anything."""
    with speaking(options.language):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    if options.engine is not None:
        return _run_in_parts(options)
    if options.resume or options.key is not None or options.address is not None:
        raise ParameterError("--resume, --key and --address belong to --engine. Name an engine, such as local.")
    form = formats()[format_of(options, tuple(formats()))]
    check_out(options.out, form.name)
    _check_numbers(options)
    wishes = read_wishes(options.constraints)
    wishes.fill(options)
    check_letter(options)
    opened = folder.read(options.explainer, trusted=options.trust_model)
    explainer = _chosen(opened.explainer, options, wishes)
    protect(options, explainer)
    predictor, column = explainer.background_.predictor, options.want_column
    target: Any = None if column is not None else target_of(options, predictor)
    constraints = constraints_of(options, explainer.schema_, wishes)
    words = _words(opened, options, wishes)
    labels = _labels(explainer, options, wishes)
    dialect = dialect_of(options, opened.dialect)
    schema, known = explainer.schema_, opened.known_columns
    extra = [name for name in options.by if name not in map(str, schema.names)]
    if column is not None:
        extra.append(column)
    X, others = read_like(options.data, dialect, note, schema, rows=options.rows, known=known, extra=extra)
    if column is not None:
        target = targets_of_rows(options, predictor, wanted_cells(options, others))
    _check_by(options, form.name, len(X), [name for name in extra if name not in others])
    check_letter(options, len(X))
    batch = _explained(explainer, X, target, constraints, options.jobs)
    for names in labels:
        batch = batch.labelled(names)
    if len(batch):
        groups = {name: _series(name, cells, X.index, dialect) for name, cells in others.items()}
        facts, by = facts_of(opened.meta, date.today()), _recourses(batch, options.by, groups)
        output = Output(
            batch, explainer, options.top, facts=facts, by=by, options=OPTIONS, exact_cells=options.exact_cells, **words
        )
        write(form.write(output), options.out)
    write_letters(options, batch, explainer, opened, words)
    return judged(batch, options.out, words, is_told=options.out == STANDARD and form.is_readable)


def _run_in_parts(options: argparse.Namespace) -> int:
    from countarfactuals.cli.at_scale import run_parts

    _check_numbers(options)
    wishes = read_wishes(options.constraints)
    wishes.fill(options)
    return run_parts(options, wishes, _settings(options, wishes))


def _check_numbers(options: argparse.Namespace) -> None:
    """Refuse what can be refused before anything is read."""
    for name, least in (("top", 1), ("seed", 0), ("max_evaluations", 1)):
        if getattr(options, name) is not None:
            check_int(name, getattr(options, name), least)
    check_float("min_typicality", options.min_typicality, 0.0, 1.0)
    check_jobs(options.jobs)


def _check_by(options: argparse.Namespace, form: str, n_rows: int, absent: Sequence[str]) -> None:
    """Refuse columns to compare by that there are not, and outputs that have no place for it."""
    if not options.by:
        return
    if form != "html" or n_rows < 2:
        raise ParameterError(
            f"--by compares groups of rows in an HTML report, got the format {form!r} and "
            f"{counted(n_rows, '{n} row', '{n} rows')}. Explain several rows with --out report.html."
        )
    if absent:
        raise DataError(f"--by names {listed(absent)}, which neither the data nor the explainer has.")


def _series(name: str, cells: Sequence[Any], rows: pd.Index, dialect: Dialect) -> pd.Series:
    """The cells of a column that the model does not know; of a CSV file they are text, which may mean numbers."""
    is_text = all(cell is None or isinstance(cell, str) for cell in cells)
    series = infer(name, cells, dialect, silent) if is_text else pd.Series(cells)
    return pd.Series(series.array, index=rows, name=name)


def _recourses(batch: CounterfactualsBatch, by: Sequence[str], groups: Mapping[str, pd.Series]) -> tuple[Recourse, ...]:
    """What recourse costs by each of the columns."""
    names = batch[0].schema.names_by_text
    return tuple(batch.recourse(groups[name] if name in groups else names[name]) for name in by)


def _chosen(loaded: Explainer, options: argparse.Namespace, wishes: Wishes) -> Explainer:
    """The explainer by the method that is asked for, on what the stored one has learned."""
    return make_explainer(
        options.method or loaded.method,
        loaded.model,
        classes=loaded.classes,
        task=loaded.task,
        outcome=loaded.outcome,
        **_settings(options, wishes),
    ).fit_like(loaded)


def _settings(options: argparse.Namespace, wishes: Wishes) -> dict[str, Any]:
    """The explainer's parameters that are said."""
    ways = (options.allow_real_rows, wishes.allow_real_rows, True)
    return {
        "allow_real_rows": next(allowed for allowed in ways if allowed is not None),
        "min_typicality": options.min_typicality,
        "max_evaluations": options.max_evaluations,
        "random_state": options.seed,
    }


def _labels(explainer: Explainer, options: argparse.Namespace, wishes: Wishes) -> list[Any]:
    """What columns and levels are called: by the file, then by the options."""
    schema = explainer.schema_
    wishes.located("labels", lambda: schema.labelled(wishes.labels))
    by_options = labels_of(options.label, schema.names)
    schema.labelled(by_options)  # an error is told before anything is explained
    return [wishes.labels, by_options]


def _words(opened: folder.Opened, options: argparse.Namespace, wishes: Wishes) -> dict[str, Any]:
    """What things are called: as said here, else as when fitted."""
    outcome = opened.meta.get("outcome")
    names = opened.explainer.schema_.names
    wishes.located("units", lambda: words_of(names, wishes.units_read(), wishes.rows or ROWS, outcome, TEXT))
    units: dict[Any, Unit] = {**opened.units, **wishes.units_read()}
    units |= units_of(options.unit, names, outcome)
    return {"units": units, "rows": options.rows_are or wishes.rows or opened.rows, "outcome": outcome}


def _explained(
    explainer: Explainer, X: pd.DataFrame, target: Any, constraints: Constraints, jobs: int | None
) -> CounterfactualsBatch:
    """The results; of a single row an error is raised, of several it is told with the others' results."""
    try:
        on_error = "raise" if len(X) == 1 else "record"
        batch = explainer.explain_many(X, target, constraints, n_jobs=jobs, on_error=on_error)
    except CountarfactualsError as error:
        raise _of_row(error, X.index[0]) from error
    named = [_worded(result, label) for label, result in zip(batch.index, batch, strict=True)]
    return replace(batch, results=tuple(named))


def _worded(result: Counterfactuals, label: Hashable) -> Counterfactuals:
    """The result with its error in the words of the command line."""
    if result.failure is None:
        return result
    return replace(result, error=_of_row(result.failure, label).worded(OPTIONS))


def _of_row(error: CountarfactualsError, label: Hashable) -> CountarfactualsError:
    """The error with the row's number in the file, where it counts the rows of a frame."""
    return error.having(row=label) if "row" in error.fields else error


def facts_of(meta: Mapping[str, Any], today: date) -> dict[str, str]:
    """What the folder of an explainer says of model and data, as lines of a report."""
    found = {tr(name): meta[key] for key, name in _FACTS.items() if meta.get(key) not in (None, "")}
    facts = {name: count_text(value) if isinstance(value, int) else _dated(value) for name, value in found.items()}
    versions = meta.get("versions")
    if isinstance(versions, Mapping):
        facts[tr("Fitted with")] = ", ".join(f"{package} {version}" for package, version in versions.items())
    return {**facts, tr("Report written on"): date_text(today)}


def _dated(value: Any) -> str:
    """A fact as text; a day in words."""
    try:
        return date_text(date.fromisoformat(value))
    except (TypeError, ValueError):
        return str(value)


def why_nothing(
    result: Counterfactuals,
    *,
    units: Mapping[Hashable, Unit] | None = None,
    rows: Unit = ROWS,
    outcome: str | None = None,
) -> str:
    """Why a result has no rows, for a command line."""
    words = words_of(result.schema.names, units, rows, outcome, TEXT, OPTIONS)
    return " ".join(result_sentences(result, [], words))


def judged(batch: CounterfactualsBatch, out: str, words: Mapping[str, Any], *, is_told: bool) -> int:
    """The exit code; what is to be said of rows without counterfactuals goes to standard error.

    Parameters
    ----------
    batch : the results, as they were written.
    out : where they were written to.
    words : what things are called, see `why_nothing`.
    is_told : whether a reader of the output sees why there is nothing.
    """
    if batch.unfinished:
        left = counted(len(batch.unfinished), "{n} row not explained", "{n} rows not explained")
        print(f"{PROGRAM}: {tr('interrupted')}, {left}", file=sys.stderr)
        return INTERRUPTED
    by_status = {
        status: {label: result for label, result in zip(batch.index, batch, strict=True) if result.status == status}
        for status in STATUSES
    }
    place = tr("on standard output") if out == STANDARD else tr("in {file!r}", file=out)
    already, none, failed = (by_status[status] for status in ("already", "none", "error"))
    if already and len(batch) > 1:
        sentences = "row {rows} has the wanted outcome already.", "rows {rows} have the wanted outcome already."
        note(counted(len(already), *sentences, rows=listed(already)))
    if none and len(batch) == 1 and is_told:
        note(tr("no counterfactual for row {row!r}; the reason stands {place}.", row=batch.index[0], place=place))
    elif none:
        note(_without(none, batch, why_nothing(next(iter(none.values())), **words), place))
    if failed:
        raise DataError(_failed(batch, place))
    return NOTHING_FOUND if none and not by_status["found"] else DONE


def _without(none: Mapping[Hashable, Counterfactuals], batch: CounterfactualsBatch, why: str, place: str) -> str:
    first = next(iter(none))
    if len(batch) == 1:
        return tr("no counterfactual for row {row!r}. {why}", row=first, why=why)
    sentence = tr(
        "no counterfactual for {n} of {n_rows} rows: {rows}. Row {row}: {why}",
        n=len(none),
        n_rows=len(batch),
        rows=listed(none),
        row=first,
        why=why,
    )
    return f"{sentence}{_others(batch, len(none), place)}"


def _failed(batch: CounterfactualsBatch, place: str) -> str:
    (first, error), n_failed = next(iter(batch.errors.items())), len(batch.errors)
    of_all = f"{n_failed} of {counted(len(batch), '{n} row', '{n} rows')}"
    others = _others(batch, n_failed, place)
    return f"{of_all} could not be explained: {listed(batch.errors)}. Row {first}: {error}{others}"


def _others(batch: CounterfactualsBatch, n_without: int, place: str) -> str:
    """Where the counterfactuals of other rows are; nothing if there are none."""
    n_found = sum(result.status == "found" for result in batch)
    if not n_found:
        return ""
    if n_found < len(batch) - n_without:  # a row that needs or has no counterfactual may leave no line in the file
        sentences = " Counterfactuals of {n} row are {place}.", " Counterfactuals of {n} rows are {place}."
    else:
        sentences = " The other row is {place}.", " The other {n} rows are {place}."
    return counted(n_found, *sentences, place=place)
