"""Explainers by name."""

from __future__ import annotations

from inspect import signature
from typing import Any

from countarfactuals.exceptions import ParameterError, did_you_mean, listed
from countarfactuals.explainers.arf import ARFExplainer
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.moc import MOCARFExplainer, MOCCTREEExplainer, MOCExplainer
from countarfactuals.explainers.nice import NICEExplainer
from countarfactuals.explainers.random_search import RandomSearchExplainer
from countarfactuals.explainers.whatif import WhatIfExplainer

_EVERY: tuple[type[Explainer], ...] = (
    ARFExplainer,
    MOCARFExplainer,
    MOCExplainer,
    MOCCTREEExplainer,
    NICEExplainer,
    WhatIfExplainer,
    RandomSearchExplainer,
)
EXPLAINERS: dict[str, type[Explainer]] = {explainer.method: explainer for explainer in _EVERY}


def make_explainer(method: str, model: Any, **parameters: Any) -> Explainer:
    """The explainer of that name.

    >>> make_explainer("arf", model=len, random_state=1).method
    'arf'
    """
    if not isinstance(method, str) or method not in EXPLAINERS:
        raise ParameterError(
            f"There is no method {method!r}. Known: {listed(EXPLAINERS)}.{did_you_mean(str(method), EXPLAINERS)}"
        )
    explainer = EXPLAINERS[method]
    known = [name for name in signature(explainer).parameters if name != "model"]
    if unknown := [name for name in parameters if name not in known]:
        raise ParameterError(
            f"The method {method!r} has no parameter {unknown[0]!r}. It has {listed(known, len(known))}."
            f"{did_you_mean(unknown[0], known)}"
        )
    return explainer(model, **parameters)
