"""A table with dates, from fit to sentences: they are dates to the model, to people and in files."""

from __future__ import annotations

import datetime
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest, Constraints, Counterfactuals, Explainer, make_explainer
from countarfactuals.exceptions import ConstraintError

METHODS = ["arf", "mocarf", "moc", "nice", "whatif", "random"]
MIDDLE = pd.Timestamp("2019-06-01")


@cache
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    days = rng.integers(0, 3000, 250)
    signed = pd.Timestamp("2015-01-01") + pd.to_timedelta(days, "D")
    made = pd.DataFrame({"signed": signed, "income": (2000 + days / 2 + rng.normal(0, 300, 250)).round()})
    made["seen"] = signed + pd.to_timedelta(rng.integers(1, 400, 250), "h")
    made.loc[5, "seen"] = pd.NaT
    return made


def model(frame: pd.DataFrame) -> np.ndarray:
    assert frame["signed"].dtype.kind == frame["seen"].dtype.kind == "M"
    return 1.0 / (1.0 + np.exp(-(frame["signed"] - MIDDLE).dt.days / 500 - (frame["income"] - 2800) / 400))


@cache
def fitted(method: str) -> Any:
    density = AdversarialRandomForest(n_estimators=10, min_samples_leaf=10)
    made = make_explainer(method, model, classes=("no", "yes"), density=density, max_evaluations=200, random_state=1)
    return made.fit(data())


def x() -> pd.DataFrame:
    return data()[model(data()) < 0.3].iloc[[0]]


@pytest.mark.parametrize("method", METHODS)
def test_counterfactuals_have_dates(method: str):
    result = fitted(method).explain(x(), "yes", {"direction": {"signed": "increase"}})
    assert len(result)
    rows = result.to_frame()
    assert rows.dtypes.tolist() == data().dtypes.tolist()
    assert (rows["signed"] == rows["signed"].dt.normalize()).all()
    assert (rows["seen"].dropna() == rows["seen"].dropna().dt.floor("h")).all()
    assert (rows["signed"] >= x()["signed"].iloc[0]).all()
    assert Counterfactuals.from_json(result.to_json()).to_json() == result.to_json()


@pytest.mark.parametrize(
    "ends", [("2016-01-01", "2019-12-31"), (datetime.date(2016, 1, 1), pd.Timestamp("2019-12-31"))]
)
def test_ranges_of_dates(ends: tuple[Any, Any]):
    constraints = Constraints(ranges={"signed": ends})
    result = fitted("arf").explain(x(), "yes", constraints)
    changed = result.to_frame()["signed"][result.changed[:, 0]]
    assert len(changed)
    assert changed.between("2016-01-01", "2019-12-31").all()
    assert "it becomes a value from 2016-01-01 to 2019-12-31" in " ".join(constraints.describe())
    with pytest.raises(ConstraintError, match=r"'signed' needs dates or times as ends, such as '2024-03-01'.*got 3"):
        fitted("arf").explain(x(), "yes", Constraints(ranges={"signed": (3, None)}))


def test_people_read_dates(tmp_path):
    result = fitted("arf").explain(x(), "yes")
    best, own = result.select(1).to_frame().iloc[0], x().iloc[0]
    if best["signed"] != own["signed"]:
        assert f"{best['signed']:%Y-%m-%d} instead of {own['signed']:%Y-%m-%d}" in result.describe(1)
    assert f"{own['seen']:%Y-%m-%d %H:%M}" in repr(result)
    assert f"{own['signed']:%Y-%m-%d}" in result.to_html()
    changes = result.changes()
    assert {type(value) for value in changes.loc[changes["feature"] == "signed", "to"]} == {datetime.date}


def test_the_density_of_dates(tmp_path):
    forest = AdversarialRandomForest(n_estimators=10, random_state=2).fit(data())
    drawn = forest.sample(50, given={"signed": ("2018-01-01", "2018-12-31")})
    assert drawn["signed"].between("2018-01-01", "2018-12-31").all()
    expected = forest.expect(["signed"], given={"income": (2400, 2600)})["signed"].iloc[0]
    assert pd.Timestamp("2016-01-01") < expected < pd.Timestamp("2019-01-01")
    assert forest.impute(data().head(7))["seen"].notna().all()
    forest.save(tmp_path / "forest")
    again = AdversarialRandomForest.load(tmp_path / "forest")
    np.testing.assert_array_equal(again.score_samples(data()), forest.score_samples(data()))


def test_files(tmp_path):
    explainer = fitted("arf")
    explainer.save(tmp_path / "explainer")
    again = Explainer.load(tmp_path / "explainer", model)
    assert (again.explain(x(), "yes").rows == explainer.explain(x(), "yes").rows).all()
