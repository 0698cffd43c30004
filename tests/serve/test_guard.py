"""Who may ask, and how much: tested for every route."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import pytest

from countarfactuals.exceptions import ParameterError
from countarfactuals.serve import Access, Allowances

from .asks import Example, Told, ask, examples
from .conftest import TOKEN

PAGE = [Example("GET", "/"), Example("GET", "/page/app.js"), Example("GET", "/page/phrases/de.json")]
FURTHER = [Example("GET", "/openapi.json"), Example("GET", "/no/such/route"), Example("POST", "/v1/explainers")]
HOSTS = ["evil.example", "evil.example:8000", "localhost.evil.example", "10.1.2.3", "127.0.0.1@evil.example", "", "a b"]
ORIGINS = ["http://evil.example", "null", "http://localhost:1", "https://127.0.0.1", "file://", "127.0.0.1", "http://["]


def every(address: str, token: str | None = None) -> list[Example]:
    return [*examples(address, token), *PAGE, *FURTHER]


def is_problem(told: Told) -> bool:
    problem = told.json
    assert told.headers["content-type"] == "application/problem+json"
    assert problem["status"] == told.status
    assert "Traceback" not in told.body.decode()
    return bool(problem["title"] and problem["detail"])


def test_a_foreign_host_gets_nothing(address):
    for example in every(address):
        for host in HOSTS:
            told = ask(address, *example, headers={"Host": host})
            assert 400 <= told.status < 500, (example, host)
            assert host == "" or is_problem(told)


def test_a_foreign_origin_gets_nothing(address):
    for example in every(address):
        for origin in ORIGINS:
            told = ask(address, *example, headers={"Origin": origin})
            assert told.status == 403, (example, origin)
            assert is_problem(told)
            assert "access-control-allow-origin" not in told.headers


def test_a_request_of_the_page_or_of_a_program_passes(address):
    host = urlsplit(address).netloc
    for headers in ({}, {"Origin": f"http://{host}"}, {"Host": "localhost", "Origin": "http://localhost"}):
        assert ask(address, "GET", "/v1/explainers", headers=headers).status == 200
    script = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert ask(address, "GET", "/v1/explainers", headers=script).status == 403
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert ask(address, "GET", "/", headers=link).status == 200


def test_a_preflight_is_not_answered(address):
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    told = ask(address, "OPTIONS", "/v1/explainers/loan/explain", headers=asked)
    assert told.status == 403
    assert not any(name.startswith("access-control") for name in told.headers)


def test_without_the_token_there_is_nothing(serving):
    wrong = ["", "Bearer", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer \xff"]
    with serving(access=Access(token=TOKEN)) as address:
        for example in [*examples(address, TOKEN), *FURTHER]:
            for authorization in [None, *wrong]:
                headers = {} if authorization is None else {"Authorization": authorization}
                told = ask(address, *example, headers=headers)
                assert told.status == 401, (example, authorization)
                assert told.headers["www-authenticate"] == "Bearer"
                assert TOKEN not in told.body.decode()
        for example in PAGE:
            assert ask(address, *example).status == 200
        assert ask(address, "GET", "/v1/explainers", headers={"Authorization": f"Bearer {TOKEN}"}).status == 200
        both = {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}
        assert ask(address, "GET", "/v1/explainers", headers=both).status == 421


def test_a_short_token_is_refused():
    with pytest.raises(ParameterError, match="at least 32 characters"):
        Access(token="x" * 31)


def test_a_proxys_name_is_known_when_it_is_said(serving):
    with serving(access=Access(hosts=("explain.example.org",))) as address:
        named = {"Host": "explain.example.org", "Origin": "https://explain.example.org"}
        assert ask(address, "GET", "/v1/explainers", headers=named).status == 200
        rewritten = {"Origin": "https://explain.example.org"}  # a proxy that says its own host
        assert ask(address, "GET", "/v1/explainers", headers=rewritten).status == 200
        assert ask(address, "GET", "/v1/explainers", headers={"Host": "other.example.org"}).status == 421


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_form_can_not_ask(address, content_type):
    for example in examples(address):
        if example.method == "POST":
            told = ask(address, *example, headers={"Content-Type": content_type})
            assert told.status == 415
            assert is_problem(told)


def test_a_large_body_is_refused_whether_it_says_so_or_not(serving):
    with serving(allowances=Allowances(bytes=2_000)) as address:
        body = json.dumps({"rows": [{"age": 1}] * 1_000}).encode()
        told = ask(address, "POST", "/v1/explainers/loan/predict", body)
        assert told.status == 413
        assert is_problem(told)
        split = urlsplit(address)
        with socket.create_connection((split.hostname, split.port), timeout=10) as raw:
            head = "POST /v1/explainers/loan/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            raw.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
            raw.sendall(b"7d0\r\n" + b"x" * 2000 + b"\r\n7d0\r\n" + b"x" * 2000 + b"\r\n0\r\n\r\n")
            assert raw.recv(100).startswith(b"HTTP/1.1 413")


def test_many_rows_are_refused(serving):
    with serving(allowances=Allowances(rows=3, max_evaluations=500)) as address:
        path, row = "/v1/explainers/loan", {"age": 1}
        assert ask(address, "POST", f"{path}/predict", {"rows": [row] * 4}).status == 413
        assert ask(address, "POST", f"{path}/explain-many", {"keys": [0, 1, 2, 3]}).status == 413
        told = ask(address, "POST", f"{path}/explain", {"row": row, "max_evaluations": 501})
        assert told.status == 422
        assert told.json["parameter"] == "max_evaluations"


def test_every_answer_has_the_headers(address):
    for example in every(address):
        for host in ("localhost", "evil.example"):
            headers = ask(address, *example, headers={"Host": host}).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["x-frame-options"] == "DENY"
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'")
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert "server" not in headers or "uvicorn" not in headers["server"]


def test_no_code_comes_in_with_a_request(address, tmp_path):
    (row,) = [body["row"] for _, path, body in examples(address) if path.endswith("/explain")]
    mark = tmp_path / "mark"
    code = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    wishes = [
        {"constraints": {"rules": [{"function": code}]}},
        {"constraints": {"rules": [code]}},
        {"constraints": {"derived": {"income": code}}},
        {"constraints": {"derived": {"income": {"function": code}}}},
        {"target": {"function": code}},
        {"target": {"function": {"$function": code}}},
        {"language": "/etc/passwd.po"},
        {"language": "../catalogues/de.po"},
    ]
    for wish in wishes:
        told = ask(address, "POST", "/v1/explainers/loan/explain", {"row": row, "target": "good", **wish})
        assert told.status == 422, told.body
        assert is_problem(told)
    assert not mark.exists()
