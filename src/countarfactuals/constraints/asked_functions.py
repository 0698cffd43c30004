"""Functions of a frame that a user writes: asked for all rows at once, and named in files and sentences."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from countarfactuals.exceptions import ConstraintError, Setting

_LONGEST = 60  # characters of what a lambda says


@dataclass(frozen=True)
class NamedFunction:
    """A function that a parameter has, of which only the name is known, as a file keeps no more."""

    parameter: str
    __name__: str

    def __call__(self, frame: Any) -> Any:
        """Refuse to answer."""
        raise ConstraintError(
            "{got!r} is a function, of which files keep the name alone, so that it can not be asked. Pass the function "
            "itself in {parameter}, or a text.",
            parameter=Setting(self.parameter),
            got=self.__name__,
        )


def answers_of(function: Callable[[Any], Any], frame: Any, who: str, what: str, **fields: Any) -> np.ndarray:
    """What a function says of the rows of a frame, in their order.

    Parameters
    ----------
    function, frame : the two.
    who, what : what an error calls the function, with the `fields` of the error, and what it returns for a row.
    """
    try:
        return np.asarray(in_order_of(frame, function(frame)))
    except ConstraintError:
        raise
    except Exception as error:
        raise ConstraintError(
            who + " failed on a frame of {n} row(s) with {type}: {reason}. It gets all rows at once, missing cells "
            "included, and returns one {what} for each.",
            n=len(frame),
            type=type(error).__name__,
            reason=str(error),
            what=what,
            **fields,
        ) from error


def in_order_of(frame: Any, answer: Any) -> Any:
    """What a user's function returned for the rows of a pandas frame, in their order if it has their labels.

    A function may sort, group or merge: its answer belongs to the rows by their labels, not by position.
    """
    import pandas as pd

    if isinstance(answer, pd.Series) and isinstance(frame, pd.DataFrame) and not answer.index.equals(frame.index):
        if not answer.index.is_unique or not answer.index.isin(frame.index).all() or len(answer) != len(frame):
            raise ValueError(
                f"it returned a Series whose {len(answer)} labels are not those of the {len(frame)} rows; return one "
                "value per row, in the order of the frame or with its index"
            )
        return answer.reindex(frame.index)
    return answer


def function_name(function: Callable[[Any], Any], number: int | None = None) -> str:
    """The name of a rule's function, also of a partial one or an object that can be called.

    A lambda has none: it is called by what it says, where that can be had, else by its number.
    """
    function = getattr(function, "func", function)
    name = str(getattr(function, "__name__", type(function).__name__))
    if name != "<lambda>":
        return name
    return _expression(function.__code__) or (name if number is None else f"#{number}")


@lru_cache(maxsize=100)  # constraints are bound to every row
def _expression(code: CodeType) -> str:
    """What a lambda says, if it is the only one of its lines of code."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):
        return ""
    bodies = [ast.unparse(node.body) for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    return bodies[0] if len(bodies) == 1 and len(bodies[0]) <= _LONGEST else ""
