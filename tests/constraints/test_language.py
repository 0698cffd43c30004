"""`Constraints`: what may be said, what it means, and what is refused with which words."""

from __future__ import annotations

import copy
import functools
import json
import math
import pickle
import re
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given

from countarfactuals import MISSING
from countarfactuals.constraints import Clause, Constraints, clause_text
from countarfactuals.exceptions import ConstraintError, DataError, Setting
from countarfactuals.language import Catalogue, speaking
from countarfactuals.language.vocabulary import TEXT, words_of
from countarfactuals.schema import Schema

from .twin import cases

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


def test_formulas_are_compared():
    rules = ["income <= 0.8 * limit", "age > income", "max(age, limit) - owner < 100", "owner > tenant"]
    limits = bind(0, rules=rules)
    rng = np.random.default_rng(1)
    rows = np.repeat(limits.x[None], 200, axis=0)
    place = {name: SCHEMA.index(name) for name in ("income", "limit", "age", "owner", "tenant")}
    for name in ("income", "limit", "age"):
        rows[:, place[name]] = np.where(rng.random(200) < 0.2, np.nan, rng.uniform(0, 200, 200))
    for name in ("owner", "tenant"):
        rows[:, place[name]] = rng.integers(0, 2, 200)
    income, limit, age, owner, tenant = (rows[:, j].tolist() for j in place.values())

    def broken(i: int, said: bool, *cells: float) -> bool:
        return not said and not any(map(math.isnan, cells))

    wanted = {
        "rule 1: income <= 0.8 * limit": [
            broken(i, income[i] <= 0.8 * limit[i], income[i], limit[i]) for i in range(200)
        ],
        "rule 2: age > income": [broken(i, age[i] > income[i], age[i], income[i]) for i in range(200)],
        "rule 3: max(age, limit) - owner < 100": [
            broken(i, max(age[i], limit[i]) - owner[i] < 100, age[i], limit[i]) for i in range(200)
        ],
        "rule 4: owner > tenant": [broken(i, owner[i] > tenant[i]) for i in range(200)],
    }
    found = limits.violations(rows)
    assert {name: found[name].tolist() for name in wanted} == wanted
    assert all(any(cells) for cells in wanted.values())


def test_formulas_are_told_and_kept():
    constraints = Constraints(rules=["income <= 0.8 * limit", "income <= limit"])
    assert constraints.rules[1] == ("income", "<=", "limit")
    assert constraints.describe() == ["income <= 0.8 * limit.", "'income' <= 'limit'."]
    stored = json.loads(json.dumps(constraints.to_dict()))
    assert stored == {"rules": ["income <= 0.8 * limit", ["income", "<=", "limit"]]}
    assert Constraints.from_dict(stored) == constraints
    clause = next(iter(constraints.bind(SCHEMA, ROWS[0]).violations(ROWS)))
    assert clause_text(Clause.from_dict(clause.to_dict())) == "income <= 0.8 * limit"
    names = Constraints(derived={"income": "2 * limit", "age": adults}).bind(SCHEMA, ROWS[0]).names
    stored = [json.loads(json.dumps(clause.to_dict())) for clause in names if clause.kind == "derived"]
    texts = [clause_text(Clause.from_dict(clause)) for clause in stored]
    assert texts == ["'income' is 2 * limit", "'age' is computed by adults"]


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
    assert limits.violations(rows)[limits.names[0]].tolist() == [True, False]
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
    assert not np.any(list(limits.violations(rows)["rule 2: frame['age'] > 0"]))
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
        (lambda frame: True, r"'rule 1: True' must return one bool per row, shape \(3,\), got shape \(\)"),
        (lambda frame: frame["age"], r"one bool per row, shape \(3,\), got shape \(3,\) of type int64"),
        (lambda frame: frame[["owner"]], r"got shape \(3, 1\)"),
        (lambda frame: frame["owner"][:2], r"Series whose 2 labels are not those of the 3 rows"),
        (lambda frame: frame["owner"].to_numpy()[:2], r"got shape \(2,\)"),
        (lambda frame: ["yes", "no", "no"], r"got shape \(3,\)"),
        (
            lambda frame: frame["aeg"] > 3,
            r"rule 1: frame\['aeg'\] > 3\W+failed on a frame of 3 row\(s\) with KeyError: 'aeg'",
        ),
        (lambda frame: [[1], [1, 2]], r"'rule 1: \[\[1\], \[1, 2\]\]' failed .* with ValueError"),
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
        ({"rules": ("a", "<", "b")}, "The rule 'a' can not be used: it compares no columns"),
        ({"rules": [1]}, r"A rule must be \(column, sign, column\), a text or a function of a frame, got 1"),
        ({"rules": ["1 < 2"]}, "compares no columns"),
        ({"rules": ["a + b"]}, "compares no columns"),
        ({"rules": ["a < b < c"]}, "The rule 'a < b < c' can not be used: 'a < b < c' is not allowed"),
        ({"rules": ["open('x') < a"]}, "is not allowed"),
        ({"rules": [("a", "=<", "b")]}, r"The sign of rule \('a', '=<', 'b'\) must be one of <, <=, >, >=, ==, !="),
        ({"rules": [("a", 3, "b")]}, "The sign of rule"),
        (
            {"groups": ["a", "b"]},
            r"An entry of `groups` must be a list of columns, got 'a'\. .*groups=\[\[\"a\", \"b\"\]\]",
        ),
        ({"groups": 1}, "`groups` must be a list of lists of columns"),
        ({"exactly_one": ["a", "b"]}, "An entry of `exactly_one` must be a list of columns"),
        ({"weights": [1, 2]}, "`weights` must be a dict by column"),
        ({"weights": {"age": -1}}, "The weight of 'age' must be a finite number of at least 0, or one of .*; got -1"),
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
        ({"rules": ["age < 2 * incom"]}, "`rules`: There is no column 'incom'"),
        ({"rules": ["age < 2 * grade"]}, "'age < 2 \\* grade' names 'grade', which holds levels"),
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
    missing = {"$missing": True}
    assert stored == {
        "fixed": ["age"],
        "ranges": {"income": [1, 2.5], "limit": [None, 3], "grade": ["mid", None], "age": [None, None]},
        "allowed": {
            "purpose": {"from_to": [["car", ["study", missing]], [missing, ["car"]], ["study", []]]},
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


def test_json_and_back():
    said = {name: value for name, value in SAID.items() if name != "rules"}
    said |= {"rules": [("income", "<=", "limit")], "ranges": {**SAID["ranges"], "age": (None, None)}}
    constraints = Constraints(**said)
    assert Constraints.from_dict(json.loads(json.dumps(constraints.to_dict()))) == constraints
    assert Constraints.from_dict({}) == Constraints()


@given(cases())
def test_random_constraints_survive_json(case):
    constraints = Constraints(**case.said | {"rules": [rule for rule in case.said["rules"] if not callable(rule)]})
    assert Constraints.from_dict(json.loads(json.dumps(constraints.to_dict(), allow_nan=False))) == constraints


def test_names_and_levels_keep_their_types_in_json():
    said = Constraints(
        fixed=[1, "1", ("a", 2)],
        ranges={0: (1, np.float32(2.5)), "0": (None, math.inf)},
        allowed={("a", 1): [True, 1, "1", MISSING], 3: {MISSING: [0], False: [MISSING]}},
        groups=[[("a", 2), 1]],
        rules=[(0, "<", ("a", 2))],
        weights={pd.Timestamp("2024-02-03"): 2},
    )
    back = Constraints.from_dict(json.loads(json.dumps(said.to_dict(), allow_nan=False)))
    assert repr(back) == repr(said).replace("np.float32(2.5)", "2.5").replace("inf", "None")
    assert [type(level) for level in back.allowed["a", 1][:3]] == [bool, int, str]


def test_json_of_version_1_is_read():
    stored = {"allowed": {"purpose": {"from_to": [["car", [None]], [None, ["car"]]]}, "reason": ["car", None]}}
    allowed = {"purpose": {"car": [MISSING], MISSING: ["car"]}, "reason": ["car", MISSING]}
    assert Constraints.from_dict(stored) == Constraints(allowed=allowed)


def test_a_function_comes_back_by_its_name_and_does_not_judge():
    back = Constraints.from_dict(Constraints(rules=[adults]).to_dict())
    assert back.describe() == ["The rule adults holds."]
    assert back.to_dict() == {"rules": [{"function": "adults"}]}
    limits = back.bind(SCHEMA, ROWS[0])
    assert limits.liftable == ("rule 1: adults",)
    with pytest.raises(ConstraintError, match="'adults' is a function, of which files keep the name alone"):
        limits.hold(ROWS[:1])


def test_an_unknown_kind():
    for make in (lambda: Constraints(fixd=["age"]), lambda: Constraints.from_dict({"fixd": ["age"]})):
        with pytest.raises(ConstraintError, match=r"no constraint 'fixd'; known: fixed, .*Did you mean 'fixed'\?"):
            make()


# As data


def test_clauses_tell_what_they_stand_for():
    limits = bind(0, **{**SAID, "max_changed": 2, "fixed": ["age"], "exactly_one": [], "rules": SAID["rules"][:2]})
    told = {clause: (clause.kind, clause.columns, clause.value) for clause in limits.names}
    assert told["range: limit"] == ("ranges", ("limit",), (None, 3))
    assert told["direction: grade"] == ("direction", ("grade",), "increase")
    assert told["rule 1: income <= limit"] == ("rules", ("income", "limit"), "<=")
    assert told["rule 2: adults"] == ("rules", (), "adults")
    assert told["group: income, limit"] == ("groups", ("income", "limit"), None)
    assert told["max_changed"] == ("max_changed", (), 2)
    for clause in limits.names:
        again = [pickle.loads(pickle.dumps(clause)), copy.deepcopy(clause)]
        again.append(Clause.from_dict(json.loads(json.dumps(clause.to_dict(), allow_nan=False))))
        for other in again:
            assert (other, other.kind, other.columns) == (clause, clause.kind, clause.columns)
            assert repr(other.value).replace("np.float64(2.5)", "2.5") == repr(clause.value).replace(
                "np.float64(2.5)", "2.5"
            )


def test_words_of_a_reader():
    names = [*FRAME, "born in, at"]
    words = words_of(names, {"income": "€", "limit": "months"}, "rows", None, TEXT)
    said = Constraints(
        fixed=["born in, at"],
        ranges={"income": (1000, 60000.5), "limit": (None, 1), "grade": ("low", None)},
        allowed={"purpose": ["purpose", MISSING]},
        rules=[("income", "<=", "limit")],
        groups=[["age", "income", "limit"]],
    )
    assert said.describe(words) == [
        "“born in, at” does not change.",
        "If income changes, it becomes a value from €1,000 to €60,000.5.",
        "If limit changes, it becomes at most 1 month.",
        "If grade changes, it becomes at least low.",
        "If purpose changes, it becomes 'purpose' or missing.",
        "income <= limit.",
        "age, income and limit change together or not at all.",
    ]


def test_every_word_can_be_of_another_language():
    class Strange(Catalogue):
        def phrase(self, english: str) -> str:
            return "".join(part if part.startswith("{") else "§" for part in re.split(r"(\{.*?\})", english) if part)

    english = Constraints(**SAID).describe()
    with speaking(Strange("xx")):
        said = [*Constraints(**SAID).describe(), *(clause_text(name) for name in bind(**ONE_OF_ALL).names)]
    kept = set(re.findall(r"[A-Za-z_]+", repr(SAID) + repr(ONE_OF_ALL))) | {"adults"}
    assert len(english) < len(said)
    assert {word for sentence in said for word in re.findall("[A-Za-z_]+", sentence)} <= kept


ONE_OF_ALL = {**SAID, "ranges": {"income": (1, 2)}, "allow_missing": False, "allowed": {"reason": ["car"]}}


def test_errors_tell_what_they_speak_of():
    with pytest.raises(ConstraintError) as caught:
        bind(ranges={"incom": (1, 2)})
    assert caught.value.fields["parameter"] == Setting("ranges")
    assert caught.value.fields["column"] == "incom"
    assert caught.value.worded({"ranges": "--range"}).startswith("--range: There is no column 'incom'")
