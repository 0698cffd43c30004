"""What plausibility costs: by hand, and in sentences that follow from the numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from countarfactuals.study import telling
from countarfactuals.study.findings import Scale
from countarfactuals.study.trade_off import trade_off

N_FEATURES = {"wide": 9, "flat": 2}


def rows(dataset: str, method: str, *points: tuple[int, int, float, float]) -> list[dict[str, object]]:
    """Non-dominated rows as (instance, changes, distance, log density)."""
    names = ("instance", "n_changed", "distance", "log_density")
    keys = {"dataset": dataset, "method": method, "nondominated": True}
    found = [{**keys, **dict(zip(names, point, strict=True))} for point in points]
    return [{**row, "share_changed": point[1] / N_FEATURES[dataset]} for row, point in zip(found, points, strict=True)]


def make() -> tuple[pd.DataFrame, pd.DataFrame]:
    lines = [
        *rows(
            "wide", "arf", (1, 3, 0.2, -4.0), (1, 4, 0.3, -1.0), (2, 1, 0.1, -6.0), (2, 3, 0.4, -5.0), (3, 2, 0.2, -9)
        ),
        *rows("wide", "moc", (1, 1, 0.1, -8.0), (2, 5, 0.2, -0.5), (3, 1, 0.1, -7.0)),
        *rows("wide", "nice", (1, 4, 0.1, -3.0), (2, 5, 0.2, -0.5), (3, 1, 0.1, -7.0)),
        *rows("flat", "arf", (1, 2, 0.1, -2.0), (2, 1, 0.1, -3.0), (3, 1, 0.1, -4.0)),
        *rows("flat", "moc", (1, 2, 0.1, -2.0), (2, 1, 0.1, -3.0), (3, 1, 0.1, -4.0)),
    ]
    dominated = [{**lines[0], "log_density": 99.0, "nondominated": False}]
    candidates = pd.DataFrame([*lines, *dominated])
    instances = candidates[["dataset", "method", "instance"]].drop_duplicates().reset_index(drop=True)
    return candidates, instances


def test_few_changes_by_hand() -> None:
    table = trade_off(*make(), N_FEATURES).set_index(["dataset", "method"])
    assert dict(table["most_changes"]) == {
        **{("wide", method): 3 for method in ("arf", "moc", "nice")},
        **{("flat", method): 2 for method in ("arf", "moc")},
    }
    within = table["log_density_within"]
    assert within["wide", "arf"] == -5.0  # −4, −5, −9: four changes do not count
    assert within["wide", "moc"] == -8.0  # −8, none, −7
    assert within["wide", "nice"] == -np.inf  # two of three have none
    assert within["flat", "arf"] == -3.0
    assert table.loc[("wide", "arf"), "n_changed"] == 3
    assert table.loc[("wide", "arf"), "distance"] == 0.2
    assert table.loc[("flat", "arf"), "distance_attained"] == 1.0
    assert table.loc[("flat", "arf"), "distance_attained_by_others"] == 1.0
    assert np.isnan(table.loc[("wide", "moc"), "distance_attained"])


def test_an_even_number_of_instances_of_which_half_have_none() -> None:
    candidates, instances = make()
    some = instances["instance"] <= 2
    table = trade_off(candidates[candidates["instance"] <= 2], instances[some], N_FEATURES)
    within = table.set_index(["dataset", "method"])["log_density_within"]
    assert within["wide", "arf"] == -4.5
    assert within["wide", "moc"] == -np.inf


def test_sentences_follow_from_the_numbers() -> None:
    table = trade_off(*make(), N_FEATURES)
    assert "ARF is ahead on wide, level on flat." in telling.sparse(table)
    worse = table.assign(log_density_within=table["log_density_within"].where(table["method"] != "arf", -50.0))
    assert "ARF is behind on wide and flat." in telling.sparse(worse)
    dear = telling.dearer(table, "n_changed", Scale(significant=2))
    assert dear == (
        "Changes: in the median over all non-dominated counterfactuals, ARF changes more features than each of MOC and "
        "NICE nowhere."
    )
    table.loc[(table["dataset"] == "wide") & (table["method"] == "arf"), "n_changed"] = 4.5
    dear = telling.dearer(table, "n_changed", Scale(significant=2))
    assert "on wide (4.5, the others at most 4)." in dear
    alone = table[table["method"] == "arf"]
    assert telling.sparse(alone) == telling.attained(alone.iloc[:0]) == ""
    assert "MOCARF" not in telling.attained(table)


@pytest.mark.parametrize(("spent", "expected"), [(83, "ARF asked 83 times"), (100, "")])
def test_evaluations_that_were_left(spent: int, expected: str) -> None:
    instances = pd.DataFrame({"method": ["arf", "moc", "nice"], "n_evaluated": [spent, 100, 4]})
    told = telling.evaluations(instances, 100, "default")
    assert expected in told
    assert bool(told) == bool(expected)
    assert "NICE" not in told
    assert "stops when" not in telling.evaluations(instances, 100, "paper")
