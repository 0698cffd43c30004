"""`to_html` and `write`: a result or a batch as one page."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.sentences import positions
from countarfactuals.counterfactuals.vocabulary import HTML, Unit, words_of
from countarfactuals.exceptions import DataTypeError, ParameterError
from countarfactuals.files import whole_file
from countarfactuals.parameters import check_choice
from countarfactuals.report.many import batch_report, batch_title
from countarfactuals.report.page import page
from countarfactuals.report.single import result_report, result_title


def to_html(
    result: Counterfactuals | CounterfactualsBatch,
    explainer: Any = None,
    *,
    title: str | None = None,
    k: int = 3,
    units: Mapping[Hashable, Unit] | None = None,
    rows: Unit = "rows",
    outcome: str | None = None,
    prefer: str | Mapping[str, float] | None = None,
    pictures: bool = True,
    meta: Mapping[str, str] | None = None,
) -> str:
    """A report as one HTML document that fetches nothing.

    Parameters
    ----------
    result : of one row, or of many.
    explainer : the fitted explainer; some pictures need it.
    title : of the page.
    k, prefer : how many counterfactuals of one row are told in sentences, and by which objectives they are chosen.
    units, rows, outcome : what things are called, see `describe`.
    pictures : whether pictures are drawn, which takes matplotlib.
    meta : what an auditor should know besides, as lines of "How it was made": {"Model file": "model.joblib"}.
    """
    if not isinstance(result, Counterfactuals | CounterfactualsBatch):
        raise DataTypeError(
            f"A report is made of Counterfactuals or a CounterfactualsBatch, got {type(result).__name__}. Pass what "
            "`explain` or `explain_many` returned."
        )
    if title is not None and not isinstance(title, str):
        raise ParameterError(f"`title` must be a text or None, got {title!r}.")
    check_choice("pictures", pictures, (True, False))
    known = _checked(meta)
    if isinstance(result, CounterfactualsBatch):
        names = result[0].schema.names if len(result) else list(units or {})
        words = words_of(names, units, rows, outcome, HTML)
        return page(title or batch_title(words), batch_report(result, words, pictures, known))
    words = words_of(result.schema.names, units, rows, outcome, HTML)
    chosen = positions(result, k, prefer)
    sections = result_report(result, chosen, words, explainer, pictures, known)
    return page(title or result_title(words), sections)


def _checked(meta: Any) -> dict[str, str]:
    if meta is None:
        return {}
    if not isinstance(meta, Mapping) or not all(isinstance(one, str) for pair in meta.items() for one in pair):
        raise ParameterError(f"`meta` must be a dict of texts by their names, got {meta!r}. Turn values into str.")
    return dict(meta)


def write(
    result: Counterfactuals | CounterfactualsBatch,
    path: str | os.PathLike[str],
    explainer: Any = None,
    *,
    title: str | None = None,
    k: int = 3,
    units: Mapping[Hashable, Unit] | None = None,
    rows: Unit = "rows",
    outcome: str | None = None,
    prefer: str | Mapping[str, float] | None = None,
    pictures: bool = True,
    meta: Mapping[str, str] | None = None,
) -> Path:
    """Write the report of `to_html` to a file, and return its path; a crash leaves no half-written file.

    Parameters
    ----------
    path : of the file, which is replaced if it exists.
    result, explainer, title, k, units, rows, outcome, prefer, pictures, meta : see `to_html`.
    """
    with whole_file(path) as unfinished:
        html = to_html(
            result,
            explainer,
            title=title,
            k=k,
            units=units,
            rows=rows,
            outcome=outcome,
            prefer=prefer,
            pictures=pictures,
            meta=meta,
        )
        unfinished.write_text(html, encoding="utf-8", newline="\n")
    return Path(path)
