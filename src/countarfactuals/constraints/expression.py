"""`Expression`: a formula of columns as text, such as `weight / height ** 2`, read without running it.

1. Text becomes a syntax tree, of which numbers, names of columns, + - * / **, comparisons and a few functions are taken
   and nothing else: no attributes, no other calls. Names with blanks or signs stand in backquotes.
2. It is computed on float64 arrays, so that no number grows beyond bounds; an exponent is a constant from −10 to 10.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

_LONGEST, _LARGEST_EXPONENT, _MOST_DIGITS = 1000, 10, 12
_QUOTED = re.compile(r"`([^`]+)`")
_PLACE = "_column_{}_"
Array = Any  # an array or a number

_OPERATORS: dict[type[ast.AST], Callable[[Array, Array], Array]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
_SIGNS: dict[type[ast.AST], Callable[[Array], Array]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_COMPARISONS: dict[type[ast.AST], Callable[[Array, Array], Array]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
_SIGN_TEXTS: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "min": lambda *values: reduce(np.minimum, values),
    "max": lambda *values: reduce(np.maximum, values),
    "abs": np.abs,
    "round": lambda value, digits=0.0: _rounded(value, digits),
    "floor": np.floor,
    "ceil": np.ceil,
}
_N_ARGUMENTS = {"min": (2, 20), "max": (2, 20), "abs": (1, 1), "round": (1, 2), "floor": (1, 1), "ceil": (1, 1)}
ALLOWED = f"numbers, names of columns, + - * / **, comparisons, and {', '.join(_FUNCTIONS)}"


class ExpressionError(ValueError):
    """A text that is no formula; the message says why."""


@dataclass(frozen=True)
class Expression:
    """A formula; compared by its text.

    >>> bmi = Expression("round(weight / `body height` ** 2, 1)")
    >>> bmi.names, bmi({"weight": np.array([81.0]), "body height": np.array([1.8])})
    (('weight', 'body height'), array([25.]))
    >>> Expression("weight.__class__")
    Traceback (most recent call last):
    ...
    countarfactuals.constraints.expression.ExpressionError: 'weight.__class__' is not allowed
    """

    text: str

    def __post_init__(self) -> None:
        if len(self.text) > _LONGEST:
            raise ExpressionError(f"it has {len(self.text)} characters, at most {_LONGEST} are allowed")
        try:
            _check(self._tree, self.text)
        except RecursionError:
            raise ExpressionError("it is nested too deeply") from None

    def __str__(self) -> str:
        return self.text

    @cached_property
    def _quoted(self) -> list[str]:
        return _QUOTED.findall(self.text)

    @cached_property
    def _tree(self) -> ast.expr:
        places = iter(range(len(self._quoted)))
        text = _QUOTED.sub(lambda _: _PLACE.format(next(places)), self.text)
        try:
            return ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, MemoryError) as error:
            raise ExpressionError(f"it can not be read: {getattr(error, 'msg', error)}") from None

    def _name(self, node: ast.Name) -> str:
        """The column that a name stands for; a place of a quoted one for that."""
        for k, name in enumerate(self._quoted):
            if node.id == _PLACE.format(k):
                return name
        return node.id

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns in it, in order, each once."""
        nodes = [node for node in ast.walk(self._tree) if isinstance(node, ast.Name)]
        called = {id(node.func) for node in ast.walk(self._tree) if isinstance(node, ast.Call)}
        nodes.sort(key=lambda node: (node.lineno, node.col_offset))
        return tuple(dict.fromkeys(self._name(node) for node in nodes if id(node) not in called))

    @property
    def is_comparison(self) -> bool:
        """Whether it says yes or no."""
        return isinstance(self._tree, ast.Compare)

    @cached_property
    def compared(self) -> tuple[str, str, str] | None:
        """Two columns and the sign between them, if it says no more than that.

        >>> Expression("loan <= `house price`").compared, Expression("loan <= 0.8 * price").compared
        (('loan', '<=', 'house price'), None)
        """
        tree = self._tree
        if not isinstance(tree, ast.Compare):
            return None
        left, right = tree.left, tree.comparators[0]
        if not (isinstance(left, ast.Name) and isinstance(right, ast.Name)):
            return None
        return self._name(left), _SIGN_TEXTS[type(tree.ops[0])], self._name(right)

    def __call__(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """What it gives for arrays by name, as floats; not finite where it has no value."""
        with np.errstate(all="ignore"):
            return np.asarray(self._value(self._tree, columns), np.float64)

    def _value(self, node: ast.expr, columns: Mapping[str, np.ndarray]) -> Array:
        if isinstance(node, ast.Constant):
            return np.float64(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.Name):
            return columns[self._name(node)]
        if isinstance(node, ast.UnaryOp):
            return _SIGNS[type(node.op)](self._value(node.operand, columns))
        if isinstance(node, ast.BinOp):
            return _OPERATORS[type(node.op)](self._value(node.left, columns), self._value(node.right, columns))
        if isinstance(node, ast.Compare):
            return self._compared(self._value(node.left, columns), node, columns)
        return self._called(node, columns)  # type: ignore[arg-type]  # nothing else was let in

    def _called(self, node: ast.Call, columns: Mapping[str, np.ndarray]) -> Array:
        name: str = node.func.id  # type: ignore[attr-defined]
        return _FUNCTIONS[name](*(self._value(argument, columns) for argument in node.args))

    def _compared(self, left: Array, node: ast.Compare, columns: Mapping[str, np.ndarray]) -> Array:
        right = self._value(node.comparators[0], columns)
        truth = _COMPARISONS[type(node.ops[0])](left, right).astype(np.float64)
        return np.where(np.isnan(left) | np.isnan(right), np.nan, truth)


def _check(node: ast.expr, text: str) -> None:
    """Refuse what is not on the list."""
    if isinstance(node, ast.Name):
        return
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise ExpressionError(f"{node.value!r} is no number")
        return
    if isinstance(node, ast.UnaryOp) and type(node.op) in _SIGNS:
        parts = [node.operand]
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        parts = [node.left, node.right]
        if isinstance(node.op, ast.Pow):
            _check_exponent(node.right)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.Call):
        parts = _checked_arguments(node)
    else:
        raise ExpressionError(f"{_source(node)!r} is not allowed")
    for part in parts:
        _check(part, text)


def _checked_arguments(node: ast.Call) -> list[ast.expr]:
    if not isinstance(node.func, ast.Name) or node.func.id not in _FUNCTIONS or node.keywords:
        raise ExpressionError(f"{_source(node)!r} is not allowed")
    least, most = _N_ARGUMENTS[node.func.id]
    if not least <= len(node.args) <= most:
        count = str(least) if least == most else f"{least} to {most}"
        raise ExpressionError(f"{node.func.id} takes {count} value(s), got {len(node.args)}")
    if node.func.id == "round" and len(node.args) == 2:
        digits = node.args[1]
        if not isinstance(digits, ast.Constant) or digits.value not in range(_MOST_DIGITS + 1):
            raise ExpressionError(f"round takes 0 to {_MOST_DIGITS} digits, got {_source(digits)!r}")
    return node.args


def _check_exponent(node: ast.expr) -> None:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    is_number = isinstance(inner, ast.Constant) and isinstance(inner.value, int | float)
    if not is_number or not abs(inner.value) <= _LARGEST_EXPONENT:  # type: ignore[attr-defined]
        limit = _LARGEST_EXPONENT
        raise ExpressionError(f"an exponent is a number from -{limit} to {limit}, got {_source(node)!r}")


def _source(node: ast.AST) -> str:
    return ast.unparse(node)[:80]


def _rounded(value: Array, digits: Array) -> Array:
    scale = 10.0 ** float(digits)
    return np.rint(value * scale) / scale
