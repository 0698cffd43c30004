"""`Target`: the outcome that a user wants.

What it means for one model is its `Goal`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from numbers import Real
from typing import Any

import numpy as np

from countarfactuals.exceptions import Setting, TargetError, listed
from countarfactuals.parameters import as_float
from countarfactuals.prediction.models import as_label
from countarfactuals.prediction.relative import Change, plain_change

Range = tuple[float, float]
_CLASSES = ("outcome", "any_of", "none_of")


@dataclass(frozen=True, repr=False)
class Target:
    """The wanted outcome. All ends are included.

    Parameters
    ----------
    outcome : a class; on its own it means that this class is predicted.
    probability : range of the probability of that class.
    above, below : limits of the score: that of the second class, of the class named, or the prediction of a regression.
    between : both limits.
    any_of : classes of which one shall be predicted.
    none_of : a class, or several, of which none shall be predicted.
    change : by how much the score shall change, relative to the row's own: 5 is at least 5 more, "-10%" at least 10 %
        less, (low, high) between both, None for an open end.
    function : of the row's own score, returns (low, high), None for an open end, or a Target. With more than two
        classes and none named it gets the predicted class. It is not stored: a result's target is what it gave.

    >>> Target("good", probability=(0.7, 1)), Target(any_of=["good", "fair"]), Target(change="-10%")
    (Target('good', probability=(0.7, 1.0)), Target(any_of=('good', 'fair')), Target(change='-10%'))
    """

    outcome: Any = None
    _: KW_ONLY
    probability: Range | None = None
    above: float | None = None
    below: float | None = None
    between: Range | None = None
    any_of: Any = None
    none_of: Any = None
    change: Change | None = None
    function: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        plain = {
            "outcome": _plain_outcome(self.outcome),
            "probability": _pair("probability", self.probability),
            "above": _number("above", self.above),
            "below": _number("below", self.below),
            "between": _pair("between", self.between),
            "any_of": _plain_classes("any_of", self.any_of),
            "none_of": _plain_classes("none_of", self.none_of),
            "change": plain_change(self.change),
            "function": _callable(self.function),
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)
        self._check([name for name, value in plain.items() if value is not None])

    def _check(self, given: list[str]) -> None:
        """Refuse what contradicts itself."""
        if not given:
            raise TargetError(
                "The target says nothing. Name a class, as in Target('good'), or a range: above=, below= or between=. "
                "Pass target=None for another class than the predicted one."
            )
        ranges = [name for name in given if name not in _CLASSES]
        classes = [name for name in given if name in _CLASSES]
        if len(ranges) > 1 and ranges != ["above", "below"]:
            raise TargetError(f"The target has more than one range: {listed(ranges)}. Say one of them.")
        if len(classes) > 1:
            raise TargetError(f"The target names classes in more than one way: {listed(classes)}. Say one of them.")
        if ranges and classes in (["any_of"], ["none_of"]):
            raise TargetError(f"A range is for the score of one class, got {listed(ranges)} beside {listed(classes)}.")
        if self.probability and self.outcome is None:
            raise TargetError(
                "{parameter} needs a class, as in Target('good', probability=(0.7, 1)).",
                parameter=Setting("probability"),
            )
        if self.above is not None and self.below is not None and self.above > self.below:
            raise TargetError(f"No score is above {self.above:g} and below {self.below:g}. Swap the two.")

    def __repr__(self) -> str:
        own = [] if self.outcome is None else [repr(self.outcome)]
        own += [f"{name}={value!r}" for name, value in self._said().items() if name != "outcome"]
        return f"Target({', '.join(own)})"

    def _said(self) -> dict[str, Any]:
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in every.items() if value is not None}

    @property
    def range(self) -> Range | None:
        """The range of the score by `above`, `below` and `between`; infinite where it is open."""
        if self.between is not None:
            return self.between
        if self.above is None and self.below is None:
            return None
        return (-math.inf if self.above is None else self.above, math.inf if self.below is None else self.below)

    @property
    def is_range(self) -> bool:
        """Whether a range of a score is wanted, and not that a class is predicted."""
        return self.probability is not None or self.range is not None or self.change is not None

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes that it names."""
        return self.any_of or self.none_of or (() if self.outcome is None else (self.outcome,))

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        if self.function is not None:
            raise TargetError(
                "The target has a function, which can not be stored. Store a result: its target is what that gave."
            )
        stored = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "function"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in stored.items()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Target:
        """The inverse of `to_dict`."""
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
        }
        return cls(**given)


def end_texts(wanted: Range) -> tuple[str | None, str | None]:
    """The ends of a range as text, None for an open one."""
    low, high = (None if math.isinf(end) else f"{end:.12g}" for end in wanted)
    return low, high


def _plain_outcome(outcome: Any) -> Any:
    try:
        hash(outcome)
    except TypeError:
        raise TargetError(
            f"The outcome of a target is one class, got {outcome!r} of type {type(outcome).__name__}. Name one class; "
            "for one of several say any_of=[…], for a range of scores between=(low, high)."
        ) from None
    if isinstance(outcome, Target):
        raise TargetError("The outcome of a target is a class, got a Target. Pass it on its own.")
    plain = as_label(outcome)
    if isinstance(plain, float) and math.isnan(plain):
        raise TargetError("The outcome of a target is NaN. Name a class.")
    return plain


def _plain_classes(name: str, classes: Any) -> tuple[Any, ...] | None:
    """Classes, each once; one alone may stand without a list."""
    if classes is None:
        return None
    if isinstance(classes, set | frozenset):
        classes = sorted(classes, key=repr)  # in an order that does not depend on the process
    several = isinstance(classes, list | tuple | np.ndarray)
    labels = tuple(dict.fromkeys(_plain_outcome(label) for label in (classes if several else [classes])))
    if not labels or None in labels:
        raise TargetError(
            "{parameter} needs classes, got {got!r}. Name at least one of the model's.",
            parameter=Setting(name),
            got=classes,
        )
    return labels


def _callable(function: Any) -> Callable[[Any], Any] | None:
    if function is not None and not callable(function):
        raise TargetError(
            "{parameter} takes the row's own score and returns (low, high), got {got!r}. Pass a function.",
            parameter=Setting("function"),
            got=function,
        )
    return function


def _number(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not math.isfinite(as_float(value)):
        raise _unusable_range(name, value, "a finite number")
    return float(value)


def _pair(name: str, value: Any) -> Range | None:
    if value is None:
        return None
    if not isinstance(value, tuple | list) or len(value) != 2 or any(end is None for end in value):
        raise _unusable_range(name, value, "(low, high)")
    low, high = (_number(name, end) for end in value)
    assert low is not None
    assert high is not None
    if low > high:
        raise TargetError(
            "{parameter} is empty, as its low end {low:g} is above its high end {high:g}. Swap the two.",
            parameter=Setting(name),
            low=low,
            high=high,
        )
    return low, high


def _unusable_range(name: str, value: Any, allowed: str) -> TargetError:
    return TargetError(
        "{parameter} needs {allowed}, got {got!r}. For a range open to one side use above= or below= alone.",
        parameter=Setting(name),
        got=value,
        allowed=allowed,
    )
