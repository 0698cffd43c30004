"""A forest of more rows than memory holds: trees grown on parts, leaves fitted to all rows.

1. Rows are dealt to parts at random, at most eight of them and no more rows in each than memory shall hold. Rows beyond
   that are in no part; leaves see them all the same. Which part a row goes to depends on the seed and on its place.
2. A pilot on the first part chooses the leaf size and the dependence, as for a table in memory.
3. Each part grows its share of the trees in adversarial rounds of its own, with a seed of its own. Its trees draw nine
   tenths of its rows: trees of several parts differ enough. A leaf needs fewer rows in the proportion in which a tree
   draws fewer, so that it holds as many of *all* rows as it would in a forest grown on them.
4. The trees are joined to one forest (`merge`), and its leaves are fitted to all rows, batch by batch (`leaf_sums`).

With one part that holds all rows the forest is the one that `fit_encoded` grows, and its leaves differ by rounding.
Parts are files here (`deal`), grown one after the other, or lie on Dask's workers (`grown_on_dask`), with the same
trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from countarfactuals.arf.adversarial import Settings, train
from countarfactuals.arf.forest import Forest, Layout, with_columns
from countarfactuals.arf.leaf_fit import LeafOptions
from countarfactuals.arf.leaf_size import choose_leaf_size
from countarfactuals.arf.leaf_sums import BLOCK, Batches, fit_batches
from countarfactuals.arf.leaves import LeafTable
from countarfactuals.arf.merge import join_forests

MOST_PARTS = 8
_SHARE_DRAWN = 0.9
_PILOT_SEED = 0  # of the choice of the dependence alone, which leaves what the forest draws as it was


class Grown(NamedTuple):
    """What was fitted, and how."""

    forest: Forest
    leaves: LeafTable
    accuracies: tuple[float, ...]
    min_real: int
    dependence: Any


class Dealing(NamedTuple):
    """How rows are dealt to parts."""

    n_rows: int
    n_columns: int
    n_parts: int
    most_rows: int  # of a part
    seed: int

    def part_of(self, first: int, n: int) -> np.ndarray:
        """The part of each of n rows, the first of which has this place; numbers beyond the parts are of none."""
        if self.n_parts == 1:
            return np.zeros(n, np.int64)
        blocks = range(first // BLOCK, (first + n) // BLOCK + 1)  # rows that share a generator
        drawn = np.concatenate([np.random.default_rng([self.seed, block]).random(BLOCK) for block in blocks])
        share = min(self.most_rows / self.n_rows, 1.0 / self.n_parts)
        return (drawn[first - blocks.start * BLOCK :][:n] / share).astype(np.int64)


class PartToGrow(NamedTuple):
    """What the trees of a part are grown with; called with its rows it grows them, here or on a worker."""

    grown_on: np.ndarray
    layout: Layout
    settings: Settings  # of a forest of all rows
    n_trees: int
    rng: np.random.Generator
    n_jobs: int | None
    report: Callable[[int, float], None]
    is_only: bool

    def __call__(self, rows: np.ndarray) -> GrownPart:
        """Grow the trees of a part."""
        settings = settings_of_part(self.settings, len(rows), self.n_trees, is_only=self.is_only)
        training = train(rows[:, self.grown_on], self.layout, settings, self.rng, self.n_jobs, self.report)
        return GrownPart(training.growth.forest, training.accuracies, settings.min_real)


class GrownPart(NamedTuple):
    """The trees of a part, the accuracy of every round, and the leaf size."""

    forest: Forest
    accuracies: tuple[float, ...]
    min_real: int


class Parts(Protocol):
    """Rows that were dealt to parts."""

    def first(self) -> np.ndarray:
        """The rows of the first part, (n, p)."""

    def grown(self, tasks: Sequence[PartToGrow]) -> list[GrownPart]:
        """What each task makes of its part."""


class PartFiles(NamedTuple):
    """Parts in files, of which one is read at a time."""

    files: tuple[Path, ...]
    n_columns: int

    def part(self, number: int) -> np.ndarray:
        """The rows of a part, (n, p)."""
        return np.fromfile(self.files[number]).reshape(-1, self.n_columns)

    def first(self) -> np.ndarray:
        """The rows of the first part, (n, p)."""
        return self.part(0)

    def grown(self, tasks: Sequence[PartToGrow]) -> list[GrownPart]:
        """What each task makes of its part."""
        return [task(self.part(number)) for number, task in enumerate(tasks)]


def deal(batches: Iterator[np.ndarray], dealing: Dealing, folder: Path) -> PartFiles:
    """Deal rows to files of a folder."""
    files = tuple(folder / f"part{number}" for number in range(dealing.n_parts))
    opened, first = [file.open("wb") for file in files], 0
    try:
        for matrix in batches:
            part = dealing.part_of(first, len(matrix))
            first += len(matrix)
            for k, file in enumerate(opened):
                file.write(matrix[part == k].tobytes())
    finally:
        for file in opened:
            file.close()
    return PartFiles(files, dealing.n_columns)


def choose(
    first: np.ndarray,
    layout: Layout,
    settings: Settings,
    dependence: Any,
    rng: np.random.Generator,
    n_jobs: int | None,
    *,
    auto_size: bool,
) -> tuple[int, Any]:
    """Leaf size and dependence, where they are "auto"; `settings` are those of a forest grown on all rows."""
    auto_dependence = isinstance(dependence, str)
    if not (auto_size or auto_dependence):
        return settings.min_real, dependence
    pilot_rng = rng.spawn(1)[0] if auto_size else np.random.default_rng(_PILOT_SEED)
    size = None if auto_size else settings.min_real
    choice = choose_leaf_size(first, layout, settings, pilot_rng, n_jobs, size=size, dependent=dependence is not None)
    return choice.size, choice.dependence if auto_dependence else dependence


def grow_parts(
    parts: Parts,
    n_parts: int,
    grown_on: np.ndarray,
    layout: Layout,
    settings: Settings,
    rng: np.random.Generator,
    n_jobs: int | None,
    report: Callable[[int, float], None],
) -> GrownPart:
    """The joined forest, the accuracy of every round (mean of the parts), and the leaf size that was used."""
    rngs = [rng] if n_parts == 1 else rng.spawn(n_parts)
    shares = [len(share) for share in np.array_split(np.arange(settings.n_trees), n_parts)]
    grown = parts.grown(
        [
            PartToGrow(grown_on, layout, settings, n_trees, own, n_jobs, report, n_parts == 1)
            for n_trees, own in zip(shares, rngs, strict=True)
        ]
    )
    forest = join_forests([part.forest for part in grown])
    return GrownPart(forest, _mean_rounds([part.accuracies for part in grown]), grown[-1].min_real)


def settings_of_part(settings: Settings, n_rows: int, n_trees: int, *, is_only: bool) -> Settings:
    """How the trees of a part are grown, given how those of a forest of all rows would be."""
    if is_only:
        return settings
    n_drawn = max(1, min(settings.n_drawn, round(_SHARE_DRAWN * n_rows), n_rows - 1))
    min_real = max(1, round(settings.min_real * n_drawn / settings.n_drawn))
    return settings._replace(n_trees=n_trees, n_drawn=n_drawn, min_real=min_real)


def _mean_rounds(accuracies: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The mean of each round; a part that ended earlier counts with its last one."""
    n_rounds = max(len(own) for own in accuracies)
    padded = [[*own, *[own[-1]] * (n_rounds - len(own))] for own in accuracies]
    return tuple(np.mean(padded, axis=0).tolist())


def fit_parts(
    parts: Parts,
    n_parts: int,
    batches: Batches,
    layout: Layout,
    grown_on: np.ndarray,
    settings: Settings,
    options: LeafOptions,
    dependence: Any,
    rng: np.random.Generator,
    n_jobs: int | None,
    report: Callable[[int, float], None],
    *,
    auto_size: bool,
) -> Grown:
    """Grow trees on the parts and fit the leaves to all rows."""
    seen = layout.some(grown_on)
    first = parts.first()[:, grown_on]
    size, dependence = choose(first, seen, settings, dependence, rng, n_jobs, auto_size=auto_size)
    grown = grow_parts(parts, n_parts, grown_on, seen, settings._replace(min_real=size), rng, n_jobs, report)
    forest = with_columns(grown.forest, grown_on)
    leaves = fit_batches(forest, batches, layout, options, dependence, n_jobs)
    return Grown(forest, leaves, grown.accuracies, grown.min_real, dependence)
