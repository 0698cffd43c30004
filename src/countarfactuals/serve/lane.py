"""`Lane`: one thread that computes what requests ask for, one after the other, so that the event loop never waits.

What is asked for and has not begun can be cancelled; as many may wait as the lane allows, more are told to come again.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from countarfactuals.serve.problems import Refusal

_LONGEST_WAIT = 60  # seconds that someone is told to come back after, at most


class Lane:
    """A thread with a queue.

    Parameters
    ----------
    name : of the thread.
    waiting : how much may wait.
    """

    def __init__(self, name: str, waiting: int) -> None:
        self.waiting = waiting
        self._queue: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._seconds = 1.0  # that one task took, on average
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, compute: Callable[[], Any], *, may_wait: bool = False) -> Future[Any]:
        """Have something computed; what `may_wait` is never refused."""
        if self._queue.qsize() >= self.waiting and not may_wait:
            seconds = min(_LONGEST_WAIT, max(1, round(self._seconds * self.waiting / 2)))
            raise Refusal(429, f"{self.waiting} requests wait already.", "Come again later.", retry_after=seconds)
        future: Future[Any] = Future()
        self._queue.put((future, compute))
        return future

    def close(self, seconds: float) -> None:
        """Compute no more: what runs is waited for so long, what waits is cancelled."""
        while not self._queue.empty():
            task = self._queue.get()
            if task is not None:
                task[0].cancel()
        self._queue.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        while (task := self._queue.get()) is not None:
            future, compute = task
            if not future.set_running_or_notify_cancel():
                continue
            started = time.perf_counter()
            try:
                future.set_result(compute())
            except BaseException as error:
                future.set_exception(error)
            self._seconds += 0.2 * (time.perf_counter() - started - self._seconds)
