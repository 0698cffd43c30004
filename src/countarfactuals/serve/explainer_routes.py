"""Routes about explainers: which there are, what each knows, and rows to pick from."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from countarfactuals.language import catalogue_of, languages, speaking
from countarfactuals.serve.messages import LANGUAGE
from countarfactuals.serve.problems import Refusal
from countarfactuals.serve.profile import outline, profile
from countarfactuals.serve.service import Desk, Service
from countarfactuals.serve.strict_json import Answer

_Text = Annotated[str, Query(max_length=200)]


def explainer_routes(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/v1", default_response_class=Answer)

    @router.get("/explainers")
    async def explainers() -> Answer:
        """Which explainers there are."""
        desks = list(service.desks.values())
        return Answer(
            {
                "explainers": [outline(desk.served) for desk in desks],
                "default": desks[0].served.name,
                "real_rows": all(desk.served.shows_real_rows for desk in desks),
                "languages": list(languages()),
            }
        )

    @router.get("/explainers/{name}")
    async def explainer(
        request: Request, name: str, language: Annotated[str, Query(pattern=LANGUAGE)] = "en"
    ) -> Answer:
        """What an explainer knows: columns, relations, judges, methods, limits."""
        desk = service.desk(name)
        return Answer(await service.answer(request, desk.quick, lambda: _profile(service, desk, language)))

    @router.get("/explainers/{name}/rows")
    async def rows(
        request: Request,
        name: str,
        search: _Text = "",
        prediction: Annotated[str | None, Query(max_length=200)] = None,
        sort: Annotated[str | None, Query(max_length=200)] = None,
        order: Annotated[str, Query(pattern="^(asc|desc)$")] = "asc",
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Answer:
        """Rows to pick from, in pages."""
        desk = service.desk(name)
        table = desk.rows
        if table is None:
            raise Refusal(404, "No rows may be shown here.", "Start the service with --data to show rows of a file.")

        def page() -> dict[str, Any]:
            return table.page(search, prediction, sort, order == "desc", offset, limit)

        return Answer(await service.answer(request, desk.quick, page))

    return router


def _profile(service: Service, desk: Desk, language: str) -> dict[str, Any]:
    """Made once for each language."""
    with speaking(language):
        code = catalogue_of(language).code
        if code not in desk.kept:
            desk.kept[code] = profile(desk.served, service.allowances)
        return dict(desk.kept[code])
