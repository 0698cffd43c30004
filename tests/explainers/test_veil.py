"""Stand-ins for values that few rows have."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal

from countarfactuals.explainers.background import Veil
from countarfactuals.schema import Schema

RNG = np.random.default_rng(3)
N = 300


def veil_of(cells: np.ndarray) -> tuple[Veil, np.ndarray]:
    frame = pd.DataFrame({"a": cells})
    schema = Schema.infer(frame)
    matrix = schema.encode(frame)
    return Veil.of(schema, matrix), matrix


def test_a_continuous_value_gets_the_middle_to_its_neighbour():
    veil, matrix = veil_of(RNG.normal(size=N))
    assert veil.covers(matrix).all()
    new = veil.over(matrix, np.array([99.0]))
    assert not veil.covers(new).any()
    assert (np.abs(new - matrix) <= np.ptp(matrix) / 10).all()
    assert not np.isin(new, matrix).any()


def test_a_repeating_value_gets_the_nearest_that_enough_rows_have():
    veil, matrix = veil_of(np.append(np.tile([1, 2, 8], 100), [5, 5, 6, 6]))
    assert_array_equal(veil.over(matrix[-4:], np.array([0.0])).ravel(), [2, 2, 8, 8])
    assert not veil.covers(matrix[:-4]).any()


def test_a_grid_gets_a_point_that_is_no_ones():
    veil, matrix = veil_of(25 * RNG.permutation(3 * N)[:N])
    new = veil.over(matrix, np.array([-1.0]))
    assert not veil.covers(new).any()
    assert (new % 25 == 0).all()
    assert (np.abs(new - matrix) <= 10 * 25).all()


def test_rare_levels_and_what_has_no_stand_in_become_those_of_x():
    veil, matrix = veil_of(np.array(["u"] * 50 + ["v"] * 3))
    assert_array_equal(veil.over(matrix, np.array([0.0])), np.zeros((53, 1)))
    assert_array_equal(veil.over(matrix, np.array([1.0])), matrix)  # x's own is no one's secret
    veil, matrix = veil_of(np.arange(40))  # every integer in the range is someone's
    assert_array_equal(veil.over(matrix, np.array([7.0])), np.full((40, 1), 7.0))


def test_missing_cells_tell_nothing():
    veil, matrix = veil_of(np.append(RNG.normal(size=N), np.nan))
    assert not veil.covers(matrix)[-1, 0]
    assert np.isnan(veil.over(matrix, np.array([0.0]))[-1, 0])
