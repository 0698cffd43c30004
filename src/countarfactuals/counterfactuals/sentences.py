"""Results in plain language: "If income had been 41,200 instead of 36,000, the prediction would have been good."

1. Of a result the k rows are taken that `select` would take.
2. Each becomes one sentence: what would have been different, feature by feature, in the column's own units and names,
   and what the prediction would then have been. Cells that were missing come last: they "had been known to be" so.
3. A second sentence says how typical the row is among real rows, and warns where it is not.
4. A result without rows says why: nothing needs to change, nothing was found (with the diagnosis), or an error.

What users call things is escaped for the format that is written, here and nowhere else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.counterfactuals import select
from countarfactuals.counterfactuals.wording import cell_texts, joined, name_text, one_line, score_text, share_text
from countarfactuals.exceptions import ParameterError, did_you_mean, listed
from countarfactuals.schema import Column, Kind

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals

Unit = str | tuple[str, str]

RARE = 0.05  # below this typicality a sentence warns
_MOST_CHANGES, _LONGEST = 10, 80
_SIGNS = frozenset("$€£¥₹")
_SINGULAR = {"inches": "inch", "feet": "foot", "people": "person", "children": "child", "men": "man", "women": "woman"}
_PLAIN_NUMBER = re.compile(r"(-?)(\d+)(\.\d+)?")
_PLAIN_WORDS = re.compile(r"[\w./+%€$£-]+( [\w./+%€$£-]+)?")  # one or two
_MARKDOWN = re.compile(r"([\\`*_\[\]{}()#~|!$^=])")
_REGRESSION = ("prediction",)
_MARKS, _ENOUGH = (0.0, 0.5, 1.0), 4  # scores that mean something, and decimals after which being near them is enough


@dataclass(frozen=True)
class Style:
    """How a format writes what users call things, and what it emphasises."""

    escape: Callable[[str], str]
    emphasis: Callable[[str], str]


def _markdown_text(text: str) -> str:
    # entities, as not every reader of markdown knows backslashes before them
    return _MARKDOWN.sub(r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


TEXT = Style(escape=lambda text: text, emphasis=lambda text: text)
MARKDOWN = Style(escape=_markdown_text, emphasis=lambda text: f"*{text}*")
HTML = Style(escape=escape, emphasis=lambda text: f"<em>{text}</em>")
FORMATS = {"text": TEXT, "markdown": MARKDOWN}


@dataclass(frozen=True)
class Words:
    """What things are called.

    Parameters
    ----------
    units : by column, (singular, plural); a currency sign stands before its number.
    rows : what one row and several are called.
    outcome : what the model predicts, None where it has no name.
    style : how names are written.
    """

    units: Mapping[Hashable, tuple[str, str]]
    rows: tuple[str, str]
    outcome: str | None
    style: Style

    def written(self, value: Any) -> str:
        """A user's text inside a sentence; in quotes where it could be read as a part of the sentence."""
        text = one_line(value, _LONGEST)
        is_plain = _PLAIN_WORDS.fullmatch(text) and " instead of " not in text and " and " not in text
        return self.style.escape(text if is_plain else f"“{text}”")

    def strong(self, value: Any) -> str:
        """The same, emphasised."""
        return self.style.emphasis(self.written(value))

    def amount(self, name: Hashable, text: str) -> str:
        """A number, or level, with its unit."""
        unit = self.unit(name, text)
        if not unit:
            return self.style.escape(text)
        if unit in _SIGNS:
            sign, rest = ("-", text[1:]) if text.startswith("-") else ("", text)
            return self.style.escape(f"{sign}{unit}{rest}")
        return self.style.escape(f"{text} {unit}")

    def unit(self, name: Hashable, text: str) -> str:
        """The unit as it stands beside a number."""
        singular, plural = self.units.get(name, ("", ""))
        return singular if text in ("1", "-1") else plural

    def instead(self, name: Hashable, after: str, before: str) -> str:
        """`24 instead of 36 months`: the unit is said once where both have the same."""
        unit = self.unit(name, before)
        if unit and unit not in _SIGNS and self.unit(name, after) == unit:
            return f"{self.style.escape(after)} instead of {self.amount(name, before)}"
        return f"{self.amount(name, after)} instead of {self.amount(name, before)}"


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


def words_of(
    names: Sequence[Hashable],
    units: Mapping[Hashable, Unit] | None,
    rows: Unit,
    outcome: str | None,
    style: Style,
) -> Words:
    """What a user calls things, checked."""
    if outcome is not None and not isinstance(outcome, str):
        raise ParameterError(f"`outcome` must be the name of what is predicted or None, got {outcome!r}.")
    if units is not None and not isinstance(units, Mapping):
        raise ParameterError(f"`units` must be a dict of units by column, got {units!r}.")
    known = [*names, outcome or "prediction"]
    for name in units or {}:
        if name not in known:
            raise ParameterError(
                f"`units` names {name!r}, which is no column; known: {listed(known)}.{did_you_mean(name, known)}"
            )
    checked = {name: _both_forms(f"units[{name!r}]", unit) for name, unit in (units or {}).items()}
    return Words(checked, _both_forms("rows", rows), outcome, style)


def _both_forms(what: str, said: Any) -> tuple[str, str]:
    if isinstance(said, tuple) and len(said) == 2 and all(isinstance(one, str) and one.strip() for one in said):
        singular, plural = said
    elif isinstance(said, str) and said.strip():
        singular, plural = _singular(said), said
    else:
        raise ParameterError(f"`{what}` must be a word, or (singular, plural), got {said!r}.")
    return one_line(singular, _LONGEST), one_line(plural, _LONGEST)


def _singular(plural: str) -> str:
    """Without its s, if it is a word and not an abbreviation.

    >>> [_singular(word) for word in ("months", "countries", "boxes", "ms", "kg", "glass", "feet")]
    ['month', 'country', 'box', 'ms', 'kg', 'glass', 'foot']
    """
    start, space, word = plural.rpartition(" ")
    if word in _SINGULAR:
        return f"{start}{space}{_SINGULAR[word]}"
    if len(word) < 4 or not word.isalpha() or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return plural
    if word.endswith("ies"):
        return f"{start}{space}{word[:-3]}y"
    ending = 2 if word.endswith(("xes", "ches", "shes", "sses")) else 1
    return f"{start}{space}{word[:-ending]}"


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
        return [f"{_now(result, words)}, as wanted ({escaped(one_line(result.target))}). Nothing needs to change."]
    if result.status == "error":
        return [escaped(f"This row could not be explained: {one_line(result.error or 'no reason was given.')}")]
    if result.diagnosis is not None:
        return [escaped(one_line(result.diagnosis.text(result)))]
    return [] if result.notes else ["There are no counterfactuals here, and no reason was recorded."]


def counterfactual_sentences(result: Counterfactuals, i: int, words: Words) -> list[str]:
    """What would have to be different and to what effect, and how plausible that is."""
    return [
        f"{_condition(result, i, words)}, {_effect(result, i, words)}.",
        typicality_sentence(float(result.typicality[i]), words),
        *(["Such a row is in the data."] if result.is_real_row[i] else []),
    ]


def situation(result: Counterfactuals, words: Words) -> list[str]:
    """What is predicted for x, and what is wanted."""
    if result.status in ("already", "error"):
        return []
    said = [f"{_now(result, words)}."] if result.score_names else []
    return [*said, f"Wanted is: {words.style.escape(one_line(result.target))}."]


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
    """The new value of a cell, instead of the old one."""
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


def _level(words: Words, column: Column, text: str) -> str:
    unit = words.unit(column.name, text)
    return words.written(text) + (f" {words.style.escape(unit)}" if unit else "")


def value_texts(column: Column, values: Sequence[float]) -> list[str]:
    """Cells of one column as text, with thousands separators and no decimals that say nothing.

    >>> value_texts(Column("income", Kind.REAL, decimals=2), [41200.0, 36000.0])
    ['41,200', '36,000']
    >>> value_texts(Column("income", Kind.REAL, decimals=2), [41200.5, 36000.0])
    ['41,200.50', '36,000.00']
    """
    texts = cell_texts(column, values)
    if column.kind is Kind.BOOLEAN:
        return [text.lower() if text in ("True", "False") else text for text in texts]
    if not column.is_number or _is_calendar(column, values):
        return texts
    return number_texts(texts)


def number_texts(texts: Sequence[str]) -> list[str]:
    """Numbers that are written already, with thousands separators; decimals that are all zero are left out."""
    found = [_PLAIN_NUMBER.fullmatch(text) for text in texts]
    whole = all(not match or not (match[3] or "").strip(".0") for match in found)
    return [
        f"{match[1]}{int(match[2]):,}{'' if whole else match[3] or ''}" if match else text
        for match, text in zip(found, texts, strict=True)
    ]


def _is_calendar(column: Column, values: Sequence[float]) -> bool:
    """Whether these are years such as 1998, which have no separator."""
    words = re.split(r"[\W_]+", name_text(column.name).lower())
    known = [value for value in values if not math.isnan(value)]
    return "year" in words and all(value == round(value) and 1000 <= value < 3000 for value in known)


# What the prediction would have been


def _effect(result: Counterfactuals, i: int, words: Words) -> str:
    before, after = result.x_scores, result.scores[i]
    if not result.score_names:
        return "the target would have been reached"
    if result.score_names == _REGRESSION:
        new, old = outcome_texts([float(after[0]), float(before[0])])
        return f"{_noun(result, words)} would have been {words.instead(words.outcome or 'prediction', new, old)}"
    wanted = _wanted_score(result)
    if wanted is not None:
        name, column, is_mirrored = wanted
        pair = [1 - score if is_mirrored else score for score in (float(after[column]), float(before[column]))]
        numbers = " instead of ".join(score_texts(pair))
        changed = result.labels[i] != result.x_label
        label = f" (prediction {words.strong(result.labels[i])} instead of {words.strong(result.x_label)})"
        kind, _, inner = name.partition("(")
        noun = "probability" if kind == "P" else "score"
        return f"the {noun} of {words.strong(inner[:-1])} would have been {numbers}{label if changed else ''}"
    label = words.strong(result.labels[i])
    several = f" instead of {words.strong(result.x_label)}" if len(result.score_names) > 1 else ""
    scores = [_score_of(result, result.labels[i], values) for values in (after, before)]
    pair = [score for score in scores if score is not None]
    kind = "" if _are_probabilities(result) else "score "
    numbers = f" ({kind}{' instead of '.join(score_texts(pair))})" if len(pair) == 2 else ""
    return f"{_noun(result, words)} would have been {label}{several}{numbers}"


def _now(result: Counterfactuals, words: Words) -> str:
    """What is predicted for x, as the beginning of a sentence."""
    noun = _noun(result, words)
    noun = noun[0].upper() + noun[1:]
    if result.score_names == _REGRESSION:
        (text,) = outcome_texts([float(result.x_scores[0])])
        return f"{noun} is {words.amount(words.outcome or 'prediction', text)}"
    if not result.score_names:
        return "The row has the outcome"
    score = _score_of(result, result.x_label, result.x_scores)
    kind = "" if _are_probabilities(result) else "score "
    number = "" if score is None else f" ({kind}{score_texts([score])[0]})"
    return f"{noun} is {words.strong(result.x_label)}{number}"


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


def _wanted_score(result: Counterfactuals) -> tuple[str, int, bool] | None:
    """If a range of scores is wanted: its name, its column, and whether it is one minus that column."""
    if result.target.startswith("class "):
        return None
    named = [i for i, name in enumerate(result.score_names) if result.target.startswith(f"{name} ")]
    if named:
        longest = max(named, key=lambda i: len(result.score_names[i]))
        return result.score_names[longest], longest, False
    mirrored = re.match(r"(P\(.*\)) (?:at least|at most|from) [^()]*$", result.target, re.DOTALL)
    if mirrored and len(result.score_names) == 1 and _are_probabilities(result):
        return mirrored[1], 0, True
    return None


def score_texts(scores: Sequence[float]) -> list[str]:
    """Scores with two decimals, and with more where it takes them to tell scores apart, or to tell one from ½.

    >>> score_texts([0.71, 0.38]), score_texts([0.504, 0.38]), score_texts([0.7141, 0.7139]), score_texts([0.9999])
    (['0.71', '0.38'], ['0.504', '0.380'], ['0.7141', '0.7139'], ['0.9999'])
    """
    if not all(abs(score) < 100 for score in scores):
        return number_texts([score_text(score) for score in scores])
    for digits in range(2, 17):
        texts = [f"{score:.{digits}f}" for score in scores]
        hides = any(float(text) in _MARKS and float(text) != score for text, score in zip(texts, scores, strict=True))
        if len(set(texts)) == len(set(scores)) and (digits >= _ENOUGH or not hides):
            return texts
    return [repr(score) for score in scores]


def outcome_texts(values: Sequence[float]) -> list[str]:
    """Predictions of a regression: four digits, and as many more as it takes to tell them apart.

    >>> outcome_texts([0.25, 0.5]), outcome_texts([1234.56]), outcome_texts([0.123456, 0.123457])
    (['0.25', '0.50'], ['1,235'], ['0.123456', '0.123457'])
    """
    texts = value_texts(Column("", Kind.REAL), values)
    while all("." in text and text.endswith("0") for text in texts):
        texts = [text[:-1] for text in texts]
    return texts


# How plausible it is


def typicality_sentence(share: float, words: Words) -> str:
    """How many real rows are less typical; a warning where hardly any is.

    >>> said = words_of([], None, "applicants", None, TEXT)
    >>> typicality_sentence(0.62, said)
    '62 % of real applicants are less typical than this.'
    >>> typicality_sentence(0.02, said)
    'This is unusual: only 2 % of real applicants are less typical.'
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
    if share < RARE:
        return f"This is unusual: {text if share < 0.01 else f'only {text}'} of real {many} are less typical."
    return f"{text[0].upper()}{text[1:]} of real {many} are less typical than this."
