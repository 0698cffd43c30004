"""Dates and times: numbers inside, themselves again outside."""

from __future__ import annotations

import datetime
import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from countarfactuals.exceptions import DataError, DataTypeError
from countarfactuals.schema import Column, Kind, Schema

RNG = np.random.default_rng(3)
DAYS = pd.Timestamp("2015-01-01") + pd.to_timedelta(RNG.integers(-20_000, 3000, 80), "D")
MINUTES = pd.Timestamp("2015-01-01") + pd.to_timedelta(RNG.integers(0, 4_000_000, 80), "min")
MOMENTS = pd.Timestamp("2015-01-01") + pd.to_timedelta(RNG.integers(0, 10**15, 80), "us")


def frame() -> pd.DataFrame:
    made = pd.DataFrame({"day": DAYS, "minute": MINUTES, "moment": MOMENTS, "zoned": MINUTES.tz_localize("UTC")})
    made["zoned"] = made["zoned"].dt.tz_convert("Europe/Berlin")
    made.loc[4, ["day", "zoned"]] = pd.NaT
    return made


def cast(dtypes: dict[str, Any]) -> pd.DataFrame:
    return frame()[list(dtypes)].astype(dtypes)


FRAMES = {
    "pandas": frame(),
    "nanoseconds": cast({"day": "datetime64[ns]", "zoned": "datetime64[ns, Europe/Berlin]"}),
    "objects": pd.DataFrame({"day": [day.date() for day in DAYS]}),
    "pandas over pyarrow": cast({"day": pd.ArrowDtype(pa.date32()), "minute": pd.ArrowDtype(pa.timestamp("ms"))}),
    "polars": pl.from_pandas(frame()),
    "polars dates": pl.from_pandas(frame()[["day"]]).with_columns(pl.col("day").cast(pl.Date)),
    "pyarrow": pa.Table.from_pandas(frame()),
    "pyarrow dates": pa.table({"day": pa.array([day.date() for day in DAYS], pa.date32())}),
    "numpy": DAYS.to_numpy().reshape(-1, 2),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_comes_back_as_it_was(name: str):
    given = FRAMES[name]
    schema = Schema.infer(given)
    assert all(column.clock for column in schema.columns)
    stored = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert stored == schema
    back = stored.decode(stored.encode(given))
    if isinstance(given, pd.DataFrame):
        pd.testing.assert_frame_equal(back, given)
    elif isinstance(given, np.ndarray):
        np.testing.assert_array_equal(back, given)
    else:
        assert back.equals(given)


def test_days_are_whole_numbers_and_order_is_kept():
    schema = Schema.infer(frame())
    day, minute, moment, zoned = schema.columns
    assert (day.clock, minute.clock, moment.clock, zoned.clock) == ("day", "second", "second", "second")
    assert day.kind is Kind.INTEGER
    assert minute.grid == (60.0, 0.0)
    codes = schema.encode(frame())
    known = ~np.isnan(codes[:, 0])
    assert known.sum() == 79
    assert (np.argsort(codes[known, 0], kind="stable") == np.argsort(DAYS[known], kind="stable")).all()
    np.testing.assert_array_equal(codes[known, 0], (DAYS[known] - pd.Timestamp("1970-01-01")).days)
    assert day.low == -np.inf


@pytest.mark.parametrize(
    "value",
    ["2020-02-29", datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29), np.datetime64("2020-02-29")],
)
def test_single_cells(value: Any):
    day = Column("day", Kind.INTEGER, decimals=0, clock="day")
    assert day.encode(value) == 18_321.0
    assert day.decode(18_321.0) == datetime.date(2020, 2, 29)
    second = Column("when", Kind.REAL, decimals=0, clock="second")
    assert second.encode(value) == 18_321.0 * 86_400
    assert second.decode(second.encode("2020-02-29 13:45:01")) == datetime.datetime(2020, 2, 29, 13, 45, 1)
    assert second.encode("2020-02-29T13:45+01:00") == second.encode("2020-02-29T12:45")


@pytest.mark.parametrize(
    ("value", "error"), [(5, DataTypeError), (True, DataTypeError), ("tomorrow", DataError), ("2020-13-01", DataError)]
)
def test_what_is_no_date_is_refused(value: Any, error: type[Exception]):
    with pytest.raises(error, match=r"'day' holds dates or times.*2024-03-01"):
        Column("day", Kind.INTEGER, decimals=0, clock="day").encode(value)


def test_columns_of_another_kind_are_refused():
    schema = Schema.infer(frame()[["day"]])
    with pytest.raises(DataTypeError, match="'day' holds dates or times, got a column of kind real"):
        schema.encode(pd.DataFrame({"day": [1.5]}))
    with pytest.raises(DataTypeError, match=r"'n' holds numbers.*got a column of dates or times"):
        Schema.infer(pd.DataFrame({"n": [1.5, 2.5]})).encode(pd.DataFrame({"n": DAYS}))
    with pytest.raises(DataError, match=r"'day' holds dates, got a time of the day in row 1 .*2020-01-01 12:00"):
        schema.encode(pd.DataFrame({"day": pd.to_datetime(["2020-01-01 00:00", "2020-01-01 12:00"])}))
    with pytest.raises(DataTypeError, match=r"'span' has type timedelta64.*a duration to its seconds"):
        Schema.infer(pd.DataFrame({"span": pd.to_timedelta([1, 2], "D")}))


def test_in_words():
    made = Schema.infer(
        pd.DataFrame({"day": DAYS, "minute": MINUTES, "week": DAYS[0] + pd.to_timedelta(np.arange(80) * 7, "D")})
    )
    assert made.describe() == "day: dates\nminute: times in steps of 60 seconds\nweek: dates in steps of 7 days"
