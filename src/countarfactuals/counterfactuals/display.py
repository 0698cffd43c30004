"""Results on the screen: x on top, then one line per counterfactual with only what changes, as ↑ ↓ ↔ and the new value.

1. `_table` takes of `table` the features that some shown counterfactual changes, predictions and typicality.
2. `result_text` lays them out in `WIDTH` columns. What is too wide continues in a block below; beyond `BLOCKS` blocks
   the features that change least often are only named.
3. `result_html` writes the same as one HTML table, without colours of its own, so that it suits light and dark pages.

A result without rows is a few sentences instead.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from countarfactuals.counterfactuals.outcomes import (
    score_name,
    target_text,
    wanted_score,
)
from countarfactuals.counterfactuals.sentences import why_no_rows
from countarfactuals.counterfactuals.table import Line, feature_line, outcome_lines
from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import (
    DOWN,
    OTHER,
    UP,
    count_text,
    name_text,
    names_text,
    one_line,
    scores_text,
    width,
)
from countarfactuals.language.vocabulary import Words

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals

WIDTH, BLOCKS = 120, 3
ROWS, _CONSTRAINTS = 10, 5
_CELL, _HTML_CELL = 22, 60
_GAP = "  "
_OUTCOME = ("prediction", "score", "highest score", "typicality", "real")  # lines that the screen has
_SPOKEN = {UP: "increased to", DOWN: "decreased to", OTHER: "changed to"}


@dataclass(frozen=True)
class _Table:
    features: tuple[Line, ...]
    outcome: tuple[Line, ...]
    later: tuple[str, ...]
    unchanged: tuple[str, ...]
    n_more: int
    has_consequences: bool


def _table(result: Counterfactuals) -> _Table:
    shown = range(min(len(result), ROWS))
    changed = result.changed
    now, ever = changed[: len(shown)].any(axis=0), changed.any(axis=0)
    names = result.schema.titles
    return _Table(
        features=tuple(feature_line(result, j, shown) for j in np.flatnonzero(now).tolist()),
        outcome=tuple(line for line in outcome_lines(result, shown) if line.kind in _OUTCOME),
        later=tuple(name_text(names[j]) for j in np.flatnonzero(ever & ~now).tolist()),
        unchanged=tuple(name_text(names[j]) for j in np.flatnonzero(~ever).tolist()),
        n_more=len(result) - len(shown),
        has_consequences=bool(result.consequence[: len(shown)].any()),
    )


def _head(line: Line) -> str:
    heads = {"highest score": tr("its score"), "typicality": tr("typicality"), "real": tr("real row")}
    return heads.get(line.kind, line.name)


def _cells(line: Line) -> list[tuple[str, str]]:
    """Per counterfactual an arrow and a text; nothing where a feature does not change, or a row is not real."""
    if line.kind == "real":
        return [("", text if is_real else "") for text, is_real in zip(line.texts, line.values, strict=True)]
    if line.kind != "feature":
        return [("", text) for text in line.texts]
    cells = zip(line.signs, line.texts, line.follows, strict=True)
    return [(sign, f"({text})" if follows else text) if sign else ("", "") for sign, text, follows in cells]


def _texts(line: Line, most: int) -> list[str]:
    """Head, x and cells as they stand in a terminal, arrows and the gap above them included."""
    indent = "  " if any(line.signs) else ""
    cells = [f"{sign} {one_line(text, most)}" if sign else one_line(text, most) for sign, text in _cells(line)]
    return [indent + one_line(_head(line), most), indent + one_line(line.x, most), *cells]


def title(result: Counterfactuals, words: Words | None = None) -> str:
    """One line: how many are found or shown, target and method."""
    wanted, method = target_text(result, words), one_line(result.method)
    phrase = "Counterfactuals: {found} · target: {target} · method: {method}"
    return tr(phrase, found=_found(result), target=wanted, method=method)


def _found(result: Counterfactuals) -> str:
    if result.status in ("found", "none") and len(result) < result.n_found:
        if len(result) == 0:
            return tr("none of {n} shown", n=count_text(result.n_found))
        return tr("{shown} of {n} shown", shown=len(result), n=count_text(result.n_found))
    if result.status == "found":
        return tr("{n} found", n=len(result))
    is_bare = result.status == "none" and result.diagnosis is None and result.notes
    return tr({"none": "none" if is_bare else "none found", "already": "none needed", "error": "error"}[result.status])


def sentences(result: Counterfactuals, words: Words | None = None) -> list[str]:
    """What is said instead of a table when there are no rows; `words` as in `Diagnosis.text`."""
    if result.status != "already":
        return why_no_rows(result, words)
    target, scores = target_text(result, words), _own_scores(result)
    phrase = "The row already has the outcome: {target}. Nothing needs to change."
    if scores:
        phrase = "The row already has the outcome: {target} ({scores}). Nothing needs to change."
    return [tr(phrase, target=target, scores=scores)]


def _own_scores(result: Counterfactuals) -> str:
    """The score that is wanted, as the row has it; all where it is not known which is wanted."""
    wanted = wanted_score(result)
    if wanted is None:
        return scores_text(list(map(score_name, result.score_columns)), result.x_scores.tolist())
    return scores_text([score_name(wanted)], [float(wanted.of(result.x_scores))])


def _remarks(result: Counterfactuals) -> list[str]:
    constraints = result.constraints.describe(schema=result.schema)
    rest = len(constraints) - _CONSTRAINTS
    more = [counted(rest, "… {n} more constraint", "… {n} more constraints")] if rest > 0 else []
    notes = [tr("note: {note}", note=one_line(text)) for text in result.note_texts()]
    shown = [tr("constraint: {text}", text=one_line(text)) for text in constraints[:_CONSTRAINTS]]
    return [*notes, *shown, *more]


def result_text(result: Counterfactuals, words: Words | None = None) -> str:
    """The result for a terminal; `words` as in `Diagnosis.text`."""
    lines = textwrap.wrap(title(result, words), WIDTH, subsequent_indent="  ")
    if len(result):
        table = _table(result)
        features, left_out = _fitting(table)
        lines += _blocks(table, features)
        lines += _below(table, left_out, WIDTH)
    paragraphs = _remarks(result) if len(result) else [*sentences(result, words), *_remarks(result)]
    for paragraph in paragraphs:
        lines += textwrap.wrap(paragraph, WIDTH, subsequent_indent="  " if len(result) else "")
    return "\n".join(line.rstrip() for line in lines)


def _below(table: _Table, left_out: Sequence[str], room: int) -> list[str]:
    """Counts of what the table does not show."""
    lines = [tr("… {n} more", n=table.n_more)] if table.n_more else []
    lines += [tr("(in brackets): follows from the other changes")] if table.has_consequences else []
    also = ("also changed ({n}): ", [*left_out, *table.later])
    for what, names in (also, ("unchanged ({n}): ", table.unchanged)):
        start = tr(what, n=len(names))
        lines += [start + names_text(names, room - len(start))] if names else []
    return lines


def _columns_wide(column: Line) -> int:
    return max(map(width, _texts(column, _CELL))) + len(_GAP)


def _packed(table: _Table, features: Sequence[Line]) -> list[list[Line]]:
    """Features by block; the first has the outcome beside them."""
    label = len(str(ROWS - 1))
    room = WIDTH - label - sum(map(_columns_wide, table.outcome))
    blocks: list[list[Line]] = [[]]
    for column in features:
        needed = _columns_wide(column)
        if needed > room and (blocks[-1] or len(blocks) == 1):
            blocks.append([])
            room = WIDTH - label
        blocks[-1].append(column)
        room -= needed
    return blocks


def _fitting(table: _Table) -> tuple[list[Line], list[str]]:
    """Features that fit into the blocks, and the names of those left out: the ones that change least often."""
    often = sorted(table.features, key=lambda column: -sum(1 for sign in column.signs if sign))
    kept = list(table.features)
    while len(_packed(table, kept)) > BLOCKS:
        kept.remove(often.pop())
    return kept, [column.name for column in table.features if column not in kept]


def _blocks(table: _Table, features: Sequence[Line]) -> list[str]:
    lines: list[str] = []
    for number, block in enumerate(_packed(table, features)):
        columns = [*block, *table.outcome] if number == 0 else block
        labels = ["", "x", *(str(i) for i in range(len(columns[0].texts)))]
        lines += [""] if number else []
        lines += text_table([labels, *(_texts(column, _CELL) for column in columns)])
    return lines


def text_table(columns: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table whose columns are given from top to bottom."""
    padded = []
    for texts in columns:
        wide = max(map(width, texts))
        padded.append([text + " " * (wide - width(text)) for text in texts])
    return [_GAP.join(line).rstrip() for line in zip(*padded, strict=True)]


def result_html(result: Counterfactuals) -> str:
    """The result for a notebook."""
    remarks = "".join(paragraph(remark) for remark in _remarks(result))
    if not len(result):
        paragraphs = "".join(paragraph(sentence) for sentence in sentences(result))
        return f"<div><p><strong>{escape(title(result))}</strong></p>{paragraphs}{remarks}</div>"
    table = _table(result)
    columns = [*table.features, *table.outcome]
    rows = [[("", column.x, "") for column in columns]]
    cells = [[(*cell, column.x) for cell in _cells(column)] for column in columns]
    rows += map(list, zip(*cells, strict=True))
    labels = ["x", *(str(i) for i in range(len(rows) - 1))]
    body = html_table(title(result), list(map(_head, columns)), labels, rows)
    return f"<div>{body}{''.join(paragraph(line) for line in _below(table, [], 400))}{remarks}</div>"


def html_table(
    caption: str, heads: Sequence[str], labels: Sequence[str], rows: Sequence[Sequence[tuple[str, str, str]]]
) -> str:
    """An HTML table; each cell is (arrow, text, value of x)."""
    # each cell says where it is aligned, as the style sheets of notebooks do so too
    cell = "padding:0.25em 0.75em;text-align:left;white-space:nowrap"
    first = f"{cell};border-bottom:1px solid currentColor"
    head = "".join(f'<th scope="col" style="{first}">{_short(name)}</th>' for name in heads)
    body = ""
    for i, (label, row) in enumerate(zip(labels, rows, strict=True)):
        style = first if label == "x" and i == 0 else cell
        body += f'<tr><th scope="row" style="{style}">{_short(label)}</th>'
        body += "".join(_html_cell(sign, text, before, style) for sign, text, before in row) + "</tr>"
    return (
        f'<div role="region" aria-label="{escape(caption)}" tabindex="0" style="overflow-x:auto">'
        '<table style="border-collapse:collapse">'
        f'<caption style="text-align:left;font-weight:bold;padding:0.25em 0">{escape(caption)}</caption>'
        f'<thead><tr><td style="{first}"></td>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _html_cell(sign: str, text: str, before: str, style: str) -> str:
    if not sign:
        return f'<td style="{style}">{_short(text)}</td>'
    marked = f"{style};font-weight:bold;background:rgba(127,127,127,0.18)"
    spoken = f'<span role="img" aria-label="{escape(tr(_SPOKEN[sign]))}">{sign}</span>'
    return f'<td style="{marked}" title="{escape(f"{before} → {text}")}">{spoken} {_short(text)}</td>'


def _short(text: str) -> str:
    return escape(one_line(text, _HTML_CELL))


def paragraph(text: str) -> str:
    """A paragraph of a width that can be read."""
    return f'<p style="margin:0.5em 0;max-width:60em">{escape(text)}</p>'
