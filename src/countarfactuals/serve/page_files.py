"""The page's own files, which hold no data: compressed on their way, and its phrases in a language.

The page is `/`, its modules are below `/page/`. Its addresses are relative, so that a proxy may put a prefix before
them.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.middleware.gzip import GZipMiddleware

from countarfactuals.exceptions import listed
from countarfactuals.language import languages
from countarfactuals.serve.phrases import page_phrases
from countarfactuals.serve.problems import Refusal

PAGE = Path(__file__).with_name("page")
_SHORT = 500  # bytes below which compressing is not worth it


def add_page(app: FastAPI) -> None:
    """Serve the page."""

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html", headers={"cache-control": "no-cache"})

    @app.get("/page/phrases/{code}.json", include_in_schema=False)
    async def phrases(code: str) -> JSONResponse:
        if code not in languages():
            raise Refusal(404, f"There is no language {code!r}.", f"There are {listed(languages())}.")
        return JSONResponse(page_phrases(code), headers={"cache-control": "no-cache"})

    app.mount("/page", GZipMiddleware(StaticFiles(directory=PAGE), minimum_size=_SHORT), name="page")
