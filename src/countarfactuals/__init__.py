"""Plausible counterfactual explanations with adversarial random forests."""

from countarfactuals.arf import MISSING, AdversarialRandomForest

__all__ = ["MISSING", "AdversarialRandomForest"]
