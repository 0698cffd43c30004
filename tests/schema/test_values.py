"""Which numbers occur: what is learned, what is declared, and that cells are moved to nothing else."""

from __future__ import annotations

import math
from time import perf_counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from countarfactuals.exceptions import DataError, ParameterError
from countarfactuals.schema import Column, Kind, Schema, described
from countarfactuals.schema.column import decimals_of
from countarfactuals.schema.occurrence import Occurrence, learned

RNG = np.random.default_rng(0)
N = 600


def of(values: np.ndarray) -> Occurrence:
    return learned(np.asarray(values, np.float64), decimals_of(np.asarray(values, np.float64)))


# What is learned


def test_few_values_are_atoms():
    term = of(RNG.choice([36, 60], N))
    assert term.values == term.atoms == (36.0, 60.0)
    assert of(RNG.choice([1 / 3, 2 / 3, 1.0], N)).atoms == (1 / 3, 2 / 3, 1.0)  # at full precision too


@pytest.mark.parametrize(("step", "origin"), [(25, 0), (12, 0), (5, 3), (100, 50)])
def test_grids_of_integers(step: int, origin: int):
    assert of(origin + step * RNG.integers(0, 10_000, N)).grid == (step, origin)


@pytest.mark.parametrize("step", [0.05, 0.25, 0.125, 0.5])
def test_grids_of_decimals(step: float):
    assert of(np.round(step * RNG.integers(0, 10_000, N), 3)).grid == (step, 0.0)


def test_a_grid_is_not_seen_in_what_chance_gives():
    assert of(np.array([3.0, 9.0, 15.0])).grid is None
    assert of(np.array([2.0, 4.0, 8.0, 10.0])).grid is None
    assert of(np.array([12.0, 24.0, 36.0, 48.0])).grid == (12.0, 0.0)


def test_atoms_may_lie_beside_the_grid():
    amount = np.append(25.0 * RNG.integers(1, 30_000, N), np.full(40, 999.0))
    assert of(amount).grid == (25.0, 0.0)
    assert of(amount).atoms == (999.0,)


def test_many_zeros_in_a_continuous_column():
    debt = np.where(RNG.random(N) < 0.82, 0.0, RNG.gamma(2.0, 1000.0, N))
    assert of(debt) == Occurrence(atoms=(0.0,), low=0.0)


def test_zeros_among_integers_and_a_limit():
    count = np.where(RNG.random(2_000) < 0.4, 0, RNG.integers(1, 120, 2_000))
    assert of(count).atoms == (0.0,)
    capped = np.minimum(RNG.gamma(2.0, 20.0, 2_000).round(1), 100.0)
    assert (of(capped).atoms, of(capped).high) == ((100.0,), 100.0)


def test_values_that_repeat_alike_are_all_there_are_and_no_atoms():
    age = of(RNG.integers(18, 90, 5_000))
    assert age.values == tuple(range(18, 90))
    assert (age.atoms, age.grid, age.low, age.high) == ((), None, 0.0, math.inf)


def test_continuous_columns_get_nothing_but_an_edge():
    assert of(RNG.normal(size=N)) == Occurrence()
    assert of(RNG.gamma(2.0, size=N)) == Occurrence(low=0.0)
    assert of(-RNG.gamma(2.0, size=N)) == Occurrence(high=0.0)
    assert of(RNG.normal(size=N).round(6)) == Occurrence()


def test_little_data_and_odd_numbers():
    assert of(np.array([1.5])) == Occurrence()
    assert of(np.array([0.0, 1.0, 1.0])) == Occurrence()
    assert of(np.full(60, -2.5)).values == (-2.5,)
    assert of(np.zeros(60)).high == math.inf
    assert of(RNG.normal(size=N) * 1e300).grid is None
    assert of(2.0**53 - 4.0 * RNG.integers(0, 2**18, N)).grid == (4.0, 0.0)


def test_single_floats_have_the_values_that_they_hold():
    frame = pd.DataFrame({"x": RNG.choice([0.1, 0.2, 0.7], N).astype(np.float32), "y": np.arange(N, dtype=np.float32)})
    frame["y"] = (frame["y"] * 0.05).round(2).astype(np.float32)
    schema = Schema.infer(frame)
    assert schema.columns[0].values == tuple(np.float64(np.float32([0.1, 0.2, 0.7])))
    assert schema.columns[1].grid == (0.05, 0.0)
    for column, cells in zip(schema.columns, schema.encode(frame).T, strict=True):
        assert column.permits(cells).all()
        assert_array_equal(column.permitted.nearest(cells), cells)


def test_false_findings_are_rare():
    """In 400 columns of each kind, drawn at random; none is expected in the first, few in the others."""
    rng = np.random.default_rng(1)
    found = {"real": 0, "grid": 0, "atoms": 0}
    for _ in range(400):
        n = int(rng.integers(30, 1_000))
        found["real"] += of(rng.normal(size=n)) != Occurrence()
        integers = of(rng.integers(0, int(rng.integers(20, 2_000)), n))
        rounded = of(rng.normal(0, 10, n).round(1))
        counts = of(rng.poisson(rng.gamma(2.0, 10.0), n))
        geometric = of(rng.geometric(rng.uniform(0.05, 0.6), n))
        found["grid"] += sum(one.grid is not None for one in (integers, rounded, counts, geometric))
        found["atoms"] += sum(bool(one.atoms) and one.atoms != one.values for one in (integers, rounded, counts))
    assert found["real"] == 0
    assert found["grid"] <= 2
    assert found["atoms"] <= 4


def test_a_hundred_columns_of_ten_thousand_rows_are_quick():
    columns = [RNG.normal(size=10_000), RNG.integers(0, 50, 10_000) * 25.0, RNG.gamma(2, size=10_000).round(2)] * 33
    start = perf_counter()
    for column in columns:
        learned(column, 2)
    assert perf_counter() - start < 2.0  # about 0.1 on an idle machine


numbers = st.one_of(
    st.lists(st.integers(-1000, 1000).map(float), min_size=1, max_size=200),
    st.lists(st.sampled_from([0.0, 0.25, 1.5, 999.0]), min_size=1, max_size=200),
    st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=200),
    st.lists(st.integers(0, 400).map(lambda k: k / 20), min_size=1, max_size=200),
)


def column_of(values: list[float]) -> Column:
    return Schema.infer(pd.DataFrame({"a": np.array(values)})).columns[0]


@settings(deadline=None)
@given(numbers, st.randoms())
def test_the_order_of_rows_does_not_matter(values: list[float], random: object):
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert column_of(values) == column_of(shuffled)


@settings(deadline=None)
@given(numbers)
def test_what_was_seen_is_permitted(values: list[float]):
    column = column_of(values)
    assert column.permits(np.array(values)).all()
    assert Column.from_dict(column.to_dict()) == column


@settings(deadline=None)
@given(numbers, st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.floats(-1e3, 1e3), st.floats(0, 1e3))
def test_moved_cells_are_permitted_within_the_limits_and_stay(
    values: list[float], cells: list[float], low: float, width: float
):
    column, given_cells = column_of(values), np.array(cells)
    free = column.permitted.nearest(given_cells)
    assert column.permits(free).all()
    assert_array_equal(column.permitted.nearest(free), free)
    within = column.permitted.nearest(given_cells, low, low + width, math.nan)
    there = ~np.isnan(within)
    assert there.all() == column.permitted.between(low, low + width)
    assert column.permits(within[there]).all()
    assert ((within[there] >= low) & (within[there] <= low + width)).all()
    drawn = column.permitted.uniform(20, low, low + width, np.random.default_rng(0), math.nan)
    assert np.isnan(drawn).all() != there.all()
    assert column.permits(drawn).all()


@settings(deadline=None)
@given(numbers, st.floats(-2e3, 2e3))
def test_the_nearest_value_is_nearest(values: list[float], cell: float):
    column = column_of(values)
    if column.values:
        expected = min(abs(value - cell) for value in column.values)
        assert abs(column.permitted.nearest(np.array([cell]))[0] - cell) == expected


def test_missing_cells_stay_missing():
    column = Column("a", Kind.INTEGER, decimals=0, grid=(25.0, 0.0), atoms=(999.0,))
    assert_array_equal(column.permitted.nearest(np.array([math.nan, 990.0, 980.0, 12.0])), [math.nan, 999, 975, 0])


# What is declared

FRAME = pd.DataFrame(
    {"amount": 25 * RNG.integers(1, 400, N), "term": RNG.choice([36, 60], N), "rate": RNG.gamma(2.0, size=N)}
)


def declared(**values: object) -> Schema:
    return Schema.infer(FRAME, values=values)


def test_nothing_is_learned_on_request():
    assert all(
        column == Column(column.name, column.kind, (), column.decimals, column.dtype)
        for column in Schema.infer(FRAME, values=None).columns
    )


def test_what_is_declared_wins():
    amount, term, _ = declared(amount={"step": 5, "low": 10, "high": 20_000}, term=[12, 36, 60]).columns
    assert (amount.grid, amount.low, amount.high, amount.values) == ((5.0, 0.0), 10.0, 20_000.0, ())
    assert term.values == term.atoms == (12.0, 36.0, 60.0)
    assert not any(column.is_restricted for column in declared(amount="continuous", term="continuous").columns)
    assert declared(term={"repeated": [36]}).columns[1].atoms == (36.0,)
    assert declared(rate={"low": -1.0}).columns[2].low == -1.0


def test_a_step_finer_than_the_data():
    frame = pd.DataFrame({"a": np.arange(40) / 2})
    (column,) = Schema.infer(frame, values={"a": {"step": 0.25}}).columns
    assert (column.grid, column.decimals) == ((0.25, 0.0), 2)
    assert_array_equal(column.permitted.nearest(np.array([0.3, 0.9])), [0.25, 1.0])


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"amout": [1]}, DataError, "Did you mean 'amount'"),
        ({"term": [36]}, DataError, "declared to hold 36, but .* rows of the data contradict, the first with 60"),
        ({"amount": {"step": 50}}, DataError, "declared to hold multiples of 50"),
        ({"amount": {"low": 100}}, DataError, "contradict"),
        ({"amount": {"stepp": 50}}, DataError, "Did you mean 'step'"),
        ({"amount": {"origin": 50}}, DataError, "without a step"),
        ({"amount": {"step": 0}}, DataError, "above 0"),
        ({"amount": {"step": 0.5}}, DataError, "holds integers"),
        ({"amount": {"low": 5, "high": 1}}, DataError, "Swap"),
        ({"amount": []}, DataError, "lists 0 numbers"),
        ({"amount": ["a"]}, DataError, "finite numbers"),
        ({"amount": 3}, DataError, "'continuous', a list"),
        ({"amount": "any"}, DataError, "'continuous', a list"),
        ("all", ParameterError, "values must be 'auto', None or a dict"),
    ],
)
def test_declarations_are_checked(values: object, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        Schema.infer(FRAME, values=values)  # type: ignore[arg-type]


def test_only_numbers_are_declared():
    with pytest.raises(DataError, match="holds no numbers"):
        Schema.infer(pd.DataFrame({"a": ["u", "v"]}), values={"a": [1, 2]})


# In words


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (np.repeat([36, 60], 40), "36 or 60"),
        (25 * np.arange(400), "multiples of 25 from 0"),
        (10 + 25 * np.arange(-40, 400), "10 plus multiples of 25"),
        (
            np.append(np.zeros(400), np.random.default_rng(0).gamma(2, size=90)),
            "0 in many rows, otherwise any number from 0",
        ),
        (np.random.default_rng(0).normal(size=90), "any number"),
        (np.random.default_rng(0).normal(0, 100, size=90).round(2), "numbers with 2 decimals"),
        (np.tile(np.arange(18, 90), 20), "one of 72 values from 18 to 89"),
        (np.tile(5 * np.arange(90), 5), "one of 90 values from 0 to 445, all multiples of 5"),
    ],
)
def test_words(cells: np.ndarray, words: str):
    assert described(Schema.infer(pd.DataFrame({"a": cells})).columns[0]) == words


def test_a_schema_describes_every_column():
    lines = Schema.infer(FRAME.assign(purpose=RNG.choice(["car", "house"], N))).describe().splitlines()
    assert lines[1:] == ["term: 36 or 60", "rate: any number from 0", "purpose: 'car', 'house'"]
    assert lines[0].startswith("amount: one of") or lines[0] == "amount: multiples of 25 from 0"
