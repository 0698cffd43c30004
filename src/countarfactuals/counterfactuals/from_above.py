"""Methods that are functions of layers above, so that their parameters are written in one place."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import MethodType
from typing import Any


class FromAbove:
    """A method that is a function of a module above, which is imported at first use.

    >>> from countarfactuals import Counterfactuals, report
    >>> Counterfactuals.to_html is report.to_html
    True
    """

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Callable[..., Any]:
        """The function; of an instance as its method."""
        function: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return function if instance is None else MethodType(function, instance)
