"""RQ2: does the learned measure of plausibility follow the true density more closely than the distance to real rows?

1. Pairs are the two Spearman correlations of one explanation. Pairs with an undefined correlation are dropped.
2. One-sided Wilcoxon signed rank test of a higher correlation of the learned measure. Pairs without a difference are
   dropped, ties share their ranks, and the p-value comes from the normal approximation with continuity correction.
3. The test takes pairs as independent. Those of the paper are not: the methods share each instance, and all pairs of a
   data set share what was fitted to it. So the report also tests the pairs of pooled candidates, of which each
   instance has one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm, rankdata


class Comparison(NamedTuple):
    """What the test says.

    `median_first`, `median_second` : medians of each side, over the pairs that were compared.
    `n_pairs`, `n_dropped` : pairs that were compared, and those with an undefined value.
    `statistic`, `p_value` : the sum of the positive ranks, and how likely it or more is without an effect.
    """

    median_first: float
    median_second: float
    n_pairs: int
    n_dropped: int
    statistic: float
    p_value: float


def compare(first: Any, second: Any) -> Comparison:
    """Test whether the first of each pair is the higher one.

    >>> compare([0.9, 0.8, 0.7, 0.6], [0.5, 0.6, 0.4, float("nan")])._replace(p_value=0)
    Comparison(median_first=0.8, median_second=0.5, n_pairs=3, n_dropped=1, statistic=6.0, p_value=0)
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    defined = ~(np.isnan(a) | np.isnan(b))
    difference = a[defined] - b[defined]
    statistic, p_value = _signed_rank(difference[difference != 0.0])
    n_pairs = int(defined.sum())
    return Comparison(_median(a[defined]), _median(b[defined]), n_pairs, len(a) - n_pairs, statistic, p_value)


def _signed_rank(difference: np.ndarray) -> tuple[float, float]:
    n = len(difference)
    if n == 0:
        return 0.0, 1.0
    ranks = rankdata(np.abs(difference))
    statistic = float(ranks[difference > 0.0].sum())
    _, ties = np.unique(ranks, return_counts=True)
    variance = n * (n + 1) * (2 * n + 1) / 24.0 - float((ties**3 - ties).sum()) / 48.0
    # the sum of ranks goes in steps, its approximation does not: half a step less is the fair bound
    z = (statistic - n * (n + 1) / 4.0 - 0.5) / math.sqrt(variance)
    return statistic, float(norm.sf(z))


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else float("nan")
