"""Odd values in calls of the public interface: a result, or an error of ours."""

from __future__ import annotations

from tests.torture import fuzz


def test_odd_values_give_results_or_errors_of_ours():
    """A small dose; `python -m tests.torture.fuzz 20000` takes more."""
    figures = fuzz.attack(300, seed=1)
    assert figures["told"] == []
    assert figures["result"] > 0
