"""Speed of the forest, each figure beside a peer or a fixed NumPy loop in the same run; one thread, our medians of
several runs, peers once.

    python benchmarks/bench_speed.py [--rows 5000 50000 200000] [--repeats 3] [--peers PYTHON]

Ratios are what counts: machines differ and are noisy. `unit` is a fixed NumPy loop, timed around everything else.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from countarfactuals import AdversarialRandomForest
from countarfactuals.arf.forest import Layout, code_columns, grow_forest
from countarfactuals.arf.leaf_fit import AUTO, UNBOUNDED, LeafOptions, fit_leaves
from countarfactuals.datasets import random_network
from countarfactuals.exceptions import DensityWarning

N_TREES = 100


def median_seconds(run: Callable[[], object], repeats: int) -> float:
    run()  # compiles, or warms up
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def numpy_unit() -> None:
    """A fixed loop that says how fast this machine is now."""
    values = np.random.default_rng(0).random(100_000)
    for _ in range(50):
        np.sort(values).cumsum()


def network_rows(n: int, n_features: int = 20) -> pd.DataFrame:
    return random_network(n_features, random_state=3).sample(n, random_state=4).drop(columns="y")


def growing(n: int, leaf: int, n_trees: int, repeats: int) -> dict:
    """One round: the same trees, leaf size and features; scikit-learn counts rows of either kind.

    Columns are ranked once per fit, not per round, and that is timed apart.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20)) @ (np.eye(20) + rng.normal(size=(20, 20)) / 3)
    synthetic = np.column_stack([rng.permutation(column) for column in X.T])
    rows, labels = np.concatenate([X, synthetic]), np.repeat([1, 0], n)
    layout = Layout(np.zeros(20, np.int64), np.zeros(20, np.bool_), np.zeros(20))

    coding = code_columns(X, layout)
    codes = np.concatenate([coding.codes, code_synthetic(coding, synthetic)], axis=1)

    def ours():
        return grow_forest(
            codes,
            coding,
            layout,
            n_trees=n_trees,
            max_features=4,
            always=np.empty(0, np.int64),
            min_real=leaf,
            n_drawn=round(0.632 * n),
            rng=np.random.default_rng(1),
            n_jobs=1,
        )

    def theirs():
        forest = RandomForestClassifier(
            n_trees, max_features=4, min_samples_leaf=leaf, n_jobs=1, random_state=1, oob_score=True
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few trees leave rows without a vote
            return forest.fit(rows, labels)

    our_seconds = median_seconds(ours, repeats)
    start = time.perf_counter()
    forest = theirs()
    their_seconds = time.perf_counter() - start
    return {
        "rows": n,
        "trees": n_trees,
        "leaf": leaf,
        "ours s": our_seconds,
        "RandomForestClassifier s": their_seconds,
        "ratio": their_seconds / our_seconds,
        "ranking s": median_seconds(partial(code_columns, X, layout), repeats),
        "our leaves": ours().forest.n_leaves / n_trees,
        "their leaves": np.mean([tree.get_n_leaves() for tree in forest.estimators_]),
    }


def code_synthetic(coding, synthetic: np.ndarray) -> np.ndarray:
    """Ranks of synthetic values, which all occur among the real ones."""
    codes = [np.searchsorted(highest, column) for highest, column in zip(coding.highest, synthetic.T, strict=True)]
    return np.array(codes, np.uint16)


def fitting_and_asking(repeats: int) -> list[dict]:
    X = network_rows(5_000)
    fit = partial(AdversarialRandomForest(n_estimators=N_TREES, n_jobs=1, random_state=1).fit, X)
    arf = fit()
    seconds = median_seconds(fit, repeats)
    leaves = median_seconds(partial(refit_leaves, arf, arf.schema_.encode(X), {}), repeats)
    query = X.head(1000)
    without = query.drop(columns="x7")
    given = query.head(50).copy()
    rng = np.random.default_rng(2)
    for row in range(50):  # 15 of 20 columns are fixed
        given.iloc[row, rng.choice(20, 5, replace=False)] = None
    joint = median_seconds(partial(arf.score_samples, query), 5 * repeats)
    marginal = median_seconds(partial(arf.score_samples, without), 5 * repeats)
    draws = median_seconds(partial(arf.sample, 20, given=given, random_state=1), 5 * repeats)
    unit = median_seconds(numpy_unit, 5)
    rows = [
        ("fit, 5,000 × 20, 100 trees", seconds, ""),
        ("  of which leaf parameters", leaves, f"{leaves / seconds:.1%} of fitting (asked: 10 %)"),
        ("1,000 joint densities", joint, "asked: about 0.010"),
        ("1,000 densities marginal over one column", marginal, f"{marginal / joint:.2f} × joint (asked: 3)"),
        ("1,000 draws over 50 conditions", draws, "asked: about 0.020"),
        ("unit: 50 sorts of 100,000 numbers", unit, ""),
    ]
    return [{"what": what, "s": s, "per unit": s / unit, "": note} for what, s, note in rows]


def refit_leaves(arf: AdversarialRandomForest, matrix: np.ndarray, cache: dict) -> None:
    from countarfactuals.arf.forest import Members, apply

    if "members" not in cache:
        leaf = apply(arf.forest_, matrix)
        rows = np.stack([np.argsort(column, kind="stable") for column in leaf.T]).astype(np.int32)
        counts = np.bincount(leaf.ravel(), minlength=arf.forest_.n_leaves)
        parts = np.split(counts, arf.forest_.leaf_start[1:-1])
        start = np.concatenate([np.cumsum(part) - part for part in parts])
        cache["members"] = Members(rows, start, start + counts)
    options = LeafOptions(uniform=False, likelihood=True, bounds=UNBOUNDED, epsilon=0.0, alpha=AUTO)
    fit_leaves(arf.forest_, cache["members"], matrix, Layout.of(arf.schema_), options, 1)


def against_arfpy(peers: str) -> dict:
    """Fit, leaf parameters and 1,000 new rows with 10 trees, each with its own defaults besides."""
    X = network_rows(5_000)

    def ours():
        return AdversarialRandomForest(n_estimators=10, n_jobs=1, random_state=1).fit(X).sample(1000)

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.csv"
        text = {name: "level" + X[name].astype(str) for name in X.select_dtypes("category")}
        X.assign(**text).to_csv(file, index=False)
        script = Path(__file__).with_name("peer_arfpy.py")
        done = subprocess.run(
            [peers, "-W", "ignore", str(script), str(file), "10"], check=True, capture_output=True, text=True
        )
    their_seconds, our_seconds = float(done.stdout), median_seconds(ours, 3)
    return {"ours s": our_seconds, "arfpy s": their_seconds, "ratio": their_seconds / our_seconds}


def show(title: str, rows: list[dict]) -> None:
    print(f"\n{title}")
    print(pd.DataFrame(rows).to_string(index=False, float_format="{:.4g}".format), flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[5_000, 50_000, 200_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", help="Python of the environment that has arfpy; without it the peer is left out")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", DensityWarning)
    show("Fitting and asking, one thread (20-feature network, default settings)", fitting_and_asking(options.repeats))
    rows = [
        growing(n, leaf, n_trees=max(4, math.ceil(100 * 5_000 / n)), repeats=options.repeats)
        for n in options.rows
        for leaf in (5, 20)
    ]
    if rows:
        show("One round of growing on n real and n synthetic rows × 20, one thread", rows)
    if options.peers:
        title = "Fit, leaf parameters and 1,000 new rows, 5,000 × 20, 10 trees, one thread"
        show(title, [against_arfpy(options.peers)])


if __name__ == "__main__":
    main()
