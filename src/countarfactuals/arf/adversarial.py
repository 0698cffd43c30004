"""Adversarial training: forests that try to tell real rows from ever better synthetic ones.

1. Round 0 resamples every column on its own and grows a forest on real against synthetic rows.
2. A later round draws synthetic rows from the leaves of the forest kept so far: a tree at random, a leaf by its
   number of real rows, then each column from the leaf's real rows on its own. A new forest is grown against them.
3. It stops when the new forest's out-of-bag accuracy is at most ½ + delta, when accuracy no longer falls, or after
   `max_iter` rounds. Otherwise the new forest replaces the one kept.

The forest that is returned is the *generator*: the one whose leaves produced the last synthetic rows. Inside its
leaves the columns are as good as independent to the extent that the last accuracy is near one half.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from countarfactuals._kernels import kernel
from countarfactuals.arf.atoms import n_up_to
from countarfactuals.arf.forest import Growth, Layout, Members, code_columns, grow_forest
from countarfactuals.arf.random import next_below


class Training(NamedTuple):
    """The generator forest and the accuracy of every round."""

    growth: Growth
    accuracies: tuple[float, ...]


class Settings(NamedTuple):
    """How forests are grown, and when the rounds end."""

    n_trees: int
    max_features: int  # columns tried per split
    always: np.ndarray  # int64, columns tried at every split besides
    min_real: int  # least number of real in-bag rows per leaf
    n_drawn: int  # real rows, and synthetic rows, drawn per tree
    max_iter: int
    delta: float
    early_stopping: bool


def train(
    matrix: np.ndarray,
    layout: Layout,
    settings: Settings,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    report: Callable[[int, float], None] = lambda number, accuracy: None,
) -> Training:
    """Run the rounds; `report` is told each round's number and accuracy."""
    coding = code_columns(matrix, layout)
    n = matrix.shape[0]
    codes = np.concatenate([coding.codes, np.empty_like(coding.codes)], axis=1)

    def grow() -> Growth:
        return grow_forest(
            codes,
            coding,
            layout,
            n_trees=settings.n_trees,
            max_features=settings.max_features,
            always=settings.always,
            min_real=settings.min_real,
            n_drawn=settings.n_drawn,
            rng=rng,
            n_jobs=n_jobs,
        )

    for real, synthetic in zip(coding.codes, codes[:, n:], strict=True):
        synthetic[:] = real[rng.integers(0, n, n)]
    kept = grow()
    accuracies = [kept.accuracy]
    report(0, kept.accuracy)
    while accuracies[-1] > 0.5 + settings.delta and len(accuracies) <= settings.max_iter:
        _resample_within_leaves(coding.codes, kept.members, kept.forest.leaf_start, _seed(rng), codes[:, n:])
        new = grow()
        accuracies.append(new.accuracy)
        report(len(accuracies) - 1, new.accuracy)
        if settings.early_stopping and new.accuracy >= accuracies[-2]:
            break
        if new.accuracy > 0.5 + settings.delta and len(accuracies) <= settings.max_iter:
            kept = new  # it becomes the generator of another round
    return Training(kept, tuple(accuracies))


def _seed(rng: np.random.Generator) -> np.uint64:
    return rng.integers(0, 2**64, dtype=np.uint64)


@kernel
def _resample_within_leaves(
    codes: np.ndarray, members: Members, leaf_start: np.ndarray, seed: np.uint64, synthetic: np.ndarray
) -> None:
    """Fill `synthetic` (p, n) with rows whose columns are drawn independently from one leaf's real rows."""
    state = np.empty(1, np.uint64)
    state[0] = seed
    p, n = codes.shape
    n_trees = len(members.rows)
    for i in range(n):
        tree = next_below(state, n_trees)
        position = next_below(state, n)
        # the leaf that holds this position: drawn by its number of real rows
        leaf = leaf_start[tree] + n_up_to(members.start, leaf_start[tree], leaf_start[tree + 1], position) - 1
        first, size = members.start[leaf], members.stop[leaf] - members.start[leaf]
        for j in range(p):
            synthetic[j, i] = codes[j, members.rows[tree, first + next_below(state, size)]]
