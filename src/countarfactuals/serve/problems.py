"""Errors as problems (RFC 9457): what went wrong, in the library's own sentence, the parameter, and what to do.

1. An error of this package says what was got, what is allowed and what to do. It is the request's fault: 422.
2. What FastAPI refuses by its types is told by the place in the body and what is wrong with it.
3. Anything else is an error of ours: the answer says so and no more, and the log has the rest.

No problem has a traceback or a path of the server.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from countarfactuals.exceptions import CountarfactualsError, ModelError, Setting
from countarfactuals.language.spelling import one_line

_MEDIA_TYPE = "application/problem+json"
LOG = logging.getLogger("countarfactuals.serve")
_LONGEST = 1000
_TITLES = {
    400: "The request can not be read",
    401: "A token is needed",
    403: "Not from here",
    404: "There is no such thing",
    405: "Not by this method",
    406: "Not in this form",
    408: "The request took too long to arrive",
    409: "Not now",
    413: "The request is too large",
    415: "The body must be JSON",
    421: "Not this host",
    422: "The request can not be answered as it is",
    429: "Too many wait already",
    500: "An error of the service",
    503: "The service stops",
    504: "The answer took too long",
}


class Refusal(Exception):
    """A request that is refused.

    Parameters
    ----------
    status : of HTTP.
    detail : why, one sentence.
    hint : what to do.
    parameter : which part of the request is to blame.
    retry_after : seconds after which to come again.
    """

    def __init__(
        self, status: int, detail: str, hint: str = "", parameter: str = "", retry_after: int | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.hint = hint
        self.parameter = parameter
        self.retry_after = retry_after

    def to_dict(self) -> dict[str, Any]:
        """As RFC 9457 has it."""
        found = {"type": "about:blank", "title": _TITLES[self.status], "status": self.status, "detail": self.detail}
        return found | {name: text for name in ("hint", "parameter") if (text := getattr(self, name))}

    def body(self) -> bytes:
        """The same as bytes, whatever a sentence quotes."""
        return json.dumps(self.to_dict()).encode("ascii")

    def headers(self) -> dict[str, str]:
        """What goes along."""
        found = {"content-type": _MEDIA_TYPE}
        if self.status == 401:
            found["www-authenticate"] = "Bearer"
        return found if self.retry_after is None else {**found, "retry-after": str(self.retry_after)}


def _refusal_of(error: Exception) -> Refusal:
    """The problem that an error is told as."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, CountarfactualsError):
        return _of_library(error)
    if isinstance(error, RequestValidationError):
        return _of_types(error)
    if isinstance(error, HTTPException):
        return Refusal(error.status_code if error.status_code in _TITLES else 400, str(error.detail))
    _log(error)
    return Refusal(500, "Something went wrong that should not.", "Report it with what was asked for.")


def _log(error: Exception) -> None:
    """Where an error of ours happened; what it says may quote data, and is told only where data may be."""
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    LOG.error("unexpected %s at %s", type(error).__name__, places)
    LOG.debug("%s", error)


def _of_library(error: CountarfactualsError) -> Refusal:
    if isinstance(error, ModelError):
        LOG.warning("the model failed: %s", type(error).__name__)
    parameter = error.fields.get("parameter") or error.fields.get("column") or ""
    name = parameter.name if isinstance(parameter, Setting) else str(parameter)
    return Refusal(422, _shortened(str(error)), parameter=_shortened(name))


def _of_types(error: RequestValidationError) -> Refusal:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first.get("loc", ())[1:])
    reason = str(first.get("msg", "")).removeprefix("Value error, ")
    return Refusal(422, _shortened(f"{place}: {reason}." if place else f"{reason}."), parameter=_shortened(place))


def _shortened(text: str) -> str:
    return one_line(text, _LONGEST)


def problem_of(error: Exception) -> JSONResponse:
    """The answer for an error."""
    refusal = _refusal_of(error)
    return _Problem(refusal.to_dict(), refusal.status, headers=refusal.headers())


class _Problem(JSONResponse):
    media_type = _MEDIA_TYPE

    def render(self, content: Mapping[str, Any]) -> bytes:
        return json.dumps(content).encode("ascii")


def tell_problems(app: FastAPI) -> None:
    """Have an app answer every error by a problem."""

    async def handle(_: Request, error: Exception) -> JSONResponse:
        return problem_of(error)

    for kind in (Refusal, CountarfactualsError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, handle)
