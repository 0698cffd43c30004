"""Printing takes work in proportion to the length of names, which are cut where they are shown."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest, Counterfactuals, make_explainer

LENGTHS = (1_250, 2_500, 5_000)
WAYS: dict[str, Callable[[Counterfactuals], str]] = {
    "table": str,
    "sentences": lambda result: result.describe(),
    "markdown": lambda result: result.describe(format="markdown"),
    "notebook": lambda result: result._repr_html_(),
    "report": lambda result: result.to_html(),
}


def result(length: int) -> Counterfactuals:
    """A result whose columns and levels have long names, of words and of one word."""
    rng = np.random.default_rng(0)
    word, words = "a" * length, ("word " * length)[: length - 1] + "s"
    levels = [f"{name}{sign}" for name, sign in ((word, "x"), (words, "y"))]
    X = pd.DataFrame({f"{word}1": rng.normal(size=120), f"{words}2": rng.choice(levels, 120)})
    X[f"{word}<&>3"] = rng.integers(0, 9, 120)

    def model(frame: pd.DataFrame) -> np.ndarray:
        return ((frame.iloc[:, 0] > 0) & (frame.iloc[:, 2] > 4)).to_numpy(np.float64)

    forest = AdversarialRandomForest(n_estimators=3, random_state=0)
    explainer = make_explainer("whatif", model, density=forest, classes=("no", levels[1]), random_state=0).fit(X)
    return explainer.explain(X[model(X) == 0].head(1), levels[1])


@pytest.fixture(scope="module")
def results() -> list[Counterfactuals]:
    made = [result(length) for length in LENGTHS]
    for way in WAYS.values():  # what is computed once is computed now
        way(made[0])
    return made


def work(call: Callable[[], Any]) -> int:
    """How many functions a call enters, of Python and of C."""
    count = 0

    def entered(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(entered)
    try:
        call()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("way", WAYS)
def test_work_grows_no_faster_than_names(results: list[Counterfactuals], way: str):
    """From each length to its double a square grows four times as much as before, what is linear twice as much."""
    assert all(len(one) > 0 for one in results)
    small, middle, large = (work(lambda one=one: WAYS[way](one)) for one in results)
    assert large - middle <= 2.5 * (middle - small) + 500


@pytest.mark.parametrize("way", WAYS)
def test_what_is_shown_grows_no_faster_than_names(results: list[Counterfactuals], way: str):
    small, middle, large = (len(WAYS[way](one)) for one in results)
    assert large - middle <= 2.5 * (middle - small) + 500
    assert max(map(len, str(results[-1]).splitlines())) < 500
