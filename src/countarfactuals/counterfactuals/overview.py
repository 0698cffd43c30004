"""A batch on the screen: how it went, row by row, and what failed."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from countarfactuals.counterfactuals.display import ROWS, WIDTH, html_table, paragraph, text_table
from countarfactuals.counterfactuals.outcomes import target_text
from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import count_text, fixed_text, names_text, one_line, score_text, share_text
from countarfactuals.language.vocabulary import Words

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.batch import CounterfactualsBatch
    from countarfactuals.counterfactuals.result import Counterfactuals

_LABEL = 22
_STATUSES = {"found": "found", "already": "already", "none": "none", "error": "error"}
_HEADS = ("status", "n", "best distance", "fewest changes", "highest typicality", "seconds")


def _cells(batch: CounterfactualsBatch) -> tuple[list[str], list[list[str]]]:
    """Labels and texts of the first rows."""
    part = batch[:ROWS]
    rows = []
    summaries = part.summary().itertuples(index=False)
    for result, (status, _, distance, changes, typicality, seconds) in zip(part.results, summaries, strict=True):
        numbers = (score_text(distance), f"{changes:.0f}", share_text(typicality)) if len(result) else ("", "", "")
        rows.append(
            [
                tr(_STATUSES[status]),
                _shown_count(result),
                *numbers,
                "" if math.isnan(seconds) else fixed_text(seconds, 2),
            ]
        )
    return [one_line(label, _LABEL) for label in part.index], rows


def _shown_count(result: Counterfactuals) -> str:
    """How many counterfactuals there are, and of how many where they were selected; nothing for none at all."""
    if len(result) < result.n_found:
        return tr("{shown} of {n} shown", shown=count_text(len(result)), n=count_text(result.n_found))
    return count_text(len(result)) if len(result) else ""


_COUNTS = {"found": "{n} found", "already": "{n} already there", "none": "{n} without", "error": "{n} failed"}


def title(batch: CounterfactualsBatch) -> str:
    """One line: how many rows have which status."""
    counts = Counter(result.status for result in batch.results)
    parts = [tr(phrase, n=counts[status]) for status, phrase in _COUNTS.items() if counts[status]]
    parts += [tr("{n} not reached", n=len(batch.unfinished))] if batch.unfinished else []
    shown, n = sum(map(len, batch.results)), sum(result.n_found for result in batch.results)
    wanted = targets(batch)
    goal = [tr("target: {target}", target=one_line(wanted[0], 60))] if len(wanted) == 1 else []
    found = counted(n, "{n} counterfactual", "{n} counterfactuals")
    found += tr(" ({n} shown)", n=shown) if shown < n else ""
    total = f"CounterfactualsBatch: {counted(len(batch), '{n} row', '{n} rows')}, {found}"
    return " · ".join([total, *([", ".join(parts)] if parts else []), *goal])


def targets(batch: CounterfactualsBatch, words: Words | None = None) -> list[str]:
    """The different targets as text, in the order of their rows; rows that failed know only what was passed."""
    known = [result for result in batch.results if result.target and result.status != "error"]
    return list(dict.fromkeys(target_text(result, words) for result in known))


def _remarks(batch: CounterfactualsBatch) -> list[str]:
    remarks = [tr("… {n} more", n=len(batch) - ROWS)] if len(batch) > ROWS else []
    remarks += [
        tr("error in row {row}: {error}", row=one_line(label, 40), error=one_line(text))
        for label, text in list(batch.errors.items())[:3]
    ]
    remarks += [tr("… {n} more errors, see .errors", n=len(batch.errors) - 3)] if len(batch.errors) > 3 else []
    if batch.unfinished:
        remarks.append(tr("not reached: {rows}", rows=names_text(batch.unfinished, WIDTH - 13)))
    return remarks


def batch_text(batch: CounterfactualsBatch) -> str:
    """A batch for a terminal."""
    lines = textwrap.wrap(title(batch), WIDTH, subsequent_indent="  ")
    if len(batch):
        labels, rows = _cells(batch)
        lines += text_table([[tr("row"), *labels], *_by_column(rows)])
    for remark in _remarks(batch):
        lines += textwrap.wrap(remark, WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def _by_column(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[head, *(row[i] for row in rows)] for i, head in enumerate(_heads())]


def _heads() -> list[str]:
    return [tr(head) for head in _HEADS]


def batch_html(batch: CounterfactualsBatch) -> str:
    """A batch for a notebook."""
    labels, rows = _cells(batch)
    cells = [[("", text, "") for text in row] for row in rows]
    remarks = "".join(paragraph(remark) for remark in _remarks(batch))
    return f"<div>{html_table(title(batch), _heads(), labels, cells)}{remarks}</div>"
