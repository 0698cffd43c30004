"""Many rows: each is searched, a few of one batch at a time, and told in a line of JSON as soon as it is done.

A row that can not be explained costs itself only: its line has the error. Who stops listening ends the rest. Where
someone waits for the lines and none comes in time, the row that has been searched for the longest is given up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.exceptions import CountarfactualsError
from countarfactuals.explainers import Explainer
from countarfactuals.language import ENGLISH, catalogue_of
from countarfactuals.serve.answers import explainer_for, explanation, search
from countarfactuals.serve.messages import ExplainMany
from countarfactuals.serve.problems import Refusal
from countarfactuals.serve.service import Desk, Service
from countarfactuals.serve.strict_json import json_line
from countarfactuals.serve.view import plain_row
from countarfactuals.serve.wanted import constraints_of, target_of

_AT_ONCE = 32  # rows of one batch that are searched, so that others come in between
_PAUSE = 0.2  # seconds after which it is tried again where too much waits


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows to explain, all with the same wish.

    Parameters
    ----------
    desk : the explainer that is asked.
    asked : the request.
    explainer : with the settings of the request.
    rows : by key, as `explain` takes them; an error in the place of one that can not be read.
    """

    desk: Desk
    asked: ExplainMany
    explainer: Explainer
    rows: dict[int, Any]

    @classmethod
    def of(cls, service: Service, desk: Desk, asked: ExplainMany) -> Batch:
        """The batch of a request; what is wrong with all rows is refused at once."""
        if (asked.rows is None) == (asked.keys is None):
            raise Refusal(422, "Say either rows or keys.", "keys are those of …/rows.", "rows")
        n_rows = len(asked.rows if asked.rows is not None else asked.keys or ())
        if n_rows > service.allowances.rows:
            raise Refusal(413, f"There are {n_rows:,} rows.", f"Send {service.allowances.rows:,} at most.", "rows")
        service.check_evaluations(asked.max_evaluations)
        target_of(asked.target)
        constraints_of(asked.constraints, desk.served.explainer.schema_)
        desk.served.explainer.schema_.labelled(desk.served.labels_of(asked.labels))
        catalogue_of(asked.language or ENGLISH)
        return cls(desk, asked, explainer_for(desk.served, asked), dict(_rows_of(desk, asked)))

    def failed(self, error: CountarfactualsError) -> Counterfactuals:
        """The result of a row that could not be explained."""
        return Counterfactuals.empty(
            self.explainer.schema_,
            None,
            target=None,
            method=self.explainer.name,
            status="error",
            error=str(error),
            failure=error,
        )

    def line(self, key: int, result: Counterfactuals) -> bytes:
        """What is told of a row."""
        told = explanation(self.desk.served, self.asked, result.select(self.asked.top))
        return json_line({"key": key, "status": result.status, "row": plain_row(result.schema, result.x), **told})


def _rows_of(desk: Desk, asked: ExplainMany) -> Iterator[tuple[int, Any]]:
    if asked.rows is not None:
        yield from enumerate(desk.served.row_of(row) for row in asked.rows)
        return
    if desk.rows is None:
        raise Refusal(404, "No rows may be picked from here.", "Send the rows themselves.", "keys")
    for key in asked.keys or ():
        yield key, desk.served.explainer.schema_.decode(desk.rows.row(key)[None])


class LateError(CountarfactualsError):
    """A row was not explained in time."""


async def lines_of(service: Service, batch: Batch, seconds: float | None = None) -> AsyncIterator[bytes]:
    """A line for each row, in the order in which they are done, and one within so many seconds."""
    left = iter(batch.rows)
    running: dict[asyncio.Future[bytes], int] = {}
    try:
        while True:
            while len(running) < _AT_ONCE and (key := next(left, None)) is not None:
                running[asyncio.ensure_future(_line(service, batch, key))] = key
            if not running:
                return
            done, _ = await asyncio.wait(running, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                yield await _late(batch, *_oldest(running), f"{seconds:g}")
            for future in sorted(done, key=running.__getitem__):
                del running[future]
                yield future.result()
    finally:
        for future in running:
            future.cancel()


def _oldest(running: dict[asyncio.Future[bytes], int]) -> tuple[asyncio.Future[bytes], int]:
    """Take out what has been running for the longest."""
    future = next(iter(running))
    return future, running.pop(future)


async def _late(batch: Batch, future: asyncio.Future[bytes], key: int, seconds: str) -> bytes:
    """Give a row up, and tell it."""
    future.cancel()
    late = "No answer within {seconds} seconds. Ask for fewer evaluations, or begin a job: it may take longer."
    return await _told(batch, key, batch.failed(LateError(late, seconds=seconds)))


async def _line(service: Service, batch: Batch, key: int) -> bytes:
    try:
        result = await _found(batch, key)
    except CountarfactualsError as error:
        result = batch.failed(error)
    return await _told(batch, key, result)


async def _told(batch: Batch, key: int, result: Counterfactuals) -> bytes:
    return bytes(await asyncio.wrap_future(batch.desk.quick.submit(lambda: batch.line(key, result), may_wait=True)))


async def _found(batch: Batch, key: int) -> Counterfactuals:
    """The result of a row, once there is room for its search."""
    while True:
        try:
            going = batch.desk.searching.submit(search(batch.desk.served, batch.asked, batch.rows[key]))
        except Refusal:
            await asyncio.sleep(_PAUSE)
            continue
        found: Counterfactuals = await asyncio.wrap_future(going)
        return found
