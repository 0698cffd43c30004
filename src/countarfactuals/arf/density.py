"""Log densities of conditions: joint, marginal and conditional, by one walk.

A row is the condition that every column has its value. Columns left free are summed out, so the same kernel gives
joint and marginal densities, and log p(a | b) = log p(a, b) − log p(b).
"""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from countarfactuals.arf.evidence import Evidence
from countarfactuals.arf.forest import Forest
from countarfactuals.arf.leaves import LeafTable
from countarfactuals.arf.walk import tree_log_weights
from countarfactuals.arf.weigh import log_sum_columns

_BLOCK = 1024  # conditions per task: many share one reading of the leaves, few enough to share out


def log_density(forest: Forest, leaves: LeafTable, evidence: Evidence, n_jobs: int | None = None) -> np.ndarray:
    """Log probability (or density of the point parts) of each condition: the mixture over all trees."""

    def block(start: int) -> np.ndarray:
        return log_sum_columns(tree_log_weights(forest, leaves, evidence.rows(slice(start, start + _BLOCK))))

    starts = range(0, max(len(evidence.kind), 1), _BLOCK)
    if effective_n_jobs(n_jobs) == 1 or len(starts) == 1:
        return np.concatenate([block(start) for start in starts])
    return np.concatenate(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(block)(start) for start in starts))
