"""The open inference protocol (version 2): the model behind an explainer, as other model servers offer theirs.

Each column is an input, with one number, text or boolean per row; null stands for a missing cell. The scores and the
predicted class, or number, are the outputs.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request

from countarfactuals.exceptions import DataError
from countarfactuals.schema import Column, Kind
from countarfactuals.serve.answers import predict
from countarfactuals.serve.messages import Infer, Predict
from countarfactuals.serve.problems import Refusal
from countarfactuals.serve.profile import scores_told
from countarfactuals.serve.served import Served
from countarfactuals.serve.service import Service
from countarfactuals.serve.strict_json import Answer

_DATATYPES = {Kind.REAL: "FP64", Kind.INTEGER: "INT64", Kind.BOOLEAN: "BOOL"}


def inference_routes(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/v2", default_response_class=Answer)

    @router.get("")
    async def server() -> Answer:
        """What this server is."""
        return Answer({"name": "countarfactuals", "version": version("countarfactuals"), "extensions": []})

    @router.get("/health/live")
    async def live() -> Answer:
        """Whether it answers."""
        return Answer({"live": True})

    @router.get("/health/ready")
    async def ready() -> Answer:
        """Whether all models can be asked."""
        return Answer({"ready": True})

    @router.get("/models/{name}")
    async def model(name: str) -> Answer:
        """The inputs and outputs of a model."""
        return Answer(_metadata(service.desk(name).served))

    @router.get("/models/{name}/ready")
    async def model_ready(name: str) -> Answer:
        """Whether a model can be asked."""
        return Answer({"name": service.desk(name).served.name, "ready": True})

    @router.post("/models/{name}/infer")
    async def infer(request: Request, name: str, asked: Infer) -> Answer:
        """What a model says of rows."""
        desk = service.desk(name)
        n_rows = asked.inputs[0].shape[0]
        if n_rows > service.allowances.rows:
            raise Refusal(413, f"There are {n_rows:,} rows.", f"Send {service.allowances.rows:,} at most.", "inputs")
        return Answer(await service.answer(request, desk.quick, lambda: _inferred(desk.served, asked)))

    return router


def _metadata(served: Served) -> dict[str, Any]:
    inputs = [
        {"name": str(column.name), "datatype": _datatype(column), "shape": [-1, 1]}
        for column in served.explainer.schema_.columns
    ]
    n_scores = len(scores_told(served))
    outputs = [
        {"name": "scores", "datatype": "FP64", "shape": [-1, n_scores]},
        {"name": "label", "datatype": _label_type(served), "shape": [-1, 1]},
    ]
    return {"name": served.name, "versions": ["1"], "platform": "countarfactuals", "inputs": inputs, "outputs": outputs}


def _datatype(column: Column) -> str:
    return "BYTES" if column.clock else _DATATYPES.get(column.kind, "BYTES")


def _label_type(served: Served) -> str:
    return "BYTES" if served.explainer.background_.predictor.classes else "FP64"


def _inferred(served: Served, asked: Infer) -> dict[str, Any]:
    rows = _rows(served, asked)
    told = predict(served, Predict(rows=rows))["predictions"]
    scores = [score for row in told for score in row["scores"]]
    labels = [label if isinstance(label, float) else str(label) for label in (row["label"] for row in told)]
    n = len(told)
    outputs = [
        {"name": "scores", "datatype": "FP64", "shape": [n, len(scores) // n], "data": scores},
        {"name": "label", "datatype": _label_type(served), "shape": [n, 1], "data": labels},
    ]
    told_id = {} if asked.id is None else {"id": asked.id}
    return {"model_name": served.name, "model_version": "1", **told_id, "outputs": outputs}


def _rows(served: Served, asked: Infer) -> list[dict[str, Any]]:
    """The rows that inputs by column make up."""
    n, cells = asked.inputs[0].shape[0], {}
    for column in asked.inputs:
        flat = [cell for part in column.data for cell in (part if isinstance(part, list) else [part])]
        if column.shape[0] != n or column.shape[1:] not in ([], [1]) or len(flat) != n or n < 1:
            raise DataError(
                "The input {column!r} has the shape {got} and {n} cells; all inputs must have one cell for each row.",
                column=column.name,
                got=column.shape,
                n=len(flat),
            )
        cells[column.name] = _typed(served, column.name, flat)
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def _typed(served: Served, name: str, cells: list[Any]) -> list[Any]:
    """Texts that stand for levels of another type."""
    schema, (known,) = served.explainer.schema_, served.row_of({name: None})
    levels = {str(level): level for level in schema.columns[schema.index(known)].levels}
    return [levels.get(cell, cell) if isinstance(cell, str) else cell for cell in cells]
