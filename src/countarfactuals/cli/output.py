"""Results in every format, to a file or to standard output.

| format | one row | several rows |
|---|---|---|
| table | the result as it prints | one after the other, each under its label |
| sentences | plain language | likewise |
| json | the stored format of `Counterfactuals` | that of `CounterfactualsBatch` |
| csv | one line per counterfactual: label of the row, number, features, measures | likewise |
| html | a report | a report over all of them |

A file is written beside its destination and moved there when complete.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.exceptions import DataError, StorageError
from countarfactuals.files import whole_file

FORMATS = ("table", "sentences", "json", "csv", "html")
STANDARD = "-"
_SENTENCES = 3


def text_of(batch: CounterfactualsBatch, form: str, explainer: Any, top: int | None, outcome: str | None) -> str:
    """The results of a batch as text.

    Parameters
    ----------
    batch : one result per row.
    form : one of `FORMATS`.
    explainer : for the pictures of a report.
    top : how many counterfactuals of each row are shown, None for all; of sentences, for three.
    outcome : what the model predicts.
    """
    if form == "sentences":
        from countarfactuals.counterfactuals.sentences import describe

        said = [describe(result, top or _SENTENCES, outcome=outcome) for result in batch]
        return _under_labels(batch, said)
    if top is not None:
        batch = CounterfactualsBatch(tuple(one.select(top) for one in batch), batch.index, batch.unfinished)
    if form == "json":
        return _only(batch).to_json() + "\n"
    if form == "csv":
        return str(batch.to_frame(objectives=True).to_csv(index=False, lineterminator="\n"))
    if form == "html":
        from countarfactuals.report import to_html

        return to_html(_only(batch), explainer, outcome=outcome)
    return _under_labels(batch, [repr(result) for result in batch])


def _only(batch: CounterfactualsBatch) -> Counterfactuals | CounterfactualsBatch:
    return batch[0] if len(batch) == 1 and not batch.unfinished else batch


def _under_labels(batch: CounterfactualsBatch, texts: list[str]) -> str:
    if len(batch) == 1:
        return texts[0] + "\n"
    headings = [f"row {label}" for label in batch.index]
    return "\n\n".join(f"{one}\n{'─' * len(one)}\n{text}" for one, text in zip(headings, texts, strict=True)) + "\n"


def check_out(out: str) -> None:
    """Refuse a place that can not be written to, before anything is searched."""
    if out == STANDARD:
        return
    if Path(out).is_dir():
        raise StorageError(f"{out!r} is a folder. Name a file to write.")
    if not Path(out).absolute().parent.is_dir():
        raise StorageError(f"There is no folder {str(Path(out).parent)!r} to write {out!r} to. Create it first.")


def write_text(text: str, out: str) -> None:
    """Write to a file, or to standard output."""
    if out == STANDARD:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except UnicodeEncodeError as error:
            raise DataError(
                f"Standard output can not show {error.object[error.start]!r} ({error.encoding}). Write to a file by "
                "--out, or set PYTHONIOENCODING=utf-8."
            ) from error
        return
    with whole_file(out) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
