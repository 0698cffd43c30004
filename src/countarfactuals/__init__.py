"""Plausible counterfactual explanations with adversarial random forests."""

from countarfactuals.arf import MISSING, AdversarialRandomForest
from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.explainers import (
    ARFExplainer,
    Explainer,
    MOCARFExplainer,
    MOCCTREEExplainer,
    MOCExplainer,
    NICEExplainer,
    RandomSearchExplainer,
    WhatIfExplainer,
    make_explainer,
)
from countarfactuals.prediction import Target

__all__ = [
    "MISSING",
    "ARFExplainer",
    "AdversarialRandomForest",
    "Constraints",
    "Counterfactuals",
    "CounterfactualsBatch",
    "Explainer",
    "MOCARFExplainer",
    "MOCCTREEExplainer",
    "MOCExplainer",
    "NICEExplainer",
    "RandomSearchExplainer",
    "Target",
    "WhatIfExplainer",
    "make_explainer",
]
