"""`Service`: what all routes share: the explainers with their lanes and rows, the limits, and how an answer is awaited.

1. Each explainer has a thread that searches and one for what must be quick, such as an edited cell.
2. A request waits for its answer as long as it may, and no longer than its caller does: what has not begun is
   cancelled then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.exceptions import ParameterError, did_you_mean, listed
from countarfactuals.serve.allowances import Allowances
from countarfactuals.serve.answers import search
from countarfactuals.serve.guard import Access
from countarfactuals.serve.lane import Lane
from countarfactuals.serve.messages import Row, Search
from countarfactuals.serve.problems import Refusal
from countarfactuals.serve.row_table import RowTable
from countarfactuals.serve.searching import Searching
from countarfactuals.serve.served import Served

_OFTEN = 0.5  # seconds between looks whether a caller is still there


@dataclass(eq=False)
class Desk:
    """An explainer at work: the thread that searches, the one for what must be quick, and rows to pick from."""

    served: Served
    searching: Searching
    quick: Lane
    rows: RowTable | None
    kept: dict[Any, Any] = field(default_factory=dict)


class Service:
    """All explainers, by name.

    Parameters
    ----------
    explainers : that are served; the first one is the page's default.
    access : who may ask.
    allowances : how much.
    """

    def __init__(self, explainers: Sequence[Served], access: Access, allowances: Allowances) -> None:
        names = [served.name for served in explainers]
        if not names or len(set(names)) < len(names):
            raise ParameterError(
                f"The service needs explainers of different names, got {listed(names) or 'none'}. Rename a folder."
            )
        self.access = access
        self.allowances = allowances
        self.desks = {served.name: _desk(served, allowances) for served in explainers}
        self.documents = Lane("documents", allowances.waiting)  # one for all: pictures are drawn one after the other

    def desk(self, name: str) -> Desk:
        """An explainer by its name."""
        if name not in self.desks:
            hint = did_you_mean(name, self.desks).strip()
            raise Refusal(404, f"There is no explainer {name[:80]!r}; known: {listed(self.desks)}.", hint, "name")
        return self.desks[name]

    def check_evaluations(self, asked: int | None) -> None:
        """Refuse more evaluations than are allowed."""
        most = self.allowances.max_evaluations
        if asked is not None and asked > most:
            raise Refusal(422, f"max_evaluations is {asked:,}.", f"At most {most:,} are allowed.", "max_evaluations")

    async def answer(self, request: Request, lane: Lane, compute: Callable[[], Any]) -> Any:
        """What a lane computes for a request, within its time."""
        return await self.awaited(request, lane.submit(compute))

    async def searched(self, request: Request, desk: Desk, asked: Search, row: Row) -> Counterfactuals:
        """The result of a search for a row."""
        self.check_evaluations(asked.max_evaluations)
        going = desk.searching.submit(search(desk.served, asked, desk.served.row_of(row)))
        found: Counterfactuals = await self.awaited(request, going)
        return found

    async def awaited(self, request: Request, future: Future[Any]) -> Any:
        """The result of something that is being computed, unless its time is over or its caller has gone."""
        waiting = asyncio.wrap_future(future)
        loop = asyncio.get_running_loop()
        latest = loop.time() + self.allowances.seconds
        try:
            while True:
                done, _ = await asyncio.wait([waiting], timeout=min(_OFTEN, max(0.0, latest - loop.time())))
                if done:
                    return waiting.result()
                if loop.time() >= latest:
                    seconds = f"{self.allowances.seconds:g}"
                    raise Refusal(504, f"No answer within {seconds} seconds.", "Ask for fewer evaluations or rows.")
                if await request.is_disconnected():
                    raise Refusal(400, "The caller has gone.")
        finally:
            waiting.cancel()

    def close(self) -> None:
        """Cancel what waits, and wait for what runs."""
        for desk in self.desks.values():
            desk.searching.close(self.allowances.stop_seconds)
            desk.quick.close(1.0)
        self.documents.close(1.0)


def _desk(served: Served, allowances: Allowances) -> Desk:
    rows = served.rows
    return Desk(
        served,
        Searching(f"searching {served.name}", served.explainer, allowances.waiting),
        Lane(f"quick {served.name}", allowances.waiting),
        None if rows is None else RowTable(served, rows),
    )
