"""What is shown first: is each change needed, is the first row typical, and what does finding that out cost?

    python benchmarks/bench_first.py [--tables breast_cancer wine loan diamonds] [--rows 12] [--only shown shares]

A random forest learns the wanted outcome from 70 % of the rows; fresh rows that it denies it are explained by the
default settings. `diamonds` is reported, never tuned on (`real_tables.py` has it).

1. `shown`, by table:

   | column | meaning |
   |---|---|
   | `rows` | rows that were explained |
   | `handed out` | counterfactuals in all |
   | `removable` | share of these with a change that is not needed: see below |
   | `beyond` | rows in which something else is typical by 50 % |
   | `first` | median typicality of `select(1)` in these |
   | `least` | its least in these |
   | `changes` | mean number of changes of `select(1)` in all |

   A change is not needed if with this one cell back at x, alone or with all that follows from others, the row has the
   outcome, violates nothing, and its implausibility is no higher. The check shares nothing with the search but the
   measure of plausibility: cells are put back in frames one by one, the model is asked with these, and `evaluate` tells
   broken relations.
2. `shares`, in CPU seconds of one thread: what discovering relations takes of a fit; and what an explanation takes,
   without the model's time, to keep relations and compute columns, to choose what is shown, and to take changes back.
   The last judges rows, and contains some of the first.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
import real_tables
from bench_explain import show
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from countarfactuals import ARFExplainer, Counterfactuals
from countarfactuals.counterfactuals import select
from countarfactuals.datasets import load_loan
from countarfactuals.evaluation import evaluate
from countarfactuals.exceptions import DensityWarning
from countarfactuals.explainers import answer, background, base, kept

TRAIN, FOUND = 0.7, 0.5


class Case(NamedTuple):
    """Rows that train and fresh ones, with the outcome of both."""

    train: pd.DataFrame
    y: np.ndarray
    fresh: pd.DataFrame
    wanted: Any


def _of_scikit_learn(load: Callable[..., Any], wanted: int) -> Case:
    X, y = load(return_X_y=True, as_frame=True)
    return _split(X, y.to_numpy(), wanted)


def _split(X: pd.DataFrame, y: np.ndarray, wanted: Any) -> Case:
    order = np.random.default_rng(0).permutation(len(X))
    train, fresh = np.split(order, [int(TRAIN * len(X))])
    return Case(X.iloc[train].reset_index(drop=True), y[train], X.iloc[fresh].reset_index(drop=True), wanted)


def _loan() -> Case:
    loan = load_loan()
    return _split(loan.X, loan.y.to_numpy(), "good")


def _diamonds() -> Case:
    table = real_tables.load("diamonds")
    return Case(table.train, table.y, table.fresh, True)


CASES: dict[str, Callable[[], Case]] = {
    "breast_cancer": lambda: _of_scikit_learn(load_breast_cancer, 1),
    "wine": lambda: _of_scikit_learn(load_wine, 0),
    "loan": _loan,
    "diamonds": _diamonds,
}


def model_of(case: Case) -> Any:
    """A forest over levels one by one and numbers as they are."""
    levels = make_column_selector(dtype_exclude="number")
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((one_hot, levels), remainder="passthrough")
    return make_pipeline(columns, RandomForestClassifier(100, random_state=1)).fit(case.train, case.y)


def denied(case: Case, model: Any, n: int) -> pd.DataFrame:
    """Fresh rows that the model does not give what is wanted."""
    return case.fresh[model.predict(case.fresh) != case.wanted].head(n)


# Shown


def shown(name: str, n: int) -> dict[str, Any]:
    case = CASES[name]()
    model = model_of(case)
    rows = denied(case, model, n)
    explainer = ARFExplainer(model, random_state=1).fit(case.train)
    results = explainer.explain_many(rows, case.wanted).results
    found = [result for result in results if len(result)]
    could = [result.select(1).typicality[0] for result in found if result.typicality.max() >= FOUND]
    removable = [
        len(needless(explainer, model, case.wanted, rows.iloc[[i]], result, k)) > 0
        for i, result in enumerate(results)
        for k in range(len(result))
    ]
    return {
        "table": name,
        "rows": len(results),
        "handed out": len(removable),
        "removable": np.mean(removable),
        "beyond": len(could),
        "first": np.median(could) if could else np.nan,
        "least": min(could, default=np.nan),
        "changes": np.mean([result.select(1).n_changed[0] for result in found]),
    }


def needless(
    explainer: ARFExplainer, model: Any, wanted: Any, x: pd.DataFrame, result: Counterfactuals, k: int
) -> list[str]:
    """Names of the cells of a counterfactual that can be put back, found one by one."""
    row = result.to_frame()[x.columns].iloc[[k]].reset_index(drop=True)
    x = x.reset_index(drop=True)
    at = np.flatnonzero(result.changed[k] & ~result.consequence[k])
    along = [str(x.columns[j]) for j in np.flatnonzero(result.consequence[k])]
    tried = [_put_back(row, x, [str(x.columns[j])]) for j in at]
    tried += [_put_back(row, x, [str(x.columns[j]), *along]) for j in at] if along else []
    names = [str(x.columns[j]) for j in at] * (2 if along else 1)
    differ = [not frame.astype(object).equals(x.astype(object)) for frame in tried]
    names = [name for name, differs in zip(names, differ, strict=True) if differs]
    tried = [frame for frame, differs in zip(tried, differ, strict=True) if differs]
    if not tried:
        return []
    frame = pd.concat([row, *tried], ignore_index=True)
    measures = evaluate(frame, x, explainer, wanted)
    good = (model.predict(frame) == wanted) & (measures["violated"] == "").to_numpy()
    cost = measures["implausibility"].to_numpy()
    return [name for name, is_good, own in zip(names, good[1:], cost[1:], strict=True) if is_good and own <= cost[0]]


def _put_back(row: pd.DataFrame, x: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    shorter = row.copy()
    shorter[names] = x[names]
    return shorter


# Shares


@dataclass
class Clock:
    """CPU seconds within some functions; those that call each other count once."""

    seconds: float = 0.0
    depth: int = field(default=0, repr=False)

    @contextmanager
    def running(self) -> Iterator[None]:
        begun, self.depth = time.process_time(), self.depth + 1
        try:
            yield
        finally:
            self.depth -= 1
            self.seconds += time.process_time() - begun if self.depth == 0 else 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with its seconds counted."""

        def call(*args: Any, **kwargs: Any) -> Any:
            with self.running():
                return function(*args, **kwargs)

        return call

    def timed_search(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A search with its own steps counted, not what it waits for."""

        def steps(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            search = function(*args, **kwargs)
            answered = None
            while True:
                try:
                    with self.running():
                        question = search.send(answered)
                except StopIteration as end:
                    return end.value
                answered = yield question

        return steps


def shares(name: str, n: int) -> dict[str, Any]:
    case = CASES[name]()
    model = model_of(case)
    rows = denied(case, model, n)
    ARFExplainer(model, random_state=1).fit(case.train.head(200)).explain(rows.head(1), case.wanted)  # compiles
    discovery, asked, derived, chosen, taken = Clock(), Clock(), Clock(), Clock(), Clock()
    explainer = ARFExplainer(asked.timed(model.predict_proba), classes=list(model.classes_), random_state=1)
    with patch.object(background, "discover", discovery.timed(background.discover)):
        begun = time.process_time()
        explainer.fit(case.train)
        fit = time.process_time() - begun
    asked.seconds = 0.0
    with ExitStack() as patches:
        for function in ("mended", "broken", "consequences", "freed"):
            patches.enter_context(patch.object(kept.Kept, function, derived.timed(getattr(kept.Kept, function))))
        patches.enter_context(patch.object(answer, "burden", chosen.timed(select.burden)))
        patches.enter_context(patch.object(base, "take_back", taken.timed_search(base.take_back)))
        begun = time.process_time()
        for i in range(len(rows)):
            result = explainer.explain(rows.iloc[[i]], case.wanted)
            with chosen.running():
                result.select(3)
        explanations = time.process_time() - begun - asked.seconds
    return {
        "table": name,
        "fit, s": fit,
        "discovery": discovery.seconds / fit,
        "explanation, s": explanations / len(rows),
        "relations and derived": derived.seconds / explanations,
        "chosen": chosen.seconds / explanations,
        "taken back": taken.seconds / explanations,
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--rows", type=int, default=12, help="rows that are explained, of each table")
    parser.add_argument("--only", nargs="+", choices=["shown", "shares"], default=["shown", "shares"])
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", DensityWarning)
    if "shown" in options.only:
        show("Shown first", [shown(name, options.rows) for name in options.tables], "{:.3f}")
    if "shares" in options.only:
        show("Shares of the time", [shares(name, options.rows) for name in options.tables], "{:.3f}")


if __name__ == "__main__":
    main()
