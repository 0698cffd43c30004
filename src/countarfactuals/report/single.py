"""The report on one row: in sentences, as a table of changes, and as a table of all counterfactuals.

The table of changes has one line per feature: the value in the row, and what the chosen counterfactuals make of it.
The table of all counterfactuals has one line per counterfactual, and sliders for typicality, distance and changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.outcomes import REGRESSION, shown_scores
from countarfactuals.counterfactuals.sentences import (
    counterfactual_sentences,
    result_sentences,
    situation,
    typicality_sentence,
)
from countarfactuals.counterfactuals.spelling import number_texts, value_texts
from countarfactuals.counterfactuals.vocabulary import Words
from countarfactuals.counterfactuals.wording import arrow, name_text, one_line, score_text, share_text
from countarfactuals.objectives import nondominated
from countarfactuals.report import table
from countarfactuals.report.page import breakable, cell, counted, paragraph, plain_table, section, spoken, text
from countarfactuals.report.pictures import pictures_section, result_pictures
from countarfactuals.report.provenance import constraints_section, limits_section, made_section

NAME, CELL = 60, 60
_NOTHING = {"already": "Nothing needs to change", "none": "Nothing was found", "error": "Not explained"}
_OWN_COLUMNS = ("validity", "proximity", "sparsity", "plausibility")


def result_title(words: Words) -> str:
    """The title of a report that was given none."""
    return f"Counterfactual explanation of one {words.rows[0]}"


def result_report(
    result: Counterfactuals,
    chosen: Sequence[int],
    words: Words,
    explainer: Any,
    has_pictures: bool,
    meta: Mapping[str, str],
) -> list[str]:
    """All sections."""
    pictures, left_out = result_pictures(result, explainer) if has_pictures else ([], "")
    return [
        _lead(result, words),
        _best(result, chosen, words),
        _row(result, chosen, words),
        _all(result, words),
        pictures_section(pictures, left_out),
        constraints_section([result], words),
        made_section([result], meta),
        limits_section([result], words.rows),
    ]


def _lead(result: Counterfactuals, words: Words) -> str:
    said = situation(result, words)
    if not len(result):
        return paragraph(" ".join(said), "lead") if said else ""
    found = f"{counted(result.n_found, ('counterfactual was', 'counterfactuals were'))} found"
    part = f"; {len(result):,} of {result.n_found:,} shown" if len(result) < result.n_found else ""
    return paragraph(" ".join([*said, f"{found}{part}."]), "lead")


def _best(result: Counterfactuals, chosen: Sequence[int], words: Words) -> str:
    if not len(result):
        said = (paragraph(one) for one in result_sentences(result, [], words))
        return section("best", _NOTHING.get(result.status, "Nothing was found"), *said)
    items = [
        f'<li>{" ".join(counterfactual_sentences(result, i, words))} <span class="quiet">(#{i} below.)</span></li>'
        for i in chosen
    ]
    notes = (paragraph(text(note), "note") for note in result.notes)
    heading = "What would have changed it" if len(chosen) == 1 else f"What would have changed it: {len(chosen)} ways"
    return section("best", heading, f'<ol class="sentences">{"".join(items)}</ol>', *notes)


# The row and what changes in it


def _row(result: Counterfactuals, chosen: Sequence[int], words: Words) -> str:
    if np.isnan(result.x).all() and result.status == "error":
        return section("row", "The row", paragraph("The row could not be read."))
    heads = [("Feature", ""), ("In the row", "value"), *((f"#{i}", "value") for i in chosen)]
    cells = [_feature(result, j, chosen, words) for j in range(len(result.schema.columns))]
    caption = "The row, and what the counterfactuals above change in it" if chosen else "The row, feature by feature"
    typical = "" if np.isnan(result.x_typicality) else typicality_sentence(result.x_typicality, words)
    return section(
        "row",
        "The row",
        plain_table(caption, heads, cells),
        paragraph(f"The row itself: {typical[0].lower()}{typical[1:]}", "quiet") if typical else "",
    )


def _feature(result: Counterfactuals, j: int, chosen: Sequence[int], words: Words) -> list[str]:
    column, before = result.schema.columns[j], float(result.x[j])
    values = [float(result.rows[i, j]) for i in chosen]
    own, *texts = _cell_texts(result, j, [before, *values], words)
    cells = [breakable(name_text(column.name), NAME), cell(own)]
    for i, value, shown in zip(chosen, values, texts, strict=True):
        if result.changed[i, j]:
            cells.append(cell(f"{table.arrow_html(arrow(column, before, value))} {shown}", "changed"))
        else:
            cells.append(cell(f'<span aria-hidden="true">·</span>{spoken("unchanged")}', "same"))
    return cells


def _cell_texts(result: Counterfactuals, j: int, values: Sequence[float], words: Words) -> list[str]:
    """Values of one feature with their units, as HTML."""
    column = result.schema.columns[j]
    texts = (one_line(shown, CELL) for shown in value_texts(column, values))
    return [
        text(shown) if np.isnan(value) else words.amount(column.name, shown)
        for value, shown in zip(values, texts, strict=True)
    ]


# All counterfactuals


def _all(result: Counterfactuals, words: Words) -> str:
    if not len(result):
        return ""
    every = range(len(result))
    columns = [
        table.Column("#", [f'<th scope="row" class="number">{i}</th>' for i in every], every, "number"),
        table.Column("What changes", [cell(changes_html(result, i, words), "changes") for i in every]),
        *_outcomes(result, words),
        *_measures(result),
    ]
    sliders = _sliders(result) if len(result) > 1 else []
    heading = "All counterfactuals" if len(result) > 1 else "The counterfactual"
    return section(
        "all", heading, paragraph(_explained(result, words)), table.sortable("cf", heading, columns, sliders)
    )


def _explained(result: Counterfactuals, words: Words) -> str:
    others = [values for one, values in result.objectives.items() if one != "validity"]
    is_front = len(result) > 1 and bool(others) and bool(nondominated(np.stack(others, axis=1)).all())
    best = f"None is beaten by another in all of {_named(result)} at once. " if is_front else ""
    return (
        f"Each reaches the target and obeys the constraints. {best}Distance runs from 0 (the row itself) upwards; "
        f"typicality is the share of real {text(words.rows[1])} that are less plausible. Numbers count from 0, as in "
        'the frames. <span class="screen">A click on a heading sorts.</span>'
    )


def _named(result: Counterfactuals) -> str:
    names = {"proximity": "distance", "sparsity": "number of changes", "plausibility": "plausibility"}
    said = [text(names.get(one, one), NAME) for one in result.objectives if one != "validity"]
    return ", ".join(said[:-1]) + (" and " if len(said) > 1 else "") + said[-1]


def changes_html(result: Counterfactuals, i: int, words: Words) -> str:
    """What one counterfactual changes, as a list."""
    items = []
    for j in np.flatnonzero(result.changed[i]).tolist():
        column, before, after = result.schema.columns[j], float(result.x[j]), float(result.rows[i, j])
        old, new = _cell_texts(result, j, [before, after], words)
        sign = table.arrow_html(arrow(column, before, after))
        feature = breakable(name_text(column.name), NAME)
        items.append(f'<li>{feature} {sign} {new} <span class="from">(from {old})</span></li>')
    return f"<ul>{''.join(items)}</ul>" if items else "nothing"


def _outcomes(result: Counterfactuals, words: Words) -> list[table.Column]:
    if result.score_names == REGRESSION:
        return [_numbers("Prediction", result.scores[:, 0], prediction_texts(result.scores[:, 0], words))]
    labels = [str(label) for label in result.labels]
    columns = [table.Column("Prediction", [cell(text(label, CELL)) for label in labels], labels)]
    shown = [(one_line(score.name, NAME), score.of(result.scores)) for score in shown_scores(result)]
    if not shown and result.score_names:
        shown = [("Highest score", result.scores.max(axis=1))]
    return columns + [
        _numbers(head, scores, number_texts([score_text(score) for score in scores.tolist()])) for head, scores in shown
    ]


def prediction_texts(values: np.ndarray, words: Words) -> list[str]:
    """Predictions of a regression in plain text, with the outcome's unit."""
    texts = number_texts([score_text(value) for value in values.tolist()])
    return [words.plain.amount(words.outcome or "prediction", one) for one in texts]


def _measures(result: Counterfactuals) -> list[table.Column]:
    counts = result.changed.sum(axis=1)
    columns = [_numbers("Changes", counts.astype(np.float64), [str(count) for count in counts.tolist()])]
    shown = {"proximity": "Distance"} | {one: one for one in result.objectives if one not in _OWN_COLUMNS}
    for objective, head in shown.items():
        if objective in result.objectives:
            values = result.objectives[objective]
            columns.append(_numbers(head, values, [score_text(value) for value in values.tolist()]))
    typical = result.typicality
    columns.append(_numbers("Typicality", typical, [share_text(share) for share in typical.tolist()]))
    if result.is_real_row.any():
        real = result.is_real_row.tolist()
        columns.append(
            table.Column("In the data", [cell("yes" if one else "no") for one in real], list(map(int, real)))
        )
    return columns


def _numbers(head: str, values: np.ndarray, texts: Sequence[str]) -> table.Column:
    return table.Column(head, [cell(text(shown), "number") for shown in texts], values.tolist(), "number")


def _sliders(result: Counterfactuals) -> list[table.Slider]:
    sliders = [table.share_slider("typicality", "Typicality", result.typicality)]
    if "proximity" in result.objectives:
        sliders.append(table.number_slider("distance", "Distance", result.objectives["proximity"]))
    return [*sliders, table.count_slider("changes", "Features changed", result.changed.sum(axis=1))]
