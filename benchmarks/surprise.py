"""How surprising a cell is given the rest of its row, by forests of extremely randomised trees.

1. One forest per column predicts it from all others: numbers as ranks, levels one by one or, if many, in the order of
   their frequency, gaps below everything.
2. A level's surprise is −log of its share in the leaves. A number's is −log of the mean of 1 / (1 + (d / h)²) over the
   distances d to values drawn from the leaves, h half their mean deviation from their median: the spread is that of
   rows like this one, and several separate clouds may all be usual. Gaps are never surprising.
3. What is usual is told by the training rows themselves, each judged only by trees that have not seen it: a cell is odd
   if it is more surprising than 99.5 % of its column's.

Forests are grown when their column is first asked for. Nothing here is shared with the package.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

USUAL, TREES, DRAWS, FEW = 0.995, 80, 3, 5
_ONE_BY_ONE = 12


class Surprise:
    """Judges the cells of coded rows by other rows of the same table."""

    def __init__(self, train: np.ndarray, is_level: np.ndarray) -> None:
        self.train = train
        self.few = is_level | np.array([len(np.unique(column[~np.isnan(column)])) <= FEW for column in train.T])
        self.blocks = [_Block(column, few) for column, few in zip(train.T, self.few, strict=True)]
        self.judges: dict[int, _Levels | _Numbers] = {}

    def odd(self, rows: np.ndarray, is_changed: np.ndarray) -> np.ndarray:
        """Rows with a changed cell that is odd."""
        found = np.zeros(len(rows), bool)
        for j in np.flatnonzero(is_changed.any(axis=0)):
            at = np.flatnonzero(is_changed[:, j] & ~np.isnan(rows[:, j]) & ~found)
            if len(at):
                judge = self._judge(j)
                found[at] = judge.of(self._others(rows[at], j), rows[at, j]) > judge.limit + 1e-9
        return found

    def _others(self, rows: np.ndarray, j: int) -> np.ndarray:
        return np.column_stack([block(rows[:, k]) for k, block in enumerate(self.blocks) if k != j])

    def _judge(self, j: int) -> _Levels | _Numbers:
        if j not in self.judges:
            known = ~np.isnan(self.train[:, j])
            kind = _Levels if self.few[j] else _Numbers
            self.judges[j] = kind(self._others(self.train[known], j), self.train[known, j])
        return self.judges[j]


class _Block:
    """The columns that stand for one column."""

    def __init__(self, column: np.ndarray, few: bool) -> None:
        values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
        self.one_by_one = few and len(values) <= _ONE_BY_ONE
        self.by_frequency = few and not self.one_by_one
        self.values = values[np.argsort(-counts, kind="stable")] if few else np.sort(column[~np.isnan(column)])

    def __call__(self, column: np.ndarray) -> np.ndarray:
        if self.one_by_one:
            return (column[:, None] == self.values).astype(np.float32)
        if self.by_frequency:
            place = {value: k for k, value in enumerate(self.values)}
            return np.array([[place.get(value, -1)] for value in column], np.float32)
        middle = np.searchsorted(self.values, column, "left") + np.searchsorted(self.values, column, "right")
        return np.where(np.isnan(column), -0.2, middle / (2 * len(self.values))).astype(np.float32)[:, None]


class _Levels:
    """Surprise at levels."""

    def __init__(self, others: np.ndarray, values: np.ndarray) -> None:
        self.forest = ExtraTreesClassifier(
            TREES, min_samples_leaf=3, max_features=0.5, bootstrap=True, oob_score=True, random_state=0
        ).fit(others, values)
        self.limit = np.quantile(self._of(self.forest.oob_decision_function_, values), USUAL)

    def of(self, others: np.ndarray, values: np.ndarray) -> np.ndarray:
        return self._of(self.forest.predict_proba(others), values)

    def _of(self, shares: np.ndarray, values: np.ndarray) -> np.ndarray:
        classes = self.forest.classes_
        at = np.minimum(np.searchsorted(classes, values), len(classes) - 1)
        share = np.where(classes[at] == values, np.nan_to_num(shares)[np.arange(len(at)), at], 0.0)
        return -np.log(share + 0.5 / TREES)


class _Numbers:
    """Surprise at numbers."""

    def __init__(self, others: np.ndarray, values: np.ndarray) -> None:
        ranks = np.searchsorted(np.sort(values), values) / len(values)
        self.forest = ExtraTreesRegressor(
            TREES, min_samples_leaf=5, max_features=0.5, bootstrap=True, random_state=0
        ).fit(others, ranks)
        leaves = self.forest.apply(others)
        in_bag = np.zeros((len(values), TREES), bool)
        for t, rows in enumerate(self.forest.estimators_samples_):
            in_bag[rows, t] = True
        self.drawn = [_draw(leaves[in_bag[:, t], t], values[in_bag[:, t]], seed=t) for t in range(TREES)]
        samples = self._samples(leaves)
        samples[np.repeat(in_bag, DRAWS, axis=1)] = np.nan
        self.least = max(float(np.diff(np.unique(values)).min()), 0.05 * float(np.median(_deviation(samples))))
        self.limit = np.quantile(self._of(samples, values), USUAL)

    def of(self, others: np.ndarray, values: np.ndarray) -> np.ndarray:
        return self._of(self._samples(self.forest.apply(others)), values)

    def _samples(self, leaves: np.ndarray) -> np.ndarray:
        return np.concatenate([drawn[leaves[:, t]] for t, drawn in enumerate(self.drawn)], axis=1)

    def _of(self, samples: np.ndarray, values: np.ndarray) -> np.ndarray:
        width = np.maximum(0.5 * _deviation(samples), self.least)[:, None]
        near = np.nanmean(1.0 / (1.0 + ((samples - values[:, None]) / width) ** 2), axis=1)
        return -np.log(near)


def _draw(leaves: np.ndarray, values: np.ndarray, seed: int) -> np.ndarray:
    """For each leaf a few values of its rows, with replacement."""
    rng = np.random.default_rng(seed)
    order = np.argsort(leaves, kind="stable")
    nodes, start, counts = np.unique(leaves[order], return_index=True, return_counts=True)
    at = start[:, None] + (rng.random((len(nodes), DRAWS)) * counts[:, None]).astype(int)
    drawn = np.full((nodes[-1] + 1, DRAWS), np.nan)
    drawn[nodes] = values[order][at]
    return drawn


def _deviation(samples: np.ndarray) -> np.ndarray:
    return np.nanmean(np.abs(samples - np.nanmedian(samples, axis=1, keepdims=True)), axis=1)
