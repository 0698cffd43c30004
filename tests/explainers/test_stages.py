"""Shortening: the fewest changes of a row that keep the outcome, for models whose features add up."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from countarfactuals import AdversarialRandomForest, ARFExplainer, Constraints, Target
from countarfactuals.explainers.arf_search import stages
from countarfactuals.explainers.arf_search.stages import shorten
from countarfactuals.objectives import changed

from .on_its_own import run

P, N = 40, 300
WEIGHTS = np.random.default_rng(0).normal(size=P)
WEIGHTS[10:] *= 0.1
X = pd.DataFrame(np.random.default_rng(1).normal(size=(N, P)), columns=[f"x{j}" for j in range(P)])


def total(frame: pd.DataFrame) -> np.ndarray:
    return frame.to_numpy() @ WEIGHTS


@cache
def fitted(**parameters) -> ARFExplainer:
    forest = AdversarialRandomForest(n_estimators=10, min_samples_leaf=20)
    return ARFExplainer(total, density=forest, random_state=1, **parameters).fit(X)


def problem(constraints: Constraints, least: float, **parameters):
    explainer = fitted(**parameters)
    return explainer.problem(explainer.background_.matrix[0], Target(above=least), constraints)


def gains(row: np.ndarray, x: np.ndarray) -> np.ndarray:
    """What each change adds, the most helpful first."""
    return np.sort((row - x) * WEIGHTS)[::-1]


@pytest.mark.parametrize("seed", range(5))
def test_what_adds_up_is_shortened_to_the_fewest_changes(seed):
    other = X.iloc[seed + 1].to_numpy()
    row = np.where((other - X.iloc[0].to_numpy()) * WEIGHTS > 0, other, X.iloc[0].to_numpy())
    least = float(total(X.iloc[[0]])[0]) + 0.7 * gains(row, X.iloc[0].to_numpy()).sum()
    task = problem(Constraints(), least)
    n_changed = int(changed(row[None], task.x).sum())
    before = task.n_evaluated
    run(shorten(task, row), task)
    rows, scores = task.ledger()
    assert before < task.n_evaluated <= before + 2 * n_changed * (n_changed + 1) // 2
    assert ((rows == row) | (rows == task.x)).all()
    fewest = int(np.argmax(total(X.iloc[[0]])[0] + gains(row, task.x).cumsum() >= least)) + 1
    good = task.goal.reached(scores)
    assert changed(rows[good], task.x).sum(axis=1).min() == fewest


def test_columns_of_a_group_are_put_back_together():
    together = ["x0", "x1", "x2"]
    task = problem(Constraints(groups=[together]), -1e9)
    run(shorten(task, X.iloc[5].to_numpy()), task)
    differs = changed(task.ledger()[0], task.x)[:, :3]
    assert (differs.all(axis=1) | ~differs.any(axis=1)).all()


def test_a_small_budget_is_not_spent_on_it():
    task = problem(Constraints(), 0.0, max_evaluations=100)
    before = task.n_evaluated
    run(shorten(task, X.iloc[5].to_numpy()), task)
    assert task.n_evaluated == before


def test_few_changes_are_found_among_many_features(monkeypatch):
    """A forest of trees tells little by little: chance alone leaves many of these rows without a counterfactual."""
    rng = np.random.default_rng(5)
    wide = pd.DataFrame(rng.normal(size=(400, 60)), columns=[f"x{j}" for j in range(60)])
    model = RandomForestClassifier(50, random_state=1).fit(wide, wide.iloc[:, :10].sum(axis=1) > 1)
    forest = AdversarialRandomForest(n_estimators=20, min_samples_leaf=20)
    explainer = ARFExplainer(model, density=forest, random_state=1).fit(wide)

    def n_explained() -> int:
        few = Constraints(max_changed=6)
        return sum(len(explainer.explain(wide.iloc[[i]], constraints=few)) > 0 for i in range(12))

    shortened = n_explained()
    monkeypatch.setattr(stages, "_shorten_some", lambda *_: ())
    assert shortened >= n_explained() + 2
