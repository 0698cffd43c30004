"""The report on many rows: how it went, what changes most often, the best for each, and for whom there is none and why.

The best counterfactual of a row is the one that `select(1)` takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.sentences import positions, result_sentences
from countarfactuals.counterfactuals.vocabulary import Words
from countarfactuals.counterfactuals.wording import name_text, names_text, one_line, score_text, share_text
from countarfactuals.report import table
from countarfactuals.report.page import bar, cell, counted, paragraph, plain_table, section, text
from countarfactuals.report.pictures import batch_pictures, pictures_section
from countarfactuals.report.provenance import constraints_section, limits_section, made_section
from countarfactuals.report.single import CELL, NAME, changes_html

_MOST_FEATURES, _MOST_ROWS, _MOST_REASONS, _MOST_LABELS = 20, 1000, 200, 2000
_STATUS = {"found": "found", "already": "not needed", "none": "none found", "error": "error"}


def batch_title(words: Words) -> str:
    """The title of a report that was given none."""
    return f"Counterfactual explanations of many {words.rows[1]}"


def batch_report(batch: CounterfactualsBatch, words: Words, has_pictures: bool) -> list[str]:
    """All sections."""
    return [
        _lead(batch, words),
        _often(batch, words),
        _rows(batch, words),
        _nothing(batch, words),
        pictures_section(batch_pictures(batch) if has_pictures else [], ""),
        constraints_section(batch.results),
        made_section(batch.results),
        limits_section(batch.results, words.rows),
    ]


def _lead(batch: CounterfactualsBatch, words: Words) -> str:
    counts = Counter(result.status for result in batch.results)
    n = sum(map(len, batch.results))
    forms = [words.style.escape(form) for form in words.rows]
    found = counts["found"]
    said = [f"Of {counted(len(batch), forms)}, {found:,} {_have(found)} a counterfactual ({n:,} in all)."]
    if counts["already"]:
        said.append(f"{counts['already']:,} {_have(counts['already'])} the wanted outcome already.")
    if counts["none"]:
        said.append(f"For {counts['none']:,} none was found.")
    if counts["error"]:
        said.append(f"{counts['error']:,} could not be explained.")
    if batch.unfinished:
        said.append(f"{len(batch.unfinished):,} {'was' if len(batch.unfinished) == 1 else 'were'} not reached.")
    targets = sorted({result.target for result in batch.results if result.target})
    wanted = f"Wanted is: {text(targets[0], 200)}." if len(targets) == 1 else ""
    return paragraph(" ".join([*said, wanted]).strip(), "lead")


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _best(result: Counterfactuals) -> int | None:
    return positions(result, 1)[0] if len(result) else None


def _often(batch: CounterfactualsBatch, words: Words) -> str:
    """Per feature, in how many of the best counterfactuals it changes, and in how many of all."""
    found = [result for result in batch.results if len(result)]
    if not found:
        return ""
    best = np.stack([result.changed[_best(result)] for result in found]).mean(axis=0)
    every = np.mean([result.changed.mean(axis=0) for result in found], axis=0)  # each row counts alike
    order = [j for j in np.lexsort((-every, -best)).tolist() if every[j] > 0]
    shown = order[:_MOST_FEATURES]
    names = found[0].schema.names
    rows = [
        [
            text(name_text(names[j]), NAME),
            cell(bar(float(best[j]))),
            *(cell(text(share_text(float(share[j]))), "number") for share in (best, every)),
        ]
        for j in shown
    ]
    caption = (
        f"Share of {words.rows[1]} whose best counterfactual changes a feature, and share of all counterfactuals of "
        f"one {words.rows[0]} that do, on average"
    )
    heads = [("Feature", ""), ("", ""), ("Of the best", "number"), ("Of all", "number")]
    never = [names[j] for j in range(len(names)) if every[j] == 0]
    rest = len(order) - len(shown)
    return section(
        "often",
        "What changes most often",
        plain_table(caption, heads, rows),
        paragraph(f"{counted(rest, ('more feature changes', 'more features change'))} less often.", "quiet")
        if rest
        else "",
        paragraph(f"Never changed: {text(names_text(never, 400))}.", "quiet") if never else "",
    )


def _rows(batch: CounterfactualsBatch, words: Words) -> str:
    """One line per row with its best counterfactual."""
    if not len(batch):
        return ""
    part = batch[:_MOST_ROWS]
    labels = [text(label, NAME) for label in part.index]
    at = [_best(result) for result in part.results]
    pairs = list(zip(part.results, at, strict=True))
    best = [cell("–" if i is None else changes_html(result, i, words), "changes") for result, i in pairs]
    status = [_STATUS[result.status] for result in part.results]
    columns = [
        table.Column("Row", [f'<th scope="row">{label}</th>' for label in labels], _keys(part.index)),
        table.Column("Result", [cell(word) for word in status], status),
        table.Column("Best counterfactual", best),
        table.Column(
            "Prediction",
            [cell("–" if i is None else _outcome(result, i)) for result, i in pairs],
            [("" if i is None else str(result.labels[i])) for result, i in pairs],
        ),
        _numbers("Changes", [_of(result.changed.sum(axis=1), i) for result, i in pairs], "{:.0f}".format),
        _numbers("Distance", [_of(result.objectives.get("proximity"), i) for result, i in pairs], score_text),
        _numbers("Typicality", [_of(result.typicality, i) for result, i in pairs], share_text),
        _numbers("Found", [float(len(result)) for result in part.results], "{:.0f}".format),
    ]
    caption = f"Each {words.rows[0]} with its best counterfactual"
    rest = len(batch) - len(part)
    return section(
        "rows",
        "Row by row",
        paragraph("A click on a heading sorts.", "screen"),
        table.sortable("rows-table", caption, columns),
        paragraph(f"{rest:,} more are left out here.", "note") if rest else "",
    )


def _keys(labels: Sequence[Hashable]) -> list[float] | list[str]:
    """Labels to sort by: as numbers if they all are."""
    if all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels):
        return [float(label) for label in labels if isinstance(label, int | float)]
    return [one_line(label) for label in labels]


def _outcome(result: Counterfactuals, i: int) -> str:
    if result.score_names == ("prediction",):
        return text(score_text(float(result.scores[i, 0])))
    return text(result.labels[i], CELL)


def _of(values: np.ndarray | None, i: int | None) -> float:
    return np.nan if values is None or i is None else float(values[i])


def _numbers(head: str, values: list[float], written: Callable[[float], str]) -> table.Column:
    cells = [cell("–" if np.isnan(value) else text(written(value)), "number") for value in values]
    return table.Column(head, cells, values, "number")


def _nothing(batch: CounterfactualsBatch, words: Words) -> str:
    """For whom nothing was found, and why; which constraint stands in the way most often."""
    pairs = list(zip(batch.index, batch.results, strict=True))
    empty = [(label, result) for label, result in pairs if result.status in ("none", "error")]
    if not empty and not batch.unfinished:
        return ""
    return section(
        "nothing",
        "Where nothing was found, and why",
        _lifting(batch, words),
        _reasons(empty, words),
        _unfinished(batch),
    )


def _lifting(batch: CounterfactualsBatch, words: Words) -> str:
    counts = Counter(
        name for one in batch.results if one.diagnosis for name, count in one.diagnosis.lifting.items() if count
    )
    if not counts:
        return ""
    caption = f"Without this one constraint, this many more {words.rows[1]} would have a counterfactual"
    rows = [[text(name, 200), cell(str(count), "number")] for name, count in counts.most_common(_MOST_FEATURES)]
    return plain_table(caption, [("Constraint", ""), (words.rows[1].capitalize(), "number")], rows)


def _reasons(empty: Sequence[tuple[Hashable, Counterfactuals]], words: Words) -> str:
    if not empty:
        return ""
    caption = f"Why, for each {words.rows[0]} without a counterfactual"
    rows = [
        [text(label, NAME), cell(" ".join(result_sentences(result, [], words)), "why")]
        for label, result in empty[:_MOST_REASONS]
    ]
    rest = len(empty) - len(rows)
    more = paragraph(f"{rest:,} more are left out here.", "note") if rest > 0 else ""
    return plain_table(caption, [("Row", ""), ("Why", "")], rows) + more


def _unfinished(batch: CounterfactualsBatch) -> str:
    if not batch.unfinished:
        return ""
    return paragraph(
        f"Not reached, for lack of time or after an interrupt: {text(names_text(batch.unfinished, _MOST_LABELS))}."
    )
