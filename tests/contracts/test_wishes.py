"""Limits relative to the row, steps, numbers that are allowed: no method ever violates one, and all reach something."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from countarfactuals import Constraints, make_explainer
from countarfactuals.constraints import clause_text

N, BUDGET = 240, 200
LIMITS = {
    "change": {"change": {"age": (0, 5), "income": ("-20%", "20%"), "grade": 1}},
    "steps": {"steps": {"income": 50, "debt": "±25"}},
    "numbers": {"allowed": {"term": [24, 36, 60], "debt": [0, 100.5, 250.25]}},
    "from to": {"allowed": {"term": {12: [24, 36], 24: [36], 36: [48]}}},
    "vary": {"vary": ["income", "debt", "term"]},
    "words": {"weights": {"age": "immutable", "grade": "hard", "income": "easy"}},
    "joint": {
        "change": {"income": (-900, "30%")},
        "steps": {"income": "±50", "term": 12},
        "allowed": {"term": [12, 24, 36]},
        "vary": ["income", "term", "debt"],
    },
}


def table() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 70, N),
            "income": rng.normal(2500, 600, N).round(2),
            "debt": rng.gamma(2.0, 150.0, N),
            "term": rng.choice([12, 24, 36, 48, 60], N),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], N), ["low", "mid", "high"], ordered=True),
        }
    )


def merit(frame: pd.DataFrame) -> np.ndarray:
    grade = frame["grade"].map({"low": -0.5, "mid": 0.0, "high": 0.5}).astype(float)
    linear = (
        (frame["age"] - 45) / 30
        + (frame["income"] - 2500) / 500
        - (frame["debt"] - 300) / 150
        - frame["term"] / 40
        + 0.9
    )
    return (1 / (1 + np.exp(-1.5 * (linear + grade)))).to_numpy()


FRAME = table()
BASE = make_explainer("arf", merit, classes=("no", "yes"), random_state=1, max_evaluations=BUDGET).fit(FRAME)
REFUSED = FRAME[(merit(FRAME) > 0.3) & (merit(FRAME) < 0.5)].iloc[:4]
METHODS = ("arf", "mocarf", "moc", "mocctree", "nice", "random", "whatif")


def obeys(limits: dict, x: pd.Series, row: pd.Series) -> list[str]:
    """What a row violates, judged anew on values."""
    changed = {name for name in FRAME if row[name] != x[name]}
    rank = {"low": 0, "mid": 1, "high": 2}
    old, new = (cells.map(lambda value: rank.get(value, value)) for cells in (x, row))
    wrong = []
    for name, ends in limits.get("change", {}).items():
        low, high = ends if isinstance(ends, tuple) else (-ends, ends)
        low, high = (abs(old[name]) * float(end[:-1]) / 100 if isinstance(end, str) else end for end in (low, high))
        if name in changed and not low - 1e-9 <= new[name] - old[name] <= high + 1e-9:
            wrong.append(f"change: {name}")
    for name, step in limits.get("steps", {}).items():
        start, step = (old[name], float(step[1:])) if isinstance(step, str) else (0.0, step)
        places = (new[name] - start) / step
        if name in changed and abs(places - round(places)) > 1e-9:
            wrong.append(f"step: {name}")
    for name, values in limits.get("allowed", {}).items():
        ends = values.get(old[name], []) if isinstance(values, dict) else values
        if name in changed and new[name] not in ends:
            wrong.append(f"allowed: {name}")
    if "vary" in limits and not changed <= set(limits["vary"]):
        wrong.append("vary")
    if limits.get("weights", {}).get("age") == "immutable" and "age" in changed:
        wrong.append("immutable")
    return wrong


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", LIMITS)
def test_no_method_violates_a_limit(method: str, name: str):
    limits = LIMITS[name]
    explainer = make_explainer(method, merit, classes=("no", "yes"), max_evaluations=BUDGET).fit_like(BASE)
    n_found = 0
    for i in range(2):
        x = REFUSED.iloc[[i]]
        frame = explainer.explain(x, "yes", Constraints(**limits)).to_frame()
        n_found += len(frame)
        assert [obeys(limits, x.iloc[0], row) for _, row in frame.iterrows()] == [[]] * len(frame)
    if method not in ("whatif", "nice"):  # these have few rows to choose from
        assert n_found


@pytest.mark.parametrize("name", ["income", "debt"])
def test_a_search_reaches_the_points(name: str):
    """With one column that may change, and only in steps, changes are still found."""
    constraints = Constraints(vary=[name], steps={name: 50})
    found = [BASE.explain(REFUSED.iloc[[i]], "yes", constraints).to_frame()[name] for i in range(4)]
    values = np.concatenate([np.asarray(part) for part in found])
    assert len(values) >= 3
    np.testing.assert_array_equal(values % 50, 0)


def test_weights_by_words_are_costs():
    schema = BASE.schema_
    x = schema.encode(FRAME)[0]
    words = Constraints(weights={"age": "hard", "income": "easy"}).bind(schema, x).weights
    numbers = Constraints(weights={"age": 5, "income": 0.2}).bind(schema, x).weights
    np.testing.assert_array_equal(words, numbers)


def test_a_diagnosis_lifts_each_of_them():
    """Where a limit is all that forbids, lifting it is said to help, in words."""
    rows = REFUSED.iloc[[0]]
    forbidding = {
        "change: income": Constraints(vary=["income"], change={"income": 1}),
        "step: income": Constraints(vary=["income"], steps={"income": 100_000}, ranges={"income": (2000, 9000)}),
        "allowed: income": Constraints(vary=["income"], allowed={"income": [1000, 1001.5]}),
        "not varied: debt": Constraints(vary=["grade"], change={"grade": (0, 0)}),
        "immutable: debt": Constraints(
            fixed=["age", "income", "term"], change={"grade": (0, 0)}, weights={"debt": "immutable"}
        ),
    }
    for clause, constraints in forbidding.items():
        result = BASE.explain(rows, "yes", constraints)
        assert result.status == "none", clause
        lifted = {str(name): name for name in result.diagnosis.lifting}
        assert clause in lifted
        assert clause_text(lifted[clause])
        assert f"of {FRAME.shape[1]} features" in result.diagnosis.text(result)
