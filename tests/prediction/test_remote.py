"""Models behind HTTP, asked of a real server, and models that are coroutines."""

from __future__ import annotations

import asyncio
import json
import math
import pickle
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from countarfactuals import make_explainer
from countarfactuals.exceptions import ModelError, ParameterError
from countarfactuals.prediction.asynchronous import AsyncModel
from countarfactuals.prediction.remote import RemoteModel

from ..contracts import normal_table as normal
from ..contracts.checks import same

BAD = 77.0  # of column d: the service fails on a row that has it


class Service(ThreadingHTTPServer):
    """Logistic scores over HTTP; `mood` says how it misbehaves, for how many calls."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.mood, self.times = "well", 0
        self.bodies: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.metadata: Any = {}

    def url(self, path: str = "/predict") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def behave(self, mood: str, times: int = 10**6) -> None:
        self.mood, self.times = mood, times
        self.bodies.clear()


class Handler(BaseHTTPRequestHandler):
    server: Service

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.reply(200, self.server.metadata)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        server.bodies.append(body)
        server.headers.append(dict(self.headers))
        mood = server.mood if server.times > 0 else "well"
        server.times -= 1
        if mood == "slow":
            time.sleep(0.6)
        if mood == "closing":
            self.connection.close()
        elif mood == "dripping":
            self.drip()
        elif mood == "garbage":
            self.send(200, b"<html>no</html>")
        elif mood.isdigit():
            self.reply(int(mood), {"detail": "not {now}"})
        else:
            self.answer(body, mood)

    def answer(self, body: Any, mood: str) -> None:
        if "inputs" in body:
            cells = {one["name"]: one["data"] for one in body["inputs"]}
            if list(cells) == ["table"]:
                table = np.reshape(cells["table"], body["inputs"][0]["shape"])
                frame = pd.DataFrame(table, columns=list("abcdk"))
            else:
                frame = pd.DataFrame(cells)
            scores = normal.logistic(frame)
            outputs = [
                {"name": "label", "shape": [len(scores)], "datatype": "BYTES", "data": ["x"] * len(scores)},
                {"name": "predict_proba", "shape": [len(scores)], "datatype": "FP64", "data": scores.tolist()},
            ]
            self.reply(200, {"outputs": outputs})
            return
        frame = pd.DataFrame(next(iter(body.values())))
        if (frame["d"] == BAD).any():
            self.reply(422, {"detail": "too old"})
            return
        scores = normal.logistic(frame).tolist()
        shapes = {
            "plain list": scores,
            "pairs": {"predictions": [[1 - p, p] for p in scores]},
            "objects": {"predictions": [{"label": "good", "scores": [p]} for p in scores]},
            "words": {"predictions": ["good"] * len(scores)},
            "nothing": {"result": 1},
            "one too few": {"predictions": scores[1:]},
        }
        self.reply(200, shapes.get(mood, {"predictions": scores}))

    def reply(self, status: int, said: Any) -> None:
        self.send(status, json.dumps(said).encode())

    def send(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if status == 429:
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(content)

    def drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        try:
            for _ in range(20):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.1)
        except OSError:
            pass  # the reader has had enough


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(10)


@pytest.fixture
def service(running: Service) -> Service:
    running.behave("well", 0)
    running.metadata = {}
    return running


ROWS = normal.X.head(6)
EXPECTED = normal.logistic(ROWS)


# What is sent and read


@pytest.mark.parametrize("mood", ["well", "plain list", "pairs", "objects"])
@pytest.mark.parametrize("protocol", ["rows", "instances", "dataframe_records"])
def test_rows_as_json(service: Service, mood: str, protocol: str):
    service.behave(mood)
    scores = RemoteModel(service.url(), protocol=protocol)(ROWS)
    assert (scores[:, -1] == EXPECTED).all()
    assert service.bodies == [{protocol: ROWS.to_dict("records")}]


def test_the_inference_protocol_by_columns_and_by_one_tensor(service: Service):
    model = RemoteModel(service.url("/v2/models/loan"))
    assert (model(ROWS)[:, 0] == EXPECTED).all()
    assert [one["datatype"] for one in service.bodies[-1]["inputs"]] == ["FP64"] * 4 + ["INT64"]
    service.metadata = {"inputs": [{"name": "table", "datatype": "FP64", "shape": [-1, 5]}]}
    model = RemoteModel(service.url("/v2/models/loan/infer"))
    assert (model(ROWS)[:, 0] == EXPECTED).all()
    assert [one["shape"] for one in service.bodies[-1]["inputs"]] == [[6, 5]]
    with pytest.raises(ModelError, match="no output 'odds', only 'label', 'predict_proba'"):
        RemoteModel(service.url("/v2/models/loan"), output="odds")(ROWS)
    with pytest.raises(ModelError, match="'label' is no tensor of numbers"):
        RemoteModel(service.url("/v2/models/loan"), output="label")(ROWS)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_cells_as_json_knows_them(service: Service, library: str):
    frame = pd.DataFrame(
        {
            "a": [1.5, math.nan],
            "b": pd.to_datetime(["2020-01-02", None]),
            "c": pd.Categorical(["x", None]),
            "d": pd.array([1, None], "Int64"),
        }
    )
    sent = frame if library == "pandas" else pl.from_pandas(frame)
    service.behave("400")
    with pytest.raises(ModelError):
        RemoteModel(service.url())(sent)
    first, second = service.bodies[0]["rows"]
    assert first == {"a": 1.5, "b": "2020-01-02T00:00:00", "c": "x", "d": 1}
    assert second == dict.fromkeys("abcd")


def test_headers_are_sent_and_never_shown(service: Service):
    model = RemoteModel(service.url("/predict?key=secret"), headers={"Authorization": "Bearer secret"}, tries=1)
    model(ROWS)
    assert service.headers[-1]["Authorization"] == "Bearer secret"
    service.behave("500")
    with pytest.raises(ModelError) as error:
        model(ROWS)
    assert "secret" not in f"{error.value} {model!r} {model.__name__}"
    assert pickle.loads(pickle.dumps(model)).headers == model.headers


# What goes wrong


@pytest.mark.parametrize("mood", ["503", "429", "closing"])
def test_what_passes_is_tried_again(service: Service, mood: str):
    service.behave(mood, times=2)
    assert (RemoteModel(service.url(), tries=3)(ROWS)[:, 0] == EXPECTED).all()
    assert len(service.bodies) == 3


def test_after_all_tries_one_is_enough_until_it_answers(service: Service):
    model = RemoteModel(service.url(), tries=2)
    service.behave("500")
    for n_calls in (2, 3):
        with pytest.raises(ModelError, match=r"status 500: .*not \{now\}.*2 tries"):
            model(ROWS)
        assert len(service.bodies) == n_calls
    service.behave("well")
    model(ROWS)
    service.behave("500", times=1)
    model(ROWS)
    assert len(service.bodies) == 2


@pytest.mark.parametrize(
    ("mood", "told"),
    [
        ("404", "status 404"),
        ("garbage", "no JSON: '<html>"),
        ("nothing", "neither a list nor an object"),
        ("words", "not every prediction is a number"),
        ("closing", "can not be reached"),
        ("slow", r"within 0\.2 s"),
        ("dripping", r"within 0\.2 s"),
    ],
)
def test_what_does_not_pass_is_told(service: Service, mood: str, told: str):
    service.behave(mood)
    started = time.perf_counter()
    with pytest.raises(ModelError, match=f"127.0.0.1:[0-9]+/predict failed: .*{told}"):
        RemoteModel(service.url(), tries=1, timeout=0.2)(ROWS)
    assert time.perf_counter() - started < 10.0


def test_an_answer_has_a_largest_size(service: Service):
    with pytest.raises(ModelError, match="more than 20 bytes"):
        RemoteModel(service.url(), most_bytes=20)(ROWS)


def test_nobody_listens():
    with pytest.raises(ModelError, match="can not be reached"):
        RemoteModel("http://127.0.0.1:9/predict", tries=1)(ROWS)


@pytest.mark.parametrize("url", ["ftp://host/x", "file:///etc/passwd", "http://", "host/x", 3, "http://host:99999/x"])
def test_other_urls_are_refused(url: Any):
    with pytest.raises(ParameterError, match="http"):
        RemoteModel(url)


# As a model of an explainer


def fitted(model: Any, **parameters: Any) -> Any:
    settings = {"classes": ("bad", "good"), "density": normal.SMALL, "max_evaluations": 60, "random_state": 1}
    return make_explainer("arf", model, **settings, **parameters).fit(normal.X)


def test_a_url_is_a_model(service: Service):
    explainer, local = fitted(service.url()), fitted(normal.logistic)
    service.bodies.clear()
    batch = explainer.explain_many(ROWS)
    n_calls = len(service.bodies)
    assert [
        result.to_frame().equals(other.to_frame())
        for result, other in zip(batch, local.explain_many(ROWS), strict=True)
    ]
    assert all(same(batch[i], explainer.explain(ROWS.iloc[[i]])) for i in range(2))
    assert "found" in {result.status for result in batch}
    assert n_calls < 40


def test_an_error_of_the_service_costs_its_row_only(service: Service):
    explainer = fitted(RemoteModel(service.url(), tries=1))
    rows = ROWS.copy()
    whole = explainer.explain_many(rows)
    rows.iloc[2, 3] = BAD
    batch = explainer.explain_many(rows)
    assert list(batch.errors) == [2]
    assert 'status 422: {"detail": "too old"}' in batch.errors[2]
    assert all(same(batch[i], whole[i]) for i in (0, 1, 3, 4, 5))
    service.behave("one too few")
    assert len(explainer.explain_many(ROWS.head(2)).errors) == 2


class Coroutine:
    """Logistic scores by a coroutine, which notes how many calls wait at a time."""

    def __init__(self, is_rowwise: bool = True) -> None:
        self.waiting = self.most_waiting = 0
        self.is_rowwise = is_rowwise

    async def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        self.waiting += 1
        self.most_waiting = max(self.most_waiting, self.waiting)
        await asyncio.sleep(0.002)
        self.waiting -= 1
        if (frame["d"] == BAD).any():
            raise RuntimeError("too old")
        scores = normal.logistic(frame)
        return scores if self.is_rowwise or len(frame) < 3 else np.nextafter(scores, 0.0)


@pytest.mark.parametrize("is_rowwise", [True, False])
def test_a_coroutine_is_a_model(is_rowwise: bool):
    model = Coroutine(is_rowwise)
    explainer = fitted(model)
    alone = [explainer.explain(ROWS.iloc[[i]]) for i in range(3)]
    model.most_waiting = 0
    assert all(map(same, explainer.explain_many(ROWS.head(4)), alone))
    assert model.most_waiting == (1 if is_rowwise else 4)  # what can not be joined is asked at a time
    rows = ROWS.head(4).copy()
    rows.iloc[3, 3] = BAD
    batch = explainer.explain_many(rows)
    assert all(map(same, batch, alone))
    assert list(batch.errors) == [3]
    assert "too old" in batch.errors[3]


def test_a_coroutine_works_where_a_loop_is_running():
    async def notebook() -> Any:
        return fitted(Coroutine()).explain(ROWS.iloc[[0]])

    assert asyncio.run(notebook()).status in ("found", "none")


def test_a_coroutine_that_takes_too_long():
    async def sleepy(frame: pd.DataFrame) -> np.ndarray:
        await asyncio.sleep(30)
        return normal.logistic(frame)

    with pytest.raises(ModelError, match=r"sleepy.* within 0\.05 s"):
        AsyncModel(sleepy, timeout=0.05)(ROWS)
    with pytest.raises(ParameterError, match="async def"):
        AsyncModel(normal.logistic)  # type: ignore[arg-type]


def test_a_coroutine_goes_to_other_processes():
    model = pickle.loads(pickle.dumps(AsyncModel(Coroutine())))
    assert (model(ROWS) == EXPECTED).all()
