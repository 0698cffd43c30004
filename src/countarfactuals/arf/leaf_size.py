"""The least number of real rows per leaf, chosen by held-out likelihood.

Small leaves follow dependence, large ones smooth: two columns want dozens of rows per leaf, twenty columns that depend
on each other three to eight, and no rule of n and p tells them apart. So a pilot decides:

1. Draw up to 5,000 rows; four fifths train, one fifth is held out.
2. Grow first-round forests of 50 trees with leaves of 8 rows and of the next smaller and larger sizes on a ladder, fit
   their leaves, and go on in the direction in which the held-out mean log density rises.
3. Where trees draw more rows than the pilot's, the size grows with the 0.3-th power of the ratio: smooth densities
   profit, and the number of leaves stays in bounds.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from countarfactuals.arf.adversarial import Settings, train
from countarfactuals.arf.density import log_density
from countarfactuals.arf.evidence import Evidence
from countarfactuals.arf.forest import Layout
from countarfactuals.arf.leaf_fit import AUTO, UNBOUNDED, LeafOptions, fit_leaves

LADDER = (3, 5, 8, 13, 21, 34, 55, 90)
_FIRST = LADDER.index(8)
_PILOT_ROWS, _PILOT_TREES, _HELD_OUT = 5_000, 50, 0.2
_SHARE_DRAWN = 0.632
_FEWEST_ROWS = 100  # below, a fifth of the rows says too little
_GROWTH = 0.3


def choose_leaf_size(
    matrix: np.ndarray,
    layout: Layout,
    settings: Settings,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> int:
    """The size for this data; `settings` tell how trees are grown."""
    n = len(matrix)
    if n < _FEWEST_ROWS:
        return LADDER[0]
    rows = rng.permutation(n)[:_PILOT_ROWS]
    held_out, trained = np.split(rows, [round(_HELD_OUT * len(rows))])
    seed = int(rng.integers(2**32))  # every size sees the same synthetic rows and draws
    n_drawn = max(1, min(settings.n_drawn, round(_SHARE_DRAWN * len(trained)), len(trained) - 1))

    @cache
    def held_out_likelihood(rung: int) -> float:
        pilot = settings._replace(
            n_trees=min(settings.n_trees, _PILOT_TREES),
            min_real=LADDER[rung],
            n_drawn=n_drawn,
            max_iter=0,
        )
        return _likelihood(matrix[trained], matrix[held_out], layout, pilot, np.random.default_rng(seed), n_jobs)

    rung = max((_FIRST, _FIRST - 1, _FIRST + 1), key=held_out_likelihood)
    step = rung - _FIRST
    while step and 0 <= rung + step < len(LADDER) and held_out_likelihood(rung + step) > held_out_likelihood(rung):
        rung += step
    # a pilot of four fifths of all rows stands for all of them
    seen = n_drawn if len(rows) < n else settings.n_drawn
    return round(LADDER[rung] * (settings.n_drawn / seen) ** _GROWTH)


def _likelihood(
    trained: np.ndarray,
    held_out: np.ndarray,
    layout: Layout,
    settings: Settings,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> float:
    """Mean log density of held-out rows, by leaves that give every row of known levels a positive one."""
    growth = train(trained, layout, settings, rng, n_jobs).growth
    options = LeafOptions(uniform=False, likelihood=True, bounds=UNBOUNDED, epsilon=0.0, alpha=AUTO)
    leaves = fit_leaves(growth.forest, growth.members, trained, layout, options, n_jobs)
    rows = Evidence.points(held_out, leaves.missing_of >= 0)
    return float(np.mean(log_density(growth.forest, leaves, rows, n_jobs)))
