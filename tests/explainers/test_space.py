"""What cells may become, and which first rows are kept."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals import AdversarialRandomForest
from countarfactuals.constraints import as_constraints
from countarfactuals.explainers.moc import MOCExplainer
from countarfactuals.explainers.moc.population import Space, candidates
from countarfactuals.explainers.problem import Problem

N = 300
JOBS = ["job0", "job1", "job2", "job3"]


@cache
def table() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    job = rng.integers(0, 4, N)
    a = rng.normal(0.0, 1.0, N)
    return pd.DataFrame(
        {
            "a": a,
            "b": a + rng.normal(0.0, 0.1, N),
            "c": pd.Categorical(rng.choice(list("uvwx"), N), categories=["u", "v", "w", "x", "never"]),
            **{f"job{k}": (job == k).astype(int) for k in range(4)},
        }
    )


def good(frame: pd.DataFrame) -> np.ndarray:
    return 1 / (1 + np.exp(-2.0 * frame["a"].to_numpy()))


@cache
def explainer(**own: Any) -> MOCExplainer:
    forest = AdversarialRandomForest(n_estimators=8, min_samples_leaf=10)
    return MOCExplainer(good, classes=("bad", "good"), density=forest, random_state=0, **own).fit(table())


X = {"a": -0.5, "b": -0.5, "c": "u", "job0": 1, "job1": 0, "job2": 0, "job3": 0}


def problem_of(one: MOCExplainer | None = None, **constraints: Any) -> Problem:
    one = one or explainer()
    return one.problem(one.encode_row(X), "good", as_constraints(constraints))


def with_jobs(problem: Problem, jobs: list[int], n: int) -> np.ndarray:
    rows = np.repeat(problem.x[None], n, axis=0)
    rows[:, 3:] = jobs
    return rows


def test_of_several_ones_one_that_is_there_is_kept_each_as_often():
    problem = problem_of(exactly_one=[JOBS])
    mended = Space.of(problem).mend_ones(with_jobs(problem, [0, 1, 0, 1], 1000), np.random.default_rng(1))
    assert (mended[:, 3:].sum(axis=1) == 1).all()
    counts = mended[:, 3:].sum(axis=0)
    assert counts[0] == counts[2] == 0
    assert abs(counts[1] - 500) < 80  # five standard deviations
    np.testing.assert_array_equal(mended[:, :3], with_jobs(problem, [0, 1, 0, 1], 1000)[:, :3])


def test_where_there_is_no_one_any_allowed_column_gets_it():
    problem = problem_of(exactly_one=[JOBS], fixed=["job2"])
    mended = Space.of(problem).mend_ones(with_jobs(problem, [0, 0, 0, 0], 1000), np.random.default_rng(1))
    counts = mended[:, 3:].sum(axis=0)
    assert counts[2] == 0
    assert (np.abs(counts[[0, 1, 3]] - 1000 / 3) < 75).all()
    assert (mended[:, 3:].sum(axis=1) == 1).all()


def test_of_several_ones_the_one_that_is_allowed_is_kept():
    problem = problem_of(exactly_one=[JOBS], fixed=["job2"])
    mended = Space.of(problem).mend_ones(with_jobs(problem, [0, 1, 1, 0], 50), np.random.default_rng(1))
    np.testing.assert_array_equal(mended[:, 3:], np.tile([0, 1, 0, 0], (50, 1)))


def test_rows_with_one_one_stay():
    problem = problem_of(exactly_one=[JOBS])
    rows = np.concatenate([with_jobs(problem, np.eye(4, dtype=int)[k].tolist(), 20) for k in range(4)])
    np.testing.assert_array_equal(Space.of(problem).mend_ones(rows.copy(), np.random.default_rng(1)), rows)


def test_levels_are_those_of_the_data_that_are_allowed():
    levels = Space.of(problem_of()).levels[2]
    np.testing.assert_array_equal(levels, [True, True, True, True, False])
    levels = Space.of(problem_of(allowed={"c": ["w", "never"]})).levels[2]
    np.testing.assert_array_equal(levels, [True, False, True, False, False])  # x's own may always stay
    levels = Space.of(problem_of(allowed={"c": {"u": ["v"], "v": ["x"]}})).levels[2]
    np.testing.assert_array_equal(levels, [True, True, False, False, False])
    assert Space.of(problem_of(fixed=["c"])).levels[2] is None


def test_uniform_cells_have_allowed_levels_and_numbers_only():
    problem = problem_of(allowed={"c": ["w", "x"]}, ranges={"a": (-0.2, 0.7)}, exactly_one=[JOBS], fixed=["b"])
    space = Space.of(problem)
    rows = np.repeat(problem.x[None], 400, axis=0)
    new = space.uniform(rows, np.ones(rows.shape, np.bool_) & space.may_change, np.random.default_rng(1))
    assert set(new[:, 2]) == {0.0, 2.0, 3.0}
    assert (new[:, 0] >= -0.2).all()
    assert (new[:, 0] <= 0.7).all()
    assert new[:, 0].max() - new[:, 0].min() > 0.8
    assert (new[:, 1] == problem.x[1]).all()
    assert (new[:, 3:].sum(axis=1) == 1).all()


def test_of_first_rows_those_that_are_plausible_enough_are_kept_and_all_if_none_is():
    problem = problem_of(explainer(min_typicality=0.3))
    real = explainer().background_.matrix[:40]
    torn = real.copy()
    torn[:, 1] = -3.0 * np.sign(torn[:, 0])  # b is never like this
    plausibility = problem.background.plausibility
    is_plausible = plausibility.typicality(real) >= 0.3
    assert 10 < is_plausible.sum() < 40
    assert (plausibility.typicality(torn) < 0.3).all()
    kept = candidates(problem, np.concatenate([torn, real]))
    np.testing.assert_array_equal(kept, real[is_plausible])
    np.testing.assert_array_equal(candidates(problem, torn), torn)
    unasked = candidates(problem_of(), np.concatenate([torn, real]))
    assert len(unasked) == 80
