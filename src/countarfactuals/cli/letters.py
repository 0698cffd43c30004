"""`--letter`: one letter for each row that has no wanted outcome yet.

1. The file's suffix says what is written: .html, or .txt for plain text. Of several rows each has a file of its own,
   named by {row}.
2. Protected columns are fixed in the search. What the folder of `fit` knows of the model goes along.
3. Rows that have the wanted outcome already get no letter, nor do rows that could not be explained.
"""

from __future__ import annotations

import argparse
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from countarfactuals.cli import folder
from countarfactuals.cli.arguments import note
from countarfactuals.cli.data_files import check_out, write_text
from countarfactuals.constraints.option import assigned_by_name
from countarfactuals.counterfactuals import CounterfactualsBatch
from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers import Explainer
from countarfactuals.language import counted
from countarfactuals.letter import make_letter

_ROW = "{row}"
_HTML, _TEXT = (".html", ".htm"), (".txt", ".text")
_FIELDS = ("contact", "sender", "applicant", "reference")


def check_letter(options: argparse.Namespace, n_rows: int | None = None) -> None:
    """Refuse what can be refused before anything is searched; the number of rows is known later."""
    file = options.letter
    if file is None:
        given = [f"--{name}" for name in ("code", "protected", *_FIELDS) if getattr(options, name)]
        if given:
            raise ParameterError(f"{given[0]} is for a letter, but none is asked for. Name its file by --letter.")
        return
    if Path(file).suffix.lower() not in (*_HTML, *_TEXT):
        raise ParameterError(f"--letter {file!r} must end in .html, or in .txt for plain text. Rename it.")
    if n_rows is not None and n_rows > 1 and _ROW not in file:
        raise ParameterError(
            f"There are {n_rows} rows, and --letter {file!r} is one file. Write {_ROW} where the row's number shall "
            "stand, as in letter-{row}.html, or choose one row by --rows."
        )
    check_out(file)


def protect(options: argparse.Namespace, explainer: Explainer) -> None:
    """Have protected columns fixed, where the model gets them."""
    features = tuple(name for name in options.protected if name in explainer.schema_.names)
    options.fix = [*options.fix, *((name,) for name in features)]


def write_letters(
    options: argparse.Namespace,
    batch: CounterfactualsBatch,
    explainer: Explainer,
    opened: folder.Opened,
    words: Mapping[str, Any],
) -> None:
    """Write them, if they are asked for."""
    if options.letter is None:
        return
    pairs = list(zip(batch.index, batch.results, strict=True))
    for label, result in pairs:
        if result.status not in ("already", "error"):
            _write(options, label, result, explainer, opened, words)
    if done := sum(result.status == "already" for _, result in pairs):
        several = "{n} rows have the wanted outcome already and get no letter."
        note(counted(done, "{n} row has the wanted outcome already and gets no letter.", several))


def _write(
    options: argparse.Namespace,
    label: Hashable,
    result: Any,
    explainer: Explainer,
    opened: folder.Opened,
    words: Mapping[str, Any],
) -> None:
    names = [str(name) for name in explainer.schema_.names]
    codes = assigned_by_name(options.code, names, "--code", ParameterError)
    letter = make_letter(
        result,
        explainer,
        codes={name: codes[str(name)] for name in explainer.schema_.names if str(name) in codes},
        protected=list(options.protected),
        model=opened.meta.get("model_from"),
        model_file=Path(options.explainer) / str(opened.meta["model_file"]),
        **{name: getattr(options, name).replace(_ROW, str(label)) for name in _FIELDS},
        **words,
    )
    file = options.letter.replace(_ROW, str(label))
    is_html = Path(file).suffix.lower() in _HTML
    write_text(letter.to_html() if is_html else letter.to_text(), file)
