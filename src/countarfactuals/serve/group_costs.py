"""What recourse costs groups of a job's rows, as a page shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.intervals import Estimate
from countarfactuals.counterfactuals.recourse import GroupCost, Recourse
from countarfactuals.counterfactuals.recourse_words import caveats, group_sentences, heads, key_text
from countarfactuals.counterfactuals.storage import plain_number
from countarfactuals.exceptions import DataError
from countarfactuals.language.vocabulary import Words
from countarfactuals.serve.served import Served


def recourse_of(served: Served, lines: Iterable[bytes], by: str) -> dict[str, Any]:
    """The cost by group: figures with their intervals, and sentences in the language that is spoken."""
    told = [json.loads(line) for line in lines]
    if not told:
        raise DataError("The job has no line yet, so there is nothing to compare. Come again later.")
    (column,) = served.row_of({by: None})
    batch = CounterfactualsBatch(
        tuple(Counterfactuals.from_dict(line["result"]) for line in told), tuple(line["key"] for line in told)
    )
    return _told(batch.recourse(column), served.words)


def _told(recourse: Recourse, words: Words) -> dict[str, Any]:
    column = recourse.column
    return {
        "column": str(column.name),
        "label": str(column.title),
        "columns": [{"name": name, "label": label} for name, label in heads().items()],
        "groups": [{"group": key_text(column, group.key, words), **_figures(group)} for group in recourse.groups],
        "everyone": _figures(recourse.everyone),
        "n_failed": recourse.n_failed,
        "confidence": recourse.confidence,
        "sentences": [
            *(group_sentences(recourse, group, words) for group in recourse.groups),
            *caveats(recourse, words),
        ],
    }


def _figures(group: GroupCost) -> dict[str, Any]:
    return {
        "n": group.n,
        "measures": {name: _estimate(estimate) for name, estimate in group.estimates.items()},
        "differences": {name: _estimate(estimate) for name, estimate in group.differences.items()},
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    value, low, high = (plain_number(figure) for figure in estimate[:3])
    return {"value": value, "low": low, "high": high, "n": estimate.n}
