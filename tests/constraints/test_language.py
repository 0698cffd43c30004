"""`Constraints`: what may be said, what it means, and what is refused with which words."""

from __future__ import annotations

import functools
import json
import math
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from countarfactuals import MISSING
from countarfactuals.constraints import Constraints
from countarfactuals.exceptions import ConstraintError, DataError
from countarfactuals.schema import Schema

FRAME = pd.DataFrame(
    {
        "age": [30, 40, 50],
        "income": [1.5, 2.5, None],
        "limit": [2.0, 3.5, 1.0],
        "purpose": ["car", "study", None],
        "reason": ["car", "car", "study"],
        "grade": pd.Categorical(["low", "mid", "top"], ["low", "mid", "top"], ordered=True),
        "owner": [True, False, True],
        "tenant": [False, True, True],
    }
)
SCHEMA = Schema.infer(FRAME)
ROWS = SCHEMA.encode(FRAME)
FULL = FRAME.dropna()


def bind(row: int = 0, **said):
    return Constraints(**said).bind(SCHEMA, ROWS[row])


def changes(limits, **cells) -> list[str]:
    """Names of the constraints that a row violates which differs from x in these cells."""
    row = limits.x.copy()
    for name, value in cells.items():
        row[SCHEMA.index(name)] = math.nan if value is MISSING else SCHEMA.encode_value(SCHEMA.index(name), value)
    return [name for name, violated in limits.violations(row[None]).items() if violated[0]]


# Meaning


def test_ends_are_included_and_own_values_may_stay_outside():
    limits = bind(ranges={"age": (35, 40), "grade": ("mid", None)})
    assert changes(limits) == []
    assert changes(limits, age=35, grade="top") == changes(limits, age=40) == []
    assert changes(limits, age=34) == changes(limits, age=41) == ["range: age"]
    assert changes(bind(1, ranges={"grade": ("mid", None)}), grade="low") == ["range: grade"]


def test_transitions():
    said = {"allowed": {"purpose": {"car": ["study"], MISSING: ["car"]}}}
    assert changes(bind(0, **said), purpose="study") == []
    assert changes(bind(1, **said), purpose="car") == ["allowed: purpose"]
    assert changes(bind(2, **said), purpose="car") == []
    assert changes(bind(2, **said), purpose="study") == ["allowed: purpose"]


def test_directions():
    limits = bind(1, direction={"age": "increase", "grade": "decrease", "owner": "increase"})
    assert changes(limits, age=41, grade="low", owner=True) == []
    assert changes(limits, age=39, grade="top") == ["direction: age", "direction: grade"]
    assert changes(bind(0, direction={"owner": "increase"}), owner=False) == ["direction: owner"]
    assert changes(bind(2, direction={"income": "increase"}), income=-9.0) == []


def test_a_changed_cell_must_have_what_is_named_of_it_even_if_missing_is_allowed():
    said = {"ranges": {"income": (0, 9)}, "direction": {"age": "increase"}, "allow_missing": True}
    limits = bind(0, **said, allowed={"purpose": ["study"], "reason": ["study", MISSING]})
    assert changes(limits, limit=MISSING, reason=MISSING) == []
    assert changes(limits, income=MISSING, age=MISSING, purpose=MISSING) == [
        "range: income",
        "allowed: purpose",
        "direction: age",
    ]
    assert limits.can_be_missing[[SCHEMA.index(name) for name in ("income", "limit", "reason")]].tolist() == [
        False,
        True,
        True,
    ]


def test_comparisons_judge_whole_rows_and_hold_for_missing_cells():
    limits = bind(0, rules=[("income", "<=", "limit"), ("purpose", "!=", "reason"), ("owner", ">", "tenant")])
    assert changes(limits) == ["rule 2: purpose != reason"]
    assert changes(limits, income=2.5, reason="study", owner=False) == [
        "rule 1: income <= limit",
        "rule 3: owner > tenant",
    ]
    assert changes(bind(2, rules=[("income", ">", "limit"), ("purpose", "==", "reason")])) == []


def test_the_same_levels_in_another_order_are_compared_by_value():
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"], ["x", "y"]), "b": pd.Categorical(["x", "x"], ["y", "x"])})
    schema = Schema.infer(frame)
    rows = schema.encode(frame)
    limits = Constraints(rules=[("a", "==", "b")]).bind(schema, rows[0])
    assert limits.violations(rows)["rule 1: a == b"].tolist() == [False, True]
    with pytest.raises(ConstraintError, match="can not compare"):
        Constraints(rules=[("a", "<", "b")]).bind(schema, rows[0])


def test_weights_have_the_sum_one():
    weights = bind(weights={"age": 3, "owner": 0}).weights
    np.testing.assert_allclose(weights, np.array([3, 1, 1, 1, 1, 1, 0, 1]) / 9)
    np.testing.assert_allclose(bind(weights={"age": 1e308, "owner": 1e308}).weights[[0, 6]], 0.5)
    assert bind().weights.tolist() == [1 / 8] * 8


def test_sets_arrays_and_indices_will_do():
    one = bind(fixed={"age"}, groups=({"income", "limit"},), ranges={"age": [1, np.int64(5)]})
    other = bind(fixed=np.array(["age"]), groups=[pd.Index(["limit", "income"])] * 2, ranges={"age": np.array([1, 5])})
    assert one.names == other.names
    assert one.names[:3] == ("fixed: age", "range: age", "group: income, limit")


def test_what_is_said_is_copied_and_frozen():
    fixed, allowed = ["age"], {"purpose": ["car"]}
    constraints = Constraints(fixed=fixed, allowed=allowed)
    fixed.append("nonsense")
    allowed["purpose"].append("nonsense")
    constraints.bind(SCHEMA, ROWS[0])
    with pytest.raises(FrozenInstanceError):
        constraints.fixed = ()
    with pytest.raises(TypeError):
        Constraints(["age"])


def test_missing_survives_a_trip_to_another_process():
    constraints = pickle.loads(pickle.dumps(Constraints(allowed={"purpose": {MISSING: ["car"]}})))
    assert changes(constraints.bind(SCHEMA, ROWS[2]), purpose="car") == []


# Functions as rules


@pytest.mark.parametrize(
    ("convert", "rule"),
    [
        (lambda frame: frame, lambda frame: frame["age"] >= 40),
        (lambda frame: frame, lambda frame: (frame["age"] >= 40).astype("boolean")),
        (lambda frame: frame, lambda frame: (frame["age"] >= 40).tolist()),
        (pl.from_pandas, lambda frame: frame["age"] >= 40),
        (pa.Table.from_pandas, lambda frame: pc.greater_equal(frame["age"], 40)),
    ],
)
def test_functions_get_the_users_frame(convert, rule):
    schema = Schema.infer(convert(FULL))
    rows = schema.encode(convert(FULL))
    limits = Constraints(rules=[rule]).bind(schema, rows[0])
    assert limits.violations(rows)["rule 1: <lambda>"].tolist() == [True, False]
    assert limits.hold(rows).tolist() == [False, True]


def test_a_missing_answer_is_no_violation():
    frame = pl.DataFrame({"a": [1, None, 3], "b": [1.0, 2.0, 3.0]})
    schema = Schema.infer(frame)
    rows = schema.encode(frame)
    limits = Constraints(rules=[lambda frame: frame["a"] > 2], allow_missing=True).bind(schema, rows[0])
    assert limits.hold(rows).tolist() == [False, True, True]
    assert limits.hold(rows[[1]]).tolist() == [True]


def test_functions_see_all_rows_in_one_call_and_none_if_there_are_none():
    seen = []

    def old_enough(frame):
        seen.append(len(frame))
        return frame["age"] >= 0

    limits = bind(rules=[old_enough], fixed=["age"])
    limits.violations(ROWS)
    limits.hold(ROWS)
    limits.violations(ROWS[:0])
    limits.hold(ROWS[1:])
    assert seen == [3, 1]


def test_functions_may_write_to_their_frame():
    def careless(frame):
        frame["age"] = 0
        frame.loc[:, "limit"] = 0.0
        return frame["age"] == 0

    rows = ROWS.copy()
    limits = bind(rules=[careless, lambda frame: frame["age"] > 0])
    assert not np.any(list(limits.violations(rows)["rule 2: <lambda>"]))
    np.testing.assert_array_equal(rows, ROWS)
    array = Schema.infer(ROWS[:2, :3])
    rows = ROWS[:2, :3].copy()

    def overwrite(values):
        values[:] = 0
        return np.ones(len(values), bool)

    limits = Constraints(rules=[overwrite]).bind(array, rows[0])
    limits.hold(rows)
    limits.violations(rows)
    np.testing.assert_array_equal(rows, ROWS[:2, :3])


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda frame: True, r"'rule 1: <lambda>' must return one bool per row, shape \(3,\), got shape \(\)"),
        (lambda frame: frame["age"], r"one bool per row, shape \(3,\), got shape \(3,\) of type int64"),
        (lambda frame: frame[["owner"]], r"got shape \(3, 1\)"),
        (lambda frame: frame["owner"][:2], r"Series whose 2 labels are not those of the 3 rows"),
        (lambda frame: frame["owner"].to_numpy()[:2], r"got shape \(2,\)"),
        (lambda frame: ["yes", "no", "no"], r"got shape \(3,\)"),
        (lambda frame: frame["aeg"] > 3, r"'rule 1: <lambda>' failed on a frame of 3 row\(s\) with KeyError: 'aeg'"),
        (lambda frame: [[1], [1, 2]], "'rule 1: <lambda>' failed .* with ValueError"),
        (functools.partial(min, 3), "'rule 1: min' failed"),
    ],
)
def test_functions_that_fail(rule, message):
    with pytest.raises(ConstraintError, match=message):
        bind(rules=[rule]).violations(ROWS)


# Refused without data


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"fixed": "age"}, r"`fixed` must be a list of columns, got 'age'\. For example fixed=\[\"age\"\]"),
        ({"fixed": {"age": False}}, "`fixed` must be a list of columns"),
        ({"fixed": 3}, "`fixed` must be a list of columns, got 3"),
        ({"ranges": [("age", 1, 2)]}, "`ranges` must be a dict by column, got .* For example ranges="),
        ({"ranges": {"age": 3}}, r"The range of 'age' must be \(low, high\), .*; got 3"),
        ({"ranges": {"age": (1, 2, 3)}}, r"The range of 'age' must be \(low, high\)"),
        ({"ranges": {"age": "ab"}}, r"The range of 'age' must be \(low, high\)"),
        ({"allowed": ["car"]}, "`allowed` must be a dict by column"),
        ({"allowed": {"purpose": "car"}}, r"`allowed` for 'purpose' must be a list .*got 'car'.*\['car'\]"),
        ({"allowed": {"purpose": {"car": "study"}}}, "`allowed` for 'purpose' from 'car' must be a list of levels"),
        (
            {"allowed": {"purpose": []}},
            r"`allowed` for 'purpose' names no level: \[\]\. Name at least one, or .*`fixed`",
        ),
        ({"allowed": {"purpose": {}}}, "names no level"),
        ({"direction": "increase"}, "`direction` must be a dict by column"),
        (
            {"direction": {"age": "increasing"}},
            r"must be 'increase' or 'decrease', got 'increasing'\. Did you mean 'inc",
        ),
        ({"direction": {"age": 1}}, "must be 'increase' or 'decrease', got 1"),
        ({"max_changed": 0}, "`max_changed` must be a whole number of at least 1, or None for no bound; got 0"),
        ({"max_changed": 1.5}, "`max_changed` must be a whole number"),
        ({"max_changed": True}, "`max_changed` must be a whole number"),
        ({"rules": len}, "`rules` must be a list of rules"),
        ({"rules": ("a", "<", "b")}, r"A rule must be \(column, sign, column\) or a function of a frame, got 'a'"),
        ({"rules": [("a", "=<", "b")]}, r"The sign of rule \('a', '=<', 'b'\) must be one of <, <=, >, >=, ==, !="),
        ({"rules": [("a", 3, "b")]}, "The sign of rule"),
        (
            {"groups": ["a", "b"]},
            r"An entry of `groups` must be a list of columns, got 'a'\. .*groups=\[\[\"a\", \"b\"\]\]",
        ),
        ({"groups": 1}, "`groups` must be a list of lists of columns"),
        ({"exactly_one": ["a", "b"]}, "An entry of `exactly_one` must be a list of columns"),
        ({"weights": [1, 2]}, "`weights` must be a dict by column"),
        ({"weights": {"age": -1}}, "The weight of 'age' must be a finite number of at least 0, got -1"),
        ({"weights": {"age": math.nan}}, "must be a finite number"),
        ({"weights": {"age": math.inf}}, "must be a finite number"),
        ({"weights": {"age": "2"}}, "must be a finite number"),
        ({"allow_missing": "yes"}, "`allow_missing` must be True or False, got 'yes'"),
    ],
    ids=str,
)
def test_refused_without_data(said, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints(**said)


# Refused for a schema and a row


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"fixed": ["incom"]}, r"`fixed`: There is no column 'incom'; .*Did you mean 'income'\?"),
        ({"fixed": [["age"]]}, r"`fixed` must name columns, got \['age'\] of type list"),
        ({"ranges": {"agee": (1, 2)}}, "`ranges`: There is no column 'agee'"),
        ({"allowed": {"porpose": ["car"]}}, "`allowed`: There is no column 'porpose'"),
        ({"direction": {"agee": "increase"}}, "`direction`: There is no column 'agee'"),
        ({"rules": [("age", "<", "incom")]}, "`rules`: There is no column 'incom'"),
        ({"groups": [["age", "incom"]]}, "`groups`: There is no column 'incom'"),
        ({"exactly_one": [["owner", "tennant"]]}, "`exactly_one`: There is no column 'tennant'"),
        ({"weights": {"agee": 2}}, "`weights`: There is no column 'agee'"),
        ({"ranges": {"income": (3, 2)}}, r"The range \(3, 2\) of 'income' is empty: its low end is above"),
        ({"ranges": {"income": (math.inf, None)}}, "is empty"),
        ({"ranges": {"age": (30.2, 30.8)}}, r"The range \(30\.2, 30\.8\) of 'age' is empty: the column holds integers"),
        ({"ranges": {"age": ("a", None)}}, r"The range of 'age' \(integer\) needs numbers as ends, .* got 'a'"),
        ({"ranges": {"age": (math.nan, None)}}, "needs numbers as ends"),
        ({"ranges": {"age": (True, None)}}, "needs numbers as ends"),
        ({"ranges": {"grade": ("top", "low")}}, "is empty"),
        ({"ranges": {"grade": ("lowest", None)}}, "`ranges`: Column 'grade' has no level 'lowest'"),
        ({"ranges": {"grade": (math.nan, None)}}, "`ranges` of 'grade' names nan"),
        ({"ranges": {"purpose": ("car", "study")}}, "of kind category and has no range. Say allowed={'purpose': "),
        ({"ranges": {"owner": (0, 1)}}, "of kind boolean and has no range"),
        ({"allowed": {"age": [30]}}, r"'age', which holds numbers .* Say ranges=\{'age': \(low, high\)\}"),
        ({"allowed": {"purpose": ["studi"]}}, r"`allowed`: Column 'purpose' has no level 'studi'.*mean 'study'\?"),
        ({"allowed": {"purpose": {"studi": ["car"]}}}, "has no level 'studi'"),
        ({"allowed": {"purpose": {"study": ["cra"]}}}, "has no level 'cra'"),
        ({"allowed": {"purpose": [None]}}, "`allowed` of 'purpose' names None. Say MISSING for a missing cell"),
        ({"allowed": {"purpose": [["car"]]}}, "`allowed`: Column 'purpose' holds levels"),
        ({"allowed": {"purpose": ["car", MISSING]}}, "lets 'purpose' become MISSING, but `allow_missing` is False"),
        ({"allowed": {"purpose": {"study": [MISSING]}}}, "lets 'purpose' become MISSING"),
        ({"direction": {"purpose": "increase"}}, "'purpose', a category whose levels have no order, so it can not inc"),
        ({"rules": [("age", "<", "age")]}, "compares 'age' with itself"),
        ({"rules": [("age", "<", "grade")]}, r"can not compare 'age' \(integer\) with 'grade' \(ordered\)"),
        ({"rules": [("purpose", "<", "reason")]}, "can not compare 'purpose'"),
        ({"rules": [("purpose", "==", "owner")]}, "can not compare 'purpose'"),
        ({"groups": [["age"]]}, "An entry of `groups` must name two or more columns, got 'age'"),
        ({"groups": [["age", "age"]]}, "must name two or more columns"),
        ({"exactly_one": [[]]}, "An entry of `exactly_one` must name two or more columns, got none"),
        ({"exactly_one": [["owner", "age"]]}, "needs columns of 0 and 1, .* but 'age' is 30 in this row"),
        ({"exactly_one": [["owner", "grade"]]}, "but 'grade' has the levels 'low', 'mid', 'top'"),
        ({"weights": dict.fromkeys(FRAME, 0)}, "`weights` is 0 for every column"),
        ({"fixed": list(FRAME)}, "leave no column that may change"),
        ({"fixed": list(FRAME)[1:], "groups": [["age", "income"]]}, "leave no column that may change"),
    ],
    ids=str,
)
def test_refused_for_a_schema_and_a_row(said, message):
    constraints = Constraints(**said)
    with pytest.raises(ConstraintError, match=message):
        constraints.bind(SCHEMA, ROWS[0])


def test_a_row_of_another_shape():
    with pytest.raises(DataError, match=r"one-dimensional with 8 cell\(s\), got shape \(3, 8\)"):
        Constraints().bind(SCHEMA, ROWS)


# In words


def adults(frame):
    return frame["age"] >= 18


SAID = {
    "fixed": ["age"],
    "ranges": {"income": (1, np.float64(2.5)), "limit": (None, 3), "grade": ("mid", None), "age": (-math.inf, None)},
    "allowed": {"purpose": {"car": ["study", MISSING], MISSING: ["car"], "study": []}, "reason": ["car", "study"]},
    "direction": {"grade": "increase"},
    "max_changed": 2,
    "rules": [("income", "<=", "limit"), adults, functools.partial(adults)],
    "groups": [["income", "limit"]],
    "exactly_one": [["owner", "tenant"]],
    "weights": {"age": 2},
    "allow_missing": True,
}


def test_sentences():
    assert Constraints(**SAID).describe() == [
        "'age' does not change.",
        "If 'income' changes, it becomes a value from 1 to 2.5.",
        "If 'limit' changes, it becomes at most 3.",
        "If 'grade' changes, it becomes at least mid.",
        "'purpose' can only change from 'car' to 'study' or missing; from missing to 'car'.",
        "If 'reason' changes, it becomes 'car' or 'study'.",
        "'grade' can only increase.",
        "At most 2 features may change.",
        "'income' <= 'limit'.",
        "The rule adults holds.",
        "The rule adults holds.",
        "'income' and 'limit' change together or not at all.",
        "Exactly one of 'owner' and 'tenant' is 1.",
        "A change of 'age' is weighted by 2.",
        "Values may become missing.",
    ]
    assert Constraints().describe() == []
    assert Constraints(max_changed=1).describe() == ["At most 1 feature may change."]
    assert Constraints(groups=[["a", "b", "c"]]).describe() == ["'a', 'b' and 'c' change together or not at all."]


def test_plain_json():
    stored = Constraints(**SAID).to_dict()
    assert json.loads(json.dumps(stored, allow_nan=False)) == stored
    assert stored == {
        "fixed": ["age"],
        "ranges": {"income": [1, 2.5], "limit": [None, 3], "grade": ["mid", None], "age": [None, None]},
        "allowed": {
            "purpose": {"from_to": [["car", ["study", None]], [None, ["car"]], ["study", []]]},
            "reason": ["car", "study"],
        },
        "direction": {"grade": "increase"},
        "max_changed": 2,
        "rules": [["income", "<=", "limit"], {"function": "adults"}, {"function": "adults"}],
        "groups": [["income", "limit"]],
        "exactly_one": [["owner", "tenant"]],
        "weights": {"age": 2.0},
        "allow_missing": True,
    }
    assert Constraints().to_dict() == {}
