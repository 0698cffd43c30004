"""Figures behind two claims of the documentation.

    python benchmarks/bench_claims.py [--paper FOLDER]

1. `own objectives` (with --paper): MOC and MOCCTREE beside the published runs by the three objectives that they search
   by themselves: distance, share of features changed, distance to the nearest real row. Hypervolume up to 1, 1 and 0.02
   in the plane or 0.1 in networks, each scaled to 1; the smallest distance to a real row; medians over ten instances.
2. `wide`: 60 features, a random forest of 50 trees, and few changes allowed: how many of 16 rows have a counterfactual,
   by ARF with and without shortening and by NICE, and how many changes the shortest have on average.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from bench_explain import SETS, fitted, paper_case, show
from sklearn.ensemble import RandomForestClassifier

from countarfactuals import AdversarialRandomForest, ARFExplainer, Constraints, Explainer, NICEExplainer
from countarfactuals.exceptions import DensityWarning
from countarfactuals.explainers.arf_search import stages
from countarfactuals.objectives import hypervolume, n_changed

_MEASURES = ["dist_x_interest", "rel_no_changed", "dist_train"]


def own_objectives(folder: str) -> Iterator[dict]:
    candidates = pd.read_csv(Path(folder) / "results" / "candidates.csv.gz")
    published = candidates[candidates["nondom"]]
    for name in SETS:
        case = paper_case(folder, name, 10)
        data, ends = case.schema.encode(case.X), np.array([1.0, 1.0, 0.1 if name.startswith("bn") else 0.02])
        for method, _, explainer, _ in fitted(case, ["moc", "mocctree"], seed=1):
            ours = []
            for x in case.rows():
                own, rows = case.schema.encode(x)[0], explainer.explain(x, case.target(x)).rows
                nearest = case.gower.nearest(rows, data, 1)[0][:, 0]
                ours.append(np.column_stack([case.gower.to(own, rows), n_changed(rows, own) / len(own), nearest]))
            some = published[(published["dataset"] == name) & (published["method"] == method.upper())]
            theirs = [group[_MEASURES].to_numpy() for _, group in some.groupby("id")]
            yield {
                "set": name,
                "method": method,
                **_summary("ours", ours, ends),
                **_summary("published", theirs, ends),
            }


def _summary(who: str, sets: list[np.ndarray], ends: np.ndarray) -> dict:
    volumes = [hypervolume(np.minimum(points, ends) / ends, np.ones(3)) for points in sets]
    nearest, n_rows = [points[:, 2].min() for points in sets], [len(points) for points in sets]
    return {who: np.median(volumes), f"nearest, {who}": np.median(nearest), f"rows, {who}": np.median(n_rows)}


def wide(seed: int) -> Iterator[dict]:
    X = pd.DataFrame(np.random.default_rng(seed).normal(size=(400, 60)), columns=[f"x{j}" for j in range(60)])
    model = RandomForestClassifier(50, random_state=1).fit(X, X.iloc[:, :10].sum(axis=1) > 1)
    forest = AdversarialRandomForest(n_estimators=20, min_samples_leaf=20)
    explainer = ARFExplainer(model, density=forest, random_state=1).fit(X)
    nice = NICEExplainer(model, random_state=1).fit_like(explainer)
    for most in (4, 5, 6, 60):
        row = {"seed": seed, "most changes": most, **_explained("arf", explainer, X, most)}
        with patch.object(stages, "_shorten_some", lambda *_: None):
            row |= _explained("unshortened", explainer, X, most)
        yield {**row, **_explained("nice", nice, X, most)}


def _explained(name: str, explainer: Explainer, X: pd.DataFrame, most: int) -> dict:
    results = [explainer.explain(X.iloc[[i]], constraints=Constraints(max_changed=most)) for i in range(16)]
    shortest = [result.changed.sum(axis=1).min() for result in results if len(result)]
    return {name: len(shortest), f"changes, {name}": np.mean(shortest)}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", help="folder with the published sets and results")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", DensityWarning)
    tables: dict[str, Callable[[], list[dict]]] = {
        "Rows of 16 with a counterfactual among 60 features": lambda: [row for seed in (5, 6) for row in wide(seed)]
    }
    if options.paper:
        tables["MOC and MOCCTREE by their own objectives"] = lambda: list(own_objectives(options.paper))
    for title, rows in tables.items():
        show(title, rows(), "{:.4g}")


if __name__ == "__main__":
    main()
