"""How far a study is, and an honest estimate of the time left.

1. An explanation that is open is expected to take as long as those of its method on its data set did; if none is
   finished, as those of its method on other sets; else as all that are finished.
2. Fits and idle cores take time too, and processes share the work. So the sum is multiplied by the time since the first
   explanation of this run began over the seconds of those it has finished.
3. Before five are finished in this run nothing is said.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import TextIO

import numpy as np

Pair = tuple[str, str]  # data set and method
_FEWEST = 5  # explanations of this run that an estimate needs
_PAUSE = 20.0  # seconds between lines where the output is no terminal


class Progress:
    """Counts explanations and tells about them.

    Parameters
    ----------
    open_pairs : data set and method of each explanation that is to be made.
    known : seconds of explanations that an earlier run made.
    out : where to tell; None for standard error.
    quiet : tell nothing.
    """

    def __init__(
        self,
        open_pairs: Iterable[Pair],
        known: Iterable[tuple[Pair, float]] = (),
        *,
        out: TextIO | None = None,
        quiet: bool = False,
    ) -> None:
        self.left: dict[Pair, int] = {}
        for pair in open_pairs:
            self.left[pair] = self.left.get(pair, 0) + 1
        self.seconds: dict[Pair, list[float]] = {}
        for pair, seconds in known:
            self.seconds.setdefault(pair, []).append(seconds)
        self.n_before = sum(map(len, self.seconds.values()))
        self.n_all = self.n_before + sum(self.left.values())
        self.n_finished, self.busy = 0, 0.0  # explanations of this run, and their seconds
        self.started = time.monotonic()
        self.first_began = self.started
        self._out, self._quiet, self._told = out or sys.stderr, quiet, -np.inf

    def finished(self, pair: Pair, seconds: float) -> None:
        """Count an explanation of this run."""
        if self.n_finished == 0:
            self.first_began = max(time.monotonic() - seconds, self.started)
        self.n_finished += 1
        self.left[pair] -= 1
        self.seconds.setdefault(pair, []).append(seconds)
        self.busy += seconds

    def seconds_left(self, now: float) -> float | None:
        """What is to be expected, by `time.monotonic`; None if too little is known yet."""
        if self.n_finished < min(_FEWEST, self.n_finished + sum(self.left.values())) or self.busy == 0.0:
            return None
        open_work = sum(n * self._expected(pair) for pair, n in self.left.items())
        return open_work * (now - self.first_began) / self.busy

    def _expected(self, pair: Pair) -> float:
        same_method = [one for (_, method), some in self.seconds.items() if method == pair[1] for one in some]
        every = [one for some in self.seconds.values() for one in some]
        return float(np.mean(self.seconds.get(pair) or same_method or every))

    def tell(self, *, last: bool = False) -> None:
        """Tell how far it is: on a terminal in place, else a line now and then."""
        now = time.monotonic()
        is_terminal = self._out.isatty()
        if self._quiet or (not last and now - self._told < (0.5 if is_terminal else _PAUSE)):
            return
        self._told = now
        elapsed = now - self.started
        left = self.seconds_left(now)
        n_open = sum(self.left.values())
        words = f"{self.n_all - n_open} of {self.n_all} explanations, {as_time(elapsed)} gone"
        if n_open:
            words += ", time left not yet known" if left is None else f", about {as_time(left)} left"
        print(f"\r{words:<78}" if is_terminal else words, end="\n" if last or not is_terminal else "", file=self._out)
        self._out.flush()


def as_time(seconds: float) -> str:
    """Seconds for people.

    >>> as_time(7.4), as_time(65), as_time(3700)
    ('7 s', '1 min 05 s', '1 h 01 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
