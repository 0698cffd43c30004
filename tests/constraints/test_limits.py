"""`Limits` against the twin, and what its arrays promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals.constraints import Constraints
from countarfactuals.exceptions import ConstraintError
from countarfactuals.schema import Column, Kind, Schema

from .twin import Case, cases, judge

CELL_CONSTRAINTS = ("fixed", "not varied", "immutable", "range", "change", "step", "allowed", "direction", "missing")


def none_of(violations, n: int) -> np.ndarray:
    return ~np.any([np.zeros(n, bool), *violations.values()], axis=0)


@given(cases())
def test_violations_are_those_of_the_twin(case: Case):
    got = case.limits.violations(case.rows)
    expected = [judge(case, row) for row in case.rows]
    assert tuple(got) == case.limits.names
    assert list(got) == list(judge(case, case.x))
    for name, violated in got.items():
        assert violated.dtype == bool
        assert violated.tolist() == [verdict[name] for verdict in expected], name


@given(cases())
def test_rows_hold_if_they_violate_nothing(case: Case):
    hold = case.limits.hold(case.rows)
    assert hold.dtype == bool
    assert hold.tolist() == none_of(case.limits.violations(case.rows), len(case.rows)).tolist()


@given(cases())
def test_x_itself_breaks_no_constraint_on_cells_and_changes(case: Case):
    violated = [name for name, one in case.limits.violations(case.x[None]).items() if one[0]]
    assert all(name.startswith(("rule", "exactly_one")) for name in violated)
    assert case.limits.allowed_cells(case.x[None]).all()


@given(cases())
def test_kept_rows_never_violate_a_constraint_on_cells(case: Case):
    kept = case.limits.keep_allowed(case.rows)
    for name, violated in case.limits.violations(kept).items():
        assert not name.startswith(CELL_CONSTRAINTS) or not violated.any(), name
    allowed = case.limits.allowed_cells(case.rows)
    np.testing.assert_array_equal(kept, np.where(allowed, case.rows, case.x))
    assert case.limits.allowed_cells(kept).all()


@given(cases())
def test_a_cell_that_is_not_allowed_is_in_no_row_that_holds(case: Case):
    limits = case.limits
    hold = none_of(limits.violations(case.rows), len(case.rows))
    np.testing.assert_array_equal(limits.keep_allowed(case.rows)[hold], case.rows[hold])


@given(cases())
def test_a_cell_that_no_constraint_on_cells_forbids_is_allowed_where_columns_stand_alone(case: Case):
    said = case.said | {"groups": [], "exactly_one": []}
    limits = Constraints(**said).bind(case.schema, case.x)
    for j in range(len(case.x)):
        alone = np.tile(case.x, (len(case.rows), 1))
        alone[:, j] = case.rows[:, j]
        violations = limits.violations(alone)
        fine = none_of({n: v for n, v in violations.items() if n.startswith(CELL_CONSTRAINTS)}, len(alone))
        assert limits.allowed_cells(case.rows)[:, j].tolist() == fine.tolist()


@given(cases())
def test_arrays_bound_the_rows_that_hold(case: Case):
    limits = case.limits
    rows = case.rows[none_of(limits.violations(case.rows), len(case.rows))]
    differs = (rows != case.x) & ~(np.isnan(rows) & np.isnan(case.x))
    assert not differs[:, ~limits.may_change].any()
    assert (limits.can_be_missing | ~np.isnan(rows)).all()
    present = differs & ~np.isnan(rows)
    assert (rows >= limits.low)[present].all()
    assert (rows <= limits.high)[present].all()
    assert not len(rows) or differs.sum(axis=1).max() <= limits.max_changed
    for j, levels in enumerate(limits.levels):
        if levels is not None:
            assert levels[rows[present[:, j], j].astype(int)].all()


@given(cases())
def test_arrays_are_well_formed(case: Case):
    limits, p = case.limits, len(case.x)
    assert limits.low.shape == limits.high.shape == limits.may_change.shape == limits.weights.shape == (p,)
    assert (limits.low <= limits.high)[limits.may_change].all()
    assert limits.weights.sum() == pytest.approx(1)
    for levels, column in zip(limits.levels, case.schema.columns, strict=True):
        assert levels is None or levels.shape == (column.n_levels,)
    found = [j for unit in limits.units for j in unit.tolist()]
    assert len(found) == len(set(found))
    for names in [*case.said["groups"], *case.said["exactly_one"]]:
        members = {case.schema.index(name) for name in names}
        assert sum(members <= set(unit.tolist()) for unit in limits.units) == 1
    assert not limits.x.flags.writeable


@given(cases(), st.data())
def test_lifting_a_constraint_removes_exactly_it(case: Case, data):
    limits = case.limits
    if not limits.names:
        return
    name = data.draw(st.sampled_from(limits.names))
    before, lifted = limits.violations(case.rows), limits.without(name)
    after = lifted.violations(case.rows)
    assert list(after) == [other for other in before if other != name]
    for other, violated in after.items():
        np.testing.assert_array_equal(violated, before[other])
    np.testing.assert_array_equal(lifted.hold(case.rows), none_of(after, len(case.rows)))
    np.testing.assert_array_equal(limits.hold(case.rows), none_of(before, len(case.rows)))


@given(cases())
def test_nothing_that_is_passed_changes(case: Case):
    x, rows, said = case.x.copy(), case.rows.copy(), repr(case.said)
    limits = case.limits
    limits.violations(rows)
    limits.hold(rows)
    limits.allowed_cells(rows)
    kept = limits.keep_allowed(rows)
    kept[:] = -7
    np.testing.assert_array_equal(x, case.x)
    np.testing.assert_array_equal(rows, case.rows)
    assert case.x.flags.writeable
    assert repr(case.said) == said


# Worked examples

NUMBER = Schema((Column("a", Kind.REAL), Column("b", Kind.INTEGER, decimals=0), Column("c", Kind.REAL)), "pandas")
ONE_HOT = Schema(tuple(Column(name, Kind.BOOLEAN, (False, True)) for name in "abcd"), "pandas")


def may_change(schema: Schema, x, **said) -> list[bool]:
    return Constraints(**said).bind(schema, np.array(x, float)).may_change.tolist()


def test_without_constraints_everything_but_new_missing_cells_holds():
    limits = Constraints().bind(NUMBER, np.array([1.0, 2.0, np.nan]))
    assert limits.names == ("missing: a", "missing: b")
    rows = np.array([[9, 9, 9], [1, 2, np.nan], [np.nan, 2, 3]])
    assert limits.hold(rows).tolist() == [True, True, False]
    assert limits.can_be_missing.tolist() == [False, False, True]
    assert Constraints(allow_missing=True).bind(NUMBER, limits.x).names == ()
    assert limits.max_changed == 3
    assert limits.units == ()


def test_columns_that_can_not_change():
    assert may_change(NUMBER, [1, 2, 3], fixed=["a"]) == [False, True, True]
    assert may_change(NUMBER, [1, 2, 3], fixed=["a"], groups=[["a", "b"]]) == [False, False, True]
    assert may_change(NUMBER, [1, 2, 3], groups=[["a", "b"]], max_changed=1) == [False, False, True]
    assert may_change(NUMBER, [1, 2, 3], groups=[["a", "b"], ["b", "c"]], max_changed=2) == [False] * 3
    assert may_change(NUMBER, [30, 2, 3], ranges={"a": (0, 9)}) == [True, True, True]
    assert may_change(NUMBER, [30, 2, 3], ranges={"a": (0, 9)}, direction={"a": "increase"}) == [False, True, True]
    assert may_change(NUMBER, [1, 2, 3], ranges={"b": (1.5, 2.5)}) == [True, False, True]
    assert may_change(NUMBER, [1, 4, 3], ranges={"b": (1.5, 2.5)}) == [True, True, True]


def test_the_one_can_only_move_to_a_free_column():
    x = [1, 0, 0, 0]
    assert may_change(ONE_HOT, x, exactly_one=[["a", "b", "c"]]) == [True] * 4
    assert may_change(ONE_HOT, x, exactly_one=[["a", "b", "c"]], max_changed=1) == [False, False, False, True]
    assert may_change(ONE_HOT, x, exactly_one=[["a", "b", "c"]], fixed=["a"]) == [False, False, False, True]
    assert may_change(ONE_HOT, x, exactly_one=[["a", "b", "c"]], fixed=["b", "c"]) == [False, False, False, True]
    assert may_change(ONE_HOT, x, exactly_one=[["a", "b", "c"]], fixed=["c"]) == [True, True, False, True]
    # if it may become missing, it need not move
    assert may_change(ONE_HOT, x, exactly_one=[["a", "b", "c"]], max_changed=1, allow_missing=True) == [True] * 4
    # a row that breaks it can be mended by one change
    assert may_change(ONE_HOT, [0, 0, 0, 0], exactly_one=[["a", "b", "c"]], fixed=["b", "c"])[0]


def test_lifting_a_fixed_column_frees_its_group():
    limits = Constraints(fixed=["a"], groups=[["a", "b"]]).bind(NUMBER, np.array([1.0, 2.0, 3.0]))
    assert limits.without("fixed: a").may_change.all()
    assert limits.without("group: a, b").may_change.tolist() == [False, True, True]


def test_bounds_join_and_whole_numbers_tighten_them():
    said = Constraints(ranges={"a": (0, 5), "b": (0.2, 5.7)}, direction={"a": "increase"}, fixed=["c"])
    limits = said.bind(NUMBER, np.array([1.0, 2.0, 3.0]))
    assert limits.low.tolist() == [1, 1, 3]
    assert limits.high.tolist() == [5, 5, 3]


def test_levels_join():
    schema = Schema((Column("a", Kind.ORDERED, ("low", "mid", "high", "top")), Column("b", Kind.REAL)), "pandas")
    said = Constraints(allowed={"a": ["low", "mid", "top"]}, direction={"a": "increase"}, ranges={"a": (None, "high")})
    limits = said.bind(schema, np.zeros(2))
    assert limits.levels[0].tolist() == [True, True, False, False]
    assert limits.levels[1] is None
    assert (limits.low[0], limits.high[0]) == (0, 2)
    rows = np.array([[code, 0.0] for code in range(4)])
    assert limits.hold(rows).tolist() == [True, True, False, False]
    assert limits.keep_allowed(rows)[:, 0].tolist() == [0, 1, 0, 0]


def test_exactly_one_counts_ones_and_not_codes():
    schema = Schema((Column("a", Kind.CATEGORY, (1, 0)), Column("b", Kind.BOOLEAN, (False, True))), "pandas")
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    limits = Constraints(exactly_one=[["a", "b"]]).bind(schema, rows[0])
    assert limits.hold(rows).tolist() == [True, False, False, True]


def test_units_join_where_they_overlap():
    said = Constraints(groups=[["d", "a"]], exactly_one=[["a", "b"]])
    assert [unit.tolist() for unit in said.bind(ONE_HOT, np.zeros(4)).units] == [[0, 1, 3]]
    said = Constraints(groups=[["d", "c"]], exactly_one=[["a", "b"]])
    assert [unit.tolist() for unit in said.bind(ONE_HOT, np.zeros(4)).units] == [[0, 1], [2, 3]]


def test_names_that_look_alike_are_kept_apart():
    schema = Schema((Column(1, Kind.REAL), Column("1", Kind.REAL), Column("b", Kind.REAL)), "pandas")
    limits = Constraints(fixed=[1, "1"], allow_missing=True).bind(schema, np.zeros(3))
    assert limits.names == ("fixed: 1", "fixed: 1 (2)")
    assert limits.without("fixed: 1 (2)").may_change.tolist() == [False, True, True]


def test_lifting_an_unknown_constraint():
    limits = Constraints(fixed=["a"]).bind(NUMBER, np.zeros(3))
    with pytest.raises(ConstraintError, match=r"no constraint 'fixd: a'; .*'fixed: a'.* Did you mean 'fixed: a'\?"):
        limits.without("fixd: a")
