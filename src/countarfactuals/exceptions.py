"""Errors and warnings: each says what was got, what is allowed and what to do.

Every error is also the built-in type a user would expect (`ValueError` or `TypeError`), so that code which
knows nothing of this package can still catch it.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from sklearn.exceptions import NotFittedError as SklearnNotFittedError


class CountarfactualsError(Exception):
    """Base of all errors that this package raises on purpose."""


class DataError(CountarfactualsError, ValueError):
    """The data has the right type but values or names that can not be used."""


class DataTypeError(CountarfactualsError, TypeError):
    """The data, or one of its columns, has a type that can not be used."""


class ParameterError(CountarfactualsError, ValueError):
    """A parameter has a value that is not allowed."""


class EvidenceError(CountarfactualsError, ValueError):
    """A condition (`given`) is malformed, or no row can meet it."""


class EvidenceTypeError(CountarfactualsError, TypeError):
    """A condition (`given`) has a type that can not be used."""


class ModelError(CountarfactualsError, ValueError):
    """The model can not be used, failed, or gave scores that can not be used."""


class ModelTypeError(CountarfactualsError, TypeError):
    """The model is of a kind that can not be used."""


class TargetError(CountarfactualsError, ValueError):
    """The wanted outcome is unknown to the model, empty or ambiguous."""


class ConstraintError(CountarfactualsError, ValueError):
    """A constraint is malformed, names unknown columns or contradicts another."""


class StorageError(CountarfactualsError, ValueError):
    """A file is damaged, foreign or of a version that can not be read."""


class MissingDependencyError(CountarfactualsError, ImportError):
    """An optional package is needed and not installed."""


class NotFittedError(CountarfactualsError, SklearnNotFittedError):
    """The estimator is used before `fit`."""


class DensityWarning(UserWarning):
    """The density is usable but misses structure of the data."""


def listed(items: Iterable[Any], most: int = 8) -> str:
    """Items for a sentence, shortened: `'a', 'b', … (12 in all)`.

    >>> listed(["a", "b"])
    "'a', 'b'"
    >>> listed(range(12), most=3)
    '0, 1, 2, … (12 in all)'
    """
    every = list(items)
    shown = ", ".join(repr(item) for item in every[:most])
    return shown if len(every) <= most else f"{shown}, … ({len(every)} in all)"


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """A hint for a mistyped name, or nothing.

    >>> did_you_mean("incom", ["age", "income"])
    " Did you mean 'income'?"
    """
    close = get_close_matches(str(name), [str(one) for one in known], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
