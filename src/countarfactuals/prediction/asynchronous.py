"""Models that are coroutines: `async def predict(frame)`.

1. They run in a thread with an event loop of its own, which is made when the model is first asked. So they work where a
   loop is running already, as in notebooks and services, and what they keep open stays in one loop.
2. `ask_each` asks about several frames at once and waits for all.
3. An answer that takes longer than `timeout` seconds is given up.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import Any

from countarfactuals.exceptions import ModelError, ParameterError
from countarfactuals.parameters import check_float

_MOST_AT_ONCE = 16
_SHORTEST, _LONGEST = 1e-3, 1e6  # seconds


def is_asynchronous(model: Any) -> bool:
    """Whether calling the model gives a coroutine.

    >>> async def predict(frame): ...
    >>> is_asynchronous(predict), is_asynchronous(len)
    (True, False)
    """
    return any(map(inspect.iscoroutinefunction, (model, getattr(type(model), "__call__", None))))  # noqa: B004


class AsyncModel:
    """A coroutine function from a frame to scores, as a function that waits for them.

    Parameters
    ----------
    predict : the coroutine function.
    timeout : seconds that an answer may take; None for any number.
    most_at_once : how many frames it is asked about at a time.
    """

    def __init__(
        self,
        predict: Callable[[Any], Awaitable[Any]],
        *,
        timeout: float | None = None,
        most_at_once: int = _MOST_AT_ONCE,
    ) -> None:
        if not is_asynchronous(predict):
            raise ParameterError(f"predict must be an `async def` function of a frame, got {predict!r}.")
        if timeout is not None:
            check_float("timeout", timeout, _SHORTEST, _LONGEST, "None or ")
        self.predict = predict
        self.timeout = timeout
        self.most_at_once = most_at_once
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def __name__(self) -> str:
        return getattr(self.predict, "__name__", type(self.predict).__name__)

    def __call__(self, frame: Any) -> Any:
        """The scores of a frame."""
        (returned,) = self.ask_each([frame])
        if isinstance(returned, Exception):
            raise returned
        return returned

    def ask_each(self, frames: Sequence[Any]) -> list[Any]:
        """The scores of each frame, or the exception that asking about it gave."""
        pending: Future[list[Any]] = asyncio.run_coroutine_threadsafe(self._gathered(frames), self._running_loop())
        try:
            return pending.result()
        except BaseException:
            pending.cancel()
            raise

    async def _gathered(self, frames: Sequence[Any]) -> list[Any]:
        gate = asyncio.Semaphore(self.most_at_once)

        async def one(frame: Any) -> Any:
            async with gate:
                try:
                    return await asyncio.wait_for(self.predict(frame), self.timeout)
                except TimeoutError as error:
                    if self.timeout is None:
                        raise
                    raise ModelError(
                        f"The model ({self.__name__}) did not answer within {self.timeout:g} s. Give it more time by "
                        "`AsyncModel(predict, timeout=…)`."
                    ) from error

        return await asyncio.gather(*map(one, frames), return_exceptions=True)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="countarfactuals model", daemon=True).start()
            return self._loop

    def __getstate__(self) -> dict[str, Any]:
        """Loops and locks belong to a process."""
        return {name: value for name, value in vars(self).items() if name not in ("_loop", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock(), _loop=None)
