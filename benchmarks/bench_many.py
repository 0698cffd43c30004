"""Many rows: what a row costs when the model is asked once for all that wait, beside a loop of `explain`.

    python benchmarks/bench_many.py [--rows 200] [--looped 40] [--only forest boosting vectors sleeping]

Rows of the loan data that the model rejects are explained with default settings, on one thread. Per row, in ms of CPU
time, which other programs do not change much:

1. `loop`: `explain`, row after row, and how much of it is the model's time; what is left is the explainer's own.
2. `one call`: the model's time on all rows that the batch asked about, handed to it in one call.
3. `explain_many`: in one process, and how much of it is the model's time.
4. `ratio`: `explain_many` over own + 1.5 · `one call`; it should be 1 at most.
5. Calls of the model in a loop and in `explain_many`, for as many rows as were looped.

A model that sleeps 50 ms per call, as one that is asked over a network: how many seconds of CPU and sleep it takes more
to explain all rows than with the same model that does not sleep; 2 at most. All is compiled before.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from countarfactuals import ARFExplainer
from countarfactuals.datasets import load_loan

ASLEEP = 0.05  # seconds per call
WANTED = "good"


@dataclass
class Watch:
    """What a predictor was asked: each call's rows, and the seconds that they took."""

    ask: Callable[[Any], Any]
    frames: list[Any] = field(default_factory=list)
    seconds: float = 0.0

    def __call__(self, frame: Any) -> Any:
        started = time.process_time()
        scores = self.ask(frame)
        self.seconds += time.process_time() - started
        self.frames.append(frame)
        return scores


def models(X: pd.DataFrame, y: pd.Series) -> dict[str, Any]:
    """Fitted pipelines by name; support vectors get numbers without gaps."""
    numbers = make_column_selector(dtype_include="number")
    levels = (
        OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
        make_column_selector(dtype_include="category"),
    )
    kinds = {
        "forest": (RandomForestClassifier(500, random_state=1), "passthrough"),
        "boosting": (HistGradientBoostingClassifier(random_state=1), "passthrough"),
        "vectors": (SVC(random_state=1), StandardScaler()),
    }
    return {
        name: make_pipeline(make_column_transformer(levels, (scaling, numbers), sparse_threshold=0), model).fit(X, y)
        for name, (model, scaling) in kinds.items()
    }


def watched(explainer: ARFExplainer) -> Watch:
    """From now on every call of the explainer's model is noted."""
    background = explainer.background_
    ask = background.predictor.ask
    watch = Watch(ask.ask if isinstance(ask, Watch) else ask)
    explainer.background_ = replace(background, predictor=replace(background.predictor, ask=watch))
    return watch


def rejected(model: Any, X: pd.DataFrame, n: int) -> pd.DataFrame:
    """The first n rows that shall have another outcome."""
    return X[np.asarray(model.predict(X)) != WANTED].head(n)


def compare(name: str, model: Any, X: pd.DataFrame, n_rows: int, n_looped: int) -> dict[str, Any]:
    """One line of the table."""
    explainer = ARFExplainer(model, random_state=1).fit(X)
    rows = rejected(model, X, n_rows)
    explainer.explain_many(rows.head(2), WANTED, progress=False)  # compiles
    watch, started = watched(explainer), time.process_time()
    for i in range(n_looped):
        explainer.explain(rows.iloc[[i]], WANTED)
    loop, in_loop, n_calls = time.process_time() - started, watch.seconds, len(watch.frames)
    watch = watched(explainer)
    explainer.explain_many(rows.head(n_looped), WANTED, progress=False)
    n_joint = len(watch.frames)
    watch, started = watched(explainer), time.process_time()
    explainer.explain_many(rows, WANTED, progress=False)
    many, in_many = time.process_time() - started, watch.seconds
    every, started = pd.concat(watch.frames), time.process_time()
    watch.ask(every)
    one_call = time.process_time() - started
    own = 1000.0 * (loop - in_loop) / n_looped
    one = 1000.0 * one_call / len(rows)
    return {
        "model": name,
        "rows": len(rows),
        "loop": 1000.0 * loop / n_looped,
        "of it model": 1000.0 * in_loop / n_looped,
        "own": own,
        "one call": one,
        "explain_many": 1000.0 * many / len(rows),
        "of it model ": 1000.0 * in_many / len(rows),
        "ratio": 1000.0 * many / len(rows) / (own + 1.5 * one),
        f"calls, loop of {n_looped}": n_calls,
        "calls, explain_many": n_joint,
    }


def sleeping(model: Any, X: pd.DataFrame, n_rows: int) -> pd.DataFrame:
    """Seconds of all rows with a model that sleeps, and with one that does not."""
    pause = [0.0]

    def slow(frame: pd.DataFrame) -> np.ndarray:
        time.sleep(pause[0])
        return np.asarray(model.predict_proba(frame))[:, 1]

    explainer = ARFExplainer(slow, classes=("bad", "good"), random_state=1).fit(X)
    rows = rejected(model, X, n_rows)
    explainer.explain_many(rows.head(2), WANTED, progress=False)
    lines = []
    for pause[0] in (0.0, ASLEEP):
        watch, started, begun = watched(explainer), time.process_time(), time.perf_counter()
        explainer.explain_many(rows, WANTED, progress=False)
        busy, n_calls = time.process_time() - started, len(watch.frames)
        line = {"sleeps, ms": 1000 * pause[0], "calls": n_calls, "CPU": busy, "asleep": pause[0] * n_calls}
        lines.append(line | {"by the clock": time.perf_counter() - begun})
    return pd.DataFrame(lines).assign(more=lambda table: (table["CPU"] + table["asleep"]).diff())


def memory(model: Any, X: pd.DataFrame) -> pd.DataFrame:
    """Most memory beside the results, in MB, for more and more rows."""
    explainer = ARFExplainer(model, random_state=1, max_evaluations=100).fit(X)
    lines = []
    for n in (50, 200, 800):
        rows = pd.concat([rejected(model, X, n)] * 10).head(n).reset_index(drop=True)
        tracemalloc.start()
        batch = explainer.explain_many(rows, WANTED, progress=False)
        kept, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        lines.append({"rows": len(batch), "results": kept / 1e6, "beside them": (most - kept) / 1e6})
    return pd.DataFrame(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--looped", type=int, default=40, help="rows that are explained one by one")
    parser.add_argument("--only", nargs="+", choices=["forest", "boosting", "vectors", "sleeping", "memory"])
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    loan = load_loan()
    X = loan.X.fillna(loan.X.median(numeric_only=True))
    fitted = models(X, loan.y)
    wanted = options.only or [*fitted, "sleeping", "memory"]
    with threadpool_limits(1), pd.option_context("display.width", 200, "display.max_columns", 20):
        lines = [compare(name, fitted[name], X, options.rows, options.looped) for name in fitted if name in wanted]
        if lines:
            print(pd.DataFrame(lines).set_index("model").round(1).T.to_string())
        if "sleeping" in wanted:
            print(sleeping(fitted["boosting"], X, options.rows).round(1).to_string(index=False))
        if "memory" in wanted:
            print(memory(fitted["boosting"], X).round(1).to_string(index=False))


if __name__ == "__main__":
    main()
