"""A small set of combinations in which every possible pair of values occurs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

Combination = tuple[Any, ...]


def pairs_of(combination: Combination) -> set[tuple[int, Any, int, Any]]:
    return {(i, combination[i], j, combination[j]) for i, j in combinations(range(len(combination)), 2)}


def grid(dimensions: Sequence[Sequence[Any]], possible: Callable[..., bool]) -> list[Combination]:
    """All combinations that are possible."""
    return [combination for combination in product(*dimensions) if possible(*combination)]


def covering(combinations_: Sequence[Combination]) -> list[Combination]:
    """Some of the combinations, each the one with most new pairs, until no pair is left."""
    left = set().union(*map(pairs_of, combinations_))
    chosen = []
    while left:
        best = max(combinations_, key=lambda combination: len(pairs_of(combination) & left))
        chosen.append(best)
        left -= pairs_of(best)
    return chosen
