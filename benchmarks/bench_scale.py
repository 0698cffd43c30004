"""Time and memory from 50,000 to 1,000,000 rows × 20, 100 trees, two threads.

    python benchmarks/bench_scale.py [--rows 50000 200000 1000000] [--trees 100] [--parquet [--held ROWS]]

Asked: at most 15 minutes and 6 GB at a million rows, and time growing no faster than n^1.15 from 50,000 rows on. Each
size runs in a process of its own, so that its peak memory is its own. `exponent` is that of the time from the first
size on; `CPU s` is the time of both threads together, which other programs do not change much, and has its own.

With `--parquet` rows are written to a folder in chunks of 100,000 and read in pieces, so that memory does not bound
them: `--rows 200000 1000000 10000000 --parquet`. Asked: 10 million rows in at most 90 minutes and 8 GB, and time
growing no faster than n^1.1. Memory holds 20 million cells at a time, or `--held` rows; fewer make several parts of a
table that is quick to fit.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import pandas as pd

CHUNK = 100_000


def written(network, n: int, folder: str) -> str:
    """The folder, with n rows of the network."""
    for number, start in enumerate(range(0, n, CHUNK)):
        rows = network.sample(min(CHUNK, n - start), random_state=np.random.default_rng([4, number])).drop(columns="y")
        rows.to_parquet(f"{folder}/{number:05}.parquet", index=False)
    return folder


def run_one(n: int, n_trees: int, parquet: bool, held: int | None) -> dict:
    from countarfactuals import AdversarialRandomForest
    from countarfactuals.datasets import random_network
    from countarfactuals.exceptions import DensityWarning

    warnings.simplefilter("ignore", DensityWarning)
    network = random_network(20, random_state=3)
    AdversarialRandomForest(n_estimators=2, n_jobs=2).fit(network.sample(500, random_state=0).drop(columns="y"))
    with tempfile.TemporaryDirectory() as folder:
        X = written(network, n, folder) if parquet else network.sample(n, random_state=4).drop(columns="y")
        start, busy = time.perf_counter(), time.process_time()
        arf = AdversarialRandomForest(n_estimators=n_trees, rows_in_memory=held, n_jobs=2, random_state=1).fit(X)
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
    return {
        "rows": n,
        "s": seconds,
        "CPU s": busy,
        "rounds": arf.n_rounds_,
        "s per round": seconds / arf.n_rounds_,
        "leaf": arf.min_samples_leaf_,
        "leaves": arf.forest_.n_leaves,
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[50_000, 200_000, 1_000_000])
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--parquet", action="store_true", help="read the rows in pieces")
    parser.add_argument("--held", type=int, help="rows in memory at a time, with --parquet")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run_one(options.one, options.trees, options.parquet, options.held)))
        return
    results = []
    for n in options.rows:
        command = [sys.executable, __file__, "--one", str(n), "--trees", str(options.trees)]
        command += ["--parquet"] if options.parquet else []
        command += ["--held", str(options.held)] if options.held else []
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        results.append(json.loads(done.stdout.splitlines()[-1]))
        print(f"{n:,} rows: {results[-1]['s']:.0f} s", file=sys.stderr, flush=True)
    table = pd.DataFrame(results)
    with np.errstate(invalid="ignore"):  # the first size has no exponent
        for seconds, name in (("s", "exponent"), ("CPU s", "of CPU")):
            table[name] = np.log(table[seconds] / table[seconds][0]) / np.log(table.rows / table.rows[0])
    print("Fit with default settings, 20-feature network, two threads")
    print(table.to_string(index=False, float_format="{:.3g}".format, na_rep=""))


if __name__ == "__main__":
    main()
