"""One row to be explained: what is wanted, what is allowed, and a ledger of every row that the model was asked about.

A search proposes rows; `Problem.evaluate` asks the model, never about more rows than the budget allows, and writes them
down. The result is what the ledger holds in the end, so that no search can lose a good row or hand out a bad one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from countarfactuals.constraints import Limits
from countarfactuals.constraints.parts import in_order_of
from countarfactuals.exceptions import ModelError
from countarfactuals.explainers.background import Background
from countarfactuals.objectives import Gower, canonical, changed, sparsity
from countarfactuals.prediction import Goal
from countarfactuals.relations import Relation

_GIVE_UP_AT = 0.9  # of the budget: what is left is spent on finding out why nothing was found

Objective = Callable[[Any, Any], Any]


class Cost(NamedTuple):
    """What a method minimises for plausibility instead of the forest's measure."""

    name: str
    of: Callable[[np.ndarray], np.ndarray]  # encoded rows to one number each


class GiveUp(Exception):
    """Nothing valid so far, and the rest of the budget is needed to tell why."""


@dataclass(eq=False)
class Problem:
    """A row, what is wanted of it, and the ledger.

    Parameters
    ----------
    background : the data and the model.
    x, x_scores : the row and its scores.
    goal, limits : the wanted outcome and the constraints.
    gower : the distance with the user's weights.
    budget : most rows that the model may be asked about.
    rng : for everything random.
    distance, extra : the user's own distance and further objectives.
    cost : the method's own cost of being implausible; None for minus the forest's measure.
    least_typicality : share of real rows that must be less typical than a counterfactual.
    allow_real_rows : whether a row of the data may be handed out.
    relations : between columns, which counterfactuals keep; x keeps them.
    only_real_rows : whether the method can find nothing but rows of the data.
    only_real_cells : whether it can give cells no values but those of such rows.

    `record` is the history of a search by generations, in JSON types, if it has one.
    """

    background: Background
    x: np.ndarray
    x_scores: np.ndarray
    goal: Goal
    limits: Limits
    gower: Gower
    budget: int
    rng: np.random.Generator
    distance: Objective | None = None
    extra: Mapping[str, Objective] = field(default_factory=dict)
    cost: Cost | None = None
    least_typicality: float = 0.0
    allow_real_rows: bool = True
    relations: tuple[Relation, ...] = ()
    only_real_rows: bool = False
    only_real_cells: bool = False
    _rows: list[np.ndarray] = field(default_factory=list, init=False)
    _scores: list[np.ndarray] = field(default_factory=list, init=False)
    _known: dict[bytes, np.ndarray] = field(default_factory=dict, init=False)
    record: dict[str, Any] = field(default_factory=dict, init=False)
    n_evaluated: int = field(default=0, init=False)
    found: bool = field(default=False, init=False)

    @property
    def is_solved(self) -> bool:
        """Whether x itself has the outcome."""
        return bool(self.goal.reached(self.x_scores[None])[0])

    @property
    def hides_rare(self) -> bool:
        """Whether values that few rows have are not handed out; a method that only copies cells would have nothing."""
        return not self.allow_real_rows and not self.only_real_cells

    @property
    def left(self) -> int:
        """How many rows the model may still be asked about."""
        return self.budget - self.n_evaluated

    @property
    def is_spent(self) -> bool:
        """Whether a search had to end for want of evaluations."""
        return self.n_evaluated >= (self.budget if self.found else self._give_up_at)

    def evaluate(self, rows: np.ndarray) -> np.ndarray:
        """Scores of rows, of the first ones if the budget does not allow all.

        A row that the model was asked about before costs nothing.
        """
        rows = self.background.representable(rows)
        keys = [row.tobytes() for row in canonical(rows)]
        first = {key: i for i, key in reversed(list(enumerate(keys))) if key not in self._known}
        new = sorted(first.values())
        if len(new) > max(self.left, 0):
            keys = keys[: new[max(self.left, 0)]]
            new = new[: max(self.left, 0)]
        self._ask(rows[new])
        return np.array([self._known[key] for key in keys]).reshape(len(keys), self.background.predictor.n_scores)

    def _ask(self, rows: np.ndarray) -> None:
        """Ask the model about new rows; give up where nothing was found and the rest of the budget is needed."""
        before = len(rows) if self.found else min(max(self._give_up_at - self.n_evaluated, 0), len(rows))
        self._note(rows[:before])
        if not self.found and self.n_evaluated >= self._give_up_at:
            raise GiveUp
        self._note(rows[before:])

    def _note(self, rows: np.ndarray) -> None:
        if len(rows) == 0:
            return
        scores = self.background.predictor.scores(rows)
        self._rows.append(rows)
        self._scores.append(scores)
        self._known.update((row.tobytes(), score) for row, score in zip(canonical(rows), scores, strict=True))
        self.n_evaluated += len(rows)
        self.found = self.found or bool(self.is_counterfactual(rows, scores).any())

    @property
    def _give_up_at(self) -> int:
        """After how many evaluations without success the rest is kept: to try what lifting a constraint would give."""
        can_be_lifted = bool(self.limits.liftable or self.relations) or self.least_typicality > 0.0
        can_be_lifted = can_be_lifted or not self.allow_real_rows
        return math.ceil(_GIVE_UP_AT * self.budget) if can_be_lifted else self.budget

    def is_counterfactual(self, rows: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Which rows have the outcome and are what was asked for."""
        good = self.goal.reached(scores)
        good[good] = self.is_candidate(rows[good])
        good[good] = self.is_plausible(rows[good])
        return good

    def is_plausible(self, rows: np.ndarray) -> np.ndarray:
        """Which rows are as typical as was asked."""
        if self.least_typicality == 0.0 or len(rows) == 0:
            return np.ones(len(rows), np.bool_)
        return self.background.plausibility.is_typical(rows, self.least_typicality)

    def is_candidate(self, rows: np.ndarray) -> np.ndarray:
        """Which rows differ from x, obey the constraints, keep relations, and are no one's row if that was asked."""
        good = np.asarray(changed(rows, self.x).any(axis=1))
        good[good] = self.limits.hold(rows[good])
        good[good] = ~self.breaks_relations(rows[good])
        if not self.allow_real_rows:
            good[good] = ~self.background.is_real(rows[good])
        if self.hides_rare:
            good[good] = ~self.tells_who(rows[good])
        return good

    def breaks_relations(self, rows: np.ndarray) -> np.ndarray:
        """Which rows break a relation that all rows of the data keep, and x too."""
        broken = np.zeros(len(rows), np.bool_)
        for relation in self.relations:
            broken |= relation.broken(rows)
        return broken

    def tells_who(self, rows: np.ndarray) -> np.ndarray:
        """Which rows have a value, other than x's own, that few rows of the data have."""
        return np.asarray((self.background.veil.covers(rows) & changed(rows, self.x)).any(axis=1))

    def ledger(self) -> tuple[np.ndarray, np.ndarray]:
        """All rows that were evaluated, in this order, none twice, and their scores."""
        if not self._rows:
            return np.empty((0, len(self.x))), np.empty((0, self.background.predictor.n_scores))
        return np.concatenate(self._rows), np.concatenate(self._scores)

    def proximity(self, rows: np.ndarray) -> np.ndarray:
        """Distance to x, Gower's or the user's own."""
        if self.distance is None:
            return self.gower.to(self.x, rows)
        return self._asked("distance", self.distance, rows)

    def objectives(self, rows: np.ndarray, measure: np.ndarray | None = None) -> np.ndarray:
        """What is minimised, (n, 3 + extra): proximity, sparsity, implausibility, the user's own.

        `measure` is the forest's, if it is known.
        """
        if self.cost is not None:
            implausibility = self.cost.of(rows)
        else:
            implausibility = -(self.background.plausibility(rows) if measure is None else measure)
        columns = [self.proximity(rows), sparsity(rows, self.x), implausibility]
        columns += [self._asked(name, function, rows) for name, function in self.extra.items()]
        return np.column_stack(columns)

    @property
    def objective_names(self) -> tuple[str, ...]:
        """Names of the columns of `objectives`."""
        return ("proximity", "sparsity", "plausibility", *self.extra)

    def _asked(self, name: str, function: Objective, rows: np.ndarray) -> np.ndarray:
        if len(rows) == 0:
            return np.empty(0)
        schema = self.background.schema
        try:
            frame = schema.decode(rows)
            values = np.asarray(in_order_of(frame, function(frame, schema.decode(self.x[None]))), np.float64)
        except Exception as error:
            raise ModelError(
                f"The objective {name!r} failed on {len(rows)} rows with {type(error).__name__}: {error}. It gets a "
                "frame of rows and a frame with the row that is explained, and returns one number per row."
            ) from error
        if values.shape != (len(rows),) or np.isnan(values).any():
            raise ModelError(
                f"The objective {name!r} must return one number per row, shape ({len(rows)},) without NaN; got shape "
                f"{values.shape}{' with NaN' if np.isnan(values).any() else ''}."
            )
        return values


def row_generator(seed: int, x: np.ndarray, goal: Goal) -> np.random.Generator:
    """A generator that depends on the seed, the row and the goal only: not on the order of rows or on processes."""
    digest = hashlib.sha256(canonical(x[None])[0].tobytes() + goal.key().encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, np.uint32).tolist()])


def first_of_each(rows: np.ndarray) -> np.ndarray:
    """Positions, ascending, of the first occurrence of each distinct row."""
    whole = canonical(rows).view(np.dtype((np.void, rows.shape[1] * 8))).ravel()
    return np.sort(np.unique(whole, return_index=True)[1])
