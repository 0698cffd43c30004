"""The cost of recourse by group: against loops by hand, by its words, and how seldom it sees what is not there."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.recourse import MEASURES, Band
from countarfactuals.exceptions import DataError, DataTypeError, ParameterError
from countarfactuals.language import speaking
from countarfactuals.prediction import Target
from countarfactuals.schema import Schema

from ..pseudo import PSEUDO
from .examples import probabilities
from .test_languages import english

SCHEMA = Schema.infer(pd.DataFrame({"age": [20, 70], "sex": ["f", "m"], "income": [1.5, 2.5]}))
NOTHING = Counterfactuals.empty(
    SCHEMA, np.zeros(3), target=Target("good"), method="arf", status="none", score_columns=probabilities("good"),
    x_scores=[0.3], x_label="bad", objectives=("distance",),
)  # fmt: skip


def row(age: float, sex: str, status: str, distances: tuple[float, ...] = (0.1,), typical: float = 0.5):
    """A result whose counterfactuals change the income alone and have these distances."""
    x, n = np.array([age, float("fm".index(sex)), 1.5]), len(distances)
    if status != "found":
        return replace(NOTHING, x=x, status=status, consequence=None)
    rows = np.repeat(x[None], n, axis=0)
    rows[:, 2] = 2.0 + np.arange(n)
    return replace(
        NOTHING, x=x, status=status, rows=rows, scores=np.full((n, 1), 0.7), labels=("good",) * n, n_found=n,
        objectives={"distance": np.array(distances)}, log_density=np.zeros(n), typicality=np.full(n, typical),
        is_real_row=np.zeros(n), typicality_range=None, objectors=(), oddities=(), consequence=None,
    )  # fmt: skip


def batch_of(results, index=None) -> CounterfactualsBatch:
    return CounterfactualsBatch(tuple(results), tuple(range(len(results)) if index is None else index))


def mixed(seed: int = 1, n: int = 60) -> CounterfactualsBatch:
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        status = rng.choice(["found", "already", "none", "error"], p=[0.6, 0.2, 0.15, 0.05])
        distances = tuple(rng.exponential(0.1, rng.integers(1, 4)))
        made.append(row(float(rng.integers(20, 70)), rng.choice(["f", "m"]), str(status), distances, rng.random()))
    return batch_of(made)


def test_figures_are_those_of_loops_by_hand():
    batch = mixed()
    frame = batch.recourse("sex").to_frame().set_index(["group", "measure"])
    for sex in ("f", "m"):
        own = [one for one in batch if one.x[1] == "fm".index(sex) and one.status != "error"]
        needing = [one for one in own if one.status != "already"]
        nearest = [min(one.objectives["distance"]) for one in own if len(one)]
        expected = {
            "already": (len(own) - len(needing)) / len(own),
            "without": sum(not len(one) for one in needing) / len(needing),
            "distance": statistics.median(nearest),
            "mean_distance": sum(nearest) / len(nearest),
            "n_changed": 1.0,
        }
        for measure, value in expected.items():
            assert frame.loc[(sex, measure), "value"] == pytest.approx(value), measure
        assert frame.loc[(sex, "already"), "rows"] == len(own)
        assert frame.loc[(sex, "without"), "n"] == len(needing)
        assert frame.loc[(sex, "distance"), "n"] == len(nearest)
    apart = frame["difference"].unstack("group")
    assert apart["f"].to_numpy() == pytest.approx(-apart["m"].to_numpy())
    value = frame["value"].unstack("group")
    assert (value["f"] - value["m"]).to_dict() == pytest.approx(apart["f"].to_dict())


def test_every_row_is_in_one_group_whatever_the_order_and_again():
    batch = mixed()
    turned = CounterfactualsBatch(batch.results[::-1], batch.index[::-1])
    for by, bins in (("sex", None), ("age", None), ("age", 3), ("age", [30, 50])):
        made = batch.recourse(by, bins=bins)
        assert sum(group.n for group in made) == made.everyone.n == sum(one.status != "error" for one in batch)
        assert made.n_failed == sum(one.status == "error" for one in batch)
        pd.testing.assert_frame_equal(made.to_frame(), batch.recourse(by, bins=bins).to_frame())
        shares = made.to_frame()[["group", "measure", "value"]]
        pd.testing.assert_frame_equal(shares, turned.recourse(by, bins=bins).to_frame()[["group", "measure", "value"]])


def test_bands_begin_at_their_cuts():
    batch = batch_of([row(age, "f", "already") for age in (29, 30, 49, 50, 51, math.nan)])
    made = batch.recourse("age", bins=[30, 50])
    assert [(group.key, group.n) for group in made] == [
        (Band(-math.inf, 30.0), 1),
        (Band(30.0, 50.0), 2),
        (Band(50.0, math.inf), 2),
        (None, 1),
    ]
    assert list(made.to_frame()["group"].unique()[:3]) == ["below 30", "30 to below 50", "50 or more"]
    assert "age 30 years to below 50 years, 2 rows" in made.describe(units={"age": "years"})


def test_bands_of_equal_size_are_about_that():
    batch = batch_of([row(age, "f", "already") for age in range(20, 60)])
    assert [group.n for group in batch.recourse("age")] == [10, 10, 10, 10]
    assert [group.key for group in batch.recourse("age", bins=2)] == [Band(-math.inf, 40.0), Band(40.0, math.inf)]


def test_values_of_the_users_own_are_found_by_their_labels():
    batch = batch_of([row(30, "f", "already"), row(30, "f", "none"), row(30, "f", "already")], index=("a", "b", "c"))
    other = pd.Series(["x", "y", "z", "y"], index=["c", "b", "unused", "a"], name="branch")
    made = batch.recourse(other)
    assert [(group.key, group.n, group.estimates["already"].value) for group in made] == [("x", 1, 1.0), ("y", 2, 0.5)]
    assert made.column.name == "branch"
    for by in (["y", "y", "x"], np.array(["y", "y", "x"]), pd.Categorical(["y", "y", "x"])):
        assert [(group.key, group.n) for group in batch.recourse(by)] == [("x", 1), ("y", 2)]
    assert [group.key for group in batch.recourse([0.5, None, 2.5])] == [0.5, 2.5, None]


def test_few_rows_are_not_compared():
    few, many = ([row(30, sex, "found", (0.1 + i / 100,)) for i in range(n)] for sex, n in (("f", 9), ("m", 30)))
    made = batch_of([*few, *many]).recourse("sex")
    assert [set(group.differences) for group in made] == [set(), set()]  # nor many with few
    assert not made[0].estimates["distance"].is_known
    assert made[1].estimates["distance"].is_known
    assert "Fewer than 10 rows are not compared with others." in made.describe()
    assert "Too few rows to compare: already fine" in made.describe()
    done = [row(30, "f", "already") for _ in range(20)]
    made = batch_of([*few, *many, *done]).recourse("sex")
    assert set(made[0].differences) == {"already"}


def test_a_clear_difference_is_told_and_no_more():
    rng = np.random.default_rng(2)
    near = [row(30, "f", "found", (d,), 0.5) for d in rng.uniform(0.1, 0.2, 40)]
    far = [row(30, "m", "found", (d,), 0.5) for d in rng.uniform(0.3, 0.4, 40)]
    told = batch_of([*near, *far]).recourse("sex").describe(rows="applicants")
    assert "Compared with all other applicants: distance lower by 0.2" in told
    assert "Compared with all other applicants: distance higher by 0.2" in told
    assert "No clear difference to other applicants: already fine, without any, changes and typicality." in told
    assert "10 comparisons were made; where nothing differs, about 5 % of such intervals leave out zero." in told


def test_where_groups_do_not_differ_few_are_said_to():
    """Of 60 batches with two groups: 5 % of intervals of four measures leave out zero, here no more than 9 %."""
    rng = np.random.default_rng(3)
    clear = n = 0
    for _ in range(60):
        made = [
            row(30, sex, "found" if rng.random() < 0.8 else "already", (rng.exponential(0.1),), rng.random())
            for sex in rng.choice(["f", "m"], 50)
        ]
        first = batch_of(made).recourse("sex", n_draws=300)[0]
        apart = [first.differences[name] for name in ("already", "distance", "mean_distance", "typicality")]
        clear += sum(one.low > 0 or one.high < 0 for one in apart)
        n += len(apart)
    assert clear / n <= 0.09


def test_tables_and_sentences_can_be_translated():
    batch = batch_of([one if one.status == "error" else row(30 + i, "f", one.status) for i, one in enumerate(mixed())])
    made = batch.recourse(pd.Series(np.arange(len(batch)) // 7, name="Ä"), bins=[1, 2])
    with speaking(PSEUDO):
        assert english(repr(made)) == english(made.describe(rows=("Ä", "ÄÄ"))) == set()


@pytest.mark.parametrize(
    ("by", "bins", "error", "says"),
    [
        ("sexe", None, DataError, "Did you mean 'sex'"),
        ("sex", 3, ParameterError, "are for numbers"),
        ("age", 1, ParameterError, "from 2"),
        ("age", [50, 30], ParameterError, "ascending"),
        ("age", "four", ParameterError, "ascending"),
        ([1, 2], None, DataError, "2 values for 60 rows"),
        (pd.Series([1, 2]), None, DataError, "no value for the rows"),
        ({1: 2}, None, DataTypeError, "one value per row"),
        ([f"group {i}" for i in range(60)], None, DataError, "at most 30"),
    ],
)
def test_what_can_not_be_grouped_is_refused(by, bins, error, says):
    with pytest.raises(error, match=says):
        mixed().recourse(by, bins=bins)


def test_measures_are_all_there():
    assert tuple(mixed().recourse("sex")[0].estimates) == MEASURES
    with pytest.raises(DataError, match="no row that was explained"):
        batch_of([row(30, "f", "error")]).recourse("sex")
    with pytest.raises(ParameterError, match="between 0 and 1"):
        mixed().recourse("sex", confidence=1.0)
