"""Explainers: every method behind one interface.

row, target, constraints ─ Problem ─ search ─ ledger ─ checks ─ Counterfactuals
"""

from countarfactuals.explainers.arf import ARFExplainer
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.make import EXPLAINERS, make_explainer

__all__ = ["EXPLAINERS", "ARFExplainer", "Explainer", "make_explainer"]
