"""`CounterfactualsBatch`: the answers for many rows, in the order in which the rows came."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
import pandas as pd

from countarfactuals.counterfactuals import frames, overview, storage
from countarfactuals.counterfactuals.from_above import FromAbove
from countarfactuals.counterfactuals.importance import importance
from countarfactuals.counterfactuals.recourse import Recourse, checked_draws, recourse
from countarfactuals.counterfactuals.result import Counterfactuals
from countarfactuals.exceptions import DataError
from countarfactuals.schema import Labels


@dataclass(frozen=True, eq=False, repr=False)
class CounterfactualsBatch(storage.Stored, Sequence[Counterfactuals]):
    """One result per row.

    Parameters
    ----------
    results : of the rows that were reached.
    index : their labels.
    unfinished : labels of the rows that were not reached, for lack of time or after an interrupt.
    """

    to_html = FromAbove("countarfactuals.report", "to_html")

    results: tuple[Counterfactuals, ...]
    # `field()`: without it the method `Sequence.index`, which gives way to the labels, would be taken for a default
    index: tuple[Hashable, ...] = field()  # type: ignore[assignment]
    unfinished: tuple[Hashable, ...] = ()

    def __post_init__(self) -> None:
        results = tuple(self.results)
        index = tuple(map(storage.plain_label, self.index))
        if len(index) != len(results):
            raise DataError(f"There are {len(index)} labels for {len(results)} result(s); give one per result.")
        if any(result.schema != results[0].schema for result in results[1:]):
            raise DataError("The results of a batch must share one schema. Make a batch per schema.")
        object.__setattr__(self, "results", results)
        object.__setattr__(self, "index", index)
        object.__setattr__(self, "unfinished", tuple(map(storage.plain_label, self.unfinished)))

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, at: int) -> Counterfactuals: ...

    @overload
    def __getitem__(self, at: slice) -> CounterfactualsBatch: ...

    def __getitem__(self, at: int | slice) -> Counterfactuals | CounterfactualsBatch:
        """The result at a position, or a batch of several."""
        if isinstance(at, slice):
            return CounterfactualsBatch(self.results[at], self.index[at], self.unfinished)
        return self.results[at]

    @property
    def errors(self) -> dict[Hashable, str]:
        """By label, what went wrong in the rows that could not be explained."""
        return {
            label: result.error or "no reason was given"
            for label, result in zip(self.index, self.results, strict=True)
            if result.status == "error"
        }

    def to_frame(self, objectives: bool = False) -> Any:
        """All counterfactuals below each other, with the columns "row" (label) and "counterfactual" before them.

        In the library of the training data; users of numpy get pandas.
        """
        if not self.results:
            return pd.DataFrame({"row": [], "counterfactual": []})
        numbers = np.array([i for result in self.results for i in range(len(result))], dtype=np.int64)
        before = {"row": self._repeated(self.index), "counterfactual": numbers}
        rows = np.concatenate([result.rows for result in self.results])
        after, cells = self._measures() if objectives else {}, frames.unchanged_cells(self.results)
        return frames.frame_of(self.results[0].schema, rows, after, before, cells)

    def _repeated(self, values: Sequence[Any]) -> list[Any]:
        return [value for value, result in zip(values, self.results, strict=True) for _ in range(len(result))]

    def _measures(self) -> dict[str, Any]:
        # a row that failed knows of no scores, so it has no say in the columns
        parts = [result.measures() for result in self.results if len(result)]
        if not parts:
            return max((result.measures() for result in self.results), key=len)
        if any(part.keys() != parts[0].keys() for part in parts):
            raise DataError(
                "The results of this batch have different scores or objectives. Take their frames one by one."
            )
        return {name: _stacked([part[name] for part in parts]) for name in parts[0]}

    def changes(self) -> Any:
        """What differs from the rows, one line per changed cell (pandas).

        Its columns are row, counterfactual, feature, from, to, consequence, as in `Counterfactuals.changes`.
        """
        names = ("row", "counterfactual", "feature", "from", "to", "consequence")
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for label, result in zip(self.index, self.results, strict=True):
            part = frames.change_list(result)
            columns["row"] += [label] * len(part["feature"])
            for name, values in part.items():
                columns[name] += values
        return frames.long_frame(columns)

    def labelled(self, labels: Labels | None) -> CounterfactualsBatch:
        """The same with other names for columns and levels, see `Counterfactuals.labelled`."""
        return replace(self, results=tuple(result.labelled(labels) for result in self.results))

    def summary(self) -> Any:
        """Per row: status, n_found, best_distance, fewest_changes, highest_typicality, seconds (a pandas frame)."""
        lines = [
            {
                "status": result.status,
                "n_found": result.n_found,
                "best_distance": _best(result.objectives.get("distance"), np.nanmin),
                "fewest_changes": _best(result.n_changed, np.nanmin),
                "highest_typicality": _best(result.typicality, np.nanmax),
                "seconds": _seconds(result),
            }
            for result in self.results
        ]
        names = ["status", "n_found", "best_distance", "fewest_changes", "highest_typicality", "seconds"]
        frame = pd.DataFrame(lines, columns=names)
        frame.index = pd.Index(list(self.index), name="row", tupleize_cols=False)
        return frame.astype({"n_found": np.int64} | dict.fromkeys(names[2:], np.float64))

    def importance(self, k: int | None = None) -> pd.DataFrame:
        """How often and how far each feature changes, as `Counterfactuals.importance`; every row counts alike.

        Parameters
        ----------
        k : how many counterfactuals of each row count, chosen as by `select`; None for all.
        """
        return importance(self.results, k)

    def with_robustness(self, frame: pd.DataFrame) -> CounterfactualsBatch:
        """The same with one more objective in each result, as `Counterfactuals.with_robustness` adds it.

        Parameters
        ----------
        frame : what `Explainer.robustness` gave for this batch.
        """
        ends = np.cumsum([len(result) for result in self.results])
        if len(frame) != (ends[-1] if len(ends) else 0):
            raise DataError(
                f"The frame has {len(frame)} lines for {sum(map(len, self.results))} counterfactuals. Pass that of "
                "this very batch."
            )
        parts = [frame.iloc[end - len(result) : end] for end, result in zip(ends, self.results, strict=True)]
        results = [result.with_robustness(part) for result, part in zip(self.results, parts, strict=True)]
        return replace(self, results=tuple(results))

    def recourse(
        self,
        by: Any,
        *,
        bins: int | Sequence[float] | None = None,
        prefer: str | Mapping[str, float] | None = None,
        confidence: float = 0.95,
        n_draws: int = 2000,
        random_state: int = 0,
    ) -> Recourse:
        """What another outcome would cost each group of rows, with intervals and differences; for audits of fairness.

        Parameters
        ----------
        by : a column of the rows, or one value per row: a Series with their labels, or an array or list in their order.
        bins : for numbers, how many bands with about as many rows each, or ascending cuts such as [30, 50]; None makes
            four bands where there are more than ten values.
        prefer : which counterfactual of a row is its best, as in `select`.
        confidence : of the intervals.
        n_draws, random_state : of the bootstrap, by which means and medians get their intervals.
        """
        return recourse(self, by, bins, prefer, checked_draws(n_draws, random_state, confidence))

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types, with the name and version of the format."""
        return storage.batch_to_dict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> CounterfactualsBatch:
        """The inverse of `to_dict`."""
        return storage.batch_from_dict(stored)

    def __repr__(self) -> str:
        return overview.batch_text(self)

    def _repr_html_(self) -> str:
        return overview.batch_html(self)


def _stacked(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return [value for part in parts for value in part]


def _best(values: np.ndarray | None, choose: Any) -> float:
    if values is None or not len(values) or np.isnan(values).all():
        return math.nan
    return float(choose(values))


def _seconds(result: Counterfactuals) -> float:
    seconds = result.provenance.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) else math.nan
