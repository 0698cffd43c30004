"""A batch on the screen: how it went, row by row, and what failed."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from countarfactuals.counterfactuals.display import ROWS, WIDTH, html_table, paragraph, text_table
from countarfactuals.counterfactuals.outcomes import target_text
from countarfactuals.counterfactuals.vocabulary import Words
from countarfactuals.counterfactuals.wording import names_text, one_line, score_text, share_text

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.batch import CounterfactualsBatch
    from countarfactuals.counterfactuals.result import Counterfactuals

_LABEL = 22
_HEADS = ("status", "n", "best proximity", "fewest changes", "highest typicality", "seconds")


def _cells(batch: CounterfactualsBatch) -> tuple[list[str], list[list[str]]]:
    """Labels and texts of the first rows."""
    part = batch[:ROWS]
    rows = []
    summaries = part.summary().itertuples(index=False)
    for result, (status, _, proximity, changes, typicality, seconds) in zip(part.results, summaries, strict=True):
        numbers = (score_text(proximity), f"{changes:.0f}", share_text(typicality)) if len(result) else ("", "", "")
        rows.append([status, shown_count(result), *numbers, "" if math.isnan(seconds) else f"{seconds:.2f}"])
    return [one_line(label, _LABEL) for label in part.index], rows


def shown_count(result: Counterfactuals) -> str:
    """How many counterfactuals there are, and of how many where they were selected; nothing for none at all."""
    if len(result) < result.n_found:
        return f"{len(result):,} of {result.n_found:,} shown"
    return f"{len(result):,}" if len(result) else ""


def title(batch: CounterfactualsBatch) -> str:
    """One line: how many rows have which status."""
    counts = {status: 0 for status in ("found", "already", "none", "error")}
    for result in batch.results:
        counts[result.status] += 1
    words = {"found": "found", "already": "already there", "none": "without", "error": "failed"}
    parts = [f"{counts[status]} {word}" for status, word in words.items() if counts[status]]
    parts += [f"{len(batch.unfinished)} not reached"] if batch.unfinished else []
    shown, n = sum(map(len, batch.results)), sum(result.n_found for result in batch.results)
    wanted = targets(batch)
    goal = [f"target: {one_line(wanted[0], 60)}"] if len(wanted) == 1 else []
    total = f"{len(batch)} row{'' if len(batch) == 1 else 's'}, {n} counterfactual{'' if n == 1 else 's'}"
    total += f" ({shown} shown)" if shown < n else ""
    return " · ".join([f"CounterfactualsBatch: {total}", *([", ".join(parts)] if parts else []), *goal])


def targets(batch: CounterfactualsBatch, words: Words | None = None) -> list[str]:
    """The different targets as text, in the order of their rows; rows that failed know only what was passed."""
    known = [result for result in batch.results if result.target and result.status != "error"]
    return list(dict.fromkeys(target_text(result, words) for result in known))


def _remarks(batch: CounterfactualsBatch) -> list[str]:
    remarks = [f"… {len(batch) - ROWS} more"] if len(batch) > ROWS else []
    remarks += [
        f"error in row {one_line(label, 40)}: {one_line(text)}" for label, text in list(batch.errors.items())[:3]
    ]
    remarks += [f"… {len(batch.errors) - 3} more errors, see .errors"] if len(batch.errors) > 3 else []
    if batch.unfinished:
        remarks.append(f"not reached: {names_text(batch.unfinished, WIDTH - 13)}")
    return remarks


def batch_text(batch: CounterfactualsBatch) -> str:
    """A batch for a terminal."""
    lines = textwrap.wrap(title(batch), WIDTH, subsequent_indent="  ")
    if len(batch):
        labels, rows = _cells(batch)
        lines += text_table([["row", *labels], *([head, *column] for head, column in _by_column(rows))])
    for remark in _remarks(batch):
        lines += textwrap.wrap(remark, WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def _by_column(rows: Sequence[Sequence[str]]) -> list[tuple[str, list[str]]]:
    return [(head, [row[i] for row in rows]) for i, head in enumerate(_HEADS)]


def batch_html(batch: CounterfactualsBatch) -> str:
    """A batch for a notebook."""
    labels, rows = _cells(batch)
    cells = [[("", text, "") for text in row] for row in rows]
    remarks = "".join(paragraph(remark) for remark in _remarks(batch))
    return f"<div>{html_table(title(batch), _HEADS, labels, cells)}{remarks}</div>"
