"""Audits of a batch with dates: bands that begin on a day, differences in days, ways and moves that are dates."""

from __future__ import annotations

import datetime
from functools import cache

import matplotlib as mpl
import numpy as np
import pytest

from countarfactuals import CounterfactualsBatch
from countarfactuals.plotting.audit import change_importance_info

from .test_dates import data, fitted, model

mpl.use("Agg")


@cache
def batch() -> CounterfactualsBatch:
    return fitted("arf").explain_many(data().head(30), "yes", progress=False)


def test_bands_of_dates_begin_on_a_day():
    made = batch().recourse("signed", bins=[datetime.date(2017, 1, 1), "2019-01-01"])
    signed = data().head(30)["signed"]
    assert [group.n for group in made] == [
        (signed < "2017-01-01").sum(),
        ((signed >= "2017-01-01") & (signed < "2019-01-01")).sum(),
        (signed >= "2019-01-01").sum(),
    ]
    assert list(made.to_frame()["group"].unique()) == [
        "below 2017-01-01",
        "2017-01-01 to below 2019-01-01",
        "2019-01-01 or more",
    ]
    assert sum(group.n for group in batch().recourse("seen")) == 30


def test_differences_of_dates_are_days():
    info = change_importance_info([result for result in batch() if len(result)])
    amounts = dict(zip(info.often.features, info.amounts, strict=True))
    assert amounts["signed"].endswith(" days")
    frame = batch().importance().set_index("feature")
    whole = float(amounts["signed"].removesuffix(" days").replace(",", ""))
    assert whole == pytest.approx(frame.loc["signed", "amount"], rel=1e-2)
    assert "days (" in batch().to_html(pictures=False)


def test_ways_and_moved_rows_hold_dates():
    explainer = fitted("arf")
    ways = explainer.common_ways(batch(), max_changes=1, k=3, min_typicality=0.0)
    values = ways.changes().set_index("feature")["value"]
    assert isinstance(values.get("signed", datetime.date(2020, 1, 1)), datetime.date)
    assert len(ways)
    result = next(result for result in batch() if len(result))
    frame = explainer.robustness(result, [model], noise=0.01)
    assert (frame["models_agree"] == 1).all()
    assert np.isfinite(frame["noise_valid"]).all()
