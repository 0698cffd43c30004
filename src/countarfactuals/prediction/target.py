"""`Target`, the outcome that a user wants, and `Goal`, the same for one model: an interval of one score.

| target | goal |
|---|---|
| class of a binary model | score above (`classes[1]`) or up to (`classes[0]`) the threshold |
| class of several | its score is the first largest |
| class and `probability` | its probability is in the range; that of a binary `classes[0]` is one minus the score |
| `above`, `below`, `between` | the score is in the range; of several classes that of the class named along |
| None | of a binary model the class that is not predicted |

A goal's distance of scores is 0 where it is reached and positive elsewhere: how far the score is from the interval
and, if the class must win, how far the best other class is ahead, whichever is more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, asdict, dataclass
from numbers import Real
from typing import Any

import numpy as np

from countarfactuals.exceptions import TargetError, did_you_mean, listed
from countarfactuals.prediction.models import BINARY, MULTICLASS, REGRESSION, as_label
from countarfactuals.prediction.predictor import Predictor

Range = tuple[float, float]
_DIGITS = 15  # that survive a subtraction from 1


@dataclass(frozen=True)
class Target:
    """The wanted outcome. All ends are included.

    Parameters
    ----------
    outcome : a class; on its own it means that this class is predicted.
    probability : range of the probability of that class.
    above, below : limits of the score: that of the second class, of the class named, or the prediction of a regression.
    between : both limits.

    >>> Target("good", probability=(0.7, 1))
    Target(outcome='good', probability=(0.7, 1.0), above=None, below=None, between=None)
    """

    outcome: Any = None
    _: KW_ONLY
    probability: Range | None = None
    above: float | None = None
    below: float | None = None
    between: Range | None = None

    def __post_init__(self) -> None:
        plain = {
            "outcome": _plain_outcome(self.outcome),
            "probability": _pair("probability", self.probability),
            "above": _number("above", self.above),
            "below": _number("below", self.below),
            "between": _pair("between", self.between),
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)
        said = [name for name, value in plain.items() if value is not None]
        if not said:
            raise TargetError(
                "The target says nothing. Name a class, as in Target('good'), or a range: above=, below= or between=. "
                "Pass target=None for the other class of a binary model."
            )
        ranges = [name for name in said if name != "outcome"]
        if len(ranges) > 1 and ranges != ["above", "below"]:
            raise TargetError(f"The target has more than one range: {listed(ranges)}. Say one of them.")
        if self.probability and self.outcome is None:
            raise TargetError("`probability` needs a class, as in Target('good', probability=(0.7, 1)).")
        if self.above is not None and self.below is not None and self.above > self.below:
            raise TargetError(f"No score is above {self.above:g} and below {self.below:g}. Swap the two.")

    @property
    def range(self) -> Range | None:
        """The range of the score by `above`, `below` and `between`; infinite where it is open."""
        if self.between is not None:
            return self.between
        if self.above is None and self.below is None:
            return None
        return (-math.inf if self.above is None else self.above, math.inf if self.below is None else self.below)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Target:
        """The inverse of `to_dict`."""
        said: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
        }
        return cls(**said)


@dataclass(frozen=True)
class Goal:
    """A target for one model: where a score must lie.

    Parameters
    ----------
    target : what the user said.
    text : the same for people.
    column : of the scores.
    low, high : ends of the interval of that score, both included.
    wins : whether the score must also be the first largest.
    """

    target: Target
    text: str
    column: int
    low: float
    high: float
    wins: bool = False

    def distance(self, scores: np.ndarray) -> np.ndarray:
        """How far each row of scores is from the goal: 0 where it is reached, positive elsewhere; shape (n,)."""
        score = scores[:, self.column]
        outside = np.maximum(np.maximum(self.low - score, score - self.high), 0.0)
        return np.maximum(outside, self._lead_of_others(scores)) if self.wins else outside

    def _lead_of_others(self, scores: np.ndarray) -> np.ndarray:
        score = scores[:, self.column]
        earlier = scores[:, : self.column].max(axis=1, initial=-np.inf)
        later = scores[:, self.column + 1 :].max(axis=1, initial=-np.inf)
        lead = np.maximum(np.maximum(earlier, later) - score, 0.0)
        # of equal scores the first wins
        return np.where(earlier == score, np.maximum(lead, np.spacing(np.abs(score))), lead)

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
        return f"{self.column} {float(self.low).hex()} {float(self.high).hex()} {int(self.wins)}"


def resolve(target: Any, predictor: Predictor, x_scores: np.ndarray) -> Goal:
    """The goal of a target for a model.

    Parameters
    ----------
    target : a Target, a class, for a regression (low, high), or None for the other class of a binary model.
    predictor : the model.
    x_scores : scores of the row to be explained, shape (s,) or (1, s).
    """
    if target is None:
        target = _other_class(predictor, x_scores)
    elif not isinstance(target, Target):
        target = Target(target)
    if predictor.task == REGRESSION:
        return _of_regression(target, predictor, x_scores)
    return _of_class(target, predictor)


def _other_class(predictor: Predictor, x_scores: np.ndarray) -> Target:
    if predictor.task == REGRESSION:
        raise TargetError(
            "The model is a regression, so a target is needed: a range, such as (low, high), Target(above=…) or "
            f"Target(below=…).{_may_be_of_classes(x_scores)}"
        )
    if predictor.task == MULTICLASS:
        raise TargetError(
            f"The model has {len(predictor.classes)} classes, so a target is needed: one of "
            f"{listed(predictor.classes)}."
        )
    predicted = predictor.labels(np.reshape(x_scores, (1, -1)))[0]
    return Target(predictor.classes[0] if predicted == predictor.classes[1] else predictor.classes[1])


def _may_be_of_classes(x_scores: np.ndarray) -> str:
    """A hint for scores that look like a probability."""
    if np.min(x_scores) < 0.0 or np.max(x_scores) > 1.0:
        return ""
    return " If its score is the probability of a class, name both classes when the explainer is made: classes=(…, …)."


def _of_regression(target: Target, predictor: Predictor, x_scores: np.ndarray) -> Goal:
    if target.probability is not None:
        raise TargetError("The model is a regression and has no probabilities. Say above=, below= or between=.")
    if isinstance(target.outcome, tuple) and target.range is None:
        target = Target(between=target.outcome)
    if target.outcome is not None or target.range is None:
        raise TargetError(
            f"The model is a regression and has no class {target.outcome!r}. Give a range: (low, high), "
            f"Target(above=…) or Target(below=…).{_may_be_of_classes(x_scores)}"
        )
    name = predictor.score_names[0]
    return Goal(target, f"{name} {_range_text(target.range)}", 0, *target.range)


def _of_class(target: Target, predictor: Predictor) -> Goal:
    position = _position(target, predictor)
    column = position if predictor.task == MULTICLASS else 0
    mirrored = predictor.task == BINARY and position == 0
    if target.probability is not None and not predictor.is_probability:
        raise TargetError(
            f"The scores of the model ({predictor.model_name}) are no probabilities, so `probability` has no meaning. "
            "Say above=, below= or between= for the score, or the class alone."
        )
    wanted = target.probability or target.range
    if wanted is None:
        text = f"class {predictor.classes[position]!r}"
        low, high = _predicted(predictor, position)
        return Goal(target, text, column, low, high, wins=predictor.task == MULTICLASS)
    name = predictor.score_name(predictor.classes[position])
    low, high = _reachable(wanted, name) if predictor.is_probability else wanted
    if mirrored and not predictor.is_probability:
        raise TargetError(
            f"The model has one score, that of class {predictor.classes[1]!r}, and none of {target.outcome!r}. Give "
            "the range for that class, or without a class."
        )
    text = f"{name} {_range_text(wanted)}"
    if mirrored:
        low, high = _mirrored(low, high)
    return Goal(target, text, column, low, high)


def _mirrored(low: float, high: float) -> Range:
    """The scores s of the other class with low ≤ 1 − s ≤ high; 0.9 gives 0.1, where 1 − 0.9 falls short of it."""
    first, last = round(1.0 - high, _DIGITS), round(1.0 - low, _DIGITS)
    return first if 1.0 - first <= high else 1.0 - high, last if 1.0 - last >= low else 1.0 - low


def _position(target: Target, predictor: Predictor) -> int:
    """Position of the target's class; without one, that of the class whose score a binary model has."""
    outcome, classes = target.outcome, predictor.classes
    if outcome is None and predictor.task == BINARY:
        return 1
    if outcome is None:
        raise TargetError(
            f"The model has {len(classes)} scores. Say which class the range is for: one of {listed(classes)}, as in "
            f"Target({classes[0]!r}, above=…)."
        )
    if outcome in classes:
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


def _reachable(wanted: Range, name: str) -> Range:
    low, high = max(wanted[0], 0.0), min(wanted[1], 1.0)
    if low > high:
        raise TargetError(
            f"{name} runs from 0 to 1 and is never {_range_text(wanted)}. Give a range within 0 and 1; 70 % is 0.7."
        )
    return low, high


def _range_text(wanted: Range) -> str:
    low, high = wanted
    if math.isinf(high):
        return f"at least {low:.12g}"
    if math.isinf(low):
        return f"at most {high:.12g}"
    return f"from {low:.12g} to {high:.12g}"


def _plain_outcome(outcome: Any) -> Any:
    try:
        hash(outcome)
    except TypeError:
        raise TargetError(
            f"The outcome of a target is one class, got {outcome!r} of type {type(outcome).__name__}. Name one class; "
            "for a range of scores say between=(low, high)."
        ) from None
    if isinstance(outcome, Target):
        raise TargetError("The outcome of a target is a class, got a Target. Pass it on its own.")
    plain = as_label(outcome)
    if isinstance(plain, float) and math.isnan(plain):
        raise TargetError("The outcome of a target is NaN. Name a class.")
    return plain


def _number(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not math.isfinite(value):
        raise TargetError(
            f"`{name}` needs a finite number, got {value!r}. For a range open to one side use above= or below= alone."
        )
    return float(value)


def _pair(name: str, value: Any) -> Range | None:
    if value is None:
        return None
    if not isinstance(value, tuple | list) or len(value) != 2 or None in value:
        raise TargetError(
            f"`{name}` needs (low, high), got {value!r}. For a range open to one side use above= or below= alone."
        )
    low, high = (_number(name, end) for end in value)
    assert low is not None
    assert high is not None
    if low > high:
        raise TargetError(f"`{name}` is empty, as its low end {low:g} is above its high end {high:g}. Swap the two.")
    return low, high
