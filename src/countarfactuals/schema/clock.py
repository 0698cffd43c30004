"""Dates and times as numbers: days or seconds since the first of January 1970.

1. A column whose cells all lie at midnight, or whose type holds days, counts days; any other counts seconds.
2. Times with a time zone are counted in universal time and come back in their zone. Microseconds are the finest.
3. Single cells may be dates, times, their NumPy and pandas kin, or ISO texts such as "2024-03-01".
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Hashable
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from ..exceptions import DataError, DataTypeError

DAY, SECOND = "day", "second"
_MICROSECONDS = {DAY: 86_400_000_000, SECOND: 1_000_000}
_OF_OBJECTS = ("date", "datetime", "datetime64")


def is_time(series: nw.Series[Any]) -> bool:
    """Whether cells are dates or times."""
    native = series.to_native()
    if isinstance(native, pd.Series) and native.dtype == object:
        return pd.api.types.infer_dtype(native.dropna(), skipna=True) in _OF_OBJECTS
    return series.dtype in (nw.Date, nw.Datetime) or isinstance(series.dtype, nw.Datetime)


def clock_of(series: nw.Series[Any]) -> str:
    """What a column of dates or times counts."""
    passed = _microseconds(series)
    return DAY if not (passed[~np.isnan(passed)] % _MICROSECONDS[DAY]).any() else SECOND


def passed_times(series: nw.Series[Any], clock: str, name: Hashable) -> np.ndarray:
    """Days or seconds since 1970, missing as NaN."""
    values = _microseconds(series) / _MICROSECONDS[clock]
    within = np.abs(values - np.rint(values)) > 0.0
    if clock == DAY and within.any():
        row = int(np.argmax(within))
        raise DataError(
            "Column {column!r} holds dates, got a time of the day in row {row} (counted from 0): {got}. Round it to "
            "days, or fit with times.",
            column=name,
            row=row,
            got=series[row],
        )
    return values


def encode_time(value: Any, clock: str, name: Hashable) -> float:
    """One date or time as a number."""
    if not isinstance(value, str | datetime.date | np.datetime64):
        raise DataTypeError(
            f"Column {name!r} holds dates or times, got {value!r} of type {type(value).__name__}. Pass a date, a time, "
            "or an ISO text such as '2024-03-01'."
        )
    try:
        moment = pd.Timestamp(value)
        if moment.tz is not None:
            moment = moment.tz_convert("UTC").tz_localize(None)
        whole = moment.as_unit("us").to_datetime64()  # nanoseconds reach from 1677 to 2262 only
    except (ValueError, TypeError, OverflowError):
        raise DataError(
            f"Column {name!r} holds dates or times, got {value!r}. Pass a date, a time, or an ISO text such as "
            "'2024-03-01'."
        ) from None
    return math.nan if np.isnat(whole) else float(whole.astype(np.int64)) / _MICROSECONDS[clock]


def decode_time(number: float, clock: str, dtype: str) -> datetime.date | datetime.datetime:
    """The date or time of a number."""
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=round(number * _MICROSECONDS[clock]))
    if clock == DAY:
        return moment.date()
    zone = _zone(dtype)
    return moment if zone is None else pd.Timestamp(moment, tz="UTC").tz_convert(zone).to_pydatetime()


def times(values: np.ndarray, clock: str) -> pd.Series:
    """Numbers as times without a zone, missing as NaT."""
    missing = np.isnan(values)
    passed = np.rint(np.where(missing, 0.0, values) * _MICROSECONDS[clock]).astype(np.int64)
    moments = passed.astype("datetime64[us]")
    moments[missing] = np.datetime64("NaT")
    return pd.Series(moments)


def in_zone(moments: pd.Series, dtype: str) -> pd.Series:
    """Times in universal time in the zone of a type, if it has one."""
    zone = _zone(dtype)
    return moments if zone is None else moments.dt.tz_localize("UTC").dt.tz_convert(zone)


def _zone(dtype: str) -> str | None:
    """The time zone in the name of a type of pandas, polars or pyarrow.

    >>> _zone("datetime64[ns, Europe/Berlin]"), _zone("timestamp[us, tz=UTC]"), _zone("datetime64[ns]")
    ('Europe/Berlin', 'UTC', None)
    >>> _zone("Datetime(time_unit='us', time_zone='UTC')"), _zone("Datetime(time_unit='us', time_zone=None)")
    ('UTC', None)
    """
    _, comma, rest = dtype.partition(", ")
    zone = rest.rstrip(")]").removeprefix("tz=").removeprefix("time_zone=").strip("'")
    return zone if comma and zone != "None" else None


def _microseconds(series: nw.Series[Any]) -> np.ndarray:
    native = series.to_native()
    cells = native if isinstance(native, pd.Series) else series.to_pandas()
    if not isinstance(cells.dtype, pd.DatetimeTZDtype):
        plain = cells.astype(object) if isinstance(cells.dtype, pd.ArrowDtype) else cells
        # a Decimal that is NaN is missing, and no date to pandas
        cells = pd.to_datetime(plain.where(plain.notna(), None) if plain.dtype == object else plain)
    if isinstance(cells.dtype, pd.DatetimeTZDtype):
        cells = cells.dt.tz_convert("UTC").dt.tz_localize(None)
    moments = cells.to_numpy("datetime64[us]")
    return np.where(np.isnat(moments), np.nan, moments.astype(np.int64).astype(np.float64))
