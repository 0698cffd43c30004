"""Rows that are about to leave are asked about once more: what a model does not say twice is not handed out.

1. A twentieth of the budget is kept for it, and what a search leaves is used too. Models that are known to answer alike
   every time, and the forest in the place of one, are not asked.
2. Answers differ *clearly* where a score moves by more than a thousandth of the range that it has in the data: the last
   bits of sums are no contradiction.
3. A row that clearly lost the outcome counts by its second answer, and what would leave instead is asked about too.
4. Once a model has contradicted itself, only rows leave that had the outcome twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from countarfactuals.explainers.problem import Problem
from countarfactuals.explainers.questions import Asking
from countarfactuals.prediction.rowwise import is_rowwise

_SHARE = 0.05  # of the budget
_CLEAR = 1e-3  # of the range of a score in the data


class Leaving(NamedTuple):
    """Rows that would leave: their positions in the ledger, and their objectives."""

    at: np.ndarray
    objectives: np.ndarray


class SecondAnswers(NamedTuple):
    """How many rows were asked about twice, how many got other answers, and how many were left out for it."""

    asked: int
    differing: int
    left_out: int


def answers_alike(model: Any) -> bool:
    """Whether a model is known to answer the same every time; None stands for the forest."""
    return model is None or is_rowwise(model) is not None


def kept_for_second_answers(problem: Problem) -> int:
    """How many evaluations a search leaves for this."""
    return int(_SHARE * problem.budget) if problem.asks_again else 0


def confirmed(
    problem: Problem, leaving_of: Callable[[np.ndarray], Leaving]
) -> Asking[tuple[Leaving, SecondAnswers | None]]:
    """The rows that leave, and what became of the others, if any row was asked about twice.

    Parameters
    ----------
    problem : with its ledger.
    leaving_of : which rows would leave, of those of the ledger that may.
    """
    is_asked = np.zeros(len(problem.ledger()[0]), np.bool_)
    leaving = leaving_of(~is_asked)
    differing = lost = 0
    while problem.asks_again and len(new := leaving.at[~is_asked[leaving.at]][: problem.left]):
        is_asked[new] = True
        rows, first = (part[new] for part in problem.ledger())
        second = yield from problem.ask_again(rows)
        differs = _differ_clearly(problem, first, second)
        is_lost = differs & ~problem.goal.reached(second)
        differing += int(differs.sum())
        if is_lost.any():
            lost += int(is_lost.sum())
            problem.correct(new[is_lost], second[is_lost])
            leaving = leaving_of(np.ones_like(is_asked))
    unasked = int((~is_asked[leaving.at]).sum())
    if differing and unasked:
        leaving = leaving_of(is_asked)
        lost += unasked
    return leaving, SecondAnswers(int(is_asked.sum()), differing, lost) if is_asked.any() else None


def _differ_clearly(problem: Problem, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    known = problem.background.scores
    return np.asarray((np.abs(first - second) > _CLEAR * (known.max(axis=0) - known.min(axis=0))).any(axis=1))
