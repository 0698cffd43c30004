"""The generations of NSGA-II as MOC adapts it (Algorithm 1 of the paper).

`evolve` is a coroutine: `evaluate` may yield questions to whoever runs it, and is sent the answers.

1. Evaluate the initial rows; the best of them, by rank and crowding, are the population.
2. Choose parents by binary tournaments and let `vary` make children of them. Rows that were evaluated before are no
   children: they would cost an evaluation and take the place of others.
3. Evaluate all children in one call, and add them to the archive.
4. The best of parents and children are the next population. (μ + λ): nothing good is lost.
5. Go on with 2 for `n_generations`, or until the hypervolume of the archive has not grown for `patience` generations,
   `evaluate` returns fewer rows than it was asked for, or `vary` comes up with nothing new.

The hypervolume grows exactly when a new row within the reference point is not dominated by the archive, so that it
need not be computed to stop; with many objectives that would take longer than the search.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from countarfactuals.objectives import canonical, dominated_by, hypervolume, nondominated
from countarfactuals.search.ranking import TO_GOAL, Distances, crowding, front_ranks, survivors, tournament

_SURPLUS = 2  # children per place: many are known already, and one call of `vary` is quicker than two
_TRIES_TO_FILL, _TRIES_IN_ALL = 2, 10  # calls of `vary` for a full generation, and for anything new at all

Evaluate = Callable[[np.ndarray], Generator[Any, Any, np.ndarray]]
Vary = Callable[[np.ndarray, np.random.Generator], np.ndarray]


@dataclass(frozen=True, eq=False)
class Evolution:
    """All that was evaluated, and which of it was the population when.

    Parameters
    ----------
    rows, objectives : the archive, in the order of evaluation, no row twice.
    generation : in which generation each row was made, 0 for the initial ones.
    populations : positions in the archive, by generation, best first.
    reference : the point that bounds the hypervolume.
    """

    rows: np.ndarray
    objectives: np.ndarray
    generation: np.ndarray
    populations: tuple[np.ndarray, ...]
    reference: np.ndarray

    @property
    def population(self) -> np.ndarray:
        """Positions in the archive of the last population, best first."""
        return self.populations[-1] if self.populations else np.empty(0, np.int64)

    @property
    def past(self) -> list[np.ndarray]:
        """Objectives of the population, by generation."""
        return [self.objectives[population] for population in self.populations]

    def hypervolumes(
        self,
        values: np.ndarray,
        reference: np.ndarray,
        which: np.ndarray | None = None,
        before: np.ndarray | None = None,
    ) -> np.ndarray:
        """Hypervolume of all rows evaluated so far, by generation.

        Parameters
        ----------
        values : what counts of each row of the archive, minimised: the objectives, or some of them on another scale.
        reference : the point that bounds it.
        which : the rows that count, by archive position; None for all.
        before : values of rows that were evaluated before the evolution began.
        """
        counts = np.ones(len(values), np.bool_) if which is None else which
        volumes, front = [], values[:0] if before is None else before
        for number in range(len(self.populations)):
            front = np.concatenate([front, values[counts & (self.generation == number)]])
            front = front[nondominated(front)]
            volumes.append(hypervolume(front, reference))
        return np.array(volumes)


def evolve(
    initial: np.ndarray,
    evaluate: Evaluate,
    vary: Vary,
    *,
    n_generations: int,
    n_population: int,
    feature_distance: Distances,
    penalty: float | None = None,
    patience: int | None = None,
    reference: np.ndarray | None = None,
    exclude: np.ndarray | None = None,
    rng: np.random.Generator,
) -> Generator[Any, Any, Evolution]:
    """Search for rows that no other dominates; all objectives are minimised.

    Parameters
    ----------
    initial : (n, p), the rows to start from; copies of a row count once.
    evaluate : a coroutine from rows to objectives, (n, m), of which `TO_GOAL` is the distance to validity. Objectives
        of the first rows only, or of none, say that there is no budget for more, which ends the search. Called once per
        generation.
    vary : parents and a generator to children. Two parents in a row are a pair; there is an even number of them.
    n_generations : most generations after the initial one.
    n_population : size of the population, and most children in a generation. From twice the number of objectives on,
        the population never loses the best value of an objective, unless to a penalty.
    feature_distance : distances of two sets of rows, see `crowding`.
    penalty : rows that are farther from validity rank behind all others; None for no such rule.
    patience : how many generations the hypervolume may stand still; None for any number.
    reference : (m,), the point that bounds the hypervolume; all ones by default.
    exclude : (k, p), rows that are never to be evaluated, such as the row that is explained.
    rng : for everything random.
    """
    known: set[bytes] = set()
    if exclude is not None:
        _unknown(exclude, known)
    rows = _unknown(initial, known)
    values = np.asarray((yield from evaluate(rows)), np.float64)
    evolution = _nothing_yet(rows.shape[1], values.shape[1], reference)
    n_idle = -1  # the initial generation does not count
    while len(values):
        n_idle = 0 if _grows(evolution, values) else n_idle + 1
        evolution = _extended(evolution, rows[: len(values)], values, n_population, penalty, feature_distance)
        is_last = len(evolution.populations) > n_generations or n_idle == patience
        if is_last or len(values) < len(rows):
            break
        rows = _children(evolution, vary, n_population, known, rng)
        if len(rows) == 0:
            break
        values = np.asarray((yield from evaluate(rows)), np.float64)
    return evolution


def _nothing_yet(p: int, m: int, reference: np.ndarray | None) -> Evolution:
    point = np.ones(m) if reference is None else np.array(reference, np.float64)
    return Evolution(np.empty((0, p)), np.empty((0, m)), np.empty(0, np.int64), (), point)


def _grows(evolution: Evolution, values: np.ndarray) -> bool:
    """Whether new objectives add to the hypervolume of the archive."""
    inside = values[(values < evolution.reference).all(axis=1)]
    return not bool(dominated_by(inside, evolution.objectives).all())


def _extended(
    evolution: Evolution,
    rows: np.ndarray,
    values: np.ndarray,
    n_population: int,
    penalty: float | None,
    feature_distance: Distances,
) -> Evolution:
    """The evolution with one more generation: the new rows in the archive, and the best of old and new."""
    n_before = len(evolution.rows)
    number = np.full(len(rows), len(evolution.populations))
    everyone = np.concatenate([evolution.population, np.arange(n_before, n_before + len(rows))])
    all_rows, objectives = np.concatenate([evolution.rows, rows]), np.concatenate([evolution.objectives, values])
    some_rows, some_values = all_rows[everyone], objectives[everyone]
    ranks = front_ranks(some_values, None if penalty is None else some_values[:, TO_GOAL] > penalty)
    best = survivors(ranks, crowding(some_values, some_rows, ranks, feature_distance), n_population)
    return Evolution(
        all_rows,
        objectives,
        np.concatenate([evolution.generation, number]),
        (*evolution.populations, everyone[best]),
        evolution.reference,
    )


def _children(evolution: Evolution, vary: Vary, n: int, known: set[bytes], rng: np.random.Generator) -> np.ndarray:
    """At most n rows that were not evaluated before; none if ten times as many children bring nothing new."""
    parents, validity = evolution.rows[evolution.population], evolution.objectives[evolution.population, TO_GOAL]
    rows = parents[:0]
    for n_tries in range(1, _TRIES_IN_ALL + 1):
        chosen = tournament(validity, _SURPLUS * n, rng)
        rows = np.concatenate([rows, _unknown(vary(parents[chosen], rng), known, n - len(rows))])
        if len(rows) == n or (n_tries >= _TRIES_TO_FILL and len(rows)):
            break
    return rows


def _unknown(rows: np.ndarray, known: set[bytes], most: int | None = None) -> np.ndarray:
    """The first `most` rows that are not known, each once; they become known."""
    new: list[int] = []
    for i, row in enumerate(canonical(rows)):
        key = row.tobytes()
        if key not in known and (most is None or len(new) < most):
            known.add(key)
            new.append(i)
    return np.array(rows[new], np.float64)
