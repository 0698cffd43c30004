"""`Recourse` in words: a table for terminals, sentences, and what they do not say.

Figures are told with their intervals. Two groups are said to differ where the interval of the difference leaves out
zero; otherwise there is *no clear difference*, which is not the same as none. How many comparisons there were is told,
as some of many intervals leave out zero by chance.
"""

from __future__ import annotations

import math
from typing import Any

from countarfactuals.counterfactuals.display import text_table
from countarfactuals.counterfactuals.intervals import Estimate
from countarfactuals.counterfactuals.recourse import (
    ALREADY,
    CHANGES,
    FEWEST_ROWS,
    MEDIAN_DISTANCE,
    SHARES,
    TYPICALITY,
    WITHOUT,
    Band,
    GroupCost,
    Recourse,
)
from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import (
    MISSING_TEXT,
    joined,
    name_text,
    one_line,
    score_text,
    share_text,
    value_texts,
)
from countarfactuals.language.vocabulary import Words
from countarfactuals.schema import Column

SHOWN = (ALREADY, WITHOUT, MEDIAN_DISTANCE, CHANGES, TYPICALITY)  # medians of distances; means are in the frame
_LABEL = 40
_HIGHER, _LOWER = "{measure} higher by {value} ({low} to {high})", "{measure} lower by {value} ({low} to {high})"


def heads() -> dict[str, str]:
    """What the measures are called."""
    return {
        ALREADY: tr("already fine"),
        WITHOUT: tr("without any"),
        MEDIAN_DISTANCE: tr("distance"),
        CHANGES: tr("changes"),
        TYPICALITY: tr("typicality"),
    }


def key_text(column: Column, key: Any, words: Words | None = None) -> str:
    """A group's value, or its band, as plain text."""
    if key is None:
        return tr(MISSING_TEXT)
    if not isinstance(key, Band):
        return _amount(column, column.encode(key), words) if column.is_number else one_line(key, _LABEL)
    low, high = (_amount(column, end, words) if math.isfinite(end) else "" for end in key)
    if not low:
        return tr("below {high}", high=high)
    return tr("{low} to below {high}", low=low, high=high) if high else tr("{low} or more", low=low)


def _amount(column: Column, value: float, words: Words | None) -> str:
    (text,) = value_texts(column, [value])
    return text if words is None else words.plain.amount(column.name, text)


def figure(measure: str, value: float) -> str:
    """A figure as text."""
    if math.isnan(value):
        return "–"
    if measure == CHANGES:
        return f"{value:.1f}"
    return score_text(value) if measure == MEDIAN_DISTANCE else share_text(value)


def figure_with_ends(measure: str, estimate: Estimate) -> str:
    """A figure and its interval: `12 % (8 % to 17 %)`."""
    value = figure(measure, estimate.value)
    if not estimate.is_known:
        return value
    low, high = figure(measure, estimate.low), figure(measure, estimate.high)
    return tr("{value} ({low} to {high})", value=value, low=low, high=high)


def table_text(recourse: Recourse) -> str:
    """A table for a terminal, a line for each group and one for all rows."""
    lines = [(key_text(recourse.column, group.key), group) for group in recourse.groups]
    lines.append((tr("all"), recourse.everyone))
    columns = [[name_text(recourse.column.name, _LABEL), *(one_line(label, _LABEL) for label, _ in lines)]]
    columns.append([tr("rows"), *(f"{group.n:,}" for _, group in lines)])
    for measure in SHOWN:
        texts = [figure_with_ends(measure, group.estimates[measure]) for _, group in lines]
        columns.append([heads()[measure], *texts])
    return "\n".join(text_table(columns))


def description(recourse: Recourse, words: Words) -> str:
    """In plain language, a paragraph for each group."""
    return "\n\n".join(
        [*(group_sentences(recourse, group, words) for group in recourse), " ".join(caveats(recourse, words))]
    )


def group_sentences(recourse: Recourse, group: GroupCost, words: Words) -> str:
    """What is known of one group, and how it compares with all other rows."""
    name, row = name_text(recourse.column.name, _LABEL), words.rows[0 if group.n == 1 else 1]
    head = tr("{column} {group}, {n:,} {rows}:", column=name, group=key_text(recourse.column, group.key, words),
              n=group.n, rows=row)  # fmt: skip
    return " ".join([head, *_costs(group, words), *comparison(group, words)])


def _costs(group: GroupCost, words: Words) -> list[str]:
    shown = {measure: figure_with_ends(measure, group.estimates[measure]) for measure in SHOWN}
    needing, found = group.estimates[WITHOUT].n, group.estimates[CHANGES].n
    sentences = [tr("{share} have the wanted outcome already.", share=shown[ALREADY])]
    if needing == 1:
        sentences.append(tr("The other one has a counterfactual.") if found else tr("The other one has none."))
    elif needing:
        sentences.append(tr("Of the {n:,} others, {share} have no counterfactual.", n=needing, share=shown[WITHOUT]))
    if found:
        sentences.append(
            tr(
                "Where there is one, the best is at a distance of {distance} in the median, changes {changes} features "
                "on average and is more typical than {typicality} of real {rows} in the median.",
                distance=shown[MEDIAN_DISTANCE],
                changes=shown[CHANGES],
                typicality=shown[TYPICALITY],
                rows=words.rows[1],
            )
        )
    return sentences


def comparison(group: GroupCost, words: Words) -> list[str]:
    """How a group's figures compare with those of all other rows."""
    others = words.rows[1]
    if group.n < FEWEST_ROWS:
        return [tr("Fewer than {n} {rows} are not compared with others.", n=FEWEST_ROWS, rows=others)]
    shown = {measure: group.differences[measure] for measure in SHOWN if measure in group.differences}
    clear = [_difference(measure, apart) for measure, apart in shown.items() if is_clear(apart)]
    unclear = [heads()[measure] for measure, apart in shown.items() if not is_clear(apart)]
    too_few = [heads()[measure] for measure in SHOWN if measure not in shown]
    phrases = (
        (clear, "Compared with all other {rows}: {measures}."),
        (unclear, "No clear difference to other {rows}: {measures}."),
        (too_few, "Too few {rows} to compare: {measures}."),
    )
    return [tr(phrase, rows=others, measures=joined(measures)) for measures, phrase in phrases if measures]


def is_clear(apart: Estimate) -> bool:
    """Whether the interval of a difference leaves out zero."""
    return apart.low > 0 or apart.high < 0


def _difference(measure: str, apart: Estimate) -> str:
    """`distance higher by 0.03 (0.01 to 0.05)`; of shares in percentage points."""
    is_share = measure in (*SHARES, TYPICALITY)
    low, high = sorted((abs(apart.low), abs(apart.high)))
    texts = [f"{100 * size:.0f}" if is_share else figure(measure, size) for size in (abs(apart.value), low, high)]
    higher = "{measure} higher by {value} points ({low} to {high})" if is_share else _HIGHER
    lower = "{measure} lower by {value} points ({low} to {high})" if is_share else _LOWER
    value, least, most = texts
    return tr(higher if apart.value > 0 else lower, measure=heads()[measure], value=value, low=least, high=most)


def caveats(recourse: Recourse, words: Words) -> list[str]:
    """What the figures do not say."""
    level = share_text(recourse.confidence)
    sentences = [
        tr(
            "In brackets are {level} intervals: how far such figures vary by chance in which {rows} there were. They "
            "say nothing of the search, of whether the model is right, or of why groups differ.",
            level=level,
            rows=words.rows[1],
        )
    ]
    if n_compared := sum(measure in SHOWN for group in recourse for measure in group.differences):
        by_chance = share_text(1 - recourse.confidence)
        sentences.append(
            counted(
                n_compared,
                "{n} comparison was made; where nothing differs, about {share} of such intervals leave out zero.",
                "{n} comparisons were made; where nothing differs, about {share} of such intervals leave out zero.",
                share=by_chance,
            )
        )
    if recourse.n_failed:
        sentences.append(
            counted(
                recourse.n_failed,
                "{n:,} {rows} could not be explained and does not count.",
                "{n:,} {rows} could not be explained and do not count.",
                rows=words.rows[0 if recourse.n_failed == 1 else 1],
            )
        )
    return sentences
