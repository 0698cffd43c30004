"""Routes about single rows: predict, explain, evaluate, and the model along one column."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from countarfactuals.language import speaking
from countarfactuals.serve import answers
from countarfactuals.serve.messages import Curve, Evaluate, Explain, Predict
from countarfactuals.serve.problems import Refusal
from countarfactuals.serve.service import Service
from countarfactuals.serve.strict_json import Answer, json_line

RESULT = "application/vnd.countarfactuals+json"


def row_routes(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/v1/explainers/{name}", default_response_class=Answer)

    @router.post("/predict")
    async def predict(request: Request, name: str, asked: Predict) -> Answer:
        """What the model says of rows."""
        desk = service.desk(name)
        if len(asked.rows) > service.allowances.rows:
            raise Refusal(413, f"There are {len(asked.rows):,} rows.", f"Send {service.allowances.rows:,} at most.")
        return Answer(await service.answer(request, desk.quick, lambda: answers.predict(desk.served, asked)))

    @router.post("/explain")
    async def explain(request: Request, name: str, asked: Explain) -> Response:
        """Counterfactuals of a row, and how they are told."""
        desk = service.desk(name)
        result = await service.searched(request, desk, asked, asked.row)
        if RESULT in request.headers.get("accept", ""):
            text = await service.answer(
                request, desk.quick, lambda: answers.labelled(desk.served, asked, result).to_json()
            )
            return Response(text, media_type=RESULT)
        body = await service.answer(
            request, desk.quick, lambda: json_line(answers.explanation(desk.served, asked, result))
        )
        return Response(body, media_type="application/json")

    @router.post("/evaluate")
    async def evaluate(request: Request, name: str, asked: Evaluate) -> Answer:
        """What a row that was edited by hand is worth."""
        desk = service.desk(name)

        def compute() -> dict[str, Any]:
            with speaking(asked.language):
                return answers.evaluate(desk.served, asked)

        return Answer(await service.answer(request, desk.quick, compute))

    @router.post("/curve")
    async def curve(request: Request, name: str, asked: Curve) -> Answer:
        """What the model says along one column."""
        desk = service.desk(name)
        return Answer(await service.answer(request, desk.quick, lambda: answers.curve(desk.served, asked)))

    return router
