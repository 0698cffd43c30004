"""How plausible a row is, by an adversarial random forest over the features and the model's scores.

1. The forest describes features and scores; scores are summed out, so that the measure is one of the features alone.
2. Each tree gives a log density of its own. The measure is their *median*: on generated networks it ranks rows far
   from the data more like the true density does than the log of their mean, which one tree that errs upwards decides.
   `measure="density"` is that mean, the paper's p̂.
3. What is typical is told by real rows that a forest has not seen, as those it was fitted to look more plausible than
   they are: three small forests each lack a third of the rows (`ForestParts`).
4. A missing cell has a probability where a present one has a density per unit: which of them is larger would be a
   question of units. So a gap also costs what a value of its column is worth on average, the entropy of the column by
   the forest. A gap of a column that had none in training counts as an average value, by the same cost. So does one
   of the values that repeat in a column of full precision.
5. Levels of held-out rows that a part has not seen count as average ones, too: of a column with very many levels
   nearly all would be impossible, and every row of levels that the forest knows would seem typical.
6. The same walk tells how likely a row is to have an outcome: its leaves know the share of real rows that do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from countarfactuals._kernels import compiled, inner, kernel
from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.arf.archive import pack, unpack
from countarfactuals.arf.evidence import FREE, POINT, Evidence
from countarfactuals.arf.forest import Forest, some_trees
from countarfactuals.arf.leaf_weights import log_sum_columns
from countarfactuals.arf.leaves import LeafTable, first_columns
from countarfactuals.arf.tree_walk import (
    leaf_weights,
    log_density,
    mean_of_leaves,
    tree_log_weights,
    tree_log_weights_and_means,
    visits,
)

MEASURES = {"median": "median of the trees' log densities", "density": "log density"}
_TREES_OF_PARTS = 12
_DEPENDENT_TREES = 30  # that are asked where leaves are dependent
_BLOCK = 1024
_MOST_HALVINGS = 24
_DRAWS_FOR_ENTROPY = 256


@dataclass(frozen=True, eq=False)
class ForestJudge:
    """A forest whose first columns are the features.

    Parameters
    ----------
    forest : fitted to the features and, after them, anything that is summed out.
    n_features : how many columns are features.
    measure : "median" or "density".
    """

    forest: AdversarialRandomForest
    n_features: int
    measure: str

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """The measure of each row of features, larger is more plausible."""
        parts = [tree_log_weights(self._asked, self._leaves, self._points(some)) for some in _blocks(rows)]
        return np.concatenate([self._summary(part, some) for part, some in zip(parts, _blocks(rows), strict=True)])

    def log_density(self, rows: np.ndarray) -> np.ndarray:
        """Log p̂ of each row of features: the log of all trees' mean density, whatever the measure is."""
        forest = self.forest.forest_
        parts = [tree_log_weights(forest, self._leaves, self._points(some)) for some in _blocks(rows)]
        return np.concatenate([log_sum_columns(part) for part in parts])

    def of_known_cells(self, rows: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The measure of each row by its known cells alone, the others as average ones; and the trees' weights."""
        condition = self._points(rows)
        kind = condition.kind.copy()
        kind[:, : self.n_features][~known] = FREE
        per_tree = tree_log_weights(self._asked, self._leaves, condition._replace(kind=kind))
        return self._summary(per_tree, np.where(known, rows, np.nan)), per_tree

    @cached_property
    def _asked(self) -> Forest:
        """The trees that are asked for the measure: some of those with dependent leaves, which cost and know more."""
        forest: Forest = self.forest.forest_
        if len(self._leaves.copula.region) == 0 or self._splits_on_others:
            return forest
        return some_trees(forest, 0, min(forest.n_trees, _DEPENDENT_TREES))

    @property
    def name(self) -> str:
        """What the measure is called."""
        return MEASURES[self.measure]

    def leaf_shares(self, condition: Evidence) -> np.ndarray:
        """The probability of one condition in each leaf."""
        leaves = self.forest.leaves_
        met = leaf_weights(self.forest.forest_, leaves, condition)
        shares = np.zeros(len(leaves.log_weight))
        shares[met.leaf] = np.exp(met.log_weight - leaves.log_weight[met.leaf])
        return shares

    def votes(self, rows: np.ndarray, leaf_shares: np.ndarray) -> np.ndarray:
        """The probability of what has the given probability in each leaf, where nothing else is asked of the forest."""
        if self._splits_on_others or np.isnan(rows).any():
            return np.concatenate([self._judge_some(some, leaf_shares)[1] for some in _blocks(rows)])
        return mean_of_leaves(self.forest.forest_, rows, leaf_shares)

    def judge(self, rows: np.ndarray, leaf_shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The measure of each row, and its probability of what has the given probability in each leaf."""
        if self._asked.n_trees < self.forest.forest_.n_trees:
            return self(rows), self.votes(rows, leaf_shares)
        parts = [self._judge_some(some, leaf_shares) for some in _blocks(rows)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _judge_some(self, rows: np.ndarray, leaf_shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        forest, leaves, condition = self.forest.forest_, self._leaves, self._points(rows)
        if not self._splits_on_others:  # each leaf has a vote, one per tree for a row without gaps: a random forest
            per_tree, share = tree_log_weights_and_means(forest, leaves, condition, leaf_shares)
            return self._summary(per_tree, rows), share
        # posterior over the leaves that the columns summed out leave open
        per_tree, row, leaf, log_weight = visits(forest, leaves, condition)
        vote = np.exp(log_weight - log_sum_columns(per_tree)[row])
        return self._summary(per_tree, rows), np.bincount(row, vote * leaf_shares[leaf], len(rows))

    def _summary(self, per_tree: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """One number per row from the trees' log weights, (trees, rows), which sum to 1 over all trees."""
        if self.measure == "density":
            summed = log_sum_columns(per_tree)
        else:
            summed = row_medians(np.ascontiguousarray(per_tree.T)) + math.log(len(per_tree))
        return summed + math.log(self.forest.forest_.n_trees / len(per_tree)) - self._cost_of_masses(rows)

    def _cost_of_masses(self, rows: np.ndarray) -> np.ndarray:
        is_mass, cost = self._is_mass(rows), np.zeros(len(rows))
        for j in np.flatnonzero(is_mass.any(axis=0)).tolist():
            cost[is_mass[:, j]] += self._entropy_of(j)
        return cost

    def _is_mass(self, rows: np.ndarray) -> np.ndarray:
        """Which cells have a probability and not a density: gaps, and atoms of columns of full precision."""
        values, is_mass = self.forest.leaves_.values, np.isnan(rows)
        for j in np.flatnonzero((values.n_atoms[: rows.shape[1]] > 0) & (values.step[: rows.shape[1]] == 0)).tolist():
            if not values.is_discrete[j]:
                is_mass[:, j] |= values.codes(j, rows[:, j]) < values.n_atoms[j]
        return is_mass

    def _entropy_of(self, j: int) -> float:
        """What a value of a column is worth on average: minus its mean log density, over draws from the forest."""
        if j not in self._entropies:
            values = self._draws[~self._is_mass(self._draws)[:, j], j]
            condition = Evidence.empty(len(values), len(self.forest.schema_.columns))
            condition.kind[:, j], condition.value[:, j] = POINT, values
            logs = log_density(self.forest.forest_, self.forest.leaves_, condition)
            self._entropies[j] = -float(logs.mean()) if len(values) else 0.0
        return self._entropies[j]

    @cached_property
    def _entropies(self) -> dict[int, float]:
        return {}

    @cached_property
    def _draws(self) -> np.ndarray:
        drawn = self.forest.sample(_DRAWS_FOR_ENTROPY, random_state=0)
        return self.forest.schema_.encode(drawn)

    @cached_property
    def _splits_on_others(self) -> bool:
        return bool((self.forest.forest_.split >= self.n_features).any())

    @cached_property
    def _leaves(self) -> LeafTable:
        """The leaves, of the features alone where no tree splits on another column: all of a row is then asked for."""
        leaves: LeafTable = self.forest.leaves_
        return leaves if self._splits_on_others else first_columns(leaves, self.n_features)

    def _points(self, rows: np.ndarray) -> Evidence:
        if self._splits_on_others:
            return points(self.forest, rows)
        return Evidence.points(rows, self._leaves.missing_of >= 0)


@kernel
def row_medians(matrix):  # type: ignore[no-untyped-def]
    """The median of each row, by halving an interval until as many values lie below as above.

    Counting takes no branches and runs in vector registers: for a hundred trees it is four times as fast as sorting.
    """
    n, m = matrix.shape
    medians = np.empty(n)
    for i in range(n):
        values = matrix[i]
        low, high = _range(values)
        low, count = np.nextafter(low, -math.inf), -1
        if not high > -math.inf:  # between infinite ones there is nothing to halve
            medians[i] = high
            continue
        for _ in range(_MOST_HALVINGS):
            middle = low + 0.5 * (high - low)
            count = _count_at_most(values, middle)
            if count == m // 2:
                below, above = _neighbours(values, middle, middle)
                medians[i] = above if m % 2 else 0.5 * (below + above)
                break
            if count < m // 2:
                low = middle
            else:
                high = middle
        if count != m // 2:
            largest, least = _neighbours(values, high, low)
            # equal ones in the middle can not be told apart; infinite ones have no middle
            if largest != least:
                some = values.copy()
                above = _kth(some, m // 2)
                largest = above if m % 2 else 0.5 * (_kth(some, m // 2 - 1) + above)
            medians[i] = largest
    return medians


@inner
def _range(values):  # type: ignore[no-untyped-def]
    """The least and the largest value, NaN where one is."""
    least, largest = math.inf, -math.inf
    for k in range(len(values)):
        if values[k] != values[k]:
            return math.nan, math.nan
        least, largest = min(least, values[k]), max(largest, values[k])
    return least, largest


@inner
def _kth(values, k):  # type: ignore[no-untyped-def]
    """The k-th smallest value by Hoare's selection, which moves values; `np.median` takes a second to compile."""
    low, high = 0, len(values) - 1
    while low < high:
        pivot, left, right = values[(low + high) // 2], low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left, right = left + 1, right - 1
        if right < k < left:
            break
        low, high = (low, right) if k <= right else (left, high)
    return values[k]


@inner
def _count_at_most(values, limit):  # type: ignore[no-untyped-def]
    count = 0
    for k in range(len(values)):
        count += values[k] <= limit
    return count


@compiled(no_cpython_wrapper=True, fastmath={"nnan"})
def _neighbours(values, high, low):  # type: ignore[no-untyped-def]
    """The largest value up to `high` and the least one above `low`."""
    largest, least = -math.inf, math.inf
    for k in range(len(values)):
        value = values[k]
        largest = max(largest, value if value <= high else -math.inf)
        least = min(least, value if value > low else math.inf)
    return largest, least


def _blocks(rows: np.ndarray) -> list[np.ndarray]:
    """Some rows at a time, at least one block."""
    return [rows[i : i + _BLOCK] for i in range(0, max(len(rows), 1), _BLOCK)]


def points(forest: AdversarialRandomForest, rows: np.ndarray) -> Evidence:
    """Rows of the first columns as conditions; the other columns are free."""
    padded = np.full((len(rows), len(forest.schema_.columns)), np.nan)
    padded[:, : rows.shape[1]] = rows
    is_feature = np.arange(padded.shape[1]) < rows.shape[1]
    return Evidence.points(padded, is_feature & (forest.leaves_.missing_of >= 0))


class ForestParts:
    """Small forests like one, each without a part of the rows: they tell how plausible rows look that were not seen."""

    name = "forest"

    def __init__(self, judges: tuple[ForestJudge, ...], matrix: np.ndarray, part_of: np.ndarray) -> None:
        self.judges = judges
        self._matrix = matrix
        self._part_of = part_of

    @classmethod
    def fit(cls, judge: ForestJudge, full: np.ndarray, part_of: np.ndarray, rng: np.random.Generator) -> Self:
        """Fitted to rows with all columns of the judge's forest; the k-th does not see rows with `part_of` k."""
        forest = judge.forest
        judges = []
        for k, seed in enumerate(rng.integers(2**32, size=int(part_of.max()) + 1).tolist()):
            part = clone(forest).set_params(
                n_estimators=min(_TREES_OF_PARTS, forest.n_estimators),
                min_samples_leaf=forest.min_samples_leaf_,
                dependence=forest.dependence_,
                random_state=seed,
            )
            part.fit_encoded(forest.schema_, full[part_of != k], quiet=True)  # the forest itself has warned already
            judges.append(ForestJudge(part, judge.n_features, judge.measure))
        return cls(tuple(judges), full[:, : judge.n_features], part_of)

    def __call__(self, rows: np.ndarray, part: int) -> np.ndarray:
        """The measure of rows by one part; levels new to it count as average ones."""
        return np.concatenate([measure for measure, _ in self._judged(rows, self._known(rows, part), part)])

    def with_log_density(self, rows: np.ndarray, part: int) -> np.ndarray:
        """The measure of rows by one part, and their log density by all of their cells, (n, 2)."""
        known = self._known(rows, part)
        measures, per_tree = zip(*self._judged(rows, known, part), strict=True)
        if known.all():  # nobody else needs to be asked: a part has no more trees than are asked for the measure
            log_density = np.concatenate([log_sum_columns(some) for some in per_tree])
        else:
            log_density = self.judges[part].log_density(rows)
        return np.stack([np.concatenate(measures), log_density], axis=1)

    def _judged(self, rows: np.ndarray, known: np.ndarray, part: int) -> list[tuple[np.ndarray, np.ndarray]]:
        blocks = zip(_blocks(rows), _blocks(known), strict=True)
        return [self.judges[part].of_known_cells(some, some_known) for some, some_known in blocks]

    def _known(self, rows: np.ndarray, part: int) -> np.ndarray:
        return _seen_levels(self.judges[part].forest, rows, self._matrix[self._part_of != part])

    def packed(self) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
        """What JSON holds of each part, and the arrays."""
        packed = [pack(judge.forest.forest_, judge.forest.leaves_) for judge in self.judges]
        arrays = {f"{k}.{name}": array for k, (_, part) in enumerate(packed) for name, array in part.items()}
        return [meta for meta, _ in packed], arrays

    @classmethod
    def unpacked(
        cls,
        metas: Sequence[Mapping[str, Any]],
        arrays: Mapping[str, np.ndarray],
        judge: ForestJudge,
        matrix: np.ndarray,
        part_of: np.ndarray,
    ) -> Self:
        """The inverse of `packed`; KeyError or ValueError for what does not fit together."""
        judges = []
        for k, meta in enumerate(metas):
            own = {name.removeprefix(f"{k}."): array for name, array in arrays.items() if name.startswith(f"{k}.")}
            trees, leaves = unpack(meta, own, judge.forest.schema_)
            part = clone(judge.forest)
            part._set_fitted(
                judge.forest.schema_, trees, leaves, (), judge.forest.min_samples_leaf_, judge.forest.dependence_
            )
            judges.append(ForestJudge(part, judge.n_features, judge.measure))
        return cls(tuple(judges), matrix, part_of)


def _seen_levels(forest: AdversarialRandomForest, rows: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Which cells of rows are numbers, gaps or levels that some of the seen rows have."""
    known = np.ones(rows.shape, np.bool_)
    for j, column in enumerate(forest.schema_.columns[: rows.shape[1]]):
        if not column.is_number:
            known[:, j] = np.isnan(rows[:, j]) | np.isin(rows[:, j], seen[:, j])
    return known
