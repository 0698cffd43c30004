"""Schema: what goes in comes out, for every backend and type, and every refusal says why."""

from __future__ import annotations

import datetime as dt
import enum
import json
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal as assert_polars_equal

from countarfactuals.exceptions import DataError, DataTypeError
from countarfactuals.schema import Column, Kind, Schema

pandas_equal = pd.testing.assert_frame_equal


def same(got, expected):
    """Equal in values, types, order and missing cells."""
    assert type(got) is type(expected)
    if isinstance(expected, pd.DataFrame):
        pandas_equal(got, expected)
        assert [str(dtype) for dtype in got.dtypes] == [str(dtype) for dtype in expected.dtypes]
    elif isinstance(expected, pl.DataFrame):
        # as strings: before polars 1.32 codes of categoricals made apart can not be compared
        assert_polars_equal(got, expected, check_exact=True, categorical_as_str=True)
    elif isinstance(expected, pa.Table):
        assert got.schema.equals(expected.schema)
        assert got.equals(expected)
    else:
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)


def round_trip(X):
    """Through a schema, and through the same schema stored as JSON."""
    schema = Schema.infer(X)
    stored = Schema.from_dict(json.loads(json.dumps(schema.to_dict(), allow_nan=False)))
    assert stored == schema
    assert [[type(level) for level in column.levels] for column in stored.columns] == [
        [type(level) for level in column.levels] for column in schema.columns
    ]
    return stored.decode(schema.encode(X))


def infer_one(values):
    return Schema.infer(values.to_frame("a") if isinstance(values, pd.Series) else values).columns[0]


ARROW_DICTIONARY = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
PANDAS = {
    "float64": (pd.Series([1.5, np.nan, -2.0]), Kind.REAL),
    "float32": (pd.Series([0.1, np.nan, 1 / 3], dtype="float32"), Kind.REAL),
    "float16": (pd.Series([0.1, np.nan], dtype="float16"), Kind.REAL),
    "Float64": (pd.Series([0.1, None], dtype="Float64"), Kind.REAL),
    "Float32": (pd.Series([0.1, None], dtype="Float32"), Kind.REAL),
    "double[pyarrow]": (pd.Series([0.1, None], dtype="double[pyarrow]"), Kind.REAL),
    "float[pyarrow]": (pd.Series([0.1, None], dtype="float[pyarrow]"), Kind.REAL),
    "int64": (pd.Series([1, -(2**53)]), Kind.INTEGER),
    "uint8": (pd.Series([0, 255], dtype="uint8"), Kind.INTEGER),
    "int16": (pd.Series([-300, 4], dtype="int16"), Kind.INTEGER),
    "uint64": (pd.Series([0, 2**53], dtype="uint64"), Kind.INTEGER),
    "Int64": (pd.Series([1, None], dtype="Int64"), Kind.INTEGER),
    "UInt16": (pd.Series([1, None], dtype="UInt16"), Kind.INTEGER),
    "int64[pyarrow]": (pd.Series([1, None], dtype="int64[pyarrow]"), Kind.INTEGER),
    "uint8[pyarrow]": (pd.Series([1, None], dtype="uint8[pyarrow]"), Kind.INTEGER),
    "bool": (pd.Series([True, False]), Kind.BOOLEAN),
    "one bool": (pd.Series([True, True]), Kind.BOOLEAN),
    "boolean": (pd.Series([True, None, False], dtype="boolean"), Kind.BOOLEAN),
    "bool[pyarrow]": (pd.Series([True, None], dtype="bool[pyarrow]"), Kind.BOOLEAN),
    "default strings": (pd.Series(["b", "a", None]), Kind.CATEGORY),
    "string[python]": (pd.Series(["b", None], dtype=pd.StringDtype("python")), Kind.CATEGORY),
    "string[pyarrow]": (pd.Series(["b", None], dtype=pd.StringDtype("pyarrow")), Kind.CATEGORY),
    "arrow string": (pd.Series(["b", None], dtype=pd.ArrowDtype(pa.string())), Kind.CATEGORY),
    "arrow large_string": (pd.Series(["b", None], dtype=pd.ArrowDtype(pa.large_string())), Kind.CATEGORY),
    "arrow dictionary": (pd.Series(["b", None, "a"], dtype=ARROW_DICTIONARY), Kind.CATEGORY),
    "object strings": (pd.Series(["b", None, "a"], dtype=object), Kind.CATEGORY),
    "object mixed": (pd.Series(["b", 2, None, 1.5], dtype=object), Kind.CATEGORY),
    "object ints": (pd.Series([3, None, 1], dtype=object), Kind.INTEGER),
    "object floats": (pd.Series([3.5, None, 1], dtype=object), Kind.REAL),
    "object bools": (pd.Series([True, None], dtype=object), Kind.BOOLEAN),
    "category": (pd.Series(pd.Categorical(["b", None, "a"], ["z", "b", "a"])), Kind.CATEGORY),
    "category of ints": (pd.Series(pd.Categorical([2, 1, None], [2, 1])), Kind.CATEGORY),
    "category of floats": (pd.Series(pd.Categorical([0.5, 1.0])), Kind.CATEGORY),
    "category of bools": (pd.Series(pd.Categorical([True, False, None])), Kind.CATEGORY),
    "category of objects": (
        pd.Series(pd.Categorical(["b", "a"], pd.Index(["a", "b"], dtype=object))),
        Kind.CATEGORY,
    ),
    "ordered": (pd.Series(pd.Categorical(["lo", None], ["lo", "hi"], ordered=True)), Kind.ORDERED),
}
POLARS = {
    "Float64": (pl.Series([0.1, None]), Kind.REAL),
    "Float32": (pl.Series([0.1, None, 1 / 3], dtype=pl.Float32), Kind.REAL),
    "Int64": (pl.Series([1, None]), Kind.INTEGER),
    "Int16": (pl.Series([1, None], dtype=pl.Int16), Kind.INTEGER),
    "UInt8": (pl.Series([255, None], dtype=pl.UInt8), Kind.INTEGER),
    "UInt64": (pl.Series([2**53, None], dtype=pl.UInt64), Kind.INTEGER),
    "Boolean": (pl.Series([True, None, False]), Kind.BOOLEAN),
    "String": (pl.Series(["b", None, "a"]), Kind.CATEGORY),
    "Categorical": (pl.Series(["b", None, "a"], dtype=pl.Categorical), Kind.CATEGORY),
    "Enum": (pl.Series(["b", None, "a"], dtype=pl.Enum(["z", "b", "a"])), Kind.CATEGORY),
}
if hasattr(pl, "Categories"):
    NAMED = pl.Categorical(pl.Categories("colours", "test", pl.UInt8))
    POLARS["named Categories"] = (pl.Series(["b", None, "a"], dtype=NAMED), Kind.CATEGORY)
if hasattr(pl, "Float16"):
    POLARS["Float16"] = (pl.Series([0.1, None], dtype=pl.Float16), Kind.REAL)
PYARROW = {
    "double": (pa.array([0.1, None]), Kind.REAL),
    "float": (pa.array([0.1, None, 1 / 3], pa.float32()), Kind.REAL),
    "halffloat": (pa.array(np.array([0.1, 3], dtype=np.float16), mask=np.array([False, True])), Kind.REAL),
    "int64": (pa.array([1, None]), Kind.INTEGER),
    "uint8": (pa.array([255, None], pa.uint8()), Kind.INTEGER),
    "int16": (pa.array([-300, None], pa.int16()), Kind.INTEGER),
    "bool": (pa.array([True, None]), Kind.BOOLEAN),
    "string": (pa.array(["b", None, "a"]), Kind.CATEGORY),
    "large_string": (pa.array(["b", None, "a"], pa.large_string()), Kind.CATEGORY),
    "dictionary": (pa.DictionaryArray.from_arrays([1, None, 2], ["z", "b", "a"]), Kind.CATEGORY),
    "dictionary of ints": (pa.array([5, None, 3]).dictionary_encode(), Kind.CATEGORY),
    "dictionary int8": (
        pa.DictionaryArray.from_arrays(pa.array([0, None], pa.int8()), pa.array(["b"], pa.large_string())),
        Kind.CATEGORY,
    ),
    "ordered dictionary": (pa.DictionaryArray.from_arrays([1, None], ["lo", "hi"], ordered=True), Kind.ORDERED),
}
NUMPY = {
    "float64": (np.array([[0.1, 1.0], [np.nan, 2.0]]), Kind.REAL),
    "fortran": (np.asfortranarray(np.arange(6.0).reshape(3, 2)), Kind.REAL),
    "float32": (np.array([[0.1, np.nan]], dtype=np.float32).T, Kind.REAL),
    "float16": (np.array([[0.1, 3]], dtype=np.float16).T, Kind.REAL),
    "int64": (np.array([[1, 2], [3, 4]]), Kind.INTEGER),
    "uint8": (np.array([[1, 255]], dtype=np.uint8), Kind.INTEGER),
    "bool": (np.array([[True, False], [True, True]]), Kind.BOOLEAN),
    "strings": (np.array([["a", "long"], ["b", "c"]]), Kind.CATEGORY),
    "objects": (np.array([["a", 1, 1.5, True], ["b", None, 2.0, False]], dtype=object), Kind.CATEGORY),
}
FRAMES = {
    **{f"pandas {key}": (values.to_frame("a"), kind) for key, (values, kind) in PANDAS.items()},
    **{f"polars {key}": (values.alias("a").to_frame(), kind) for key, (values, kind) in POLARS.items()},
    **{f"pyarrow {key}": (pa.table({"a": values}), kind) for key, (values, kind) in PYARROW.items()},
    **{f"numpy {key}": case for key, case in NUMPY.items()},
}


@pytest.mark.parametrize("case", FRAMES)
def test_every_type_comes_back(case):
    X, kind = FRAMES[case]
    assert Schema.infer(X).columns[0].kind is kind
    assert Schema.infer(X).backend == case.split()[0]
    same(round_trip(X), X)


@pytest.mark.parametrize("case", FRAMES)
def test_encode_is_float_and_leaves_its_input_alone(case):
    X, _ = FRAMES[case]
    before = X.copy() if isinstance(X, pd.DataFrame | np.ndarray) else X.clone() if isinstance(X, pl.DataFrame) else X
    schema = Schema.infer(X)
    matrix = schema.encode(X)
    assert matrix.dtype == np.float64
    assert matrix.shape == X.shape
    matrix[:] = -1  # nor may the matrix be a view of the data
    same(X, before)
    codes = schema.encode(X)
    kept = codes.copy()
    schema.decode(codes)
    np.testing.assert_array_equal(codes, kept)


def test_matrix_does_not_share_memory_with_a_float_array():
    X = np.ones((3, 2))
    assert not np.shares_memory(Schema.infer(X).encode(X), X)


def test_coding_of_cells():
    X = pd.DataFrame(
        {"n": [2.5, None], "b": [True, False], "c": ["x", "w"], "o": pd.Categorical(["q", None], ["p", "q"])}
    )
    np.testing.assert_array_equal(Schema.infer(X).encode(X), [[2.5, 1, 1, 1], [np.nan, 0, 0, np.nan]])


@pytest.mark.parametrize("marker", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("values", [["b", "a"], [1, 2], [1.5, 2], [True, False]])
def test_all_pandas_markers_are_missing(marker, values):
    X = pd.DataFrame({"a": pd.Series([*values, marker], dtype=object)})
    schema = Schema.infer(X)
    assert np.isnan(schema.encode(X)[:, 0]).tolist() == [False, False, True]
    assert schema.decode(schema.encode(X))["a"].tolist() == [*values, None]
    assert schema.columns[0].kind is infer_one(pd.Series(values, dtype=object)).kind


def test_nan_of_polars_and_pyarrow_is_missing_and_comes_back_as_null():
    for X in (pl.DataFrame({"a": [math.nan, 1.0]}), pa.table({"a": [math.nan, 1.0]})):
        schema = Schema.infer(X)
        assert np.isnan(schema.encode(X)[0, 0])
        back = schema.decode(schema.encode(X))["a"]
        assert (back.to_pylist() if isinstance(X, pa.Table) else back.to_list()) == [None, 1.0]


def test_chunked_pyarrow_dictionaries_are_joined():
    first, second = pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", None, "a"]).dictionary_encode()
    X = pa.table({"a": pa.chunked_array([first, second])})
    schema = Schema.infer(X)
    assert schema.columns[0].levels == ("a", "b", "c")
    assert schema.decode(schema.encode(X))["a"].to_pylist() == ["a", "b", "c", None, "a"]


def test_polars_categories_of_other_columns_are_no_levels():
    X = pl.DataFrame({"a": ["b", "a"], "other": ["z", "y"]}, schema={"a": pl.Categorical, "other": pl.Categorical})
    assert [column.levels for column in Schema.infer(X).columns] == [("a", "b"), ("y", "z")]


def test_levels_keep_the_declared_order_or_are_sorted():
    assert infer_one(pd.Series(pd.Categorical(["a"], ["z", "b", "a"]))).levels == ("z", "b", "a")
    assert infer_one(pd.Series(["b", "c", "a"])).levels == ("a", "b", "c")
    assert infer_one(pd.Series(["b", 10, "a", 9], dtype=object)).levels == (9, 10, "a", "b")
    assert infer_one(pl.DataFrame({"a": pl.Series(["a"], dtype=pl.Enum(["z", "a"]))})).levels == ("z", "a")
    assert infer_one(pd.Series([True, True])).levels == (False, True)


def test_levels_are_plain_scalars():
    class Size(enum.StrEnum):
        BIG = "big"

    levels = infer_one(pd.Series([np.str_("b"), np.int64(2), np.float64(1.5), Size.BIG], dtype=object)).levels
    assert sorted(type(level).__name__ for level in levels) == ["float", "int", "str", "str"]
    assert "big" in levels
    assert [type(level) for level in infer_one(pd.Series(pd.Categorical(np.array([1, 2])))).levels] == [int, int]


# decimals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([1.0, 250.0], 0),
        ([0.1], 1),
        ([0.5, 0.25], 2),
        ([-1.25, 3.0], 2),
        ([-0.001], 3),
        ([1e-05], 5),
        ([3e-05, 1.0], 5),
        ([1e-12], 12),
        ([1e-13], None),
        ([123456.78], 2),
        ([1234567890.123], 3),
        ([1e300], 0),
        ([math.pi], None),
        ([1 / 3, 0.5], None),
        ([1e6 * math.pi], None),
        ([0.1 + 0.2], None),
        ([0.0], 0),
    ],
)
def test_decimals(values, decimals):
    assert infer_one(pd.Series(values)).decimals == decimals
    assert infer_one(pd.Series([*values, np.nan])).decimals == decimals


@pytest.mark.parametrize("dtype", ["float32", "Float32", "float[pyarrow]"])
@pytest.mark.parametrize(("values", "decimals"), [([0.1], 1), ([1e-05], 5), ([-2.75, 8], 2), ([1 / 3], None), ([7], 0)])
def test_decimals_are_judged_in_float32(values, decimals, dtype):
    X = pd.DataFrame({"a": pd.Series(values, dtype=dtype)})
    assert infer_one(X).decimals == decimals
    assert infer_one(pl.from_pandas(X)).decimals == decimals


def test_one_row_far_down_decides_the_decimals():
    values = np.ones(5_000)
    values[-1] = 0.125
    assert infer_one(pd.Series(values)).decimals == 3


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1), st.integers(0, 5))
def test_decimals_agree_with_decimal_strings(units, scale):
    values = [float(f"{unit}e-{scale}") for unit in units]
    exponents = [Decimal(repr(value)).normalize().as_tuple().exponent for value in values]
    assert infer_one(pd.Series(values)).decimals == max(0, -min(exponents))


def test_step_and_other_properties():
    assert Column("a", Kind.REAL, decimals=5).step == 1e-05
    assert Column("a", Kind.REAL).step == 0.0
    assert Column("a", Kind.INTEGER, decimals=0).step == 1.0
    assert Column("a", Kind.CATEGORY, ("x", "y")).step == 0.0
    assert Column("a", Kind.CATEGORY, ("x", "y")).n_levels == 2
    assert [Column("a", kind).is_number for kind in Kind] == [True, True, False, False, False]
    assert infer_one(pd.Series([1, 2])).decimals == 0


# round trips of mixed frames --------------------------------------------------------------------------------

REALS = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
SINGLES = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False, width=32))
INTEGERS = st.one_of(st.none(), st.integers(-(2**53), 2**53))
BYTES = st.integers(0, 255)
BOOLEANS = st.one_of(st.none(), st.booleans())
TEXTS = st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4))
LETTERS = st.one_of(st.none(), st.sampled_from("abc"))
ROWS = st.lists(st.tuples(REALS, SINGLES, INTEGERS, BYTES, BOOLEANS, TEXTS, LETTERS), min_size=1, max_size=12)
FULL_ROW = (0.5, 0.5, 1, 1, True, "t", "a")  # so that no column is all missing


@given(ROWS)
def test_any_pandas_frame_comes_back(rows):
    real, single, integer, byte, boolean, text, letter = zip(FULL_ROW, *rows, strict=True)
    X = pd.DataFrame(
        {
            "real": pd.Series(real, dtype="float64"),
            "single": pd.Series(single, dtype="float32"),
            "integer": pd.Series(integer, dtype="Int64"),
            "byte": pd.Series(byte, dtype="uint8"),
            "boolean": pd.Series(boolean, dtype="boolean"),
            "text": pd.Series(text, dtype=object),
            "string": pd.Series(text, dtype="string"),
            "letter": pd.Categorical(letter, ["c", "b", "a"], ordered=True),
        }
    )
    same(round_trip(X), X)


@given(ROWS)
def test_any_polars_frame_comes_back(rows):
    schema = {
        "real": pl.Float64,
        "single": pl.Float32,
        "integer": pl.Int64,
        "byte": pl.UInt8,
        "boolean": pl.Boolean,
        "text": pl.String,
        "letter": pl.Enum(["c", "b", "a"]),
    }
    X = pl.DataFrame([FULL_ROW, *rows], schema=schema, orient="row")
    same(round_trip(X), X)
    arrow = X.drop("letter").to_arrow()
    same(round_trip(arrow), arrow)


# columns by name, in any order ------------------------------------------------------------------------------


@pytest.fixture
def loans():
    return pd.DataFrame({"age": [30, 41], "income": [1.5, 2.5], "job": ["clerk", "baker"], "owner": [True, False]})


def test_columns_are_found_by_name(loans):
    schema = Schema.infer(loans)
    np.testing.assert_array_equal(schema.encode(loans[["job", "owner", "income", "age"]]), schema.encode(loans))


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas, pd.DataFrame.to_numpy])
def test_other_libraries_may_encode(loans, convert):
    schema = Schema.infer(loans)
    np.testing.assert_array_equal(schema.encode(convert(loans)), schema.encode(loans))


def test_numpy_schema_takes_frames_with_its_names():
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    schema = Schema.infer(array)
    assert schema.names == ("x0", "x1")
    np.testing.assert_array_equal(schema.encode(pl.DataFrame({"x1": [2.0, 4.0], "x0": [1.0, 3.0]})), array)


def test_float_array_by_position_for_booleans_and_integer_levels():
    X = pd.DataFrame({"b": [True, False], "c": pd.Categorical([7, 5])})
    schema = Schema.infer(X)
    np.testing.assert_array_equal(schema.encode(np.array([[1.0, 5.0], [0.0, np.nan]])), [[1, 0], [0, np.nan]])


def test_subset_and_present(loans):
    schema = Schema.infer(loans)
    some = loans[["owner", "income"]]
    assert schema.present(some) == (1, 3)
    np.testing.assert_array_equal(
        schema.encode(some, subset=True), [[np.nan, 1.5, np.nan, 1], [np.nan, 2.5, np.nan, 0]]
    )


def test_all_missing_column_is_fine_in_encode(loans):
    schema = Schema.infer(loans)
    for nothing in (loans.assign(job=None), loans.assign(job=np.nan), pl.from_pandas(loans).with_columns(job=None)):
        assert np.isnan(schema.encode(nothing)[:, 2]).all()


def test_numbers_may_change_their_type(loans):
    schema = Schema.infer(loans)
    got = schema.encode(loans.assign(age=[30.0, None], income=[1, 2]))
    np.testing.assert_array_equal(got[:, :2], [[30, 1], [np.nan, 2]])


def test_names_that_are_not_strings():
    X = pd.DataFrame({0: [1.0], 7: ["a"], "c": [True]})
    assert Schema.infer(X).names == (0, 7, "c")
    same(round_trip(X), X)
    nested = pd.DataFrame([[1.0, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("b", "y")]))
    same(round_trip(nested), nested)
    assert [type(name) for name in Schema.infer(pd.DataFrame(np.ones((1, 2)))).names] == [int, int]


def test_index_is_not_kept(loans):
    schema = Schema.infer(loans)
    moved = loans.set_axis([7, 3])
    same(schema.decode(schema.encode(moved)), loans)


def test_select_append_index(loans):
    schema = Schema.infer(loans)
    assert schema.select([2, 0]).names == ("job", "age")
    assert schema.index("job") == 2
    same(schema.decode(schema.encode(loans)[:, [2, 0]], columns=[2, 0]), loans[["job", "age"]])
    longer = schema.append(Column("y", Kind.CATEGORY, ("no", "yes")))
    assert longer.names == (*schema.names, "y")
    assert schema.names == tuple(loans.columns)


@pytest.mark.parametrize("convert", [lambda X: X, pl.from_pandas, pa.Table.from_pandas, pd.DataFrame.to_numpy])
def test_appended_columns_without_a_type_are_written(loans, convert):
    X = convert(loans[["income"]])
    schema = Schema.infer(X)
    for column in (
        Column("y", Kind.CATEGORY, ("no", "yes")),
        Column("i", Kind.INTEGER),
        Column("r", Kind.REAL),
        Column("b", Kind.BOOLEAN, (False, True)),
    ):
        schema = schema.append(column)
    got = schema.decode(np.array([[1.5, 1, 3, 0.5, 1], [2.5, 0, 4, 1.5, 0]]))
    rows = got.tolist() if isinstance(got, np.ndarray) else pl.DataFrame(got).rows()
    assert [list(row) for row in rows] == [[1.5, "yes", 3, 0.5, True], [2.5, "no", 4, 1.5, False]]


# declared orders --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (pd.Series(["mid", "low", None]), ["low", "mid", "high"]),
        (pd.Series([3, 1, 2], dtype="uint8"), [1, 2, 3, 4]),
        (pd.Series([0.5, np.nan], dtype="float32"), [0.5, 1.5]),
        (pd.Series(pd.Categorical(["mid", "low", None], ["high", "low", "mid"])), ["low", "mid"]),
        (pd.Series(["b", "a", None], dtype=ARROW_DICTIONARY), ["a", "b"]),
        (pd.Series([True, False]), [True, False]),
    ],
)
def test_declared_order_keeps_the_type(values, order):
    X = values.to_frame("a")
    schema = Schema.infer(X, ordered={"a": order})
    column = schema.columns[0]
    assert (column.kind, column.levels) == (Kind.ORDERED, tuple(order))
    known = values.dropna()
    assert schema.encode(X)[: len(known), 0].tolist() == [order.index(value) for value in known]
    same(schema.decode(schema.encode(X)), X)


def test_declared_order_in_other_libraries():
    polars = pl.DataFrame({"a": pl.Series(["m", None, "l"], dtype=pl.Enum(["h", "l", "m"]))})
    arrow = pa.table({"a": pa.array(["m", None, "l"]).dictionary_encode()})
    for X in (polars, arrow):
        schema = Schema.infer(X, ordered={"a": ["l", "m"]})
        np.testing.assert_array_equal(schema.encode(X)[:, 0], [1, np.nan, 0])
        same(schema.decode(schema.encode(X)), X)


def test_declared_order_errors():
    X = pd.DataFrame({"size": ["s", "m"], "cut": pd.Categorical(["p", "q"])})
    with pytest.raises(DataError, match=r"no column 'sise'.*Did you mean 'size'"):
        Schema.infer(X, ordered={"sise": ["s", "m"]})
    with pytest.raises(DataError, match=r"'size'.*unknown level 'm' in row 1.*Known levels: 's'"):
        Schema.infer(X, ordered={"size": ["s"]})
    with pytest.raises(DataError, match=r"'size' must list each level once"):
        Schema.infer(X, ordered={"size": ["s", "m", "s"]})
    with pytest.raises(DataError, match=r"'cut' lists 'r', which its type category does not have.*'p', 'q'"):
        Schema.infer(X, ordered={"cut": ["p", "q", "r"]})


# what decode must change ------------------------------------------------------------------------------------


def test_missing_in_a_type_without_marker():
    X = pd.DataFrame({"i": [1, 2], "u": np.array([1, 2], dtype="uint8"), "b": [True, False]})
    got = Schema.infer(X).decode(np.array([[1, np.nan, np.nan], [np.nan, 2, 1]]))
    same(
        got,
        pd.DataFrame(
            {
                "i": pd.Series([1, None], dtype="Int64"),
                "u": pd.Series([None, 2], dtype="UInt8"),
                "b": pd.Series([None, True], dtype="boolean"),
            }
        ),
    )


def test_missing_in_numpy_arrays():
    assert Schema.infer(np.array([[1, 2]])).decode(np.array([[np.nan, 2]])).dtype == np.float64
    got = Schema.infer(np.array([["a", "b"]])).decode(np.array([[np.nan, 0]]))
    assert got.tolist() == [[None, "b"]]
    assert Schema.infer(np.array([[True]])).decode(np.array([[np.nan]])).tolist() == [[None]]


@pytest.mark.parametrize(
    ("X", "wide"),
    [
        (pd.DataFrame({"a": pd.Series([1], dtype="uint8")}), "int64"),
        (pd.DataFrame({"a": pd.Series([1], dtype="UInt8")}), "Int64"),
        (pd.DataFrame({"a": pd.Series([1], dtype="int8[pyarrow]")}), "int64[pyarrow]"),
        (pl.DataFrame({"a": pl.Series([1], dtype=pl.UInt8)}), "Int64"),
    ],
)
def test_integers_widen_rather_than_wrap(X, wide):
    got = Schema.infer(X).decode(np.array([[-3.0], [300.0]]))["a"]
    assert str(got.dtype) == wide
    assert list(got) == [-3, 300]


def test_integers_are_rounded_in_decode():
    X = pd.DataFrame({"a": [1, 2]})
    assert Schema.infer(X).decode(np.array([[1.6], [-0.4]]))["a"].tolist() == [2, 0]


def test_decode_errors(loans):
    schema = Schema.infer(loans)
    good = schema.encode(loans)
    with pytest.raises(DataError, match=r"shape \(2, 3\), expected two dimensions and 4 column.*'age'"):
        schema.decode(good[:, :3])
    with pytest.raises(DataError, match=r"shape \(4,\)"):
        schema.decode(good[0])
    for code in (2, -1, 0.5):
        good[1, 2] = code
        with pytest.raises(DataError, match=f"'job' has level codes 0 to 1, got {float(code)} in row 1"):
            schema.decode(good)
    with pytest.raises(DataError, match=r"'age' holds integers, got 1e\+20"):
        schema.decode(np.array([[1e20, 0, 0, 0]]))


# single cells -----------------------------------------------------------------------------------------------


def test_values(loans):
    schema = Schema.infer(loans)
    assert [schema.encode_value(j, value) for j, value in enumerate([np.int8(3), 2, "clerk", np.True_])] == [3, 2, 1, 1]
    decoded = [schema.decode_value(j, code) for j, code in enumerate([3.0, 2.5, 1.0, 0.0])]
    assert decoded == [3, 2.5, "clerk", False]
    assert [type(value) for value in decoded] == [int, float, str, bool]
    for missing in (None, math.nan, pd.NA, pd.NaT):
        assert all(math.isnan(schema.encode_value(j, missing)) for j in range(4))
    assert [schema.decode_value(j, math.nan) for j in range(4)] == [None] * 4


def test_value_errors(loans):
    schema = Schema.infer(loans)
    with pytest.raises(DataError, match=r"'job' has no level 'clark'.*Known levels: 'baker', 'clerk'.*mean 'clerk'"):
        schema.encode_value(2, "clark")
    for wrong in ("30", True, [30], 3j):
        with pytest.raises(DataTypeError, match=r"'age' holds numbers .integer., got .* of type"):
            schema.encode_value(0, wrong)
    for wrong in (["clerk"], dt.date(2020, 1, 1), b"clerk"):
        with pytest.raises(DataTypeError, match=r"'job' holds levels .category., got .*Pass one of 'baker', 'clerk'"):
            schema.encode_value(2, wrong)
    with pytest.raises(DataError, match=r"'income' needs a finite number, got inf"):
        schema.encode_value(1, math.inf)
    with pytest.raises(DataError, match=r"'age'.*beyond ±2\*\*53"):
        schema.encode_value(0, 2**53 + 1)
    with pytest.raises(DataError, match=r"'job' has level codes 0 to 1, got 2.0"):
        schema.decode_value(2, 2.0)


# refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "X", [[1, 2], {"a": [1]}, None, 3, pd.Series([1]), pl.Series([1]), pa.array([1]), "X", pa.chunked_array([[1]])]
)
def test_what_is_no_frame(X):
    with pytest.raises(DataTypeError, match=r"Got .*Pass a pandas or polars DataFrame, a pyarrow Table or a 2-D numpy"):
        Schema.infer(X)


def test_arrays_must_have_two_dimensions():
    with pytest.raises(DataTypeError, match=r"1 dimension.*shape \(3,\).*2-D numpy array.*reshape\(1, -1\)"):
        Schema.infer(np.ones(3))
    with pytest.raises(DataTypeError, match=r"3 dimension"):
        Schema.infer(np.ones((1, 1, 1)))


def test_lazy_frames():
    with pytest.raises(DataTypeError, match=r"lazy frame.*\.collect\(\)"):
        Schema.infer(pl.LazyFrame({"a": [1]}))


@pytest.mark.parametrize("X", [pd.DataFrame(), pl.DataFrame(), pa.table({}), np.empty((2, 0)), pd.DataFrame(index=[1])])
def test_no_columns(X):
    with pytest.raises(DataError, match=r"no columns"):
        Schema.infer(X)


@pytest.mark.parametrize(
    "X",
    [pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), pa.table({"a": []}), np.empty((0, 1))],
    ids=lambda X: type(X),
)
def test_no_rows(X):
    with pytest.raises(DataError, match=r"no rows"):
        Schema.infer(X)
    with pytest.raises(DataError, match=r"no rows"):
        Schema.infer(pd.DataFrame({"a": [1.0]})).encode(X)


@pytest.mark.parametrize(
    "X", [pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])], ids=["pandas", "pyarrow"]
)
def test_double_names(X):
    with pytest.raises(DataError, match=r"unique, got 'a' more than once"):
        Schema.infer(X)


def test_names_that_can_not_be_stored():
    with pytest.raises(DataTypeError, match=r"column name .*Timestamp.*Rename"):
        Schema.infer(pd.DataFrame({pd.Timestamp("2020"): [1]}))


@pytest.mark.parametrize("sign", [1, -1])
def test_infinite_values(sign):
    values = [1.0, sign * math.inf, math.inf]
    object_column = pd.DataFrame({"a": pd.Series([*values[:2], None, 1], dtype=object)})
    for X in (pd.DataFrame({"a": values}), pl.DataFrame({"a": values}), pa.table({"a": values}), object_column):
        with pytest.raises(DataError, match=r"'a' is infinite in row 1"):
            Schema.infer(X)
        with pytest.raises(DataError, match=r"'a' is infinite in row 1"):
            Schema.infer(pd.DataFrame({"a": [1.0]})).encode(X)
    with pytest.raises(DataError, match=r"'x1' is infinite in row 0"):
        Schema.infer(np.array([[1, math.inf]]))
    with pytest.raises(DataError, match=r"'a' has the infinite level"):
        Schema.infer(pd.DataFrame({"a": pd.Categorical([sign * math.inf])}))


UNUSABLE = {
    "pandas duration": (pd.DataFrame({"a": pd.to_timedelta([1], "s")}), "timedelta64"),
    "pandas complex": (pd.DataFrame({"a": [1j]}), "complex128"),
    "pandas period": (pd.DataFrame({"a": pd.period_range("2020", periods=1)}), "period"),
    "pandas decimal": (pd.DataFrame({"a": pd.array([1], dtype=pd.ArrowDtype(pa.decimal128(5, 2)))}), "decimal128"),
    "pandas lists": (pd.DataFrame({"a": [[1], [2]]}), "list"),
    "pandas bytes": (pd.DataFrame({"a": [b"x"]}), "bytes"),
    "pandas intervals": (pd.DataFrame({"a": pd.cut([1, 2, 3], 2)}), "Interval"),
    "polars duration": (pl.DataFrame({"a": [dt.timedelta(1)]}), "Duration"),
    "polars list": (pl.DataFrame({"a": [[1]]}), "List"),
    "polars struct": (pl.DataFrame({"a": [{"b": 1}]}), "Struct"),
    "pyarrow list": (pa.table({"a": [[1]]}), "list"),
    "pyarrow struct": (pa.table({"a": [{"b": 1}]}), "struct"),
    "pyarrow binary": (pa.table({"a": [b"x"]}), "binary"),
    "numpy complex": (np.array([[1j]]), "complex128"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_types_that_can_not_be_used(case):
    X, word = UNUSABLE[case]
    with pytest.raises(DataTypeError, match=rf"Column '(a|x0)'.*{word}(?s:.*)[Cc]onvert it"):
        Schema.infer(X)


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [1, 2], "gone": [np.nan, np.nan]}),
        pd.DataFrame({"a": [1], "gone": pd.Categorical([None], ["x"])}),
        pd.DataFrame({"a": [1], "gone": pd.array([None], dtype="Int64")}),
        pl.DataFrame({"a": [1], "gone": [None]}),
        pl.DataFrame({"a": [1], "gone": [math.nan]}),
        pa.table({"a": [1], "gone": pa.nulls(1)}),
    ],
    ids=str,
)
def test_all_missing_column_in_infer(X):
    with pytest.raises(DataError, match=r"'gone' has no value, all cells are missing. Drop"):
        Schema.infer(X)


BIG = 2**53 + 1


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"id": [1, BIG]}),
        pd.DataFrame({"id": [-BIG, 1]}),
        pd.DataFrame({"id": pd.array([BIG, None], dtype="Int64")}),
        pd.DataFrame({"id": pd.array([BIG, None], dtype="int64[pyarrow]")}),
        pd.DataFrame({"id": pd.Series([2**64 - 1], dtype="uint64")}),
        pd.DataFrame({"id": pd.Series([BIG, None], dtype=object)}),
        pd.DataFrame({"id": pd.Series([10**400, None], dtype=object)}),
        pl.DataFrame({"id": [BIG, None]}),
        pa.table({"id": [BIG, None]}),
    ],
    ids=str,
)
def test_integers_that_would_lose_digits(X):
    with pytest.raises(DataError, match=r"'id' holds the integer -?\d+, beyond ±2\*\*53"):
        Schema.infer(X)


def test_unknown_and_missing_columns(loans):
    schema = Schema.infer(loans)
    for subset in (False, True):
        with pytest.raises(DataError, match=r"no column 'incom'; known columns: 'age', .*Did you mean 'income'"):
            schema.encode(loans.rename(columns={"income": "incom"}), subset=subset)
    with pytest.raises(DataError, match=r"no column 'extra'"):
        schema.present(loans.assign(extra=1))
    with pytest.raises(DataError, match=r"lacks the column\(s\) 'age', 'owner'\. Add"):
        schema.encode(loans[["income", "job"]])
    with pytest.raises(DataError, match=r"no column 'jb'.*Did you mean 'job'"):
        schema.index("jb")
    with pytest.raises(DataError, match=r"2 column\(s\), expected 4: 'age'"):
        schema.encode(np.ones((1, 2)))
    with pytest.raises(DataError, match=r"column 'age' already"):
        schema.append(Column("age", Kind.REAL))


@pytest.mark.parametrize("convert", [lambda X: X, pl.from_pandas, pa.Table.from_pandas, pd.DataFrame.to_numpy])
def test_unseen_level(loans, convert):
    schema = Schema.infer(loans)
    unseen = loans.assign(job=["baker", "clark"])
    message = r"'job' has the unknown level 'clark' in row 1 .*Known levels: 'baker', 'clerk'.*Did you mean 'clerk'"
    with pytest.raises(DataError, match=message):
        schema.encode(convert(unseen))


def test_unseen_category_matters_only_when_it_occurs(loans):
    schema = Schema.infer(loans)
    wider = loans.assign(job=pd.Categorical(loans["job"], ["smith", "clerk", "baker"]))
    np.testing.assert_array_equal(schema.encode(wider), schema.encode(loans))


def test_encode_refuses_other_kinds(loans):
    schema = Schema.infer(loans)
    with pytest.raises(DataTypeError, match=r"'age' holds numbers .integer., got a column of kind category"):
        schema.encode(loans.assign(age=["30", "41"]))
    with pytest.raises(DataTypeError, match=r"'age' holds numbers .integer., got a column of kind boolean"):
        schema.encode(loans.assign(age=[True, False]))
    with pytest.raises(DataError, match=r"'job' has the unknown level Timestamp"):
        schema.encode(loans.assign(job=pd.to_datetime(["2020", "2021"])))
    with pytest.raises(DataError, match=r"'owner' has the unknown level 'yes'"):
        schema.encode(loans.assign(owner=["yes", "no"]))


def test_too_many_levels():
    with pytest.raises(DataError, match=r"'a' has 65,001 levels, at most 65,000"):
        Schema.infer(pd.DataFrame({"a": np.arange(65_001).astype(str)}))
    assert Schema.infer(pd.DataFrame({"a": np.arange(65_000).astype(str)})).columns[0].n_levels == 65_000


def test_schema_is_frozen_and_hashable(loans):
    schema = Schema.infer(loans)
    assert hash(schema) == hash(Schema.infer(loans))
    with pytest.raises(AttributeError):
        schema.backend = "polars"
