"""How judges read cells: states by hand, and what gaps and atoms cost in any unit."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from countarfactuals.plausibility.cells import Cells

from .tables import all_states, read


def codes(schema, frame: pd.DataFrame) -> np.ndarray:
    return schema.encode(frame)


def test_a_continuous_number_has_one_state_and_gaps_come_after():
    schema, matrix, cells = read(all_states())
    j = schema.names.index("height")
    assert j in cells.numbers
    assert cells.n_states[j] == 1
    assert cells.has_gaps[j]
    assert j in cells.stated  # there or not is a question
    states = cells.states(matrix)[:, j]
    np.testing.assert_array_equal(states, np.isnan(matrix[:, j]).astype(int))


def test_an_atom_is_a_state_of_its_own_after_the_continuous_one():
    schema, matrix, cells = read(all_states())
    j = schema.names.index("debt")
    assert schema.columns[j].atoms == (0.0,)
    assert j in cells.numbers
    assert cells.n_states[j] == 2
    expected = np.where(np.isnan(matrix[:, j]), 2, np.where(matrix[:, j] == 0.0, 1, 0))
    states = cells.states(matrix)
    np.testing.assert_array_equal(states[:, j], expected)
    place = cells.numbers.tolist().index(j)
    continuous = cells.continuous(matrix, states)[:, place]
    np.testing.assert_array_equal(continuous, np.where(expected == 0, matrix[:, j], np.nan))


def test_few_values_are_all_atoms_and_others_count_as_one_more():
    schema, matrix, cells = read(all_states())
    j = schema.names.index("term")
    values = schema.columns[j].atoms
    assert values == (12.0, 24.0, 36.0, 48.0)
    assert j not in cells.numbers  # no continuous part
    rows = np.repeat(matrix[:1], 7, axis=0)
    rows[:, j] = [*values, 13.0, 999.0, np.nan]
    assert cells.states(rows)[:, j].tolist() == [0, 1, 2, 3, 4, 4, 5]
    assert cells.n_states[j] == 5


def test_levels_are_states_and_a_gap_is_the_last():
    schema, matrix, cells = read(all_states())
    j, owner = schema.names.index("job"), schema.names.index("owner")
    states = cells.states(matrix)
    known = ~np.isnan(matrix[:, j])
    np.testing.assert_array_equal(states[known, j], matrix[known, j])
    assert (states[~known, j] == 3).all()
    assert set(states[:, owner]) == {0, 1}
    assert not cells.has_gaps[owner]
    assert cells.stated.tolist() == [0, 1, 2, 3, 4]


def test_a_column_without_any_question_is_not_stated():
    rng = np.random.default_rng(0)
    _, _, cells = read(pd.DataFrame({"x": rng.normal(size=60), "only": ["same"] * 60}))
    assert cells.stated.tolist() == []
    assert cells.numbers.tolist() == [0]


def test_gaps_and_atoms_of_full_precision_cost_the_entropy_of_their_column():
    rng = np.random.default_rng(1)
    n = 4000
    X = pd.DataFrame(
        {
            "zero": np.where(rng.random(n) < 0.3, 0.0, rng.normal(5.0, 1.0, n)),
            "normal": rng.normal(0.0, 2.0, n),
            "even": rng.random(n) * 10.0,
            "level": rng.choice(["a", "b"], n, p=[0.25, 0.75]),
        }
    )
    _, matrix, cells = read(X)
    # differential entropies of a normal and of an even density, and of a coin
    assert cells.entropy[1] == pytest.approx(0.5 * math.log(2.0 * math.pi * math.e * 4.0), abs=0.15)
    assert cells.entropy[2] == pytest.approx(math.log(10.0), abs=0.05)
    assert cells.entropy[3] == pytest.approx(-0.25 * math.log(0.25) - 0.75 * math.log(0.75), abs=0.03)
    rows = np.array([[5.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0], [np.nan, np.nan, 1.0, np.nan], matrix[0]])
    rows[3, 0] = 0.0
    expected = [0.0, cells.entropy[0], cells.entropy[[0, 1, 3]].sum(), cells.entropy[0]]
    np.testing.assert_allclose(cells.cost(cells.states(rows)), expected, atol=1e-12)


@pytest.mark.parametrize("factor", [100.0, 0.01, 1e6])
def test_the_cost_of_a_gap_changes_like_the_density_of_a_value(factor):
    """In other units a density is divided by their ratio, and so is what e^(−cost) makes of a gap."""
    X = all_states()
    _, _, one = read(X)
    _, _, other = read(X.assign(height=X["height"] * factor))
    assert other.entropy[0] - one.entropy[0] == pytest.approx(math.log(factor), abs=1e-9)
    np.testing.assert_array_equal(np.delete(other.entropy, 0), np.delete(one.entropy, 0))


@pytest.mark.parametrize("factor", [100.0, 0.01])
def test_a_gap_among_few_values_costs_what_a_value_is_worth_in_any_unit(factor):
    """An atom on a grid has its probability per step: the cost of a gap must move along with the step."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"amount": rng.choice(6, 600) * 25.0, "x": rng.normal(size=600)})
    X.loc[rng.random(600) < 0.1, "amount"] = np.nan
    _, _, one = read(X)
    _, _, other = read(X.assign(amount=X["amount"] * factor))
    assert math.exp(other.log_step[0] - one.log_step[0]) == pytest.approx(factor)
    gap_against_value = [cells.entropy[0] - cells.log_step[0] for cells in (one, other)]
    assert gap_against_value[1] == pytest.approx(gap_against_value[0], abs=1e-9)


def test_reading_leaves_rows_alone_and_takes_none_too():
    schema, matrix, cells = read(all_states())
    kept = matrix.copy()
    matrix.setflags(write=False)
    states = cells.states(matrix)
    cells.cost(states)
    cells.continuous(matrix, states)
    np.testing.assert_array_equal(matrix, kept)
    assert cells.states(matrix[:0]).shape == (0, 5)
    assert len(cells.cost(cells.states(matrix[:0]))) == 0
    again = Cells.of(schema, matrix)
    for ours, theirs in zip(cells[1:], again[1:], strict=True):
        np.testing.assert_array_equal(ours, theirs)
