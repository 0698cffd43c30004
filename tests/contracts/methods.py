"""The explainers that the contract binds: all that are registered. A new method joins by its own registration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from countarfactuals import AdversarialRandomForest, make_explainer
from countarfactuals.explainers import registry


class Method(NamedTuple):
    """An explainer, and what it does not promise.

    Parameters
    ----------
    name : for the reports of tests.
    make : (model, **parameters of `Explainer`) to an explainer, with a forest that is small unless one is given.
    is_pareto : whether no row of a result dominates another.
    invents_rows : whether it finds rows that are not in the data.
    n_rows : how many rows results can be asked to have where many exist.
    alone : whether it meets every pair of task, data, frame and model by itself; the others share them.
    """

    name: str
    make: Callable[..., Any]
    is_pareto: bool = True
    invents_rows: bool = True
    n_rows: int = 3
    alone: bool = False


def small(method: str, **own: Any) -> Callable[..., Any]:
    def make(model: Any, **parameters: Any) -> Any:
        density = AdversarialRandomForest(n_estimators=10, min_samples_leaf=10)
        return make_explainer(method, model, **{"density": density, "random_state": 1, **own, **parameters})

    return make


def entry(method: registry.Method, name: str | None = None, **own: Any) -> Method:
    """What the registry says of a method, and how it is made here."""
    return Method(
        name or method.name,
        small(method.name, **own),
        is_pareto=method.explainer.is_pareto,
        invents_rows=method.hands_out != "real rows",
        n_rows=2 if method.hands_out == "real cells" else 3,
        alone=method.name == "arf",
    )


def every_entry() -> list[Method]:
    """The registered methods, and ARF with the settings of the paper."""
    entries = [entry(method) for method in registry.methods().values()]
    return [*entries[:1], entry(registry.methods()["arf"], "arf, as in the paper", preset="paper"), *entries[1:]]


METHODS = every_entry()
BY_NAME = {method.name: method for method in METHODS}
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
