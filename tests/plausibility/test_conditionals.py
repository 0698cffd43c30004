"""Each column given the others: broken dependence is seen in the right column, and nothing else decides."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from countarfactuals.plausibility.conditionals import _GRID, _REACH, Conditionals, _residual_density, _residual_log_p

from .tables import all_states, read, sums, thirds

A, B, C, D, CHILD, LICENCE = range(6)


@cache
def of_sums() -> tuple[np.ndarray, Conditionals]:
    _, matrix, cells = read(sums(1500))
    return matrix, Conditionals.fit(cells, matrix, thirds(1500), np.random.default_rng(0))


@cache
def of_all_states() -> tuple[np.ndarray, Conditionals]:
    _, matrix, cells = read(all_states())
    return matrix, Conditionals.fit(cells, matrix, thirds(len(matrix)), np.random.default_rng(0))


def fresh(n: int = 400) -> np.ndarray:
    schema, _, _ = read(sums(1500))
    return schema.encode(sums(n, seed=9))


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_broken_sum_is_far_less_probable(part):
    _, judge = of_sums()
    rows = fresh()
    real = judge.cell_log_p(rows, part)
    broken = rows.copy()
    broken[:, C] += 3.0  # one spread of c, thirty of its noise
    odd = judge.cell_log_p(broken, part)
    drop = real - odd
    assert np.median(drop[:, C]) > 4.0
    assert (odd[:, C] < np.quantile(real[:, C], 0.01)).mean() > 0.95
    np.testing.assert_allclose(np.abs(drop[:, [D, CHILD, LICENCE]]).mean(), 0.0, atol=0.5)


def test_a_broken_implication_is_far_less_probable():
    _, judge = of_sums()
    rows = fresh()
    children = rows[rows[:, CHILD] == 1.0]
    broken = children.copy()
    broken[:, LICENCE] = 1.0
    drop = judge.cell_log_p(children, 0) - judge.cell_log_p(broken, 0)
    for column in (CHILD, LICENCE):  # whoever has a licence is no child, and the other way round
        assert np.median(drop[:, column]) > 3.0
    assert np.abs(drop[:, [A, B, C, D]]).mean() < 0.3


def test_what_is_independent_has_its_own_distribution():
    """d is standard normal whatever stands beside it; what a thousand rows tell of that errs by a quarter of a nat."""
    _, judge = of_sums()
    rows = fresh(2000)
    inside = np.abs(rows[:, D]) < 2.5
    true = -0.5 * rows[inside, D] ** 2 - 0.5 * math.log(2.0 * math.pi)
    assert np.abs(judge.cell_log_p(rows, 0)[inside, D] - true).mean() < 0.25
    shares = judge.cell_log_p(rows, 0)[:, LICENCE][(rows[:, CHILD] == 0.0) & (rows[:, LICENCE] == 1.0)]
    assert np.exp(shares).mean() == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("column", ["height", "debt"])
def test_the_cell_of_a_number_has_a_density_that_integrates_to_one(column):
    """Over all numbers, its atom and the gap, given the rest of some rows."""
    matrix, judge = of_all_states()
    j = judge.cells.columns.index(next(c for c in judge.cells.columns if c.name == column))
    known = matrix[~np.isnan(matrix[:, j]), j]
    step = judge.cells.columns[j].step
    assert (step > 0.0) == (column == "debt")
    width = np.ptp(known) / 4000
    grid = np.arange(known.min() - 30 * known.std(), known.max() + 30 * known.std(), width)
    grid = grid[grid != 0.0] + 1e-9
    cost = judge.cells.entropy[j]
    for row in matrix[:5]:
        rows = np.tile(row, (len(grid) + 2, 1))
        rows[:-2, j], rows[-2, j], rows[-1, j] = grid, 0.0, np.nan
        log_p = judge.cell_log_p(rows, 1)[:, j]
        total = np.exp(log_p[:-2]).sum() * width + np.exp(log_p[-1] + cost)
        if column == "debt":
            total += np.exp(log_p[-2] + math.log(step))
        assert total == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("column", ["term", "job", "owner"])
def test_the_states_of_a_cell_sum_to_one(column):
    matrix, judge = of_all_states()
    j = next(j for j, c in enumerate(judge.cells.columns) if c.name == column)
    one = judge.cells.columns[j]
    values = [*one.atoms, -1.0] if one.is_number else [float(k) for k in range(one.n_levels)]
    for row in matrix[:5]:
        rows = np.tile(row, (len(values) + 1, 1))
        rows[:, j] = [*values, np.nan]
        log_p = judge.cell_log_p(rows, 0)[:, j]
        if one.is_number:
            log_p[:-1] += math.log(one.step)
        gap = math.exp(log_p[-1] + judge.cells.entropy[j]) if judge.cells.has_gaps[j] else 0.0
        # a gap that training never had keeps the share that half a row gives it
        assert np.exp(log_p[:-1]).sum() + gap == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("kind", ["normal", "two sides", "few", "none", "wide"])
def test_the_density_of_residuals_integrates_to_one(kind):
    rng = np.random.default_rng(0)
    residuals = {
        "normal": rng.normal(size=500),
        "two sides": rng.choice([-1.0, 1.0], 500) + 0.1 * rng.normal(size=500),
        "few": rng.normal(size=3),
        "none": np.full(5, np.nan),
        "wide": 2.0 * rng.standard_t(4, 500),
    }[kind]
    density = _residual_density(residuals)
    assert density.shape == (_GRID,)
    x = np.linspace(-400.0, 400.0, 800_001)
    total = np.exp(_residual_log_p(x, density)).sum() * (x[1] - x[0])
    assert total == pytest.approx(1.0, abs=0.02 if kind == "wide" else 2e-3)


def test_the_density_of_residuals_is_that_of_the_residuals():
    rng = np.random.default_rng(1)
    density = _residual_density(rng.normal(size=4000))
    x = np.linspace(-2.0, 2.0, 41)
    true = -0.5 * x**2 - 0.5 * math.log(2.0 * math.pi)
    np.testing.assert_allclose(_residual_log_p(x, density), true, atol=0.2)
    far = _residual_log_p(np.array([_REACH - 0.1, _REACH + 0.1, 100.0, 1e6]), density)
    assert (np.diff(far) < 0.0).all()  # farther is less probable, without end
    assert np.isfinite(far).all()


def test_a_row_is_judged_by_itself():
    """To the last bit."""
    matrix, judge = of_all_states()
    rows = matrix[:60]
    together = judge.cell_log_p(rows, 2)
    np.testing.assert_array_equal(np.concatenate([judge.cell_log_p(row[None], 2) for row in rows]), together)
    np.testing.assert_array_equal(judge.cell_log_p(np.tile(rows[::-1], (20, 1)), 2), np.tile(together[::-1], (20, 1)))
    assert judge.cell_log_p(rows[:0], 0).shape == (0, 5)


def test_one_column_is_the_mean_of_the_parts():
    matrix, judge = of_all_states()
    each = np.array([judge.cell_log_p(matrix[:50], k) for k in range(3)])
    for j in range(5):
        np.testing.assert_allclose(judge.column_log_p(matrix[:50], j), each[:, :, j].mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("shape", [np.square, lambda h: np.sin(1.5 * h), np.abs], ids=["bow", "wave", "corner"])
def test_a_shape_of_a_sum_is_seen(shape):
    """Of ten columns four add up to what a fifth is a shape of: a bow has no slope, and no pair of columns tells it."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(2000, 10)), columns=list("abcdefghij"))
    X["j"] = shape(X[["a", "b", "c", "d"]].sum(axis=1) / 2.0) + 0.1 * rng.normal(size=2000)
    _, matrix, cells = read(X)
    judge = Conditionals.fit(cells, matrix, thirds(2000), np.random.default_rng(0))
    held = thirds(2000) == 0
    log_p = judge.cell_log_p(matrix[held], 0)[:, -1]
    alone = -0.5 - np.log(X["j"].std()) - 0.5 * np.log(2.0 * np.pi)  # of a normal column that knows of no others
    assert log_p.mean() > alone + 0.5


def test_residuals_bend_along_the_sum_that_they_are_a_shape_of():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(2000, 6)), columns=list("abcdef"))
    X["f"] = X[["a", "b", "c"]].sum(axis=1) ** 2 + 0.1 * rng.normal(size=2000)
    _, matrix, cells = read(X)
    judge = Conditionals.fit(cells, matrix, thirds(2000), np.random.default_rng(0))
    for part in judge.parts:
        direction = part.direction[-1, 1]
        assert direction[:3].sum() / np.sqrt(3.0) / np.linalg.norm(direction) > 0.98  # the cosine
        assert direction[-1] == 0.0  # its own cell does not count


def test_the_own_cell_tells_nothing():
    """What is said of the other columns' models does not count: the spread and the mean of a cell are not its own."""
    matrix, judge = of_sums()
    rows = np.tile(matrix[0], (50, 1))
    rows[:, D] = np.linspace(-3.0, 3.0, 50)
    log_p = judge.cell_log_p(rows, 0)[:, D]
    assert (np.diff(log_p[:20]) > -0.1).all()  # one smooth peak, as d is normal whatever stands beside it
    assert (np.diff(log_p[-20:]) < 0.1).all()


def test_the_same_bits_come_back_from_arrays():
    for matrix, judge in (of_all_states(), of_sums()):
        again = Conditionals.restored(judge.cells, judge.arrays())
        for k in range(3):
            np.testing.assert_array_equal(again.cell_log_p(matrix, k), judge.cell_log_p(matrix, k))
        lacking = judge.arrays()
        del lacking["2.direction"]
        with pytest.raises((KeyError, AssertionError)):
            Conditionals.restored(judge.cells, {**lacking, "9.direction": judge.parts[0].direction})


def test_a_part_has_not_seen_its_rows():
    """The cells of the rows of a part change places within their columns: all that is shared stays as it is."""
    _, matrix, cells = read(sums(600))
    part_of = thirds(600)
    rng = np.random.default_rng(1)
    before = Conditionals.fit(cells, matrix, part_of, np.random.default_rng(0))
    for k in range(3):
        own = np.flatnonzero(part_of == k)
        changed = matrix.copy()
        changed[own] = np.column_stack([rng.permutation(column) for column in matrix[own].T])
        after = Conditionals.fit(cells, changed, part_of, np.random.default_rng(0))
        np.testing.assert_allclose(after.parts[k].direction, before.parts[k].direction, atol=1e-9)
        for ours, theirs in zip(after.parts[k].number, before.parts[k].number, strict=True):
            np.testing.assert_allclose(ours.value, theirs.value, atol=1e-6)
        other = (k + 1) % 3
        assert np.abs(after.parts[other].direction - before.parts[other].direction).max() > 0.01


def test_rows_that_were_seen_surprise_less():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(240, 5)))
    _, matrix, cells = read(X)
    part_of = thirds(240)
    judge = Conditionals.fit(cells, matrix, part_of, np.random.default_rng(0))
    at = [np.flatnonzero(part_of == k) for k in range(3)]
    unseen = np.concatenate([judge.cell_log_p(matrix[at[k]], k).sum(axis=1) for k in range(3)])
    seen = np.concatenate([judge.cell_log_p(matrix[at[k]], (k + 1) % 3).sum(axis=1) for k in range(3)])
    assert seen.mean() > unseen.mean() + 0.3


def test_the_seed_decides():
    _, matrix, cells = read(all_states(300))
    one, same, other = (
        Conditionals.fit(cells, matrix, thirds(300), np.random.default_rng(seed)).cell_log_p(matrix, 0)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize("unit", [100.0, 1e-3])
def test_units_do_not_matter(unit):
    """In other units each cell's log p moves by a constant, that of a gap or an atom along with the others."""
    X = all_states(600)
    other_X = X.assign(height=X["height"] * unit)
    seen = []
    for frame in (X, other_X):
        _, matrix, cells = read(frame)
        judge = Conditionals.fit(cells, matrix, thirds(600), np.random.default_rng(0))
        seen.append(judge.cell_log_p(matrix, 0))
    shift = (seen[1] - seen[0])[:, 0]
    np.testing.assert_allclose(shift, -math.log(unit), atol=1e-6)
    np.testing.assert_allclose(seen[1][:, 1:], seen[0][:, 1:], atol=1e-6)


def test_many_levels_are_told_apart_by_their_frequency():
    rng = np.random.default_rng(3)
    town = rng.zipf(1.5, 600) % 200
    X = pd.DataFrame({"town": town.astype(str), "x": rng.normal(size=600) + (town == 1), "y": rng.normal(size=600)})
    _, matrix, cells = read(X)
    judge = Conditionals.fit(cells, matrix, thirds(600), np.random.default_rng(0))
    assert np.isfinite(judge.cell_log_p(matrix, 0)).all()
    counts = np.bincount(matrix[:, 0].astype(int))
    rows = matrix[thirds(600) == 0]  # which part 0 has not seen
    rows[:, 0] = counts.argmax()
    assert np.exp(judge.cell_log_p(rows, 0)[:, 0]).mean() == pytest.approx(counts.max() / 600, abs=0.1)
    rarest = np.argsort(counts)[:2]
    by_level = []
    for level in rarest:  # rare levels count as one
        rows[:, 0] = level
        by_level.append(judge.cell_log_p(rows, 0)[:, 0])
    np.testing.assert_array_equal(*by_level)


@pytest.mark.parametrize("n_known", [1, 2])
def test_a_number_that_hardly_any_row_has_is_no_obstacle(n_known):
    """All rows that have it may be of one part, whose models then have nothing to learn from."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
    X.loc[n_known:, "d"] = np.nan
    _, matrix, cells = read(X)
    judge = Conditionals.fit(cells, matrix, np.arange(150) // 50, np.random.default_rng(0))
    assert np.isfinite(judge.cell_log_p(matrix, 0)).all()
