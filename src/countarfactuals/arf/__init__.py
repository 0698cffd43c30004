"""Adversarial random forests: a density of mixed tabular data, useful on its own.

    matrix ─ adversarial ─ Forest ─ leaf_fit ─ LeafTable ─ evidence ─ LeafWeights ─ density, sampling, expectation

`AdversarialRandomForest` is the estimator; `MISSING` is the condition that a cell is empty.
"""

from countarfactuals.arf.conditions import MISSING
from countarfactuals.arf.estimator import AdversarialRandomForest

__all__ = ["MISSING", "AdversarialRandomForest"]
