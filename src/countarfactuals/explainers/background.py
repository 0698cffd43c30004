"""What an explainer learns from data in `fit`: columns, the model's scores, distances, and what is plausible.

The forest is grown on the features. Its leaves also describe the model's scores, so that one forest serves every
target: a wanted outcome weighs the leaves by the share of their rows that have it (`_goal_evidence`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.arf.evidence import ANY_OF, INTERVALS, Evidence
from countarfactuals.arf.truncnorm import log_interval_mass
from countarfactuals.exceptions import DataError, listed
from countarfactuals.objectives import Gower, canonical
from countarfactuals.plausibility import Plausibility
from countarfactuals.prediction import Goal, Predictor
from countarfactuals.prediction.rowwise import measured
from countarfactuals.relations import Relations, discover
from countarfactuals.schema import Column, Kind, Schema, free_name
from countarfactuals.schema.sketches import SampledRows

_GOALS_KEPT = 16
_COMPARED = 256  # rows among which a model is asked about some
_FEWEST_ROWS = 5  # that a value is shared by if it may be handed out
_FARTHEST = 50  # steps of the grid within which a stand-in is looked for


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
    found : relations between columns that were found before; None to look for them when they are needed.
    sampled : which rows of the data these are, where it was larger than memory; None where they are all.
    """

    schema: Schema
    matrix: np.ndarray
    scores: np.ndarray
    predictor: Predictor
    gower: Gower
    plausibility: Plausibility
    found: Relations | None = None
    sampled: SampledRows | None = None

    @property
    def n_rows(self) -> int:
        """How many rows the data had that the explainer was fitted to."""
        return len(self.matrix) if self.sampled is None else self.sampled.n_rows

    def check_columns(self, schema: Schema) -> None:
        """Refuse the schema of a result that another explainer has made."""
        if [(c.name, c.kind, c.levels) for c in schema.columns] != [
            (c.name, c.kind, c.levels) for c in self.schema.columns
        ]:
            raise DataError(
                f"The result has the features {listed(schema.names)}, the explainer was fitted to "
                f"{listed(self.schema.names)}, or their kinds or levels differ. Pass the explainer that made it."
            )

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
    def relations(self) -> Relations:
        """What all rows keep, or all but few, and chance would break."""
        return Relations(self.schema, discover(self.schema, self.matrix)) if self.found is None else self.found

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
                self._shares.pop(next(iter(self._shares)))
            self._shares[key] = self._goal_shares(goal)
        return self._shares[key]

    def _goal_shares(self, goal: Goal) -> np.ndarray:
        forest = self.plausibility.forest
        evidence = _goal_evidence(forest, self.predictor, goal)
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
    def scores_rows_alike(self) -> bool:
        """Whether the model gave some real rows the scores, in small pieces, that they have among all."""
        return measured(self.predictor, self.matrix[:_COMPARED])

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


def _goal_evidence(forest: AdversarialRandomForest, predictor: Predictor, goal: Goal) -> Evidence | None:
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
    """The classes that lead to the goal: those that may win, the one whose probability shall be high, or all but it."""
    n_classes = len(predictor.classes)
    if goal.winners:
        return np.array(goal.winners, np.float64)
    position = goal.column if predictor.task == "multiclass" else 1
    if not goal.wins and goal.low > 0.0 and goal.high < 1.0:
        return np.arange(n_classes, dtype=np.float64)  # a range in the middle: which classes lead there depends on x
    wants_it = goal.wins or goal.low + goal.high >= 1.0
    return np.array([code for code in range(n_classes) if (code == position) == wants_it], np.float64)


@dataclass(frozen=True, eq=False)
class Veil:
    """Values that few rows have, by column, and what is handed out instead where no one's row may be.

    A value that fewer than five rows of the data have could tell who they are, whatever stands beside it. A cell that
    is given such a value gets a stand-in: where only the values that occur are permitted, the nearest that enough rows
    have; on a grid, the nearest point that enough rows have, or none; at full precision, the middle between the value
    and its nearest neighbour. Levels, and numbers without a stand-in, have none: the row that is explained keeps its
    own cell there.

    Parameters
    ----------
    rare : the values that few rows have, ascending.
    stand_in : what is handed out for each of them; NaN for nothing.
    """

    rare: tuple[np.ndarray, ...]
    stand_in: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, schema: Schema, matrix: np.ndarray) -> Veil:
        """The veil over the rows of a matrix."""
        rare, stand_in = [], []
        for column, cells in zip(schema.columns, matrix.T, strict=True):
            distinct, count = np.unique(cells[~np.isnan(cells)], return_counts=True)
            is_rare = count < _FEWEST_ROWS
            rare.append(distinct[is_rare])
            stand_in.append(_stand_ins(column, distinct, is_rare))
        return cls(tuple(rare), tuple(stand_in))

    def shared(self, j: int, values: np.ndarray) -> np.ndarray:
        """Values of a column without those that few rows have, or with their stand-ins."""
        place, is_rare = _found(self.rare[j], values)
        kept = np.where(is_rare, self.stand_in[j][place] if len(self.rare[j]) else values, values)
        return np.unique(kept[~np.isnan(kept)])

    def covers(self, rows: np.ndarray) -> np.ndarray:
        """Which cells have a value that few rows have, (n, p)."""
        return np.stack([_found(rare, cells)[1] for rare, cells in zip(self.rare, rows.T, strict=True)], axis=1)

    def over(self, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The rows with stand-ins for such values, x's own cells where there is none; what x has stays."""
        rows = rows.copy()
        for j, (rare, stand_in) in enumerate(zip(self.rare, self.stand_in, strict=True)):
            place, is_rare = _found(rare, rows[:, j])
            which = np.flatnonzero(is_rare & (rows[:, j] != x[j]))
            new = stand_in[place[which]]
            rows[which, j] = np.where(np.isnan(new), x[j], new)
        return rows


def _found(among: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each cell stands in an ascending array, and whether it does."""
    if len(among) == 0:
        return np.zeros(len(cells), np.int64), np.zeros(len(cells), np.bool_)
    place = np.minimum(np.searchsorted(among, cells), len(among) - 1)
    return place, among[place] == cells


def _stand_ins(column: Column, distinct: np.ndarray, is_rare: np.ndarray) -> np.ndarray:
    rare = distinct[is_rare]
    if not column.is_number or len(rare) == 0:
        return np.full(len(rare), np.nan)
    if column.values:
        return _nearest_of(distinct[~is_rare], rare)
    if column.step > 0.0:
        return _unheld_points(column, distinct, rare)
    middle = _middle_to_neighbour(distinct)[is_rare].astype(column.stored_as).astype(np.float64)
    return np.where(_found(rare, middle)[1], np.nan, middle)


def _nearest_of(among: np.ndarray, values: np.ndarray) -> np.ndarray:
    if len(among) == 0:
        return np.full(len(values), np.nan)
    above = np.minimum(np.searchsorted(among, values), len(among) - 1)
    below = np.maximum(above - 1, 0)
    return np.where(np.abs(among[below] - values) <= np.abs(among[above] - values), among[below], among[above])


def _unheld_points(column: Column, distinct: np.ndarray, rare: np.ndarray) -> np.ndarray:
    """The nearest grid point to each rare value that not few rows have, within the range of the data."""
    found = np.full(len(rare), np.nan)
    for k in range(1, _FARTHEST + 1):
        for away in (k, -k):
            left = np.flatnonzero(np.isnan(found))
            point = column.permitted.nearest(rare[left] + away * column.step, distinct[0], distinct[-1])
            good = ~_found(rare, point)[1]
            found[left[good]] = point[good]
    return found


def _middle_to_neighbour(distinct: np.ndarray) -> np.ndarray:
    """The middle between each value and the one next to it; itself where it is alone."""
    if len(distinct) == 1:
        return distinct.copy()
    gap = np.diff(distinct)
    down, up = np.append(np.inf, gap), np.append(gap, np.inf)
    return np.where(up <= down, distinct + 0.5 * up, distinct - 0.5 * down)
