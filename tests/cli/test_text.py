"""Cells of text: what a column is told to hold, and new cells read like the old ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals.cli.arguments import Dialect
from countarfactuals.cli.column_kinds import convert, infer
from countarfactuals.cli.data_files import read_cells
from countarfactuals.constraints.option import level_named
from countarfactuals.exceptions import ConstraintError, DataError
from countarfactuals.schema import Column, Kind, Schema

COMMA = Dialect(decimal=",")


def silent(text: str) -> None:
    raise AssertionError(f"nothing was to be said, got {text!r}")


def cells_of(text: str, dialect: Dialect | None = None, say=silent):
    return read_cells(text, "'a.csv'", dialect or Dialect(), say).to_dict("list")


@pytest.mark.parametrize(
    ("cells", "dtype", "values"),
    [
        (["1", "-2", "+30"], "int64", [1, -2, 30]),
        (["1", None, "0"], "Int64", [1, pd.NA, 0]),
        (["1.5", None, "-.5", "2e3"], "float64", [1.5, np.nan, -0.5, 2000.0]),
        (["1.0", "2.0"], "float64", [1.0, 2.0]),
        (["True", "false", "TRUE"], "bool", [True, False, True]),
        (["true", None], "boolean", [True, pd.NA]),
        (["0", "1"], "int64", [0, 1]),
    ],
)
def test_what_a_column_holds_is_told_by_its_cells(cells, dtype, values):
    column = infer("a", cells, Dialect(), silent)
    assert column.dtype == dtype
    assert column.isna().tolist() == [cell is None for cell in cells]
    assert column.dropna().tolist() == [value for value in values if not pd.isna(value)]


@pytest.mark.parametrize(
    "cells", [["a", "b"], ["1", "b", "c"], ["1-2", "3"], ["yes", "no"], ["1_000", "2"], ["٣", "4"]]
)
def test_anything_else_is_text_as_it_stands(cells):
    column = infer("a", [*cells, None], Dialect(), silent)
    assert column.dtype == pd.Series(["a", np.nan]).dtype
    assert column.tolist()[:-1] == cells
    assert pd.isna(column.iloc[-1])


@given(
    st.lists(st.integers(-(2**53), 2**53) | st.none(), min_size=1).filter(
        lambda cells: any(c is not None for c in cells)
    )
)
def test_integers_are_read_exactly_also_beside_missing_cells(numbers):
    column = infer("a", [None if n is None else str(n) for n in numbers], Dialect(), silent)
    assert [None if pd.isna(n) else int(n) for n in column] == numbers
    assert Schema.infer(column.to_frame("a")).columns[0].kind is Kind.INTEGER


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_floats_are_read_exactly(numbers):
    assert infer("a", [f"{n!r}" for n in numbers], Dialect(), silent).tolist() == numbers


def test_codes_with_leading_zeros_stay_text_and_this_is_said():
    said: list[str] = []
    assert infer("zip", ["012", "345"], Dialect(), said.append).tolist() == ["012", "345"]
    assert "'012'" in said[0]
    assert "leading zeros" in said[0]
    assert infer("share", ["0.5", "0"], Dialect(), silent).tolist() == [0.5, 0.0]


def test_a_few_words_among_numbers_are_said():
    said: list[str] = []
    infer("income", [*map(str, range(30)), "unknown"], Dialect(), said.append)
    assert "1 of 31 cells" in said[0]
    assert "--missing 'unknown'" in said[0]


@pytest.mark.parametrize(
    "cells",
    [
        ["31.01.2024", "1.2.2024"],
        ["1/31/24"],
    ],
)
def test_dates_that_can_be_mistaken_are_refused(cells):
    with pytest.raises(DataError, match=r"'day' holds dates.*day and month can be mistaken.*--drop day"):
        infer("day", [*cells, None], Dialect(), silent)


@pytest.mark.parametrize(
    ("cells", "second"),
    [
        (["2024-01-31", "2023-12-01"], "2023-12-01"),
        (["2024/1/31", "2023/12/1"], "2023-12-01"),
        (["2024-01-31 12:00:00", "2023-12-01 07:30"], "2023-12-01 07:30"),
        (["2024-01-31T12:00Z", "2023-12-01T07:30Z"], "2023-12-01 07:30Z"),
    ],
)
def test_dates_with_the_year_first_are_read(cells, second):
    read = infer("day", [*cells, None], Dialect(), silent)
    assert read[1] == pd.Timestamp(second)
    assert read.isna().tolist() == [False, False, True]
    column = Schema.infer(pd.DataFrame({"day": read})).columns[0]
    assert column.clock
    again = convert(column, [*cells, None], range(3), Dialect())
    assert (again.dropna() == read.dropna()).all()
    with pytest.raises(DataError, match=r"'day' holds dates or times, got 'soon' in row 7"):
        convert(column, ["soon"], [7], Dialect())


def test_dates_that_are_none_are_refused():
    with pytest.raises(DataError, match=r"'day' holds dates that can not be read.*--drop day"):
        infer("day", ["2024-02-30"], Dialect(), silent)


def test_decimal_commas_are_told_and_read():
    cells = ["1,5", "1.234,25", None, "7"]
    with pytest.raises(DataError, match="--decimal ,"):
        infer("a", cells, Dialect(), silent)
    assert infer("a", cells, COMMA, silent).tolist()[:2] == [1.5, 1234.25]
    column = Column("a", Kind.REAL)
    assert convert(column, cells, range(4), COMMA).tolist()[:2] == [1.5, 1234.25]


@pytest.mark.parametrize(
    ("cells", "message"),
    [([None, None], "has no value.*--drop a"), (["1", str(2**53 + 1)], "beyond"), (["1", "9" * 30], "beyond")],
)
def test_columns_that_can_not_be_used(cells, message):
    with pytest.raises(DataError, match=message):
        infer("a", cells, Dialect(), silent)


def test_infinite_numbers_do_not_become_levels():
    assert infer("a", ["1.5", "inf"], Dialect(), silent).tolist() == [1.5, np.inf]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n", "is empty"),
        ("a,b\n", "no rows"),
        ("a;b\n1;2\n", "divided by ';'.*--delimiter ';'"),
        ("a\tb\n1\t2\n", "--delimiter 'tab'"),
        (
            "Alter, Jahre;income;y\n23;36000,50;good\n2,5;1,5;bad\n",
            "3 cells in line 3.* by ';', not by ','. Pass --del",
        ),
        ("age, years\tb\n1\t2\n", "1 cell in line 2, but 2 columns: .*Pass --delimiter 'tab'"),
        ("a, b|c\n1|2\n\n3|4\n", r"Pass --delimiter '\|'"),
        ('"a, b";"c"\n"1,5";"x"\n', "no readable CSV.*: its cells are divided by ';'"),
        ('a, b;c\n1;"x\ny"\n' * 20, "Pass --delimiter ';'"),
        ("a, b;c\n1;2;3\n", r"1 cell in line 2, but 2 columns\. Mend the line"),
        ("a;b,c\n1,2\n3\n", r"1 cell in line 3, but 2 columns\. Mend the line"),
        ("a,b,a\n1,2,3\n", "'a' more than once"),
        ("a,b\n1,2\n3\n", "1 cell in line 3, but 2 columns"),
        ("a,b\n1,2,3\n", "3 cells in line 2, but 2 columns"),
        ('a,b\n1,"x\n2,y\n', "no readable CSV"),
    ],
)
def test_files_that_can_not_be_read(text, message):
    with pytest.raises(DataError, match=message):
        cells_of(text)


def test_decimal_commas_do_not_make_the_comma_the_delimiter():
    with pytest.raises(DataError, match=r"1 cell in line 3, but 2 columns\. Mend"):
        cells_of("Alter, Jahre;b\n1;2,5\n3,5\n", Dialect(delimiter=";"))


def test_lines_that_fit_by_chance_get_a_note():
    said: list[str] = []
    columns = cells_of("Alter, Jahre;income;y\n23;36000,50;good\n24;37000,50;bad\n", say=said.append)
    assert list(columns) == ["Alter", "Jahre;income;y"]
    assert len(said) == 1
    assert "perhaps its cells are divided by ';', not by ','. Pass --delimiter ';'" in said[0]
    assert list(cells_of('"a;b",c\n"1;2",3\n')) == ["a;b", "c"]
    assert list(cells_of("a;b,c\n1,3\n")) == ["a;b", "c"]


def test_cells_are_read_as_csv_writes_them():
    text = 'a, b ,"c,d"\r\n1, x y ,"line\none"\r\n\r\nNA,"say ""hi""",\r\n'
    assert cells_of(text) == {"a": ["1", None], "b": ["x y", 'say "hi"'], "c,d": ["line\none", None]}


def test_a_column_without_a_name_is_left_out_and_said():
    said: list[str] = []
    assert cells_of(",a\n0,5\n1,6\n", say=said.append) == {"a": ["5", "6"]}
    assert "column 1" in said[0]


def test_what_means_missing_can_be_said():
    assert cells_of("a,b\n?,NA\n", Dialect(missing=("?",))) == {"a": [None], "b": ["NA"]}


def test_new_cells_are_read_like_the_old_ones():
    text = Column("zip", Kind.CATEGORY, ("1", "2"))
    assert convert(text, ["2", None, "9"], [0, 1, 2], Dialect()).tolist() == ["2", None, "9"]
    levels = Column("floor", Kind.CATEGORY, (1, 2))
    assert convert(levels, ["2"], [0], Dialect()).tolist() == [2]
    member = Column("member", Kind.BOOLEAN, (False, True))
    assert convert(member, ["TRUE", "false"], [0, 1], Dialect()).tolist() == [True, False]
    age = Column("age", Kind.INTEGER)
    assert convert(age, ["5", "6.0"], [0, 1], Dialect()).tolist() == [5.0, 6.0]
    with pytest.raises(DataError, match="'age' holds numbers, got 'old' in row 7"):
        convert(age, ["5", "old"], [3, 7], Dialect())
    with pytest.raises(DataError, match="beyond"):
        convert(age, [str(2**60)], [0], Dialect())


def test_levels_are_found_by_their_text():
    column = Column("job", Kind.CATEGORY, ("clerk", "cook"))
    assert level_named(column, "cook", "--allowed") == "cook"
    with pytest.raises(ConstraintError, match=r"--allowed: .*Did you mean 'clerk'"):
        level_named(column, "clerc", "--allowed")


def test_blanks_before_quoted_cells_are_no_parts_of_them():
    text = 'a, "b, c" ,d\n 1,  "x, ""y"", z",2\n "3", 4" pipe,"5 "\n'
    assert cells_of(text) == {"a": ["1", "3"], "b, c": ['x, "y", z', '4" pipe'], "d": ["2", "5"]}


@pytest.mark.parametrize(
    ("text", "line"), [('a,b\n1,"x\n2,y\n', 2), ('a,b\n1,2\n"3"4,5\n', 3), ('a,b\n"1\n2",3\n4,"5', 4)]
)
def test_quotes_that_do_not_end_with_their_cell_are_refused(text, line):
    with pytest.raises(DataError, match=f"no readable CSV file, in line {line}: a quoted cell is not closed"):
        cells_of(text)


def test_lines_are_counted_as_an_editor_counts_them():
    with pytest.raises(DataError, match="3 cells in line 6, but 2 columns"):
        cells_of('a,b\n\n1,"x\ny"\n2,3\n4,5,6\n')


def test_numbers_in_the_header_are_names():
    assert cells_of("2019,2020\n1,02\n") == {"2019": ["1"], "2020": ["02"]}


def test_a_long_cell_over_many_lines_is_one_cell():
    cell = "line\n" * 300_000  # more than pyarrow reads at once by itself
    assert cells_of(f'a,b\n"{cell}",1\n') == {"a": [cell.strip()], "b": ["1"]}
