"""The explainers that the contract binds. A new method joins by one more entry here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from countarfactuals import AdversarialRandomForest, make_explainer


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


METHODS = [
    Method("arf", small("arf"), alone=True),
    Method("arf, as in the paper", small("arf", preset="paper"), alone=True),
    Method("mocarf", small("mocarf")),
    Method("moc", small("moc")),
    Method("mocctree", small("mocctree")),
    Method("nice", small("nice"), n_rows=2),
    Method("whatif", small("whatif"), is_pareto=False, invents_rows=False),
    Method("random search", small("random")),
]
BY_NAME = {method.name: method for method in METHODS}
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
