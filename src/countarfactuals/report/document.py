"""`to_html` and `write`: a result or a batch as one page.

1. `single` or `many` prepare what is said of the result, `pictures` draws it.
2. What all reports end with is prepared here: the constraints, how the result was made (versions, seed, forest, budget,
   settings), and what the caller knows of model and data.
3. `page` fills the template.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Hashable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from countarfactuals._optional import versions_of
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.recourse import Recourse
from countarfactuals.exceptions import DataTypeError, ParameterError
from countarfactuals.files import whole_file
from countarfactuals.language import Language, counted, speaking, tr
from countarfactuals.language.spelling import count_text, fixed_text, share_text
from countarfactuals.language.vocabulary import HTML, Unit, Words, words_of
from countarfactuals.parameters import check_choice
from countarfactuals.plausibility.judgement import judgement, measure_text
from countarfactuals.report.many import batch_data
from countarfactuals.report.page import render
from countarfactuals.report.pictures import pictures_of
from countarfactuals.report.single import result_data
from countarfactuals.schema import Labels

_SETTING = 200  # characters of a setting that are shown


def to_html(
    result: Counterfactuals | CounterfactualsBatch,
    explainer: Any = None,
    *,
    title: str | None = None,
    k: int = 3,
    units: Mapping[Hashable, Unit] | None = None,
    labels: Labels | None = None,
    rows: Unit = "rows",
    outcome: str | None = None,
    prefer: str | Mapping[str, float] | None = None,
    pictures: bool = True,
    meta: Mapping[str, str] | None = None,
    by: Any = None,
    language: Language | None = None,
) -> str:
    """A report as one HTML document that fetches nothing.

    Parameters
    ----------
    result : of one row, or of many.
    explainer : the fitted explainer; some pictures need it.
    title : of the page.
    k, prefer : how many counterfactuals of one row are told in sentences, and by which objectives they are chosen.
    units, labels, rows, outcome : what things are called, see `describe`.
    pictures : whether pictures are drawn, which takes matplotlib.
    meta : what an auditor should know besides, as lines of "How it was made": {"Model file": "model.joblib"}.
    by : of many rows, what recourse costs groups of them: a column, what `batch.recourse(…)` returned, or a list of
        these, each with a section of its own.
    language : such as "de", see `countarfactuals.language.catalogue_of`; None for the one that is spoken.
    """
    if not isinstance(result, Counterfactuals | CounterfactualsBatch):
        raise DataTypeError(
            f"A report is made of Counterfactuals or a CounterfactualsBatch, got {type(result).__name__}. Pass what "
            "`explain` or `explain_many` returned."
        )
    if title is not None and not isinstance(title, str):
        raise ParameterError(f"`title` must be a text or None, got {title!r}.")
    check_choice("pictures", pictures, (True, False))
    facts = _checked(meta)
    result = result.labelled(labels)
    with speaking(language):
        groups = _groups(result, by)
        if isinstance(result, CounterfactualsBatch):
            words = words_of(result[0].schema.names if len(result) else list(units or {}), units, rows, outcome, HTML)
            template, results, data = "many", result.results, batch_data(result, words, groups)
            own = tr("Counterfactual explanations of many {rows}", rows=words.rows[1])
        else:
            words = words_of(result.schema.names, units, rows, outcome, HTML)
            template, results, data = "single", (result,), result_data(result, result.positions(k, prefer), words)
            own = tr("Counterfactual explanation of one {row}", row=words.rows[0])
        figures = pictures_of(result, explainer, groups) if pictures else None
        return render(template, title=title or own, pictures=figures, **data, **_shared_data(results, words, facts))


def _groups(result: Counterfactuals | CounterfactualsBatch, by: Any) -> tuple[Recourse, ...]:
    """What recourse costs the groups that were asked for."""
    if by is None:
        return ()
    if not isinstance(result, CounterfactualsBatch):
        raise ParameterError("`by` compares groups of rows, but this is the result of one. Pass a batch.")
    asked = by if isinstance(by, list) else [by]
    return tuple(groups if isinstance(groups, Recourse) else result.recourse(groups) for groups in asked)


def _checked(meta: Any) -> dict[str, str]:
    if meta is None:
        return {}
    if not isinstance(meta, Mapping) or not all(isinstance(text, str) for fact in meta.items() for text in fact):
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
    labels: Labels | None = None,
    rows: Unit = "rows",
    outcome: str | None = None,
    prefer: str | Mapping[str, float] | None = None,
    pictures: bool = True,
    meta: Mapping[str, str] | None = None,
    by: Any = None,
    language: Language | None = None,
) -> Path:
    """Write the report of `to_html` to a file, and return its path; a crash leaves no half-written file.

    Parameters
    ----------
    path : of the file, which is replaced if it exists.
    result, explainer, title, k, units, labels, rows, outcome, prefer, pictures, meta, by, language : see `to_html`.
    """
    with whole_file(path) as unfinished:
        html = to_html(
            result,
            explainer,
            title=title,
            k=k,
            units=units,
            labels=labels,
            rows=rows,
            outcome=outcome,
            prefer=prefer,
            pictures=pictures,
            meta=meta,
            by=by,
            language=language,
        )
        unfinished.write_text(html, encoding="utf-8", newline="\n")
    return Path(path)


# What all reports end with


def _shared_data(results: Sequence[Counterfactuals], words: Words, meta: Mapping[str, str]) -> dict[str, Any]:
    """What `report.html.j2` shows: constraints, and how the first of the results that was made was made."""
    own = dict.fromkeys(
        sentence for result in results for sentence in result.constraints.describe(words, result.schema)
    )
    result = next((result for result in results if result.provenance), None)
    settings = {} if result is None else _mapping(result, "settings")
    shown = {str(name): str(value) for name, value in settings.items() if value is not None}
    return {
        "rows": words.rows,
        "constraints": list(own),
        "made": {
            "meta": list(meta.items()),
            "search": [] if result is None else list(_search(result, is_single=len(results) == 1)),
            "settings": [
                (name, text if len(text) <= _SETTING else f"{text[:_SETTING]}…") for name, text in shown.items()
            ],
            "versions": list(_versions()),
        },
        "is_observed": any(_mapping(result, "settings").get("outcome") == "observed" for result in results),
        "has_real_rows": any(result.is_real_row.any() for result in results),
    }


def _mapping(result: Counterfactuals, key: str) -> Mapping[str, Any]:
    stored = result.provenance.get(key)
    return stored if isinstance(stored, Mapping) else {}


def _search(result: Counterfactuals, is_single: bool) -> Iterator[tuple[str, str]]:
    made = result.provenance
    yield tr("Method"), result.method
    names = {"countarfactuals": tr("Version of countarfactuals"), "model": tr("Model"), "seed": tr("Seed")}
    for key, name in names.items():
        if made.get(key) is not None:
            yield name, str(made[key])
    budget: Any = _mapping(result, "settings").get("max_evaluations")
    if _is_count(budget):
        yield tr("Budget per row"), counted(budget, "{n:,} evaluation of the model", "{n:,} evaluations of the model")
    if is_single and _is_count(made.get("evaluations")):
        yield tr("Spent"), counted(made["evaluations"], "{n:,} evaluation", "{n:,} evaluations")
    if is_single and isinstance(made.get("seconds"), int | float):
        yield tr("Time"), tr("{seconds} s", seconds=fixed_text(made["seconds"], 2))
    if _is_count(made.get("training_rows")):
        yield tr("Rows of data"), count_text(made["training_rows"])
    if _is_count(made.get("compared_rows")):
        compared = tr("by comparison with {n:,} rows that those who judge have not seen", n=made["compared_rows"])
        yield tr("Typicality"), compared
    if _mapping(result, "judges"):
        yield tr("Judges"), " ".join(judgement(made["judges"]))
    yield from _forest(_mapping(result, "forest"))
    yield tr("Plausibility is"), measure_text(result.measure)


def _forest(forest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, name in {"trees": tr("Trees of the forest"), "min_samples_leaf": tr("Fewest rows per leaf")}.items():
        if _is_count(forest.get(key)):
            yield name, count_text(forest[key])
    accuracies = forest.get("accuracies")
    if isinstance(accuracies, list) and accuracies:
        rounds = counted(
            len(accuracies),
            "{n:,} round; in the last, real and synthetic rows were told apart in {last} (50 % is guessing)",
            "{n:,} rounds; in the last, real and synthetic rows were told apart in {last} (50 % is guessing)",
            last=share_text(float(accuracies[-1])),
        )
        yield tr("Training of the forest"), rounds


def _versions() -> Iterator[str]:
    yield f"countarfactuals {version('countarfactuals')}"
    yield f"Python {platform.python_version()}"
    yield from map(" ".join, versions_of(("numpy", "scikit-learn", "matplotlib")).items())


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
