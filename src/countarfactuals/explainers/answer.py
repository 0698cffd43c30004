"""From the ledger to the result: the one place that decides which rows leave.

1. Of the rows that were evaluated (or those that the method chose) the counterfactuals remain: valid, allowed, unique.
2. They are reduced to the non-dominated ones and put in order.
3. What is known of them goes along: scores, objectives, typicality, notes, how it was made; and if none is left, why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals, Oddity
from countarfactuals.exceptions import listed
from countarfactuals.explainers.diagnose import diagnose
from countarfactuals.explainers.problem import Problem
from countarfactuals.objectives import changed, nondominated
from countarfactuals.plausibility import ODD

_MOST_BEYOND = 3  # columns that are told of
_OBSERVED_NOTE = (
    "Judged by the observed outcome: the forest's own probability of it decides what counts as reached, not the model."
)


def answer(
    problem: Problem,
    chosen: np.ndarray | None,
    settings: Mapping[str, Any],
    constraints: Constraints,
    *,
    is_pareto: bool,
    started: float,
) -> Counterfactuals:
    """The result of a search.

    Parameters
    ----------
    problem : with its ledger.
    chosen : positions in the ledger that may be handed out, None for all.
    settings : the explainer's parameters, its method and its seed.
    constraints : as the user said them.
    is_pareto : whether dominated rows are left out.
    started : when, by `time.perf_counter`.
    """
    background = problem.background
    predictor, plausibility = background.predictor, background.plausibility
    rows, scores, objectives = _counterfactuals(problem, chosen, is_pareto)
    judged = np.concatenate([rows, problem.x[None]])
    log_density, claims = plausibility.log_density(judged), plausibility.claims(judged)
    typicality = claims.typicality
    order = _order(objectives, typicality[:-1], settings["trade_off"])
    values = {name: objectives[order, k] for k, name in enumerate(problem.objective_names)}
    return Counterfactuals(
        schema=background.schema,
        x=problem.x,
        rows=rows[order],
        target=problem.goal.text,
        method=settings["method"],
        status="already" if problem.is_solved else "found" if len(rows) else "none",
        score_names=predictor.score_names,
        x_scores=problem.x_scores,
        scores=scores[order],
        x_label=predictor.labels(problem.x_scores[None])[0],
        labels=tuple(predictor.labels(scores[order])),
        objectives={"validity": problem.goal.distance(scores[order]), **values},
        log_density=log_density[order],
        x_log_density=float(log_density[-1]),
        typicality=typicality[order],
        typicality_range=np.column_stack([claims.low[:-1], claims.high[:-1]])[order],
        objectors=tuple(plausibility.voices[k] for k in claims.objector[:-1][order]),
        oddities=_oddities(problem, rows[order], claims.cell[:-1][order]),
        x_typicality=float(typicality[-1]),
        is_real_row=background.is_real(rows[order]),
        notes=_notes(problem, settings["outcome"], len(rows)),
        diagnosis=None if problem.is_solved or len(rows) else diagnose(problem),
        constraints=tuple(constraints.describe()),
        # after the diagnosis, which evaluates rows too
        provenance=_provenance(problem, settings, constraints, started),
        measure=plausibility.name if problem.cost is None else problem.cost.name,
    )


def _counterfactuals(
    problem: Problem, chosen: np.ndarray | None, is_pareto: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows that may leave, their scores and objectives."""
    rows, scores = problem.ledger()
    if problem.is_solved:
        rows, scores = rows[:0], scores[:0]
    elif chosen is not None:
        rows, scores = rows[chosen], scores[chosen]
    good = problem.is_counterfactual(rows, scores)
    rows, scores = rows[good], scores[good]
    objectives = problem.objectives(rows)
    best = nondominated(objectives) if is_pareto else np.ones(len(rows), np.bool_)
    return rows[best], scores[best], objectives[best]


def _oddities(problem: Problem, rows: np.ndarray, cell: np.ndarray) -> tuple[tuple[Oddity, ...], ...]:
    """The changed cells of each row that are more surprising given the rest than nearly all real ones."""
    is_odd = (cell <= ODD) & changed(rows, problem.x)
    oddities: list[list[Oddity]] = [[] for _ in rows]
    for j in np.flatnonzero(is_odd.any(axis=0)).tolist():
        at = np.flatnonzero(is_odd[:, j])
        partners = problem.background.plausibility.odd_partners(rows[at], j)
        for i, beside in zip(at.tolist(), partners, strict=True):
            oddities[i].append(Oddity(j, beside, float(cell[i, j])))
    return tuple(tuple(sorted(cells, key=lambda odd: odd.share)) for cells in oddities)


def _order(objectives: np.ndarray, typicality: np.ndarray, trade_off: float | None) -> np.ndarray:
    first = objectives[:, 0]
    if trade_off is not None:
        first = (1.0 - trade_off) * objectives[:, 0] + trade_off * (1.0 - typicality)
    return np.lexsort((objectives[:, 2], objectives[:, 1], first))


def _notes(problem: Problem, outcome: str, n_found: int) -> tuple[str, ...]:
    notes = [_OBSERVED_NOTE] if outcome == "observed" else []
    if len(problem.background.with_outcome(problem.goal)) == 0:
        notes.append(f"No real row reaches the target: {'every' if n_found else 'any'} counterfactual extrapolates.")
    return (*notes, *_unlike_the_data(problem))


def _unlike_the_data(problem: Problem) -> list[str]:
    """What of x no row of the data has, which makes a model's word and a plausibility worth less."""
    background, x = problem.background, problem.x
    columns = background.schema.columns
    never_missing = background.plausibility.forest.leaves_.missing_of[: len(x)] < 0
    notes = []
    if gaps := [columns[j].name for j in np.flatnonzero(np.isnan(x) & never_missing).tolist()]:
        be, count = (
            ("is", "it counts as an average value") if len(gaps) == 1 else ("are", "they count as average values")
        )
        notes.append(f"{listed(gaps, 3)} {be} missing, as in no real row: {count} in the plausibility.")
    for j in np.flatnonzero((x < background.low) | (x > background.high)).tolist()[:_MOST_BEYOND]:
        least, most, own = (columns[j].decode(value) for value in (background.low[j], background.high[j], x[j]))
        notes.append(f"{columns[j].name!r} is {own}, beyond all real rows, which have {least} to {most}.")
    return notes


def _provenance(
    problem: Problem, settings: Mapping[str, Any], constraints: Constraints, started: float
) -> dict[str, Any]:
    forest = problem.background.plausibility.forest
    kept_apart = ("model", "method", "seed")
    return {
        "countarfactuals": version("countarfactuals"),
        "model": problem.background.predictor.model_name,
        "seed": settings["seed"],
        "evaluations": problem.n_evaluated + 1,
        "seconds": time.perf_counter() - started,
        "training_rows": len(problem.background.matrix),
        "compared_rows": len(problem.background.plausibility.real),
        "judges": problem.background.plausibility.summary(),
        "forest": {
            "trees": forest.forest_.n_trees,
            "min_samples_leaf": int(forest.min_samples_leaf_),
            "accuracies": list(forest.accuracies_),
        },
        "settings": {name: _plain(value) for name, value in settings.items() if name not in kept_apart},
        "target": {name: _plain(value, str) for name, value in problem.goal.target.to_dict().items()},
        "constraints": constraints.to_dict(),
        **({"history": problem.record} if problem.record else {}),
    }


def _plain(value: Any, name_of: Callable[[Any], str] | None = None) -> Any:
    """A setting as JSON knows it: by its value, or by its name."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(part, name_of) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, name_of) for part in value]
    return name_of(value) if name_of else getattr(value, "__name__", type(value).__name__)
