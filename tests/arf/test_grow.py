"""Choosing a cut: the gain, and what needs more rows than other tests have."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from countarfactuals.arf.grow import _gain


def exact_gain(r: int, n: int, all_r: int, all_n: int) -> float:
    excess = Fraction(r * all_n - all_r * n)
    return float(excess * excess / (n * (all_n - n)))


@pytest.mark.parametrize("size", [20, 400_000, 2_000_000, 2_000_000_000])
def test_the_gain_of_large_nodes_does_not_overflow(size):
    half = size // 2
    counts = (half, half, half, size)  # a perfect cut, whose excess is size²/4
    assert _gain(*counts) == pytest.approx(exact_gain(*counts), rel=1e-12)
    counts = (half - 3, half, half, size)
    assert _gain(*counts) == pytest.approx(exact_gain(*counts), rel=1e-9)


def test_a_perfect_cut_gains_most():
    gains = [_gain(r, 1000, 1000, 2000) for r in range(501, 1001)]
    assert (np.diff(gains) > 0).all()
