"""Threads that share one explainer: each explanation is, to the last bit, what one thread alone gets.

Run it: `python -m tests.torture.threads 100`
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.contracts.checks import same
from tests.contracts.methods import METHODS
from tests.contracts.tables import Scorer, columns, frame_of

_THREADS, _ROWS = 8, 6


def attack(count: int, seed: int) -> dict[str, Any]:
    """How many of `count` explanations in each thread differ from those of one thread."""
    X = frame_of(columns("mixed"), "pandas")
    wrong = 0
    for method in METHODS:
        model = Scorer("mixed")
        explainer = method.make(model, classes=("bad", "good"), max_evaluations=100, random_state=seed).fit(X)
        alone = [explainer.explain(X.iloc[[at]]) for at in range(_ROWS)]

        def work(thread: int, explainer: Any = explainer, alone: list[Any] = alone) -> int:
            order = [(thread * 3 + k) % _ROWS for k in range(-(-count // len(METHODS)))]
            return sum(not same(explainer.explain(X.iloc[[at]]), alone[at]) for at in order)

        with ThreadPoolExecutor(_THREADS) as pool:
            wrong += sum(pool.map(work, range(_THREADS)))
    each = -(-count // len(METHODS)) * len(METHODS)
    return {"threads": _THREADS, "explanations": _THREADS * each, "different": wrong}


if __name__ == "__main__":
    print(attack(int(sys.argv[1]), seed=1))
