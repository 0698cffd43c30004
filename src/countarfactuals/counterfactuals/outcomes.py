"""The wanted outcome: whose score is shown, and the target as text.

1. The score that is shown is that of the wanted class. A model of two classes has one probability: that of the other
   class is one minus it.
2. Numbers in the text of a target are spelt as in sentences, those of a regression with the outcome's unit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from countarfactuals import prediction
from countarfactuals.language import tr
from countarfactuals.language.spelling import either, number_texts, one_line, outcome_texts, range_text
from countarfactuals.language.vocabulary import Words
from countarfactuals.prediction import Score, Target, end_texts
from countarfactuals.prediction.relative import Change, Step, amount_of, changed_range, ends_of, is_share
from countarfactuals.prediction.scores import PREDICTION, PROBABILITY

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals

_MOST_SCORES = 3


def is_range(result: Counterfactuals) -> bool:
    """Whether a range of scores is wanted, and no class."""
    target = result.target
    return target is not None and target.is_range


def is_regression(result: Counterfactuals) -> bool:
    """Whether the model predicts a number."""
    return [score.kind for score in result.score_columns] == [PREDICTION]


def is_observed(result: Counterfactuals) -> bool:
    """Whether the outcome itself is explained, and no model's prediction of it."""
    settings = result.provenance.get("settings")
    return isinstance(settings, Mapping) and settings.get("outcome") == "observed"


def outcome_head(result: Counterfactuals) -> str:
    """What the column of outcomes is called in tables."""
    return tr("expected outcome") if is_observed(result) else tr("prediction")


def score_name(score: Score) -> str:
    """What a score is called, in one line."""
    if score.kind == PROBABILITY:
        return one_line(score.name)
    return tr(PREDICTION) if score.kind == PREDICTION else tr("score({label})", label=one_line(score.label))


def wanted_score(result: Counterfactuals) -> Score | None:
    """The score that the target is about; None where there is no such."""
    return prediction.wanted_score(result.target, result.score_columns)


def shown_scores(result: Counterfactuals) -> list[Score]:
    """The scores that tables have: of two classes the wanted one's, of three all, of more the wanted one's if known."""
    own = list(result.score_columns)
    if 1 < len(own) <= _MOST_SCORES:
        return own
    wanted = wanted_score(result)
    return [wanted] if wanted is not None else own[:1] if len(own) == 1 else []


def target_text(result: Counterfactuals, words: Words | None = None) -> str:
    """The target of a result in one line of plain text: `price at least €300,000`; what a change comes to is told."""
    target, text = result.target, text_of_target(result.target, result.score_columns, words)
    score = wanted_score(result)
    if target is None or target.change is None or score is None:
        return text
    wanted = changed_range(target.change, float(score.of(result.x_scores)))
    ends = _amounts(_short_ends(wanted), score, words)
    return one_line(tr("{target} ({range})", target=text, range=range_text(*ends)))


def text_of_target(target: Target | None, columns: Sequence[Score], words: Words | None = None) -> str:
    """A target for a model with these scores, in one line of plain text."""
    if target is None:
        return ""
    if not target.is_range:
        return one_line(_classes_text(target))
    score = prediction.wanted_score(target, columns)
    name = one_line(target.outcome) if score is None else score_name(score)
    if score is not None and score.kind == PREDICTION and words is not None:
        name = words.outcome or name
    if target.change is not None:
        return one_line(f"{name} {_change_text(target.change, score, words)}")
    wanted = target.probability or target.range
    assert wanted is not None
    return one_line(f"{name} {range_text(*_amounts(end_texts(wanted), score, words))}")


def _classes_text(target: Target) -> str:
    labels = either(list(map(repr, target.classes)))
    return tr("any class but {labels}", labels=labels) if target.none_of else tr("class {label}", label=labels)


def _amounts(ends: Sequence[str | None], score: Score | None, words: Words | None) -> list[str | None]:
    """Ends of a range as sentences spell them, with the outcome's unit where it is a number."""
    numbers = iter(number_texts([end for end in ends if end is not None]))
    texts = [None if end is None else next(numbers) for end in ends]
    if score is None or score.kind != PREDICTION or words is None:
        return texts
    return [text and words.plain.amount(words.outcome or PREDICTION, text) for text in texts]


def _short_ends(wanted: tuple[float, float]) -> list[str | None]:
    """The ends of a range that was computed, with few digits; None for an open one."""
    finite = [end for end in wanted if not math.isinf(end)]
    texts = iter(outcome_texts(finite))
    return [None if math.isinf(end) else next(texts).replace(",", "") for end in wanted]


def _change_text(change: Change, score: Score | None, words: Words | None) -> str:
    """How far a score shall go from where it is: `at least 10 % less`."""
    low, high = ends_of(change)
    ends = [end for end in (low, high) if end is not None]
    is_less = all(amount_of(end) < 0 for end in ends)
    if not is_less and any(amount_of(end) < 0 for end in ends):
        least, most = (_step_text(end, score, words, signed=True) for end in ends)
        return tr("changed by {low} to {high}", low=least, high=most)
    # of losses the larger is the lower end
    nearer, farther = (high, low) if is_less else (low, high)
    texts = [None if end is None else _step_text(end, score, words) for end in (nearer, farther)]
    return tr("{range} less" if is_less else "{range} more", range=range_text(*texts))


def _step_text(step: Step, score: Score | None, words: Words | None, signed: bool = False) -> str:
    amount = amount_of(step)
    sign = "" if not signed else "−" if amount < 0 else "+"
    if is_share(step):
        return f"{sign}{abs(amount):.12g} %"
    (text,) = _amounts([f"{abs(amount):.12g}"], score, words)
    return f"{sign}{text}"
