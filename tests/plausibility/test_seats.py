"""Who may judge: pairs counted by scikit-learn, judges that are known to be good or bad, and rows that are mixed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from countarfactuals.objectives import Gower
from countarfactuals.plausibility.seats import (
    Mixed,
    Skill,
    _preferred,
    leader_of,
    leaders_of,
    mixed_rows,
    seated,
    skill,
    sums_count,
)

from .tables import judged, read, sums, thirds

VALUES = st.lists(st.sampled_from([-5.0, -1.0, 0.0, 0.5, 2.0]) | st.floats(-9, 9), min_size=1, max_size=30)


@given(VALUES, VALUES)
def test_how_often_the_real_row_is_preferred_is_an_area_under_a_curve(real, mixed):
    expected = roc_auc_score([1] * len(real) + [0] * len(mixed), [*real, *mixed])
    assert _preferred(np.array(real), np.array(mixed)) == pytest.approx(expected, abs=1e-12)


def test_without_rows_nobody_is_preferred():
    assert _preferred(np.empty(0), np.empty(0)) == 0.5


def test_a_judge_by_chance_is_right_half_of_the_time():
    """500 against 500 rows: the area's standard error is .018, so that .1 is beyond five of them."""
    rng = np.random.default_rng(0)
    mixed = Mixed(np.arange(500), np.zeros((500, 3)), np.ones((500, 3)))
    by_chance = skill(rng.normal(size=500), None, lambda rows: rng.normal(size=len(rows)), mixed)
    assert abs(by_chance.near - 0.5) < 0.1
    assert abs(by_chance.far - 0.5) < 0.1
    assert math.isnan(by_chance.log_density)
    knowing = skill(np.zeros(500), np.full(500, -3.0), lambda rows: -1.0 - rows[:, 0], mixed)
    assert knowing == (1.0, 1.0, -3.0)


def test_the_leader_is_the_density_that_knows_held_out_rows_best():
    skills = {
        "forest": Skill(0.9, 0.9, -5.0),
        "mixture": Skill(0.5, 0.6, -4.5),
        "conditionals": Skill(0.95, 0.99, math.nan),
    }
    assert leader_of(skills, "mixture") == "mixture"
    assert leader_of({**skills, "mixture": Skill(0.9, 0.9, -5.5)}, "mixture") == "forest"
    assert leader_of({**skills, "forest": Skill(0.9, 0.9, -math.inf)}, "mixture") == "mixture"


def test_of_level_densities_the_preferred_one_leads():
    skills = {"forest": Skill(0.9, 0.9, -5.0), "mixture": Skill(0.9, 0.9, -5.04)}
    assert leader_of(skills, "mixture") == "mixture"
    assert leader_of(skills, "forest") == "forest"
    assert leader_of({**skills, "mixture": Skill(0.9, 0.9, -5.06)}, "mixture") == "forest"


def test_sums_of_cells_count_where_the_leader_is_blind_to_near_mixtures():
    skills = {"mixture": Skill(0.60, 0.9, -5.0), "conditionals": Skill(0.62, 0.9, math.nan)}
    assert not sums_count(skills, "mixture", "conditionals")
    assert sums_count({**skills, "conditionals": Skill(0.64, 0.9, math.nan)}, "mixture", "conditionals")


def test_cells_lead_too_where_the_leader_misses_a_tenth_of_what_they_see():
    skills = {"mixture": Skill(0.60, 0.9, -5.0), "conditionals": Skill(0.69, 0.9, math.nan)}
    seats = ("mixture", "conditionals")
    assert leaders_of(skills, seats) == ("mixture",)
    skills["conditionals"] = Skill(0.71, 0.9, math.nan)
    assert leaders_of(skills, seats) == seats
    assert leaders_of(skills, ("mixture",)) == ("mixture",)


def test_level_densities_with_a_seat_lead_together():
    skills = {"mixture": Skill(0.9, 0.9, -5.0), "forest": Skill(0.9, 0.9, -5.04)}
    skills["conditionals"] = Skill(0.9, 0.9, math.nan)
    assert leaders_of(skills, ("mixture", "forest", "conditionals")) == ("mixture", "forest")
    assert leaders_of(skills, ("mixture", "conditionals")) == ("mixture",)
    skills["forest"] = Skill(0.9, 0.9, -5.06)
    assert leaders_of(skills, ("mixture", "forest")) == ("mixture",)


def test_seats_go_to_the_leader_and_to_all_who_are_about_as_good_as_the_best():
    skills = {"forest": Skill(0.5, 0.9, -5.0), "mixture": Skill(0.9, 0.7, -4.5), "conditionals": Skill(0.1, 0.91, 0.0)}
    assert seated(skills, "mixture") == ("mixture", "forest", "conditionals")
    worse = {**skills, "forest": Skill(1.0, 0.88, -5.0)}
    assert seated(worse, "mixture") == ("mixture", "conditionals")  # the leader stays, however bad
    assert seated({"forest": Skill(0.5, 0.5, -1.0)}, "forest") == ("forest",)


def test_the_sum_of_cells_counts_only_where_the_leader_is_blind_to_near_rows():
    skills = {"forest": Skill(0.5, 0.9, -5.0), "conditionals": Skill(0.54, 0.9, math.nan)}
    assert sums_count(skills, "forest", "conditionals")
    assert not sums_count({**skills, "forest": Skill(0.52, 0.9, -5.0)}, "forest", "conditionals")


def test_a_bad_judge_gets_no_seat():
    """Leaves of half the rows see no sum; the others do."""
    panel = judged(sums(600), min_samples_leaf=300, dependence=None).panel
    assert panel.skills["conditionals"].far > panel.skills["forest"].far + 0.05
    assert "forest" not in panel.seats
    assert panel.leader == "mixture"
    assert "conditionals" in panel.seats


def table(n: int = 400, p: int = 7) -> tuple[np.ndarray, Gower]:
    """No two cells of a column are equal, so that each tells its row."""
    rng = np.random.default_rng(1)
    schema, matrix, _ = read(pd.DataFrame(rng.normal(size=(n, p))))
    return matrix, Gower.of(schema, matrix)


@pytest.mark.parametrize("p", [3, 4, 7])
def test_mixed_rows_have_cells_of_two_rows_and_at_most_half_of_the_second(p):
    matrix, gower = table(p=p)
    part_of, chosen = thirds(400), np.arange(0, 400, 2)
    mixed = mixed_rows(matrix, part_of, chosen, gower, np.random.default_rng(0))
    assert set(mixed.base) <= set(chosen.tolist())
    assert (np.diff(mixed.base) > 0).all()
    taken = {"near": [], "far": []}
    for name in taken:
        for base, row in zip(mixed.base.tolist(), getattr(mixed, name), strict=True):
            donors = [int(np.flatnonzero(matrix[:, j] == row[j])[0]) for j in range(p)]
            others = {donor for donor in donors if donor != base}
            assert len(others) <= 1
            assert all(part_of[donor] == part_of[base] for donor in others)
            taken[name].append(sum(donor != base for donor in donors))
            if name == "near" and others:
                same = matrix[part_of == part_of[base]]
                distance = gower.to(matrix[base], same)
                own = gower.to(matrix[base], matrix[list(others)])[0]
                assert (distance < own).sum() <= 51
    assert min(taken["near"]) == 1  # a neighbour is never the row itself
    for counts in taken.values():
        assert max(counts) == max(p // 2, 1)
        assert set(range(1, max(p // 2, 1) + 1)) <= set(counts)


def test_of_many_rows_five_hundred_are_mixed():
    matrix, gower = table(2000, 3)
    mixed = mixed_rows(matrix, thirds(2000), np.arange(2000), gower, np.random.default_rng(0))
    assert mixed.near.shape == mixed.far.shape == (500, 3)
    again = mixed_rows(matrix, thirds(2000), np.arange(2000), gower, np.random.default_rng(0))
    for ours, theirs in zip(mixed, again, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_mixing_leaves_the_data_alone():
    matrix, gower = table()
    kept = matrix.copy()
    matrix.setflags(write=False)
    mixed_rows(matrix, thirds(400), np.arange(400), gower, np.random.default_rng(0))
    np.testing.assert_array_equal(matrix, kept)
