"""`most_promising` against greedy choice by volumes that moocore computes from scratch."""

from __future__ import annotations

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals.explainers.arf_search.improvement import most_promising

_NOTHING = 1e-12  # differences of volumes that are equal but for rounding


def volume(points: np.ndarray, p: int) -> float:
    """Of (distance, number of changes, implausibility) up to 1, p + 1 and 1."""
    return float(moocore.hypervolume(points, ref=np.array([1.0, p + 1.0, 1.0]))) if len(points) else 0.0


def promises(points: np.ndarray, p_valid: np.ndarray, found: np.ndarray, p: int) -> np.ndarray:
    before = volume(found, p)
    added = [volume(np.concatenate([found, point[None]]), p) - before for point in points]
    return p_valid * np.array(added)


def twin(points: np.ndarray, p_valid: np.ndarray, front: np.ndarray, p: int, uniform: np.ndarray) -> list[int]:
    """Steps 1 and 2, with every promise computed anew at every step."""
    found, chosen = front.copy(), []
    for u in uniform:
        promise = promises(points, p_valid, found, p)
        promise[chosen] = 0.0
        best = int(promise.argmax())
        if promise[best] <= _NOTHING:
            break
        chosen.append(best)
        if u < p_valid[best]:
            found = np.concatenate([found, points[[best]]])
    return chosen


def ask(points: np.ndarray, p_valid: np.ndarray, front: np.ndarray, p: int, uniform: np.ndarray) -> list[int]:
    columns = points[:, 0].copy(), points[:, 1].astype(np.int64), points[:, 2].copy()
    return most_promising(*columns, p_valid, front, p, uniform).tolist()


def some(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    return np.column_stack([rng.random(n), rng.integers(1, p + 1, n), rng.random(n)])


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 25), st.integers(0, 8), st.integers(1, 12))
def test_the_greedy_choice_by_brute_force(seed, p, n, n_front, n_chosen):
    rng = np.random.default_rng(seed)
    points, front = some(n, p, rng), some(n_front, p, rng)
    p_valid, uniform = rng.random(n), rng.random(n_chosen)
    chosen, expected = ask(points, p_valid, front, p, uniform), twin(points, p_valid, front, p, uniform)
    # the kernel may go on with what is worth no more than rounding
    assert chosen[: len(expected)] == expected
    assert len(set(chosen)) == len(chosen) <= n_chosen
    worth = np.delete(promises(points, p_valid, np.concatenate([front, points[chosen]]), p), chosen)
    assert len(chosen) == min(n, n_chosen) or (worth <= _NOTHING).all()


@given(st.integers(0, 2**32 - 1))
def test_equal_coordinates_choose_sets_of_the_same_worth(seed):
    """On a coarse grid there are ties, so that the order may differ but not what is gained."""
    rng = np.random.default_rng(seed)
    p = 3
    points, front = some(30, p, rng), some(5, p, rng)
    points[:, [0, 2]], front[:, [0, 2]] = np.rint(4 * points[:, [0, 2]]) / 4, np.rint(4 * front[:, [0, 2]]) / 4
    found = front
    for place in ask(points, np.ones(30), front, p, np.zeros(6)):
        promise = promises(points, np.ones(30), found, p)
        assert promise[place] == pytest.approx(promise.max(), abs=1e-9)
        assert promise[place] > 0.0
        found = np.concatenate([found, points[[place]]])


def test_the_first_choice_is_worth_its_volume_times_its_probability():
    # volumes with p = 2: (1 − .5)² over two levels = .5; .8² over one level = .64; .9² over two levels = 1.62
    points = np.array([[0.5, 1, 0.5], [0.2, 2, 0.2], [0.1, 1, 0.1]])
    nothing = np.empty((0, 3))
    assert volume(points[2:], 2) == pytest.approx(1.62)
    assert ask(points, np.array([1.0, 1.0, 1.0]), nothing, 2, np.zeros(1)) == [2]
    assert ask(points, np.array([1.0, 1.0, 0.3]), nothing, 2, np.zeros(1)) == [1]  # .64 against .5 and .486
    assert ask(points, np.array([1.0, 0.7, 0.3]), nothing, 2, np.zeros(1)) == [0]  # .5 against .448 and .486
    assert ask(points, np.zeros(3), nothing, 2, np.zeros(3)) == []


def test_what_is_likely_to_hold_is_not_tried_again_and_what_may_fail_is():
    """Two rows that promise nearly the same, and one elsewhere."""
    points = np.array([[0.10, 1, 0.50], [0.11, 1, 0.51], [0.60, 1, 0.10]])
    p_valid, nothing = np.array([0.6, 0.6, 0.6]), np.empty((0, 3))
    assert ask(points, p_valid, nothing, 1, np.array([0.1, 0.1])) == [0, 2]
    assert ask(points, p_valid, nothing, 1, np.array([0.9, 0.9])) == [0, 1]


def test_nothing_that_the_set_dominates_is_chosen():
    front = np.array([[0.2, 1.0, 0.3]])
    points = np.array([[0.2, 1, 0.3], [0.4, 2, 0.5], [0.2, 3, 0.9], [1.0, 1, 0.0], [0.0, 3, 1.0]])
    assert ask(points, np.ones(5), front, 3, np.zeros(5)) == []
