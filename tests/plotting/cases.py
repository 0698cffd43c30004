"""Results of every awkward shape, and small fitted explainers, for all pictures."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals import AdversarialRandomForest, ARFExplainer
from countarfactuals.counterfactuals import Counterfactuals, Diagnosis
from countarfactuals.prediction import Target
from countarfactuals.schema import Schema
from tests.contracts.tables import LABELS, Scorer, columns, frame_of
from tests.counterfactuals.examples import REGRESSION, loans, probabilities, result, wide

HOSTILE = (
    "$income$ in $",
    "line\nbreak\tand tab",
    "",
    "_hidden",
    r"\frac{1}{0} $\undefined$",
    "<script>alert('x')</script>",
    "a name that goes on and on " * 8,
    "{percent} %d %s",
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
)


def tiny() -> Counterfactuals:
    """Two features and one counterfactual that changes one of them."""
    return result(pd.DataFrame({"age": [30, 41], "job": ["clerk", "clerk"]}))


def hostile(n: int = 6) -> Counterfactuals:
    """Names and levels that break careless drawing."""
    rng = np.random.default_rng(3)
    levels = ["$x$ and $y$", "two\nlines", r"\alpha_$", "a category whose name is long " * 4, "_", "{}%s"]
    frame = pd.DataFrame(
        {
            name: rng.choice(levels, n + 1) if j % 2 else rng.normal(size=n + 1) * 10.0 ** (3 * j - 12)
            for j, name in enumerate(HOSTILE)
        }
    )
    return result(
        frame,
        target=Target("$good$\n"),
        method="$m$",
        score_columns=probabilities("$good$"),
        x_label="$bad",
        labels=["$a$"] * n,
    )


def many_levels(n: int = 30) -> Counterfactuals:
    """A category with 300 levels, of which more are in use than have a place."""
    rng = np.random.default_rng(4)
    levels = [f"town number {i}" for i in range(300)]
    towns = pd.Categorical(rng.choice(levels, n + 1), categories=levels)
    return result(pd.DataFrame({"town": towns, "size": rng.normal(size=n + 1)}))


def missing() -> Counterfactuals:
    """x and counterfactuals have missing cells, in numbers and levels; one is filled, one emptied."""
    jobs = pd.Categorical([None, "clerk", "nurse", None], categories=["clerk", "nurse"])
    return result(
        pd.DataFrame({"amount": [np.nan, 10.0, np.nan, 30.0], "job": jobs, "age": [30.0, 30.0, np.nan, 31.0]})
    )


def multiclass() -> Counterfactuals:
    scores = np.random.default_rng(5).dirichlet(np.ones(5), 4)
    return result(x_scores=np.full(5, 0.2), scores=scores, score_columns=probabilities(*"abcde"), labels=list("abca"))


def regression() -> Counterfactuals:
    return result(score_columns=REGRESSION, x_scores=[1e6], x_label=1e6, scores=np.c_[[1e6, 2e6, 3e6, 4e6]])


def unknown_typicality() -> Counterfactuals:
    return result(typicality=[np.nan] * 4, x_typicality=np.nan)


def infinite() -> Counterfactuals:
    return result(log_density=[-np.inf] * 4, typicality=[0.0] * 4, x_typicality=0.0)


FULL = {
    "loans": result,
    "tiny": tiny,
    "wide": lambda: wide(60, 200),
    "hostile": hostile,
    "many levels": many_levels,
    "missing": missing,
    "multiclass": multiclass,
    "regression": regression,
    "unknown typicality": unknown_typicality,
    "infinite": infinite,
}


def _without_rows(status: str, **known: Any) -> Counterfactuals:
    frame = loans()
    schema = Schema.infer(frame)
    return Counterfactuals.empty(
        schema, schema.encode(frame)[0], target=Target("$good$"), method="moc", status=status,
        score_columns=probabilities("good"), x_scores=[0.3], x_label="bad", objectives=("distance",), **known,
    )  # fmt: skip


EMPTY = {
    "none": lambda: _without_rows("none", diagnosis=Diagnosis(n_tried=900, n_invalid=900)),
    "already": lambda: _without_rows("already"),
    "error": lambda: _without_rows("error", error="The model failed on $x$.\nBadly."),
    "filtered": lambda: result().filter(max_distance=0.0),
}


@cache
def explainer(table: str = "mixed", task: str = "binary") -> ARFExplainer:
    """A small one, fitted to a table of `tests.contracts.tables`."""
    X = frame_of(columns(table), "pandas")
    forest = AdversarialRandomForest(n_estimators=8, min_samples_leaf=5)
    return ARFExplainer(
        Scorer(table, task), density=forest, classes=LABELS.get(task), max_evaluations=200, random_state=1
    ).fit(X)


@cache
def explained(table: str = "mixed", task: str = "binary", at: int = 0) -> tuple[Any, Counterfactuals]:
    """A row that does not have the outcome, and its counterfactuals."""
    ours = explainer(table, task)
    X = frame_of(columns(table), "pandas")
    target: Any = {"binary": "good", "multiclass": "d", "regression": (2.0, 5.0)}[task]
    rows = [X.iloc[[i]] for i in range(40)]
    found = [(row, ours.explain(row, target)) for row in rows[:6]]
    found = [pair for pair in found if len(pair[1])]
    return found[at]


@cache
def hostile_explainer() -> tuple[ARFExplainer, pd.DataFrame]:
    """Fitted to 60 features with names and levels that break careless drawing, and classes that do; and its data."""
    rng = np.random.default_rng(6)
    levels = ["$x$ and $y$", "two\nlines", "a category whose name is long " * 4, "_"]
    names = [*HOSTILE, *(f"a feature whose name is long, number {j}" for j in range(60 - len(HOSTILE)))]
    X = pd.DataFrame({name: rng.choice(levels, 150) if j % 2 else rng.normal(size=150) for j, name in enumerate(names)})

    def model(frame: Any) -> np.ndarray:
        score = frame[HOSTILE[0]] + 0.5 * (frame[HOSTILE[1]] == "_") + 0.3 * frame[HOSTILE[6]]
        return 1 / (1 + np.exp(-score.to_numpy(float)))

    forest = AdversarialRandomForest(n_estimators=5, min_samples_leaf=10)
    ours = ARFExplainer(model, density=forest, classes=("$bad$", "$good$\n"), max_evaluations=200, random_state=1)
    return ours.fit(X), X


def with_history(**changes: Any) -> Counterfactuals:
    """A result of a search in generations."""
    course = {
        "generation": [0, 1, 2, 3, 4],
        "hypervolume": [0.0, 0.2, 0.495, 0.498, 0.5],
        "best": {"distance": [0.4, 0.3, 0.2, 0.2, 0.1]},
        "mean": {"distance": [0.5, 0.4, 0.3, 0.3, 0.2]},
    }
    return result(method="moc", provenance={"history": course | changes})
