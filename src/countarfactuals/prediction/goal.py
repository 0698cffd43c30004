"""`Goal`: a target for one model, and how a target becomes one (`resolve`).

| target | goal |
|---|---|
| class of a binary model | score above (`classes[1]`) or up to (`classes[0]`) the threshold |
| class of several | its score is the first largest |
| `any_of`, `none_of` | the first largest score is that of one of these classes, or of none of them |
| class and `probability` | its probability is in the range; that of a binary `classes[0]` is one minus the score |
| `above`, `below`, `between` | the score is in the range; of several classes that of the class named along |
| `change` | the same range, counted from the row's own score |
| `function` | what it makes of the row's own score: a range, a class or a target |
| None | another class than the predicted one |

A goal's distance of scores is 0 where it is reached and positive elsewhere: how far the score is from the interval
and, if a class must win, how far the best other class is ahead, whichever is more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.exceptions import Setting, TargetError, did_you_mean, listed
from countarfactuals.language.spelling import range_text
from countarfactuals.prediction.models import BINARY, MULTICLASS, REGRESSION
from countarfactuals.prediction.predictor import Predictor
from countarfactuals.prediction.relative import changed_range
from countarfactuals.prediction.scores import score_of_class
from countarfactuals.prediction.target import Range, Target, end_texts

_DIGITS = 15  # that survive a subtraction from 1


@dataclass(frozen=True)
class Goal:
    """A target for one model: where a score must lie, or which scores may be the largest.

    Parameters
    ----------
    target : what the user said.
    column : of the scores; where several classes are wanted, of the one that the row is nearest to.
    low, high : ends of the interval of that score, both included.
    wins : whether the score must also be the first largest.
    winners : the columns of which one must be the first largest, ascending; `column` alone if there are none.
    """

    target: Target
    column: int
    low: float
    high: float
    wins: bool = False
    winners: tuple[int, ...] = ()

    def distance(self, scores: np.ndarray) -> np.ndarray:
        """How far each row of scores is from the goal: 0 where it is reached, positive elsewhere; shape (n,)."""
        if self.winners:
            return self._behind(scores)
        score = scores[:, self.column]
        outside = np.maximum(np.maximum(self.low - score, score - self.high), 0.0)
        return np.maximum(outside, self._behind(scores)) if self.wins else outside

    @property
    def _wanted(self) -> list[int]:
        return list(self.winners or (self.column,))

    def _lead(self, scores: np.ndarray) -> np.ndarray:
        """By how much the best wanted class is ahead of all others; negative where it is behind."""
        others = np.delete(scores, self._wanted, axis=1).max(axis=1, initial=-np.inf)
        lead: np.ndarray = scores[:, self._wanted].max(axis=1) - others
        return lead

    def _behind(self, scores: np.ndarray) -> np.ndarray:
        behind = np.maximum(-self._lead(scores), 0.0)
        # of equal scores the first wins
        lost = (behind == 0.0) & ~np.isin(scores.argmax(axis=1), self._wanted)
        return np.where(lost, np.spacing(np.abs(scores[:, self._wanted].max(axis=1))), behind)

    def score(self, scores: np.ndarray) -> np.ndarray:
        """What the goal is about, (n,): one score, or by how much the best of several classes is ahead."""
        return self._lead(scores) if self.winners else scores[:, self.column]

    def open_interval(self, predictor: Predictor) -> tuple[float, float]:
        """`low` and `high`, infinite where a probability can not lie beyond them."""
        low = -math.inf if predictor.is_probability and self.low <= 0.0 else self.low
        high = math.inf if predictor.is_probability and self.high >= 1.0 else self.high
        return low, high

    def reached(self, scores: np.ndarray) -> np.ndarray:
        """Whether each row of scores has the outcome; shape (n,)."""
        return self.distance(scores) == 0

    def key(self) -> str:
        """Text that is the same for equal goals, in every process and version of Python."""
        columns = "|".join(map(str, self._wanted))
        return f"{columns} {float(self.low).hex()} {float(self.high).hex()} {int(self.wins)}"


def resolve(target: Any, predictor: Predictor, x_scores: np.ndarray) -> Goal:
    """The goal of a target for a model.

    Parameters
    ----------
    target : a Target, a class, for a regression (low, high), or None for another class than the predicted one.
    predictor : the model.
    x_scores : scores of the row to be explained, shape (s,) or (1, s).
    """
    own = np.reshape(x_scores, (-1, predictor.n_scores))
    if target is None:
        target = _other_class(predictor, own)
    elif not isinstance(target, Target):
        target = Target(target)
    if target.function is not None:
        target = _given(target, predictor, own)
    if predictor.task == REGRESSION:
        return _of_regression(target, own)
    return _of_classes(target, predictor, own) if target.any_of or target.none_of else _of_class(target, predictor, own)


def _other_class(predictor: Predictor, own: np.ndarray) -> Target:
    if predictor.task == REGRESSION:
        raise TargetError(
            "The model is a regression, so a target is needed: a range, such as (low, high), Target(above=…), "
            f"Target(below=…) or Target(change='-10%').{_may_be_of_classes(own)}"
        )
    return Target(none_of=[predictor.labels(own[:1])[0]])


def _may_be_of_classes(own: np.ndarray) -> str:
    """A hint for scores that look like a probability."""
    if np.min(own) < 0.0 or np.max(own) > 1.0:
        return ""
    return " If its score is the probability of a class, name both classes when the explainer is made: classes=(…, …)."


# Relative to the row


def _given(target: Target, predictor: Predictor, own: np.ndarray) -> Target:
    """What the function of a target makes of the row's own score, or of its class where no score is named."""
    assert target.function is not None
    known = predictor.task != MULTICLASS or target.outcome is not None
    subject = _own_score(target, predictor, own) if known else predictor.labels(own[:1])[0]
    try:
        wanted = target.function(subject)
    except Exception as error:
        raise TargetError(
            f"The function of the target failed on {subject!r} with {type(error).__name__}: {error}. It gets the "
            "row's own score and returns (low, high), a class or a Target."
        ) from error
    return _as_target(wanted, target.outcome)


def _as_target(wanted: Any, outcome: Any) -> Target:
    if isinstance(wanted, Target) and wanted.function is None:
        return wanted
    if isinstance(wanted, tuple | list) and len(wanted) == 2 and list(wanted) != [None, None]:
        return Target(outcome, above=wanted[0], below=wanted[1])
    if wanted is None or isinstance(wanted, Target) or outcome is not None:
        raise TargetError(
            f"The function of the target returned {wanted!r}. Allowed are (low, high), with None for an open end, a "
            "Target without a function and, where the target names no class, a class."
        )
    return Target(wanted)


def _own_score(target: Target, predictor: Predictor, own: np.ndarray) -> float:
    """The row's own score that a target is about."""
    if predictor.task == REGRESSION:
        return float(own[0, 0])
    label = predictor.classes[_position(target, predictor)]
    score = score_of_class(label, predictor.score_columns)
    if score is None:
        raise _no_score_of(label, predictor)
    return float(score.of(own[0]))


def _wanted_range(target: Target, predictor: Predictor, own: np.ndarray) -> Range | None:
    """The range of the score, where the target has one."""
    if target.change is None:
        return target.probability or target.range
    return changed_range(target.change, _own_score(target, predictor, own))


def _of_regression(target: Target, own: np.ndarray) -> Goal:
    if target.probability is not None:
        raise TargetError("The model is a regression and has no probabilities. Say above=, below= or between=.")
    if isinstance(target.outcome, tuple) and not target.is_range:
        target = Target(between=target.outcome)
    if target.outcome is not None or not target.is_range:
        raise TargetError(
            f"The model is a regression and has no class {listed(target.classes)}. Give a range: (low, high), "
            f"Target(above=…), Target(below=…) or Target(change='-10%').{_may_be_of_classes(own)}"
        )
    wanted = target.range if target.change is None else changed_range(target.change, float(own[0, 0]))
    assert wanted is not None
    return Goal(target, 0, *wanted)


# Classes


def _of_classes(target: Target, predictor: Predictor, own: np.ndarray) -> Goal:
    named = {_position_of(label, predictor) for label in target.classes}
    wanted = [k for k in range(len(predictor.classes)) if (k in named) == bool(target.any_of)]
    if not wanted:
        raise TargetError(
            f"The target excludes every class of the model: {listed(predictor.classes)}. Leave one that may be reached."
        )
    if len(wanted) == len(predictor.classes):
        raise TargetError(
            f"The target takes every class of the model, {listed(predictor.classes)}, so that all rows have it. Leave "
            "out those that are not wanted."
        )
    if len(wanted) == 1:
        return _of_class(Target(predictor.classes[wanted[0]]), predictor, own)
    nearest = wanted[int(own[0, wanted].argmax())] if len(own) else wanted[0]
    return Goal(target, nearest, *_predicted(predictor, nearest), wins=True, winners=tuple(wanted))


def _of_class(target: Target, predictor: Predictor, own: np.ndarray) -> Goal:
    position = _position(target, predictor)
    label = predictor.classes[position]
    column = position if predictor.task == MULTICLASS else 0
    mirrored = predictor.task == BINARY and position == 0
    if target.probability is not None and not predictor.is_probability:
        raise TargetError(
            "The scores of the model ({model}) are no probabilities, so {parameter} has no meaning. Say above=, below= "
            "or between= for the score, or the class alone.",
            model=predictor.model_name,
            parameter=Setting("probability"),
        )
    wanted = _wanted_range(target, predictor, own)
    if wanted is None:
        low, high = _predicted(predictor, position)
        return Goal(target, column, low, high, wins=predictor.task == MULTICLASS)
    low, high = _reachable(wanted, label, target.change is not None) if predictor.is_probability else wanted
    if mirrored and not predictor.is_probability:
        raise _no_score_of(label, predictor)
    if mirrored:
        low, high = _mirrored(low, high)
    return Goal(target, column, low, high)


def _no_score_of(label: Any, predictor: Predictor) -> TargetError:
    return TargetError(
        f"The model has one score, that of class {predictor.classes[1]!r}, and none of {label!r}. Give the range for "
        "that class, or without a class."
    )


def _mirrored(low: float, high: float) -> Range:
    """The scores s of the other class with low ≤ 1 − s ≤ high; 0.9 gives 0.1, where 1 − 0.9 falls short of it."""
    first, last = round(1.0 - high, _DIGITS), round(1.0 - low, _DIGITS)
    return first if 1.0 - first <= high else 1.0 - high, last if 1.0 - last >= low else 1.0 - low


def _position(target: Target, predictor: Predictor) -> int:
    """Position of the target's class; without one, that of the class whose score a binary model has."""
    if target.outcome is not None:
        return _position_of(target.outcome, predictor)
    if predictor.task == BINARY:
        return 1
    classes = predictor.classes
    raise TargetError(
        f"The model has {len(classes)} scores. Say which class the range is for: one of {listed(classes)}, as in "
        f"Target({classes[0]!r}, above=…)."
    )


def _position_of(outcome: Any, predictor: Predictor) -> int:
    classes: Sequence[Any] = predictor.classes
    if outcome is not pd.NA and outcome in classes:  # which is neither equal nor unequal to anything
        return classes.index(outcome)
    alike = [label for label in classes if str(label) == str(outcome)]
    hint = f" Did you mean {alike[0]!r} ({type(alike[0]).__name__})?" if alike else did_you_mean(outcome, classes)
    advice = " For a range of the score say Target(between=…)." if isinstance(outcome, tuple) else ""
    raise TargetError(f"The model has no class {outcome!r}; its classes: {listed(classes)}.{hint}{advice}")


def _predicted(predictor: Predictor, position: int) -> Range:
    """The interval in which the score of a predicted class lies."""
    lowest, highest = (0.0, 1.0) if predictor.is_probability else (-math.inf, math.inf)
    if predictor.task == MULTICLASS:
        return lowest, highest
    if position == 1:
        return float(np.nextafter(predictor.threshold, np.inf)), highest
    return lowest, predictor.threshold


def _reachable(wanted: Range, label: Any, is_change: bool) -> Range:
    low, high = max(wanted[0], 0.0), min(wanted[1], 1.0)
    if low > high:
        advice = "Ask for a smaller change." if is_change else "Give a range within 0 and 1; 70 % is 0.7."
        raise TargetError(f"P({label}) runs from 0 to 1 and is never {range_text(*end_texts(wanted))}. {advice}")
    return low, high
