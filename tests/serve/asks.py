"""Raw requests, which say everything that a client might, and every route with a request that it answers."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from countarfactuals.serve import client


class Told(NamedTuple):
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    address: str,
    method: str,
    path: str,
    body: Any = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> Told:
    """One request with just these headers besides Host; a body that is no bytes is sent as JSON."""
    split = urlsplit(address)
    connection = http.client.HTTPConnection(split.hostname, split.port, timeout=timeout)
    sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    given = {"Content-Type": "application/json", **(headers or {})}
    try:
        connection.request(method, path, sent, given)
        answer = connection.getresponse()
        return Told(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


class Example(NamedTuple):
    """A request that a route answers."""

    method: str
    path: str
    body: Any = None


def examples(address: str, token: str | None = None) -> Iterator[Example]:
    """Every route of the OpenAPI with its examples; an id that a path needs is that of a job that has ended."""
    spec = client(address, "openapi.json", token=token)
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            place = path.replace("{name}", "loan").replace("{id}", "no-such-job-0000")
            query = "?by=housing" if path.endswith("recourse") else ""
            for body in _bodies(spec, operation) or [None]:
                yield Example(method.upper(), place + query, body)


def _bodies(spec: Mapping[str, Any], operation: Mapping[str, Any]) -> list[Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return []
    name = content["schema"]["$ref"].rpartition("/")[2]
    found: list[Any] = spec["components"]["schemas"][name]["examples"]
    return found
