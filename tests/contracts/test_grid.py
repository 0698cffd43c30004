"""The contract of every explainer, for every task, kind of data, frame and model."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from countarfactuals import Constraints, Target

from .checks import check_result, check_types, check_values, gower
from .methods import BY_NAME, METHODS, Method
from .pairwise import covering, grid, pairs_of
from .tables import (
    FRAMES,
    LEVELS,
    MODELS,
    TABLES,
    TASKS,
    Scorer,
    own_classes,
    possible,
    predicted,
    records,
    row_of,
    trained,
)

GRID = grid((TASKS, tuple(TABLES), FRAMES, MODELS), possible)
COVERING = covering(GRID)
ALONE, OTHERS = ([method.name for method in METHODS if method.alone is alone] for alone in (True, False))
# what frames and models do is much the same for all methods: each of the others meets every task, table, frame and
# model, and all of them together meet every pair
SHARED = covering([(name, *combination) for name in OTHERS for combination in GRID])
CHOSEN = {*((name, *combination) for name in ALONE for combination in COVERING), *SHARED}
CASES = [
    pytest.param(
        BY_NAME[name],
        *combination,
        id=f"{name}: {', '.join(combination)}",
        marks=() if (name, *combination) in CHOSEN else (pytest.mark.full,),
    )
    for name in BY_NAME
    for combination in GRID
]
BUDGET = 300


def test_the_covering_set_has_every_possible_pair_and_is_small():
    assert set().union(*map(pairs_of, COVERING)) == set().union(*map(pairs_of, GRID))
    assert len(COVERING) < 40
    for dimension, values in enumerate((TASKS, TABLES, FRAMES, MODELS)):
        assert {combination[dimension] for combination in COVERING} == set(values)


def test_every_other_method_meets_everything():
    for name in OTHERS:
        met = [combination[1:] for combination in SHARED if combination[0] == name]
        for dimension, values in enumerate((TASKS, TABLES, FRAMES, MODELS)):
            assert {combination[dimension] for combination in met} == set(values)
    assert set().union(*(pairs_of(combination[1:]) for combination in SHARED)) == set().union(*map(pairs_of, GRID))
    assert len(SHARED) < 10 * len(OTHERS) + len(COVERING)


def chosen_row(X: Any, outcomes: list[Any], task: str) -> int:
    """A row with a missing cell if there is one; of a regression one with a low prediction."""
    rows = records(X)
    low = np.quantile(outcomes, 0.4) if task == "regression" else None
    order = sorted(range(len(rows)), key=lambda i: None not in rows[i])
    return next(i for i in order if low is None or outcomes[i] < low)


def wanted(task: str, outcomes: list[Any], own: Any) -> tuple[Any, Any]:
    """The target, and a function that tells of a prediction whether it is reached."""
    if task == "regression":
        least = float(np.quantile(outcomes, 0.6))
        return Target(above=least), lambda outcome: outcome >= least
    others = [outcome for outcome in outcomes if outcome != own]
    label = max(sorted(set(others)), key=others.count)
    return (None if task == "binary" else label), lambda outcome: outcome == label


def some_constraints(names: tuple[str, ...], own: tuple[Any, ...]) -> dict[str, Any]:
    """A few of each kind that the table has columns for."""
    said: dict[str, Any] = {"fixed": [names[-1]], "max_changed": 3}
    if "age" in names:
        said["direction"] = {"age": "increase"}
    if "income" in names:
        said["ranges"] = {"income": (2.0, 6.0)}
    for name in ("purpose", "job"):
        if name in names:
            said.setdefault("allowed", {})[name] = LEVELS[name][1:]
    said["weights"] = {names[1]: 2.0}
    return said


def check_constraints(result: Any, said: dict[str, Any], names: tuple[str, ...], x: Any) -> None:
    own = dict(zip(names, records(x)[0], strict=True))
    for cells in records(result.to_frame()):
        row = dict(zip(names, cells, strict=True))
        changed = {name for name in names if row[name] != own[name]}
        assert changed.isdisjoint(said["fixed"])
        assert len(changed) <= said["max_changed"]
        assert not any(row[name] is None for name in changed)
        for name in changed & set(said.get("direction", ())):
            assert row[name] > own[name]
        for name in changed & set(said.get("ranges", ())):
            assert said["ranges"][name][0] <= row[name] <= said["ranges"][name][1]
        for name in changed & set(said.get("allowed", ())):
            assert row[name] in said["allowed"][name]


@pytest.mark.parametrize(("method", "task", "table", "frame", "model"), CASES)
def test_contract(method: Method, task: str, table: str, frame: str, model: str):
    fitted, X = trained(task, table, frame, model)
    before = copy.deepcopy(records(X))
    names = TABLES[table]
    outcomes = predicted(fitted, X)
    at = chosen_row(X, outcomes, task)
    x = row_of(X, at)
    labels = names if frame != "numpy" else tuple(f"x{j}" for j in range(len(names)))
    target, is_reached = wanted(task, outcomes, outcomes[at])
    classes = own_classes(task, model)
    explainer = method.make(fitted, classes=classes, max_evaluations=BUDGET).fit(X)
    assert explainer.fit(X) is explainer

    for said in ({}, some_constraints(names, before[at])):
        by_label = renamed(said, dict(zip(names, labels, strict=True)))
        untouched = copy.deepcopy(by_label)
        asked_before = fitted.n_rows if isinstance(fitted, Scorer) else 0
        result = explainer.explain(x, target, Constraints(**by_label))
        if isinstance(fitted, Scorer):
            assert fitted.n_rows - asked_before == result.provenance["evaluations"]
        assert result.provenance["evaluations"] <= BUDGET
        assert result.status == "found" or (said and result.diagnosis.text(result))

        if len(result):
            new = predicted(fitted, result.to_frame())
            assert all(map(is_reached, new))
            np.testing.assert_allclose(new, result.labels) if task == "regression" else None
            assert task == "regression" or new == list(result.labels)
        assert result.x_label == (pytest.approx(outcomes[at]) if task == "regression" else outcomes[at])
        check_result(result, method, X, x)
        check_values(result, names, X, x)
        np.testing.assert_allclose(
            result.objectives["distance"], gower(result.to_frame(), x, names, X, said.get("weights")), atol=1e-12
        )
        if said:
            check_constraints(result, said, names, x)
        assert by_label == untouched

    assert records(X) == before
    assert records(x) == [before[at]]
    check_types(x, X)


def renamed(said: dict[str, Any], name_of: dict[str, str]) -> dict[str, Any]:
    """The constraints with other column names."""

    def of(part: Any) -> Any:
        if isinstance(part, dict):
            return {name_of[name]: value for name, value in part.items()}
        return [name_of[name] for name in part] if isinstance(part, list) else part

    return {key: of(part) for key, part in said.items()}
