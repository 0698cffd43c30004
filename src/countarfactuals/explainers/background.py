"""What an explainer learns from data in `fit`: columns, the model's scores, distances, and what is plausible.

The forest is grown on the features. Its leaves also describe the model's scores, so that one forest serves every
target: a wanted outcome weighs the leaves by the share of their rows that have it (`goal_evidence`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.arf.evidence import ANY_OF, INTERVALS, Evidence
from countarfactuals.arf.truncnorm import log_interval_mass
from countarfactuals.exceptions import DataError
from countarfactuals.explainers.veil import Veil
from countarfactuals.objectives import Gower, canonical
from countarfactuals.plausibility import Plausibility
from countarfactuals.prediction import Goal, Predictor
from countarfactuals.relations import Relation, discover
from countarfactuals.schema import Column, Kind, Schema, free_name

_GOALS_KEPT = 16


@dataclass(frozen=True, eq=False)
class Background:
    """The data that counterfactuals are judged by.

    Parameters
    ----------
    schema : of the features.
    matrix : the real rows.
    scores : the model's scores of them.
    predictor : the model.
    gower : distance with the ranges of the data.
    plausibility : what the forest says.
    """

    schema: Schema
    matrix: np.ndarray
    scores: np.ndarray
    predictor: Predictor
    gower: Gower
    plausibility: Plausibility

    @cached_property
    def low(self) -> np.ndarray:
        """Smallest value of each column."""
        return np.nanmin(self.matrix, axis=0)

    @cached_property
    def high(self) -> np.ndarray:
        """Largest value of each column."""
        return np.nanmax(self.matrix, axis=0)

    @cached_property
    def distinct(self) -> tuple[np.ndarray, ...]:
        """The values that occur in each column, ascending."""
        return tuple(np.unique(column[~np.isnan(column)]) for column in self.matrix.T)

    @cached_property
    def veil(self) -> Veil:
        """The values that few rows have."""
        return Veil.of(self.schema, self.matrix)

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """What every row keeps and chance would break."""
        return discover(self.schema, self.matrix)

    @cached_property
    def _narrow(self) -> dict[int, type[np.floating]]:
        """Columns of floats that hold fewer digits than the matrix."""
        kinds = {j: column.stored_as for j, column in enumerate(self.schema.columns) if column.kind is Kind.REAL}
        return {j: kind for j, kind in kinds.items() if kind is not np.float64}

    def representable(self, rows: np.ndarray) -> np.ndarray:
        """The rows with the digits that their columns can hold, and one zero: what the model and the user see."""
        rows = rows + 0.0
        for j, kind in self._narrow.items():
            rows[:, j] = rows[:, j].astype(kind)
        return rows

    def check_whole(self, rows: np.ndarray) -> np.ndarray:
        """The rows, whose integers must be whole: a frame would round them, and `fixed` would not hold."""
        for j, column in enumerate(self.schema.columns):
            fractions = rows[(rows[:, j] != np.rint(rows[:, j])) & ~np.isnan(rows[:, j]), j]
            if column.kind is Kind.INTEGER and len(fractions):
                raise DataError(
                    f"Column {column.name!r} held integers in the training data, got {fractions[0]:g}. Pass a whole "
                    "number, or fit with a column of floats."
                )
        return rows

    def with_outcome(self, goal: Goal) -> np.ndarray:
        """Positions of the real rows that reach the goal."""
        return np.flatnonzero(goal.reached(self.scores))

    def goal_shares(self, goal: Goal) -> np.ndarray:
        """The share of rows with the outcome in each leaf, as the forest has it; 1 if it knows no scores."""
        key = goal.key()
        if key not in self._shares:
            if len(self._shares) >= _GOALS_KEPT:
                self._shares.clear()
            self._shares[key] = self._goal_shares(goal)
        return self._shares[key]

    def _goal_shares(self, goal: Goal) -> np.ndarray:
        forest = self.plausibility.forest
        evidence = goal_evidence(forest, self.predictor, goal)
        if evidence is None:
            return np.ones(forest.forest_.n_leaves)
        column = int(np.flatnonzero(evidence.kind[0])[0])
        place = forest.leaves_.number_of[column]
        if place < 0:
            return self.plausibility.leaf_shares(evidence)
        leaves = forest.leaves_  # for an interval of one number there is no need to walk
        bounds = leaves.low[:, place], leaves.high[:, place], leaves.mu[:, place], leaves.sigma[:, place]
        return np.exp(log_interval_mass(evidence.low[0], evidence.high[0], *bounds))

    @cached_property
    def _shares(self) -> dict[str, np.ndarray]:
        """Shares by goal: many rows have the same one."""
        return {}

    @cached_property
    def _known(self) -> frozenset[bytes]:
        return frozenset(row.tobytes() for row in canonical(self.matrix))

    def is_real(self, rows: np.ndarray) -> np.ndarray:
        """Which rows equal a row of the data."""
        return np.array([row.tobytes() in self._known for row in canonical(rows)], np.bool_)


def with_scores(schema: Schema, predictor: Predictor) -> Schema:
    """The columns of the forest: features, scores, and for several classes the predicted one."""
    names = [*predictor.score_names]
    columns = [Column(free_name(name, schema.names), Kind.REAL) for name in names]
    if predictor.task == "multiclass":
        codes = tuple(range(len(predictor.classes)))
        columns.append(Column(free_name("predicted", schema.names), Kind.CATEGORY, codes))
    for column in columns:
        schema = schema.append(column)
    return schema


def matrix_with_scores(matrix: np.ndarray, scores: np.ndarray, predictor: Predictor) -> np.ndarray:
    """Rows of the forest's columns."""
    parts = [matrix, scores]
    if predictor.task == "multiclass":
        parts.append(scores.argmax(axis=1)[:, None])
    return np.concatenate(parts, axis=1)


def goal_evidence(forest: AdversarialRandomForest, predictor: Predictor, goal: Goal) -> Evidence | None:
    """The goal as a condition on the forest's columns after the features; None if it has none."""
    first, n_columns = len(predictor.schema.columns), len(forest.schema_.columns)
    if n_columns == first:
        return None
    evidence = Evidence.empty(1, n_columns)
    if goal.wins or not forest.schema_.columns[first].is_number:
        levels = _wanted_levels(predictor, goal)
        column = n_columns - 1  # the predicted or observed class stands last
        evidence.kind[0, column], evidence.stop[0, column] = ANY_OF, len(levels)
        return evidence._replace(low=levels, high=levels)
    else:
        # a leaf's distribution of a probability goes beyond 0 and 1: what lies there belongs to the ends
        low, high = goal.open_interval(predictor)
        column = first + goal.column
    evidence.kind[0, column], evidence.stop[0, column] = INTERVALS, 1
    return evidence._replace(low=np.array([low]), high=np.array([high]))


def _wanted_levels(predictor: Predictor, goal: Goal) -> np.ndarray:
    """The classes that lead to the goal: the one whose probability shall be high, or all but it."""
    n_classes = len(predictor.classes)
    position = goal.column if predictor.task == "multiclass" else 1
    if not goal.wins and goal.low > 0.0 and goal.high < 1.0:
        return np.arange(n_classes, dtype=np.float64)  # a range in the middle: which classes lead there depends on x
    wants_it = goal.wins or goal.low + goal.high >= 1.0
    return np.array([code for code in range(n_classes) if (code == position) == wants_it], np.float64)
