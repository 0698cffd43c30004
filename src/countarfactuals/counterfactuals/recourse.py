"""`Recourse`: what another outcome would cost by group of rows, for audits of fairness.

1. Rows are grouped by a column of theirs, or by anything that a user knows of them. Numbers of which there are many are
   cut into bands, from one cut up to, but not including, the next.
2. Per group: the share of rows that have the outcome already; of the others the share without any counterfactual; and
   of those with one the distance, the number of changes and the typicality of the best, as `select(1)` takes it. Rows
   that could not be explained do not count.
3. Each figure has an interval (`intervals`), and a difference to the same figure of all other rows with an interval of
   its own. Fewer than ten rows, in the group or outside of it, are not compared, and their means and medians have no
   interval.
4. Words say what was seen and no more: the intervals speak of chance in which rows there were, not of the search, not
   of the model's errors, and not of why groups differ.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import pandas as pd

from countarfactuals.counterfactuals import intervals
from countarfactuals.counterfactuals.intervals import Estimate, Statistic
from countarfactuals.exceptions import DataError, DataTypeError, ParameterError, listed
from countarfactuals.language.vocabulary import TEXT, Unit, words_of
from countarfactuals.objectives import DISTANCE
from countarfactuals.parameters import check_float, check_int
from countarfactuals.schema import Column, Schema

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.batch import CounterfactualsBatch
    from countarfactuals.counterfactuals.result import Counterfactuals

ALREADY, WITHOUT, MEDIAN_DISTANCE, MEAN_DISTANCE, CHANGES, TYPICALITY = MEASURES = (
    "already",
    "without",
    "distance",
    "mean_distance",
    "n_changed",
    "typicality",
)
SHARES = (ALREADY, WITHOUT)
FEWEST_ROWS = 10  # that are compared
_STATISTICS: dict[str, Statistic] = {
    MEDIAN_DISTANCE: np.median,
    MEAN_DISTANCE: np.mean,
    CHANGES: np.mean,
    TYPICALITY: np.median,
}
_MOST_VALUES, _DEFAULT_BANDS, _MOST_GROUPS = 10, 4, 30


class Band(NamedTuple):
    """Numbers from `low` on and below `high`; infinite where it is open."""

    low: float
    high: float


@dataclass(frozen=True)
class GroupCost:
    """What recourse costs one group.

    Parameters
    ----------
    key : the value that its rows have, or their band; None where it is missing.
    n : how many rows were explained.
    estimates : by measure.
    differences : by measure, that of the group minus that of all other rows; only those that can be compared.
    """

    key: Any
    n: int
    estimates: Mapping[str, Estimate]
    differences: Mapping[str, Estimate]


@dataclass(frozen=True, repr=False)
class Recourse(Sequence[GroupCost]):
    """What recourse costs each group; made by `CounterfactualsBatch.recourse`.

    Parameters
    ----------
    column : by which rows are grouped.
    groups : in the order of their values, missing last.
    everyone : the same of all rows together.
    n_failed : rows that do not count, as they could not be explained.
    confidence : of the intervals.
    """

    column: Column
    groups: tuple[GroupCost, ...]
    everyone: GroupCost
    n_failed: int
    confidence: float

    def __len__(self) -> int:
        return len(self.groups)

    @overload
    def __getitem__(self, at: int) -> GroupCost: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[GroupCost]: ...

    def __getitem__(self, at: int | slice) -> GroupCost | Sequence[GroupCost]:
        """The group at a position."""
        return self.groups[at]

    def to_frame(self) -> pd.DataFrame:
        """One line per group and measure: group, rows, measure, n, value, low, high, and the difference to the others.

        `n` is how many of the rows the figure was made from. The difference and its ends are NaN where it was not
        compared.
        """
        from countarfactuals.counterfactuals.recourse_words import key_text

        nothing = Estimate(math.nan, math.nan, math.nan, 0)
        lines = []
        for group in self.groups:
            shown = key_text(self.column, group.key) if isinstance(group.key, Band) else group.key
            for measure, own in group.estimates.items():
                apart = group.differences.get(measure, nothing)
                lines.append([shown, group.n, measure, own.n, *own[:3], *apart[:3]])
        ends = ["difference", "difference_low", "difference_high"]
        return pd.DataFrame(lines, columns=["group", "rows", "measure", "n", "value", "low", "high", *ends])

    def describe(
        self, *, units: Mapping[Hashable, Unit] | None = None, rows: Unit = "rows", outcome: str | None = None
    ) -> str:
        """In plain language; the parameters are those of `Counterfactuals.describe`."""
        from countarfactuals.counterfactuals.recourse_words import description

        return description(self, words_of([self.column.name, *(units or {})], units, rows, outcome, TEXT))

    def __repr__(self) -> str:
        from countarfactuals.counterfactuals.recourse_words import table_text

        return table_text(self)


class Draws(NamedTuple):
    """How intervals are drawn; a generator for each group and measure, so that none depends on the others."""

    n: int
    seed: int
    confidence: float
    group: int = 0

    def of_group(self, group: int) -> Draws:
        """The same for another group."""
        return self._replace(group=group)

    def of(self, measure: str, values: np.ndarray, is_rest: bool) -> np.ndarray | None:
        """Draws of a mean or median, None of too few values."""
        if len(values) < FEWEST_ROWS:
            return None
        rng = np.random.default_rng([self.seed, self.group, MEASURES.index(measure), is_rest])
        return intervals.bootstrap(values, _STATISTICS[measure], self.n, rng)


def checked_draws(n: int, seed: int, confidence: float) -> Draws:
    """Draws as a user asks for them."""
    check_int("n_draws", n, 100)
    check_int("random_state", seed, 0)
    if not 0.0 < check_float("confidence", confidence, 0.0, 1.0) < 1.0:
        raise ParameterError(f"`confidence` must lie between 0 and 1, such as 0.95; got {confidence!r}.")
    return Draws(n, seed, confidence)


def recourse(
    batch: CounterfactualsBatch,
    by: Any,
    bins: int | Sequence[float] | None,
    prefer: str | Mapping[str, float] | None,
    draws: Draws,
) -> Recourse:
    """What recourse costs each group of a batch; see `CounterfactualsBatch.recourse`."""
    counts = np.array([result.status != "error" for result in batch.results], np.bool_)
    if not counts.any():
        raise DataError("The batch has no row that was explained, so there is nothing to compare.")
    column, codes = _column_of(batch, by)
    keys, group_of = _grouped(column, codes[counts], bins)
    facts = _facts([result for result in batch.results if result.status != "error"], prefer)
    groups = tuple(_cost(key, facts, group_of == g, draws.of_group(g)) for g, key in enumerate(keys))
    everyone = _cost(None, facts, np.ones(len(group_of), np.bool_), draws.of_group(len(keys)))
    return Recourse(column, groups, everyone, int((~counts).sum()), draws.confidence)


# Who is in which group


def _column_of(batch: CounterfactualsBatch, by: Any) -> tuple[Column, np.ndarray]:
    """What rows are grouped by: its column, and its code for each row."""
    schema = batch.results[0].schema
    if _is_name(by, schema):
        j = schema.index(by)
        return schema.columns[j], np.array([result.x[j] for result in batch.results])
    frame = pd.DataFrame({_name_of(by): _aligned(batch, by)})
    own = Schema.infer(frame, values=None)
    return own.columns[0], own.encode(frame)[:, 0]


def _is_name(by: Any, schema: Schema) -> bool:
    """Whether it names a column; a tuple may be a name, or one value per row."""
    try:
        hash(by)
    except TypeError:
        return False
    return by in schema.names if isinstance(by, tuple) else True


def _name_of(by: Any) -> Hashable:
    name = getattr(by, "name", None)
    return name if isinstance(name, Hashable) and name is not None else "group"


def _aligned(batch: CounterfactualsBatch, by: Any) -> Any:
    """One value per row of the batch, in its order: of a Series by its labels."""
    if isinstance(by, pd.Series):
        if lacking := [label for label in batch.index if label not in by.index]:
            raise DataError(
                f"`by` has no value for the rows {listed(lacking)}. Give a Series with the labels of the rows, or "
                "an array with one value per row of the batch, in its order."
            )
        if not by.index.is_unique:
            raise DataError("The labels of `by` are not unique. Give an array in the order of the batch.")
        return by.loc[list(batch.index)].reset_index(drop=True)
    if isinstance(by, Mapping) or not hasattr(by, "__len__"):
        raise DataTypeError(
            f"`by` must be a column of the rows, or one value per row as a Series, array or list; got {by!r}."
        )
    if len(by) != len(batch):
        raise DataError(f"`by` has {len(by)} values for {len(batch)} rows of the batch. Give one per row.")
    return by.tolist() if isinstance(by, np.ndarray) else list(by)


def _grouped(column: Column, codes: np.ndarray, bins: Any) -> tuple[list[Any], np.ndarray]:
    """The keys of the groups that have rows, and each row's group by position."""
    present = codes[~np.isnan(codes)]
    cuts = _cuts(column, present, bins)
    if cuts is None:
        values = np.unique(present)
        keys: list[Any] = [column.decode(value) for value in values.tolist()]
        place = np.searchsorted(values, codes)
    else:
        ends = [-math.inf, *cuts.tolist(), math.inf]
        keys = [Band(low, high) for low, high in pairwise(ends)]
        place = np.searchsorted(cuts, codes, side="right")
    place = np.where(np.isnan(codes), len(keys), place)
    used, group_of = np.unique(place, return_inverse=True)
    keys = [[*keys, None][g] for g in used.tolist()]
    if len(keys) > _MOST_GROUPS:
        raise DataError(
            f"{column.name!r} makes {len(keys)} groups, at most {_MOST_GROUPS} are allowed. Merge levels that are "
            "alike and pass the result as `by`."
        )
    return keys, group_of


def _cuts(column: Column, present: np.ndarray, bins: Any) -> np.ndarray | None:
    """Where bands begin, the first excepted; None where every value is a group."""
    if not column.is_number:
        if bins is not None:
            raise ParameterError(f"`bins` are for numbers, but {column.name!r} has levels. Leave them out.")
        return None
    if bins is None and len(np.unique(present)) <= _MOST_VALUES:
        return None
    if bins is None or isinstance(bins, int | np.integer):
        n = min(_DEFAULT_BANDS if bins is None else check_int("bins", bins, 2), max(len(present), 2))
        cuts = np.unique(np.quantile(present, np.arange(1, n) / n, method="higher")) if len(present) else present
        return cuts[cuts > present.min()] if len(present) else cuts
    try:
        cuts = np.array([column.encode(cut) for cut in bins], np.float64)  # of dates too
    except (TypeError, ValueError):
        cuts = np.empty(0)
    if cuts.ndim != 1 or not len(cuts) or not np.isfinite(cuts).all() or (np.diff(cuts) <= 0).any():
        raise ParameterError(
            f"`bins` must be a number of bands from 2, or ascending cuts such as [30, 50]; got {bins!r}."
        )
    return cuts


# What is measured


class _Facts(NamedTuple):
    """Of each row: whether it has the outcome, whether it has a counterfactual, and the best one's measures or NaN."""

    is_done: np.ndarray
    is_found: np.ndarray
    values: Mapping[str, np.ndarray]


def _facts(results: Sequence[Counterfactuals], prefer: Any) -> _Facts:
    best = [result.select(1, prefer) if len(result) else None for result in results]
    nothing = np.array([math.nan])
    distance = [math.nan if row is None else row.objectives.get(DISTANCE, nothing)[0] for row in best]
    values = {
        MEDIAN_DISTANCE: distance,
        MEAN_DISTANCE: distance,
        CHANGES: [math.nan if row is None else float(row.changed.sum()) for row in best],
        TYPICALITY: [math.nan if row is None else float(row.typicality[0]) for row in best],
    }
    return _Facts(
        np.array([result.status == "already" for result in results]),
        np.array([row is not None for row in best]),
        {measure: np.array(cells, np.float64) for measure, cells in values.items()},
    )


def _cost(key: Any, facts: _Facts, members: np.ndarray, draws: Draws) -> GroupCost:
    estimates, differences = {}, {}
    for measure in MEASURES:
        compared = _compared_shares if measure in SHARES else _compared_values
        estimates[measure], apart = compared(measure, facts, members, draws)
        if apart is not None:
            differences[measure] = apart
    return GroupCost(key, int(members.sum()), estimates, differences)


def _compared_shares(
    measure: str, facts: _Facts, members: np.ndarray, draws: Draws
) -> tuple[Estimate, Estimate | None]:
    of_whom = np.ones(len(members), np.bool_) if measure == ALREADY else ~facts.is_done
    counted = facts.is_done if measure == ALREADY else ~facts.is_found
    own, rest = (
        intervals.share(int((counted & of_whom & who).sum()), int((of_whom & who).sum()), draws.confidence)
        for who in (members, ~members)
    )
    return own, intervals.difference_of_shares(own, rest) if min(own.n, rest.n) >= FEWEST_ROWS else None


def _compared_values(
    measure: str, facts: _Facts, members: np.ndarray, draws: Draws
) -> tuple[Estimate, Estimate | None]:
    values, statistic = facts.values[measure], _STATISTICS[measure]
    is_known = ~np.isnan(values)
    own, rest = values[is_known & members], values[is_known & ~members]
    own_draws = draws.of(measure, own, False)
    estimate = intervals.estimate(own, statistic, own_draws, draws.confidence)
    rest_draws = None if own_draws is None else draws.of(measure, rest, True)
    if own_draws is None or rest_draws is None:
        return estimate, None
    other = intervals.estimate(rest, statistic, None, draws.confidence)
    return estimate, intervals.difference(estimate, own_draws, other, rest_draws, draws.confidence)
