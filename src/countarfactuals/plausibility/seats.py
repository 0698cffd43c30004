"""Who may judge: seats are earned on the data at hand.

Judges of different kinds err in different places, and a search finds every error of the one that leads it. So:

1. *The leader* is the density with the largest mean log density of held-out real rows. It leads the search, together
   with another one that has a seat and is level: where their errors differ, their mean has less of each.
2. *A seat* among those whose word counts for what is told to a person goes to the leader and to every judge that tells
   held-out real rows from rows with mixed cells about as well as the best: the cells of a mixed row come from two real
   rows, at most half of them from the second. That is what a search makes, and it can be measured on any table.
   Likelihood alone would mislead: a density may fit real rows well and see nothing wrong with mixed ones.
3. A judge that is no density counts dependence twice and marginals too little. Its cells are heard where it has a seat,
   their sum only where it tells *near* mixed rows clearly better than the leader: there the leader is blind.
4. Where it tells near mixed rows better by a tenth of all pairs, densities see nothing of what is nearly determined by
   many others, and which of them leads is chance. There it leads together with them, as they know where rows are.
5. `Skill` keeps the figures: how often a judge prefers the real one of a real and a mixed row. Far: the second row is
   any row. Near: it is one of the neighbours of the first, which is hard to tell for anyone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from countarfactuals.objectives import Gower

_MIXED_ROWS = 500
_NEAR = 50
_AS_GOOD = 0.02  # share of pairs by which a judge may fall short of the best
_LEVEL = 0.05  # nats by which densities are level
_CLEARLY = 0.03  # share of pairs by which one must be ahead
_BLIND = 0.1  # share of pairs by which a leader may be behind and still lead alone


class Skill(NamedTuple):
    """How well a judge knows real rows."""

    near: float  # share of pairs of a real and a nearly real row in which the real one is preferred
    far: float  # the same with cells of any other row
    log_density: float  # mean of held-out rows, NaN for what is no density


class Mixed(NamedTuple):
    """Real rows by position, and mixed ones made of each."""

    base: np.ndarray
    near: np.ndarray
    far: np.ndarray


def mixed_rows(
    matrix: np.ndarray, part_of: np.ndarray, chosen: np.ndarray, gower: Gower, rng: np.random.Generator
) -> Mixed:
    """Mixed rows of up to 500 of the chosen rows; both real rows are of one part, which a judge may not have seen."""
    base = np.sort(rng.permutation(chosen)[:_MIXED_ROWS])
    near, far = matrix[base].copy(), matrix[base].copy()
    p = matrix.shape[1]
    for part in np.unique(part_of[base]):
        at = np.flatnonzero(part_of[base] == part)
        donors = matrix[part_of == part]
        _, places = gower.nearest(matrix[base[at]], donors, min(_NEAR + 1, len(donors)))
        neighbour = places[np.arange(len(at)), rng.integers(min(1, places.shape[1] - 1), places.shape[1], len(at))]
        anyone = rng.integers(len(donors), size=len(at))
        n_taken = rng.integers(1, max(2, p // 2 + 1), (len(at), 1))
        is_taken = np.argsort(np.argsort(rng.random((len(at), p)), axis=1), axis=1) < n_taken
        near[at] = np.where(is_taken, donors[neighbour], near[at])
        far[at] = np.where(is_taken, donors[anyone], far[at])
    return Mixed(base, near, far)


def skill(
    real: np.ndarray, log_density: np.ndarray | None, judge: Callable[[np.ndarray], np.ndarray], mixed: Mixed
) -> Skill:
    """The skill of a judge who gives the held-out real rows these values."""
    return Skill(
        near=_preferred(real, judge(mixed.near)),
        far=_preferred(real, judge(mixed.far)),
        log_density=np.nan if log_density is None else float(log_density.mean()),
    )


def _preferred(real: np.ndarray, mixed: np.ndarray) -> float:
    """How often a real row has a larger value than a mixed one; ties count half."""
    n = len(real)
    if n == 0:
        return 0.5
    ranks = rankdata(np.concatenate([real, mixed]))
    return float((ranks[:n].sum() - n * (n + 1) / 2.0) / (n * len(mixed)))


def leader_of(skills: Mapping[str, Skill], preferred: str) -> str:
    """The density that knows held-out rows best; of two that are level the preferred one."""
    densities = {name: skill.log_density for name, skill in skills.items() if not np.isnan(skill.log_density)}
    return max(densities, key=lambda name: densities[name] + _LEVEL * (name == preferred))


def seated(skills: Mapping[str, Skill], leader: str) -> tuple[str, ...]:
    """Whose word counts for claims, the leader first."""
    best = max(skill.far for skill in skills.values())
    others = [name for name, skill in skills.items() if name != leader and skill.far >= best - _AS_GOOD]
    return (leader, *others)


def sums_count(skills: Mapping[str, Skill], leader: str, judge: str) -> bool:
    """Whether the sum of a judge's cells is a word of its own."""
    return skills[judge].near >= skills[leader].near + _CLEARLY


def leaders_of(skills: Mapping[str, Skill], seats: Sequence[str]) -> tuple[str, ...]:
    """Who of the seated leads the search: the first, with it densities that are level, and cells where it is blind."""
    first, others = skills[seats[0]], [(seat, skills[seat]) for seat in seats[1:]]
    level = [seat for seat, other in others if other.log_density >= first.log_density - _LEVEL]
    seeing = [seat for seat, other in others if np.isnan(other.log_density) and other.near >= first.near + _BLIND]
    return (seats[0], *level, *seeing)
