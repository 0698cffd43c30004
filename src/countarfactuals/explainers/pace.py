"""How many rows are searched at a time: as few as make the model cheap, so that rows end soon and take little memory.

1. A call of the model costs something however few rows it has. The quickest call so far tells about how much.
2. Where that is more than a hundredth of a step, as many more rows are searched from the next step on as make it one.
3. What searches keep in memory bounds their number.
4. With a time budget no more rows are begun than are likely to be finished in it, by the time that rows took so far.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

_FIRST, _MOST = 16, 256
_NEGLIGIBLE = 0.01  # share of a step
_MOST_BYTES = 300e6  # of all searches
_BYTES_OF_LEAF, _BYTES_OF_CELL = 24, 40  # what a search keeps: weights of leaves; rows that were asked about


@dataclass
class Pace:
    """How many rows are searched at a time.

    Parameters
    ----------
    most : at any time.
    latest : by `time.time`, after which no row is begun.
    """

    most: int
    latest: float
    at_once: int = field(init=False)
    _begun: float = field(default_factory=time.time, init=False)
    _finished: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.at_once = min(_FIRST, self.most)

    @property
    def room(self) -> int:
        """How many rows may be searched now."""
        if math.isinf(self.latest):
            return self.at_once
        now = time.time()
        per_row = (now - self._begun) / self._finished if self._finished else math.inf
        return max(1, int(min(self.at_once, max(self.latest - now, 0.0) / per_row)) if per_row else self.at_once)

    def stepped(self, seconds: float, call: float, n_finished: int) -> None:
        """Take note of a step: how long it took, what a call of the model costs, and how many rows it finished."""
        self._finished += n_finished
        self.at_once = int(min(max(self.at_once, self.at_once * call / (_NEGLIGIBLE * seconds)), self.most))


def most_at_once(n_leaves: int, max_evaluations: int, n_columns: int) -> int:
    """How many searches fit into memory.

    >>> most_at_once(10_000, 1000, 10), most_at_once(500_000, 1000, 20)
    (256, 23)
    """
    each = _BYTES_OF_LEAF * n_leaves + _BYTES_OF_CELL * max_evaluations * n_columns
    return int(min(max(_MOST_BYTES / each, 1), _MOST))
