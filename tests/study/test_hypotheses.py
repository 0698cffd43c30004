"""RQ2: the test against an independent implementation, against full enumeration, and on the published correlations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import wilcoxon

from countarfactuals.study.findings import compare


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # one decimal, so that there are ties and differences of 0
    first, second = rng.normal(0.1, 1.0, 60).round(1), rng.normal(0.0, 1.0, 60).round(1)
    first[:3], second[2:5] = np.nan, np.nan
    found = compare(first, second)
    known = ~(np.isnan(first) | np.isnan(second))
    expected = wilcoxon(
        first[known], second[known], alternative="greater", correction=True, method="approx", zero_method="wilcox"
    )
    assert found.statistic == expected.statistic
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)
    assert (found.n_pairs, found.n_dropped) == (55, 5)
    assert found.median_first == np.median(first[known])
    assert found.median_second == np.median(second[known])


def test_close_to_the_exact_distribution() -> None:
    difference = np.array([0.9, 0.3, -0.2, 0.7, 0.5, -0.1, 0.8, 0.4, 0.6, 1.0])
    ranks = np.argsort(np.argsort(np.abs(difference))) + 1
    observed = ranks[difference > 0].sum()
    sums = [np.dot(signs, ranks) for signs in product((0, 1), repeat=len(ranks))]
    exact = np.mean(np.array(sums) >= observed)
    found = compare(difference, np.zeros(10))
    assert found.statistic == observed
    assert found.p_value == pytest.approx(exact, abs=0.003)


def test_direction_and_empty_sides() -> None:
    rng = np.random.default_rng(1)
    low, high = rng.normal(0, 1, 40), rng.normal(1, 1, 40)
    assert compare(high, low).p_value < 0.01
    assert compare(low, high).p_value > 0.99
    assert compare(low, low).p_value == 1.0
    nothing = compare([np.nan], [1.0])
    assert (nothing.n_pairs, nothing.n_dropped, nothing.p_value) == (0, 1, 1.0)
    assert np.isnan(nothing.median_first)
