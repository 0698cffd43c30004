"""The least number of real rows per leaf and the dependence inside leaves, chosen by held-out likelihood.

Small leaves follow dependence, large ones smooth: two columns want dozens of rows per leaf, twenty columns that depend
on each other three to eight if leaves are independent and dozens if they are not. No rule of n and p tells them apart.
So a pilot decides:

1. Draw up to 5,000 rows; four fifths train, one fifth is held out.
2. Grow first-round forests of 50 trees (30 where leaves are dependent) with leaves of 8 rows and of the next smaller
   and larger sizes on a ladder, fit their leaves, and go on in the direction in which the held-out mean log density
   rises.
3. Leaves may be dependent: a size is worth what its leaves are worth with correlations as they are found, or without
   any, and the ladder is longer. At the best size it is compared how much regions share, then how strong correlations
   are. Those that gain less than a fiftieth of a nat are left out.
4. Where trees draw more rows than the pilot's, the size grows with the 0.3-th power of the ratio: smooth densities
   profit, and the number of leaves stays in bounds.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from countarfactuals.arf.adversarial import Settings, train
from countarfactuals.arf.dependence import Dependence, Pool, fit_dependence, pool_scores
from countarfactuals.arf.evidence import Evidence
from countarfactuals.arf.forest import Forest, Layout
from countarfactuals.arf.leaf_fit import AUTO, UNBOUNDED, LeafOptions, fit_leaves
from countarfactuals.arf.leaves import LeafTable
from countarfactuals.arf.tree_walk import log_density

LADDER = (3, 5, 8, 13, 21, 34, 55, 90)
_LONG_LADDER = (*LADDER, 150, 250, 400)  # for leaves that need not be independent
_FIRST = LADDER.index(8)
_PILOT_ROWS, _PILOT_TREES, _HELD_OUT = 5_000, 50, 0.2
_DEPENDENT_TREES = 30  # of a pilot whose leaves are correlated, which costs more and differs less from tree to tree
_SHARE_DRAWN = 0.632
_FEWEST_ROWS = 100  # below, a fifth of the rows says too little
_GROWTH = 0.3
_LEAST_GAIN = 0.02
_FIRST_TRY = Dependence(1.0, 10.0)
_SHARED = ((3.0,), (30.0, 200.0, math.inf))  # ways down and up from the first try
_STRENGTHS = ((1.15, 1.3), (0.85, 0.7, 0.4))


class Choice(NamedTuple):
    """What the pilot found."""

    size: int
    dependence: Dependence | None


class _Pilot(NamedTuple):
    """A small forest whose leaves can be correlated in several ways."""

    forest: Forest
    leaves: LeafTable
    pool: Pool | None
    rows: Evidence
    known: dict[Dependence | None, float]

    def likelihood(self, dependence: Dependence | None, n_jobs: int | None) -> float:
        """Mean log density of the held-out rows."""
        if dependence not in self.known:
            leaves = self.leaves
            if self.pool is not None and dependence is not None:
                leaves = fit_dependence(self.pool, leaves, dependence)
            self.known[dependence] = float(np.mean(log_density(self.forest, leaves, self.rows, n_jobs)))
        return self.known[dependence]


def choose_leaf_size(
    matrix: np.ndarray,
    layout: Layout,
    settings: Settings,
    rng: np.random.Generator,
    n_jobs: int | None,
    *,
    size: int | None = None,
    dependent: bool = False,
) -> Choice:
    """The size for this data, unless it is given, and the dependence; `settings` tell how trees are grown."""
    n = len(matrix)
    dependent = dependent and int((layout.n_levels == 0).sum()) > 1
    if n < _FEWEST_ROWS:
        return Choice(LADDER[0] if size is None else size, None)
    rows = rng.permutation(n)[:_PILOT_ROWS]
    held_out, trained = np.split(rows, [round(_HELD_OUT * len(rows))])
    seed = int(rng.integers(2**32))  # every size sees the same synthetic rows and draws
    n_drawn = max(1, min(settings.n_drawn, round(_SHARE_DRAWN * len(trained)), len(trained) - 1))

    def pilot_of(rows_per_leaf: int) -> _Pilot:
        small = settings._replace(
            n_trees=min(settings.n_trees, _DEPENDENT_TREES if dependent else _PILOT_TREES),
            min_real=rows_per_leaf,
            n_drawn=n_drawn,
            max_iter=0,
        )
        rng = np.random.default_rng(seed)
        return _pilot(matrix[trained], matrix[held_out], layout, small, rng, n_jobs, dependent)

    if size is not None:
        # a pilot of fewer rows has smaller leaves, by the rule that makes those of the forest larger
        shrunk = size * (n_drawn / settings.n_drawn) ** _GROWTH if len(rows) < n else size
        return Choice(size, _best_dependence(pilot_of(max(round(shrunk), 1)), n_jobs) if dependent else None)
    pilots: dict[int, _Pilot] = {}
    ladder = _LONG_LADDER if dependent else LADDER

    @cache
    def held_out_likelihood(rung: int) -> float:
        pilot = pilots[rung] = pilot_of(ladder[rung])
        likelihood = pilot.likelihood(None, n_jobs)
        return max(likelihood, pilot.likelihood(_FIRST_TRY, n_jobs)) if dependent else likelihood

    rung = max((_FIRST, _FIRST - 1, _FIRST + 1), key=held_out_likelihood)
    step = rung - _FIRST
    while step and 0 <= rung + step < len(ladder) and held_out_likelihood(rung + step) > held_out_likelihood(rung):
        rung += step
    # a pilot of four fifths of all rows stands for all of them
    seen = n_drawn if len(rows) < n else settings.n_drawn
    chosen = round(ladder[rung] * (settings.n_drawn / seen) ** _GROWTH)
    return Choice(chosen, _best_dependence(pilots[rung], n_jobs) if dependent else None)


def _best_dependence(pilot: _Pilot, n_jobs: int | None) -> Dependence | None:
    """The dependence with the largest held-out likelihood: first how much is shared, then how strong it is."""
    likelihood = partial(pilot.likelihood, n_jobs=n_jobs)
    best = _FIRST_TRY
    for name, ways in (("shared", _SHARED), ("strength", _STRENGTHS)):
        for way in ways:
            start = best
            for value in way:
                tried = best._replace(**{name: value})
                if likelihood(tried) < likelihood(best):
                    break
                best = tried
            if best != start:  # the other way leads down
                break
    return best if likelihood(best) > likelihood(None) + _LEAST_GAIN else None


def _pilot(
    trained: np.ndarray,
    held_out: np.ndarray,
    layout: Layout,
    settings: Settings,
    rng: np.random.Generator,
    n_jobs: int | None,
    dependent: bool,
) -> _Pilot:
    """A forest for held-out rows, whose leaves give every row of known levels a positive density."""
    growth = train(trained, layout, settings, rng, n_jobs).growth
    options = LeafOptions(uniform=False, likelihood=True, bounds=UNBOUNDED, epsilon=0.0, alpha=AUTO)
    leaves = fit_leaves(growth.forest, growth.members, trained, layout, options, n_jobs)
    pool = pool_scores(growth.forest, growth.members, trained, leaves, n_jobs) if dependent else None
    return _Pilot(growth.forest, leaves, pool, Evidence.points(held_out, leaves.missing_of >= 0), {})
