"""The mixture of Gaussians beside SciPy, by integrals, and on blobs that are known."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from countarfactuals.plausibility.mixture import Mixtures

from .tables import all_states, read, thirds


def fitted(X: pd.DataFrame, seed: int = 0) -> tuple[np.ndarray, Mixtures]:
    _, matrix, cells = read(X)
    mixtures = Mixtures.fit(cells, matrix, thirds(len(X)), np.random.default_rng(seed))
    assert mixtures is not None
    return matrix, mixtures


def blobs(n: int = 900, seed: int = 1) -> pd.DataFrame:
    """Two clear ones, at (0, 0) with weight 1/3 and correlation .9, and at (10, −10) with correlation −.5."""
    rng = np.random.default_rng(seed)
    first = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.9], [0.9, 1.0]], n)
    second = rng.multivariate_normal([10.0, -10.0], [[2.0, -1.0], [-1.0, 2.0]], n)
    is_first = rng.random(n) < 1 / 3
    rows = np.where(is_first[:, None], first, second)
    return pd.DataFrame({"x": rows[:, 0], "y": rows[:, 1], "side": np.where(is_first, "left", "right")})


def twin(mixtures: Mixtures, part: int, row: np.ndarray) -> float:
    """Log density of one row, cell by cell: an exact marginal Gaussian of its continuous cells, times shares."""
    cells, one = mixtures.cells, mixtures.parts[part]
    states = cells.states(row[None])[0]
    logs = one.log_weight.astype(float).copy()
    known = []
    for place, j in enumerate(cells.numbers.tolist()):
        if states[j] == 0:
            known.append(place)
    if known:
        scale = one.scale[known]
        values = row[cells.numbers[known]]
        for k in range(len(logs)):
            mean = one.centre[known] + scale * one.mean[k, known]
            covariance = one.covariance[k][np.ix_(known, known)] * np.outer(scale, scale)
            logs[k] += multivariate_normal(mean, covariance).logpdf(values)
    start = 0
    for j in cells.stated.tolist():
        size = int(cells.n_states[j]) + 1
        if states[j] < size - 1 or cells.has_gaps[j]:
            logs += one.log_share[:, start + states[j]]
        column = cells.columns[j]
        if column.is_number and len(column.atoms) and column.step > 0.0:
            is_atom = states[j] < size - 1 and (j not in cells.numbers or states[j] > 0)
            logs -= math.log(column.step) if is_atom else 0.0
        start += size
    return float(logsumexp(logs))


def test_log_density_equals_its_twin_with_levels_gaps_and_atoms():
    matrix, mixtures = fitted(all_states())
    rng = np.random.default_rng(0)
    mixed = np.column_stack([rng.permutation(column) for column in matrix.T])
    rows = np.concatenate([matrix[:40], mixed[:40]])
    assert np.isnan(rows).any(axis=1).sum() > 10
    rows[0], rows[1, 4] = np.nan, np.nan  # nothing is known; a gap where training had none
    each = np.array([[twin(mixtures, k, row) for row in rows] for k in range(3)])
    for k in range(3):
        np.testing.assert_allclose(mixtures.log_density(rows, k), each[k], atol=1e-9)
    np.testing.assert_allclose(mixtures.log_density(rows), logsumexp(each, axis=0) - math.log(3.0), atol=1e-9)
    cost = mixtures.cells.cost(mixtures.cells.states(rows))
    np.testing.assert_allclose(mixtures(rows), mixtures.log_density(rows) - cost, atol=1e-12)


def test_shares_of_states_sum_to_one():
    _, mixtures = fitted(all_states())
    for part in mixtures.parts:
        assert logsumexp(part.log_weight) == pytest.approx(0.0, abs=1e-9)
        start = 0
        for j in mixtures.cells.stated.tolist():
            size = int(mixtures.cells.n_states[j]) + 1
            np.testing.assert_allclose(logsumexp(part.log_share[:, start : start + size], axis=1), 0.0, atol=1e-12)
            start += size
        assert start == part.log_share.shape[1]


def test_one_column_with_an_atom_and_gaps_integrates_to_one():
    """The continuous part by a sum over a fine grid, and the probabilities of the atom and of a gap."""
    rng = np.random.default_rng(2)
    x = np.where(rng.random(800) < 0.25, 0.0, rng.normal(4.0, 1.5, 800) + 6.0 * (rng.random(800) < 0.4))
    x[rng.random(800) < 0.1] = np.nan
    X = pd.DataFrame({"x": x})
    schema, _, _ = read(X)
    assert schema.columns[0].atoms == (0.0,)
    assert schema.columns[0].step == 0.0
    _, mixtures = fitted(X)
    grid = np.linspace(-30.0, 50.0, 80_001) + 1e-7
    continuous = np.exp(mixtures.log_density(grid[:, None])).sum() * (grid[1] - grid[0])
    atom, gap = np.exp(mixtures.log_density(np.array([[0.0], [np.nan]])))
    assert continuous + atom + gap == pytest.approx(1.0, abs=1e-6)
    assert atom == pytest.approx((x == 0.0).mean(), abs=0.02)
    assert gap == pytest.approx(np.isnan(x).mean(), abs=0.02)


def test_two_columns_with_gaps_and_a_level_integrate_to_one():
    X = blobs()
    rng = np.random.default_rng(3)
    X.loc[rng.random(len(X)) < 0.15, "y"] = np.nan
    _, mixtures = fitted(X)
    step = 0.1
    axis_x, axis_y = np.arange(-12.0, 22.0, step), np.arange(-22.0, 12.0, step)
    total = 0.0
    for side in (0.0, 1.0):
        plane = np.array(np.meshgrid(axis_x, axis_y)).reshape(2, -1).T
        both = np.column_stack([plane, np.full(len(plane), side)])
        line = np.column_stack([axis_x, np.full(len(axis_x), np.nan), np.full(len(axis_x), side)])
        total += np.exp(mixtures.log_density(both)).sum() * step**2
        total += np.exp(mixtures.log_density(line)).sum() * step
    # a level that is missing was never seen, but keeps the weight of a third of a row in each component
    assert total == pytest.approx(1.0, abs=5e-3)
    assert total <= 1.0 + 1e-6


def test_two_blobs_are_found():
    X = blobs(1500)
    _, mixtures = fitted(X)
    for k, part in enumerate(mixtures.parts):
        assert len(part.log_weight) >= 4  # a single one can not
        rng = np.random.default_rng(k)
        fresh = blobs(2000, 50 + k)
        rows = np.column_stack([fresh["x"], fresh["y"], fresh["side"] == "right"]).astype(float)
        is_first = rows[:, 2] == 0.0
        true = np.where(
            is_first,
            math.log(1 / 3) + multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]]).logpdf(rows[:, :2]),
            math.log(2 / 3) + multivariate_normal([10, -10], [[2, -1], [-1, 2]]).logpdf(rows[:, :2]),
        )
        # what is lost against the truth, per row
        assert 0.0 <= (true - mixtures.log_density(rows, k)).mean() < 0.15
        between = rng.uniform([4.0, -6.0], [6.0, -4.0], (50, 2))
        empty = np.column_stack([between, np.zeros(50)])
        assert mixtures.log_density(empty, k).max() < np.quantile(mixtures.log_density(rows, k), 0.01)
        swapped = rows.copy()
        swapped[:, 2] = 1.0 - swapped[:, 2]
        assert (mixtures.log_density(swapped, k) < mixtures.log_density(rows, k) - 2.0).mean() > 0.99


def test_a_row_is_judged_by_itself():
    """To the last bit: not by the rows beside it, their number, nor their patterns of gaps."""
    matrix, mixtures = fitted(all_states())
    rows = matrix[:150]
    for part in (None, 1):
        together = mixtures(rows, part)
        np.testing.assert_array_equal(np.concatenate([mixtures(row[None], part) for row in rows]), together)
        order = np.random.default_rng(0).permutation(len(rows))
        np.testing.assert_array_equal(mixtures(rows[order], part), together[order])
        np.testing.assert_array_equal(mixtures(np.tile(rows, (3, 1)), part), np.tile(together, 3))
    assert len(mixtures(rows[:0])) == 0


def test_a_part_has_not_seen_its_rows():
    """Few rows allow but one component, so that nothing but the parts' own rows matters."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(100, 5)), columns=list("abcde"))
    _, matrix, cells = read(X)
    part_of = thirds(100)
    before = Mixtures.fit(cells, matrix, part_of, np.random.default_rng(0))
    assert before is not None
    assert len(before.parts[0].log_weight) == 1
    for k in range(3):
        changed = matrix.copy()
        changed[part_of == k] += 100.0 * rng.random((int((part_of == k).sum()), 5))
        after = Mixtures.fit(cells, changed, part_of, np.random.default_rng(0))
        assert after is not None
        for name in before.parts[k]._fields:
            np.testing.assert_array_equal(getattr(after.parts[k], name), getattr(before.parts[k], name))
        assert (after.parts[(k + 1) % 3].mean != before.parts[(k + 1) % 3].mean).any()


def test_rows_that_were_seen_look_more_plausible_than_they_are():
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(300, 8)))
    matrix, mixtures = fitted(X)
    part_of = thirds(300)
    unseen = np.concatenate([mixtures(matrix[part_of == k], k) for k in range(3)])
    seen = np.concatenate([mixtures(matrix[part_of == k], (k + 1) % 3) for k in range(3)])
    fresh = mixtures(rng.normal(size=(3000, 8)), 0)
    assert seen.mean() > unseen.mean() + 0.05
    error = 5 * unseen.std() / math.sqrt(300) + 5 * fresh.std() / math.sqrt(3000)  # error rate below 1e-6
    assert abs(unseen.mean() - fresh.mean()) < error


def test_the_same_bits_come_back_from_arrays():
    matrix, mixtures = fitted(all_states())
    again = Mixtures.restored(mixtures.cells, mixtures.arrays())
    for part in (None, 0, 1, 2):
        np.testing.assert_array_equal(again(matrix, part), mixtures(matrix, part))
    lacking = mixtures.arrays()
    del lacking["1.covariance"]
    with pytest.raises(KeyError):
        Mixtures.restored(mixtures.cells, lacking)


def test_the_seed_decides():
    X = all_states()
    matrix, one = fitted(X, 1)
    _, same = fitted(X, 1)
    _, other = fitted(X, 2)
    np.testing.assert_array_equal(one(matrix), same(matrix))
    assert (one(matrix) != other(matrix)).any()


def test_too_few_rows_have_no_mixture():
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.normal(size=(60, 19)))  # 40 rows for 6 · 20
    _, matrix, cells = read(X)
    assert Mixtures.fit(cells, matrix, thirds(60), rng) is None


def test_rows_that_all_lack_other_cells_have_no_mixture():
    rng = np.random.default_rng(7)
    X = pd.DataFrame(rng.normal(size=(600, 12))).mask(rng.random((600, 12)) < 0.5)
    _, matrix, cells = read(X)
    assert Mixtures.fit(cells, matrix, thirds(600), rng) is None


@pytest.mark.parametrize("unit", [100.0, 1e-6])
def test_units_do_not_matter(unit):
    X = all_states()
    matrix, one = fitted(X)
    other_matrix, other = fitted(X.assign(height=X["height"] * unit))
    differences = other(other_matrix) - one(matrix)  # all rows, those with gaps too, move by the same constant
    np.testing.assert_allclose(differences, -math.log(unit), atol=1e-6)


def test_a_table_of_levels_alone_has_shares_only():
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"a": rng.choice(["x", "y"], 300, p=[0.2, 0.8]), "b": rng.choice(["u", "v", "w"], 300)})
    matrix, mixtures = fitted(X)
    grid = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0, 2.0)])
    p = np.exp(mixtures.log_density(grid))
    assert p.sum() == pytest.approx(1.0, abs=0.01)
    assert p[:3].sum() == pytest.approx((matrix[:, 0] == 0).mean(), abs=0.02)
