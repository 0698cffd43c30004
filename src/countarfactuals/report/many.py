"""The report on many rows: how it went, what changes most often, the best for each, and for whom there is none and why.

1. The best counterfactual of a row is the one that `select(1)` takes of those that are not unusual. Where all are
   unusual it is taken of these, and said to be so.
2. Rows that need nothing are folded into one line below those with a counterfactual, and those without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.overview import shown_count, targets
from countarfactuals.counterfactuals.restrictions import constraint_text
from countarfactuals.counterfactuals.sentences import RARE, is_unusual, result_sentences, wanted_sentence
from countarfactuals.counterfactuals.vocabulary import Words
from countarfactuals.counterfactuals.wording import name_text, names_text, one_line, score_text, share_text
from countarfactuals.report import table
from countarfactuals.report.before_after import outcome_columns
from countarfactuals.report.page import bar, breakable, cell, counted, folded, paragraph, plain_table, section, text
from countarfactuals.report.pictures import batch_pictures, pictures_section
from countarfactuals.report.provenance import constraints_section, limits_section, made_section
from countarfactuals.report.single import NAME, changes_html

_MOST_FEATURES, _MOST_ROWS, _MOST_REASONS, _MOST_LABELS, _MOST_TARGETS = 20, 1000, 200, 2000, 4
_STATUS = {"none": "none found", "error": "error"}


def batch_title(words: Words) -> str:
    """The title of a report that was given none."""
    return f"Counterfactual explanations of many {words.rows[1]}"


def batch_report(batch: CounterfactualsBatch, words: Words, has_pictures: bool, meta: Mapping[str, str]) -> list[str]:
    """All sections."""
    best = [_best(result) for result in batch.results]
    return [
        _lead(batch, best, words),
        _often(batch, best, words),
        _rows(batch, best, words),
        _nothing(batch, words),
        pictures_section(batch_pictures(batch) if has_pictures else [], ""),
        constraints_section(batch.results, words),
        made_section(batch.results, meta),
        limits_section(batch.results, words.rows),
    ]


def _lead(batch: CounterfactualsBatch, best: Sequence[Counterfactuals | None], words: Words) -> str:
    counts = Counter(result.status for result in batch.results)
    n, shown = sum(result.n_found for result in batch.results), sum(map(len, batch.results))
    forms = [words.style.escape(form) for form in words.rows]
    found = counts["found"]
    unusual = sum(map(_is_unusual, best))
    total = f"{n:,} in all{f'; {shown:,} of {n:,} shown' if shown < n else ''}"
    only = f", for {unusual:,} only an unusual one{' is shown' if shown < n else ''}" if unusual else ""
    said = [f"Of {counted(len(batch), forms)}, {found:,} {_have(found)} a counterfactual ({total}){only}."]
    if counts["already"]:
        said.append(f"{counts['already']:,} {_have(counts['already'])} the wanted outcome already.")
    if counts["none"]:
        said.append(f"For {counts['none']:,} none was found.")
    if counts["error"]:
        said.append(f"{counts['error']:,} could not be explained.")
    if batch.unfinished:
        said.append(f"{len(batch.unfinished):,} {'was' if len(batch.unfinished) == 1 else 'were'} not reached.")
    wanted = [one_line(target, 200) for target in targets(batch, words)[:_MOST_TARGETS]]
    return paragraph(" ".join([*said, *([wanted_sentence(wanted, words)] if wanted else [])]), "lead")


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _best(result: Counterfactuals) -> Counterfactuals | None:
    """The result with its best counterfactual alone, None where there is none."""
    if not len(result):
        return None
    usual = result.filter(min_typicality=RARE)  # none of them where typicality is not known
    return (usual if len(usual) else result).select(1)


def _is_unusual(best: Counterfactuals | None) -> bool:
    return best is not None and is_unusual(float(best.typicality[0]))


def _often(batch: CounterfactualsBatch, bests: Sequence[Counterfactuals | None], words: Words) -> str:
    """Per feature, in how many of the best counterfactuals it changes, and in how many of all."""
    found = [result for result in batch.results if len(result)]
    if not found:
        return ""
    best = np.stack([one.changed[0] for one in bests if one is not None]).mean(axis=0)
    every = np.mean([result.changed.mean(axis=0) for result in found], axis=0)  # each row counts alike
    order = [j for j in np.lexsort((-every, -best)).tolist() if every[j] > 0]
    shown = order[:_MOST_FEATURES]
    names = found[0].schema.names
    rows = [
        [
            breakable(name_text(names[j]), NAME),
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


def _rows(batch: CounterfactualsBatch, best: Sequence[Counterfactuals | None], words: Words) -> str:
    """One line per row with its best counterfactual; rows that need nothing in one line below."""
    lines = [_Line(*parts) for parts in zip(batch.index, batch.results, best, strict=True)]
    wanting = [line for line in lines if line.result.status != "already"]
    parts = []
    if wanting:
        caption = f"Each {words.rows[0]} with its best counterfactual; an unusual one only where there is no other"
        rest = len(wanting) - _MOST_ROWS
        parts = [
            paragraph("A click on a heading sorts.", "screen"),
            table.sortable("rows-table", caption, _columns(wanting[:_MOST_ROWS], words)),
            paragraph(f"{rest:,} more are left out here.", "note") if rest > 0 else "",
        ]
    return section("rows", "Row by row", *parts, _not_needed(lines, words))


class _Line(NamedTuple):
    """One row of the batch."""

    label: Hashable
    result: Counterfactuals
    best: Counterfactuals | None

    @property
    def status(self) -> str:
        """What came of it."""
        count = shown_count(self.result)
        if self.best is None:
            return count or _STATUS.get(self.result.status, "none")
        unusual = "" if not _is_unusual(self.best) else ", unusual" if len(self.result) == 1 else ", all unusual"
        return f"{count}{'' if count.endswith('shown') else ' found'}{unusual}"


def _columns(lines: Sequence[_Line], words: Words) -> list[table.Column]:
    labels = [line.label for line in lines]
    results = [cell(line.status, "unusual" if _is_unusual(line.best) else "") for line in lines]
    changes = ["–" if line.best is None else changes_html(line.best, 0, words) for line in lines]
    best = [line.best for line in lines]
    return [
        table.Column("Row", [f'<th scope="row">{text(label, NAME)}</th>' for label in labels], _keys(labels)),
        table.Column("Result", results, [float(line.result.n_found) for line in lines]),
        table.Column("Best counterfactual", [cell(one, "changes") for one in changes]),
        *outcome_columns([(line.result, line.best) for line in lines], words),
        _numbers("Changes", [_of(one, lambda only: only.changed.sum(axis=1)) for one in best], "{:.0f}".format),
        _numbers("Distance", [_of(one, lambda only: only.objectives.get("proximity")) for one in best], score_text),
        _numbers("Typicality", [_of(one, lambda only: only.typicality) for one in best], share_text),
    ]


def _not_needed(lines: Sequence[_Line], words: Words) -> str:
    """The rows that have the outcome already, folded into one line."""
    done = [line for line in lines if line.result.status == "already"]
    if not done:
        return ""
    forms = [words.style.escape(form) for form in words.rows]
    shown = done[:_MOST_ROWS]
    columns = outcome_columns([(line.result, None) for line in shown], words)
    rows = [[text(line.label, NAME), *(column.cells[i] for column in columns)] for i, line in enumerate(shown)]
    heads = [("Row", ""), *((column.head, column.kind) for column in columns)]
    rest = len(done) - len(shown)
    return folded(
        f"Not needed: {counted(len(done), forms)} {_have(len(done))} the wanted outcome already.",
        plain_table("Rows that have the wanted outcome already", heads, rows),
        paragraph(f"{rest:,} more are left out here.", "note") if rest else "",
    )


def _keys(labels: Sequence[Hashable]) -> list[float] | list[str]:
    """Labels to sort by: as numbers if they all are."""
    if all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels):
        return [float(label) for label in labels if isinstance(label, int | float)]
    return [one_line(label) for label in labels]


def _of(best: Counterfactuals | None, values: Callable[[Counterfactuals], np.ndarray | None]) -> float:
    known = None if best is None else values(best)
    return np.nan if known is None else float(known[0])


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
        constraint_text(name, one, words)
        for one in batch.results
        if one.diagnosis
        for name, count in one.diagnosis.lifting.items()
        if count
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
