"""`client`: ask a service, with the standard library alone."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from http.client import HTTPException, HTTPResponse
from typing import Any

from countarfactuals.exceptions import CountarfactualsError

_LINES, _JSON = "application/x-ndjson", "application/json"


class ServiceError(CountarfactualsError, RuntimeError):
    """A service could not be reached, or refused; `fields` has its status, parameter and hint."""


def client(
    address: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    token: str | None = None,
    method: str | None = None,
    accept: str = "*/*",
    as_job: bool = False,
    timeout: float = 120.0,
) -> Any:
    """What a service answers: JSON as Python has it, other texts as they are, and many rows one after the other.

    Parameters
    ----------
    address : of the service, such as "http://127.0.0.1:8000".
    path : of a route, such as "v1/explainers/loan/explain".
    body : what is asked; None to get what stands at the path.
    token : if the service needs one.
    method : of HTTP, where it is neither GET nor POST.
    accept : the form that is wanted, such as "text/plain" for a letter.
    as_job : whether many rows are explained as a job, which goes on when the connection is lost.
    timeout : in seconds, of each wait for the service.
    """
    headers = {"Accept": accept, "Content-Type": _JSON}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    headers |= {"Prefer": "respond-async"} if as_job else {}
    data = None if body is None else json.dumps(body, allow_nan=False).encode()
    url = f"{address.rstrip('/')}/{path.lstrip('/')}"
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        answer = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        raise _refused(error) from None
    except (OSError, HTTPException) as error:
        raise ServiceError(
            "The service at {address} can not be reached: {reason}.", address=address, reason=error
        ) from error
    if answer.headers.get_content_type() == _LINES:
        return _lines(answer)
    with answer:
        text = answer.read().decode()
    return json.loads(text) if answer.headers.get_content_type() == _JSON else text


def _lines(answer: HTTPResponse) -> Iterator[Any]:
    """The lines as they come; who stops asking for them ends the rest."""
    with answer:
        for line in answer:
            yield json.loads(line)


def _refused(error: urllib.error.HTTPError) -> ServiceError:
    with error:
        try:
            problem = json.loads(error.read())
            told = {name: str(problem.get(name, "")) for name in ("detail", "hint", "parameter")}
        except (ValueError, AttributeError):
            told = {"detail": str(error.reason), "hint": "", "parameter": ""}
    return ServiceError("{detail} {hint}", status=error.code, **told)
