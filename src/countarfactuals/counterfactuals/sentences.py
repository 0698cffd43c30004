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
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.counterfactuals import select
from countarfactuals.counterfactuals.outcomes import REGRESSION, Score, is_range, target_text, wanted_score
from countarfactuals.counterfactuals.spelling import outcome_texts, score_texts, value_texts
from countarfactuals.counterfactuals.vocabulary import MARKDOWN, TEXT, Unit, Words, words_of
from countarfactuals.counterfactuals.wording import joined, name_text, one_line, share_text
from countarfactuals.exceptions import ParameterError, listed
from countarfactuals.objectives import changed
from countarfactuals.schema import Column

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals

FORMATS = {"text": TEXT, "markdown": MARKDOWN}
RARE = 0.05  # below this typicality a sentence warns
WIDE = 0.4  # judges that are farther apart than this are told of
_MOST_ODD = 2  # unusual cells that a sentence names
_MOST_CHANGES = 10


def describe(
    result: Counterfactuals,
    k: int | None = 3,
    *,
    units: Mapping[Hashable, Unit] | None = None,
    rows: Unit = "rows",
    outcome: str | None = None,
    prefer: str | Mapping[str, float] | None = None,
    diversity: float = 0.5,
    format: str = "text",
) -> str:
    """A result in plain language.

    Parameters
    ----------
    result : of one row.
    k : how many counterfactuals, chosen as by `select`; None for all, in their order.
    units : by column, such as {"duration": "months", "income": "€"}; (singular, plural) where the singular is not the
        plural without its s. The outcome's unit goes by its name.
    rows : what rows are called, such as "applicants" or ("person", "people").
    outcome : what the model predicts, such as "price".
    prefer, diversity : as in `select`.
    format : "text", or "markdown", which lists several and emphasises the outcome.
    """
    if format not in FORMATS:
        raise ParameterError(f"`format` must be one of {listed(FORMATS)}, got {format!r}.")
    words = words_of(result.schema.names, units, rows, outcome, FORMATS[format])
    said = result_sentences(result, positions(result, k, prefer, diversity), words)
    if format == "markdown" and len(said) > 1:
        return "\n".join(f"- {one}" for one in said)
    return "\n\n".join(said)


def positions(
    result: Counterfactuals, k: int | None, prefer: str | Mapping[str, float] | None = None, diversity: float = 0.5
) -> list[int]:
    """Which rows `select` takes, by their number in the result."""
    diversity = select.check_share("diversity", diversity)
    weights = select.check_prefer(prefer, result.objectives)
    if k is None:
        return list(range(len(result)))
    cost = select.cost_of(result.objectives, weights, len(result)) if weights else np.zeros(len(result))
    chosen: list[int] = select.choose(result.schema, result.rows, cost, select.check_count(k), diversity).tolist()
    return chosen


def result_sentences(result: Counterfactuals, at: Sequence[int], words: Words) -> list[str]:
    """One paragraph per counterfactual, then the notes; or why there is none."""
    if not len(result):
        return [*_without_rows(result, words), *_notes(result, words)]
    return [*(" ".join(counterfactual_sentences(result, i, words)) for i in at), *_notes(result, words)]


def _notes(result: Counterfactuals, words: Words) -> list[str]:
    return [words.style.escape(one_line(note)) for note in result.notes if note != result.error]


def _without_rows(result: Counterfactuals, words: Words) -> list[str]:
    escaped = words.style.escape
    if result.status == "already":
        return [f"{_now(result, words)}, as wanted ({escaped(target_text(result, words))}). Nothing needs to change."]
    if result.status == "error":
        return [escaped(f"This row could not be explained: {one_line(result.error or 'no reason was given.')}")]
    if result.diagnosis is not None:
        return [escaped(one_line(result.diagnosis.text(result, words)))]
    return [] if result.notes else ["There are no counterfactuals here, and no reason was recorded."]


def counterfactual_sentences(result: Counterfactuals, i: int, words: Words) -> list[str]:
    """What would have to be different and to what effect, and how plausible that is."""
    return [
        f"{_condition(result, i, words)}, {_effect(result, i, words)}.",
        typicality_sentence(float(result.typicality[i]), words, result.typicality_range[i]),
        *_odd_sentence(result, i, words),
        *(["Such a row is in the data."] if result.is_real_row[i] else []),
    ]


def situation(result: Counterfactuals, words: Words) -> list[str]:
    """What is predicted for x, and what is wanted."""
    if result.status in ("already", "error"):
        return []
    said = [f"{_now(result, words)}."] if result.score_names else []
    return [*said, wanted_sentence([target_text(result, words)], words)]


def wanted_sentence(targets: Sequence[str], words: Words) -> str:
    """What is wanted, and of which outcome if it has a name."""
    shown = " or ".join(words.style.escape(target) for target in targets)
    is_named = words.outcome is None or all(target.startswith(f"{words.outcome} ") for target in targets)
    return f"Wanted is{'' if is_named else f', for {words.written(words.outcome)}'}: {shown}."


# What would have been different


def _condition(result: Counterfactuals, i: int, words: Words) -> str:
    at = np.flatnonzero(result.changed[i]).tolist()
    if not at:
        return "Without any change"
    filled = [j for j in at if math.isnan(result.x[j])]
    ordered = [j for j in at if j not in filled] + filled
    shown = ordered if len(ordered) <= _MOST_CHANGES else ordered[: _MOST_CHANGES - 1]
    parts, verb = [], ""
    for j in shown:
        now = " had been known to be" if j in filled else " had been"
        name = words.written(name_text(result.schema.names[j]))
        parts.append(f"{name}{'' if now == verb else now} {_value(result, j, float(result.rows[i, j]), words)}")
        verb = now
    if len(shown) < len(ordered):
        parts.append(f"{len(ordered) - len(shown)} other features had been different")
    return f"If {joined(parts)}"


def _value(result: Counterfactuals, j: int, after: float, words: Words) -> str:
    """The new value of a cell, instead of the old one if that was not missing."""
    column, before = result.schema.columns[j], float(result.x[j])
    new, old = value_texts(column, [after, before])
    if not column.is_number:
        # the levels' own names, in quotes where they need it, and never with the unit said for both at once
        new, old = (_level(words, column, text) for text in (new, old))
        return new if math.isnan(before) else f"{'missing' if math.isnan(after) else new} instead of {old}"
    if math.isnan(before):
        return words.amount(column.name, new)
    if math.isnan(after):
        return f"missing instead of {words.amount(column.name, old)}"
    return words.instead(column.name, new, old)


def changed_texts(result: Counterfactuals, row: np.ndarray, words: Words) -> list[str]:
    """What differs from x in any row, feature by feature: `amount €3,200 instead of €5,000`."""
    texts = []
    for j in np.flatnonzero(changed(row[None], result.x)[0]).tolist():
        filled = " instead of missing" if math.isnan(result.x[j]) else ""
        texts.append(
            f"{words.written(name_text(result.schema.names[j]))} {_value(result, j, float(row[j]), words)}{filled}"
        )
    return texts


def _level(words: Words, column: Column, text: str) -> str:
    unit = words.unit(column.name, text)
    return words.written(text) + (f" {words.style.escape(unit)}" if unit else "")


# What the prediction would have been


def _effect(result: Counterfactuals, i: int, words: Words) -> str:
    before, after = result.x_scores, result.scores[i]
    if not result.score_names:
        return "the target would have been reached"
    if result.score_names == REGRESSION:
        new, old = outcome_texts([float(after[0]), float(before[0])])
        return f"{_noun(result, words)} would have been {words.instead(words.outcome or 'prediction', new, old)}"
    wanted = wanted_score(result)
    if wanted is not None and is_range(result):
        return _effect_on_score(result, i, wanted, words)
    label = words.strong(result.labels[i])
    several = f" instead of {words.strong(result.x_label)}" if len(result.score_names) > 1 else ""
    scores = [_score_of(result, result.labels[i], values) for values in (after, before)]
    pair = [score for score in scores if score is not None]
    kind = "" if _are_probabilities(result) else "score "
    numbers = f" ({kind}{' instead of '.join(score_texts(pair))})" if len(pair) == 2 else ""
    return f"{_noun(result, words)} would have been {label}{several}{numbers}"


def _effect_on_score(result: Counterfactuals, i: int, wanted: Score, words: Words) -> str:
    """Where a range of a score is wanted: the score, and whether the prediction changes with it."""
    numbers = " instead of ".join(score_texts([float(wanted.of(result.scores[i])), float(wanted.of(result.x_scores))]))
    noun = "probability" if wanted.is_probability else "score"
    label, before = words.strong(result.labels[i]), words.strong(result.x_label)
    is_same = result.labels[i] == result.x_label
    then = f"{_noun(result, words)} would still be {label}" if is_same else f"prediction {label} instead of {before}"
    return f"the {noun} of {words.strong(wanted.label)} would have been {numbers} ({then})"


def _now(result: Counterfactuals, words: Words) -> str:
    """What is predicted for x, as the beginning of a sentence."""
    noun = _noun(result, words)
    noun = noun[0].upper() + noun[1:]
    if result.score_names == REGRESSION:
        (text,) = outcome_texts([float(result.x_scores[0])])
        return f"{noun} is {words.amount(words.outcome or 'prediction', text)}"
    if not result.score_names:
        return "The row has the outcome"
    return f"{noun} is {words.strong(result.x_label)}{_score_now(result, words)}"


def _score_now(result: Counterfactuals, words: Words) -> str:
    """The score of the wanted class with its name; of the predicted class where it is not known which is wanted."""
    wanted = wanted_score(result)
    if wanted is not None:
        name = words.style.escape(one_line(wanted.name))
        return f" ({name} = {score_texts([float(wanted.of(result.x_scores))])[0]})"
    score = _score_of(result, result.x_label, result.x_scores)
    kind = "" if _are_probabilities(result) else "score "
    return "" if score is None else f" ({kind}{score_texts([score])[0]})"


def _noun(result: Counterfactuals, words: Words) -> str:
    settings = result.provenance.get("settings")
    is_observed = isinstance(settings, Mapping) and settings.get("outcome") == "observed"
    adjective = "expected" if is_observed else "predicted"
    if words.outcome is not None:
        return f"the {adjective} {words.written(words.outcome)}"
    return "the expected outcome" if is_observed else "the prediction"


def _are_probabilities(result: Counterfactuals) -> bool:
    return all(name.startswith("P(") for name in result.score_names)


def _score_of(result: Counterfactuals, label: Any, scores: np.ndarray) -> float | None:
    """The score of a class: its own, or of two classes what is left of the other's probability."""
    for i, name in enumerate(result.score_names):
        if name in (f"P({label})", f"score({label})"):
            return float(scores[i])
    if len(result.score_names) == 1 and _are_probabilities(result):
        return 1.0 - float(scores[0])
    return float(scores[0]) if len(result.score_names) == 1 else None


# How plausible it is


def is_unusual(share: float) -> bool:
    """Whether a reader must be warned; a typicality that is not known is no reason."""
    return share < RARE


def _odd_sentence(result: Counterfactuals, i: int, words: Words) -> list[str]:
    """Which changed cells are unusual, and beside what."""
    parts = []
    for oddity in result.oddities[i][:_MOST_ODD]:
        said = f"{_cell(result, i, oddity.column, words)}"
        parts.append(said if oddity.beside is None else f"{said} beside {_cell(result, i, oddity.beside, words)}")
    return [f"Unusual: {joined(parts)}."] if parts else []


def _cell(result: Counterfactuals, i: int, j: int, words: Words) -> str:
    column = result.schema.columns[j]
    name, value = words.written(name_text(column.name)), float(result.rows[i, j])
    if math.isnan(value):
        return f"missing {name}"
    (text,) = value_texts(column, [value])
    return f"{name} {words.amount(column.name, text) if column.is_number else _level(words, column, text)}"


def typicality_sentence(share: float, words: Words, span: Sequence[float] = (math.nan, math.nan)) -> str:
    """How many real rows are less typical; a warning where hardly any is, and the range where judges are far apart.

    >>> said = words_of([], None, "applicants", None, TEXT)
    >>> typicality_sentence(0.62, said)
    '62 % of real applicants are less typical than this.'
    >>> typicality_sentence(0.02, said)
    'This is unusual: only 2 % of real applicants are less typical.'
    >>> typicality_sentence(0.62, said, (0.2, 0.8))
    '62 % of real applicants are less typical than this; judges differ, from 20 % to 80 %.'
    """
    one, many = (words.style.escape(word) for word in words.rows)
    if math.isnan(share):
        return "How typical this is was not judged."
    if share == 0:
        return f"This is unusual: no real {one} is less typical."
    if share == 1:
        return f"All real {many} that it was compared with are less typical than this."
    said = {"<": "less than ", ">": "more than "}
    text = share_text(share)
    text = said.get(text[0], "") + text.lstrip("<>")
    if is_unusual(share):
        return f"This is unusual: {text if share < 0.01 else f'only {text}'} of real {many} are less typical."
    differing = f"; judges differ, from {share_text(span[0])} to {share_text(span[1])}" if is_wide(span) else ""
    return f"{text[0].upper()}{text[1:]} of real {many} are less typical than this{differing}."


def is_wide(span: Sequence[float]) -> bool:
    """Whether judges differ so much that one number would say too much."""
    return bool(span[1] - span[0] > WIDE)
