"""Plausible counterfactual explanations with adversarial random forests.

Names are imported when they are first asked for, so that a program which needs few of them, or none yet, starts at
once.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from countarfactuals._garbage import uncollected

if TYPE_CHECKING:
    from countarfactuals.arf import MISSING, AdversarialRandomForest
    from countarfactuals.constraints import Constraints, suggest_constraints
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
    "suggest_constraints",
]

_PACKAGES = {
    "MISSING": "arf",
    "AdversarialRandomForest": "arf",
    "Constraints": "constraints",
    "suggest_constraints": "constraints",
    "Counterfactuals": "counterfactuals",
    "CounterfactualsBatch": "counterfactuals",
    "Target": "prediction",
}
_MODULES = ("arf", "constraints", "counterfactuals", "exceptions", "explainers", "prediction", "schema")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return globals().setdefault(name, version("countarfactuals"))
    if name not in _MODULES and name not in __all__:
        raise AttributeError(f"module 'countarfactuals' has no attribute {name!r}")
    with uncollected():
        if name in _MODULES:
            return import_module(f"countarfactuals.{name}")
        found = getattr(import_module(f"countarfactuals.{_PACKAGES.get(name, 'explainers')}"), name)
    return globals().setdefault(name, found)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
