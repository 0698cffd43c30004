"""From the ledger to the result: the one place that decides which rows leave.

1. Of the rows that were evaluated (or those that the method chose) the counterfactuals remain: valid, allowed, unique.
2. They are reduced to the non-dominated ones, asked about once more (`second_answers`), and put in order.
3. What is known of them goes along: scores, objectives, typicality, notes, how it was made; and if none is left, why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals, Note, Oddity
from countarfactuals.counterfactuals.importance import RANGES
from countarfactuals.counterfactuals.remarks import (
    BEYOND,
    BREAKS,
    CONTRADICTS,
    EXTRAPOLATES,
    GAP,
    GAPS,
    NOWHERE,
    OBSERVED,
    UNSEEN,
)
from countarfactuals.counterfactuals.select import burden
from countarfactuals.counterfactuals.storage import plain_label
from countarfactuals.explainers.diagnose import diagnose
from countarfactuals.explainers.problem import ANY_ROWS, Problem
from countarfactuals.explainers.questions import Asking
from countarfactuals.explainers.second_answers import Leaving, SecondAnswers, confirmed
from countarfactuals.objectives import DISTANCE, IMPLAUSIBILITY, N_CHANGED, changed, nondominated
from countarfactuals.plausibility import ODD
from countarfactuals.plausibility.panel import Claims
from countarfactuals.relations import Relations
from countarfactuals.schema import Column, Kind

_MOST_BEYOND = 3  # columns that are told of


class Own(NamedTuple):
    """What is known of a row from having asked about many at once: arrays of length 1."""

    scores: np.ndarray
    judged: tuple[np.ndarray, Claims] | None = None  # its log density, and what is claimed of it


def answer(
    problem: Problem,
    chosen: np.ndarray | None,
    settings: Mapping[str, Any],
    constraints: Constraints,
    noted: Relations,
    *,
    is_pareto: bool,
    started: float,
    own: Own | None = None,
) -> Asking[Counterfactuals]:
    """The result of a search.

    Parameters
    ----------
    problem : with its ledger.
    chosen : positions in the ledger that may be handed out, None for all.
    settings : the explainer's parameters, its method and its seed.
    constraints : as the user said them.
    noted : relations of which a note tells if they are broken.
    is_pareto : whether dominated rows are left out.
    started : when, by `time.perf_counter`.
    own : what is known of x already.
    """
    background = problem.background
    predictor, plausibility = background.predictor, background.plausibility
    leaving, second = yield from confirmed(problem, partial(_leaving, problem, chosen, is_pareto))
    rows, scores = (part[leaving.at] for part in problem.ledger())
    judged = np.concatenate([rows, problem.x[None]])
    if own is not None and own.judged is not None and len(rows) == 0:
        log_density, claims = own.judged
    else:
        log_density, claims = plausibility.log_density(judged), plausibility.claims(judged)
    typicality = claims.typicality
    costs = dict(zip(problem.objective_names, leaving.objectives.T, strict=True))
    oddities = oddities_of(problem, rows, claims.cell[:-1])
    order = _order(problem, costs, typicality[:-1], oddities, settings["trade_off"])
    values = {name: cost[order] for name, cost in costs.items()}
    return Counterfactuals(
        schema=background.schema,
        x=problem.x,
        rows=rows[order],
        target=problem.goal.target,
        method=settings["method"],
        status="already" if problem.is_solved else "found" if len(rows) else "none",
        score_columns=predictor.score_columns,
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
        oddities=tuple(oddities[i] for i in order),
        x_typicality=float(typicality[-1]),
        is_real_row=background.is_real(rows[order]),
        consequence=problem.kept.consequences(rows[order]),
        notes=(
            *_contradictions(second),
            *_notes(problem, settings["outcome"], len(rows)),
            *_broken(noted, problem, rows[order]),
        ),
        diagnosis=None if problem.is_solved or len(rows) else (yield from diagnose(problem)),
        constraints=constraints,
        # after the diagnosis, which evaluates rows too
        provenance=_provenance(problem, settings, started),
        measure=plausibility.name if problem.cost is None else problem.cost.name,
    )


def _leaving(problem: Problem, chosen: np.ndarray | None, is_pareto: bool, may: np.ndarray) -> Leaving:
    """The rows that leave, of those of the ledger that may."""
    rows, scores = problem.ledger()
    at = np.flatnonzero(may) if chosen is None else chosen[may[chosen]]
    if problem.is_solved:
        at = at[:0]
    at = at[problem.is_counterfactual(rows[at], scores[at])]
    objectives = problem.objectives(rows[at])
    best = nondominated(objectives) if is_pareto else np.ones(len(at), np.bool_)
    return Leaving(at[best], objectives[best])


def oddities_of(problem: Problem, rows: np.ndarray, cell: np.ndarray) -> tuple[tuple[Oddity, ...], ...]:
    """The changed cells of each row that are more surprising given the rest than nearly all real ones."""
    is_odd = (cell <= ODD) & changed(rows, problem.x)
    oddities: list[list[Oddity]] = [[] for _ in rows]
    for j in np.flatnonzero(is_odd.any(axis=0)).tolist():
        at = np.flatnonzero(is_odd[:, j])
        partners = problem.background.plausibility.odd_partners(rows[at], j)
        for i, beside in zip(at.tolist(), partners, strict=True):
            oddities[i].append(Oddity(j, beside, float(cell[i, j])))
    return tuple(tuple(sorted(cells, key=lambda odd: odd.share)) for cells in oddities)


def _order(
    problem: Problem,
    costs: Mapping[str, np.ndarray],
    typicality: np.ndarray,
    oddities: Sequence[Sequence[Oddity]],
    trade_off: float | None,
) -> np.ndarray:
    """Easy and likely rows first, or as the user weighs; by distance where the method is defined so."""
    if trade_off is None and problem.hands_out == ANY_ROWS:
        first = burden(costs, typicality, np.array([*map(bool, oddities)], np.bool_))
    else:
        weight = trade_off or 0.0
        first = (1.0 - weight) * costs[DISTANCE] + weight * (1.0 - typicality)
    return np.lexsort((costs[IMPLAUSIBILITY], costs[N_CHANGED], first))


def _contradictions(second: SecondAnswers | None) -> list[Note]:
    return [Note(CONTRADICTS, values=second._asdict())] if second is not None and second.differing else []


def _notes(problem: Problem, outcome: str, n_found: int) -> tuple[Note, ...]:
    notes = [Note(OBSERVED)] if outcome == "observed" else []
    if len(problem.background.with_outcome(problem.goal)) == 0:
        notes.append(Note(EXTRAPOLATES if n_found else NOWHERE))
    return (*notes, *_unlike_the_data(problem))


def _broken(noted: Relations, problem: Problem, rows: np.ndarray) -> list[Note]:
    """Relations that x keeps and some of the rows break."""
    notes = []
    for relation in noted:
        n = int(np.count_nonzero(relation.broken(rows)))
        if n and not relation.broken(problem.x[None])[0]:
            names = tuple(noted.schema.names[j] for j in relation.columns)
            values = {"n": n, "all": len(rows), "relation": noted.phrase(relation)}
            notes.append(Note(BREAKS, names, values))
    return notes


def _unlike_the_data(problem: Problem) -> list[Note]:
    """What of x no row of the data has, which makes a model's word and a plausibility worth less."""
    background, x = problem.background, problem.x
    columns = background.schema.columns
    never_missing = background.plausibility.forest.leaves_.missing_of[: len(x)] < 0
    gaps = tuple(columns[j].name for j in np.flatnonzero(np.isnan(x) & never_missing).tolist())
    notes = [Note(GAP if len(gaps) == 1 else GAPS, gaps)] if gaps else []
    unseen = [
        j for j, known in enumerate(background.distinct) if columns[j].kind is Kind.CATEGORY and x[j] not in known
    ]
    notes += [
        Note(UNSEEN, (columns[j].name,), {"own": _plain_cell(columns[j], x[j])}) for j in unseen if not np.isnan(x[j])
    ]
    has_order = np.array([column.kind is not Kind.CATEGORY for column in columns])
    for j in np.flatnonzero(has_order & ((x < background.low) | (x > background.high))).tolist()[:_MOST_BEYOND]:
        ends = {"own": x[j], "low": background.low[j], "high": background.high[j]}
        values = {name: _plain_cell(columns[j], value) for name, value in ends.items()}
        notes.append(Note(BEYOND, (columns[j].name,), values))
    return notes


def _plain_cell(column: Column, code: float) -> Any:
    """A cell as JSON knows it."""
    return plain_label(column.decode(code))


@cache
def _own_version() -> str:
    """Read once: it takes as long as all else of a row that needs no counterfactual."""
    return version("countarfactuals")


def _provenance(problem: Problem, settings: Mapping[str, Any], started: float) -> dict[str, Any]:
    forest = problem.background.plausibility.forest
    kept_apart = ("model", "method", "seed")
    return {
        "countarfactuals": _own_version(),
        "model": problem.background.predictor.model_name,
        "seed": settings["seed"],
        "evaluations": problem.n_evaluated + 1,
        "seconds": time.perf_counter() - started - problem.idle,
        "training_rows": problem.background.n_rows,
        "compared_rows": len(problem.background.plausibility.real),
        RANGES: problem.background.gower.scale.tolist(),
        "judges": problem.background.plausibility.summary(),
        "forest": {
            "trees": forest.forest_.n_trees,
            "min_samples_leaf": int(forest.min_samples_leaf_),
            "accuracies": list(forest.accuracies_),
        },
        "settings": {name: _plain(value) for name, value in settings.items() if name not in kept_apart},
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
