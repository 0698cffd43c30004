"""Routes about many rows: told line by line, or as a job that goes on when the connection is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from countarfactuals.language import speaking
from countarfactuals.serve.batches import Batch, lines_of
from countarfactuals.serve.group_costs import recourse_of
from countarfactuals.serve.jobs import Jobs
from countarfactuals.serve.messages import LANGUAGE, ExplainMany
from countarfactuals.serve.service import Service
from countarfactuals.serve.strict_json import Answer

NDJSON = "application/x-ndjson"


def many_routes(service: Service, jobs: Jobs) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/v1", default_response_class=Answer)

    @router.post("/explainers/{name}/explain-many", responses={202: {"description": "A job was begun."}})
    async def explain_many(request: Request, name: str, asked: ExplainMany) -> Response:
        """Counterfactuals of many rows, a line for each as soon as it is done; `Prefer: respond-async` begins a job."""
        desk = service.desk(name)
        batch = Batch.of(service, desk, asked)
        if "respond-async" in request.headers.get("prefer", ""):
            job = jobs.start(name, len(batch.rows), lines_of(service, batch))  # nobody waits for its lines
            told = {"job": job.id, "url": f"v1/jobs/{job.id}", **asdict(job)}
            return Answer(
                told, 202, headers={"location": f"../../jobs/{job.id}", "preference-applied": "respond-async"}
            )
        return StreamingResponse(_with_feeds(lines_of(service, batch, service.allowances.seconds)), media_type=NDJSON)

    @router.get("/jobs")
    async def every_job() -> Answer:
        """All jobs, the newest first."""
        return Answer({"jobs": [asdict(job) for job in jobs.every()]})

    @router.get("/jobs/{id}")
    async def job(id: str) -> Answer:
        """A job's state and progress."""
        return Answer(asdict(jobs.get(id)))

    @router.delete("/jobs/{id}")
    async def end(id: str) -> Answer:
        """Cancel a job that is going; remove one that has ended."""
        return Answer(asdict(await jobs.end(id)))

    @router.get("/jobs/{id}/lines")
    async def lines(id: str, start: Annotated[int, Query(alias="from", ge=0, le=10**9)] = 0) -> StreamingResponse:
        """The lines that a job has, from one on."""
        return StreamingResponse(jobs.lines(id, start), media_type=NDJSON)

    @router.get("/jobs/{id}/recourse")
    async def recourse(
        request: Request,
        id: str,
        by: Annotated[str, Query(max_length=200)],
        language: Annotated[str, Query(pattern=LANGUAGE)] = "en",
    ) -> Answer:
        """What another outcome costs each group of a job's rows."""
        found = jobs.get(id)
        desk = service.desk(found.explainer)

        def compute() -> dict[str, Any]:
            with speaking(language):
                return recourse_of(desk.served, jobs.lines(id, 0), by)

        return Answer(await service.answer(request, service.documents, compute))

    return router


async def _with_feeds(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for line in lines:
            yield line + b"\n"
    finally:
        await lines.aclose()  # type: ignore[attr-defined]  # they are a generator
