"""Mutations of MOC: the trees that a forest draws from, and the order in which conditional trees draw."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from countarfactuals import AdversarialRandomForest, Explainer
from countarfactuals.arf.archive import read_archive, write_archive
from countarfactuals.constraints import as_constraints
from countarfactuals.explainers.moc import (
    ConditionalTreeMutation,
    ForestMutation,
    IndependentMutation,
    MOCARFExplainer,
    MOCCTREEExplainer,
    MOCExplainer,
    SimulatedBinaryCrossover,
)
from countarfactuals.explainers.moc.ctree_sampler import ConditionalTrees
from countarfactuals.explainers.moc.population import Space
from countarfactuals.explainers.problem import Problem
from countarfactuals.objectives import changed

from ..contracts.checks import same

N, TREES = 400, 30


@cache
def table() -> pd.DataFrame:
    """a and b are the same, c is noise, d is a number that tells the outcome."""
    rng = np.random.default_rng(4)
    a = rng.choice(["no", "yes"], N)
    return pd.DataFrame({"a": a, "b": a, "c": rng.choice(["p", "q"], N), "d": rng.normal(0.0, 1.0, N)})


def good(frame: pd.DataFrame) -> np.ndarray:
    return 1 / (1 + np.exp(-frame["d"].to_numpy()))


@cache
def explainer() -> MOCCTREEExplainer:
    forest = AdversarialRandomForest(n_estimators=TREES, min_samples_leaf=20)
    settings = {"classes": ("bad", "good"), "density": forest, "random_state": 0}
    return MOCCTREEExplainer(good, relations=None, **settings).fit(table())  # b follows from a, and would be computed


def problem_of(**constraints: Any) -> Problem:
    x = {"a": "no", "b": "no", "c": "p", "d": -1.0}
    return explainer().problem(explainer().encode_row(x), "good", as_constraints(constraints))


@cache
def trees() -> ConditionalTrees:
    return explainer()._conditional_trees()


def test_conditional_trees_draw_in_random_order():
    """Where a and b disagree, the one that is drawn first takes over the other, and then both agree."""
    problem = problem_of()
    mutate = ConditionalTreeMutation().bound(problem, Space.of(problem), trees)
    rows = np.tile([0.0, 1.0, 0.0, -1.0], (20, 1))
    chosen = np.tile([True, True, False, False], (20, 1))
    ends = []
    for _ in range(40):
        new = mutate(rows, chosen)
        assert (new[:, 0] == new[:, 1]).all()
        assert len(set(new[:, 0])) == 1  # one order for a call
        ends.append(int(new[0, 0]))
    assert 8 <= sum(ends) <= 32  # a coin of 40 throws leaves these bounds once in 20,000 seeds


def test_a_conditional_draw_sees_what_was_drawn_before_in_its_row():
    """c is free noise: it has both levels, while a and b go on to agree row by row."""
    problem = problem_of()
    mutate = ConditionalTreeMutation().bound(problem, Space.of(problem), trees)
    mixed = np.tile([[0.0, 1.0, 0.0, -1.0], [1.0, 0.0, 0.0, -1.0]], (100, 1))
    new = mutate(mixed, np.tile([True, True, True, False], (200, 1)))
    assert (new[:, 0] == new[:, 1]).all()
    assert set(new[:, 0]) == {0.0, 1.0}
    assert 0.3 < new[:, 2].mean() < 0.7
    # the second of each pair disagrees with the first
    assert (new[0::2, 0] != new[1::2, 0]).all()


@pytest.mark.parametrize("tenth", range(3))
def test_every_call_draws_from_the_next_trees(tenth):
    """Of thirty trees ten draw at a time. Where only these ten have weight, other calls find the rows impossible."""
    problem = problem_of()
    mutate = ForestMutation(n_draws=1).bound(problem, Space.of(problem), trees)
    starts = problem.background.plausibility.forest.forest_.leaf_start
    log_weight = np.full(len(mutate.leaves.log_weight), -np.inf)
    some = slice(starts[10 * tenth], starts[10 * tenth + 10])
    log_weight[some] = mutate.leaves.log_weight[some]
    mutate.leaves = mutate.leaves._replace(log_weight=log_weight)
    rows = np.tile(problem.x, (5, 1))
    chosen = np.tile([False, False, False, True], (5, 1))
    n_drawn = [len(mutate(rows, chosen)) for _ in range(6)]
    assert n_drawn == [5 if call % 3 == tenth else 0 for call in range(6)]


def test_rows_without_chosen_cells_come_back_as_they_are():
    problem = problem_of()
    rows = np.tile(problem.x, (6, 1))
    rows[:, 3] = np.arange(6) / 10
    chosen = np.zeros(rows.shape, np.bool_)
    chosen[3:, 3] = True
    new = ForestMutation(n_draws=1).bound(problem, Space.of(problem), trees)(rows, chosen)
    np.testing.assert_array_equal(new[:3], rows[:3])
    assert len(new) == 6
    assert (new[3:, 3] != rows[3:, 3]).all()
    np.testing.assert_array_equal(new[3:, :3], rows[3:, :3])


def test_forest_draws_have_the_outcome_and_one_of_the_dummies():
    rng = np.random.default_rng(1)
    job = rng.integers(0, 3, N)
    data = table()[["d"]].assign(**{f"job{k}": (job == k).astype(int) for k in range(3)})
    forest = AdversarialRandomForest(n_estimators=10, min_samples_leaf=20)
    one = MOCCTREEExplainer(good, classes=("bad", "good"), density=forest, random_state=0).fit(data)
    said = as_constraints({"exactly_one": [["job0", "job1", "job2"]]})
    problem = one.problem(one.encode_row({"d": -1.0, "job0": 1, "job1": 0, "job2": 0}), "good", said)
    rows = np.tile(problem.x, (300, 1))
    new = ForestMutation(n_draws=1).bound(problem, Space.of(problem), trees)(rows, np.ones(rows.shape, np.bool_))
    assert (new[:, 1:].sum(axis=1) == 1).all()
    assert (new[:, 1:].mean(axis=0) > 0.15).all()
    assert (new[:, 0] > 0).mean() > 0.75


def test_a_forest_draws_no_more_cells_than_may_change():
    """What is beyond is decided before the draw: a and b, drawn together or kept together, still agree."""
    problem = problem_of(max_changed=2)
    mutate = ForestMutation(n_draws=1).bound(problem, Space.of(problem), trees)
    rows = np.tile([1.0, 1.0, 1.0, 0.5], (200, 1))
    new = mutate(rows, np.tile([False, False, False, True], (200, 1)))
    n_changed = changed(new, problem.x).sum(axis=1)
    assert n_changed.max() == 2
    free = mutate(np.tile(problem.x, (200, 1)), np.ones((200, 4), np.bool_))
    assert changed(free, problem.x).sum(axis=1).max() == 2
    assert (free[:, 0] == free[:, 1]).mean() > 0.85  # in the data they are the same; if taken back after the draw, .6


def test_of_several_draws_the_most_plausible_is_taken():
    problem = problem_of()
    rows = np.tile(problem.x, (300, 1))
    rows[:, 3] = np.linspace(-2.0, 2.0, 300)
    chosen = np.tile([True, True, True, False], (300, 1))
    plausibility = problem.background.plausibility
    one, eight = (ForestMutation(n_draws=n).bound(problem, Space.of(problem), trees)(rows, chosen) for n in (1, 8))
    assert np.array_equal(eight[:, 3], rows[:, 3])  # each row has a draw of its own
    assert plausibility(eight).mean() > plausibility(one).mean() + 0.2
    assert (eight[:, 0] == eight[:, 1]).mean() > (one[:, 0] == one[:, 1]).mean()


@pytest.mark.parametrize(
    ("short", "whole"),
    [("arf", ForestMutation()), ("ctree", ConditionalTreeMutation()), ("independent", IndependentMutation())],
)
def test_a_name_stands_for_an_object_with_its_defaults(short, whole):
    x = {"a": "no", "b": "no", "c": "p", "d": -1.0}
    by_name, by_object = (
        MOCExplainer(good, classes=("bad", "good"), mutation=mutation, max_evaluations=60, random_state=0)
        .fit_like(explainer().set_params(random_state=0))
        .explain(x)
        for mutation in (short, whole)
    )
    assert by_name.method == by_object.method == whole.method
    assert same(by_name, by_object)


def test_settings_of_a_mutation_are_kept_by_clones_and_files(tmp_path):
    mutation, crossover = ForestMutation(n_draws=2, kept="importance", p=0.9), SimulatedBinaryCrossover(eta=5.0)
    settings = {"classes": ("bad", "good"), "random_state": 0, "max_evaluations": 60}
    first = MOCExplainer(good, mutation=mutation, crossover=crossover, **settings).fit_like(explainer())
    assert (clone(first).mutation, clone(first).crossover) == (mutation, crossover)
    first.save(tmp_path / "explainer")
    again = MOCExplainer.load(tmp_path / "explainer", good)
    assert (again.mutation, again.crossover) == (mutation, crossover)
    x = {"a": "no", "b": "no", "c": "p", "d": -1.0}
    assert same(again.explain(x), first.explain(x))
    assert first.explain(x).provenance["settings"]["mutation"] == {
        "kind": "arf", "p": 0.9, "p_feature": 0.5, "n_draws": 2, "kept": "importance"
    }  # fmt: skip


def test_a_file_of_version_2_has_the_settings_of_the_explainer(tmp_path):
    old = MOCARFExplainer(
        good,
        classes=("bad", "good"),
        mutation=ForestMutation(n_draws=3, p=0.6, p_feature=0.4),
        crossover=SimulatedBinaryCrossover(p=0.1),
        random_state=0,
    ).fit_like(explainer())
    old.save(tmp_path / "new")
    meta, arrays = read_archive(tmp_path / "new", "countarfactuals.Explainer", 3)
    plain = {name: value for name, value in meta["parameters"].items() if name != "crossover"}
    plain |= {"mutation": None, "n_draws": 3, "kept": "random", "p_mutation": 0.6, "p_mutation_feature": 0.4}
    plain |= {"p_recombination": 0.1, "p_recombination_feature": 0.62}
    write_archive(tmp_path / "old", {**meta, "version": 2, "parameters": plain}, arrays)
    again = Explainer.load(tmp_path / "old", good)
    assert (again.mutation, again.crossover) == (old.mutation, old.crossover)
    trees = {**plain, "mutation": "ctree"}
    write_archive(tmp_path / "old", {**meta, "version": 2, "parameters": trees}, arrays)
    assert Explainer.load(tmp_path / "old", good).mutation == ConditionalTreeMutation(p=0.6, p_feature=0.4)
