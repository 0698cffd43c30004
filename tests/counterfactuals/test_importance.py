"""How often and how far features change, against loops by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.schema import Kind, Schema

from .examples import result

JOBS, GRADES = ["clerk", "nurse", "none"], ["low", "middle", "high"]
RANGES = {"income": 40.0, "job": -1.0, "grade": 2.0, "owner": -1.0}


def drawn(seed: int, n: int) -> pd.DataFrame:
    """A row and n counterfactuals, with gaps."""
    rng = np.random.default_rng(seed)
    income = np.where(rng.random(n + 1) < 0.2, np.nan, rng.integers(0, 9, n + 1) * 10.0)
    return pd.DataFrame(
        {
            "income": income,
            "job": pd.Categorical(rng.choice([*JOBS, None], n + 1), categories=JOBS),
            "grade": pd.Categorical(rng.choice(GRADES, n + 1), categories=GRADES, ordered=True),
            "owner": rng.random(n + 1) < 0.5,
        }
    )


FULL = Schema.infer(pd.concat([drawn(seed, 5) for seed in range(20)]))


def made(seed: int, n: int) -> Counterfactuals:
    return result(drawn(seed, n), schema=FULL, provenance={"ranges": list(RANGES.values())})


def by_hand(results: list[Counterfactuals], name: str) -> dict[str, float]:
    """The same numbers, cell by cell."""
    j = FULL.index(name)
    kind = FULL.columns[j].kind
    rows = [found for found in results if len(found)]
    sums = dict.fromkeys(("share", "up", "down", "size", "amount", "with_amount"), 0.0)
    for found in rows:
        weight = 1 / len(found) / len(rows)
        before = found.x[j]
        for after in found.rows[:, j]:
            if after == before or (math.isnan(after) and math.isnan(before)):
                continue
            is_gap = math.isnan(after) or math.isnan(before)
            has_order = kind is not Kind.CATEGORY and not is_gap
            sums["share"] += weight
            sums["up"] += weight * (has_order and after > before)
            sums["down"] += weight * (has_order and after < before)
            is_whole = is_gap or RANGES[name] < 0
            sums["size"] += weight * (1.0 if is_whole else min(abs(after - before) / RANGES[name], 1.0))
            if kind in (Kind.REAL, Kind.INTEGER) and not is_gap:
                sums["amount"] += weight * abs(after - before)
                sums["with_amount"] += weight
    sums["size"] = sums["size"] / sums["share"] if sums["share"] else math.nan
    sums["amount"] = sums["amount"] / sums["with_amount"] if sums["with_amount"] else math.nan
    return sums


@pytest.mark.parametrize("seed", range(12))
def test_importance_is_what_loops_by_hand_give(seed):
    results = [made(10 * seed + i, n) for i, n in enumerate((1, 4, 7))]
    for found in ([results[2]], results):
        frame = found[0].importance() if len(found) == 1 else batch_of(found).importance()
        assert list(frame.columns) == ["feature", "share", "up", "down", "follows", "size", "amount"]
        for line in frame.to_dict("records"):
            expected = by_hand(found, line["feature"])
            for name in ("share", "up", "down", "size", "amount"):
                assert line[name] == pytest.approx(expected[name], nan_ok=True), (line["feature"], name)
        assert (frame["share"].diff().dropna() <= 1e-12).all()


def batch_of(results: list[Counterfactuals], **fields: Any) -> CounterfactualsBatch:
    return CounterfactualsBatch(tuple(results), tuple(range(len(results))), **fields)


def test_what_follows_is_counted_apart_within_what_changes():
    plain = made(3, 4)
    j = int(np.argmax(plain.changed.sum(axis=0)))
    follows = np.zeros(plain.rows.shape, bool)
    follows[int(np.argmax(plain.changed[:, j])), j] = True
    before, after = (one.importance().set_index("feature") for one in (plain, replace(plain, consequence=follows)))
    assert after["follows"].to_dict() == dict.fromkeys(after.index, 0.0) | {FULL.names[j]: 0.25}
    pd.testing.assert_frame_equal(before.drop(columns="follows"), after.drop(columns="follows"))


def test_a_row_with_many_counterfactuals_does_not_dominate():
    def changing(name: str, n: int) -> Counterfactuals:
        cells = {"a": [0.0] * (n + 1), "b": [0.0] * (n + 1)} | {name: [0.0, *range(1, n + 1)]}
        return result(pd.DataFrame(cells), schema=Schema.infer(pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0]})))

    share = batch_of([changing("a", 99), changing("b", 1)]).importance().set_index("feature")["share"]
    assert share.to_dict() == {"a": 0.5, "b": 0.5}


def test_only_the_best_count_where_asked():
    results = [made(3, 7), made(4, 5)]
    chosen = batch_of([one.select(2) for one in results])
    pd.testing.assert_frame_equal(batch_of(results).importance(2), chosen.importance())
    pd.testing.assert_frame_equal(results[0].importance(2), results[0].select(2).importance())


def test_without_ranges_numbers_have_no_size_and_levels_have():
    found = result(drawn(3, 7), schema=FULL, provenance={})
    size = found.importance().set_index("feature")["size"]
    expected = made(3, 7).importance().set_index("feature")["size"]
    assert math.isnan(size["income"]) or size["income"] == 1.0  # only where gaps are filled it is known
    assert size.drop("income").to_dict() == pytest.approx(expected.drop("income").to_dict(), nan_ok=True)


def test_nothing_found_is_a_table_of_zeros():
    frame = made(3, 7).filter(max_changed=0).importance()
    assert set(frame["feature"]) == set(RANGES)
    assert (frame["share"] == 0).all()
    assert CounterfactualsBatch((), ()).importance().empty
