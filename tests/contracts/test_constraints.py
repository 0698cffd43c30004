"""Constraints and limits hold as they were meant, and what could not hold is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from countarfactuals import ARFExplainer, Constraints
from countarfactuals.exceptions import ConstraintError
from countarfactuals.explainers.proposals import admissible

from . import income_table as income
from . import normal_table as normal
from .methods import Method, every_method


def test_max_changed_of_the_explainer_limits_results():
    result = normal.fitted(max_changed=1).explain(normal.X.iloc[[4]])
    assert len(result)
    assert (result.changed.sum(axis=1) == 1).all()


def test_no_training_row_is_a_nearest_miss_where_none_may_be_handed_out():
    table = pd.DataFrame(np.random.default_rng(0).choice(list("xyzuvw"), (60, 3)), columns=list("abc"))

    def share_of_x(frame: pd.DataFrame) -> np.ndarray:
        return 0.1 + 0.1 * (frame == "x").to_numpy().sum(axis=1)

    explainer = normal.fitted(share_of_x, table, allow_real_rows=False)
    known = set(table.itertuples(index=False, name=None))
    for i in range(10):
        diagnosis = explainer.explain(table.iloc[[i]], "good").diagnosis
        assert tuple(explainer.schema_.decode(diagnosis.nearest_miss[None]).iloc[0]) not in known


@every_method
def test_a_rule_that_sorts_is_understood_by_its_labels(method: Method):
    explainer = method.make(income.model, classes=("no", "yes"), max_evaluations=300).fit(income.X)
    sorting = {"rules": [lambda frame: frame.sort_values("inc")["inc"] > 3000]}
    result = explainer.explain(income.x, constraints=sorting)
    assert (result.to_frame()["inc"] > 3000).all()
    plain = explainer.explain(income.x, constraints={"rules": [lambda frame: frame["inc"] > 3000]})
    np.testing.assert_array_equal(result.rows, plain.rows)


def test_labels_that_are_not_the_rows_are_refused():
    with pytest.raises(ConstraintError, match="labels are not those of the"):
        income.fit("arf").explain(income.x, constraints={"rules": [lambda frame: frame.drop(index=0)["inc"] > 0]})


@pytest.mark.parametrize("seed", range(4))
def test_one_change_far_from_x_is_found(seed):
    # only a large income helps, and only one feature may change: near neighbours do not have it
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    data["income"] = np.round(rng.gamma(2, 1000, 300))
    cut = data["income"].quantile(0.98)
    one = data[data["income"] < 1000].iloc[[0]]
    settings = {"classes": ("no", "yes"), "density": income.FOREST, "random_state": seed}
    explainer = ARFExplainer(lambda frame: (frame["income"] > cut) * 1.0, **settings).fit(data)
    assert len(explainer.explain(one, constraints={"max_changed": 1, "ranges": {"a": (-1, 1)}}))


def test_a_range_between_two_cents_is_refused():
    with pytest.raises(ConstraintError, match="numbers with 2 decimal"):
        income.fit("arf").explain(income.x, constraints={"ranges": {"inc": (3900.001, 3900.004)}})
    assert income.fit("arf").explain(income.x, constraints={"ranges": {"inc": (3900.001, 4500.004)}}).status == "found"
    with pytest.raises(ConstraintError, match="too large"):
        income.fit("arf").explain(income.x, constraints={"ranges": {"inc": (10**400, None)}})


def test_levels_of_polars_get_an_order():
    levels = ["low", "mid", "high"]
    data = pl.DataFrame(
        {"e": pl.Series(levels * 60, dtype=pl.Enum(levels)), "v": np.random.default_rng(1).normal(size=180)}
    )

    def score(frame):
        return (frame["v"].to_numpy() > 0.5) * 1.0

    settings = {"classes": (0, 1), "density": income.FOREST, "random_state": 1}
    with pytest.raises(ConstraintError, match="ordered="):
        ARFExplainer(score, **settings).fit(data).explain(data[1], constraints={"direction": {"e": "increase"}})
    explainer = ARFExplainer(score, **settings).fit(data, ordered={"e": levels})
    result = explainer.explain(data[1], constraints={"direction": {"e": "increase"}})
    assert set(result.to_frame()["e"]) <= {"mid", "high"}


def test_groups_keep_within_the_most_changes():
    rng = np.random.default_rng(6)
    data = pd.DataFrame(rng.normal(size=(100, 4)), columns=list("abcd"))
    explainer = ARFExplainer(lambda frame: frame["a"], density=income.FOREST, random_state=1).fit(data)
    row = explainer.encode_row(data.iloc[[0]])
    constraints = Constraints(max_changed=3, groups=[["a", "b"], ["c", "d"]])
    problem = explainer.problem(row, (5, 6), constraints)
    rows = admissible(problem, data.to_numpy()[1:])
    assert ((rows != row).sum(axis=1) == 2).all()
    assert problem.limits.hold(rows).all()
