"""Explainers: every method behind one interface.

row, target, constraints ─ Problem ─ search ─ ledger ─ checks ─ Counterfactuals
"""

from countarfactuals.explainers.arf import ARFExplainer
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.make import EXPLAINERS, make_explainer
from countarfactuals.explainers.moc import MOCARFExplainer, MOCCTREEExplainer, MOCExplainer
from countarfactuals.explainers.nice import NICEExplainer
from countarfactuals.explainers.random_search import RandomSearchExplainer
from countarfactuals.explainers.whatif import WhatIfExplainer

__all__ = [
    "EXPLAINERS",
    "ARFExplainer",
    "Explainer",
    "MOCARFExplainer",
    "MOCCTREEExplainer",
    "MOCExplainer",
    "NICEExplainer",
    "RandomSearchExplainer",
    "WhatIfExplainer",
    "make_explainer",
]
