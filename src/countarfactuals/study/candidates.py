"""One explanation of the study, and every valid candidate that it evaluated.

`Explainer.explain` hands out the non-dominated rows. The study needs all that were evaluated and are counterfactuals:
the correlations of RQ2 and the scale of the published hypervolume are taken over them.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.explainers import Explainer
from countarfactuals.explainers.problem import Problem


class Explanation(NamedTuple):
    """What one explanation gave."""

    problem: Problem
    rows: np.ndarray  # (n, p) distinct rows that were evaluated, encoded
    scores: np.ndarray  # (n, 1) the black box's
    n_evaluated: int  # x included
    result: Counterfactuals
    seconds: float


def explain(explainer: Explainer, x: pd.DataFrame, target: Any) -> Explanation:
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
