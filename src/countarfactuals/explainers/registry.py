"""The methods by name: one entry each, which the command line, the study, pictures and the contract grid read.

1. A method is a subclass of `Explainer` and an entry for it: `register(Method(MyExplainer, label="Mine", …))`.
2. The methods of this package register in their own files. A script imports the file of its own method; a package names
   that module in the entry-point group `countarfactuals.methods`, and it is imported when methods are first listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from types import MappingProxyType
from typing import Any

from countarfactuals._optional import load_plug_ins
from countarfactuals.exceptions import ParameterError, did_you_mean, listed
from countarfactuals.explainers.base import Explainer

PLUG_INS = "countarfactuals.methods"


@dataclass(frozen=True)
class Method:
    """What is known of a method without making its explainer.

    Parameters
    ----------
    explainer : the class, whose `method` is the name and whose `hands_out` says what rows it finds.
    label : the name as the literature writes it.
    summary : what it does, in a few words.
    colour : in pictures.
    own_cost : what it minimises for plausibility instead of the judges' measure, if it does.
    own_fit : what it learns from the data on its own, if anything.
    dearness : how long it takes beside others, so that long jobs begin first.
    is_compared : whether a study compares it unless told otherwise.
    """

    explainer: type[Explainer]
    label: str
    summary: str
    colour: str = "#000000"
    own_cost: str | None = None
    own_fit: str | None = None
    dearness: int = 0
    is_compared: bool = False

    @property
    def name(self) -> str:
        """By which it is asked for."""
        return self.explainer.method

    @property
    def hands_out(self) -> str:
        """What rows it finds: "real rows", rows of "real cells", or "any rows"."""
        return self.explainer.hands_out


_METHODS: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Add a method, or replace the one of the same name."""
    _METHODS[method.name] = method
    return method


def methods() -> Mapping[str, Method]:
    """All methods by name, those of installed plug-ins too."""
    load_plug_ins(PLUG_INS)
    return MappingProxyType(_METHODS)


class _Explainers(Mapping[str, "type[Explainer]"]):
    """The classes of all methods by name."""

    def __getitem__(self, name: str) -> type[Explainer]:
        return methods()[name].explainer

    def __iter__(self) -> Iterator[str]:
        return iter(methods())

    def __len__(self) -> int:
        return len(methods())


EXPLAINERS = _Explainers()


def make_explainer(method: str, model: Any, **parameters: Any) -> Explainer:
    """The explainer of that name.

    >>> make_explainer("arf", model=len, random_state=1).method
    'arf'
    """
    names = methods()
    if not isinstance(method, str) or method not in names:
        raise ParameterError(
            f"There is no method {method!r}. Known: {listed(names)}.{did_you_mean(str(method), names)}"
        )
    explainer = names[method].explainer
    allowed = [name for name in signature(explainer).parameters if name != "model"]
    if unknown := [name for name in parameters if name not in allowed]:
        raise ParameterError(
            f"The method {method!r} has no parameter {unknown[0]!r}. It has {listed(allowed, len(allowed))}."
            f"{did_you_mean(unknown[0], allowed)}"
        )
    return explainer(model, **parameters)


def explainer_like(fitted: Explainer, method: str | None = None, **settings: Any) -> Explainer:
    """Another explainer on what a fitted one has learned, with its settings and seed unless others are said.

    Parameters
    ----------
    fitted : the one that has learned.
    method : the name of another method, which takes the settings that all methods have; None for the same.
    settings : parameters that shall differ.
    """
    parameters = fitted.get_params(deep=False) | {"random_state": None}
    if method not in (None, fitted.method):
        shared = signature(Explainer).parameters
        parameters = {name: value for name, value in parameters.items() if name in shared}
    model = parameters.pop("model")
    return make_explainer(method or fitted.method, model, **{**parameters, **settings}).fit_like(fitted)
