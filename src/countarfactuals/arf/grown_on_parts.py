"""A forest of more rows than memory holds: trees grown on parts, leaves fitted to all rows.

1. Rows are dealt to parts at random, at most eight of them and no more rows in each than memory shall hold. Rows beyond
   that are in no part; leaves see them all the same.
2. A pilot on the first part chooses the leaf size and the dependence, as for a table in memory.
3. Each part grows its share of the trees in adversarial rounds of its own, with a seed of its own. Its trees draw nine
   tenths of its rows: trees of several parts differ enough. A leaf needs fewer rows in the proportion in which a tree
   draws fewer, so that it holds as many of *all* rows as it would in a forest grown on them.
4. The trees are joined to one forest (`merge`), and its leaves are fitted to all rows, batch by batch (`leaf_sums`).

With one part that holds all rows the forest is the one that `fit_encoded` grows, and its leaves differ by rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from countarfactuals.arf.adversarial import Settings, train
from countarfactuals.arf.forest import Forest, Layout, with_columns
from countarfactuals.arf.leaf_fit import LeafOptions
from countarfactuals.arf.leaf_size import choose_leaf_size
from countarfactuals.arf.leaf_sums import Batches, fit_batches
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


class Dealt(NamedTuple):
    """Rows in parts, each in a file of its own, to be read one at a time."""

    files: tuple[Path, ...]
    n_columns: int

    def part(self, number: int) -> np.ndarray:
        """The rows of a part, (n, p)."""
        return np.fromfile(self.files[number]).reshape(-1, self.n_columns)


def deal(
    batches: Iterator[np.ndarray], n_rows: int, n_columns: int, n_parts: int, most_rows: int, seed: int, folder: Path
) -> Dealt:
    """Deal rows to parts at random; which part a row goes to depends on the seed and on its place."""
    share = min(most_rows / n_rows, 1.0 / n_parts)
    files = tuple(folder / f"part{number}" for number in range(n_parts))
    opened = [file.open("wb") for file in files]
    try:
        for number, matrix in enumerate(batches):
            part = np.floor(np.random.default_rng([seed, number]).random(len(matrix)) / share) if n_parts > 1 else 0.0
            for k, file in enumerate(opened):
                file.write(matrix[np.broadcast_to(part == k, len(matrix))].tobytes())
    finally:
        for file in opened:
            file.close()
    return Dealt(files, n_columns)


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
    part: Callable[[int], np.ndarray],
    n_parts: int,
    layout: Layout,
    settings: Settings,
    rng: np.random.Generator,
    n_jobs: int | None,
    report: Callable[[int, float], None],
) -> tuple[Forest, tuple[float, ...], int]:
    """The joined forest, the accuracy of every round (mean of the parts), and the leaf size that was used."""
    rngs = [rng] if n_parts == 1 else rng.spawn(n_parts)
    shares = [len(share) for share in np.array_split(np.arange(settings.n_trees), n_parts)]
    forests, accuracies, size = [], [], settings.min_real
    for number in range(n_parts):
        rows = part(number)
        own = settings_of_part(settings, len(rows), shares[number], is_only=n_parts == 1)
        training = train(rows, layout, own, rngs[number], n_jobs, report)
        forests.append(training.growth.forest)
        accuracies.append(training.accuracies)
        size = own.min_real
    return join_forests(forests), _mean_rounds(accuracies), size


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
    dealt: Dealt,
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
    size, dependence = choose(dealt.part(0)[:, grown_on], seen, settings, dependence, rng, n_jobs, auto_size=auto_size)
    settings = settings._replace(min_real=size)
    forest, accuracies, used = grow_parts(
        lambda number: dealt.part(number)[:, grown_on], len(dealt.files), seen, settings, rng, n_jobs, report
    )
    forest = with_columns(forest, grown_on)
    leaves = fit_batches(forest, batches, layout, options, dependence, n_jobs)
    return Grown(forest, leaves, accuracies, used, dependence)
