"""A random generator for kernels: SplitMix64, whose whole state is one 64-bit number.

Each tree owns a state that is seeded from the estimator's `random_state`, so what a tree draws depends neither
on the other trees nor on the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@njit(inline="always")
def next_uint64(state: np.ndarray) -> np.uint64:
    """The next 64 random bits; `state` is an array of one uint64 that is advanced in place."""
    state[0] += _STEP
    z = state[0]
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@njit(inline="always")
def next_below(state: np.ndarray, n: int) -> int:
    """A random integer in 0 … n − 1, for n below 2³² (multiply and shift; the bias is under n / 2³²)."""
    return np.int64(((next_uint64(state) >> _S32) * np.uint64(n)) >> _S32)  # type: ignore[return-value]


def spawn_seeds(rng: np.random.Generator, n: int) -> np.ndarray:
    """One seed per tree."""
    return rng.integers(0, 2**64, size=n, dtype=np.uint64)
