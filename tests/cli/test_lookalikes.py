"""Numbers and dates as people write them: recognised, and how to mend them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countarfactuals.cli.arguments import Dialect
from countarfactuals.cli.column_kinds import infer
from countarfactuals.exceptions import DataError


def told(cells: list[str], name: str = "income", *, drop: bool = True) -> str:
    """The note, or the error, on a column; it stays text."""
    said: list[str] = []
    try:
        assert infer(name, [*cells, None], Dialect(), said.append, drop=drop).tolist()[:-1] == cells
    except DataError as error:
        return f"refused: {error}"
    assert len(said) < 2
    return "".join(said)


def many(form: str) -> list[str]:
    return [form.format(i) for i in range(1, 30)]


@pytest.mark.parametrize(
    ("cells", "plain", "unit"),
    [
        (many("{},000.00"), "1000.00", None),
        (many("{}'000'500"), "1000500", None),
        (many("{} 000"), "1000", None),
        (many("{}.000.000"), "1000000", None),
        (many("{}.000,50"), "1000,50", None),
        (many("€{}"), "1", "€"),
        (many("-€{}"), "-1", "€"),
        (many("$ -{},000"), "-1000", "$"),
        (many("{} €"), "1", "€"),
        (many("USD {},250"), "1250", "USD"),
        ([*many("{} years")[1:], "1 year"], "2", "years"),
        (many("{}kg"), "1", "kg"),
        (many("{}.5 %"), "1.5", "%"),
        ([*many("€{}"), "unknown"], "1", "€"),
    ],
)
def test_many_numbers_as_people_write_them_are_refused(cells, plain, unit):
    text = told(cells)
    assert text.startswith("refused: Column 'income' holds numbers as people write them")
    assert f"plain numbers, here {plain}" in text
    assert ("--unit" in text) == (unit is not None)
    assert unit is None or f"--unit income={unit}" in text
    assert ("--missing ('unknown')" in text) == ("unknown" in cells)
    assert text.endswith("or leave it out: --drop income.")
    assert "--drop" not in told(cells, drop=False)


@given(st.lists(st.integers(1000, 10**12), min_size=2, unique=True))
def test_every_number_with_thousands_is_recognised(numbers):
    text = told([f"{number:,}" for number in numbers])
    assert text.startswith("refused")
    assert f"here {numbers[0]}" in text


def test_a_comma_that_could_be_either_is_told_as_both():
    assert "pass --decimal , if the comma is the decimal sign" in told(["36,000", "999"])
    assert "--decimal" not in told(["36,000", "1,000,000"])
    for cells in (["36,125", "0,125"], ["1,5", "2"]):
        assert "Pass --decimal , to read them" in told(cells)


def test_a_few_with_a_unit_may_be_categories():
    text = told(["2 rooms", "3 rooms", "1 room"], "size")
    assert "is read as text" in text
    assert "write plain numbers, here 2, and tell the unit by --unit size=rooms" in text
    assert "refused" not in text


@pytest.mark.parametrize(
    "cells",
    [
        ["1st", "2nd", "3rd"],
        ["12a", "12b"],
        ["5 kg", "5 lb"],
        ["1-2", "3-4"],
        ["A4", "A5"],
        ["may", "june"],
        ["0171 555", "0170 444"],
        ["3 rooms", "unknown"],
        ["<€1000", "€1000-2000"],
        ["5 rooms"],
    ],
)
def test_categories_are_left_in_peace(cells):
    assert told(cells) == ""


@pytest.mark.parametrize(
    "cells",
    [
        ["Mar 12, 2021", "December 1st, 2020"],
        ["12 March 2021", "1. Apr 2020"],
        ["12-Mar-21", "01-Jan-20"],
        ["Mar 2021", "Sept. 2020"],
        ["2021-03", "2020-12"],
        [f"Mar {day}, 2021" for day in range(1, 30)],
    ],
)
def test_dates_with_names_of_months_get_a_note(cells):
    text = told(cells, "since")
    assert "looks like dates" in text
    assert "the days since a fixed date, or leave it out: --drop since." in text
    assert told(cells, drop=False).endswith("a fixed date.")
