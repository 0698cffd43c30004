"""Distances and dominance, each against a slow twin in plain Python, stored output of R, or a case done by hand."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import moocore
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals.objectives import (
    Gower,
    changed,
    dominated_by,
    hypervolume,
    n_changed,
    nondominated,
    pareto_layers,
)
from countarfactuals.schema import Column, Kind, Schema

REFERENCE = Path(__file__).parent / "reference"
NAN = math.nan
SCHEMA = Schema(
    (
        Column("real", Kind.REAL),
        Column("integer", Kind.INTEGER, decimals=0),
        Column("constant", Kind.REAL),
        Column("boolean", Kind.BOOLEAN, (False, True)),
        Column("category", Kind.CATEGORY, ("a", "b", "c")),
        Column("ordered", Kind.ORDERED, ("low", "mid", "high", "top")),
    ),
    "pandas",
)


def random_rows(rng: np.random.Generator, n: int, missing: float = 0.15, outside: bool = False) -> np.ndarray:
    """Rows of all kinds; with `outside`, numbers beyond the range of other such rows, and the constant is none."""
    spread = 3.0 if outside else 1.0
    rows = np.column_stack(
        [
            rng.uniform(-spread, spread, n),
            rng.integers(0, int(10 * spread), n),
            np.full(n, 7.0) + (rng.integers(0, 2, n) if outside else 0),
            rng.integers(0, 2, n),
            rng.integers(0, 3, n),
            rng.integers(0, 4, n),
        ]
    ).astype(np.float64)
    rows[rng.random(rows.shape) < missing] = NAN
    rows[0] = [0.5, 3, 7, 0, 1, 2]  # no column is all missing
    return rows


# Twins


def slow_term(a: float, b: float, column: Column, known: list[float]) -> float:
    if math.isnan(a) or math.isnan(b):
        return 0.0 if math.isnan(a) and math.isnan(b) else 1.0
    if a == b:
        return 0.0
    if column.kind in (Kind.BOOLEAN, Kind.CATEGORY):
        return 1.0
    length = len(column.levels) - 1 if column.kind is Kind.ORDERED else max(known) - min(known)
    return 1.0 if length == 0 else min(1.0, abs(a - b) / length)


def slow_gower(x, row, data, weights) -> float:
    total = 0.0
    for j, column in enumerate(SCHEMA.columns):
        known = [value for value in data[:, j].tolist() if not math.isnan(value)]
        total += weights[j] / sum(weights) * slow_term(float(row[j]), float(x[j]), column, known)
    return total


def beats(a, b) -> bool:
    """Whether a is nowhere worse than b and somewhere better."""
    return all(p <= q for p, q in zip(a, b, strict=True)) and any(p < q for p, q in zip(a, b, strict=True))


def slow_nondominated(values) -> list[bool]:
    rows = [tuple(row) for row in values.tolist()]
    return [not any(beats(other, row) for other in rows) and row not in rows[:i] for i, row in enumerate(rows)]


def slow_layers(values) -> list[int]:
    rows = {i: tuple(row) for i, row in enumerate(values.tolist())}
    layer = [-1] * len(rows)
    while rows:
        front = [i for i in rows if not any(beats(other, rows[i]) for other in rows.values())]
        depth = max(layer) + 1
        for i in front:
            layer[i] = depth
            del rows[i]
    return layer


def slow_hypervolume(values, reference) -> float:
    """Volume of a union of boxes by inclusion and exclusion."""
    boxes = [row for row in values.tolist() if all(v < r for v, r in zip(row, reference, strict=True))]
    total = 0.0
    for size in range(1, len(boxes) + 1):
        for chosen in itertools.combinations(boxes, size):
            corner = [max(cells) for cells in zip(*chosen, strict=True)]
            total += (-1) ** (size + 1) * math.prod(r - v for v, r in zip(corner, reference, strict=True))
    return total


# Gower


def test_gower_equals_that_of_r():
    """R's package gower takes the ranges from its two arguments together: here 30 rows and one row."""
    train = pd.read_csv(REFERENCE / "mixed" / "train.csv")
    stored = pd.read_csv(REFERENCE / "gower_r_mixed.csv").to_numpy()
    schema = Schema.infer(train)
    matrix = schema.encode(train)
    assert stored.shape == (30, 10)
    for k in range(10):
        rows, x = matrix[:30], matrix[200 + k]
        ours = Gower.of(schema, np.vstack([rows, x])).to(x, rows)
        np.testing.assert_allclose(ours, stored[:, k], rtol=0, atol=1e-9)


@pytest.mark.parametrize("outside", [False, True])
def test_gower_equals_its_twin(outside):
    rng = np.random.default_rng(1)
    data, rows = random_rows(rng, 40), random_rows(rng, 60, outside=outside)
    for x in random_rows(rng, 10, outside=outside):
        weights = rng.uniform(0.0, 5.0, 6)
        plain, weighted = Gower.of(SCHEMA, data), Gower.of(SCHEMA, data, weights)
        np.testing.assert_allclose(plain.to(x, rows), [slow_gower(x, row, data, [1] * 6) for row in rows], atol=1e-12)
        expected = [slow_gower(x, row, data, weights.tolist()) for row in rows]
        np.testing.assert_allclose(weighted.to(x, rows), expected, atol=1e-12)
        np.testing.assert_array_equal(weighted.to(x, rows), plain.weighted(weights).to(x, rows))


def test_gower_by_hand():
    data = np.array([[0.0, 0, 7, 0, 0, 0], [4.0, 10, 7, 1, 2, 1]])
    gower = Gower.of(SCHEMA, data)
    x = np.array([1.0, 5, 7, 0, 0, 0])
    rows = np.array(
        [
            x,
            [2.0, 5, 7, 0, 0, 0],  # a quarter of the range of 4
            [9.0, 5, 7, 0, 0, 0],  # twice the range counts once
            [1.0, 5, 8, 0, 0, 0],  # a column that never varied
            [1.0, 5, 7, 1, 2, 2],  # two levels, and two of three ranks, though the data has ranks 0 and 1 only
            [NAN, 5, 7, 0, NAN, 0],
        ]
    )
    np.testing.assert_allclose(gower.to(x, rows) * 6, [0, 0.25, 1, 1, 2 + 2 / 3, 2], atol=1e-12)
    hollow = np.array([NAN, NAN, NAN, NAN, NAN, NAN])
    np.testing.assert_allclose(gower.to(hollow, np.vstack([hollow, x])), [0, 1], atol=1e-12)


def test_a_feature_without_weight_does_not_count():
    gower = Gower.of(SCHEMA, random_rows(np.random.default_rng(0), 30), np.array([0.0, 1, 1, 1, 1, 1]))
    x = np.array([0.0, 5, 7, 0, 0, 0])
    assert gower.to(x, np.array([[0.9, 5, 7, 0, 0, 0], [NAN, 5, 7, 0, 0, 0]])).tolist() == [0.0, 0.0]
    assert gower.weight.sum() == pytest.approx(1.0, abs=1e-15)


def test_gower_is_a_symmetric_distance_of_at_most_one():
    rng = np.random.default_rng(2)
    rows = random_rows(rng, 30, outside=True)
    gower = Gower.of(SCHEMA, random_rows(rng, 30))
    full = np.array([gower.to(x, rows) for x in rows])
    np.testing.assert_array_equal(full, full.T)
    assert (np.diag(full) == 0).all()
    assert full.max() <= 1 + 1e-15
    assert (full[:, :, None] <= full[:, None, :] + full.T[None, :, :] + 1e-12).all()  # d(a, b) ≤ d(a, c) + d(c, b)


@pytest.mark.parametrize("n_data", [1, 3, 40, 700])  # 700 rows are more than one block
@pytest.mark.parametrize("k", [1, 4, 50])
def test_nearest_equals_the_full_matrix(n_data, k):
    rng = np.random.default_rng(n_data + k)
    data, rows = random_rows(rng, n_data), random_rows(rng, 25)
    data[:, :2] = np.rint(data[:, :2])  # few values, many ties
    data[n_data // 2 :] = data[: n_data - n_data // 2]
    gower = Gower.of(SCHEMA, data, rng.uniform(0.5, 2.0, 6))
    distance, place = gower.nearest(rows, data, k)
    assert distance.shape == place.shape == (25, min(k, n_data))
    for i, row in enumerate(rows):
        every = gower.to(row, data)
        order = np.argsort(every, kind="stable")[:k]
        np.testing.assert_array_equal(place[i], order)
        np.testing.assert_array_equal(distance[i], every[order])


@pytest.mark.parametrize("n_data", [1, 3, 40, 700])
@pytest.mark.parametrize("k", [1, 4, 50])
@pytest.mark.parametrize("outside", [False, True])
def test_neighbours_in_the_surroundings_of_a_row_are_those_of_the_full_matrix(n_data, k, outside):
    """Wherever x lies, and however far the rows are from it; a weight of zero makes different rows equal."""
    rng = np.random.default_rng(10 * n_data + k)
    data, rows = random_rows(rng, n_data), random_rows(rng, 25, outside=outside)
    data[n_data // 2 :] = data[: n_data - n_data // 2]
    for weights in (np.ones(6), rng.uniform(0.5, 2.0, 6), np.array([1.0, 0, 0, 2, 0, 1])):
        gower = Gower.of(SCHEMA, data, weights)
        for x in (rows[0], data[0], np.full(6, NAN)):
            near = np.where(rng.random(rows.shape) < 0.3, rows, x)
            for some in (rows, near):
                expected = np.sort(gower.between(some, data), axis=1)[:, :k]
                np.testing.assert_array_equal(gower.around(x, data).nearest(some, k), expected)


def test_distances_of_all_pairs():
    rng = np.random.default_rng(6)
    rows, others = random_rows(rng, 12, outside=True), random_rows(rng, 9)
    gower = Gower.of(SCHEMA, others, rng.uniform(0.0, 2.0, 6))
    np.testing.assert_array_equal(gower.between(rows, others), [gower.to(row, others) for row in rows])
    assert gower.between(rows[:0], others).shape == (0, 9)


def test_the_cost_of_being_far_from_real_rows_by_hand():
    schema = Schema((Column("a", Kind.REAL),), "pandas")
    data = np.array([[0.0], [1.0], [4.0], [10.0]])
    around = Gower.of(schema, data).around(np.array([2.0]), data)
    rows = np.array([[2.0], [10.0]])
    np.testing.assert_allclose(around.cost(rows, np.array([1.0])), [0.1, 0.0])
    np.testing.assert_allclose(around.cost(rows, np.array([0.75, 0.25])), [0.1 * 0.75 + 0.2 * 0.25, 0.6 * 0.25])
    # five neighbours are asked for and there are four: the rest counts in proportion
    few = around.cost(rows[:1], np.array([0.4, 0.2, 0.2, 0.0, 0.2]))
    np.testing.assert_allclose(few, [(0.4 * 0.1 + 0.2 * 0.2 + 0.2 * 0.2) / 0.8])


def test_changes_are_counted():
    x = np.array([1.0, NAN, 3.0, NAN])
    rows = np.array([[1.0, NAN, 3.0, NAN], [1.0, 2.0, 4.0, NAN], [NAN, NAN, 3.0, 0.0]])
    assert changed(rows, x).tolist() == [[False] * 4, [False, True, True, False], [True, False, False, True]]
    assert n_changed(rows, x).tolist() == [0.0, 2.0, 2.0]


# Dominance

# few values make ties and equal rows likely
VALUES = st.sampled_from([0.0, 0.25, 0.5, 1.0, math.inf])
POINTS = st.integers(1, 4).flatmap(lambda m: st.lists(st.tuples(*[VALUES] * m), min_size=1, max_size=12))


@given(POINTS)
def test_nondominated_equals_its_twin(points):
    values = np.array(points)
    assert nondominated(values).tolist() == slow_nondominated(values)


@given(POINTS)
def test_pareto_layers_equal_their_twin(points):
    values = np.array(points)
    assert pareto_layers(values).tolist() == slow_layers(values)


@given(POINTS, st.integers(0, 12))
def test_dominated_by_equals_its_twin(points, n):
    values, others = np.split(np.array(points), [min(n, len(points))])
    expected = [any((other <= row).all() for other in others) for row in values]
    assert dominated_by(values, others).tolist() == expected


def test_dominance_on_continuous_values_and_of_nothing():
    rng = np.random.default_rng(3)
    values = rng.random((150, 3))
    assert nondominated(values).tolist() == slow_nondominated(values)
    assert pareto_layers(values).tolist() == slow_layers(values)
    assert dominated_by(values, values).all()  # each equals itself
    assert len(nondominated(np.empty((0, 3)))) == 0
    assert len(pareto_layers(np.empty((0, 3)))) == 0
    assert not dominated_by(values, np.empty((0, 3))).any()


def test_hypervolume_by_hand():
    # two boxes of ½·½·½ and ¼·¾·½ that share ¼·½·½
    values = np.array([[0.5, 0.5, 0.5], [0.75, 0.25, 0.5]])
    assert hypervolume(values, np.ones(3)) == pytest.approx(1 / 8 + 3 / 32 - 1 / 16, abs=1e-15)
    assert hypervolume(values[:1], np.array([2.0, 1.0, 1.0])) == pytest.approx(0.375, abs=1e-15)


def test_hypervolume_of_nothing_and_of_what_lies_outside_is_zero():
    assert hypervolume(np.empty((0, 3)), np.ones(3)) == 0.0
    assert hypervolume(np.array([[1.0, 0.0, 0.0], [0.2, 1.5, 0.2], [0.0, 0.0, math.inf]]), np.ones(3)) == 0.0
    assert hypervolume(np.array([[0.5, 0.5, 0.5], [0.0, 0.0, 2.0]]), np.ones(3)) == pytest.approx(0.125, abs=1e-15)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_hypervolume_equals_inclusion_and_exclusion_and_moocore(m):
    rng = np.random.default_rng(m)
    for _ in range(5):
        values = rng.random((8, m)) * 1.2
        ours = hypervolume(values, np.ones(m))
        assert ours == pytest.approx(slow_hypervolume(values, [1.0] * m), abs=1e-12)
        assert ours == moocore.hypervolume(values, ref=np.ones(m))


def test_inputs_are_left_alone():
    rng = np.random.default_rng(4)
    data, rows = random_rows(rng, 30), random_rows(rng, 20)
    values, weights, reference = rng.random((20, 3)), rng.random(6), np.ones(3)
    inputs = [data, rows, values, weights, reference]
    copies = [array.copy() for array in inputs]
    for array in inputs:
        array.setflags(write=False)
    gower = Gower.of(SCHEMA, data, weights)
    gower.weighted(weights)
    gower.to(rows[3], rows)
    gower.nearest(rows, data, 3)
    n_changed(rows, rows[0])
    nondominated(values)
    dominated_by(values, values)
    pareto_layers(values)
    hypervolume(values, reference)
    for array, copy in zip(inputs, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_arrays_of_any_layout_give_the_same():
    rng = np.random.default_rng(5)
    data, values = random_rows(rng, 30), rng.random((20, 3))
    gower, other = Gower.of(SCHEMA, data), np.asfortranarray(data)
    np.testing.assert_array_equal(gower.to(data[0], data), gower.to(other[0], other))
    for ours, twin in zip(gower.nearest(data, data, 3), gower.nearest(other, other, 3), strict=True):
        np.testing.assert_array_equal(ours, twin)
    turned = np.asfortranarray(values)
    np.testing.assert_array_equal(nondominated(values), nondominated(turned))
    np.testing.assert_array_equal(pareto_layers(values), pareto_layers(turned))
    assert hypervolume(values, np.ones(3)) == hypervolume(turned, np.ones(3))
