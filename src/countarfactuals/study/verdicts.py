"""Verdicts: who is ahead, and who is level.

1. A verdict compares two numbers, the weakest of one side and the strongest of the other: the *decisive* pair.
2. Where they differ by no more than a tolerance the sides are *level*, and no winner is named.
3. Numbers are told with as many digits as it takes to tell the decisive pair apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from countarfactuals.study.design import method_name

HOLDS, LEVEL, FAILS = "holds", "level", "does not hold"
_MOST_DIGITS = 6


class Scale(NamedTuple):
    """How numbers of a kind are compared and told.

    `relative`, `absolute` : differences up to this share of the larger number, or up to this much, are no difference.
    `is_less_better` : true of seconds.
    `decimals`, `significant` : fewest digits that are told; one of them is None.
    `unit` : what stands after a number.
    """

    relative: float = 0.0
    absolute: float = 0.0
    is_less_better: bool = False
    decimals: int | None = None
    significant: int | None = None
    unit: str = ""


# 0.01 of a log density is 1 % of a density, which is no more than the tolerance of hypervolumes
LOG_DENSITY = Scale(absolute=0.01, decimals=2)
# another seed moves the median plausible hypervolume of ARF by about 1 % on two features, and more on many
HYPERVOLUME = Scale(relative=0.01, significant=3)
# sets of 13 and 14 rows are not to be ranked by half a row, which is a median's step
NUMBER = Scale(relative=0.01, absolute=1.0, significant=4)
# medians of fractions of a second vary by some 20 % from run to run, by whatever else a machine does
SECONDS = Scale(relative=0.2, is_less_better=True, significant=3, unit=" s")
# correlations are told with two decimals
CORRELATION = Scale(absolute=0.01, decimals=2)


def verdict(ours: float, others: float, scale: Scale) -> str:
    """Whether ours is ahead of the others' number.

    >>> verdict(10.70, 10.65, HYPERVOLUME), verdict(0.9, 2.0, SECONDS), verdict(-4.0, -3.0, LOG_DENSITY)
    ('level', 'holds', 'does not hold')
    """
    if math.isnan(ours) or math.isnan(others):
        return FAILS
    if is_level(ours, others, scale):
        return LEVEL
    return HOLDS if (ours < others) == scale.is_less_better else FAILS


def is_level(one: float, other: float, scale: Scale) -> bool:
    """Whether two numbers differ by no more than the tolerance."""
    if one == other:
        return True
    if math.isinf(one) or math.isinf(other):
        return False
    return abs(one - other) <= max(scale.absolute, scale.relative * max(abs(one), abs(other)))


def told(numbers: Mapping[str, float], decisive: Sequence[float], scale: Scale) -> str:
    """Methods with their numbers.

    >>> told({"arf": 10.7157, "moc": 10.7139}, (10.7157, 10.7139), HYPERVOLUME)
    'ARF 10.72, MOC 10.71'
    """
    form = form_for(decisive, scale)
    return ", ".join(f"{method_name(method)} {form.format(number)}{scale.unit}" for method, number in numbers.items())


def form_for(decisive: Sequence[float], scale: Scale) -> str:
    """A format with the fewest digits that tell the decisive numbers apart."""
    fewest = scale.decimals if scale.significant is None else scale.significant
    kind = "f" if scale.significant is None else "g"
    different = len(set(decisive))
    for digits in range(fewest or 0, _MOST_DIGITS + 1):
        form = f"{{:.{digits}{kind}}}"
        if len({form.format(number) for number in decisive}) >= different:
            break
    return form
