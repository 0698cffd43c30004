"""Results in plain language: "If income had been 41,200 instead of 36,000, the prediction would have been good."

1. Of a result the k rows are taken that `select` would take.
2. Each becomes one sentence: what would have been different, feature by feature, in the column's own units and names,
   and what the prediction would then have been. Cells that were missing come last: they "had been known to be" so.
3. A second sentence says how typical the row is among real rows, and warns where it is not.
4. A result without rows says why: nothing needs to change, nothing was found (with the diagnosis), or an error.

Names and units are the words of `vocabulary`, values are spelt as in `spelling`. What users call things is escaped by
the `Style` of the format that is written, there and here and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.counterfactuals.outcomes import (
    is_observed,
    is_range,
    is_regression,
    score_name,
    target_text,
    wanted_score,
)
from countarfactuals.exceptions import ParameterError, listed
from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import (
    either,
    joined,
    one_line,
    outcome_texts,
    score_texts,
    share_text,
    value_texts,
)
from countarfactuals.language.vocabulary import MARKDOWN, TEXT, Style, Words
from countarfactuals.objectives import changed
from countarfactuals.prediction import Score, score_of_class
from countarfactuals.prediction.scores import MARGIN, PREDICTION, PROBABILITY
from countarfactuals.schema import Column, Schema

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.remarks import Oddity
    from countarfactuals.counterfactuals.result import Counterfactuals

_FORMATS = {"text": TEXT, "markdown": MARKDOWN}
RARE = 0.05  # below this typicality a sentence warns
WIDE = 0.4  # judges that are farther apart than this are told of
_MOST_ODD = 2  # unusual cells that a sentence names
_MOST_CHANGES, _MOST_CONSEQUENCES = 10, 6


def style_of(format: str) -> Style:
    """How text of a format is written."""
    if not isinstance(format, str) or format not in _FORMATS:
        raise ParameterError(f"`format` must be one of {listed(_FORMATS)}, got {format!r}.")
    return _FORMATS[format]


def description(result: Counterfactuals, at: Sequence[int], words: Words) -> str:
    """A result in plain language: a paragraph, or in markdown an item, for each of the counterfactuals at `at`."""
    paragraphs = result_sentences(result, at, words)
    if words.style is MARKDOWN and len(paragraphs) > 1:
        return "\n".join(f"- {paragraph}" for paragraph in paragraphs)
    return "\n\n".join(paragraphs)


def result_sentences(result: Counterfactuals, at: Sequence[int], words: Words) -> list[str]:
    """One paragraph per counterfactual, then the notes; or why there is none."""
    if not len(result):
        return [*_without_rows(result, words), *_notes(result, words)]
    told = [" ".join(counterfactual_sentences(result, i, words)) for i in at]
    return [*told, *_more(result.n_found - len(told)), *_notes(result, words)]


def _more(n: int) -> list[str]:
    return [counted(n, "{n:,} more was found.", "{n:,} more were found.")] if n > 0 else []


def _notes(result: Counterfactuals, words: Words) -> list[str]:
    return [words.style.escape(one_line(text)) for text in result.note_texts()]


def _without_rows(result: Counterfactuals, words: Words) -> list[str]:
    escaped = words.style.escape
    if result.status == "already":
        now, wanted = _now(result, words), escaped(target_text(result, words))
        return [tr("{now}, as wanted ({wanted}). Nothing needs to change.", now=now, wanted=wanted)]
    return [escaped(one_line(sentence)) for sentence in why_no_rows(result, words)]


def why_no_rows(result: Counterfactuals, words: Words | None = None) -> list[str]:
    """Why nothing was found, or what went wrong, as plain text; `words` as in `Diagnosis.text`."""
    if result.status == "error":
        reason = one_line(result.error or tr("no reason was given."))
        return [tr("This row could not be explained: {reason}", reason=reason)]
    if result.diagnosis is not None:
        return [result.diagnosis.text(result, words)]
    return [] if result.notes else [tr("There are no counterfactuals here, and no reason was recorded.")]


def counterfactual_sentences(result: Counterfactuals, i: int, words: Words) -> list[str]:
    """What would have to be different and to what effect, and how plausible that is."""
    return [
        tr("{condition}, {effect}.", condition=_condition(result, i, words), effect=_effect(result, i, words)),
        typicality_sentence(float(result.typicality[i]), words, result.typicality_range[i]),
        *odd_sentences(result.schema, result.rows[i], result.oddities[i], words),
        *([tr("Such a row is in the data.")] if result.is_real_row[i] else []),
    ]


def situation(result: Counterfactuals, words: Words) -> list[str]:
    """What is predicted for x, what is wanted, and how many counterfactuals there are."""
    if result.status in ("already", "error"):
        return []
    now = [f"{_now(result, words)}."] if result.score_columns else []
    wanted = _wanted([target_text(result, words)], words)
    # in one sentence: "at most 9. 43 were found" would read as 9.43
    found = _found(result)
    return [*now, tr("{wanted}; {found}.", wanted=wanted, found=found) if found else f"{wanted}."]


def _found(result: Counterfactuals) -> str:
    n, shown = result.n_found, len(result)
    if not shown:
        return ""
    if shown < n:
        return tr("{n:,} counterfactuals were found, {shown:,} of {n:,} shown", n=n, shown=shown)
    return counted(n, "{n:,} counterfactual was found", "{n:,} counterfactuals were found")


def wanted_sentence(targets: Sequence[str], words: Words) -> str:
    """What is wanted, and of which outcome if it has a name."""
    return f"{_wanted(targets, words)}."


def _wanted(targets: Sequence[str], words: Words) -> str:
    shown = either([words.style.escape(target) for target in targets])
    if words.outcome is None or all(target.startswith(f"{words.outcome} ") for target in targets):
        return tr("Wanted is: {target}", target=shown)
    return tr("Wanted is, for {outcome}: {target}", outcome=words.written(words.outcome), target=shown)


# What would have been different


def _condition(result: Counterfactuals, i: int, words: Words) -> str:
    at, _ = result.changes_at[i]
    if not at:
        return tr("Without any change")
    filled = [j for j in at if math.isnan(result.x[j])]
    ordered = [j for j in at if j not in filled] + filled
    shown = ordered if len(ordered) <= _MOST_CHANGES else ordered[: _MOST_CHANGES - 1]
    parts, before = [], ""
    for j in shown:
        phrase = "{name} had been known to be {value}" if j in filled else "{name} had been {value}"
        name = words.title(result.schema.columns[j])
        value = _value(result, j, float(result.rows[i, j]), words)
        # the verb is said once
        parts.append(tr("{name} {value}" if phrase == before else phrase, name=name, value=value))
        before = phrase
    if len(shown) < len(ordered):
        parts.append(tr("{n} other features had been different", n=len(ordered) - len(shown)))
    condition, along = tr("If {changes}", changes=joined(parts)), _consequences(result, i, words)
    return tr("{condition}, and so {changes}", condition=condition, changes=along) if along else condition


def _consequences(result: Counterfactuals, i: int, words: Words) -> str:
    """What changes along: `total area 1,712`."""
    _, at = result.changes_at[i]
    shown = at if len(at) <= _MOST_CONSEQUENCES else at[: _MOST_CONSEQUENCES - 1]
    parts = [_cell(result.schema.columns[j], result.rows[i, j], words) for j in shown]
    rest = len(at) - len(shown)
    return joined([*parts, *([tr("{n} other features", n=rest)] if rest else [])])


def _value(result: Counterfactuals, j: int, after: float, words: Words) -> str:
    """The new value of a cell, instead of the old one if that was not missing."""
    column, before = result.schema.columns[j], float(result.x[j])
    old, new = value_texts(column, [before, after])
    if not column.is_number:
        # the levels' own names, in quotes where they need it, and never with the unit said for both at once
        new, old = (_level(words, column, text) for text in (new, old))
        if math.isnan(before):
            return new
        return tr("missing instead of {old}" if math.isnan(after) else "{new} instead of {old}", new=new, old=old)
    if math.isnan(before):
        return words.amount(column.name, new)
    if math.isnan(after):
        return tr("missing instead of {old}", old=words.amount(column.name, old))
    return words.instead(column.name, new, old)


def changed_texts(result: Counterfactuals, row: np.ndarray, words: Words) -> list[str]:
    """What differs from x in any row, feature by feature: `amount €3,200 instead of €5,000`."""
    texts = []
    for j in np.flatnonzero(changed(row[None], result.x)[0]).tolist():
        phrase = "{name} {value} instead of missing" if math.isnan(result.x[j]) else "{name} {value}"
        name = words.title(result.schema.columns[j])
        texts.append(tr(phrase, name=name, value=_value(result, j, float(row[j]), words)))
    return texts


def _level(words: Words, column: Column, text: str) -> str:
    unit = words.unit(column.name, text)
    return words.level(column, text) + (f" {words.style.escape(unit)}" if unit else "")


# What the prediction would have been


def _effect(result: Counterfactuals, i: int, words: Words) -> str:
    before, after = result.x_scores, result.scores[i]
    if not result.score_columns:
        return tr("the target would have been reached")
    noun = _noun(result, words)
    if is_regression(result):
        new, old = outcome_texts([float(after[0]), float(before[0])])
        value = words.instead(words.outcome or PREDICTION, new, old)
        return tr("{noun} would have been {value}", noun=noun, value=value)
    wanted = wanted_score(result)
    if wanted is not None and is_range(result):
        return _effect_on_score(result, i, wanted, words)
    value = words.strong(result.labels[i])
    if len(result.score_columns) > 1:
        value = tr("{new} instead of {old}", new=value, old=words.strong(result.x_label))
    score = _score_of(result, result.labels[i])
    if score is not None:
        new, old = score_texts([float(score.of(after)), float(score.of(before))])
        phrase = (
            "{value} (score {new} instead of {old})" if score.kind == MARGIN else "{value} ({new} instead of {old})"
        )
        value = tr(phrase, value=value, new=new, old=old)
    return tr("{noun} would have been {value}", noun=noun, value=value)


def _effect_on_score(result: Counterfactuals, i: int, wanted: Score, words: Words) -> str:
    """Where a range of a score is wanted: the score, and whether the prediction changes with it."""
    new, old = score_texts([float(wanted.of(result.scores[i])), float(wanted.of(result.x_scores))])
    label, before = words.strong(result.labels[i]), words.strong(result.x_label)
    if result.labels[i] == result.x_label:
        then = tr("{noun} would still be {label}", noun=_noun(result, words), label=label)
    else:
        noun = tr("expected outcome" if is_observed(result) else "prediction")
        then = tr("{noun} {label} instead of {before}", noun=noun, label=label, before=before)
    phrase = (
        "the probability of {wanted} would have been {new} instead of {old} ({then})"
        if wanted.kind == PROBABILITY
        else "the score of {wanted} would have been {new} instead of {old} ({then})"
    )
    return tr(phrase, wanted=words.strong(wanted.label), new=new, old=old, then=then)


def _now(result: Counterfactuals, words: Words) -> str:
    """What is predicted for x, as the beginning of a sentence."""
    if not result.score_columns:
        return tr("The row has the outcome")
    noun = _noun(result, words)
    noun = noun[0].upper() + noun[1:]
    if is_regression(result):
        (text,) = outcome_texts([float(result.x_scores[0])])
        return tr("{noun} is {value}", noun=noun, value=words.amount(words.outcome or PREDICTION, text))
    return tr("{noun} is {value}", noun=noun, value=f"{words.strong(result.x_label)}{_score_now(result, words)}")


def _score_now(result: Counterfactuals, words: Words) -> str:
    """The score of the wanted class with its name; of the predicted class where it is not known which is wanted."""
    wanted = wanted_score(result)
    if wanted is not None:
        name = words.style.escape(score_name(wanted))
        return f" ({name} = {score_texts([float(wanted.of(result.x_scores))])[0]})"
    score = _score_of(result, result.x_label)
    if score is None:
        return ""
    (text,) = score_texts([float(score.of(result.x_scores))])
    return f" ({tr('score {score}', score=text) if score.kind == MARGIN else text})"


def _noun(result: Counterfactuals, words: Words) -> str:
    observed = is_observed(result)
    if words.outcome is None or _is_class(result, words.outcome):
        return tr("the expected outcome" if observed else "the prediction")
    phrase = "the expected {outcome}" if observed else "the predicted {outcome}"
    return tr(phrase, outcome=words.written(words.outcome))


def _is_class(result: Counterfactuals, outcome: str) -> bool:
    """Whether the outcome is called like one of its classes: survived would be predicted to be survived."""
    return outcome.casefold() in map(str.casefold, result.label_texts)


def _score_of(result: Counterfactuals, label: Any) -> Score | None:
    """The score of a class: its own, or of two classes what is left of the other's probability, or the only margin."""
    score = score_of_class(label, result.score_columns)
    return result.score_columns[0] if score is None and len(result.score_columns) == 1 else score


# How plausible it is


def is_unusual(share: float) -> bool:
    """Whether a reader must be warned; a typicality that is not known is no reason."""
    return share < RARE


def odd_sentences(schema: Schema, row: np.ndarray, oddities: Sequence[Oddity], words: Words) -> list[str]:
    """Which changed cells of a row are unusual, and beside what, in a sentence; none where there are no such."""
    parts = []
    for oddity in oddities[:_MOST_ODD]:
        cell = _cell(schema.columns[oddity.column], row[oddity.column], words)
        if oddity.beside is not None:
            other = _cell(schema.columns[oddity.beside], row[oddity.beside], words)
            cell = tr("{cell} beside {other}", cell=cell, other=other)
        parts.append(cell)
    return [tr("Unusual: {cells}.", cells=joined(parts))] if parts else []


def _cell(column: Column, value: float, words: Words) -> str:
    name = words.title(column)
    if math.isnan(value):
        return tr("missing {name}", name=name)
    (text,) = value_texts(column, [float(value)])
    return f"{name} {words.amount(column.name, text) if column.is_number else _level(words, column, text)}"


def typicality_sentence(share: float, words: Words, span: Sequence[float] = (math.nan, math.nan)) -> str:
    """How many real rows are less typical; a warning where hardly any is, and the range where judges are far apart.

    >>> from countarfactuals.language.vocabulary import words_of
    >>> said = words_of([], None, "applicants", None, TEXT)
    >>> typicality_sentence(0.62, said)
    '62 % of real applicants are less typical than this.'
    >>> typicality_sentence(0.02, said)
    'This is unusual: only 2 % of real applicants are less typical.'
    >>> typicality_sentence(0.62, said, (0.2, 0.8))
    '62 % of real applicants are less typical than this; judges differ, from 20 % to 80 %.'
    """
    row, rows = (words.style.escape(word) for word in words.rows)
    if math.isnan(share):
        return tr("How typical this is was not judged.")
    if share == 0:
        return tr("This is unusual: no real {row} is less typical.", row=row)
    if share == 1:
        return tr("All real {rows} that it was compared with are less typical than this.", rows=rows)
    if share < 0.01:
        return tr("This is unusual: less than 1 % of real {rows} are less typical.", rows=rows)
    text = share_text(share)
    if is_unusual(share):
        return tr("This is unusual: only {share} of real {rows} are less typical.", share=text, rows=rows)
    if _is_wide(span):
        return tr(
            "{share} of real {rows} are less typical than this; judges differ, from {low} to {high}.",
            share=text.lstrip(">"), rows=rows, low=share_text(span[0]), high=share_text(span[1]),
        )  # fmt: skip
    if share > 0.99:
        return tr("More than 99 % of real {rows} are less typical than this.", rows=rows)
    return tr("{share} of real {rows} are less typical than this.", share=text, rows=rows)


def _is_wide(span: Sequence[float]) -> bool:
    """Whether judges differ so much that one number would say too much."""
    return bool(span[1] - span[0] > WIDE)
