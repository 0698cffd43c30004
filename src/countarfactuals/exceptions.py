"""Errors and warnings: each says what was got, what is allowed and what to do.

1. Every error is also the built-in type a user would expect (`ValueError` or `TypeError`), so that code which knows
   nothing of this package can still catch it.
2. An error keeps its sentence and what is filled in: `error.fields` has the parameter, column, row, what was got and
   what is allowed, where these are known.
3. A parameter is a `Setting`. Python reads its name in backquotes; a command line words the same error with its
   options, by `error.worded({"max_changed": "--max-changed"})`. An error that is a field of another is worded with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from sklearn.exceptions import NotFittedError as SklearnNotFittedError


@dataclass(frozen=True)
class Setting:
    """A parameter that an error speaks of, in backquotes unless it begins its sentence as a plain name."""

    name: str
    quoted: bool = True

    def __str__(self) -> str:
        return f"`{self.name}`" if self.quoted else self.name


class CountarfactualsError(Exception):
    """Base of all errors that this package raises on purpose.

    Parameters
    ----------
    sentence : plain text if nothing is filled in, else with places in braces.
    fields : what is filled in, such as `parameter=Setting("max_changed")`, `column`, `row`, `got`, `allowed`.

    >>> error = ParameterError("{parameter} must be positive, got {got!r}.", parameter=Setting("top"), got=-1)
    >>> print(error)
    `top` must be positive, got -1.
    >>> error.worded({"top": "--top"})
    '--top must be positive, got -1.'
    """

    def __init__(self, sentence: str = "", /, **fields: Any) -> None:
        self.sentence = sentence
        self.fields = fields
        super().__init__(self.worded())

    def worded(self, options: Mapping[str, str] | None = None) -> str:
        """The sentence; `options` says what settings are called by a reader who does not write Python."""
        if not self.fields:
            return self.sentence
        return self.sentence.format(**{name: _worded(value, options or {}) for name, value in self.fields.items()})

    def having(self, **fields: Any) -> Self:
        """The same error with other fields, such as the row's name where it is known."""
        return type(self)(self.sentence, **{**self.fields, **fields}) if self.fields else self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.sentence, self.fields)


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


if TYPE_CHECKING:

    class NotFittedError(CountarfactualsError, SklearnNotFittedError):
        """The estimator is used before `fit`."""


def __getattr__(name: str) -> Any:
    """`NotFittedError`, made when it is first asked for: it is scikit-learn's too, which takes long to import."""
    if name != "NotFittedError":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import NotFittedError as SklearnNotFittedError

    body = {"__module__": __name__, "__doc__": "The estimator is used before `fit`."}
    made = type(name, (CountarfactualsError, SklearnNotFittedError), body)
    return globals().setdefault(name, made)


class LetterWarning(UserWarning):
    """A letter can be written, but should be looked at before it is sent."""


class DensityWarning(UserWarning):
    """The density is usable but misses structure of the data."""


def _worded(value: Any, options: Mapping[str, str]) -> Any:
    """What is filled in: settings by their options, an error within an error by its own sentence."""
    if isinstance(value, Setting):
        return options.get(value.name, str(value))
    return value.worded(options) if isinstance(value, CountarfactualsError) else value


def _restored(kind: type[CountarfactualsError], sentence: str, fields: dict[str, Any]) -> CountarfactualsError:
    return kind(sentence, **fields)


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
    close = get_close_matches(str(name), [str(candidate) for candidate in known], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def unknown_column(parameter: str, name: Any, known: Collection[Any]) -> ParameterError:
    """The error of a parameter that names a column which there is not."""
    return ParameterError(
        "{parameter} names {column!r}, which is no column; known: {allowed}.{hint}",
        parameter=Setting(parameter),
        column=name,
        allowed=listed(known),
        hint=did_you_mean(name, known),
    )
