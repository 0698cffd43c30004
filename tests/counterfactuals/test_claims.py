"""The range of typicality, who objected, and odd cells: kept by every way a result can take, and told in words."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch, Oddity
from countarfactuals.counterfactuals.sentences import WIDE

from .examples import result

RANGE = np.array([[0.1, 0.3], [0.15, 0.9], [0.6, 0.6], [0.3, 0.8]])
OBJECTORS = ("forest", "mixture", "worst cell", "conditionals")
ODDITIES = (
    (Oddity(1, 4, 0.002),),
    (),
    (Oddity(3, None, 0.0001), Oddity(4, 0, 0.004), Oddity(1, 3, 0.005)),
    (Oddity(2, None, 0.0),),
)


def told(**changes: Any) -> Counterfactuals:
    """Typicality is .2, .4, .6 and .8."""
    claims: dict[str, Any] = {"typicality_range": RANGE, "objectors": OBJECTORS, "oddities": ODDITIES}
    return result(**claims | changes)


def check_same(one: Counterfactuals, at: list[int]) -> None:
    np.testing.assert_array_equal(one.typicality_range, RANGE[at])
    assert one.objectors == tuple(OBJECTORS[i] for i in at)
    assert one.oddities == tuple(ODDITIES[i] for i in at)
    assert all(isinstance(cell, Oddity) for cells in one.oddities for cell in cells)
    with pytest.raises(ValueError, match="read-only"):
        one.typicality_range[:] = 0.0


def test_claims_are_kept_as_they_are_and_can_not_be_changed():
    check_same(told(), [0, 1, 2, 3])


def test_select_and_filter_keep_the_claims_of_their_rows():
    check_same(told().filter(min_typicality=0.5), [2, 3])
    check_same(told().filter(real_rows=True), [1])
    check_same(told().filter(where=lambda frame: frame["typicality_high"] > 0.7), [1, 3])
    chosen = told().select(2)
    at = [int(np.flatnonzero((told().rows == row).all(axis=1) | _same(told().rows, row))[0]) for row in chosen.rows]
    check_same(chosen, at)
    nothing = told().filter(min_typicality=0.9)
    assert nothing.typicality_range.shape == (0, 2)
    assert nothing.objectors == nothing.oddities == ()


def _same(rows: np.ndarray, row: np.ndarray) -> np.ndarray:
    return ((rows == row) | (np.isnan(rows) & np.isnan(row))).all(axis=1)


def test_json_and_pickle_keep_every_bit(tmp_path):
    original = told(typicality_range=RANGE + np.pi * 1e-9)
    for again in (
        Counterfactuals.from_json(original.to_json()),
        Counterfactuals.from_json(str(_written(original, tmp_path / "result.json"))),
        pickle.loads(pickle.dumps(original)),
    ):
        assert again == original
        np.testing.assert_array_equal(again.typicality_range, original.typicality_range)
        assert again.objectors == original.objectors
        assert again.oddities == original.oddities
    batch = CounterfactualsBatch((original, original.filter(real_rows=True)), (0, 1))
    back = CounterfactualsBatch.from_json(batch.to_json())
    assert back.results[1].oddities == (ODDITIES[1],)
    assert back.results[0] == original


def _written(one: Counterfactuals, path: Any) -> Any:
    one.to_json(path)
    return path


def test_what_is_not_known_stays_unknown():
    plain = result()
    assert plain.typicality_range.shape == (4, 2)
    assert np.isnan(plain.typicality_range).all()
    assert plain.objectors == ("",) * 4
    assert plain.oddities == ((),) * 4
    again = Counterfactuals.from_json(plain.to_json())
    assert again == plain
    assert np.isnan(again.typicality_range).all()


def test_old_files_load_without_claims():
    stored = told().to_dict()
    for name in ("typicality_range", "objectors", "oddities"):
        del stored[name]
    old = Counterfactuals.from_dict(stored)
    assert old == result()
    assert "judges differ" not in old.describe(None)
    assert "Unusual:" not in old.describe(None)
    state = dict(told().__dict__)
    for name in ("typicality_range", "objectors", "oddities"):
        del state[name]
    unpickled = Counterfactuals.__new__(Counterfactuals)
    unpickled.__setstate__(state)
    assert unpickled == result()


@pytest.mark.parametrize(
    "garbled", [{"oddities": [[[1, 2]]] * 4}, {"oddities": [[["a", None, 0.1]]] * 4}, {"typicality_range": [["x", 1]]}]
)
def test_garbled_claims_are_refused(garbled):
    from countarfactuals.exceptions import StorageError

    with pytest.raises(StorageError):
        Counterfactuals.from_dict({**told().to_dict(), **garbled})


def test_the_range_stands_beside_typicality_in_frames():
    frame = told().to_frame(objectives=True)
    names = list(frame.columns)
    at = names.index("typicality")
    assert names[at : at + 3] == ["typicality", "typicality_low", "typicality_high"]
    np.testing.assert_array_equal(frame[["typicality_low", "typicality_high"]], RANGE)


# In words


def test_the_range_is_told_only_where_judges_are_far_apart():
    said = told().describe(None).split("\n\n")
    assert ["judges differ" in one for one in said] == [bool(high - low > WIDE) for low, high in RANGE]
    assert "40 % of real rows are less typical than this; judges differ, from 15 % to 90 %." in said[1]
    assert WIDE == 0.4
    edge = told(typicality_range=np.array([[0.25, 0.625], [0.0, 0.4], [0.2, 0.60001], [np.nan, np.nan]]))
    assert ["judges differ" in one for one in edge.describe(None).split("\n\n")] == [False, False, True, False]


def test_odd_cells_are_named_with_what_stands_beside_them():
    said = told().describe(None).split("\n\n")
    assert "Unusual: amount 3,200.25 beside grade high." in said[0]
    assert "Unusual:" not in said[1]
    assert "Unusual: missing job and grade low beside age 30." in said[2]  # the two that are oddest
    assert "Unusual: rate" in said[3]
    assert " beside " not in said[3]


def test_odd_cells_have_their_units_and_are_escaped():
    said = told().describe(None, units={"amount": "€", "age": "years"}, format="markdown")
    assert "€3,200.25 beside" in said
    assert "beside age 30 years" in said
