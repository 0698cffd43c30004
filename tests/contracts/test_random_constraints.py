"""Counterfactuals under randomly drawn constraints: none violates, none misses, none is x, none is dominated."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import event, given
from hypothesis import strategies as st

from countarfactuals import Constraints

from ..constraints.twin import Case, constraints, judge
from .checks import check_none_dominated
from .methods import BY_NAME, METHODS, Method, every_method
from .tables import records

N, BUDGET, N_QUERIES = 220, 150, 30
# what leaves everything free; `allow_missing` stays, as levels may name MISSING only with it
NOTHING: dict[str, Any] = {
    "fixed": (),
    "vary": None,
    "ranges": {},
    "change": {},
    "steps": {},
    "allowed": {},
    "direction": {},
    "max_changed": None,
    "rules": [],
    "groups": [],
    "exactly_one": [],
    "weights": {},
}


def table() -> pd.DataFrame:
    """Values as the drawn constraints name them; c4 to c6 are one-hot."""
    rng = np.random.default_rng(3)
    one = rng.integers(0, 3, N)
    letters = rng.choice(["a", "b", "c"], (2, N))
    frame = pd.DataFrame(
        {
            "c0": rng.uniform(-1, 2.25, N).round(2),
            "c1": rng.integers(-1, 4, N),
            "c2": pd.Categorical(letters[0]),
            "c3": pd.Categorical(
                rng.choice(["low", "mid", "high"], N), categories=["low", "mid", "high"], ordered=True
            ),
            **{f"c{4 + k}": one == k for k in range(3)},
            "c7": rng.uniform(-1, 2.25, N),
            "c8": pd.Categorical(np.where(rng.random(N) < 0.5, letters[0], letters[1])),
        }
    )
    frame.loc[rng.random(N) < 0.15, "c0"] = np.nan
    frame.loc[rng.random(N) < 0.15, "c2"] = np.nan
    return frame


class Model:
    """P(yes), in which every column has a part; counts the rows."""

    def __init__(self) -> None:
        self.n_rows = 0

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        self.n_rows += len(frame)
        merit = (
            1.2 * (frame["c0"].fillna(0.5).to_numpy() - 0.6)
            + 0.4 * (frame["c1"].to_numpy() - 1)
            + frame["c2"].map({"a": -0.6, "b": 0.0, "c": 0.6}).astype(float).fillna(0.1).to_numpy()
            + frame["c3"].map({"low": -0.6, "mid": 0.0, "high": 0.6}).astype(float).to_numpy()
            + 0.7 * frame["c4"].to_numpy()
            - 0.7 * frame["c6"].to_numpy()
            - 0.5 * frame["c7"].to_numpy()
            + frame["c8"].map({"a": 0.5, "b": 0.0, "c": -0.5}).astype(float).to_numpy()
        )
        return 1 / (1 + np.exp(-2 * merit))


FRAME = table()


@cache
def fitted(name: str) -> Any:
    return BY_NAME[name].make(Model(), classes=("no", "yes"), max_evaluations=BUDGET).fit(FRAME)


@st.composite
def questions(draw, schema: Any, matrix: np.ndarray) -> tuple[int, dict[str, Any]]:
    """A row and some kinds of constraints: under all kinds at once there is seldom anything left to find."""
    at = draw(st.integers(0, N_QUERIES - 1))
    said = draw(constraints(schema, matrix[at]))
    kept = draw(st.sets(st.sampled_from(sorted(NOTHING)), min_size=1, max_size=6))
    return at, said | {kind: nothing for kind, nothing in NOTHING.items() if kind not in kept}


@every_method
@given(data=st.data())
def test_random_constraints(method: Method, data: Any):
    explainer = fitted(method.name)
    schema, matrix, model = explainer.schema_, explainer.background_.matrix, explainer.model
    at, said = data.draw(questions(schema, matrix))
    x = FRAME.iloc[[at]]
    asked_before = model.n_rows
    result = explainer.explain(x, constraints=Constraints(**said))
    assert model.n_rows - asked_before == result.provenance["evaluations"] <= BUDGET

    wanted = bool(model(x)[0] <= 0.5)
    event(result.status)
    assert result.status in ("found", "none")
    assert (result.status == "none") == (len(result) == 0)
    if result.status == "none":
        assert result.diagnosis.text(result)
        return
    frame = result.to_frame()
    assert ((model(frame) > 0.5) == wanted).all()
    rows = records(frame)
    assert records(x)[0] not in rows
    assert len(set(rows)) == len(rows)
    case = Case(schema, matrix[at], result.rows, said)
    broken = [name for row in schema.encode(frame) for name, violated in judge(case, row).items() if violated]
    assert not broken
    if method.is_pareto:
        check_none_dominated(result, ("distance", "n_changed", "implausibility"))


@every_method
def test_weights_are_costs(method: Method):
    """The distance is the weighted one, and what costs nothing may change freely."""
    x = FRAME.iloc[[2]]
    explainer = fitted(method.name)
    plain = explainer.explain(x)
    weighted = explainer.explain(
        x, constraints=Constraints(weights={name: 0 for name in FRAME.columns if name != "c1"})
    )
    only = np.abs(weighted.to_frame()["c1"] - x["c1"].iloc[0]) / (FRAME["c1"].max() - FRAME["c1"].min())
    np.testing.assert_allclose(weighted.objectives["distance"], only, atol=1e-12)
    assert plain.objectives["distance"].min() > 0


def test_every_method_is_bound():
    assert len(BY_NAME) == len(METHODS)
