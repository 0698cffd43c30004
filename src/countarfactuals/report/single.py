"""The report on one row: in sentences, as a table of changes, and as a table of all counterfactuals.

1. The table of changes has one line per feature: the value in the row, and what the chosen counterfactuals make of it.
2. The table of all counterfactuals has one line per counterfactual, and sliders for typicality, distance and changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.sentences import (
    counterfactual_sentences,
    result_sentences,
    situation,
    typicality_sentence,
)
from countarfactuals.counterfactuals.table import Line, changes_of, feature_line, outcome_lines
from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import capital, joined, one_line
from countarfactuals.language.vocabulary import Words
from countarfactuals.objectives import nondominated
from countarfactuals.report.page import NAME, Filter, Head, cost_filter, short


def result_data(result: Counterfactuals, chosen: Sequence[int], words: Words) -> dict[str, Any]:
    """What `single.html.j2` shows."""
    is_unread = bool(np.isnan(result.x).all()) and result.status == "error"
    columns = () if is_unread else range(len(result.schema.columns))
    return {
        "lead": list(map(Markup, situation(result, words))),
        "heading": _heading(result, len(chosen)),
        "chosen": [(i, Markup(" ".join(counterfactual_sentences(result, i, words)))) for i in chosen],
        "told": result.note_texts() if len(result) else [Markup(told) for told in result_sentences(result, [], words)],
        "row_heads": [Head(tr("Feature")), *(Head(head, "value") for head in (tr("In the row"), *_numbers(chosen)))],
        "features": [feature_line(result, j, chosen, words) for j in columns],
        "has_consequences": bool(result.consequence[chosen].any()),
        "typical": _typical(result, words),
        "all": _all(result, words) if len(result) else None,
    }


def _numbers(chosen: Sequence[int]) -> list[str]:
    return [f"#{i}" for i in chosen]


def _heading(result: Counterfactuals, n_chosen: int) -> str:
    if len(result):
        return counted(n_chosen, "What would have changed it", "What would have changed it: {n} ways")
    if result.status == "already":
        return tr("Nothing needs to change")
    return tr("Not explained") if result.status == "error" else tr("Nothing was found")


def _typical(result: Counterfactuals, words: Words) -> Markup | None:
    if np.isnan(result.x_typicality):
        return None
    sentence = typicality_sentence(result.x_typicality, words)
    return Markup(tr("The row itself: {sentence}", sentence=sentence[0].lower() + sentence[1:]))


def _all(result: Counterfactuals, words: Words) -> dict[str, Any]:
    every = list(range(len(result)))
    lines = list(outcome_lines(result, every, words))
    heads = [Head("#", "number", every), Head(tr("What changes"))]
    return {
        "heading": tr("All counterfactuals") if len(result) > 1 else tr("The counterfactual"),
        "explained": " ".join(_explained(result, words)),
        "changes": [changes_of(result, i, words) for i in every],
        "lines": lines,
        "heads": [*heads, *(Head(_head(line), "number" if line.is_number else "", line.values) for line in lines)],
        "sliders": _sliders(result) if len(result) > 1 else [],
    }


def _head(line: Line) -> str:
    heads = {
        "prediction": capital(line.name),
        "highest score": tr("Highest score"),
        "changes": tr("Changes"),
        "distance": tr("Distance"),
        "typicality": tr("Typicality"),
        "real": tr("In the data"),
    }
    return heads[line.kind] if line.kind in heads else one_line(line.name, NAME)


def _explained(result: Counterfactuals, words: Words) -> list[str]:
    costs = {name: values for name, values in result.objectives.items() if name != "validity"}
    is_front = len(result) > 1 and bool(costs) and bool(nondominated(np.stack(list(costs.values()), axis=1)).all())
    names = {"distance": tr("distance"), "n_changed": tr("number of changes"), "implausibility": tr("implausibility")}
    beaten = joined([names.get(name) or short(name) for name in costs]) if is_front else ""
    return [
        tr("Each reaches the target and obeys the constraints."),
        *([tr("None is beaten by another in all of {costs} at once.", costs=beaten)] if is_front else []),
        tr(
            "Distance runs from 0 (the row itself) upwards; typicality is the share of real {rows} that are less "
            "plausible. Numbers count from 0, as in the frames.",
            rows=words.rows[1],
        ),
    ]


def _sliders(result: Counterfactuals) -> list[Filter]:
    # rounded: 0.29 * 100 falls short of 29
    shares = np.round(result.typicality * 100, 9)
    sliders = [Filter("typicality", tr("Typicality at least {limit}"), shares, 0.0, 100.0, is_least=True, unit=" %")]
    if "distance" in result.objectives:
        sliders.append(cost_filter("distance", tr("Distance at most {limit}"), result.objectives["distance"]))
    counts = result.n_changed.astype(np.float64)
    most = tr("Features changed at most {limit}")
    return [*sliders, Filter("changes", most, counts, float(counts.min()), float(counts.max()))]
