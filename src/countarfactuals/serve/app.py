"""`make_app`: the service as an ASGI app, guarded.

1. Routes by topic are put together; their requests are checked by the types in `messages`.
2. Errors become problems, answers strict JSON.
3. The guard goes around all of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI

from countarfactuals.serve.allowances import Allowances
from countarfactuals.serve.document_routes import document_routes
from countarfactuals.serve.explainer_routes import explainer_routes
from countarfactuals.serve.guard import Access, Guard
from countarfactuals.serve.inference import inference_routes
from countarfactuals.serve.jobs import Jobs, state_folder
from countarfactuals.serve.many_routes import many_routes
from countarfactuals.serve.metrics import Counted, Metrics, health_routes
from countarfactuals.serve.page_files import add_page
from countarfactuals.serve.problems import LOG, tell_problems
from countarfactuals.serve.row_routes import row_routes
from countarfactuals.serve.served import Served
from countarfactuals.serve.service import Service


def make_app(
    explainers: Sequence[Served],
    *,
    access: Access | None = None,
    allowances: Allowances | None = None,
    jobs_folder: Path | None = None,
) -> Guard:
    """The service as an ASGI app.

    Parameters
    ----------
    explainers : that are served.
    access : who may ask; this machine alone if None.
    allowances : how much one request may ask for.
    jobs_folder : where jobs are kept; None for a place in the user's home.
    """
    service, metrics = Service(explainers, access or Access(), allowances or Allowances()), Metrics()
    jobs = Jobs(jobs_folder or state_folder(), service.allowances.jobs)
    for job in jobs.interrupted:
        LOG.warning("job %s was interrupted after %d of %d rows", job.id, job.done, job.total)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await jobs.stop()
        await asyncio.to_thread(service.close)

    app = FastAPI(
        title="countarfactuals",
        version=version("countarfactuals"),
        summary="Plausible counterfactual explanations",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    tell_problems(app)
    for routes in (explainer_routes, row_routes, document_routes, inference_routes):
        app.include_router(routes(service))
    app.include_router(many_routes(service, jobs))
    app.include_router(health_routes(service, metrics))
    add_page(app)
    return Guard(Counted(app, metrics), service.access, service.allowances)
