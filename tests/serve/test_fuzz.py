"""Whatever is sent, the service never fails: no 500, no traceback, always strict JSON or a problem."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countarfactuals.serve import client

from .asks import Example, Told, ask, examples

FEW, MANY = 250, 10_000

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.text(max_size=12)
    | st.sampled_from(
        ["good", "bad", "age", "savings", "increase", "20%", "hard", "a <= b", "2024-01-01", "\ud800", "\x00"]
    )
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=8) | st.sampled_from(["$tuple", "$float", "$pairs", "outcome", "rules"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)
KINDS = ["fixed", "vary", "ranges", "change", "steps", "allowed", "direction", "derived", "max_changed", "rules"]
KINDS += ["groups", "exactly_one", "weights", "allow_missing"]
TARGETS = ["outcome", "probability", "above", "below", "between", "any_of", "none_of", "change", "function"]
COLUMNS = ["age", "savings", "housing", "purpose", "amount", "no column"]
by_column = st.dictionaries(st.sampled_from(COLUMNS), anything, max_size=3)
names = st.lists(st.sampled_from(COLUMNS), max_size=3)
constraints = st.dictionaries(
    st.sampled_from(KINDS), by_column | names | st.lists(names, max_size=2) | anything, max_size=3
)
targets = anything | st.dictionaries(st.sampled_from(TARGETS), anything | st.just("good"), max_size=2)


@st.composite
def bodies(draw: Any, example: Example) -> Any:
    """A request that is nearly right: parts of one that is, others of any kind."""
    if draw(st.integers(0, 9)) == 0:
        return draw(anything)
    body = dict(example.body)
    likely = {
        "constraints": constraints,
        "target": targets,
        "language": st.sampled_from(["de", "xx", "de-AT", "en_XX", "", 3, "de.po"]),
        "labels": by_column,
    }
    for name in draw(st.lists(st.sampled_from([*body, *likely]), min_size=1, max_size=2)):
        value = body.get(name)
        if isinstance(value, dict) and name in ("row", "x") and draw(st.booleans()):
            body[name] = {**value, draw(st.sampled_from([*value, "none"])): draw(anything)}
        else:
            body[name] = draw(likely.get(name, anything))
    if "max_evaluations" in body and not isinstance(body["max_evaluations"], str | list | dict):
        body["max_evaluations"] = 20
    return body


def check(told: Told, asked: Any) -> None:
    assert told.status < 500, (asked, told.body[:2000])
    assert b"Traceback" not in told.body
    if "json" in told.headers.get("content-type", ""):
        for line in told.body.splitlines():
            json.loads(line, parse_constant=pytest.fail)
    if told.status >= 400:
        problem = told.json
        assert told.headers["content-type"] == "application/problem+json"
        assert {"type", "title", "status", "detail"} <= set(problem)
        assert "/src/" not in problem["detail"]
        assert "site-packages" not in problem["detail"]


def fuzz(address: str, n: int) -> None:
    posts = [example for example in examples(address) if example.method == "POST"]
    paths = st.sampled_from([example.path for example in examples(address)])

    @settings(max_examples=n, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.sampled_from(posts).flatmap(lambda post: st.tuples(st.just(post), bodies(post))))
    def with_bodies(asked: tuple[Example, Any]) -> None:
        example, body = asked
        check(ask(address, "POST", example.path, json.dumps(body).encode("utf-8", "surrogatepass")), asked)

    @settings(max_examples=n // 5, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(paths, st.sampled_from(["GET", "POST", "DELETE", "PUT"]), st.binary(max_size=60), st.text(max_size=20))
    def with_anything(path: str, method: str, body: bytes, query: str) -> None:
        given_query = "".join(f"%{byte:02x}" for byte in query.encode("utf-8", "surrogatepass"))
        told = ask(
            address, method, f"{path.partition('?')[0]}?from={given_query}&by={given_query}&sort={given_query}", body
        )
        check(told, (path, method, body, query))

    with_bodies()
    with_anything()
    assert client(address, "health/live") == {"status": "live"}


def test_nothing_that_is_sent_makes_it_fail(address):
    fuzz(address, FEW)


@pytest.mark.full
def test_nothing_of_very_much_makes_it_fail(address):
    fuzz(address, MANY)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"row":' * 50_000,
        b'{"row": {"age": 1e999}}',
        b'{"row": {"age": NaN}}',
        b'{"row": {"age": ' + b"9" * 5000 + b"}}",
        b'{"row": {"\\ud800": 1}}',
        b'{"row": {"age": "\\ud800"}}',
        b'\xff\xfe{"row": 1}',
        b"",
    ],
)
def test_bodies_that_break_readers(address, body):
    for path in ("explain", "predict", "evaluate"):
        check(ask(address, "POST", f"/v1/explainers/loan/{path}", body), body[:80])
