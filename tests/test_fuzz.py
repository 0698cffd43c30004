"""Odd values in calls of the public interface, odd words on the command line: results, or errors of ours."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest, Constraints, Counterfactuals, Target
from countarfactuals.exceptions import CountarfactualsError
from countarfactuals.schema import Schema
from tests.torture import fuzz, fuzz_commands, small

HUGE = 10**400


def test_odd_values_give_results_or_errors_of_ours():
    """A small dose; `python -m tests.torture.fuzz 20000` takes more."""
    figures = fuzz.attack(300, seed=1)
    assert figures["told"] == []
    assert figures["result"] > 0


def test_odd_words_on_the_command_line_give_results_or_errors_of_ours():
    """A small dose; `python -m tests.torture.fuzz_commands 5000` takes more."""
    figures = fuzz_commands.attack(60, seed=1)
    assert figures["told"] == []
    assert figures["done"] > 0


@pytest.mark.parametrize("end", [HUGE, -HUGE])
@pytest.mark.parametrize(
    "said",
    [
        lambda end: Target(above=end),
        lambda end: Target(below=end),
        lambda end: Target(between=(end, 1)),
        lambda end: Target("yes", probability=(0, end)),
        lambda end: Target(change=end),
        lambda end: Target(change=(end, None)),
        lambda end: Constraints(weights={"age": end}),
        lambda end: Constraints(change={"age": (None, end)}),
        lambda end: Constraints(steps={"age": end}),
        lambda end: Constraints(ranges={"age": (end, end)}).bind(small.schema(), small.codes()),
        lambda end: Constraints(allowed={"age": [end]}).bind(small.schema(), small.codes()),
        lambda end: Constraints(max_changed=-abs(end)),
    ],
)
def test_numbers_beyond_all_floats_are_refused_where_they_come_in(said: Any, end: int):
    with pytest.raises(CountarfactualsError):
        said(end)


def test_dates_beyond_what_nanoseconds_reach_are_read():
    column = small.schema().columns[-1]
    for text, days in (("9999-12-31", 2_932_896), ("0001-01-01", -719_162)):
        assert column.encode(text) == days
        assert str(column.decode(days)) == text


@pytest.mark.parametrize("other", [np.float64(2.5), 1, Decimal("NaN")], ids=str)
def test_a_huge_integer_among_other_numbers_is_refused(other):
    cells = pd.Series([other, HUGE, 3] * 20, dtype=object)
    with pytest.raises(CountarfactualsError, match="Column 'age' holds the integer 1000"):
        small.schema().encode(small.table().head(60).assign(age=cells.to_numpy()))
    with pytest.raises(CountarfactualsError, match="Column 'x' holds the integer 1000"):
        Schema.infer(pd.DataFrame({"x": cells}))


def test_a_decimal_that_is_no_number_is_a_missing_date():
    dates = pd.Series([pd.Timestamp("2024-01-01"), Decimal("NaN"), pd.Timestamp("2024-01-03")] * 20, dtype=object)
    frame = pd.DataFrame({"since": dates, "x": range(60)})
    schema = Schema.infer(frame.assign(since=pd.to_datetime(["2024-01-01", None, "2024-01-03"] * 20)))
    assert np.isnan(schema.encode(frame)[:3, 0]).tolist() == [False, True, False]


@pytest.mark.parametrize(
    "odd", [pd.Series([1, 2]), pd.NA, np.zeros(2, "i4,f4"), 1.0], ids=["series", "NA", "fields", "1"]
)
def test_a_stored_result_of_no_format_is_refused(odd):
    with pytest.raises(CountarfactualsError, match="This is no"):
        Counterfactuals.from_dict({"format": odd, "version": 2})


def test_densities_refuse_numbers_beyond_all_floats():
    forest = AdversarialRandomForest(n_estimators=2, random_state=1).fit(small.table())
    for end in (HUGE, -HUGE):
        for given in ({"age": end}, {"age": (end, end)}, {"income": [end, 1]}, {"since": end}, {"town": end}):
            with pytest.raises(CountarfactualsError):
                forest.sample(1, given=given)


def test_a_name_that_answers_no_comparison_is_unknown():
    said = Constraints(vary=["home", pd.NA], fixed=["no such", ("age",)])
    with pytest.raises(CountarfactualsError, match="no such"):
        said.bind(small.schema(), small.schema().encode(small.table().head(1))[0])
