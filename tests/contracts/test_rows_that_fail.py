"""A row, a score or a process that fails costs itself only, and the message says which."""

from __future__ import annotations

import os
import threading

import numpy as np
import pandas as pd
import pytest

from countarfactuals import Constraints, make_explainer
from countarfactuals.exceptions import DataError, ModelError, ModelTypeError

from . import income_table as income
from . import normal_table as normal


def test_a_first_row_that_contradicts_a_constraint_costs_itself_only():
    table = normal.X.assign(u=(normal.X["a"] > 0).astype(int), v=(normal.X["a"] <= 0).astype(int))
    explainer = normal.fitted(data=table)
    rows = table.iloc[[5, 3]].copy()
    rows.iloc[0, rows.columns.get_loc("u")] = 7
    constraints = Constraints(exactly_one=[["u", "v"]])
    batch = explainer.explain_many(rows, constraints=constraints)
    assert batch[0].status == "error"
    assert batch[1].status in ("found", "none")


def test_what_can_not_be_sent_to_processes_is_said():
    lock = threading.Lock()

    def locked(frame: pd.DataFrame) -> np.ndarray:
        with lock:
            return normal.logistic(frame)

    with pytest.raises(ModelTypeError, match="n_jobs=1"):
        normal.fitted(locked).explain_many(normal.X.head(3), n_jobs=2)


def test_a_fraction_in_a_column_of_integers_is_refused():
    with pytest.raises(DataError, match="held integers"):
        normal.fitted().explain(normal.X.iloc[[4]].assign(k=3.5))


def test_the_row_of_an_error_is_the_users():
    rows = income.X.iloc[:4].copy()
    rows.loc[3, "c"] = "zzz"
    batch = income.fit("arf", max_evaluations=50).explain_many(rows, "yes", progress=False)
    assert "in row 3 " in batch[3].error


def test_a_score_that_is_not_finite_shows_its_row():
    def broken(frame):
        return np.where(frame["inc"] > 4000, np.nan, income.model(frame))

    with pytest.raises(ModelError, match=r"begins with \{'inc': "):
        make_explainer("arf", broken, classes=("no", "yes"), density=income.FOREST).fit(income.X)


def test_a_process_that_dies_loses_its_rows_only():
    here = os.getpid()

    def deadly(frame):
        if os.getpid() != here and len(frame) < 300 and frame["inc"].max() > 8500:
            os._exit(1)
        return income.model(frame)

    explainer = make_explainer(
        "whatif", deadly, classes=("no", "yes"), density=income.FOREST, random_state=1, max_evaluations=20
    ).fit(income.X)
    with pytest.warns(UserWarning, match="ended unexpectedly"):
        batch = explainer.explain_many(  # together, this process would ask about all rows themselves
            pd.concat([income.X.nlargest(1, "inc")] * 3 + [income.X.head(5)]),
            "no",
            n_jobs=2,
            progress=False,
            together=False,
        )
    assert len(batch) + len(batch.unfinished) == 8
    assert batch.unfinished
