"""Held-out log density of a forest grown on parts, beside the same table in memory and a sample of the size of a part.

    python benchmarks/bench_parts.py [--rows 160000] [--parts 8] [--trees 100] [--seeds 1]

Tables are drawn from generated networks, whose truth is known. `loss` is what a way loses to all rows in memory, in
nats per row; asked are at most .05 with 8 parts. `joined` is what the parts' own forests give when they are merged,
without statistics over all rows.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd

from countarfactuals import AdversarialRandomForest
from countarfactuals.datasets import random_learnable_network
from countarfactuals.exceptions import DensityWarning
from countarfactuals.schema import Schema

HELD_OUT = 5_000


def ways(
    schema: Schema, matrix: np.ndarray, n_parts: int, n_trees: int, seed: int
) -> dict[str, AdversarialRandomForest]:
    """The forests that are compared."""

    def forest(trees: int, rows: int | None = None) -> AdversarialRandomForest:
        return AdversarialRandomForest(n_estimators=trees, rows_in_memory=rows, random_state=seed, n_jobs=2)

    part_rows = -(-len(matrix) // n_parts)
    parts = [matrix[k::n_parts] for k in range(n_parts)]
    shares = [len(share) for share in np.array_split(np.arange(n_trees), n_parts)]
    own = [forest(share).fit_encoded(schema, part, quiet=True) for share, part in zip(shares, parts, strict=True)]

    def batches():
        return (matrix[k : k + 65_536] for k in range(0, len(matrix), 65_536))

    return {
        "in memory": forest(n_trees).fit_encoded(schema, matrix, quiet=True),
        "parts": forest(n_trees, part_rows).fit_batches(schema, batches, len(matrix)),
        "joined": own[0].merge(own[1:]),
        "sample": forest(n_trees).fit_encoded(schema, parts[0], quiet=True),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=160_000)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--features", type=int, default=14)
    options = parser.parse_args()
    warnings.simplefilter("ignore", DensityWarning)
    results = []
    for seed in range(1, options.seeds + 1):
        network = random_learnable_network(options.features, random_state=seed)
        X = network.sample(options.rows + HELD_OUT, random_state=seed).drop(columns="y")
        schema = Schema.infer(X)
        matrix = schema.encode(X)
        start = time.perf_counter()
        forests = ways(schema, matrix[HELD_OUT:], options.parts, options.trees, seed)
        scores = {name: forest.score_samples(X.head(HELD_OUT)).mean() for name, forest in forests.items()}
        for name, score in scores.items():
            forest = forests[name]
            loss = scores["in memory"] - score
            results.append(
                {"seed": seed, "way": name, "log density": score, "loss": loss, "leaf": forest.min_samples_leaf_}
            )
        print(f"seed {seed}: {time.perf_counter() - start:.0f} s", flush=True)
    print(pd.DataFrame(results).to_string(index=False, float_format="{:.3f}".format))


if __name__ == "__main__":
    main()
