"""What is compared: the data, the methods and their settings.

1. All methods get the same data, the same black box and the same forest, and at most 1,000 evaluations.
2. `preset="paper"` has the settings of the published study: 10 trees, 2 rows per leaf, trees that split on the score,
   the log of the mean density as measure, plain Algorithm 2 (at most 50 sets of features with 20 draws each, whatever
   the budget), one draw per mutation of MOCARF. The MOC family puts features back to x before it mutates in either
   preset. `preset="default"` is what this package does unless told otherwise.
3. In both, a counterfactual of ARF, MOC, MOCCTREE and MOCARF changes at most min(⌈√p⌉ + 3, p) features at a time (ARF
   limits its draws), and NICE is rewarded for plausibility. MOC's generations of 20 rows end with the budget.

No setting here depends on a data set but by its number of features, and none was chosen by results on the published
sets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.datasets.paper import PAPER_SETS
from countarfactuals.exceptions import ParameterError, did_you_mean, listed
from countarfactuals.explainers import Explainer, ForestMutation, make_explainer, methods
from countarfactuals.explainers.proposals import most_changed
from countarfactuals.parameters import check_choice, check_int
from countarfactuals.study.sets import SETS, load_plugin

OURS, OTHERS = ("arf", "mocarf"), ("moc", "mocctree", "nice")
SEARCHING = ("arf", "mocarf", "moc", "mocctree")  # within the budget of evaluations; ARF may stop before it is spent
PRESETS = ("paper", "default")
_POPULATION = 20


def known_methods() -> tuple[str, ...]:
    """Every method that a study can compare: those of the explainers' registry."""
    return tuple(methods())


def dearest_first(names: Iterable[str]) -> list[str]:
    """Methods in the order in which their jobs begin."""
    return sorted(names, key=lambda name: -methods()[name].dearness)


def own_fits() -> dict[str, str]:
    """What methods learn from the data beside the forest that all share."""
    return {name: method.own_fit for name, method in methods().items() if method.own_fit}


def method_name(method: str) -> str:
    """A method as the paper writes it.

    >>> method_name("mocctree"), method_name("whatif")
    ('MOCCTREE', 'WhatIf')
    """
    return methods()[method].label if method in methods() else method


def compared() -> tuple[str, ...]:
    """The methods that a study compares unless told otherwise."""
    return tuple(name for name, method in methods().items() if method.is_compared)


METHODS = compared()


def method_colour(method: str) -> str:
    """The colour of a method, the same in every picture."""
    return methods()[method].colour


@dataclass(frozen=True)
class Design:
    """A study.

    Parameters
    ----------
    data : str or None
        Folder with data sets in the published layout. None generates new ones.
    methods : tuple of str
        Names of methods, see `known_methods`.
    sets : tuple of str
        Names of data sets, see `sets.SETS`.
    preset : "paper" or "default"
        Settings of the methods.
    n_instances : int
        Rows that are explained per data set.
    max_evaluations : int
        Most rows per explanation that the black box is asked about.
    seed : int
        Of the explainers and of generated data.
    n_rows : int
        Rows of a generated data set.
    n_estimators : int or None
        Trees of the forest; None for those of the preset.
    plugins : tuple of str
        Paths of Python files that register further data sets or methods; each process of the study loads them.
    """

    data: str | None = None
    methods: tuple[str, ...] = field(default_factory=compared)
    sets: tuple[str, ...] = PAPER_SETS
    preset: str = "paper"
    n_instances: int = 10
    max_evaluations: int = 1000
    seed: int = 1
    n_rows: int = 5000
    n_estimators: int | None = None
    plugins: tuple[str, ...] = ()

    def load_plugins(self) -> None:
        """Load what registers further data sets or methods."""
        for path in self.plugins:
            load_plugin(path)

    def check(self) -> None:
        """Load the plug-ins and refuse what can not be run."""
        self.load_plugins()
        _check_names("method", self.methods, known_methods())
        _check_names("data set", self.sets, tuple(SETS))
        check_choice("preset", self.preset, PRESETS)
        check_int("instances", self.n_instances, 1)
        check_int("evaluations", self.max_evaluations, 2)
        check_int("seed", self.seed, 0)
        check_int("rows", self.n_rows, 50)
        if self.n_estimators is not None:
            check_int("trees", self.n_estimators, 1)

    def to_dict(self) -> dict[str, Any]:
        """The design in JSON types."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    def forest(self) -> AdversarialRandomForest:
        """The settings of the forest that all methods share."""
        if self.preset == "paper":
            forest = AdversarialRandomForest(n_estimators=10, min_samples_leaf=2, leaf_fit="moments")
        else:
            forest = AdversarialRandomForest()
        return forest if self.n_estimators is None else forest.set_params(n_estimators=self.n_estimators)

    def explainer(self, method: str, model: Any, n_features: int) -> Explainer:
        """The explainer of a method, not fitted."""
        common: dict[str, Any] = {
            "density": self.forest(),
            "measure": "density" if self.preset == "paper" else None,
            "max_evaluations": self.max_evaluations,
            "n_jobs": 1,
            "random_state": self.seed,
        }
        if method.startswith("moc"):
            common |= {"population_size": _POPULATION, "max_changed": most_changed(n_features)}
            common |= {"n_generations": self.max_evaluations}  # more than there can be: the budget ends them
            if method == "mocarf" and self.preset == "paper":
                common |= {"mutation": ForestMutation(n_draws=1)}
        elif method == "nice":
            common |= {"reward": "plausibility"}
        elif method == "arf" and self.preset == "paper":
            common |= {"preset": "paper"}
        return make_explainer(method, model, **common)


def _check_names(what: str, names: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    if not names:
        raise ParameterError(f"No {what} was named. Known: {listed(allowed)}.")
    for name in names:
        if name not in allowed:
            raise ParameterError(f"There is no {what} {name!r}. Known: {listed(allowed)}.{did_you_mean(name, allowed)}")
    if len(set(names)) < len(names):
        raise ParameterError(f"Each {what} is to be named once, got {listed(names)}.")
