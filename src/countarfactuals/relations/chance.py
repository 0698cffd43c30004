"""When a relation counts: few rows break it, and chance would have broken it in many more.

1. `expected` is how many rows would break it, were one of its columns shuffled; of several columns the least counts, so
   that each is needed.
2. It counts if chance keeps it in so many rows with a probability of e⁻²⁰ at most, by the bound of Chernoff for a
   Poisson number. With no exception that is an expectation of 20 rows.
3. Exceptions are few: at most one row in 200, and at most one for twenty rows that chance would break.
"""

from __future__ import annotations

import math

FEWEST_BREAKS = 20.0
MOST_EXCEPTIONS = 0.005
_BELOW_CHANCE = 0.05


def is_beyond_chance(expected: float, exceptions: int, support: int) -> bool:
    """Whether a relation counts that `exceptions` of `support` rows break, and by chance `expected` would.

    >>> is_beyond_chance(19.0, 0, 500), is_beyond_chance(21.0, 0, 500), is_beyond_chance(400.0, 2, 500)
    (False, True, True)
    >>> is_beyond_chance(400.0, 3, 500)
    False
    """
    if exceptions > MOST_EXCEPTIONS * support or exceptions > _BELOW_CHANCE * expected:
        return False
    tail = exceptions * math.log(exceptions / expected) if exceptions else 0.0
    return expected - exceptions + tail >= FEWEST_BREAKS
