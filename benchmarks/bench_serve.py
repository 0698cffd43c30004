"""The service under load, on one machine: `python benchmarks/bench_serve.py`.

1. A random forest of 500 trees on the loan data is explained in a loop, one row after the other: the measure of all.
2. A server is started as users start it, and the time to its first explanation taken; then the overhead of one request
   over the library's `explain(…).to_json()`, without and with the words that a page shows of every counterfactual, and
   how long an edited cell waits for its evaluation.
3. A real browser opens the page with nothing kept: when the first field can be filled in and when there are rows to
   pick from, and how many bytes came besides the data. Without selenium and Chromium this is left out.
4. 50 clients at once ask for 1,000 explanations. Told are the throughput, its ratio to the loop, and how long requests
   took. Each answer is compared with what the library finds for its row, to the last bit.
5. The same in small among slow and broken clients: bodies that never end, answers that nobody reads, connections that
   are cut, and bytes that are no HTTP.
6. 5,000 small requests, and the memory of the server meanwhile.

Everything is bounded, by --requests, --troubled and --small; `--requests 60 --loop 5 --troubled 20 --small 300` is
short.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from countarfactuals import ARFExplainer, Counterfactuals
from countarfactuals.cli.folder import write
from countarfactuals.datasets import load_loan
from countarfactuals.serve import client

LOAN, TARGET = "v1/explainers/loan", "good"
RESULT = "application/vnd.countarfactuals+json"
WATCHED = """
window.reached = {};
const wanted = [".finder input:enabled", ".grid-body .grid-row:not(.waiting)"];
const look = () => wanted.forEach((css) => {
  if (!(css in window.reached) && document.querySelector(css))
    requestAnimationFrame(() => { window.reached[css] ??= performance.now(); });
});
new MutationObserver(look).observe(document, { childList: true, subtree: true, attributes: true });
"""
TAKEN = """
return [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter((one) => !new URL(one.name).pathname.startsWith("/v1/"))
  .reduce((sum, one) => sum + one.transferSize, 0);
"""
PATIENCE = 300  # seconds that a client waits


def fitted(folder: Path) -> ARFExplainer:
    loan = load_loan()
    one_hot = (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["education", "housing", "purpose"])
    columns = make_column_transformer(one_hot, ("passthrough", make_column_selector(dtype_include="number")))
    model = make_pipeline(columns, RandomForestClassifier(500, random_state=1)).fit(loan.X, loan.y)
    explainer = ARFExplainer(model, random_state=1).fit(loan.X)
    import joblib

    joblib.dump(model, folder.parent / "model.joblib")
    write(folder, explainer, model, str(folder.parent / "model.joblib"), {"made": "file", "outcome": "quality"})
    return explainer


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, int, float]]:
    """The address, the process and when it was started."""
    arguments = ["serve", "--explainer", folder, "--trust-model", "--port", 0, "--no-browser"]
    arguments += ["--jobs-folder", folder.parent / "jobs"]
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "countarfactuals", *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        yield next(word for word in told.split() if word.startswith("http")).rstrip("/"), process.pid, started
    finally:
        process.terminate()
        process.wait(20)


def resident(pid: int) -> float:
    """Memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_seconds(pid: int) -> float:
    """What a process has computed, which does not depend on what else runs."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def plain_rows(X: pd.DataFrame) -> list[dict]:
    found: list[dict] = json.loads(X.to_json(orient="records"))
    return found


def same(told: dict, own: Counterfactuals) -> bool:
    found = Counterfactuals.from_dict(told["result"])
    return found.rows.tobytes() == own.rows.tobytes() and np.array_equal(found.scores, own.scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000, help="explanations that are asked for")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--loop", type=int, default=40, help="explanations of the loop")
    parser.add_argument("--troubled", type=int, default=100, help="explanations among slow and broken clients")
    parser.add_argument("--small", type=int, default=5000, help="requests among which memory is watched")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "loan"
        explainer = fitted(folder)
        X = load_loan().X
        bad = X[explainer.model.predict(X) == "bad"]
        X = pd.concat([bad] * (options.requests // len(bad) + 1)).iloc[: options.requests]
        explainer.explain(X.iloc[[0]], TARGET)
        started, computed = time.perf_counter(), time.process_time()
        own = [explainer.explain(X.iloc[[i]], TARGET) for i in range(options.loop)]
        rate, cpu = options.loop / (time.perf_counter() - started), (time.process_time() - computed) / options.loop
        print(f"loop of explain: {rate:.2f} a second, {cpu:.2f} s of CPU each ({options.loop} rows)", flush=True)
        with serving(folder) as (address, pid, begun):
            told = watch(address, pid, begun, explainer, X, (rate, cpu), options)
        # only now, as it would have taken the processor from the server
        more = explainer.explain_many(X.iloc[options.loop :], TARGET) if len(X) > options.loop else []
        wrong = sum(not same(one, mine) for one, mine in zip(told, [*own, *more], strict=False))
        print(f"lost or mixed up: {wrong} of {len(told)}, compared with the library to the last bit", flush=True)


def watch(
    address: str,
    pid: int,
    begun: float,
    explainer: ARFExplainer,
    X: pd.DataFrame,
    loop: tuple[float, float],
    options: argparse.Namespace,
) -> list[dict]:
    """All that is measured of a server; the answers about the rows of X."""
    rows = plain_rows(X)
    client(address, f"{LOAN}/explain", {"row": rows[0], "target": TARGET})
    waited = time.perf_counter() - begun
    print(f"first explanation {waited:.2f} s after the start, {cpu_seconds(pid):.2f} s of CPU", flush=True)
    for what, accept in (("the result", RESULT), ("the result and all words of the page", "*/*")):
        longer = overhead(address, explainer, X, rows, accept)
        print(f"overhead of {what}: {told_of(longer, 1000, 'ms')}", flush=True)
    print(f"evaluation of an edited row: {told_of(evaluations(address, rows), 1000, 'ms')}", flush=True)
    page(address)
    started, computed = time.perf_counter(), cpu_seconds(pid)
    answers, took = load(address, rows, options.clients)
    rate, cpu = len(rows) / (time.perf_counter() - started), (cpu_seconds(pid) - computed) / len(rows)
    print(f"{options.clients} clients, {len(rows)} explanations: {rate:.2f} a second, {rate / loop[0]:.2f} × the loop")
    print(f"{cpu:.2f} s of the server's CPU each, {loop[1] / cpu:.2f} × less than the loop")
    print(f"requests took {told_of(took, 1, 's')}", flush=True)
    few = rows[: options.troubled]
    with troubled(address):
        again, took = load(address, few, options.clients)
    differ = sum(
        not same(one, Counterfactuals.from_dict(other["result"])) for one, other in zip(again, answers, strict=False)
    )
    print(
        f"among slow and broken clients {len(few)} requests took {told_of(took, 1, 's')}; {differ} differ", flush=True
    )
    memory(address, pid, rows, options.small)
    return answers


def load(address: str, rows: Sequence[dict], n_clients: int) -> tuple[list[dict], list[float]]:
    """The answers to as many clients at once, and how long each took."""

    def asked(row: dict) -> tuple[dict, float]:
        at = time.perf_counter()
        told = client(address, f"{LOAN}/explain", {"row": row, "target": TARGET}, timeout=PATIENCE)
        return told, time.perf_counter() - at

    with ThreadPoolExecutor(n_clients) as pool:
        told = list(pool.map(asked, rows))
    return [answer for answer, _ in told], [seconds for _, seconds in told]


def told_of(seconds: Sequence[float], times: float, unit: str) -> str:
    """The middle, what one of twenty exceeds, and the most."""
    took = np.sort(seconds) * times
    return f"p50 {np.median(took):.3g}, p95 {took[int(0.95 * len(took))]:.3g}, longest {took[-1]:.3g} {unit}"


def evaluations(address: str, rows: Sequence[dict], n: int = 40) -> list[float]:
    """How long each of some evaluations takes, one after the other."""
    found = []
    for k in range(n):
        at = time.perf_counter()
        edited = {**rows[0], "savings": 1000.0 + 50 * k}
        client(address, f"{LOAN}/evaluate", {"row": edited, "x": rows[0], "target": TARGET})
        found.append(time.perf_counter() - at)
    return found


@contextmanager
def troubled(address: str, n: int = 5) -> Iterator[None]:
    """Meanwhile some clients of each kind that send slowly, do not read, go away, or speak no HTTP."""
    split, is_over = urlsplit(address), Event()

    def connected() -> socket.socket:
        return socket.create_connection((str(split.hostname), split.port or 80), timeout=10)

    def sent(body: bytes, length: int) -> bytes:
        head = f"POST /{LOAN}/explain-many HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        return f"{head}Content-Length: {length}\r\n\r\n".encode() + body

    def slow() -> None:
        with connected() as made:
            made.sendall(sent(b"{", 1000))
            while not is_over.wait(0.5):
                made.sendall(b" ")

    def unread() -> None:
        body = json.dumps({"keys": list(range(20)), "target": TARGET, "max_evaluations": 50}).encode()
        with connected() as made:
            made.sendall(sent(body, len(body)))
            is_over.wait()

    def broken(what: bytes) -> None:
        while not is_over.wait(0.2):
            with connected() as made:
                made.sendall(what)

    def going(client_of_a_kind: partial[None]) -> None:
        while not is_over.wait(0.2):
            with suppress(OSError):  # the server has had enough of it
                client_of_a_kind()

    kinds = [
        partial(slow),
        partial(unread),
        partial(broken, sent(b"{", 1000)),
        partial(broken, b"\x16\x03\x01 no HTTP"),
    ]
    threads = [Thread(target=going, args=(kind,)) for kind in kinds for _ in range(n)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join(20)


def overhead(
    address: str, explainer: ARFExplainer, X: pd.DataFrame, rows: list[dict], accept: str, n: int = 40
) -> list[float]:
    """How much longer each of some requests takes than the library, in turns."""
    differences = []
    for i in range(1, min(n + 1, len(rows))):
        started = time.perf_counter()
        explainer.explain(X.iloc[[i]], TARGET).to_json()
        between = time.perf_counter()
        client(address, f"{LOAN}/explain", {"row": rows[i], "target": TARGET}, accept=accept)
        differences.append(time.perf_counter() - between - (between - started))
    return differences


def page(address: str, n: int = 15) -> None:
    """How a browser without a screen gets to the page, each time with nothing kept."""
    binary, service = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if binary is None or service is None or find_spec("selenium") is None:
        print("page: not measured without selenium, Chromium and chromedriver", flush=True)
        return
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=service))
    try:
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCHED})
        visits = [visit(driver, address) for _ in range(n)]
    finally:
        driver.quit()
    for k, what in enumerate(("a field that can be filled in", "rows to pick from")):
        print(f"page: {what} after {told_of([times[k] for times, _ in visits], 0.001, 's')}", flush=True)
    print(f"page: {max(taken for _, taken in visits) / 1000:.0f} kB besides the data", flush=True)


def visit(driver: Any, address: str) -> tuple[list[float], float]:
    """Milliseconds from the beginning until there is what `WATCHED` waits for, and bytes besides the data."""
    driver.get("about:blank")
    driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    driver.get(f"{address}/")
    latest = time.monotonic() + PATIENCE
    while len(found := driver.execute_script("return Object.values(window.reached)")) < 2:
        if time.monotonic() > latest:
            raise TimeoutError("the page has no rows to pick from")
        time.sleep(0.05)
    return sorted(found), driver.execute_script(TAKEN)


def memory(address: str, pid: int, rows: list[dict], n: int) -> None:
    """Small explanations, evaluations and predictions, and the memory at some points between."""
    marks = []
    for k in range(n):
        row = rows[k % len(rows)]
        if k % 10 == 0:
            client(address, f"{LOAN}/explain", {"row": row, "target": TARGET, "max_evaluations": 50})
        elif k % 10 == 5:
            client(address, f"{LOAN}/evaluate", {"row": row, "x": rows[0], "target": TARGET})
        else:
            client(address, f"{LOAN}/predict", {"rows": [row]})
        if k % max(n // 5, 1) == 0 or k == n - 1:
            marks.append(resident(pid))
    print(f"memory over {n} requests: {', '.join(f'{mark:.0f}' for mark in marks)} MB, ", end="")
    print(f"{marks[-1] - marks[1]:+.0f} MB after the first fifth", flush=True)


if __name__ == "__main__":
    main()
