"""Rows of a request, searched in step as long as there is time to begin one.

How many at a time is a matter of `pace`; one after the other where the model must be asked about each on its own and
can not be asked about several at a time. An error is its row's result, or ends all if that was asked.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.exceptions import CountarfactualsError
from countarfactuals.explainers.answer import Own
from countarfactuals.explainers.pace import Pace, most_at_once
from countarfactuals.explainers.questions import Asking
from countarfactuals.explainers.row_wishes import Wishes
from countarfactuals.explainers.together import Together

if TYPE_CHECKING:
    from countarfactuals.explainers.base import Explainer

Row = np.ndarray | Exception  # encoded, or the error that reading it gave
Done = tuple[int, Counterfactuals]


class Task(NamedTuple):
    """A row to explain, its position, and what is known of it already."""

    position: int
    row: Row
    own: Own | None = None


class Request(NamedTuple):
    """What is asked of every row, and how the model may be asked: about many rows in one call, and if so verified."""

    explainer: Explainer
    wishes: Wishes
    on_error: str
    joint: bool = False
    verify: bool = False


class Tasks:
    """Rows to explain, as long as there is time to begin one: until `latest`, by the clock that processes share."""

    def __init__(self, tasks: Sequence[Task], latest: float = math.inf) -> None:
        self.left = deque(tasks)
        self.latest = latest

    def __iter__(self) -> Iterator[Task]:
        return self

    @property
    def is_time(self) -> bool:
        """Whether a row may still begin."""
        return time.time() < self.latest

    def skip(self, done: Collection[int]) -> None:
        """Leave out tasks that are done."""
        self.left = deque(task for task in self.left if task.position not in done)

    def __next__(self) -> Task:
        if not self.left or not self.is_time:
            raise StopIteration
        return self.left.popleft()


def in_step(request: Request, tasks: Tasks) -> Iterator[Done]:
    """Results of the rows, in the order in which they are finished."""
    together: Together[int, Counterfactuals] = Together(
        request.explainer.background_.predictor, joint=request.joint, verify=request.verify
    )
    pace = Pace(_most(request), tasks.latest)
    while True:
        for task in islice(tasks, max(pace.room - len(together), 0)):
            together.add(task.position, explained(request, task))
        if not together:
            return
        started = time.perf_counter()
        ended = together.step()
        pace.stepped(time.perf_counter() - started, together.quickest, len(ended))
        for position, result in ended:
            if isinstance(result, Exception):
                raise result
            yield position, result


def _most(request: Request) -> int:
    background = request.explainer.background_
    if not request.joint and not hasattr(background.predictor.ask, "ask_each"):
        return 1
    n_leaves = background.plausibility.forest.forest_.n_leaves
    return most_at_once(n_leaves, int(request.explainer.max_evaluations), background.matrix.shape[1])


def explained(request: Request, task: Task) -> Asking[Counterfactuals]:
    """The result of one row, or what went wrong."""
    explainer, row = request.explainer, task.row
    wish = request.wishes.of(task.position)
    try:
        target, constraints = wish
        for error in (row, target, constraints):
            if isinstance(error, Exception):
                raise error
        return (yield from explainer._traced(row, target, constraints, task.own))[0]  # type: ignore[arg-type]  # no errors
    except Exception as error:
        if request.on_error == "raise":
            raise
        return Counterfactuals.empty(
            explainer.schema_,
            None if isinstance(row, Exception) else row,
            target=wish.stored_target,
            method=explainer.name,
            status="error",
            error=f"{type(error).__name__}: {error}",
            failure=error if isinstance(error, CountarfactualsError) else None,
        )
