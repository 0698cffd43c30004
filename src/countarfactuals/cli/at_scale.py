"""`countarfactuals explain --engine …`: more rows than memory holds, part by part, on this machine or a cluster.

1. What is asked is checked, and becomes a `Job`. The files are cut in parts without being read at
   once (`file_parts`).
2. The folder --out gets a manifest of the question; with --resume that of the folder must be the same, and parts that
   are finished are left out (`scale.part_files`).
3. The engine hands the other parts out. A worker reads a part, explains its rows and writes their lines to a file of
   their own, so that a part that is done twice, by a worker that was lost, is there once.
4. An error costs its row; a part that can not be read costs itself, and is told when the others are done.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import effective_n_jobs

from countarfactuals._optional import optional
from countarfactuals._progress import tqdm
from countarfactuals.cli import folder
from countarfactuals.cli.arguments import DONE, NOTHING_FOUND, PARQUET, STANDARD, Dialect, dialect_of, note
from countarfactuals.cli.data_files import check_names, shown
from countarfactuals.cli.file_parts import (
    Part,
    PartRows,
    files_of,
    head_names,
    key_type,
    parts_of,
    read_part,
)
from countarfactuals.cli.letters import protect
from countarfactuals.cli.wishes import constraints_of, target_of, targets_of_rows
from countarfactuals.cli.wishes_file import Wishes
from countarfactuals.exceptions import CountarfactualsError, DataError, ParameterError, listed
from countarfactuals.explainers import Explainer
from countarfactuals.files import checksum
from countarfactuals.language import counted, speaking, tr
from countarfactuals.parameters import check_int
from countarfactuals.scale import Job, arrow_schema, part_files, saved

Done = tuple[int, part_files.Counts | CountarfactualsError]


@dataclass(frozen=True)
class _PartTask:
    """What a worker does with a part.

    Parameters
    ----------
    job : what is asked of its rows, which are labelled by their keys.
    place, question : where results go, see `part_files.begin`.
    dialect, known : of the files, see `read_like`.
    key : the column of the keys; None for the numbers of rows.
    wanted : the options, if a column of the files says what is wanted of each row.
    language : of the lines.
    """

    job: Job
    place: Path
    question: str
    dialect: Dialect
    known: tuple[str, ...]
    key: str | None
    wanted: argparse.Namespace | None
    language: str | None

    def __call__(self, part: Part) -> Done:
        """The part's number, and how many of its rows have which status, or why it can not be read."""
        try:
            with speaking(self.language):
                return part.number, self._explained(part)
        except CountarfactualsError as error:
            return part.number, error

    def _explained(self, part: Part) -> part_files.Counts:
        arrow = optional("pyarrow", "Parquet files need", "cli")
        explainer = self.job.explainer.loaded()
        column = None if self.wanted is None else self.wanted.want_column
        extra = [name for name in (self.key, column) if name is not None]
        read = read_part(part, self.dialect, explainer.schema_, self.known, extra)
        X = read.X if self.key is None else read.X.set_axis(pd.Index(read.extra[self.key]), axis="index")
        targets = self._targets(explainer, read, column)
        lines = explainer.explain_frame(X, targets, self.job.constraints, self.job.top)
        schema = arrow_schema(None if self.key is None else key_type(part.file, self.key))
        table = arrow.Table.from_pandas(lines, schema=schema, preserve_index=False)
        table = table.add_column(0, "file", arrow.array([part.file] * len(table), arrow.string()))
        return part_files.write_part(self.place, part.number, table, self.question)

    def _targets(self, explainer: Explainer, read: PartRows, column: str | None) -> Any:
        """One target for all rows; or one for each, where a column says them or some rows can not be read."""
        targets = [self.job.target] * len(read.X)
        if self.wanted is not None and column is not None:
            predictor = explainer.background_.predictor
            targets = [_or_error(self.wanted, predictor, cell) for cell in read.extra[column]]
        elif not read.errors:
            return self.job.target
        return [read.errors.get(position, target) for position, target in enumerate(targets)]


def _or_error(options: argparse.Namespace, predictor: Any, cell: Any) -> Any:
    try:
        return targets_of_rows(options, predictor, [cell])[0]
    except CountarfactualsError as error:
        return error


def run_parts(options: argparse.Namespace, wishes: Wishes, settings: dict[str, Any]) -> int:
    """Explain all rows of the files; the exit code.

    Parameters
    ----------
    options, wishes : of the command line, and of its file of wishes.
    settings : parameters of the explainer.
    """
    _check_options(options)
    place, files = Path(options.out).absolute(), files_of(options.data)
    shipped = saved(options.explainer, trust_model=options.trust_model, method=options.method, **settings)
    opened = folder.Opened(shipped.loaded(), folder.read_meta(Path(options.explainer)))
    explainer, dialect = opened.explainer, dialect_of(options, opened.dialect)
    protect(options, explainer)
    predictor = explainer.background_.predictor
    if options.want_column is not None:
        targets_of_rows(options, predictor, [])  # options that clash are told now
    target = None if options.want_column is not None else target_of(options, predictor)
    job = Job(shipped, target, constraints_of(options, explainer.schema_, wishes), options.top or 3)
    _check_files(files, dialect, explainer, opened.known_columns, options)
    parts = parts_of(files, dialect, options.rows_per_part)
    question = part_files.begin(place, _asked(job, files, dialect, options), resume=options.resume)
    part_files.check_strangers(place, len(parts))
    wanted = options if options.want_column is not None else None
    known = tuple(opened.known_columns)
    task = _PartTask(job, place, question, dialect, known, options.key, wanted, options.language)
    return _judged(_explain(task, parts, options), sum(part.n_rows for part in parts), options.out)


def _check_options(options: argparse.Namespace) -> None:
    """Refuse options that have no meaning for parts."""
    check_int("rows_per_part", options.rows_per_part, 1)
    if options.out == STANDARD or Path(options.out).is_file():
        raise ParameterError(f"--engine writes a folder of Parquet files, got --out {options.out!r}. Name a folder.")
    if options.format not in (None, PARQUET):
        raise ParameterError(f"--engine writes Parquet files, got --format {options.format}. Leave it out.")
    others = {"--rows": options.rows, "--by": options.by, "--letter": options.letter}
    others |= {"--unit": options.unit, "--label": options.label}
    if flags := [flag for flag, value in others.items() if value]:
        raise ParameterError(f"{listed(flags)} can not be said with --engine. Explain single rows without it.")
    if options.engine == "local" and options.address is not None:
        raise ParameterError("--address is that of a cluster, which --engine local has not. Leave it out.")


def _check_files(
    files: Sequence[str], dialect: Dialect, explainer: Explainer, known: set[str], options: argparse.Namespace
) -> None:
    """Refuse files that lack a column, and say which columns are left out, once for all files."""
    asked = [name for name in (options.key, options.want_column) if name is not None]
    for position, file in enumerate(files):
        names = head_names(file, dialect)
        check_names(names, file, note if position == 0 else lambda _: None, explainer.schema_, known, asked)
        if absent := [name for name in asked if name not in names]:
            raise DataError(f"{shown(file)} has no column {absent[0]!r}; it has {listed(names)}.")


def _asked(job: Job, files: Sequence[str], dialect: Dialect, options: argparse.Namespace) -> dict[str, Any]:
    """All that the results depend on, in JSON types."""
    return {
        "explainer": job.explainer.checksum,
        "method": job.explainer.method,
        "settings": dict(job.explainer.settings),
        "target": None if job.target is None else job.target.to_dict(),
        "want column": options.want_column and [options.want_column, options.probability, options.above, options.below],
        "constraints": job.constraints.to_dict(),
        "top": job.top,
        "key": options.key,
        "language": options.language,
        "rows per part": options.rows_per_part,
        "dialect": asdict(dialect),
        "input": [{"file": file, "bytes": os.path.getsize(file), "sha256": checksum(file)} for file in files],
    }


def _explain(task: _PartTask, parts: Sequence[Part], options: argparse.Namespace) -> part_files.Counts:
    """How many rows have which status, of parts that are finished already too."""
    before = {part.number: part_files.finished_part(task.place, part.number, task.question) for part in parts}
    left = [part for part in parts if before[part.number] is None]
    counts: Counter[str] = Counter()
    for found in before.values():
        counts.update(found or {})
    if options.resume:
        note(tr("{n} of {n_parts} parts are finished already.", n=len(parts) - len(left), n_parts=len(parts)))
    engine = import_module(f"countarfactuals.scale.{options.engine}")
    n_workers = effective_n_jobs(options.jobs or (1 if options.engine == "local" else -1))
    failed: dict[int, CountarfactualsError] = {}
    done = engine.finished(task, left, options.address, n_workers) if left else ()
    for number, found in tqdm(done, total=len(parts), initial=len(parts) - len(left), unit="part", disable=None):
        if isinstance(found, CountarfactualsError):
            failed[number] = found
        else:
            counts.update(found)
    if failed:
        number, error = min(failed.items())
        raise DataError(
            "{n} of {n_parts} parts could not be read; part {number}: {error} What is finished is kept.",
            n=len(failed),
            n_parts=len(parts),
            number=number,
            error=error,
        )
    return dict(counts)


def _judged(counts: part_files.Counts, n_rows: int, out: str) -> int:
    """The exit code; how many rows have which status is told."""
    n_found, n_already, n_none, n_failed = (counts.get(name, 0) for name in ("found", "already", "none", "error"))
    sentence = counted(
        n_rows,
        "{n:,} row: {found:,} with counterfactuals, {already:,} as wanted already, {none:,} without any.",
        "{n:,} rows: {found:,} with counterfactuals, {already:,} as wanted already, {none:,} without any.",
        found=n_found,
        already=n_already,
        none=n_none,
    )
    note(sentence)
    if n_failed:
        raise DataError(
            f"{n_failed} of {counted(n_rows, '{n} row', '{n} rows')} could not be explained; the others are in "
            f"{out!r}, and lines with the status 'error' say why."
        )
    return NOTHING_FOUND if n_none and not n_found else DONE
