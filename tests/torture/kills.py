"""Processes that are killed at a random moment while they write: what was there stays, or the new is there as a whole.

1. A chore is done once, so that there is something to lose, then again in a forked process that is killed.
2. What lies in the folder is used. Then the chore is done to its end, and files that nobody will use are counted.

Run it: `python -m tests.torture.kills 20`
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tests.torture.chores import FIT, FOREST, MANY, REPORT, SAVE, STUDY, Chore
from tests.torture.forks import forked

# most kills where most is written in little time; processes and studies take seconds to start
_SHARES = ((FIT, 0.3), (SAVE, 0.25), (FOREST, 0.2), (REPORT, 0.1), (MANY, 0.1), (STUDY, 0.05))


def attack(count: int, seed: int) -> dict[str, Any]:
    """How many of about `count` kills lost or damaged something, and how many files stay unfinished."""
    rng = np.random.default_rng(seed)
    figures: Counter[str] = Counter()
    for chore, share in _SHARES:
        figures += _kill(chore, round(count * share), rng)
    return {"kills": 0, "damaged": 0, "unfinished files that stay": 0, **figures}


def _kill(chore: Chore, count: int, rng: np.random.Generator) -> Counter[str]:
    figures: Counter[str] = Counter()
    if count == 0:
        return figures
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chore.do(folder)
        usual = _names(folder)
        for _ in range(count):
            ended = forked(lambda: chore.do(folder), kill_after=float(rng.uniform(0, chore.seconds)))
            figures["kills"] += ended == -9
            figures[f"damaged by a kill of {chore.name}"] += not _is_whole(chore, folder)
        chore.do(folder)
        figures["unfinished files that stay"] += len(_names(folder) - usual)
    figures["damaged"] = sum(n for figure, n in figures.items() if figure.startswith("damaged by"))
    return +figures


def _names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def _is_whole(chore: Chore, folder: Path) -> bool:
    try:
        return chore.is_whole(folder)
    except Exception as error:
        print(f"after a kill of {chore.name}: {type(error).__name__}: {error}", file=sys.stderr)
        return False


if __name__ == "__main__":
    print(attack(int(sys.argv[1]), seed=1))
