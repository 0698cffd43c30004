"""Common ways: a few changes that would help most of a batch.

1. Items. Each of the best counterfactuals of a row is a set of items: a number or an ordered level that goes up or
   down, another level that a column takes. Cells that were or become missing are no items.
2. Sets of few items that the counterfactuals of many rows contain are candidates, the most frequent of each size. Of
   its numbers a candidate takes the values that half, three quarters, … of these counterfactuals are content with, as
   round numbers that occur.
3. Each candidate is applied to all rows that need the outcome, with one call of the model. Who has the outcome then is
   helped if the changed row is also a candidate for that row (`Problem.is_candidate`: constraints, relations) and
   typical enough. This is only judged of candidates that can still win, as it takes longer than the model.
4. Greedily that candidate is taken which helps most of those whom none before it helps; of candidates that help nearly
   as many the one that changes least.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.importance import directions
from countarfactuals.counterfactuals.ways import AT_LEAST, AT_MOST, BECOMES, Change, CommonWays, Way
from countarfactuals.explainers.background import Background
from countarfactuals.explainers.problem import Problem

if TYPE_CHECKING:
    from countarfactuals.explainers.base import Explainer

_BEST = 5  # counterfactuals of each row whose items count
_MOST_ITEMS = 8  # of one counterfactual, the most frequent ones
_CONTENT = (0.5, 0.75, 0.9)  # shares of the counterfactuals that the values of a candidate do for
_NEARLY = 0.9  # of the most helped: those who change less may help so much fewer
_ROUND = 20  # about as many round numbers are in the range of a column


class _Item(NamedTuple):
    """What becomes of a column; of a level that has no order which one."""

    column: int
    kind: str
    level: float = math.nan


_ItemSet = tuple[_Item, ...]


class Settings(NamedTuple):
    """How much is tried, and what counts."""

    k: int
    max_changes: int
    min_typicality: float
    max_candidates: int


def common_ways(explainer: Explainer, batch: CounterfactualsBatch, settings: Settings) -> CommonWays:
    """The ways for those rows of a batch that need the outcome."""
    pairs = [(label, result) for label, result in zip(batch.index, batch, strict=True) if _needs_it(result)]
    labels, results = tuple(label for label, _ in pairs), [result for _, result in pairs]
    background = explainer.background_
    candidates = _candidates(background, results, settings)
    rows = _Rows(explainer, results, settings.min_typicality)
    trials = [_Trial(changes, rows) for changes in candidates]
    chosen = _cover(trials, settings.k)
    taken = np.zeros(len(labels), np.bool_)
    ways = []
    for trial in chosen:
        ways.append(_way(trial, labels, taken))
        taken |= trial.helped
    return CommonWays(background.schema, tuple(ways), labels, settings.min_typicality, len(trials))


def _needs_it(result: Counterfactuals) -> bool:
    return result.status in ("found", "none")


def _way(trial: _Trial, labels: Sequence[Hashable], taken: np.ndarray) -> Way:
    at = np.flatnonzero(trial.helped)
    return Way(
        changes=trial.changes,
        helped=tuple(labels[i] for i in at.tolist()),
        newly=int((trial.helped & ~taken).sum()),
        n_needing=len(labels),
        typicality=trial.typicality[at],
        distance=trial.distance[at],
    )


# Candidates


def _candidates(
    background: Background, results: Sequence[Counterfactuals], settings: Settings
) -> list[tuple[Change, ...]]:
    """Sets of changes to try, without repetition, the most frequent of each size."""
    reached = _reached_values(results, settings.max_changes)
    by_size: dict[int, list[_ItemSet]] = defaultdict(list)
    for items in sorted(reached, key=lambda items: (-len(reached[items]), items)):
        by_size[len(items)].append(items)
    each = max(1, settings.max_candidates // (len(_CONTENT) * max(len(by_size), 1)))
    chosen = [items for size in sorted(by_size) for items in by_size[size][:each]]
    made = (
        _changes(background, items, np.array(list(reached[items].values())), content)
        for items in chosen
        for content in _CONTENT
    )
    return list(dict.fromkeys(made))[: settings.max_candidates]


def _reached_values(results: Sequence[Counterfactuals], most: int) -> dict[_ItemSet, dict[int, np.ndarray]]:
    """By set of items the rows that have a counterfactual with it, and what its columns become there, in the median."""
    best = [result.select(min(_BEST, len(result))) if len(result) else result for result in results]
    sets = [[_items(result, i) for i in range(len(result))] for result in best]
    often = Counter(item for row in sets for item in set().union(*row))
    found: dict[_ItemSet, dict[int, list[np.ndarray]]] = defaultdict(lambda: defaultdict(list))
    for number, (result, row) in enumerate(zip(best, sets, strict=True)):
        for i, items in enumerate(row):
            for chosen in _subsets(items, often, most):
                found[chosen][number].append(result.rows[i, [item.column for item in chosen]])
    return {
        items: {number: np.median(values, axis=0) for number, values in rows.items()} for items, rows in found.items()
    }


def _items(result: Counterfactuals, i: int) -> frozenset[_Item]:
    """What one counterfactual does, cells that were or become missing left out."""
    up, down, other = (cells[i] for cells in directions(result))
    other = other & ~np.isnan(result.x) & ~np.isnan(result.rows[i])
    rises = [_Item(j, AT_LEAST) for j in np.flatnonzero(up).tolist()]
    falls = [_Item(j, AT_MOST) for j in np.flatnonzero(down).tolist()]
    levels = [_Item(j, BECOMES, float(result.rows[i, j])) for j in np.flatnonzero(other).tolist()]
    return frozenset([*rises, *falls, *levels])


def _subsets(items: Iterable[_Item], often: Counter[_Item], most: int) -> list[_ItemSet]:
    kept = sorted(items, key=lambda item: (-often[item], item))[:_MOST_ITEMS]
    return [tuple(sorted(chosen)) for size in range(1, most + 1) for chosen in combinations(kept, size)]


def _changes(background: Background, items: _ItemSet, reached: np.ndarray, content: float) -> tuple[Change, ...]:
    """The items with values that this share of the rows, (n, items), is content with."""
    return tuple(
        Change(item.column, item.kind, item.level)
        if item.kind == BECOMES
        else Change(item.column, item.kind, _value(background, item, values, content))
        for item, values in zip(items, reached.T, strict=True)
    )


def _value(background: Background, item: _Item, values: np.ndarray, content: float) -> float:
    """A value that occurs, as a round number if it is one, at which this share of the values is reached."""
    rises = item.kind == AT_LEAST
    value = float(np.quantile(values, content if rises else 1 - content, method="higher" if rises else "lower"))
    column, low, high = (
        background.schema.columns[item.column],
        background.low[item.column],
        background.high[item.column],
    )
    if not column.is_number:
        return float(np.ceil(value) if rises else np.floor(value))
    step = 10.0 ** math.floor(math.log10((high - low) / _ROUND)) if high > low else 0.0
    if step > 0:
        value = (math.ceil(value / step) if rises else math.floor(value / step)) * step
    return float(column.permitted.nearest(np.array([min(max(value, low), high)]), low, high)[0])


# Whom they help


class _Rows:
    """The rows that need the outcome, each with its own problem."""

    def __init__(self, explainer: Explainer, results: Sequence[Counterfactuals], min_typicality: float) -> None:
        self.background = explainer.background_
        self.problems: list[Problem] = [
            explainer.problem(result.x, result.target, result.constraints, result.x_scores) for result in results
        ]
        self.x = np.array([result.x for result in results]).reshape(-1, len(self.background.schema.columns))
        self.least = min_typicality

    def reached(self, rows: np.ndarray) -> np.ndarray:
        """Which rows have the outcome that is wanted of each, by one call of the model."""
        scores = self.background.predictor.scores(rows)
        pairs = zip(self.problems, scores, strict=True)
        return np.array([problem.goal.reached(score[None])[0] for problem, score in pairs], np.bool_)

    def are_candidates(self, rows: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Which of the rows at these positions may be handed out."""
        return np.array([self.problems[i].is_candidate(rows[[i]])[0] for i in at.tolist()], np.bool_)

    def distance(self, rows: np.ndarray) -> np.ndarray:
        """Of each row to its own."""
        pairs = zip(self.problems, rows, strict=True)
        return np.array([problem.distance_to_x(row[None])[0] for problem, row in pairs])


@dataclass(eq=False)
class _Trial:
    """A candidate applied to all rows; what takes time is found out when it is asked for."""

    changes: tuple[Change, ...]
    on: _Rows

    @property
    def rows(self) -> np.ndarray:
        """The changed rows, made anew each time: kept for all trials they would fill the memory."""
        rows = self.on.x.copy()
        for change in self.changes:
            rows[:, change.column] = change.applied(rows[:, change.column])
        return self.on.background.representable(rows)

    @cached_property
    def reached(self) -> np.ndarray:
        """Who has the outcome then: the most that can be helped."""
        return self.on.reached(self.rows)

    @cached_property
    def typicality(self) -> np.ndarray:
        """Of the changed rows that reach the outcome and may be handed out, NaN for others."""
        at = np.flatnonzero(self.reached)
        at = at[self.on.are_candidates(self.rows, at)]
        typicality = np.full(len(self.rows), np.nan)
        if len(at):
            typicality[at] = self.on.background.plausibility.typicality(self.rows[at])
        return typicality

    @cached_property
    def helped(self) -> np.ndarray:
        """Who is helped."""
        least = np.maximum(self.on.least, [problem.least_typicality for problem in self.on.problems])
        return np.greater_equal(np.nan_to_num(self.typicality, nan=-1.0), least)

    @cached_property
    def distance(self) -> np.ndarray:
        """Of the changed rows to their own."""
        return self.on.distance(self.rows)


def _cover(trials: Sequence[_Trial], k: int) -> list[_Trial]:
    """At most k trials that together help most, by greed."""
    chosen: list[_Trial] = []
    if not trials:
        return chosen
    taken = np.zeros(len(trials[0].reached), np.bool_)
    while len(chosen) < k:
        best = _next(trials, taken)
        if best is None:
            break
        chosen.append(best)
        taken |= best.helped
    return chosen


def _next(trials: Sequence[_Trial], taken: np.ndarray) -> _Trial | None:
    """The trial that helps most of those who are left, or nearly as many with smaller changes."""
    bounds = np.array([(trial.reached & ~taken).sum() for trial in trials])
    gains: dict[int, int] = {}
    for i in np.argsort(-bounds, kind="stable").tolist():
        if bounds[i] == 0 or bounds[i] < _NEARLY * max(gains.values(), default=0):
            break
        gains[i] = int((trials[i].helped & ~taken).sum())
    most = max(gains.values(), default=0)
    if most == 0:
        return None
    nearly = [i for i, gain in gains.items() if gain >= _NEARLY * most]
    return trials[min(nearly, key=lambda i: _effort(trials[i], taken, i))]


def _effort(trial: _Trial, taken: np.ndarray, number: int) -> tuple[float, int, int]:
    """How much it changes, in the mean over those whom it helps; then fewer columns, then the earlier."""
    return float(trial.distance[trial.helped & ~taken].mean()), len(trial.changes), number
