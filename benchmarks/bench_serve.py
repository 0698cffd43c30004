"""The service under load, on one machine: `python benchmarks/bench_serve.py [--short]`.

1. A random forest of 500 trees on the loan data is explained in a loop, one row after the other: the measure of all.
2. A server is started as users start it, and the time to its first explanation taken; then the overhead of one request
   over the library.
3. 50 clients at once ask for 1,000 explanations; each is compared with the loop's or, beyond its rows, counted. Told
   are the throughput, its ratio to the loop, and how long requests took.
4. 5,000 small requests, and the memory of the server before and after.

Everything is bounded: rows by --requests, time by --minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

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
            watch(address, pid, begun, explainer, X, own, (rate, cpu), options)


def watch(
    address: str,
    pid: int,
    begun: float,
    explainer: ARFExplainer,
    X: pd.DataFrame,
    own: list[Counterfactuals],
    loop: tuple[float, float],
    options: argparse.Namespace,
) -> None:
    rows = plain_rows(X)
    client(address, f"{LOAN}/explain", {"row": rows[0], "target": TARGET})
    waited = time.perf_counter() - begun
    print(f"first explanation {waited:.2f} s after the start, {cpu_seconds(pid):.2f} s of CPU", flush=True)
    print(f"overhead of a request: {overhead(address, explainer, X, rows):.1f} ms", flush=True)

    def asked(i: int) -> tuple[float, bool]:
        at = time.perf_counter()
        told = client(address, f"{LOAN}/explain", {"row": rows[i], "target": TARGET}, timeout=300)
        took = time.perf_counter() - at
        # the first rows were explained in the loop, too; of the others it is told whether they are this row's
        is_right = same(told, own[i]) if i < len(own) else told["view"]["status"] == "found"
        x = explainer.encode_row(rows[i])
        return took, is_right and np.array_equal(Counterfactuals.from_dict(told["result"]).x, x)

    started, computed = time.perf_counter(), cpu_seconds(pid)
    with ThreadPoolExecutor(options.clients) as pool:
        told = list(pool.map(asked, range(len(rows))))
    rate, cpu = len(told) / (time.perf_counter() - started), (cpu_seconds(pid) - computed) / len(told)
    took = sorted(seconds for seconds, _ in told)
    print(f"{options.clients} clients, {len(told)} explanations: {rate:.2f} a second, {rate / loop[0]:.2f} × the loop")
    print(f"{cpu:.2f} s of the server's CPU each, {loop[1] / cpu:.2f} × less than the loop")
    print(f"p50 {took[len(took) // 2]:.2f} s, p95 {took[int(0.95 * len(took))]:.2f} s, longest {took[-1]:.2f} s")
    print(f"lost or mixed up: {sum(not is_right for _, is_right in told)}", flush=True)
    memory(address, pid, rows, options.small)


def overhead(address: str, explainer: ARFExplainer, X: pd.DataFrame, rows: list[dict]) -> float:
    """Milliseconds that a request takes longer than the library, in turns; the median of the differences."""
    differences = []
    for i in range(1, 16):
        started = time.perf_counter()
        explainer.explain(X.iloc[[i]], TARGET)
        between = time.perf_counter()
        client(address, f"{LOAN}/explain", {"row": rows[i], "target": TARGET})
        differences.append(time.perf_counter() - between - (between - started))
    return 1000 * statistics.median(differences)


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
    print(f"memory over {n} requests: {', '.join(f'{mark:.0f}' for mark in marks)} MB")


if __name__ == "__main__":
    main()
