"""`Served`: an explainer that is served, with what things are called and the rows that may be shown.

1. Requests name columns by text; `row_of` takes what JSON says of a row to the names of the data.
2. An explainer with other settings, such as another method, takes over what the served one has learned and is kept.
3. Where no real row may leave, counterfactuals are no rows of the data either, and the data's rows are not shown.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np

from countarfactuals.exceptions import DataError, ParameterError, did_you_mean, listed
from countarfactuals.explainers import Explainer, explainer_like
from countarfactuals.explainers.problem import ANY_ROWS
from countarfactuals.language.vocabulary import TEXT, Unit, Words, words_of
from countarfactuals.schema import Labels

_VARIANTS_KEPT = 16


@dataclass(frozen=True, eq=False)
class Served:
    """An explainer behind a name.

    Parameters
    ----------
    name : by which it is asked for, a part of addresses.
    explainer : fitted.
    outcome : what the model predicts, None where it has no name.
    units, rows_are : what things are called, see `Counterfactuals.describe`.
    table : rows to pick from in matrix codes; None for those of the training data.
    shows_real_rows : whether rows of the training data may leave.
    model, model_file : what the model is called, and its file, for letters.
    facts : what a report says of model and data.
    """

    name: str
    explainer: Explainer
    outcome: str | None = None
    units: Mapping[Hashable, Unit] = field(default_factory=dict)
    rows_are: Unit = "rows"
    table: np.ndarray | None = None
    shows_real_rows: bool = True
    model: str | None = None
    model_file: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    _variants: dict[Any, Explainer] = field(default_factory=dict, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        names = [str(name) for name in self.explainer.schema_.names]
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ParameterError(f"{listed(twice)} stands for two columns once it is text. Rename one of them.")

    def hidden(self) -> Served:
        """The same, of which no row of the training data leaves."""
        if self.explainer.hands_out != ANY_ROWS:
            raise ParameterError(
                f"The explainer {self.name!r} has the method {self.explainer.method!r}, which hands out cells of real "
                "rows. Without real rows serve one of another method, such as 'arf'."
            )
        return replace(self, shows_real_rows=False, explainer=explainer_like(self.explainer, allow_real_rows=False))

    @property
    def rows(self) -> np.ndarray | None:
        """The rows that may be picked from, in matrix codes."""
        if self.table is None and self.shows_real_rows:
            return self.explainer.background_.matrix
        return self.table

    @property
    def words(self) -> Words:
        """What things are called, in the language that is spoken."""
        return words_of(self.explainer.schema_.names, self.units, self.rows_are, self.outcome, TEXT)

    def labels_of(self, labels: Mapping[str, Any] | None) -> Labels | None:
        """What columns and levels are called, by the names of the data; a list stands for a pair of both."""
        plain = {name: tuple(names) if isinstance(names, list) else names for name, names in (labels or {}).items()}
        return self.row_of(plain) or None

    def row_of(self, cells: Mapping[str, Any]) -> dict[Hashable, Any]:
        """A row, or anything by column, by the names of the data."""
        names = self.explainer.schema_.names_by_text
        for name in cells:
            if name not in names:
                raise DataError(
                    "There is no column {column!r}; known columns: {allowed}.{hint}",
                    column=name,
                    allowed=listed(names),
                    hint=did_you_mean(name, names),
                )
        return {names[name]: value for name, value in cells.items()}

    def variant(self, method: str | None = None, **settings: Any) -> Explainer:
        """The explainer with another method or other settings; those that are None stay."""
        wanted = {name: value for name, value in settings.items() if value is not None}
        if method in (None, self.explainer.method) and not wanted:
            return self.explainer
        if not self.shows_real_rows:
            wanted["allow_real_rows"] = False
        key = (method, *sorted(wanted.items()))
        with self._lock:
            if key not in self._variants:
                if len(self._variants) >= _VARIANTS_KEPT:
                    self._variants.pop(next(iter(self._variants)))
                self._variants[key] = explainer_like(self.explainer, method, **wanted)
            return self._variants[key]
