"""A change that is wanted: relative to the row's own score, as an amount or in per cent of it.

| `change` | the score shall be |
|---|---|
| 5, -5 | at least 5 more, at least 5 less |
| "+10%", "-10%" | at least 10 % more, at least 10 % less |
| (5, 8), ("-20%", "-10%") | from 5 to 8 more, from 10 % to 20 % less |
| (None, 5), (-5, None) | at most 5 more, at most 5 less |

Per cent are of the size of the own score, so that less is less for a negative one too.
"""

from __future__ import annotations

import math
import re
from numbers import Real
from typing import Any

import numpy as np

from countarfactuals.exceptions import Setting, TargetError
from countarfactuals.parameters import as_float

Step = float | str  # an amount, or a share such as "-10%"
Change = Step | tuple[Step | None, Step | None]
_SHARE = re.compile(r"\s*([-+−]?\s*\d+(?:\.\d*)?|[-+−]?\s*\.\d+)\s*%\s*")


def plain_change(given: Any) -> Change | None:
    """A change as it is stored: numbers as floats, shares as text with a sign; a pair with one open end as one step.

    >>> plain_change(5), plain_change("10 %"), plain_change((None, -5)), plain_change(("-20%", "-10%"))
    (5.0, '+10%', -5.0, ('-20%', '-10%'))
    """
    if given is None:
        return None
    if not isinstance(given, tuple | list):
        step = _plain_step(given)
        if amount_of(step) == 0:
            raise _unusable(given, "which asks for nothing")
        return step
    if len(given) != 2 or all(end is None for end in given):
        raise _unusable(given, "where a pair has a low and a high end")
    low, high = (None if end is None else _plain_step(end) for end in given)
    if high is None and low is not None and amount_of(low) > 0:
        return low
    if low is None and high is not None and amount_of(high) < 0:
        return high
    if low is not None and high is not None and is_share(low) == is_share(high) and amount_of(low) > amount_of(high):
        raise _unusable(given, "whose low end is above its high end: swap the two")
    return low, high


def ends_of(change: Change) -> tuple[Step | None, Step | None]:
    """The least and the largest change, None for an open end."""
    if isinstance(change, tuple):
        return change
    return (change, None) if amount_of(change) > 0 else (None, change)


def is_share(step: Step) -> bool:
    """Whether a step is in per cent."""
    return isinstance(step, str)


def amount_of(step: Step) -> float:
    """The amount of a step, in per cent where it is a share."""
    return float(step.removesuffix("%")) if isinstance(step, str) else step


def changed_range(change: Change, own: float) -> tuple[float, float]:
    """The range that a score must reach whose own value is given.

    >>> changed_range("-10%", 200.0), changed_range((5.0, 8.0), 1.0)
    ((-inf, 180.0), (6.0, 9.0))
    """
    low, high = ends_of(change)
    wanted = (
        -math.inf if low is None else own + _amount(low, own),
        math.inf if high is None else own + _amount(high, own),
    )
    if wanted[0] > wanted[1]:
        raise TargetError(
            f"A change from {low} to {high} of {own:g} is empty: from {wanted[0]:g} to {wanted[1]:g}. Swap the ends."
        )
    return wanted


def _amount(step: Step, own: float) -> float:
    if not is_share(step):
        return amount_of(step)
    if own == 0:
        raise TargetError(f"The row's own score is 0, of which {step} is nothing. Say by how much it shall change.")
    return amount_of(step) / 100 * abs(own)


def _plain_step(given: Any) -> Step:
    if isinstance(given, str) and (found := _SHARE.fullmatch(given)):
        share = float(found[1].replace("−", "-").replace(" ", ""))
        return f"{share:+.12g}%"
    is_number = isinstance(given, Real) and not isinstance(given, bool | np.bool_)
    if not is_number or not math.isfinite(as_float(given)):
        raise _unusable(given, "where a number or a share such as '-10%' is allowed")
    return float(given)


def _unusable(given: Any, why: str) -> TargetError:
    return TargetError(
        "{parameter} is {got!r}, {why}. Say a number, such as -5 for at least 5 less, a share, such as '+10%', or both "
        "ends.",
        parameter=Setting("change"),
        got=given,
        why=why,
    )
