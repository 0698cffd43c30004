"""Local importance against standard deviations of ICE curves computed by hand."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest, ARFExplainer, Target
from countarfactuals.constraints import as_constraints
from countarfactuals.explainers.problem import Problem
from countarfactuals.explainers.proposals import local_importance

from .on_its_own import run

N = 120


@cache
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "few": np.resize([0.0, 1.0, 2.0, 4.0], N),
            "level": rng.permutation(np.resize(["p", "q", "r"], N)),
            "flat": rng.permutation(np.resize([0, 1], N)),
            "many": rng.permutation(np.arange(N)) / 10.0,
        }
    )


def score(frame: pd.DataFrame) -> np.ndarray:
    level = frame["level"].map({"p": 0.0, "q": 3.0, "r": 6.0}).to_numpy(float)
    return frame["few"].to_numpy() ** 2 + level + 0.5 * frame["many"].to_numpy()


@cache
def explainer(max_evaluations: int) -> ARFExplainer:
    forest = AdversarialRandomForest(n_estimators=4, min_samples_leaf=20)
    settings: dict[str, Any] = {"density": forest, "max_evaluations": max_evaluations, "random_state": 0}
    return ARFExplainer(score, task="regression", **settings).fit(table())


X = {"few": 1.0, "level": "q", "flat": 0, "many": 3.0}


def problem_of(max_evaluations: int = 1001, **constraints: Any) -> Problem:
    one = explainer(max_evaluations)
    return one.problem(one.encode_row(X), Target(above=14.0), as_constraints(constraints))


def importance_of(problem: Problem) -> np.ndarray:
    return run(local_importance(problem), problem)


def test_the_deviation_of_the_score_along_all_values_of_a_column():
    importance = importance_of(problem_of())
    # few² is 0, 1 (x's own), 4, 16; level is 0, 3 (x's own), 6; the rest of the score stays
    assert importance[0] == pytest.approx(np.std([0.0, 1.0, 4.0, 16.0]))
    assert importance[1] == pytest.approx(np.std([0.0, 3.0, 6.0]))
    assert importance[2] == 0.0


def test_of_many_values_twenty_evenly_spaced_ones():
    problem = problem_of()
    importance = importance_of(problem)
    others = np.delete(np.arange(N) / 10.0, 30)  # without x's own, 3.0
    chosen = others[[int((k + 0.5) * 119 / 20) for k in range(20)]]
    assert importance[3] == pytest.approx(0.5 * np.std([*chosen, 3.0]))
    rows, _ = problem.ledger()
    np.testing.assert_array_equal(np.sort(rows[rows[:, 3] != 3.0, 3]), chosen)
    assert problem.n_evaluated == len(rows) == 3 + 2 + 1 + 20


def test_only_values_that_the_constraints_allow():
    limited = {"ranges": {"few": (1.0, 2.0)}, "allowed": {"level": ["r"]}, "fixed": ["many"]}
    importance = importance_of(problem_of(**limited))
    expected = [np.std([1.0, 4.0]), np.std([3.0, 6.0]), 0.0, 0.0]
    np.testing.assert_allclose(importance, expected)


def test_curves_take_a_tenth_of_the_budget():
    problem = problem_of(201)  # 20 rows, 5 for each of four columns
    importance = importance_of(problem)
    assert importance[0] == pytest.approx(np.std([0.0, 1.0, 4.0, 16.0]))
    others = np.delete(np.arange(N) / 10.0, 30)
    chosen = others[[int((k + 0.5) * 119 / 5) for k in range(5)]]
    assert importance[3] == pytest.approx(0.5 * np.std([*chosen, 3.0]))
    assert problem.n_evaluated == 3 + 2 + 1 + 5


def test_without_budget_for_a_point_each_all_free_columns_count_alike():
    problem = problem_of(31, fixed=["level"])  # 3 rows for three columns are enough
    assert len(set(importance_of(problem))) > 2
    problem = problem_of(30, fixed=["level"])  # 2 are not
    np.testing.assert_array_equal(importance_of(problem), [1.0, 0.0, 1.0, 1.0])
    assert problem.n_evaluated == 0
