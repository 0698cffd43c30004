"""Operators: what they never do, for tables of all kinds, and the distributions they draw from, against scipy."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from countarfactuals.objectives import changed
from countarfactuals.search import (
    beyond,
    gaussian_mutation,
    level_mutation,
    reset,
    sbx,
    uniform_mutation,
)

INF, NAN = math.inf, math.nan
P_VALUE = 1e-4  # seeds are fixed: a failure is a change of the code, not bad luck


class Table(NamedTuple):
    """Rows of real numbers, numbers of two decimals, integers, levels, and a column that may not change."""

    rows: np.ndarray
    others: np.ndarray
    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    step: np.ndarray
    sd: np.ndarray
    is_real: np.ndarray
    levels: list[np.ndarray | None]
    rng: np.random.Generator


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Limits may be infinite, narrower than a step, or exclude x; any cell may be missing; inputs are read-only."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, missing = draw(st.integers(1, 12)), draw(st.sampled_from([0.0, 0.3]))
    low, high = np.sort(np.round(rng.normal(0.0, 3.0, (2, 5)), draw(st.integers(0, 4))), axis=0)
    low[rng.random(5) < 0.2], high[rng.random(5) < 0.2] = -INF, INF
    allowed = rng.random(4) < 0.6
    everything = np.concatenate([_cells(n, rng), _cells(n, rng), _cells(1, rng)])
    low[4] = high[4] = everything[:, 4] = 1.25
    everything[rng.random(everything.shape) < missing] = NAN
    table = Table(
        everything[:n],
        everything[n:-1],
        everything[-1],
        low,
        high,
        np.array([0.0, 0.01, 1.0, 0.0, 0.0]),
        np.array([rng.choice([1e-9, 1.0, 1e6]), 1.0, 2.0, 0.0, 1.0]),
        np.array([True, True, False, False, True]),
        [None, None, None, allowed, None],
        rng,
    )
    for array in (*table[:8], allowed):
        array.flags.writeable = False
    return table


def _cells(n: int, rng: np.random.Generator) -> np.ndarray:
    columns = [
        rng.normal(0.0, 3.0, n),
        np.rint(rng.normal(0.0, 300.0, n)) / 100.0,
        np.rint(rng.normal(0.0, 5.0, n)),
        rng.integers(0, 4, n),
        np.zeros(n),
    ]
    return np.column_stack(columns).astype(np.float64)


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a == b) | (np.isnan(a) & np.isnan(b))


def assert_made_well(table: Table, rows: np.ndarray, *old: np.ndarray) -> None:
    """Cells that are not old ones of their place lie within the limits and on the grid."""
    is_old = np.any([same(rows, some) for some in old], axis=0)
    assert (is_old | ((table.low <= rows) & (rows <= table.high))).all()
    assert same(rows[:, 1], np.round(rows[:, 1], 2)).all()
    assert same(rows[:, 2], np.rint(rows[:, 2])).all()
    assert is_old[:, 4].all()


# Properties


@given(tables(), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.5, 5.0, 20.0]))
def test_crossing_makes_only_allowed_cells(table: Table, probability: float, eta: float) -> None:
    a, b = sbx(
        table.rows,
        table.others,
        table.low,
        table.high,
        probability,
        eta,
        is_real=table.is_real,
        step=table.step,
        rng=table.rng,
    )
    for children in (a, b):
        assert_made_well(table, children, table.rows, table.others)
    exchanged = ~table.is_real | np.isnan(table.rows) | np.isnan(table.others)
    for one, other in ((a, b), (b, a)):  # what is not crossed is exchanged: no cell is lost, none comes twice
        assert (same(one, table.rows) == same(other, table.others))[exchanged].all()
    equal = same(table.rows, table.others)
    assert same(a, table.rows)[equal].all()
    assert same(b, table.rows)[equal].all()
    if probability == 0.0:
        assert same(a, table.rows).all()
        assert same(b, table.others).all()


@given(tables(), st.sampled_from([0.0, 0.5, 1.0]))
def test_gaussian_mutation_makes_only_allowed_cells(table: Table, probability: float) -> None:
    rows = gaussian_mutation(table.rows, table.sd, table.low, table.high, table.step, probability, table.rng)
    assert_made_well(table, rows, table.rows)
    assert (np.isnan(rows) == np.isnan(table.rows)).all()
    assert same(rows[:, 3], table.rows[:, 3]).all()  # its sd is 0
    if probability == 0.0:
        assert same(rows, table.rows).all()


@given(tables(), st.sampled_from([0.0, 0.5, 1.0]))
def test_level_mutation_makes_only_allowed_cells(table: Table, probability: float) -> None:
    rows = level_mutation(table.rows, table.levels, probability, table.rng)
    others = [0, 1, 2, 4]
    assert same(rows[:, others], table.rows[:, others]).all()
    allowed = table.levels[3]
    assert allowed is not None
    drawn = ~same(rows[:, 3], table.rows[:, 3])
    assert allowed[rows[drawn, 3].astype(int)].all()
    if probability == 1.0 and allowed.any():  # a missing level is replaced too
        assert allowed[rows[:, 3].astype(int)].all()
    if probability == 0.0 or not allowed.any():
        assert not drawn.any()


def limited(rows: np.ndarray, x: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return reset(rows, x, beyond(changed(rows, x), most, np.arange(len(x)), rng))


@given(tables(), st.integers(0, 6))
def test_changes_are_limited(table: Table, most: int) -> None:
    rows = limited(table.rows, table.x, most, table.rng)
    before = changed(table.rows, table.x).sum(axis=1)
    assert (changed(rows, table.x).sum(axis=1) == np.minimum(before, most)).all()
    assert (same(rows, table.rows) | same(rows, table.x)).all()


@given(tables(), st.integers(0, 4))
def test_units_are_put_back_as_a_whole(table: Table, most: int) -> None:
    differs = changed(table.rows, table.x)
    unit = np.array([0, 0, 2, 2, 4])
    cells = beyond(differs, most, unit, table.rng)
    assert ((differs & ~cells).sum(axis=1) <= most).all()
    assert not (cells & ~differs).any()
    for k in np.unique(unit):
        of_unit = cells[:, unit == k] == differs[:, unit == k]
        assert (of_unit.all(axis=1) | ~cells[:, unit == k].any(axis=1)).all()


@given(tables())
def test_reset_cells_are_those_of_x(table: Table) -> None:
    cells = table.rng.random(table.rows.shape) < 0.5
    rows = reset(table.rows, table.x, cells)
    assert same(rows, np.where(cells, table.x, table.rows)).all()


@given(tables())
def test_the_same_generator_gives_the_same_rows(table: Table) -> None:
    def everything(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        limits = (table.low, table.high)
        a, _ = sbx(table.rows, table.others, *limits, 0.7, 2.0, is_real=table.is_real, step=table.step, rng=rng)
        a = gaussian_mutation(a, table.sd, *limits, table.step, 0.7, rng)
        a = level_mutation(a, table.levels, 0.7, rng)
        return limited(a, table.x, 2, rng)

    assert everything(5).tobytes() == everything(5).tobytes()


# Distributions


def crossed(n: int, a: float, b: float, low: float, high: float, eta: float, seed: int) -> tuple[np.ndarray, ...]:
    return tuple(
        children[:, 0]
        for children in sbx(
            np.full((n, 1), a),
            np.full((n, 1), b),
            np.array([low]),
            np.array([high]),
            1.0,
            eta,
            is_real=np.array([True]),
            step=np.zeros(1),
            rng=np.random.default_rng(seed),
        )
    )


@pytest.mark.parametrize("eta", [0.5, 2.0, 15.0])
def test_the_spread_of_children_is_that_of_binary_crossover(eta: float) -> None:
    a, b = crossed(5000, 1.0, 3.0, -INF, INF, eta, 1)
    np.testing.assert_allclose(a + b, 4.0)  # the mean of the parents is kept
    spread = np.abs(a - b) / 2.0

    def cdf(beta: np.ndarray) -> np.ndarray:
        return np.where(beta <= 1.0, 0.5 * beta ** (eta + 1), 1.0 - 0.5 * np.maximum(beta, 1.0) ** -(eta + 1))

    assert stats.kstest(spread, cdf).pvalue > P_VALUE
    assert abs((a < b).mean() - 0.5) < 0.03  # a child of the lower parent is as likely the first as the second


def test_the_spread_is_cut_at_the_limits_not_piled_up_there() -> None:
    a, b = crossed(5000, 1.0, 3.0, 0.5, 3.1, 1.0, 2)
    for children, most in ((np.minimum(a, b), 1.5), (np.maximum(a, b), 1.1)):
        spread = np.abs(children - 2.0)
        total = 1.0 - 0.5 * most**-2.0

        def cdf(beta: np.ndarray, total: float = total) -> np.ndarray:
            return np.where(beta <= 1.0, 0.5 * beta**2, 1.0 - 0.5 * np.maximum(beta, 1.0) ** -2.0) / total

        assert stats.kstest(spread, cdf).pvalue > P_VALUE
        assert spread.max() <= most + 1e-12


def test_features_are_recombined_as_often_as_is_said() -> None:
    n, rng = 20_000, np.random.default_rng(3)
    no_limits = np.full(2, INF)
    parents = np.zeros((n, 2)), np.ones((n, 2))
    probability = np.where(rng.random((n, 1)) < 0.71, 0.62, 0.0)
    a, _ = sbx(
        *parents, -no_limits, no_limits, probability, 2.0, is_real=np.array([True, False]), step=np.zeros(2), rng=rng
    )
    taken = a != 0.0
    assert taken.mean(axis=0) == pytest.approx([0.71 * 0.62] * 2, abs=0.015)
    assert taken[(probability == 0.0).ravel()].sum() == 0
    assert taken[(probability > 0.0).ravel()].mean() == pytest.approx(0.62, abs=0.015)


@pytest.mark.parametrize(
    ("mean", "sd", "low", "high"),
    [
        (0.0, 1.0, -INF, INF),
        (0.5, 2.0, 0.5, INF),
        (0.5, 2.0, 0.0, 4.9),
        (0.5, 2.0, 0.0, 5.1),
        (0.9, 0.5, 0.0, 1.0),
        (0.2, 100.0, 0.0, 1.0),
    ],
)
def test_moves_are_truncated_normal(mean: float, sd: float, low: float, high: float) -> None:
    rows = np.full((4000, 1), mean)
    limits = np.array([low]), np.array([high])
    moved = gaussian_mutation(rows, np.array([sd]), *limits, np.zeros(1), 1.0, np.random.default_rng(4))
    expected = stats.truncnorm((low - mean) / sd, (high - mean) / sd, mean, sd)
    assert stats.kstest(moved[:, 0], expected.cdf).pvalue > P_VALUE


def test_a_cell_outside_the_limits_moves_inside() -> None:
    moved = gaussian_mutation(
        np.full((50, 1), -7.0), np.ones(1), np.zeros(1), np.ones(1), np.zeros(1), 1.0, np.random.default_rng(0)
    )
    assert ((moved >= 0.0) & (moved <= 1.0)).all()


def test_grid_points_are_the_floats_of_the_data() -> None:
    moved = gaussian_mutation(
        np.full((500, 1), 0.3), np.ones(1), -np.ones(1), np.ones(1), np.array([0.1]), 1.0, np.random.default_rng(0)
    )
    assert set(moved[:, 0].tolist()) <= {k / 10 for k in range(-10, 11)}
    assert 0.3 in moved


def test_cells_are_rounded_inside_limits_that_are_off_the_grid() -> None:
    limits = np.array([0.24]), np.array([0.38])  # what lies near the ends would round to .2 and .4
    rng = np.random.default_rng(0)
    rows = np.full((200, 1), 0.9)
    moved = gaussian_mutation(rows, np.ones(1), *limits, np.array([0.1]), 1.0, rng)
    assert set(moved.ravel().tolist()) == {0.3}


def test_limits_without_a_grid_point_leave_cells_alone() -> None:
    limits = np.array([0.2]), np.array([0.8])
    rng = np.random.default_rng(0)
    rows = np.full((20, 1), 3.0)
    assert (gaussian_mutation(rows, np.ones(1), *limits, np.ones(1), 1.0, rng) == rows).all()
    a, b = sbx(rows, rows + 2.0, *limits, 1.0, 2.0, is_real=np.array([True]), step=np.ones(1), rng=rng)
    assert set(a.ravel().tolist()) | set(b.ravel().tolist()) <= {3.0, 5.0}


def test_impossible_limits_leave_cells_alone() -> None:
    rows = np.arange(4.0)[:, None]
    limits = np.array([INF]), np.array([-INF])
    rng = np.random.default_rng(0)
    assert (gaussian_mutation(rows, np.ones(1), *limits, np.zeros(1), 1.0, rng) == rows).all()
    a, b = sbx(rows, rows + 9.0, *limits, 1.0, 2.0, is_real=np.array([True]), step=np.zeros(1), rng=rng)
    assert (np.sort(np.concatenate([a, b], axis=1)) == np.concatenate([rows, rows + 9.0], axis=1)).all()


def test_allowed_levels_are_drawn_alike() -> None:
    allowed = np.array([True, False, True, False, True])
    rows = level_mutation(np.zeros((9000, 1)), [allowed], 1.0, np.random.default_rng(5))
    counts = np.bincount(rows[:, 0].astype(int), minlength=5)
    assert counts[~allowed].sum() == 0
    assert stats.chisquare(counts[allowed]).pvalue > P_VALUE


def test_every_change_is_as_likely_taken_back() -> None:
    rows = limited(np.ones((9000, 4)), np.array([0.0, 0.0, 1.0, 0.0]), 2, np.random.default_rng(6))
    assert rows.mean(axis=0) == pytest.approx([2 / 3, 2 / 3, 1.0, 2 / 3], abs=0.02)


# Uniform numbers


@given(tables(), st.sampled_from([0.0, 0.4, 1.0]))
def test_uniform_numbers_are_allowed_and_on_the_grid(table: Table, probability: float):
    low, high = np.where(np.isinf(table.low), -9.5, table.low), np.where(np.isinf(table.high), 9.5, table.high)
    low[3], high[3] = INF, -INF
    before = table.rows.copy()
    rows = uniform_mutation(table.rows, low, high, table.step, probability, table.rng)
    np.testing.assert_array_equal(table.rows, before)
    np.testing.assert_array_equal(rows[:, 3], table.rows[:, 3])
    differs = changed(rows, table.rows) if len(rows) else np.zeros_like(rows, np.bool_)
    assert not differs.any() or probability > 0
    i, j = np.nonzero((rows != table.rows) & ~(np.isnan(rows) & np.isnan(table.rows)))
    assert ((rows[i, j] >= low[j]) & (rows[i, j] <= high[j])).all()
    on_grid = j[table.step[j] > 0]
    cells = rows[i, j][table.step[j] > 0]
    np.testing.assert_array_equal(np.round(cells, 2), cells)
    assert (cells[on_grid == 2] == np.rint(cells[on_grid == 2])).all()
    if probability == 1.0:
        has_point = np.ceil(low[2]) <= np.floor(high[2])
        assert not np.isnan(rows[:, [0, *([2] if has_point else [])]]).any()


def test_every_grid_point_between_the_limits_is_as_likely():
    rng = np.random.default_rng(5)
    low, high, step = np.array([-0.45, 0.104, 2.0]), np.array([3.7, 0.2, 2.0]), np.array([1.0, 0.01, 0.0])
    rows = uniform_mutation(np.full((4000, 3), NAN), low, high, step, 1.0, rng)
    for j, points in ((0, np.arange(4.0)), (1, np.arange(11, 21) / 100)):
        values, counts = np.unique(rows[:, j], return_counts=True)
        np.testing.assert_array_equal(values, points)
        assert stats.chisquare(counts).pvalue > P_VALUE
    assert (rows[:, 2] == 2.0).all()


def test_real_numbers_are_uniform_between_limits_of_their_own():
    rng = np.random.default_rng(6)
    low = np.repeat([[0.0], [10.0]], 1000, axis=0)
    rows = uniform_mutation(np.zeros((2000, 1)), low, low + 4.0, np.zeros(1), 1.0, rng)
    assert stats.kstest((rows - low).ravel() / 4.0, "uniform").pvalue > P_VALUE
    half = uniform_mutation(np.full((2000, 1), -1.0), np.zeros(1), np.ones(1), np.zeros(1), 0.5, rng)
    assert 900 < (half == -1.0).sum() < 1100
