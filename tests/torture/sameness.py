"""The same question gets the same answer, to the last bit, wherever and however it is asked.

1. In other processes with other hash seeds, and with a cache of kernels of their own (`caches`, which compiles anew).
2. With the table as a frame of another library.
3. In two processes of `explain_many`, after storage, and a second time.

Run it: `python -m tests.torture.sameness 5`
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from countarfactuals import Explainer
from tests.contracts.checks import same
from tests.contracts.methods import METHODS
from tests.contracts.tables import Scorer, columns, frame_of, head, records, row_of
from tests.contracts.test_reproducible import explained, fingerprint

_ROOT = Path(__file__).parents[2]
_CODE = (
    "from tests.contracts.methods import METHODS\n"
    "from tests.contracts.test_reproducible import fingerprint\n"
    "for method in METHODS: print(fingerprint(method.name))"
)
_ANEW = 5  # processes from which on one compiles all kernels


def attack(count: int, seed: int) -> dict[str, Any]:
    """How many of the comparisons, with `count` other processes among them, differ."""
    here = [fingerprint(method.name) for method in METHODS]
    different = sum(
        ours != theirs
        for k in range(count)
        for ours, theirs in zip(here, _elsewhere(str(seed + 1000 * k), anew=k == _ANEW - 1), strict=True)
    )
    frames = [_of_frames(method) for method in METHODS]
    again = [_again(method.name) for method in METHODS]
    total = count * len(METHODS) + sum(map(len, frames)) + sum(map(len, again))
    different += sum(not is_same for ones in (*frames, *again) for is_same in ones)
    return {"comparisons": total, "processes": count, "caches": 1 + (count >= _ANEW), "different": different}


def _elsewhere(hash_seed: str, anew: bool) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        if anew:
            environment["NUMBA_CACHE_DIR"] = folder
        ran = subprocess.run([sys.executable, "-c", _CODE], cwd=_ROOT, env=environment, capture_output=True, text=True)
    return ran.stdout.split() or ["failed"] * len(METHODS)


def _of_frames(method: Any) -> list[bool]:
    """Whether polars' rows are those of pandas."""
    told = []
    for frame in ("pandas", "polars"):
        X = frame_of(columns("mixed"), frame)
        explainer = method.make(Scorer("mixed"), classes=("bad", "good"), max_evaluations=100).fit(X)
        told.append([records(explainer.explain(row_of(X, at)).to_frame()) for at in range(3)])
    return [one == other for one, other in zip(*told, strict=True)]


def _again(name: str) -> list[bool]:
    explainer, rows, results = explained(name)
    with tempfile.TemporaryDirectory() as folder:
        explainer.save(Path(folder) / "explainer")
        stored = Explainer.load(Path(folder) / "explainer", explainer.model)
    batches = [one.explain_many(head(rows, len(results)), n_jobs=n) for one, n in ((explainer, 2), (explainer, 1))]
    told = [same(one, other) for batch in batches for one, other in zip(batch, results, strict=True)]
    return [*told, records(stored.explain(rows.iloc[[0]]).to_frame()) == records(results[0].to_frame())]


if __name__ == "__main__":
    print(attack(int(sys.argv[1]), seed=1))
