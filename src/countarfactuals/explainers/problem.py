"""One row to be explained: what is wanted, what is allowed, and a ledger of every row that the model was asked about.

A search proposes rows; `Problem.ask` has the model asked, never about more rows than the budget allows, and writes them
down. The result is what the ledger holds in the end, so that no search can lose a good row or hand out a bad one.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from countarfactuals.constraints import Limits
from countarfactuals.constraints.asked_functions import in_order_of
from countarfactuals.exceptions import ModelError
from countarfactuals.explainers.background import Background
from countarfactuals.explainers.kept import Kept
from countarfactuals.explainers.questions import Asking, alone
from countarfactuals.objectives import (
    DISTANCE,
    IMPLAUSIBILITY,
    MAXIMISE,
    N_CHANGED,
    Gower,
    Objective,
    canonical,
    changed,
    n_changed,
)
from countarfactuals.prediction import Goal
from countarfactuals.relations import Relation

_GIVE_UP_AT = 0.9  # of the budget: what is left is spent on finding out why nothing was found

# what a method can hand out: rows of the data, rows made of cells of the data, or rows of its own making
REAL_ROWS, REAL_CELLS, ANY_ROWS = "real rows", "real cells", "any rows"

UserFunction = Callable[[Any, Any], Any]  # a frame of rows and one of the row explained to numbers


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
    cost : the method's own objective of plausibility; None for the judges' measure.
    least_typicality : share of real rows that must be less typical than a counterfactual.
    allow_real_rows : whether a row of the data may be handed out.
    relations : between columns, which counterfactuals keep if x does.
    hands_out : what the method can find: `REAL_ROWS`, `REAL_CELLS` or `ANY_ROWS`.
    asks_again : whether the model may answer otherwise the next time, so that rows that leave are asked about twice.

    `record` is the history of a search by generations, in JSON types, if it has one. `reserve` is what a search with
    success leaves of the budget, to take changes back. `idle` is how many seconds other rows took meanwhile.
    """

    background: Background
    x: np.ndarray
    x_scores: np.ndarray
    goal: Goal
    limits: Limits
    gower: Gower
    budget: int
    rng: np.random.Generator
    distance: UserFunction | None = None
    extra: Mapping[str, UserFunction] = field(default_factory=dict)
    cost: Objective | None = None
    least_typicality: float = 0.0
    allow_real_rows: bool = True
    relations: tuple[Relation, ...] = ()
    hands_out: str = ANY_ROWS
    asks_again: bool = False
    _rows: list[np.ndarray] = field(default_factory=list, init=False)
    _scores: list[np.ndarray] = field(default_factory=list, init=False)
    _known: dict[bytes, np.ndarray] = field(default_factory=dict, init=False)
    record: dict[str, Any] = field(default_factory=dict, init=False)
    reserve: int = field(default=0, init=False)
    n_evaluated: int = field(default=0, init=False)
    idle: float = field(default=0.0, init=False)
    found: bool = field(default=False, init=False)

    @property
    def is_solved(self) -> bool:
        """Whether x itself has the outcome."""
        return bool(self.goal.reached(self.x_scores[None])[0])

    @property
    def hides_rare(self) -> bool:
        """Whether values that few rows have are not handed out; a method that only copies cells would have nothing."""
        return not self.allow_real_rows and self.hands_out == ANY_ROWS

    @property
    def only_real_rows(self) -> bool:
        """Whether the method can find nothing but rows of the data."""
        return self.hands_out == REAL_ROWS

    @property
    def left(self) -> int:
        """How many rows the model may still be asked about; once something is found, some are kept to shorten it."""
        return max(self.budget - self.n_evaluated - (self.reserve if self.found else 0), 0)

    @property
    def is_spent(self) -> bool:
        """Whether a search had to end for want of evaluations."""
        return self.n_evaluated >= (self.budget if self.found else self._give_up_at)

    @cached_property
    def kept(self) -> Kept:
        """Relations that bind, and columns that follow from others."""
        return Kept.of(self.background.schema, self.x, self.limits, self.relations)

    @property
    def searched(self) -> np.ndarray:
        """By column, whether a search may change it; those that follow from others change along."""
        return self.kept.searched

    def ask(self, rows: np.ndarray) -> Asking[np.ndarray]:
        """Scores of rows, of the first ones if the budget does not allow all: `scores = yield from problem.ask(rows)`.

        A row that the model was asked about before costs nothing.
        """
        rows = self.background.representable(rows)
        keys = [row.tobytes() for row in canonical(rows)]
        first = {key: i for i, key in reversed(list(enumerate(keys))) if key not in self._known}
        new = sorted(first.values())
        if len(new) > self.left:
            keys = keys[: new[self.left]]
            new = new[: self.left]
        yield from self._ask_new(rows[new])
        return np.array([self._known[key] for key in keys]).reshape(len(keys), self.background.predictor.n_scores)

    def evaluate(self, rows: np.ndarray) -> np.ndarray:
        """The same at once, for searches that are no coroutines: the model is asked for this row alone."""
        return alone(self.ask(rows), self.background.predictor)

    def put(self, rows: np.ndarray) -> Asking[np.ndarray]:
        """Scores of rows, without looking at the ledger or the budget."""
        put = time.perf_counter()
        scores, seconds = yield rows
        self.idle += time.perf_counter() - put - seconds
        return scores

    def is_known(self, rows: np.ndarray) -> np.ndarray:
        """About which rows the model was asked."""
        keys = (row.tobytes() for row in canonical(self.background.representable(rows)))
        return np.fromiter((key in self._known for key in keys), np.bool_, len(rows))

    def _ask_new(self, rows: np.ndarray) -> Asking[None]:
        """Ask the model about new rows; give up where nothing was found and the rest of the budget is needed."""
        before = len(rows) if self.found else min(max(self._give_up_at - self.n_evaluated, 0), len(rows))
        yield from self._note(rows[:before])
        if not self.found and self.n_evaluated >= self._give_up_at:
            raise GiveUp
        yield from self._note(rows[before:])

    def _note(self, rows: np.ndarray) -> Asking[None]:
        if len(rows) == 0:
            return
        scores = yield from self.put(rows)
        self._rows.append(rows)
        self._scores.append(scores)
        self._known.update((row.tobytes(), score) for row, score in zip(canonical(rows), scores, strict=True))
        self.n_evaluated += len(rows)
        self.found = self.found or bool(self.is_counterfactual(rows, scores).any())

    def ask_again(self, rows: np.ndarray) -> Asking[np.ndarray]:
        """Scores of rows of the ledger, by a second answer of the model, which counts like any."""
        scores = yield from self.put(rows)
        self.n_evaluated += len(rows)
        return scores

    def correct(self, at: np.ndarray, scores: np.ndarray) -> None:
        """Let rows of the ledger have other scores."""
        rows, known = self.ledger()
        known[at] = scores
        self._rows, self._scores = [rows], [known]
        self._known.update((row.tobytes(), score) for row, score in zip(canonical(rows[at]), scores, strict=True))

    @property
    def _give_up_at(self) -> int:
        """After how many evaluations without success the rest is kept: to try what lifting a constraint would give."""
        can_be_lifted = bool(self.limits.liftable or self.kept.relations) or self.least_typicality > 0.0
        can_be_lifted = can_be_lifted or not self.allow_real_rows
        return math.ceil(_GIVE_UP_AT * self.budget) if can_be_lifted else self.budget

    def is_counterfactual(self, rows: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Which rows have the outcome and are what was asked for."""
        if len(rows) == 0:  # as of all rows that need no counterfactual
            return np.zeros(0, np.bool_)
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
        good[good] = self.limits.hold(rows[good], self.kept.consequences(rows[good]))
        good[good] = ~self.breaks_relations(rows[good])
        if not self.allow_real_rows:
            good[good] = ~self.background.is_real(rows[good])
        if self.hides_rare:
            good[good] = ~self.tells_who(rows[good])
        return good

    def breaks_relations(self, rows: np.ndarray) -> np.ndarray:
        """Which rows break a relation that x keeps; rows of the data may, as they are."""
        broken = self.kept.broken(rows)
        if broken.any():
            broken[broken] = ~self.background.is_real(rows[broken])
        return broken

    def n_changed(self, rows: np.ndarray) -> np.ndarray:
        """How many features differ from x that do not follow from others, as floats, which objectives are."""
        return n_changed(rows, self.x, self.kept.consequences(rows))

    def tells_who(self, rows: np.ndarray) -> np.ndarray:
        """Which rows have a value, other than x's own, that few rows of the data have."""
        return np.asarray((self.background.veil.covers(rows) & changed(rows, self.x)).any(axis=1))

    def ledger(self) -> tuple[np.ndarray, np.ndarray]:
        """All rows that were evaluated, in this order, none twice, and their scores."""
        if not self._rows:
            return np.empty((0, len(self.x))), np.empty((0, self.background.predictor.n_scores))
        return np.concatenate(self._rows), np.concatenate(self._scores)

    def distance_to_x(self, rows: np.ndarray) -> np.ndarray:
        """Distance to x, Gower's or the user's own."""
        if self.distance is None:
            return self.gower.to(self.x, rows)
        return self._asked("distance", self.distance, rows)

    @property
    def every_objective(self) -> tuple[Objective, ...]:
        """What is looked for: near to x, few changes, plausible, and the user's own."""
        own = self.cost or Objective(IMPLAUSIBILITY, self.background.plausibility, MAXIMISE)
        return (
            Objective(DISTANCE, self.distance_to_x),
            Objective(N_CHANGED, self.n_changed),
            own._replace(name=IMPLAUSIBILITY),
            *(Objective(name, partial(self._asked, name, function)) for name, function in self.extra.items()),
        )

    @property
    def objective_names(self) -> tuple[str, ...]:
        """Names of the columns of `objectives`."""
        return tuple(objective.name for objective in self.every_objective)

    def at(self, name: str) -> int:
        """The column of an objective in `objectives`."""
        return self.objective_names.index(name)

    def objectives(self, rows: np.ndarray, measure: np.ndarray | None = None) -> np.ndarray:
        """The costs of rows, (n, number of objectives); `measure` is the judges', if it is known."""
        if len(rows) == 0:
            return np.empty((0, len(self.objective_names)))
        told = {} if measure is None or self.cost is not None else {IMPLAUSIBILITY: -measure}
        costs = [
            told[objective.name] if objective.name in told else objective.cost(rows)
            for objective in self.every_objective
        ]
        return np.column_stack(costs)

    def _asked(self, name: str, function: UserFunction, rows: np.ndarray) -> np.ndarray:
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
