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
from collections.abc import Hashable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.display import result_text
from countarfactuals.counterfactuals.sentences import positions, result_sentences
from countarfactuals.counterfactuals.vocabulary import TEXT, Unit, Words, words_of
from countarfactuals.exceptions import DataError, StorageError
from countarfactuals.files import whole_file

FORMATS = ("table", "sentences", "json", "csv", "html")
STANDARD = "-"
_SENTENCES = 3


# what sets a limit or a setting that a diagnosis names
OPTIONS = {
    "fixed": "--fix",
    "range": "--range",
    "allowed": "--allowed",
    "direction": "--direction",
    "max_changed": "--max-changed",
    "min_plausibility": "--min-plausibility",
    "max_evaluations": "--max-evaluations",
    "method": "--method",
}
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


def text_of(
    batch: CounterfactualsBatch,
    form: str,
    explainer: Any,
    top: int | None,
    outcome: str | None,
    *,
    units: Mapping[Hashable, Unit] | None = None,
    rows: Unit = "rows",
    meta: Mapping[str, Any] | None = None,
) -> str:
    """The results of a batch as text.

    Parameters
    ----------
    batch : one result per row.
    form : one of `FORMATS`.
    explainer : for the pictures of a report.
    top : how many counterfactuals of each row are shown, None for all; of sentences, for three.
    outcome : what the model predicts.
    units, rows : what things are called, see `describe`.
    meta : what the folder of the explainer knows of it, for the report.
    """
    if form == "sentences":
        return _under_labels(batch, [_described(one, top or _SENTENCES, units, rows, outcome) for one in batch])
    if top is not None:
        batch = CounterfactualsBatch(tuple(one.select(top) for one in batch), batch.index, batch.unfinished)
    if form == "json":
        return _only(batch).to_json() + "\n"
    if form == "csv":
        return str(batch.to_frame(objectives=True).to_csv(index=False, lineterminator="\n"))
    if form == "html":
        from countarfactuals.report import to_html

        return to_html(
            _only(batch), explainer, units=units, rows=rows, outcome=outcome, meta=facts_of(meta or {}, date.today())
        )
    return _under_labels(batch, [result_text(one, words_on(one, units, rows, outcome)) for one in batch])


def words_on(result: Counterfactuals, units: Mapping[Hashable, Unit] | None, rows: Unit, outcome: str | None) -> Words:
    """The words of someone at a command line, who sets things by options."""
    return words_of(result.schema.names, units, rows, outcome, TEXT, OPTIONS)


def why_nothing(
    result: Counterfactuals,
    *,
    units: Mapping[Hashable, Unit] | None = None,
    rows: Unit = "rows",
    outcome: str | None = None,
) -> str:
    """Why a result has no rows, for a command line."""
    return " ".join(result_sentences(result, [], words_on(result, units, rows, outcome)))


def _described(
    result: Counterfactuals, k: int, units: Mapping[Hashable, Unit] | None, rows: Unit, outcome: str | None
) -> str:
    return "\n\n".join(result_sentences(result, positions(result, k), words_on(result, units, rows, outcome)))


def facts_of(meta: Mapping[str, Any], today: date) -> dict[str, str]:
    """What the folder of an explainer says of model and data, as lines of a report."""
    found = {name: meta[key] for key, name in _FACTS.items() if meta.get(key) not in (None, "")}
    known = {name: f"{value:,}" if isinstance(value, int) else str(value) for name, value in found.items()}
    versions = meta.get("versions")
    if isinstance(versions, Mapping):
        known["Fitted with"] = ", ".join(f"{package} {version}" for package, version in versions.items())
    return {**known, "Report written on": today.isoformat()}


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
