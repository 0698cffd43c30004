"""`Metrics`: what has been asked and how long it took, in the text form that Prometheus reads.

An ASGI layer counts answers by route, method and status, and measures their seconds; routes are told as they are
written, never as they were asked, so that no name or id gets in. What waits and runs is read when it is asked for.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from countarfactuals.serve.guard import App, Message, Receive, Scope, Send
from countarfactuals.serve.problems import LOG
from countarfactuals.serve.service import Service
from countarfactuals.serve.strict_json import Answer

_BOUNDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_MEDIA_TYPE = "text/plain; version=0.0.4"
_PREFIX = "countarfactuals"


class Metrics:
    """What has been asked."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, str, int]] = Counter()
        self._within: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """One answer."""
        self.answers[method, route, status] += 1
        self._within.setdefault(route, [0] * (len(_BOUNDS) + 1))[bisect_left(_BOUNDS, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]  # a counter of seconds

    def text(self, service: Service) -> str:
        """All of it."""
        lines = [*_head("answers_total", "counter", "Answers by route, method and status.")]
        for (method, route, status), n in sorted(self.answers.items()):
            lines.append(_line("answers_total", {"method": method, "route": route, "status": status}, n))
        lines += _head("answer_seconds", "histogram", "How long answers took.")
        for route, counts in sorted(self._within.items()):
            lines += self._histogram(route, counts)
        gauges = {
            "searches_waiting": ("gauge", "Searches that have not begun.", "n_waiting"),
            "searches_running": ("gauge", "Searches that go on in step.", "n_running"),
            "model_calls_total": ("counter", "How often searches asked the model.", "model_calls"),
        }
        for name, (kind, help, field) in gauges.items():
            lines += _head(name, kind, help)
            lines += [
                _line(name, {"explainer": desk.served.name}, getattr(desk.searching, field))
                for desk in service.desks.values()
            ]
        return "\n".join(lines) + "\n"

    def _histogram(self, route: str, counts: list[int]) -> Iterable[str]:
        total = 0
        for bound, n in zip((*map(str, _BOUNDS), "+Inf"), counts, strict=True):
            total += n
            yield _line("answer_seconds_bucket", {"route": route, "le": bound}, total)
        yield _line("answer_seconds_sum", {"route": route}, round(self._seconds[route], 6))
        yield _line("answer_seconds_count", {"route": route}, total)


def _head(name: str, kind: str, help: str) -> tuple[str, str]:
    return f"# HELP {_PREFIX}_{name} {help}", f"# TYPE {_PREFIX}_{name} {kind}"


def _line(name: str, labels: Mapping[str, object], value: float) -> str:
    pairs = ",".join(f'{key}="{_escaped(str(text))}"' for key, text in labels.items())
    return f"{_PREFIX}_{name}{{{pairs}}} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class Counted:
    """The layer that counts."""

    def __init__(self, app: App, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and count its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            seconds = time.perf_counter() - started
            self.metrics.count(scope["method"], route, status, seconds)
            LOG.info("%s %s %d %.3f s", scope["method"], route, status, seconds)


def health_routes(service: Service, metrics: Metrics) -> APIRouter:
    """Routes for those who watch over the service."""
    router = APIRouter(default_response_class=Answer)

    @router.get("/health/live")
    async def live() -> Answer:
        """Whether the service answers."""
        return Answer({"status": "live"})

    @router.get("/health/ready")
    async def ready() -> Answer:
        """Whether explanations can be asked for."""
        return Answer({"status": "ready", "explainers": list(service.desks)})

    @router.get("/metrics", response_class=PlainTextResponse)
    async def all_metrics() -> PlainTextResponse:
        """Counts and times as Prometheus reads them."""
        return PlainTextResponse(metrics.text(service), media_type=_MEDIA_TYPE)

    return router
