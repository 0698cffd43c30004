"""`Searching`: one thread that searches for all who ask an explainer, with one call of the model for all.

1. A search is a coroutine that waits where it needs the model. Those of several requests go on in step, and new ones
   join between two steps.
2. Each finds what it finds alone, to the last bit, where the model scores rows one by one; where it does not, each asks
   on its own.
3. A search whose caller has gone is given up. As many may wait as are allowed, more are told to come again.
"""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import Future
from itertools import count
from typing import Any

from countarfactuals.explainers import Explainer
from countarfactuals.explainers.questions import Asking
from countarfactuals.explainers.together import Together
from countarfactuals.serve.problems import Refusal

_IN_STEP = 16  # enough to share calls; more would only make the first wait for the last
_LONGEST_WAIT = 60  # seconds that someone is told to come back after, at most
_Asked = tuple[Asking[Any], "Future[Any]"]


class Searching:
    """A thread that searches.

    Parameters
    ----------
    name : of the thread.
    explainer : whose model is asked; searches may be of any explainer with that model.
    waiting : how many may wait.
    """

    def __init__(self, name: str, explainer: Explainer, waiting: int) -> None:
        self.waiting = waiting
        self._together: Together[int, Any] = explainer.together()
        self._in_step = _IN_STEP if self._together.joint else 1  # to ask for each on its own is no quicker in step
        self._new: queue.SimpleQueue[_Asked | None] = queue.SimpleQueue()
        self._futures: dict[int, Future[Any]] = {}
        self._tickets = count()
        self._seconds = 1.0  # from one search that ended to the next, on average
        self._ended = time.perf_counter()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, search: Asking[Any]) -> Future[Any]:
        """Have a search run."""
        if self._new.qsize() >= self.waiting or self._is_closed:
            seconds = min(_LONGEST_WAIT, max(1, round(self._seconds * self.waiting)))
            raise Refusal(429, f"{self.waiting} requests wait already.", "Come again later.", retry_after=seconds)
        future: Future[Any] = Future()
        self._new.put((search, future))
        return future

    @property
    def n_waiting(self) -> int:
        """How many searches have not begun."""
        return self._new.qsize()

    @property
    def n_running(self) -> int:
        """How many are in step."""
        return len(self._futures)

    @property
    def model_calls(self) -> int:
        """How often the model was asked."""
        return self._together.model_calls

    def close(self, seconds: float) -> None:
        """Begin no more: what runs is waited for so long, then given up."""
        latest = time.monotonic() + seconds
        self._is_closed = True
        self._new.put(None)
        while self._futures and time.monotonic() < latest:
            time.sleep(0.02)
        for future in list(self._futures.values()):
            future.cancel()
        self._thread.join(1.0)

    def _run(self) -> None:
        while not self._is_closed or self._futures:
            self._take_in()
            self._give_up()
            if self._futures:
                self._step()

    def _take_in(self) -> None:
        """What is new, as far as there is room; where nothing runs, it is waited for."""
        while len(self._futures) < self._in_step:
            try:
                asked = self._new.get(block=not self._futures and not self._is_closed)
            except queue.Empty:
                return
            if asked is None:
                continue
            search, future = asked
            if self._is_closed or future.cancelled():
                future.cancel()
                continue
            ticket = next(self._tickets)
            self._futures[ticket] = future
            self._together.add(ticket, search)

    def _give_up(self) -> None:
        """Searches for which nobody waits any more."""
        for ticket, future in list(self._futures.items()):
            if future.cancelled():
                self._together.cancel(ticket)
                del self._futures[ticket]

    def _step(self) -> None:
        for ticket, result in self._together.step():
            future = self._futures.pop(ticket)
            if not future.set_running_or_notify_cancel():
                continue
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)
            now = time.perf_counter()
            self._seconds += 0.1 * (now - self._ended - self._seconds)
            self._ended = now
