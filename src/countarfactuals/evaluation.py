"""Measures of counterfactuals from anywhere, one row at a time and as a set.

1. Rows are read like the data of the explainer and judged as its columns can hold them: integers rounded, numbers of
   single precision narrowed. This is what the model gets.
2. `evaluate` judges each row by the same functions as the explainer's own search, and by measures of its own:

   | column | of a row c for the row x |
   |---|---|
   | `validity`, `valid` | distance of the score to the goal; whether it is 0 |
   | `distance` | Gower distance with the constraints' weights, or the explainer's `distance` |
   | `n_changed` | number of features that differ from x |
   | `implausibility` | −m, m the measure of the judge that leads the search, or the method's own cost |
   | `typicality` | share of held-out real rows that are less typical, by all judges that have a seat |
   | `log_density` | log p̂(c), p̂ the mean density of the trees |
   | `density_cost` | exp(−p̂(c)): the paper's measure, 1 to the last bit where p̂ is below 1e-17 |
   | `nearest_distance`, `knn_distance` | Gower distance to the nearest real row, and its weighted mean over k |
   | `minimality` | how many changed features can take x's value again, one at a time, with c staying valid |
   | `violated` | constraints that c violates, and relations of the data that it breaks and x keeps, joined by "; " |
   | `is_real_row` | whether c equals a row of the data |
   | `nondominated` | whether c is a counterfactual that no other one given dominates |

   Minimality asks the model only, not the constraints; 0 is best; it is NaN where c is not valid. The distance to real
   rows weighs all features alike: what a change costs does not make it more or less likely.
3. A row is a *counterfactual* if it is valid, violates nothing and differs from x. Only such rows count in dominance
   (over the explainer's objectives but validity; the first of equal ones is kept) and in `evaluate_set`. The
   explainer's `min_typicality` and `allow_real_rows` do not: they are settings of its search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from countarfactuals.constraints import Clause, Constraints, as_constraints
from countarfactuals.counterfactuals import Oddity
from countarfactuals.counterfactuals.frames import measures
from countarfactuals.exceptions import CountarfactualsError, DataError, DataTypeError, ParameterError, Setting, listed
from countarfactuals.explainers.answer import oddities_of
from countarfactuals.explainers.base import Explainer
from countarfactuals.explainers.problem import Problem
from countarfactuals.language import tr
from countarfactuals.objectives import DISTANCE, N_CHANGED, VALIDITY, Gower, changed, hypervolume, nondominated
from countarfactuals.parameters import check_int
from countarfactuals.prediction import Target
from countarfactuals.relations import Naming, Relation
from countarfactuals.schema import Schema, free_name

LogDensity = Callable[[Any], Any]


def evaluate(
    rows: Any,
    x: Any,
    explainer: Explainer,
    target: Any = None,
    constraints: Constraints | None = None,
    *,
    k: int = 5,
    weights: Sequence[float] | None = None,
) -> pd.DataFrame:
    """Every measure of each row, one line per row; pandas rows keep their index.

    Parameters
    ----------
    rows : a frame of any library with the features' columns, or an array.
    x, target, constraints : as in `explainer.explain`.
    explainer : a fitted one, whose data, model and forest judge the rows.
    k : how many real rows `knn_distance` is averaged over.
    weights : of these rows, nearest first; None weighs them alike.
    """
    shares = _shares(check_int("k", k, 1), weights)
    judged = _judge(rows, x, explainer, target, constraints)
    background, codes, objectives = judged.problem.background, judged.rows, judged.objectives
    log_density = background.plausibility.log_density(codes)
    is_changed = changed(codes, judged.problem.x) & ~judged.problem.kept.consequences(codes)
    distances, _ = background.gower.nearest(codes, background.matrix, len(shares))
    shares = shares[: distances.shape[1]] / shares[: distances.shape[1]].sum()
    with np.errstate(over="ignore"):
        density_cost = np.exp(-np.exp(log_density))
    others: dict[str, Any] = {
        "valid": judged.valid,
        "log_density": log_density,
        "typicality": _typicality(judged),
        "density_cost": density_cost,
        "nearest_distance": distances[:, 0],
        "knn_distance": distances @ shares,
        "minimality": _minimality(judged, is_changed),
        "violated": _names_of(judged.violations, len(codes)),
        "is_real_row": background.is_real(codes),
        "nondominated": _nondominated(judged),
    }
    labels = background.predictor.labels(judged.scores).tolist()
    columns = measures(background.predictor.score_names, judged.scores, labels, objectives, {})
    columns[N_CHANGED] = is_changed.sum(axis=1)
    for name, values in others.items():  # an objective of the user may have the name already
        columns[free_name(name, columns)] = values
    return pd.DataFrame(columns, index=_labels_of(rows, len(codes)))


class Appraisal(NamedTuple):
    """One row as a candidate for another, as data.

    Parameters
    ----------
    row, x : both in matrix codes.
    target : as it was understood.
    scores, label : what the model says of the row.
    reached : whether it has the wanted outcome.
    distance : to x, as the explainer measures it.
    n_changed : how many features differ that do not follow from others.
    typicality, typicality_range : share of real rows that are less typical, and from the least to the largest word of
        single judges.
    oddities : the changed cells that are unusual given the rest.
    violated : the constraints that it violates.
    broken : the relations of the data that it breaks and x keeps.
    """

    row: np.ndarray
    x: np.ndarray
    target: Target
    scores: np.ndarray
    label: Any
    reached: bool
    distance: float
    n_changed: int
    typicality: float
    typicality_range: tuple[float, float]
    oddities: tuple[Oddity, ...]
    violated: tuple[Clause, ...]
    broken: tuple[Relation, ...]


def appraise(
    row: Any, x: Any, explainer: Explainer, target: Any = None, constraints: Constraints | None = None
) -> Appraisal:
    """What one row is worth as a counterfactual of another, quickly.

    Parameters
    ----------
    row, x : as `explainer.explain` takes them.
    explainer, target, constraints : as in `evaluate`.
    """
    own, codes = explainer.encode_row(x), explainer.encode_row(row)[None]
    background = explainer.background_
    both = background.predictor.scores(np.vstack([own, codes]))  # one call: many models take as long for one row as two
    problem, scores = explainer.problem(own, target, as_constraints(constraints), both[0]), both[1:]
    claims = background.plausibility.claims(codes)
    violations = problem.limits.violations(codes, problem.kept.consequences(codes))
    may_break = explainer.allow_real_rows and bool(background.is_real(codes)[0])  # else it would tell who is there
    return Appraisal(
        row=codes[0],
        x=problem.x,
        target=problem.goal.target,
        scores=scores[0],
        label=background.predictor.labels(scores).tolist()[0],
        reached=bool(problem.goal.reached(scores)[0]),
        distance=float(problem.distance_to_x(codes)[0]),
        n_changed=int(problem.n_changed(codes)[0]),
        typicality=float(claims.typicality[0]),
        typicality_range=(float(claims.low[0]), float(claims.high[0])),
        oddities=oddities_of(problem, codes, claims.cell)[0],
        violated=tuple(clause for clause, broken in violations.items() if broken[0] and isinstance(clause, Clause)),
        broken=tuple(relation for relation in problem.kept.relations if not may_break and relation.broken(codes)[0]),
    )


def evaluate_set(
    rows: Any,
    x: Any,
    explainer: Explainer,
    target: Any = None,
    constraints: Constraints | None = None,
    *,
    log_density: LogDensity | None = None,
    reference: Sequence[float] | None = None,
) -> dict[str, float]:
    """What the rows are worth together.

    | key | meaning |
    |---|---|
    | `n_rows`, `n_valid` | how many rows, and how many of them are valid |
    | `n_counterfactuals` | how many are valid, allowed and unlike x; only they count below |
    | `n_nondominated` | how many no other one dominates |
    | `diversity` | mean Gower distance of two of them, all features weighed alike; 0 for fewer than two |
    | `diversity_of_changes` | of the features that one of two changes, the share that the other does not; its mean |
    | `hypervolume` | that of (distance, share of features changed, 1 − typicality) |
    | `plausible_hypervolume` | see there; only with `log_density`, all features weighed alike |

    Parameters
    ----------
    rows, x, explainer, target, constraints : as in `evaluate`.
    log_density : the true log density of each row of a frame, such as `process.log_density`.
    reference : the point up to which `hypervolume` counts; (1, 1, 1) if None.
    """
    corner = _checked_reference(reference)
    judged = _judge(rows, x, explainer, target, constraints)
    good, background = judged.is_counterfactual, judged.problem.background
    codes = judged.rows[good]
    distance, n_changed = (judged.objectives[name][good] for name in (DISTANCE, N_CHANGED))
    share_changed = n_changed / len(judged.problem.x)
    apart, apart_in_changes = _diversity(background.gower, codes, changed(codes, judged.problem.x))
    values = np.column_stack([distance, share_changed, 1.0 - _typicality(judged)[good]])
    worth: dict[str, float] = {
        "n_rows": len(judged.rows),
        "n_valid": int(judged.valid.sum()),
        "n_counterfactuals": len(codes),
        "n_nondominated": int(_nondominated(judged).sum()),
        "diversity": apart,
        "diversity_of_changes": apart_in_changes,
        "hypervolume": hypervolume(values, corner),
    }
    if log_density is not None:
        decode, gower = background.schema.decode, background.gower.to(judged.problem.x, codes)
        worth["plausible_hypervolume"] = (
            plausible_hypervolume(
                gower, share_changed, log_density(decode(codes)), log_density(decode(background.matrix))
            )
            if len(codes)
            else 0.0
        )
    return worth


def plausible_hypervolume(distance: Any, share_changed: Any, log_density_rows: Any, log_density_real: Any) -> float:
    """Hypervolume of (distance, share changed, share of real rows that are at least as plausible) up to (1, 1, 1).

    A row that changes every feature adds nothing, and no rows are worth 0.

    Parameters
    ----------
    distance, share_changed : Gower distance of each row to x, and share of features changed.
    log_density_rows, log_density_real : true log densities of the rows, and of real rows.

    >>> plausible_hypervolume([0.5], [0.25], [-1.0], [-3.0, -2.0, -1.0, 0.0])
    0.1875
    """
    columns = [np.asarray(values, np.float64) for values in (distance, share_changed, log_density_rows)]
    real = np.sort(np.asarray(log_density_real, np.float64), axis=None)
    shapes = [values.shape for values in columns]
    if len(set(shapes)) > 1 or columns[0].ndim != 1 or len(real) == 0:
        raise DataError(
            "distance, share_changed and log_density_rows hold one number per row, log_density_real at least one; got "
            f"the shapes {listed([*shapes, np.shape(log_density_real)])}."
        )
    if any(np.isnan(values).any() for values in (*columns, real)):
        raise DataError("Distances, sparsities and log densities can not be NaN. Leave out rows that have none.")
    as_plausible = 1.0 - np.searchsorted(real, columns[2], side="left") / len(real)
    return hypervolume(np.column_stack([*columns[:2], as_plausible]), np.ones(3))


class _Judged(NamedTuple):
    """Rows, and what all measures need of them."""

    problem: Problem
    rows: np.ndarray
    scores: np.ndarray
    objectives: dict[str, np.ndarray]
    violations: dict[str, np.ndarray]
    valid: np.ndarray
    is_counterfactual: np.ndarray


def _judge(rows: Any, x: Any, explainer: Any, target: Any, constraints: Any) -> _Judged:
    problem = _problem(x, explainer, target, constraints)
    background, goal = problem.background, problem.goal
    codes = _read(rows, background.schema, problem.x)
    scores = background.predictor.scores(codes)
    values = problem.objectives(codes)
    violations = problem.limits.violations(codes, problem.kept.consequences(codes)) | _broken_relations(problem, codes)
    good = goal.reached(scores) & changed(codes, problem.x).any(axis=1)
    for broken in violations.values():
        good &= ~broken
    objectives = {name: values[:, j] for j, name in enumerate(problem.objective_names)}
    return _Judged(
        problem,
        codes,
        scores,
        {VALIDITY: goal.distance(scores), **objectives},
        violations,
        goal.reached(scores),
        good,
    )


def _broken_relations(problem: Problem, codes: np.ndarray) -> dict[str, np.ndarray]:
    """By relation, which rows break it; rows of the data may."""
    is_real, naming = problem.background.is_real(codes), Naming(problem.background.schema)
    return {
        tr("relation: {relation}", relation=relation.phrase(naming)): relation.broken(codes) & ~is_real
        for relation in problem.kept.relations
    }


def _problem(x: Any, explainer: Any, target: Any, constraints: Any) -> Problem:
    """The problem that `explain` would solve."""
    if not isinstance(explainer, Explainer):
        raise DataTypeError(f"Rows are judged by a fitted explainer, such as ARFExplainer, got {explainer!r}.")
    return explainer.problem(explainer.encode_row(x), target, as_constraints(constraints))


def _read(rows: Any, schema: Schema, x: np.ndarray) -> np.ndarray:
    """The codes of rows as their columns can hold them; a cell that equals x's is left as it is."""
    if getattr(rows, "shape", (1,))[0] == 0:
        return np.empty((0, len(x)))
    try:
        codes = schema.encode(rows)
    except CountarfactualsError as error:
        bad = _unreadable(rows, schema)
        if not bad:
            raise
        raise type(error)(
            "{error} Rows that can not be read, counted from 0: {rows}.", error=error, rows=listed(bad)
        ) from error
    held = schema.encode(schema.decode(codes))
    return np.where(changed(codes, x), held, codes)


def _unreadable(rows: Any, schema: Schema) -> list[int]:
    """Which rows can not be read; none if it is all of several, as then the frame is at fault."""
    n = len(rows) if hasattr(rows, "__len__") else 0
    bad = []
    for i in range(n):
        try:
            schema.encode(rows.iloc[[i]] if isinstance(rows, pd.DataFrame) else rows[i : i + 1])
        except Exception:
            bad.append(i)
    return [] if len(bad) == n else bad


def _labels_of(rows: Any, n: int) -> pd.Index:
    return rows.index if isinstance(rows, pd.DataFrame) else pd.RangeIndex(n)


def _shares(k: int, weights: Any) -> np.ndarray:
    """The weights of k neighbours; they sum to 1."""
    try:
        shares = np.ones(k) if weights is None else np.asarray(weights, np.float64)
    except (TypeError, ValueError, OverflowError):
        shares = np.empty(0)
    if shares.shape != (k,) or not (np.isfinite(shares) & (shares >= 0.0)).all() or shares[0] == 0.0:
        raise ParameterError(
            "{parameter} must hold {k} numbers from 0 on, one for each of the k rows, the first above 0; got {got!r}.",
            parameter=Setting("weights", quoted=False),
            k=k,
            got=weights,
        )
    return np.asarray(shares / shares.sum())


def _typicality(judged: _Judged) -> np.ndarray:
    """Share of real rows that are less typical, also where the method has a cost of its own."""
    return judged.problem.background.plausibility.typicality(judged.rows)


def _minimality(judged: _Judged, is_changed: np.ndarray) -> np.ndarray:
    """Changed features that can be taken back one at a time; one call of the model for all of them."""
    problem = judged.problem
    at, feature = np.nonzero(is_changed & judged.valid[:, None])
    taken_back = judged.rows[at]
    taken_back[np.arange(len(at)), feature] = problem.x[feature]
    taken_back = problem.kept.mended(taken_back)
    stays = problem.goal.reached(problem.background.predictor.scores(taken_back))
    return np.where(judged.valid, np.bincount(at[stays], minlength=len(judged.rows)), np.nan)


def _names_of(violations: dict[str, np.ndarray], n: int) -> list[str]:
    return ["; ".join(name for name, broken in violations.items() if broken[i]) for i in range(n)]


def _nondominated(judged: _Judged) -> np.ndarray:
    """Which counterfactuals no other one dominates; False for other rows."""
    best = judged.is_counterfactual.copy()
    values = [values for name, values in judged.objectives.items() if name != VALIDITY]
    best[best] = nondominated(np.column_stack(values)[best])
    return best


def _diversity(gower: Gower, rows: np.ndarray, is_changed: np.ndarray) -> tuple[float, float]:
    """Mean over all pairs of their distance, and of the share of changed features that only one of them changes."""
    n = len(rows)
    apart = in_changes = 0.0
    for i in range(n - 1):
        later = slice(i + 1, n)
        apart += float(gower.to(rows[i], rows[later]).sum())
        either = (is_changed[later] | is_changed[i]).sum(axis=1)
        in_changes += float(((is_changed[later] ^ is_changed[i]).sum(axis=1) / either).sum())
    n_pairs = max(n * (n - 1) / 2, 1)
    return apart / n_pairs, in_changes / n_pairs


def _checked_reference(reference: Any) -> np.ndarray:
    try:
        corner = np.asarray((1.0, 1.0, 1.0) if reference is None else reference, np.float64)
    except (TypeError, ValueError):
        corner = np.empty(0)
    if corner.shape != (3,) or not np.isfinite(corner).all():
        raise ParameterError(
            "{parameter} must hold three finite numbers, the worst distance, share of changed "
            "features and 1 − typicality that count, "
            "got {got!r}.",
            parameter=Setting("reference", quoted=False),
            got=reference,
        )
    return corner
