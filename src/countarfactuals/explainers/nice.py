"""NICE: from x towards its nearest real row with the wanted outcome, one feature at a time (Brughmans et al.).

1. The real rows that reach the goal, nearest first; with `only_correct` only those that the model predicts correctly.
   If none reaches it, those that come closest.
2. Of such a row what the constraints forbid is taken back. Its place is the *end* of a path, if it still reaches the
   goal; otherwise the next row is tried.
3. The path begins at x. A step asks the model, in one call, about all rows that take one more differing feature from
   the end (columns that must change together count as one), and goes where the reward is highest. With f the score
   that is wanted, d the distance to x and a the error with which an autoencoder reconstructs a row, the step from r to
   r' has the reward

       sparsity      f(r') − f(r)
       proximity     (f(r') − f(r)) / (d(r') − d(r))
       plausibility  (f(r') − f(r)) · (a(r) − a(r'))

   Equal rewards are told apart by d, for plausibility by a. Steps to rows that violate constraints are made only where
   there are no others, and never one beyond `max_changed`.
4. With `finish_early` the first counterfactual of the path is the result; of a path without one, as constraints may
   leave it, the first that was met beside it. Otherwise the path goes on to its end, and all counterfactuals that were
   met on the way are.
5. If none was met at all, a path to the next real row follows.

f is the score of a class that is wanted as such, the lead of the best of several, and minus the distance to the goal if
a range is wanted.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from countarfactuals.constraints.parts import Pool
from countarfactuals.exceptions import DataError, NotFittedError, ParameterError, listed
from countarfactuals.explainers.background import Background
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.observed import checked_outcome
from countarfactuals.explainers.problem import REAL_CELLS, Problem
from countarfactuals.explainers.proposals import by_closeness, settled, unit_of
from countarfactuals.explainers.questions import Asking
from countarfactuals.explainers.registry import Method, register
from countarfactuals.objectives import canonical, changed
from countarfactuals.parameters import check_choice, check_int
from countarfactuals.prediction.models import as_label
from countarfactuals.schema import Schema
from countarfactuals.stored_arrays import taken

if TYPE_CHECKING:
    from sklearn.neural_network import MLPRegressor

SPARSITY, PROXIMITY, PLAUSIBILITY = REWARDS = ("sparsity", "proximity", "plausibility")  # as published
_SMALLEST = 1e-12  # increase of the distance, where a change costs nothing
_MOST_ROWS = 10_000  # that the autoencoder is fitted to
_BLOCK = 256  # real rows that are made to obey the constraints at a time


@dataclass(kw_only=True, eq=False, repr=False)
class NICEExplainer(Explainer):
    """Counterfactuals on the way to the nearest real row with the wanted prediction.

    Parameters
    ----------
    model, density, max_evaluations, classes, task, outcome, distance, extra_objectives, measure, min_typicality,
    allow_real_rows, relations, trade_off, n_jobs, random_state : see `Explainer`.
    reward : "sparsity", "proximity" or "plausibility"
        What a step is chosen by.
    finish_early : bool
        Whether one counterfactual is the result, the first of the path, or all that are met up to the real row.
    only_correct : bool
        Whether the real row must be one whose class the model predicts correctly; needs `fit(X, y)`.
    n_neighbours : int
        Most real rows that are tried, where the constraints keep x from becoming like the nearest.
    """

    method: ClassVar[str] = "nice"
    hands_out: ClassVar[str] = REAL_CELLS

    reward: str = SPARSITY
    finish_early: bool = False
    only_correct: bool = False
    n_neighbours: int = 50

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("reward", self.reward, REWARDS)
        check_choice("finish_early", self.finish_early, (False, True))
        check_choice("only_correct", self.only_correct, (False, True))
        check_int("n_neighbours", self.n_neighbours, 1)

    def _check_outcome(self, y: Any) -> None:
        if self.only_correct and y is None:
            raise DataError("`only_correct` needs the observed classes: call `fit(X, y)`.")

    def fit_like(self, other: Explainer) -> Self:
        """As in `Explainer`; with `only_correct` the other one must be a NICE that knows y."""
        correct = getattr(other, "correct_", None)
        if self.only_correct and correct is None:
            raise ParameterError("`only_correct` needs y, which the other explainer does not know. Call `fit(X, y)`.")
        super().fit_like(other)
        self.correct_ = correct if self.only_correct else None
        return self

    def _set_fitted(self, background: Background, seed: int, y: Any = None) -> None:
        # first, so that a failure leaves this one as it was
        correct = _is_correct(background, y) if self.only_correct and y is not None else None
        super()._set_fitted(background, seed)
        self.correct_ = correct
        self._autoencoder: Autoencoder | None = None  # trained when first needed

    def _extra_arrays(self) -> dict[str, np.ndarray]:
        correct = getattr(self, "correct_", None)
        return {} if correct is None else {"correct": correct}

    def _restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        n_rows = len(self.background_.matrix)
        self.correct_ = taken(arrays, "correct", np.bool_, (n_rows,)) if self.only_correct else None

    def prepare(self) -> Self:
        """Train the autoencoder, if the reward uses it."""
        if self.reward == PLAUSIBILITY:
            self.reconstruction_error(self._fitted().matrix[:1])
        return super().prepare()

    def reconstruction_error(self, rows: np.ndarray) -> np.ndarray:
        """The autoencoder's error on encoded rows, shape (n,); it is fitted when it is first needed."""
        background = self._fitted()
        if self._autoencoder is None:
            self._autoencoder = Autoencoder.fit(background.schema, background.matrix, self.seed_)
        return self._autoencoder.error(rows)

    def _search(self, problem: Problem) -> Asking[np.ndarray | None]:
        goal, background = problem.goal, problem.background
        usable = np.flatnonzero(self._correct()) if self.only_correct else np.arange(len(background.matrix))
        extrapolates = not goal.reached(background.scores[usable]).any()
        for end in islice(_ends(problem, usable), self.n_neighbours):
            if not goal.reached((yield from problem.ask(end[None])))[0] and not extrapolates:
                continue
            path = yield from self._path(problem, end)
            if problem.found:
                return _place_of_one(problem, path) if self.finish_early else None
        return None

    def _correct(self) -> np.ndarray:
        correct = getattr(self, "correct_", None)
        if correct is None:
            raise NotFittedError("only_correct was set after `fit`, so that y is not known. Call `fit(X, y)` again.")
        return np.asarray(correct)

    def _path(self, problem: Problem, end: np.ndarray) -> Asking[list[np.ndarray]]:
        """The rows between x and the end, in the order of the steps, as far as budget and constraints allow."""
        row, scores, path = problem.x, problem.x_scores, []
        while len(options := _options(problem, row, end)):
            new = yield from problem.ask(options)
            if len(new) < len(options):
                break
            best = self._best(problem, row, scores, options, new)
            row, scores = options[best], new[best]
            path.append(row)
            if self.finish_early and problem.is_counterfactual(row[None], scores[None])[0]:
                break
        return path

    def _best(self, problem: Problem, row: np.ndarray, scores: np.ndarray, options: np.ndarray, new: np.ndarray) -> int:
        """Position of the step with the highest reward; of equal ones that with the lowest cost, then the first."""
        rows = np.concatenate([row[None], options])
        wanted = _wanted_score(problem, np.concatenate([scores[None], new]))
        cost = self.reconstruction_error(rows) if self.reward == PLAUSIBILITY else problem.distance_to_x(rows)
        gain, increase = wanted[1:] - wanted[0], cost[1:] - cost[0]
        if self.reward == SPARSITY:
            reward = gain
        elif self.reward == PROXIMITY:
            reward = gain / np.maximum(increase, _SMALLEST)
        else:
            reward = -gain * increase
        return int(np.lexsort((cost[1:], -reward))[0])


def _ends(problem: Problem, usable: np.ndarray) -> Iterator[np.ndarray]:
    """Where paths may lead: the usable real rows, nearest first, as far as the constraints let x become like them."""
    seen: set[bytes] = set()
    order = by_closeness(problem, usable)
    for first in range(0, len(order), _BLOCK):
        rows = _without_forbidden(problem, problem.background.matrix[order[first : first + _BLOCK]])
        for row in canonical(rows[changed(rows, problem.x).any(axis=1)]):
            if row.tobytes() not in seen:
                seen.add(row.tobytes())
                yield row


def _wanted_score(problem: Problem, scores: np.ndarray) -> np.ndarray:
    """What shall grow: the score of the class that is wanted, or minus the distance to the range that is."""
    goal = problem.goal
    if goal.target.is_range:
        return -goal.distance(scores)
    is_first_of_two = not goal.wins and goal.low <= problem.background.predictor.threshold
    return -goal.score(scores) if is_first_of_two else goal.score(scores)


def _without_forbidden(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The rows with x's values wherever the constraints forbid a change, for columns that belong together in all."""
    limits, unit = problem.limits, unit_of(problem.limits)
    rows = limits.keep_allowed(settled(problem, problem.background.representable(rows)))
    for part in limits.parts:
        if part.together is not None:
            columns = np.flatnonzero(unit == unit[part.together[0]])
            rows[np.ix_(part.violated(Pool(problem.x, rows)), columns)] = problem.x[columns]
    return problem.kept.mended(rows)


def _options(problem: Problem, row: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The rows one step nearer to the end; those that obey the constraints if there are any."""
    limits, unit = problem.limits, unit_of(problem.limits)
    differs = changed(end[None], row)[0] & ~problem.kept.computed
    is_taken = differs & (unit == np.unique(unit[differs])[:, None])
    options = problem.kept.mended(np.where(is_taken, end, row))
    options = options[problem.n_changed(options) <= limits.max_changed]
    hold = limits.hold(options)
    return options[hold] if hold.any() else options


def _place_of_one(problem: Problem, path: list[np.ndarray]) -> np.ndarray:
    """Place in the ledger of the path's last row if it is a counterfactual, else of the first that was met beside it.

    Constraints, or the budget, may keep a path from every counterfactual that it passes.
    """
    rows, scores = problem.ledger()
    good = problem.is_counterfactual(rows, scores)
    for row in path[-1:]:
        place = np.flatnonzero(good & ~changed(rows, row).any(axis=1))
        if len(place):
            return place
    return np.flatnonzero(good)[:1]


def _is_correct(background: Background, y: Any) -> np.ndarray:
    """Which rows the model predicts as they were observed."""
    predictor = background.predictor
    if not predictor.classes:
        raise ParameterError("only_correct is for classes, but the model is a regression. Leave it False.")
    observed = [as_label(label) for label in checked_outcome(y, len(background.matrix)).tolist()]
    predicted = predictor.labels(background.scores).tolist()
    correct = np.array([a == b for a, b in zip(observed, predicted, strict=True)])
    if not correct.any():
        raise DataError(
            f"The model predicts no row of the data correctly. y holds {listed(dict.fromkeys(observed))}, the model's "
            f"classes are {listed(predictor.classes)}. Pass y in these labels."
        )
    return correct


class Autoencoder(NamedTuple):
    """How unusual a row is: the error with which a network with a bottleneck gives it back.

    Inputs are numbers scaled to [0, 1] and one-hot levels. A missing number is the mean and a missing level has no 1;
    columns that have missing cells get an indicator of them. The error is the mean squared difference of inputs and
    outputs of scikit-learn's network, trained on at most 10,000 real rows.
    """

    schema: Schema
    low: np.ndarray
    scale: np.ndarray
    mean: np.ndarray
    has_missing: np.ndarray
    network: MLPRegressor

    @classmethod
    def fit(cls, schema: Schema, matrix: np.ndarray, seed: int) -> Autoencoder:
        """Train it on real rows."""
        # they take long to import, and one method of many needs them
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.neural_network import MLPRegressor

        rng = np.random.default_rng([seed, 2])
        low, high, mean = np.nanmin(matrix, axis=0), np.nanmax(matrix, axis=0), np.nanmean(matrix, axis=0)
        scale = np.where(high > low, high - low, 1.0)
        has_missing = np.isnan(matrix).any(axis=0)
        if len(matrix) > _MOST_ROWS:
            matrix = matrix[rng.choice(len(matrix), _MOST_ROWS, replace=False)]
        encoder = cls(schema, low, scale, mean, has_missing, None)
        inputs = encoder._inputs(matrix)
        width = inputs.shape[1]
        outer = min(max(2 * width, 8), 64)
        network = MLPRegressor(
            hidden_layer_sizes=(outer, max(1, min(width // 2, 16)), outer),
            batch_size=min(64, len(inputs)),
            learning_rate_init=0.003,
            max_iter=100,
            random_state=int(rng.integers(2**31)),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # rows are compared, so a good fit will do
            network.fit(inputs, inputs[:, 0] if width == 1 else inputs)
        return encoder._replace(network=network)

    def error(self, rows: np.ndarray) -> np.ndarray:
        """Mean squared difference of inputs and outputs, shape (n,)."""
        inputs = self._inputs(rows)
        outputs = self.network.predict(inputs).reshape(inputs.shape)
        return np.asarray(((outputs - inputs) ** 2).mean(axis=1))

    def _inputs(self, rows: np.ndarray) -> np.ndarray:
        parts = []
        for j, column in enumerate(self.schema.columns):
            cells = rows[:, j]
            if column.is_number:
                cells = np.where(np.isnan(cells), self.mean[j], cells)
                parts.append(((cells - self.low[j]) / self.scale[j])[:, None])
            else:
                parts.append((cells[:, None] == np.arange(column.n_levels)).astype(np.float64))
            if self.has_missing[j]:
                parts.append(np.isnan(rows[:, j : j + 1]).astype(np.float64))
        return np.concatenate(parts, axis=1)


_SUMMARY, _COST = "from x towards the nearest real row with the outcome", "the autoencoder's error"
register(Method(NICEExplainer, "NICE", _SUMMARY, "#D55E00", _COST, "autoencoder", dearness=1, is_compared=True))
