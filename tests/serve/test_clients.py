"""Many clients at once, slow ones, broken ones, and a proxy that puts a prefix before everything."""

from __future__ import annotations

import http.server
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
import uvicorn

from countarfactuals import Counterfactuals
from countarfactuals.serve import Access, Allowances, ServiceError, client
from countarfactuals.serve.guard import Guard
from countarfactuals.serve.running import _config_of, address_of, bound

from .asks import ask, examples
from .test_answers import plain, same

LOAN = "v1/explainers/loan"


def frame_of(explainer, n: int):
    return explainer.schema_.decode(explainer.background_.matrix[:n])


def test_many_at_once_get_what_each_gets_alone(address, explainer):
    X = frame_of(explainer, 24)

    def asked(i: int) -> dict:
        return client(address, f"{LOAN}/explain", {"row": plain(X.iloc[[i]]), "target": "good" if i % 2 else None})

    with ThreadPoolExecutor(12) as pool:
        told = list(pool.map(asked, range(len(X))))
    for i, one in enumerate(told):
        assert same(explainer.explain(X.iloc[[i]], "good" if i % 2 else None), one["result"]), i


def test_too_many_are_told_to_come_again(serving, explainer):
    (row,) = [plain(frame_of(explainer, 1))]
    with serving(allowances=Allowances(waiting=2)) as address:
        asked = {"row": row, "target": {"outcome": "good", "probability": [0.99, 1]}, "max_evaluations": 4000}
        with ThreadPoolExecutor(90) as pool:
            told = list(pool.map(lambda k: ask(address, "POST", f"/{LOAN}/explain", {**asked, "seed": k}), range(90)))
    statuses = [one.status for one in told]
    assert set(statuses) == {200, 429}
    refused = next(one for one in told if one.status == 429)
    assert 1 <= int(refused.headers["retry-after"]) <= 60


def test_what_takes_too_long_is_given_up(serving, explainer):
    with serving(allowances=Allowances(seconds=0.2)) as address:
        asked = {"row": plain(frame_of(explainer, 1)), "method": "mocarf", "max_evaluations": 5000}
        told = ask(address, "POST", f"/{LOAN}/explain", {**asked, "target": "good"})
        assert told.status == 504
        assert not _still_searching(address)


def _still_searching(address: str) -> bool:
    """Whether a search goes on after a moment."""
    latest = time.monotonic() + 10
    while time.monotonic() < latest:
        if 'searches_running{explainer="loan"} 0' in client(address, "metrics"):
            return False
        time.sleep(0.05)
    return True


def test_a_row_that_takes_too_long_costs_itself_alone(serving, explainer):
    """Each line of a stream comes in time; a job, for which nobody waits, may take longer."""
    slow = {"target": "good", "method": "mocarf", "max_evaluations": 5000, "top": 1}
    with serving(allowances=Allowances(seconds=0.2)) as address:
        found = client(address, f"{LOAN}/rows?prediction=bad&limit=3")["rows"]
        slow["keys"] = [row["key"] for row in found]
        lines = list(client(address, f"{LOAN}/explain-many", slow))
        assert [line["key"] for line in lines] == slow["keys"]
        assert {line["status"] for line in lines} == {"error"}
        assert "within 0.2 seconds" in lines[0]["view"]["reasons"][0]
        assert not _still_searching(address)
        job = client(address, f"{LOAN}/explain-many", {**slow, "max_evaluations": 1500}, as_job=True)["job"]
        latest = time.monotonic() + 60
        while client(address, f"v1/jobs/{job}")["state"] in ("queued", "running") and time.monotonic() < latest:
            time.sleep(0.05)
        told = list(client(address, f"v1/jobs/{job}/lines"))
    assert len(told) == 3
    assert "error" not in {line["status"] for line in told}


class _Endless:
    """An app that answers without end, and what became of it."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http":
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            while True:
                await send({"type": "http.response.body", "body": bytes(1_000_000), "more_body": True})
        finally:
            self.ended.set()


def test_an_answer_that_is_not_taken_is_given_up():
    app, made = _Endless(), bound("127.0.0.1", 0)
    allowances = Allowances(seconds=0.3, stop_seconds=1)
    config = _config_of(Guard(app, Access(), allowances), allowances)
    config.lifespan = "off"
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [made]}, daemon=True)
    thread.start()
    try:
        with raw(address_of(made)) as lazy:
            lazy.sendall(b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert app.ended.wait(20)
            assert lazy.recv(20).startswith(b"HTTP/1.1 200")  # it never went away
    finally:
        server.should_exit = True
        thread.join(20)


@contextmanager
def raw(address: str) -> Iterator[socket.socket]:
    split = urlsplit(address)
    with socket.create_connection((split.hostname, split.port), timeout=20) as made:
        yield made


def head(length: int, path: str = f"/{LOAN}/explain-many") -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def test_who_stops_listening_ends_the_search(address, explainer):
    body = json.dumps({"keys": list(range(400)), "target": "good"}).encode()
    with raw(address) as connection:
        connection.sendall(head(len(body)) + body)
        assert b'{"key":' in connection.recv(100_000) + connection.recv(100_000)
    assert not _still_searching(address)
    body = json.dumps({"row": plain(frame_of(explainer, 1)), "max_evaluations": 5000, "method": "mocarf"}).encode()
    with raw(address) as connection:
        connection.sendall(head(len(body), f"/{LOAN}/explain") + body)
        time.sleep(0.2)
    assert not _still_searching(address)


def test_slow_and_broken_clients_hurt_nobody(serving):
    with serving(allowances=Allowances(body_seconds=0.5)) as address:
        with raw(address) as slow, raw(address) as silent, raw(address) as wrong, raw(address) as half:
            slow.sendall(head(1000) + b'{"keys"')
            half.sendall(head(1000)[:40])
            wrong.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 no http at all\r\n\r\n")
            assert client(address, "health/live") == {"status": "live"}
            assert slow.recv(1000).startswith(b"HTTP/1.1 408")
            assert wrong.recv(1000).startswith(b"HTTP/1.1 400")
            silent.close()
        with raw(address) as gone:
            gone.sendall(head(1000) + b"{")
        assert client(address, "health/live") == {"status": "live"}


class _Prefixed(http.server.BaseHTTPRequestHandler):
    """Hands on what comes below its prefix, as a proxy does."""

    prefix, behind = "/some/where", ""

    def _hand_on(self) -> None:
        if not self.path.startswith(self.prefix):
            self.send_error(404)
            return
        length = int(self.headers.get("Content-Length", 0))
        path = self.path.removeprefix(self.prefix)
        kept = {
            name: value for name, value in self.headers.items() if name.lower() in ("content-type", "prefer", "accept")
        }
        told = ask(self.behind, self.command, path, self.rfile.read(length) or None, kept)
        self.send_response(told.status)
        for name in ("content-type", "location"):
            if name in told.headers:
                self.send_header(name, told.headers[name])
        self.send_header("Content-Length", str(len(told.body)))
        self.end_headers()
        self.wfile.write(told.body)

    do_GET = do_POST = do_DELETE = _hand_on

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing."""


@pytest.fixture
def proxied(address) -> Iterator[str]:
    handler = type("Prefixed", (_Prefixed,), {"behind": address})
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{proxy.server_port}{_Prefixed.prefix}"
    proxy.shutdown()
    thread.join(5)
    proxy.server_close()


def test_it_works_behind_any_prefix(proxied, explainer):
    for method, path, body in examples(proxied):
        if method == "POST" and "explain-many" not in path:
            client(proxied, path, body, method=method)
    job = client(proxied, f"{LOAN}/explain-many", {"keys": [1, 2], "target": "good", "top": 1}, as_job=True)
    assert not job["url"].startswith("/")
    while client(proxied, job["url"])["state"] in ("queued", "running"):
        time.sleep(0.05)
    assert len(list(client(proxied, f"{job['url']}/lines"))) == 2
    page = client(proxied, "/")
    assert 'href="/' not in page
    assert 'src="/' not in page


def test_the_client_tells_what_went_wrong(address):
    with pytest.raises(ServiceError, match="can not be reached"):
        client("http://127.0.0.1:9", "v1/explainers")
    with pytest.raises(ServiceError, match="no explainer 'none'; known: 'loan'") as error:
        client(address, "v1/explainers/none")
    assert (error.value.fields["status"], error.value.fields["parameter"]) == (404, "name")


def test_a_result_comes_back_as_the_librarys(address, explainer):
    X = frame_of(explainer, 8)
    told = client(address, f"{LOAN}/explain", {"row": plain(X.iloc[[3]]), "target": "good"})
    assert Counterfactuals.from_dict(told["result"]).describe(1)
