"""Many explanations by one explainer: memory does not grow with their number.

1. A tenth of the explanations warms up: caches are filled, the allocator has its pools.
2. The memory of the process is read then and at the end. What is kept for each explanation shows as a slope.

Run it: `python -m tests.torture.memory 1000`
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Any

from tests.contracts.methods import BY_NAME
from tests.contracts.tables import Scorer, columns, frame_of

_STATUS = Path("/proc/self/statm")


def attack(count: int, seed: int) -> dict[str, Any]:
    """Megabytes that the process grew by in the last nine tenths of `count` explanations."""
    if not _STATUS.exists():
        return {"explanations": 0, "skipped": "the memory of the process can not be read here"}
    X = frame_of(columns("mixed"), "pandas")
    model = Scorer("mixed")
    explainer = BY_NAME["arf"].make(model, classes=("bad", "good"), max_evaluations=100, random_state=seed).fit(X)
    before = 0.0
    for k in range(count):
        if k == count // 10:
            before = _megabytes()
        explainer.explain(X.iloc[[k % len(X)]])
    return {"explanations": count, "MB more": round(_megabytes() - before, 1), "MB": round(_megabytes())}


def _megabytes() -> float:
    gc.collect()
    return int(_STATUS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    print(attack(int(sys.argv[1]), seed=1))
