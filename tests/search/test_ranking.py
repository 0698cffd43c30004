"""Ranks, crowding and selection: against slow twins in plain Python, moocore, and cases done by hand."""

from __future__ import annotations

import math

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals.search import crowding, front_ranks, survivors, tournament

INF = math.inf


def absolute(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The sum of absolute differences of all pairs."""
    return np.abs(rows[:, None] - others[None]).sum(axis=2)


@st.composite
def candidates(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Objectives with many ties, and rows."""
    n, m = draw(st.integers(1, 25)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_values = draw(st.sampled_from([2, 5, 1000]))
    return rng.integers(0, n_values, (n, m)) / 8, rng.integers(0, n_values, (n, 3)) / 16


# Fronts


def slow_ranks(objectives: list[list[float]]) -> list[int]:
    """Fronts are taken off one after another."""
    ranks, left, rank = [0] * len(objectives), set(range(len(objectives))), 0
    while left:
        front = {i for i in left if not any(dominates(objectives[k], objectives[i]) for k in left)}
        for i in front:
            ranks[i] = rank
        left, rank = left - front, rank + 1
    return ranks


def dominates(a: list[float], b: list[float]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True)) and a != b


@given(candidates())
def test_ranks_are_those_of_the_twin(case: tuple[np.ndarray, np.ndarray]) -> None:
    objectives, _ = case
    assert front_ranks(objectives).tolist() == slow_ranks(objectives.tolist())


@given(candidates())
def test_the_first_front_is_what_moocore_keeps(case: tuple[np.ndarray, np.ndarray]) -> None:
    objectives, _ = case
    first = objectives[front_ranks(objectives) == 0]
    assert first.tolist() == moocore.filter_dominated(objectives, keep_weakly=True).tolist()


def test_ranks_by_hand() -> None:
    objectives = np.array([[0, 3], [1, 1], [3, 0], [1, 2], [2, 2], [1, 1], [3, 3]], np.float64)
    assert front_ranks(objectives).tolist() == [0, 0, 0, 1, 2, 0, 3]


def test_penalised_rows_by_hand() -> None:
    # without the penalty the last three would be in the first fronts, as they are best in column 1
    objectives = np.array([[0.1, 5], [0.2, 4], [0.2, 5], [0.9, 0], [0.7, 1], [0.9, 3]], np.float64)
    penalty = objectives[:, 0] > 0.5
    assert front_ranks(objectives).tolist() == [0, 0, 1, 0, 0, 1]
    assert front_ranks(objectives, penalty).tolist() == [0, 0, 1, 3, 2, 3]


@given(candidates(), st.integers(0, 2**32))
def test_penalised_rows_rank_behind_all_others_by_column_0(case: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    objectives, _ = case
    penalty = np.random.default_rng(seed).random(len(objectives)) < 0.5
    ranks = front_ranks(objectives, penalty)
    assert ranks[~penalty].tolist() == slow_ranks(objectives[~penalty].tolist())
    assert ranks[~penalty].max(initial=-1) < ranks[penalty].min(initial=len(ranks))
    order = np.argsort(ranks[penalty], kind="stable")
    assert (np.diff(objectives[penalty, 0][order]) >= 0.0).all()
    assert (np.unique(ranks) == np.arange(len(np.unique(ranks)))).all()  # no rank is skipped


def test_no_rows_have_no_ranks() -> None:
    assert front_ranks(np.empty((0, 3))).shape == (0,)
    assert crowding(np.empty((0, 3)), np.empty((0, 2)), np.empty(0, np.int64), absolute).shape == (0,)


# Crowding


def slow_crowding(objectives: np.ndarray, rows: np.ndarray, ranks: np.ndarray) -> list[float]:
    """The definition, front by front and cell by cell."""
    result = [0.0] * len(ranks)
    for rank in set(ranks.tolist()):
        front = [i for i in range(len(ranks)) if ranks[i] == rank]
        wide = dict.fromkeys(front, 0.0)
        for m in range(objectives.shape[1]):
            order = sorted(front, key=lambda i, m=m: objectives[i, m])
            span = objectives[order[-1], m] - objectives[order[0], m]
            for place, i in enumerate(order):
                if span > 0.0 and place in (0, len(order) - 1):
                    wide[i] = INF
                elif span > 0.0:
                    wide[i] += (objectives[order[place + 1], m] - objectives[order[place - 1], m]) / span
        far = {}
        for i in front:
            nearest = sorted(np.abs(rows[i] - rows[k]).sum() for k in front if k != i)[:2]
            far[i] = sum(nearest) / max(len(nearest), 1)
        widest = max((value for value in wide.values() if value < INF), default=0.0) or 1.0
        farthest = max(far.values()) or 1.0
        for i in front:
            result[i] = wide[i] / widest + far[i] / farthest
    return result


@given(candidates())
def test_crowding_is_that_of_the_twin(case: tuple[np.ndarray, np.ndarray]) -> None:
    objectives, rows = case
    ranks = front_ranks(objectives)
    np.testing.assert_allclose(crowding(objectives, rows, ranks, absolute), slow_crowding(objectives, rows, ranks))


def test_crowding_by_hand() -> None:
    objectives = np.array([[0, 10], [1, 9], [2, 8], [10, 0]], np.float64)
    rows = np.array([[0.0], [4.0], [5.0], [7.0]])
    # objectives, row 1: (2 − 0)/10 + (10 − 8)/10 = .4; row 2: (10 − 1)/10 + (9 − 0)/10 = 1.8
    # features: mean distance to two nearest is 4.5, 2, 1.5, 2.5
    expected = [INF, 0.4 / 1.8 + 2 / 4.5, 1.0 + 1.5 / 4.5, INF]
    result = crowding(objectives, rows, np.zeros(4, np.int64), absolute)
    np.testing.assert_allclose(result, expected)


def test_fronts_do_not_crowd_each_other() -> None:
    objectives = np.array([[0, 10], [1, 9], [2, 8], [10, 0]], np.float64)
    rows = np.array([[0.0], [4.0], [5.0], [7.0]])
    both = np.concatenate([objectives, objectives + 5.0]), np.concatenate([rows, rows])
    ranks = np.repeat([0, 3], 4)  # penalised rows may leave gaps between the ranks of a part
    alone = crowding(objectives, rows, np.zeros(4, np.int64), absolute)
    np.testing.assert_allclose(crowding(*both, ranks, absolute), np.tile(alone, 2))


def test_an_objective_without_differences_has_no_ends() -> None:
    objectives = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    result = crowding(objectives, np.array([[0.0], [1.0], [5.0]]), np.zeros(3, np.int64), absolute)
    np.testing.assert_allclose(result, [3.0 / 4.5, 2.5 / 4.5, 1.0])


def test_infinite_objectives_give_numbers() -> None:
    objectives = np.array([[0.0, INF], [1.0, 3.0], [2.0, 2.0], [3.0, -INF], [1.5, INF]])
    result = crowding(objectives, np.arange(5.0)[:, None], np.zeros(5, np.int64), absolute)
    assert not np.isnan(result).any()
    all_infinite = crowding(np.full((3, 1), INF), np.arange(3.0)[:, None], np.zeros(3, np.int64), absolute)
    np.testing.assert_allclose(all_infinite, [1.0, 2.0 / 3.0, 1.0])


def test_the_isolated_survive_in_objectives_and_in_features() -> None:
    line = np.array([0.0, 0.50, 0.51, 0.52, 0.75, 1.0])
    front = np.column_stack([line, 1.0 - line])
    zero = np.zeros(6, np.int64)
    in_objectives = crowding(front, np.zeros((6, 1)), zero, absolute)
    assert sorted(survivors(zero, in_objectives, 5).tolist()) == [0, 1, 3, 4, 5]
    same = np.tile([0.5, 0.5], (6, 1))
    in_features = crowding(same, line[:, None], zero, absolute)
    assert sorted(survivors(zero, in_features, 5).tolist()) == [0, 1, 3, 4, 5]


def test_inputs_are_not_changed() -> None:
    rng = np.random.default_rng(1)
    arrays = rng.random((9, 3)), rng.random((9, 2)), np.zeros(9, np.int64), np.zeros(9, np.bool_)
    distances = np.full((9, 9), 0.5)
    for array in (*arrays, distances):
        array.flags.writeable = False
    objectives, rows, ranks, penalty = arrays
    front_ranks(objectives, penalty)
    survivors(ranks, crowding(objectives, rows, ranks, lambda a, b: distances), 4)


# Survival and parents


@given(candidates(), st.integers(0, 30))
def test_the_best_survive(case: tuple[np.ndarray, np.ndarray], n: int) -> None:
    objectives, rows = case
    ranks = front_ranks(objectives)
    diversity = crowding(objectives, rows, ranks, absolute)
    kept = survivors(ranks, diversity, n)
    assert len(set(kept.tolist())) == min(n, len(ranks))
    keys = [(ranks[i], -diversity[i], i) for i in range(len(ranks))]
    assert [keys[i] for i in kept] == sorted(keys)[:n]


@given(candidates())
def test_the_best_of_each_objective_survive(case: tuple[np.ndarray, np.ndarray]) -> None:
    objectives, rows = case
    ranks = front_ranks(objectives)
    kept = survivors(ranks, crowding(objectives, rows, ranks, absolute), 2 * objectives.shape[1])
    assert (objectives[kept].min(axis=0) == objectives.min(axis=0)).all()


def test_parents_are_chosen_by_validity_then_by_place() -> None:
    rng = np.random.default_rng(7)
    n = 40_000
    validity = np.array([0.3, 0.0, 0.0, 0.1])  # the order of merit is 1, 2, 3, 0
    share = np.bincount(tournament(validity, n, rng), minlength=4) / n
    # the k-th best of four wins if both draws are it or worse: ((5 − k)² − (4 − k)²) / 16
    assert share == pytest.approx([1 / 16, 7 / 16, 5 / 16, 3 / 16], abs=5 * math.sqrt(0.25 / n))


def test_one_row_is_its_own_mate() -> None:
    assert tournament(np.array([0.5]), 4, np.random.default_rng(0)).tolist() == [0, 0, 0, 0]
