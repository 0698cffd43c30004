"""MOC, MOCCTREE, MOCARF: what they begin with, how rows vary, what they ask the model, and what comes of it."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import moocore
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from countarfactuals import AdversarialRandomForest, Constraints, Target
from countarfactuals.constraints import as_constraints
from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers.moc import (
    ConditionalTreeMutation,
    ForestMutation,
    IndependentMutation,
    MOCARFExplainer,
    MOCCTREEExplainer,
    MOCExplainer,
    SimulatedBinaryCrossover,
)
from countarfactuals.explainers.moc.generations import Variation
from countarfactuals.explainers.moc.population import STRATEGIES, Space, chance, first_rows
from countarfactuals.explainers.problem import GiveUp, Problem
from countarfactuals.explainers.simple_searches import RandomSearchExplainer

from ..contracts.checks import dominated, same
from .on_its_own import run

N = 400
CLASSES = {"moc": MOCExplainer, "mocctree": MOCCTREEExplainer, "mocarf": MOCARFExplainer}
NO_CROSSOVER = SimulatedBinaryCrossover(p=0.0)
every_class = pytest.mark.parametrize("cls", list(CLASSES.values()), ids=list(CLASSES))


@cache
def table() -> pd.DataFrame:
    """b follows a, and the level of c tells the sign of a; d is a whole number, e has two decimals, f is noise."""
    rng = np.random.default_rng(1)
    a = rng.normal(0.0, 1.0, N)
    return pd.DataFrame(
        {
            "a": a,
            "b": a + rng.normal(0.0, 0.1, N),
            "c": pd.Categorical(np.where(a > 0, "plus", "minus"), categories=["minus", "plus", "never seen"]),
            "d": rng.integers(0, 9, N),
            "e": rng.uniform(0.0, 1.0, N).round(2),
            "f": rng.normal(0.0, 1.0, N),
        }
    )


class Model:
    """P(good) of the sum of some columns; keeps what it was asked."""

    def __init__(self, scale: float = 3.0) -> None:
        self.scale = scale
        self.calls: list[pd.DataFrame] = []

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        self.calls.append(frame)
        merit = frame["a"].fillna(0.0) + frame["b"] + 0.2 * (frame["d"] - 4) + frame["e"] - 1.0
        return 1 / (1 + np.exp(-self.scale * merit.to_numpy()))


X = table()
POOR = X.loc[[X["a"].idxmin()]]
ORDINARY = X.loc[[(X["a"] + 0.8).abs().idxmin()]]


def make(cls: type[MOCExplainer] = MOCExplainer, model: Any = None, data: pd.DataFrame = X, **own: Any) -> Any:
    density = AdversarialRandomForest(n_estimators=10, min_samples_leaf=5)
    settings = {"density": density, "random_state": 3, "max_evaluations": 300, "classes": ("bad", "good")}
    # c follows from a, and would be computed
    return cls(model or Model(), **{**settings, "relations": None, **own}).fit(data)


@cache
def shared(cls: type[MOCExplainer] = MOCExplainer) -> Any:
    return make(cls)


def problem_of(explainer: Any, x: pd.DataFrame = ORDINARY, target: Any = "good", **constraints: Any) -> Problem:
    return explainer.problem(explainer.encode_row(x), target, as_constraints(constraints))


def asked(explainer: Any, x: pd.DataFrame = ORDINARY, target: Any = None, **constraints: Any) -> tuple[Any, Any]:
    """The result, and all rows that the model was asked about, x first."""
    explainer.model.calls.clear()
    result = explainer.explain(x, target, constraints or None)
    return result, pd.concat(explainer.model.calls, ignore_index=True)


# The first population


def test_chances_grow_linearly_with_importance_from_one_to_ninety_nine_percent():
    space = Space.of(problem_of(shared(), fixed=["f"]))
    importance = np.array([0.4, 0.1, 0.2, 0.1, 0.25, 9.0])  # what can not change does not count
    np.testing.assert_allclose(chance(space, importance)[:5], 0.01 + 0.98 * np.array([1, 0, 1 / 3, 0, 0.5]))
    np.testing.assert_allclose(chance(space, np.ones(6)), 0.5)


def test_columns_that_change_together_have_the_chance_of_their_most_important_one():
    space = Space.of(problem_of(shared(), groups=[["a", "e"]]))
    by_column = chance(space, np.array([0.0, 0.2, 0.1, 0.0, 0.4, 0.0]))[space.place]
    assert by_column[0] == by_column[4] == 0.99
    assert by_column[1] == pytest.approx(0.5)


def test_features_of_the_first_rows_differ_as_often_as_their_chance_says():
    problem = problem_of(shared())
    space = Space.of(problem)
    importance = np.array([0.4, 0.0, 0.0, 0.3, 0.2, 0.0])
    rows = first_rows(problem, space, 2000, "icecurve", importance)
    share = (rows != problem.x).mean(axis=0)
    expected = chance(space, importance)
    # a level drawn may be x's own, as may one of nine integers; rows equal to x are left out
    np.testing.assert_allclose(share, expected * [1, 1, 0.5, 8 / 9, 1, 1], atol=0.04)
    assert len(np.unique(rows, axis=0)) == len(rows) == 2000


def test_uniform_first_rows_fill_the_range_of_the_data():
    problem = problem_of(shared(), ranges={"b": (0.0, 1.0)})
    rows = first_rows(problem, Space.of(problem), 2000, "random", None)
    new = rows[rows[:, 0] != problem.x[0], 0]
    low, high = X["a"].min(), X["a"].max()
    assert 900 < len(new) < 1150
    assert stats.kstest((new - low) / (high - low), "uniform").pvalue > 1e-4
    new = rows[rows[:, 1] != problem.x[1], 1]
    assert stats.kstest(new, "uniform").pvalue > 1e-4
    assert set(rows[:, 2]) == {0.0, 1.0}  # the level that never occurs is none


def test_first_rows_within_a_standard_deviation():
    problem = problem_of(shared())
    rows = first_rows(problem, Space.of(problem), 1000, "sd", None)
    for j, largest in ((0, X["a"].std(ddof=0)), (3, 2), (5, X["f"].std(ddof=0))):
        distance = np.abs(rows[:, j] - problem.x[j])
        assert 0.95 * largest < distance.max() <= largest
        assert 2 < X["d"].std(ddof=0) < 3


def test_first_rows_of_the_data_are_parts_of_rows_with_the_outcome():
    explainer = shared()
    problem = problem_of(explainer)
    rows = first_rows(problem, Space.of(problem), 200, "traindata", None)
    good = explainer.background_.matrix[explainer.model(X) > 0.5]
    for row in rows:
        differs = row != problem.x
        assert (good[:, differs] == row[differs]).all(axis=1).any()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_finds_counterfactuals(strategy):
    result = make(initial=strategy).explain(ORDINARY)
    assert result.status == "found"
    assert (Model()(result.to_frame()) > 0.5).all()


def test_constraints_that_no_draw_meets_leave_the_real_rows():
    """b must be a, which two uniform numbers never are."""
    data = X.assign(b=X["a"])
    explainer = make(data=data)
    problem = problem_of(explainer, ORDINARY.assign(b=ORDINARY["a"]), rules=[("a", "==", "b")], fixed=["c", "d"])
    space = Space.of(problem)
    free = chance(space, np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0]))
    assert free[0] == 0.99
    rows = first_rows(problem, space, 10, "icecurve", np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    assert len(rows)
    assert (rows[:, 0] == rows[:, 1]).all()


# Mutation


def mutation_of(kind: str, problem: Problem) -> Any:
    mutations = {
        "trees": ConditionalTreeMutation(),
        "independent": IndependentMutation(),
        "forest": ForestMutation(n_draws=1),
    }
    return mutations[kind].bound(problem, Space.of(problem), shared(MOCCTREEExplainer)._conditional_trees)


@pytest.mark.parametrize("kind", ["independent", "trees", "forest"])
def test_only_chosen_cells_are_mutated_and_they_take_values_that_exist(kind):
    problem = problem_of(shared(), ranges={"b": (-1.0, 0.5)}, allowed={"c": ["plus"]}, direction={"e": "increase"})
    rng = np.random.default_rng(2)
    mutate = mutation_of(kind, problem)
    rows = np.repeat(problem.x[None], 300, axis=0)
    chosen = rng.random(rows.shape) < 0.4
    chosen[:, 5] = False
    new = mutate(rows, chosen)
    assert len(new) > 250
    assert (new[:, 5] == problem.x[5]).all()
    if kind != "forest":
        np.testing.assert_array_equal(new[~chosen], rows[~chosen])
        assert (new[:, 0] != rows[:, 0])[chosen[:, 0]].all()
    for j, name in enumerate(X):
        moved = new[new[:, j] != problem.x[j], j]
        codes = X[name].cat.codes if name == "c" else X[name]
        # given a and b the tree leaves no doubt about c
        assert len(moved) or name == "f" or (kind, name) == ("trees", "c")
        assert ((moved >= codes.min()) & (moved <= codes.max())).all()
    assert (np.rint(new[:, 3]) == new[:, 3]).all()
    assert (np.round(new[:, 4], 2) == new[:, 4]).all()
    moved = new[new[:, 1] != problem.x[1], 1]
    assert ((moved >= -1.0) & (moved <= 0.5)).all()


@pytest.mark.parametrize("kind", ["trees", "forest"])
def test_mutation_that_knows_the_data_keeps_what_belongs_together(kind):
    """b given a is within a few tenths of a; the independent mutation moves it by its standard deviation, 1."""
    problem = problem_of(shared(), target=Target("good", above=0.0))
    rows = np.repeat(problem.x[None], 300, axis=0)
    chosen = np.zeros(rows.shape, np.bool_)
    chosen[:, [1, 2]] = True
    new, plain = mutation_of(kind, problem)(rows, chosen), mutation_of("independent", problem)(rows, chosen)
    a = problem.x[0]
    assert np.median(np.abs(new[:, 1] - a)) < 0.4 < np.median(np.abs(plain[:, 1] - a))
    assert (new[:, 2] == (a > 0)).mean() > 0.9


def test_the_forest_draws_jointly_and_towards_the_outcome():
    explainer = shared()
    problem = problem_of(explainer)
    rows = np.repeat(problem.x[None], 400, axis=0)
    chosen = np.zeros(rows.shape, np.bool_)
    chosen[:, :3] = True
    new = mutation_of("forest", problem)(rows, chosen)
    assert np.corrcoef(new[:, 0], new[:, 1])[0, 1] > 0.6
    valid = explainer.background_.predictor.scores(new)[:, 0] > 0.5
    plain = explainer.background_.predictor.scores(mutation_of("independent", problem)(rows, chosen))[:, 0] > 0.5
    assert valid.mean() > plain.mean() + 0.2


def test_numbers_move_by_their_standard_deviation():
    problem = problem_of(shared())
    rows = np.repeat(problem.x[None], 3000, axis=0)
    new = mutation_of("independent", problem)(rows, np.ones(rows.shape, np.bool_))
    for j, name in ((0, "a"), (5, "f")):
        sd, low, high = X[name].std(ddof=0), X[name].min(), X[name].max()
        law = stats.truncnorm((low - problem.x[j]) / sd, (high - problem.x[j]) / sd, problem.x[j], sd)
        assert stats.kstest(new[:, j], law.cdf).pvalue > 1e-4
    assert 1300 < (new[:, 2] == 1.0).sum() < 1700


# Variation


def children(parents: np.ndarray, **own: Any) -> np.ndarray:
    """What becomes of parents that are all candidates; settings that are not given do nothing."""
    mutation, crossover = own.get("mutation", IndependentMutation(p=0.0)), own.get("crossover", NO_CROSSOVER)
    problem = problem_of(shared())
    space = Space.of(problem)
    mutate = mutation.bound(problem, space, shared()._conditional_trees)
    p_reset = own.get("p_reset", 0.0)
    vary = Variation(problem, space, crossover, mutate, p_reset, mutation.p, mutation.p_feature)
    return vary(parents, problem.rng)


def far_parents(n: int) -> np.ndarray:
    """Rows that differ from x in all numbers, so that none becomes x."""
    x = problem_of(shared()).x
    rng = np.random.default_rng(8)
    rows = shared().background_.matrix[rng.permutation(N)]
    return rows[(rows[:, [0, 1, 3, 4, 5]] != x[[0, 1, 3, 4, 5]]).all(axis=1)][:n]


def test_features_are_put_back_as_often_as_asked():
    parents, x = np.tile(far_parents(100), (10, 1)), problem_of(shared()).x
    rows = children(parents, p_reset=0.4)
    assert len(rows) > 980  # a few are x
    share = (rows == x)[:, [0, 1, 3, 4, 5]].mean(axis=0)
    np.testing.assert_allclose(share, 0.4, atol=0.05)


def test_features_are_mutated_after_some_are_put_back():
    parents, x = far_parents(100), problem_of(shared()).x
    rows = children(parents, p_reset=1.0, mutation=IndependentMutation(p=1.0))
    assert len(rows) > 90
    share = (rows != x)[:, [0, 5]].mean(axis=0)
    np.testing.assert_allclose(share, 0.5, atol=0.2)  # p_feature


def test_pairs_are_recombined_as_often_as_asked():
    parents = far_parents(200)
    a, b = parents[0::2], parents[1::2]
    rows = children(np.tile(parents, (5, 1)), crossover=SimulatedBinaryCrossover(p=0.6, p_feature=0.5))
    first, second = np.split(rows, 2)
    a, b = np.tile(a, (5, 1)), np.tile(b, (5, 1))
    differ = a[:, 3] != b[:, 3]
    exchanged = first[:, 3] == b[:, 3]
    assert ((first[:, 3] == a[:, 3]) | exchanged).all()
    assert 0.22 < exchanged[differ].mean() < 0.38
    assert (first[:, 3] + second[:, 3] == a[:, 3] + b[:, 3]).all()
    crossed = (first[:, 5] != a[:, 5]) | (second[:, 5] != b[:, 5])
    assert 0.22 < crossed.mean() < 0.38
    of_both = (first[:, 5] != a[:, 5]) & (first[:, 5] != b[:, 5])
    assert of_both.mean() > 0.2  # real numbers are crossed, not exchanged


def test_rows_and_features_are_mutated_as_often_as_asked():
    parents = np.tile(far_parents(100), (10, 1))
    rows = children(parents, mutation=IndependentMutation(p=0.7, p_feature=0.5))
    moved = (rows != np.concatenate([parents[0::2], parents[1::2]]))[:, [0, 1, 5]]
    np.testing.assert_allclose(moved.mean(axis=0), 0.35, atol=0.05)
    untouched = 0.3 + 0.7 * 0.5**3
    assert (~moved.any(axis=1)).mean() == pytest.approx(untouched, abs=0.05)


# Cells that are missing, columns that belong together


@every_class
def test_a_missing_cell_may_be_filled_and_none_becomes_missing(cls):
    data = X.assign(a=X["a"].where(np.arange(N) % 5 != 0))
    x = data[data["a"].isna() & (X["b"] < -1.0)].iloc[[0]]
    result, rows = asked(make(cls, data=data), x)
    assert result.status == "found"
    assert rows["a"].isna().any()
    assert rows["a"].notna().any()
    assert not rows.drop(columns="a").isna().any().any()


@every_class
def test_columns_of_a_group_change_together_and_one_of_the_dummies_is_one(cls):
    rng = np.random.default_rng(4)
    job = rng.integers(0, 3, N)
    data = X.drop(columns="c").assign(**{f"job{k}": (job == k).astype(float) for k in range(3)})
    x = data.loc[ORDINARY.index]
    said = {"groups": [["d", "f"]], "exactly_one": [["job0", "job1", "job2"]]}
    result, rows = asked(make(cls, data=data, max_evaluations=400), x, **said)
    rows = rows.iloc[1:]
    dummies = rows[["job0", "job1", "job2"]]
    ice = 100  # curves move one dummy alone
    assert (dummies.iloc[ice:].sum(axis=1) == 1).all()
    assert dummies.iloc[ice:].isin([0.0, 1.0]).all().all()
    assert len(dummies.iloc[ice:].drop_duplicates()) == 3
    moved = rows[["d", "f"]].to_numpy()[ice:] != x[["d", "f"]].to_numpy()
    assert (moved[:, 0] == moved[:, 1]).all()
    assert moved.any()
    assert result.status == "found"


# What the model is asked


@every_class
def test_one_call_per_generation_within_the_budget_and_no_row_twice(cls):
    explainer = make(cls, max_evaluations=257)
    result, rows = asked(explainer)
    sizes = [len(call) for call in explainer.model.calls]
    assert sum(sizes) == result.provenance["evaluations"] <= 257
    n_generations = len(result.history()["generation"])  # what follows takes changes back
    assert sizes[0] == 1
    assert sizes[1] <= 25  # a tenth of the budget for the curves
    assert sizes[2 : 1 + n_generations] == [20] * (n_generations - 1)
    assert 257 - sum(sizes[: 2 + n_generations]) <= 25 + 20 + 12  # the last are kept for second answers
    after_curves = rows.iloc[1 + sizes[1] : -sizes[-1]]  # what leaves is asked about twice
    assert sizes[-1] == len(result)
    assert not after_curves.duplicated().any()
    assert not (after_curves == rows.iloc[0]).all(axis=1).any()


def test_generations_are_counted():
    explainer = make(max_evaluations=10_000, n_generations=4, population_size=8, initial="random")
    asked(explainer)
    assert [len(call) for call in explainer.model.calls][:6] == [1, 8, 8, 8, 8, 8]


def test_a_search_that_stands_still_is_left_after_the_patience():
    """Two values in all: after them there is nothing new to find."""
    data = pd.DataFrame({"a": np.tile([0, 1, 2, 3], 30), "b": np.repeat([0, 1, 2], 40)})

    def model(frame: pd.DataFrame) -> np.ndarray:
        return (frame["a"] + frame["b"]).to_numpy() / 5.0

    explainer = make(model=model, data=data, classes=None, task="regression", patience=1, random_state=2)
    result = explainer.explain(data.iloc[[0]], Target(above=0.7))
    assert result.status == "found"
    assert result.provenance["evaluations"] <= 12 + len(result)  # which the model is asked about twice


@every_class
def test_rows_that_are_asked_about_have_values_that_exist(cls):
    _, rows = asked(make(cls))
    for name in ("a", "b", "d", "e", "f"):
        assert rows[name].between(X[name].min(), X[name].max()).all()
    assert (rows["e"].round(2) == rows["e"]).all()
    assert rows["d"].dtype == X["d"].dtype
    assert set(rows["c"]) <= {"minus", "plus"}


@every_class
def test_max_changed_of_explainer_and_constraints(cls):
    explainer = make(cls, max_changed=2)
    for said, most in ((None, 2), ({"max_changed": 1}, 1), ({"max_changed": 5}, 2)):
        result, rows = asked(explainer, **(said or {}))
        assert (rows.iloc[1:] != rows.iloc[0]).sum(axis=1).max() == most
        assert result.status == "found"


# The result


@every_class
def test_the_result_is_the_front_of_the_valid_rows_asked_about(cls):
    explainer = make(cls)
    result, rows = asked(explainer)
    matrix = np.unique(explainer.schema_.encode(rows.iloc[1:]), axis=0)
    valid = matrix[Model()(explainer.schema_.decode(matrix)) > 0.5]
    problem = problem_of(explainer)
    if cls is MOCARFExplainer:
        cost = -explainer.background_.plausibility(valid)
        assert result.measure == "median of the trees' log densities"
    else:
        cost = np.array([problem.background.gower.to(row, problem.background.matrix).min() for row in valid])
        assert result.measure == "distance to the nearest real row"
    values = np.column_stack([problem.gower.to(problem.x, valid), (valid != problem.x).mean(axis=1), cost])
    front = valid[~dominated(values)]
    assert {row.tobytes() for row in front} == {row.tobytes() for row in result.rows}
    assert len(front) >= 2


@pytest.mark.parametrize(
    ("own", "weights"),
    [({"n_neighbours": 3}, [1, 1, 1]), ({"n_neighbours": 2, "neighbour_weights": [3, 1]}, [3, 1])],
)
def test_the_distance_to_several_real_rows_weighs_features_alike(own, weights):
    explainer = make(**own)
    result = explainer.explain(ORDINARY, constraints=Constraints(weights={"a": 50.0}))
    background = explainer.background_
    nearest = [np.sort(background.gower.to(row, background.matrix))[: len(weights)] for row in result.rows]
    np.testing.assert_allclose(result.objectives["implausibility"], np.array(nearest) @ weights / np.sum(weights))
    assert "nearest real rows" in result.measure
    np.testing.assert_allclose(result.log_density, background.plausibility.log_density(result.rows))


@pytest.mark.parametrize(
    ("mutation", "implausibility", "method", "by_forest"),
    [
        (None, None, "moc", False),
        ("independent", "arf", "moc", True),
        ("ctree", None, "mocctree", False),
        ("arf", None, "mocarf", True),
        ("arf", "gower", "mocarf", False),
    ],
)
def test_names_and_measures_follow_the_mutation(mutation, implausibility, method, by_forest):
    result = make(mutation=mutation, implausibility=implausibility, max_evaluations=60).explain(ORDINARY)
    assert result.method == method
    assert ("trees" in result.measure) == by_forest


@every_class
def test_classes_are_named_after_their_mutation(cls):
    assert CLASSES[cls.method] is cls
    one = make(cls, max_evaluations=100).explain(ORDINARY)
    mutation = {"moc": "independent", "mocctree": "ctree", "mocarf": "arf"}[cls.method]
    other = make(MOCExplainer, mutation=mutation, max_evaluations=100).explain(ORDINARY)
    assert one.method == other.method == cls.method
    np.testing.assert_array_equal(one.rows, other.rows)


@every_class
def test_saved_and_loaded_it_gives_the_same(cls, tmp_path):
    own = {"n_neighbours": 2, "neighbour_weights": (2, 1), "max_evaluations": 150}
    for explainer in (make(cls, **own), make(cls, mutation="arf", **own)):
        explainer.save(tmp_path / "explainer")
        loaded = cls.load(tmp_path / "explainer", explainer.model)
        again, before = loaded.explain(ORDINARY), explainer.explain(ORDINARY)
        again.provenance["settings"].pop("density")  # a file holds the forest that was fitted
        before.provenance["settings"].pop("density")
        again.provenance["settings"].pop("neighbour_weights")
        before.provenance["settings"].pop("neighbour_weights")
        np.testing.assert_array_equal(again.rows, before.rows)
        assert again.method == before.method


def test_fitting_anew_forgets_the_conditional_trees():
    explainer = make(MOCCTREEExplainer, max_evaluations=100)
    explainer.explain(ORDINARY)
    other = X.assign(a=X["a"] * 10.0, b=X["b"] * 10.0)
    again = explainer.fit(other).explain(other.loc[ORDINARY.index])
    fresh = make(MOCCTREEExplainer, data=other, max_evaluations=100).explain(other.loc[ORDINARY.index])
    assert same(again, fresh)


# History


def searched(cls: type[MOCExplainer], **own: Any) -> tuple[Any, Problem]:
    explainer = make(cls, **own)
    problem = problem_of(explainer)
    run(explainer._search(problem), problem)
    return explainer, problem


@every_class
@pytest.mark.parametrize("initial", ["icecurve", "random"])
def test_the_last_hypervolume_is_that_of_all_counterfactuals_found(cls, initial):
    explainer, problem = searched(cls, initial=initial)
    history = problem.record
    assert json.loads(json.dumps(history)) == history
    rows, scores = problem.ledger()
    valid = rows[problem.is_counterfactual(rows, scores)]
    values = problem.objectives(valid)
    values[:, 1] /= len(problem.x)
    if cls is MOCARFExplainer:
        values[:, 2] = 1.0 - explainer.background_.plausibility.rank(-values[:, 2])
    assert history["hypervolume"][-1] == pytest.approx(moocore.hypervolume(values, ref=np.ones(3)))
    assert history["generation"] == list(range(len(history["hypervolume"])))
    assert (np.diff(history["hypervolume"]) >= 0).all()
    # curves alone may be as good as it gets on so small a problem
    assert initial == "icecurve" or history["hypervolume"][-1] > history["hypervolume"][0]


def test_history_tells_the_best_and_mean_of_every_objective():
    def twice(rows: pd.DataFrame, x: pd.DataFrame) -> np.ndarray:
        return 2.0 * rows["a"].to_numpy()

    _, problem = searched(MOCExplainer, extra_objectives={"twice": twice}, n_generations=3, initial="random")
    history = problem.record
    names = ["validity", "distance", "n_changed", "implausibility", "twice"]
    assert list(history["best"]) == list(history["mean"]) == names
    first, scores = (part[:20] for part in problem.ledger())
    values = np.column_stack([problem.goal.distance(scores), problem.objectives(first)])
    np.testing.assert_allclose([history["best"][name][0] for name in names], values.min(axis=0))
    np.testing.assert_allclose([history["mean"][name][0] for name in names], values.mean(axis=0))
    assert 0.0 <= history["hypervolume"][-1] <= 1.0
    for name in names:
        assert (np.diff(history["best"][name]) <= 0).all()
        assert len(history["mean"][name]) == 4


def test_history_survives_a_search_that_gives_up():
    explainer = make(initial="random")
    problem = problem_of(explainer, POOR, Target("good", above=0.9999), fixed=["a", "b"])
    with pytest.raises(GiveUp):
        run(explainer._search(problem), problem)
    assert problem.n_evaluated == math.ceil(0.9 * problem.budget)
    assert len(problem.record["generation"]) > 5
    assert problem.record["hypervolume"] == [0.0] * len(problem.record["generation"])
    assert explainer.explain(POOR, Target("good", above=0.9999), {"fixed": ["a", "b"]}).status == "none"


# How good it is


def test_evolution_beats_random_search():
    """By the hypervolume of what they minimise themselves, the same budget, summed over rows."""
    volumes = {}
    rows = X[Model()(X) < 0.2].head(6)
    for cls in (MOCExplainer, MOCCTREEExplainer, RandomSearchExplainer):
        explainer = make(cls)
        judge = shared()
        volumes[cls] = 0.0
        for i in range(len(rows)):
            found = explainer.explain(rows.iloc[[i]]).rows
            values = problem_of(judge, rows.iloc[[i]]).objectives(found)
            volumes[cls] += moocore.hypervolume(values / [1.0, X.shape[1], 1.0], ref=np.ones(3))
    assert volumes[MOCExplainer] > volumes[RandomSearchExplainer] + 0.05
    assert volumes[MOCCTREEExplainer] > volumes[RandomSearchExplainer] + 0.05


def test_kept_features_by_importance():
    """f does not matter to the model, so that the forest seldom redraws it."""
    changes = {}
    for kept in ("random", "importance"):
        _, rows = asked(
            make(
                MOCARFExplainer,
                mutation=ForestMutation(kept=kept),
                initial="traindata",
                p_reset=0.0,
                crossover=NO_CROSSOVER,
            )
        )
        rows = rows.iloc[-200:]
        changes[kept] = (rows["f"].iloc[-200:].nunique(), rows["a"].iloc[-200:].nunique())
    assert changes["importance"][0] < 0.5 * changes["random"][0]
    assert changes["importance"][1] > 0.7 * changes["random"][1]


# Parameters


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"mutation": "forest"}, "mutation must be one of"),
        ({"implausibility": "nice"}, "implausibility must be one of"),
        ({"initial": "ice"}, "initial must be one of"),
        ({"mutation": ForestMutation(kept="all")}, "kept must be one of"),
        ({"population_size": 1}, "population_size must be an integer from 2"),
        ({"n_generations": -1}, "n_generations must be an integer from 0"),
        ({"max_changed": 0}, "max_changed must be None or an integer from 1"),
        ({"p_reset": 1.5}, "p_reset must be a finite number in"),
        ({"mutation": ForestMutation(n_draws=0)}, "n_draws must be an integer"),
        ({"mutation": IndependentMutation(p=2.0)}, "p of the mutation must be a finite number in"),
        ({"crossover": SimulatedBinaryCrossover(p_feature=-1.0)}, "p_feature of the crossover must be"),
        ({"crossover": "sbx"}, "crossover must be a SimulatedBinaryCrossover or None"),
        ({"epsilon": -0.1}, "epsilon must be None or a finite number from 0"),
        ({"patience": 0}, "patience must be None or an integer from 1"),
        ({"n_neighbours": 0}, "n_neighbours must be an integer from 1"),
        ({"n_neighbours": 2, "neighbour_weights": [1]}, "neighbour_weights must be None or 2 numbers"),
        ({"neighbour_weights": [-1]}, "neighbour_weights must be None or 1 numbers"),
        ({"neighbour_weights": "x"}, "neighbour_weights must be None or 1 numbers"),
        ({"neighbour_weights": [math.nan]}, "neighbour_weights must be None or 1 numbers"),
    ],
)
def test_parameters_are_checked_at_once(own, message):
    with pytest.raises(ParameterError, match=message):
        MOCExplainer(Model(), **own).fit(X)
