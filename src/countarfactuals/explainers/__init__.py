"""Explainers: every method behind one interface.

row, target, constraints ─ Problem ─ search ─ ledger ─ checks ─ Counterfactuals
"""

from countarfactuals.explainers.arf_search import ARFExplainer
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.moc import (
    ConditionalTreeMutation,
    ForestMutation,
    IndependentMutation,
    MOCARFExplainer,
    MOCCTREEExplainer,
    MOCExplainer,
    SimulatedBinaryCrossover,
)
from countarfactuals.explainers.nice import NICEExplainer
from countarfactuals.explainers.registry import EXPLAINERS, Method, explainer_like, make_explainer, methods, register
from countarfactuals.explainers.simple_searches import RandomSearchExplainer, WhatIfExplainer

__all__ = [
    "EXPLAINERS",
    "ARFExplainer",
    "ConditionalTreeMutation",
    "Explainer",
    "ForestMutation",
    "IndependentMutation",
    "MOCARFExplainer",
    "MOCCTREEExplainer",
    "MOCExplainer",
    "Method",
    "NICEExplainer",
    "RandomSearchExplainer",
    "SimulatedBinaryCrossover",
    "WhatIfExplainer",
    "explainer_like",
    "make_explainer",
    "methods",
    "register",
]
