"""Routes to documents: a report, and a letter to whom it concerns."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.serve import documents
from countarfactuals.serve.messages import Document, Letter, Report
from countarfactuals.serve.problems import Refusal
from countarfactuals.serve.service import Desk, Service


def document_routes(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/v1/explainers/{name}")

    @router.post("/report", response_class=HTMLResponse)
    async def report(request: Request, name: str, asked: Report) -> Response:
        """A report as one HTML file."""
        desk = service.desk(name)
        result = await _result(service, request, desk, asked)
        html = await service.answer(request, service.documents, lambda: documents.report(desk.served, asked, result))
        return HTMLResponse(html.encode("utf-8", "replace"))

    @router.post("/letter", response_class=HTMLResponse)
    async def letter(request: Request, name: str, asked: Letter) -> Response:
        """A letter as HTML, or as plain text where that is accepted and HTML is not."""
        desk = service.desk(name)
        result = await _result(service, request, desk, asked)
        accepted = request.headers.get("accept", "")
        is_html = "text/plain" not in accepted or "text/html" in accepted

        def compute() -> str:
            return documents.letter(desk.served, asked, result, is_html=is_html)

        text = await service.answer(request, service.documents, compute)
        return (HTMLResponse if is_html else PlainTextResponse)(text.encode("utf-8", "replace"))

    return router


async def _result(service: Service, request: Request, desk: Desk, asked: Document) -> Counterfactuals:
    """The result that a document is about: read, or searched for."""
    if (asked.row is None) == (asked.result is None):
        raise Refusal(422, "Say either row or result.", "result is what …/explain gave.", "row")
    if asked.row is not None:
        return await service.searched(request, desk, asked, asked.row)
    stored = asked.result or {}
    found: Counterfactuals = await service.answer(request, desk.quick, lambda: Counterfactuals.from_dict(stored))
    return found
