"""`explain_many`: a bad row costs itself only, what is finished is returned, and nothing is said unasked."""

from __future__ import annotations

import io
import sys
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from countarfactuals.exceptions import CountarfactualsError, DataError, ModelError, ParameterError

from .checks import same
from .methods import BY_NAME, Method, every_method
from .tables import TABLES, Scorer, columns, frame_of

X = frame_of(columns("mixed"), "pandas")
BAD_AGE = 99  # no row of the data is that old, so that the model can tell whom it is asked about


class Fussy(Scorer):
    """Raises when it sees a certain age."""

    def __init__(self, error: BaseException | None = None) -> None:
        super().__init__("mixed")
        self.error = error

    def __call__(self, frame: Any) -> np.ndarray:
        ages = frame["age"].to_list() if isinstance(frame, pl.DataFrame) else frame["age"].tolist()
        if self.error is not None and BAD_AGE in ages:
            raise self.error
        return super().__call__(frame)


@cache
def fitted(name: str) -> Any:
    return BY_NAME[name].make(Fussy(), classes=("bad", "good"), max_evaluations=120).fit(X)


def with_error(name: str, error: BaseException | None) -> Any:
    explainer = fitted(name)
    explainer.model.error = error
    return explainer


def queries(bad: int | None = None) -> pd.DataFrame:
    rows = X.head(5).copy()
    rows.index = pd.Index(list("vwxyz"))
    if bad is not None:
        rows.iloc[bad, list(rows.columns).index("age")] = BAD_AGE
    return rows


def with_unseen_level(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.assign(purpose=frame["purpose"].astype(object))
    frame.iloc[1, list(frame.columns).index("purpose")] = "boat"
    return frame


@every_method
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_row_on_which_the_model_fails_costs_itself_only(method: Method, n_jobs: int):
    whole = with_error(method.name, None).explain_many(queries())
    batch = with_error(method.name, RuntimeError("too old")).explain_many(queries(bad=2), n_jobs=n_jobs)
    assert batch.index == tuple("vwxyz")
    assert batch.unfinished == ()
    assert [result.status for result in batch] == [r.status if i != 2 else "error" for i, r in enumerate(whole)]
    assert list(batch.errors) == ["x"]
    assert "too old" in batch.errors["x"]
    assert "ModelError" in batch.errors["x"]
    assert len(batch[2]) == 0
    assert all(same(batch[i], whole[i]) for i in (0, 1, 3, 4))
    assert batch.summary()["status"].tolist()[2] == "error"
    assert "x" not in set(batch.to_frame(objectives=True)["row"])


@every_method
def test_a_row_with_an_unseen_level_costs_itself_only(method: Method):
    explainer = with_error(method.name, None)
    whole, batch = explainer.explain_many(queries()), explainer.explain_many(with_unseen_level(queries()))
    assert list(batch.errors) == ["w"]
    assert "boat" in batch.errors["w"]
    assert all(same(batch[i], whole[i]) for i in (0, 2, 3, 4))


@every_method
def test_an_unseen_level_in_polars_and_numpy(method: Method):
    for frame in ("polars", "numpy"):
        data = frame_of(columns("mixed"), frame)
        explainer = method.make(Scorer("mixed"), classes=("bad", "good"), max_evaluations=60).fit(data)
        rows = data[:4].with_columns(pl.col("purpose").cast(pl.String)) if frame == "polars" else data[:4].copy()
        if frame == "polars":
            rows[2, "purpose"] = "boat"
        else:
            rows[2, TABLES["mixed"].index("purpose")] = "boat"
        batch = explainer.explain_many(rows)
        assert list(batch.errors) == [2]
        assert batch.index == (0, 1, 2, 3)


@every_method
def test_the_only_row_may_be_the_bad_one(method: Method):
    batch = with_error(method.name, None).explain_many(with_unseen_level(queries()).iloc[[1]])
    assert "boat" in batch.errors["w"]


@every_method
def test_a_row_with_a_cell_of_another_type_costs_itself_only(method: Method):
    rows = queries().astype({"income": object})
    rows.iloc[1, list(rows.columns).index("income")] = "a lot"
    batch = with_error(method.name, None).explain_many(rows)
    assert list(batch.errors) == ["w"]


@every_method
def test_on_error_raise(method: Method):
    with pytest.raises(ModelError, match="too old"):
        with_error(method.name, RuntimeError("too old")).explain_many(queries(bad=2), on_error="raise")
    with pytest.raises(DataError, match="boat"):
        with_error(method.name, None).explain_many(with_unseen_level(queries()), on_error="raise")


@every_method
def test_a_frame_at_fault_is_an_error(method: Method):
    """Not one error per row: nothing at all could be explained."""
    explainer = with_error(method.name, None)
    with pytest.raises(DataError, match="age"):
        explainer.explain_many(queries().drop(columns="age"))
    with pytest.raises(DataError, match="ages"):
        explainer.explain_many(queries().rename(columns={"age": "ages"}))


@every_method
def test_no_time(method: Method):
    for n_jobs in (1, 2):
        batch = with_error(method.name, None).explain_many(queries(), time_budget=0, n_jobs=n_jobs)
        assert len(batch) == 0
        assert batch.unfinished == tuple("vwxyz")
        assert repr(batch)


@every_method
def test_enough_time(method: Method):
    batch = with_error(method.name, None).explain_many(queries(), time_budget=600)
    assert batch.index == tuple("vwxyz")
    assert batch.unfinished == ()


@every_method
def test_an_interrupt_returns_what_is_finished(method: Method):
    whole = with_error(method.name, None).explain_many(queries())
    explainer = with_error(method.name, KeyboardInterrupt())
    with pytest.warns(UserWarning, match=r"2 of 5 rows are finished .*; 2 of them were not begun"):
        batch = explainer.explain_many(queries(bad=2), together=False)
    assert batch.index == ("v", "w")
    assert batch.unfinished == ("x", "y", "z")
    assert all(map(same, batch, whole[:2]))


@every_method
def test_silent_unless_someone_watches(method: Method, capfd: Any, monkeypatch: Any):
    explainer = with_error(method.name, None)
    explainer.explain(X.iloc[[0]])
    explainer.explain_many(queries())
    explainer.explain_many(queries(), n_jobs=2)
    assert capfd.readouterr() == ("", "")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for progress in (True, False):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        explainer.explain_many(queries(), progress=progress)
        assert bool(terminal.getvalue()) == progress


@every_method
def test_bad_arguments(method: Method):
    explainer = with_error(method.name, None)
    for wrong in (
        {"n_jobs": 0},
        {"n_jobs": 1.5},
        {"time_budget": -1},
        {"time_budget": "1"},
        {"on_error": "ignore"},
        {"together": 1.5},
    ):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            explainer.explain_many(queries(), **wrong)
    with pytest.raises(CountarfactualsError):
        explainer.explain_many([1, 2, 3])


@every_method
def test_nothing_is_no_frame(method: Method):
    with pytest.raises(CountarfactualsError):
        with_error(method.name, None).explain_many(None)
