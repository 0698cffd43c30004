"""One explanation of the study, and the measures of every valid candidate that it evaluated, one line each.

`Explainer.explain` hands out the non-dominated rows. The study needs all that were evaluated and are counterfactuals:
the correlations of RQ2 and the scale of the published hypervolume are taken over them.

| column | of a candidate c for the row x |
|---|---|
| `score`, `validity` | the black box's score, and its distance to the wanted range: 0, as only valid rows are kept |
| `distance` | Gower distance to x |
| `n_changed`, `share_changed` | number and share of features that differ from x |
| `arf_plausibility` | the learned plausibility, by all judges that are seated (`Plausibility.overall`) |
| `gower_plausibility` | minus the Gower distance to the nearest real row |
| `log_density` | the true log density |
| `own_cost` | what the method itself minimises for plausibility |
| `nondominated` | whether no other candidate of it beats c in `distance`, `share_changed` and `own_cost` |
| `typicality` | what is claimed: the share of real rows that are less typical; NaN where c is dominated |

The own cost is minus the leader's measure for ARF, MOCARF and WhatIf, the distance to the nearest real row for MOC and
MOCCTREE, and the autoencoder's error for NICE. Typicality is claimed of what is handed out, the non-dominated rows.
After the measures stand the features, levels as numbers.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import pandas as pd

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.explainers import Explainer
from countarfactuals.explainers.nice import NICEExplainer
from countarfactuals.explainers.problem import Problem
from countarfactuals.language.spelling import joined
from countarfactuals.objectives import DISTANCE, IMPLAUSIBILITY, N_CHANGED, changed, nondominated
from countarfactuals.plausibility import Plausibility
from countarfactuals.prediction import Target
from countarfactuals.study.sets import Case

KEYS = ("dataset", "method", "instance")
MEASURES = (
    "score",
    "validity",
    "distance",
    "n_changed",
    "share_changed",
    "arf_plausibility",
    "gower_plausibility",
    "log_density",
    "own_cost",
    "nondominated",
    "typicality",
)
_JUDGES = {"forest": "the forest", "mixture": "a Gaussian mixture", "conditionals": "each column given the others"}


class Explanation(NamedTuple):
    """What one explanation gave."""

    problem: Problem
    rows: np.ndarray  # (n, p) distinct rows that were evaluated, encoded
    scores: np.ndarray  # (n, 1) the black box's
    n_evaluated: int  # x included
    result: Counterfactuals
    seconds: float


def explain(explainer: Explainer, x: pd.DataFrame, target: Target) -> Explanation:
    """Explain a row, and keep the ledger."""
    started = time.perf_counter()
    result, problem = explainer.trace(x, target)
    seconds = time.perf_counter() - started
    return Explanation(problem, *problem.ledger(), result.provenance["evaluations"], result, seconds)


def share_background(explainer: Explainer, shared: Explainer) -> float:
    """Fit an explainer by what another one has learned, and what it learns on its own; seconds of the latter.

    MOCCTREE fits conditional inference trees and NICE an autoencoder. Both would do so in their first explanation.
    """
    explainer.fit_like(shared)
    started = time.perf_counter()
    explainer.prepare()
    return time.perf_counter() - started


def measured(case: Case, explainer: Explainer, explanation: Explanation) -> pd.DataFrame:
    """All candidates of an explanation with their measures and features."""
    problem = explanation.problem
    good = problem.is_counterfactual(explanation.rows, explanation.scores)
    rows, scores = explanation.rows[good], explanation.scores[good]
    background = problem.background
    costs = problem.objectives(rows)
    distance, n_changed, own_cost = (costs[:, problem.at(name)] for name in (DISTANCE, N_CHANGED, IMPLAUSIBILITY))
    share_changed = n_changed / len(problem.x)
    if isinstance(explainer, NICEExplainer) and len(rows):
        own_cost = explainer.reconstruction_error(rows)
    features = background.schema.decode(rows)
    best = nondominated(np.column_stack([distance, share_changed, own_cost]))
    columns = {
        "score": scores[:, 0],
        "validity": problem.goal.distance(scores),
        "distance": distance,
        "n_changed": changed(rows, problem.x).sum(axis=1).astype(np.int64),
        "share_changed": share_changed,
        "arf_plausibility": background.plausibility.overall(rows) if len(rows) else np.empty(0),
        "gower_plausibility": -background.gower.around(problem.x, background.matrix).nearest(rows, 1)[:, 0],
        "log_density": case.process.log_density(features) if len(rows) else np.empty(0),
        "own_cost": own_cost,
        "nondominated": best,
        "typicality": _claimed(background.plausibility, rows, best),
    }
    return pd.concat([pd.DataFrame(columns), features.astype(float).reset_index(drop=True)], axis=1)


def _claimed(plausibility: Plausibility, rows: np.ndarray, best: np.ndarray) -> np.ndarray:
    """The typicality that is claimed of the best rows, NaN for the others."""
    claimed = np.full(len(rows), np.nan)
    if best.any():
        claimed[best] = plausibility.typicality(rows[best])
    return claimed


def measure_name(plausibility: Plausibility) -> str:
    """What the learned plausibility is: a judge's own measure, or the least rank that any of several gives."""
    if len(plausibility.voices) == 1:
        return plausibility.name
    return f"least rank among real rows, by {joined([_JUDGES[seat] for seat in plausibility.seats])}"
