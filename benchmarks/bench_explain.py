"""Explanations by every method: how fast, and how good beside what was published and beside peers.

    python benchmarks/bench_explain.py --paper FOLDER      the six published sets: reported, never tuned on
    python benchmarks/bench_explain.py --generated         sets of our own, with the peers' results
    options: [--methods arf nice …] [--peers PYTHON] [--only speed many quality claims neighbours] [--instances 10]
             [--seeds 5] [--repeats 3] [--rows 1000] [--data-rows 5000]

1. `speed`: explanations of ten instances with 19 features (bn_20, or a network of our own), one thread, medians over
   instances and repeats. The model's own time is not counted, neither for us nor for peers; nor is fitting.
2. `many`: `explain_many` in one process and in two, the model's time included; tells nothing unless two cores are idle.
3. `quality`: the *plausible hypervolume* of what is returned. Minimised are Gower distance, share of features changed
   and share of real rows that are at least as plausible by the true density; the reference point is (1, 1, 1), only
   valid rows count, and no rows score 0. Shown is the mean over seeds of the median over instances.
   Beside it stands how true typicality is: `claimed` and `true` are the means over all rows handed out of what is
   told and of the share of real rows that are less dense by the true process, `error` the mean of their absolute
   difference, and `error of 3` the same for `select(3)`.
4. `claims`: how true typicality is on ten networks of 5 to 30 features, by ARF with its defaults; `--data-rows` says
   how many rows of data they have (5,000).
5. `neighbours`: Gower neighbours of 1,000 rows among 100,000, and the memory that finding them takes.

Methods spend at most 1,000 evaluations. The methods of the MOC family may change ⌈√p⌉ + 3 of p features, as in the
paper. All methods of one seed share one forest, fitted by the first of them; only the paper's ARF has one of its own,
as its settings are others.

Peers run once, each in the peers' environment: NICEx (for quality its three variants together, one row each) and DiCE
(ten rows, random and genetic).
"""

from __future__ import annotations

import argparse
import io
import math
import multiprocessing
import os
import resource
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xgboost

from countarfactuals import AdversarialRandomForest, ARFExplainer, Explainer, Target, make_explainer
from countarfactuals.datasets import (
    Process,
    load_paper_set,
    random_learnable_network,
    random_plane,
)
from countarfactuals.evaluation import plausible_hypervolume
from countarfactuals.exceptions import DensityWarning
from countarfactuals.explainers import EXPLAINERS
from countarfactuals.explainers.proposals import most_changed
from countarfactuals.objectives import Gower, n_changed
from countarfactuals.schema import Schema

CUT = 0.5  # of the models' scores
CLAIMED = (5, 7, 9, 12, 15, 18, 21, 24, 27, 30)  # features of the networks on which claims are held against the truth
SETS = ("cassini", "pawelczyk", "two_sines", "bn_5", "bn_10", "bn_20")
# Plausible hypervolume that a search of 90,000 evaluations found which knew the true density.
LIMIT = (0.353, 0.119, 0.278, 0.489, 0.569, 0.732)
PEERS = {
    "NICEx": [("peer_nice.py", variant) for variant in ("sparsity", "proximity", "none")],
    "DiCE random": [("peer_dice.py", "random")],
    "DiCE genetic": [("peer_dice.py", "genetic")],
}


class Contender(NamedTuple):
    """A method as it is run here, and what it is held against.

    Seconds of R implementations for one explanation on bn_20 were measured once on a machine like ours, those of
    MOCCTREE and NICE are the published ones; they are quoted here, not measured again.
    """

    method: str
    parameters: dict[str, Any] = {}  # noqa: RUF012 – not changed
    of_moc: bool = False  # whether changes are limited as in the paper
    own_forest: bool = False
    published: Sequence[float] | None = None  # plausible hypervolume by set
    asked: Sequence[float] | None = None
    asked_ms: float = math.nan
    r_seconds: float = math.nan

    def make(self, case: Case, **common: Any) -> Explainer:
        """The unfitted explainer; `common` are parameters of all methods."""
        parameters = dict(self.parameters)
        if self.of_moc:
            parameters["max_changed"] = most_changed(case.X.shape[1])
        return make_explainer(self.method, case.model, **{**common, **parameters})


_HUNDRED = AdversarialRandomForest(n_estimators=100, min_samples_leaf=2, leaf_fit="moments")
_PAPER = {"preset": "paper"}
_MOC = (0.312, 0.114, 0.238, 0.291, 0.107, 0.000)
_MOCCTREE = (0.251, 0.118, 0.254, 0.260, 0.089, 0.001)
_MOCARF = (0.338, 0.118, 0.269, 0.432, 0.348, 0.046)
_ARF = (0.147, 0.118, 0.220, 0.453, 0.341, 0.088)
_ARF_ASKED = (0.340, 0.118, 0.270, 0.465, 0.49, 0.52)
_NICE = (0.071, 0.115, 0.009, 0.047, 0.074, 0.118)
CONTENDERS = {
    "arf": Contender("arf", published=_ARF, asked=_ARF_ASKED, asked_ms=150),
    "arf-paper": Contender("arf", _PAPER, own_forest=True, published=_ARF, asked_ms=20, r_seconds=1.0),
    "arf-paper-100": Contender("arf", {**_PAPER, "density": _HUNDRED}, own_forest=True, asked_ms=50, r_seconds=22.8),
    "moc": Contender(
        "moc", {"mutation": "independent"}, True, published=_MOC, asked=_MOC, asked_ms=200, r_seconds=21.6
    ),
    "mocctree": Contender(
        "moc", {"mutation": "ctree"}, True, published=_MOCCTREE, asked=_MOCCTREE, asked_ms=500, r_seconds=654
    ),
    "mocarf": Contender("moc", {"mutation": "arf"}, True, published=_MOCARF, asked=_MOCARF, asked_ms=500, r_seconds=99),
    "nice": Contender("nice", {"reward": "plausibility"}, published=_NICE, asked=_NICE, asked_ms=50, r_seconds=8.6),
    "whatif": Contender("whatif"),
    "random": Contender("random"),
}
ONLY_SPEED = ("arf-paper-100",)


class TimedModel:
    """A booster as a function of a frame, one thread; it counts its own seconds, the way to a matrix included."""

    def __init__(self, booster: xgboost.Booster) -> None:
        self.booster = booster
        self.booster.set_param({"nthread": 1})
        self.seconds = 0.0

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        start = time.perf_counter()
        scores = self.booster.inplace_predict(frame.astype(float).to_numpy())
        self.seconds += time.perf_counter() - start
        return scores


@dataclass(frozen=True)
class Case:
    """A set with its model and the rows to explain; the levels of categories are their codes as text."""

    name: str
    X: pd.DataFrame
    y: pd.Series
    process: Process
    instances: pd.DataFrame
    model: TimedModel

    @cached_property
    def schema(self) -> Schema:
        return Schema.infer(self.X)

    @cached_property
    def gower(self) -> Gower:
        return Gower.of(self.schema, self.schema.encode(self.X))

    @cached_property
    def real_density(self) -> np.ndarray:
        return self.process.log_density(self.X)

    def true_typicality(self, rows: np.ndarray) -> np.ndarray:
        """Share of real rows that are less dense than each encoded row, by the true process."""
        log_density = self.process.log_density(self.schema.decode(rows))
        return np.searchsorted(np.sort(self.real_density), log_density) / len(self.real_density)

    def rows(self) -> list[pd.DataFrame]:
        return [self.instances.iloc[[i]] for i in range(len(self.instances))]

    def target(self, x: pd.DataFrame) -> Target:
        """The other side of the cut."""
        return Target(above=CUT) if self.model(x)[0] < CUT else Target(below=CUT)

    def plausible_hypervolume(self, x: pd.DataFrame, rows: np.ndarray) -> float:
        """The score of a set of encoded rows, whoever found them."""
        if len(rows):
            scores = self.model(self.schema.decode(rows))
            rows = rows[scores >= CUT if self.model(x)[0] < CUT else scores <= CUT]
        if len(rows) == 0:
            return 0.0
        own = self.schema.encode(x)[0]
        log_density = self.process.log_density(self.schema.decode(rows))
        return plausible_hypervolume(
            self.gower.to(own, rows), n_changed(rows, own) / len(own), log_density, self.real_density
        )


def paper_case(folder: str, name: str, n_instances: int) -> Case:
    published = load_paper_set(folder, name)
    model = TimedModel(xgboost.Booster(model_file=str(published.model_path)))
    instances = published.x_interest.head(n_instances)
    return Case(name, published.X, published.y, published.process, instances, model)


def generated_case(name: str, process: Process, n_instances: int, n_rows: int = 5000) -> Case:
    """Data, a model like the study's, and new rows to explain."""
    data = process.sample(n_rows, random_state=7)
    X, y = data.drop(columns="y"), data["y"]
    settings = {"objective": "reg:squarederror", "nthread": 1, "verbosity": 0}
    matrix = xgboost.DMatrix(X.astype(float).to_numpy(), y.to_numpy())
    model = TimedModel(xgboost.train(settings, matrix, num_boost_round=10))
    instances = process.sample(n_instances, random_state=8).drop(columns="y")
    return Case(name, X, y, process, instances, model)


def _seed(n_features: int) -> int:
    """Not a seed of `bench_quality`: defaults were chosen on those networks, which would favour us over peers."""
    return 100 * n_features + 50


def speed_case(paper: str | None, n_instances: int) -> Case:
    if paper:
        return paper_case(paper, "bn_20", n_instances)
    return generated_case("network 19*", random_learnable_network(19, random_state=_seed(19)), n_instances)


def generated_cases(n_instances: int) -> Iterator[Case]:
    processes: dict[str, Process] = {f"plane {seed}*": random_plane(random_state=seed) for seed in (50, 51, 52)}
    for n_features in (4, 9, 19):
        processes[f"network {n_features}*"] = random_learnable_network(n_features, random_state=_seed(n_features))
    for name, process in processes.items():
        yield generated_case(name, process, n_instances)


def fitted(case: Case, names: Sequence[str], seed: int) -> Iterator[tuple[str, Contender, Explainer, float]]:
    """Each method fitted to a case, with one forest for all that can share it, and the seconds of fitting."""
    shared = None
    for name in names:
        contender = CONTENDERS[name]
        density = None if contender.own_forest else shared
        explainer = contender.make(case, density=density, n_jobs=1, random_state=seed)
        start = time.perf_counter()
        explainer.fit(case.X)
        seconds = time.perf_counter() - start
        if not contender.own_forest:
            shared = explainer.background_.plausibility.forest
        yield name, contender, explainer, seconds


# Speed


def speed(case: Case, names: Sequence[str], repeats: int, peers: str | None) -> Iterator[dict]:
    for name, contender, explainer, fitting in fitted(case, names, seed=1):
        yield {"method": name, **timed(explainer, case, repeats, contender), "fit s": fitting}
    for name, runs in PEERS.items() if peers else ():
        for script, method in runs:
            seconds, found = ask_peer(peers, script, method, case)
            label = f"{name}, {method}" if len(runs) > 1 else name
            yield {"method": label, "ms": 1000 * np.median(seconds), "rows": np.median([len(one) for one in found])}


def timed(explainer: Explainer, case: Case, repeats: int, contender: Contender) -> dict:
    tasks = [(x, case.target(x)) for x in case.rows()]
    for x, target in tasks[:2]:
        explainer.explain(x, target)  # compiles, or fits what is fitted when it is first needed
    seconds, model_seconds, n_rows = [], [], []
    for _ in range(repeats):
        for x, target in tasks:
            start, before = time.perf_counter(), case.model.seconds
            result = explainer.explain(x, target)
            elapsed = time.perf_counter() - start
            model_seconds.append(case.model.seconds - before)
            seconds.append(elapsed - model_seconds[-1])
            n_rows.append(len(result.rows))
    return {
        "ms": 1000 * np.median(seconds),
        "asked": contender.asked_ms,
        "slowest": 1000 * np.max(seconds),
        "model ms": 1000 * np.median(model_seconds),
        "rows": np.median(n_rows),
        "R ms": 1000 * contender.r_seconds,
        "R / ours": contender.r_seconds / np.median(seconds),
    }


def many(case: Case, n_rows: int) -> list[dict]:
    """One process against two, the latter once they run; how long they take to start is told apart."""
    explainer = ARFExplainer(case.model, random_state=1).fit(case.X)
    rows, target = case.X[case.model(case.X) < CUT].head(n_rows), Target(above=CUT)

    def seconds(some: pd.DataFrame, n_jobs: int) -> float:
        start = time.perf_counter()
        batch = explainer.explain_many(some, target, n_jobs=n_jobs, progress=False, on_error="raise")
        assert len(batch) == len(some)
        return time.perf_counter() - start

    seconds(rows.head(2), 1)  # compiles
    starting = seconds(rows.head(2), 2)
    one, two = seconds(rows, 1), seconds(rows, 2)
    row = {"rows": len(rows), "1 process s": one, "2 processes s": two, "ratio": one / two, "asked": 1.8}
    return [{**row, "2 rows, processes starting s": starting}]


# Quality


def quality(case: Case, names: Sequence[str], seeds: int) -> Iterator[dict]:
    """One line per method: its median over instances for each seed, and how true its claims are."""
    medians: dict[str, list[float]] = {name: [] for name in names}
    claims: dict[str, list[dict]] = {name: [] for name in names}
    for seed in range(seeds):
        for name, _, explainer, _ in fitted(case, names, seed):
            found = [(x, explainer.explain(x, case.target(x))) for x in case.rows()]
            medians[name].append(float(np.median([case.plausible_hypervolume(x, one.rows) for x, one in found])))
            claims[name].append(truth_of_claims(case, [one for _, one in found if len(one)]))
    for name, values in medians.items():
        row = {"set": case.name, "method": name, "hypervolume": np.mean(values)}
        told = pd.DataFrame(claims[name]).mean().to_dict()
        yield {**row, "lowest": np.min(values), "highest": np.max(values), **told}


def truth_of_claims(case: Case, results: Sequence[Any]) -> dict:
    """Mean typicality that is told, its truth by the process, and how far they are apart."""
    if not results:
        return {}
    claimed = np.concatenate([one.typicality for one in results])
    true = case.true_typicality(np.concatenate([one.rows for one in results]))
    three = [one.select(3) for one in results]
    errors = [np.abs(one.typicality - case.true_typicality(one.rows)) for one in three]
    return {
        "claimed": claimed.mean(),
        "true": true.mean(),
        "error": np.abs(claimed - true).mean(),
        "error of 3": np.concatenate(errors).mean(),
    }


def quality_on_paper(folder: str, names: Sequence[str], n_instances: int, seeds: int) -> Iterator[dict]:
    for k, name in enumerate(SETS):
        for row in quality(paper_case(folder, name, n_instances), names, seeds):
            contender = CONTENDERS[row["method"]]
            quoted = {"asked": contender.asked, "published": contender.published, "limit": LIMIT}
            yield {**row, **{what: values[k] if values else math.nan for what, values in quoted.items()}}


def quality_on_generated(names: Sequence[str], n_instances: int, seeds: int, peers: str | None) -> Iterator[dict]:
    for case in generated_cases(n_instances):
        yield from quality(case, names, seeds)
        for name, runs in PEERS.items() if peers else ():
            found = [ask_peer(peers, script, method, case)[1] for script, method in runs]
            together = [np.concatenate(parts) for parts in zip(*found, strict=True)]
            scores = [case.plausible_hypervolume(x, rows) for x, rows in zip(case.rows(), together, strict=True)]
            yield {"set": case.name, "method": name, "hypervolume": np.median(scores)}


# Claims


def claims(n_instances: int, n_rows: int) -> Iterator[dict]:
    """One line per network, and their mean."""
    lines = []
    for n_features in CLAIMED:
        process = random_learnable_network(n_features, random_state=_seed(n_features))
        case = generated_case(f"network {n_features}*", process, n_instances, n_rows)
        for _, _, explainer, _ in fitted(case, ["arf"], seed=0):
            results = [explainer.explain(x, case.target(x)) for x in case.rows()]
            lines.append(truth_of_claims(case, [result for result in results if len(result)]))
        yield {"set": case.name, **lines[-1]}
    yield {"set": "mean", **pd.DataFrame(lines).mean().to_dict()}


# Neighbours


def neighbours() -> list[dict]:
    """In a process of its own: the largest memory of this one is that of the other tables."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_neighbours, (1_000, 100_000, 20))


def _neighbours(n: int, n_data: int, p: int) -> list[dict]:
    rng = np.random.default_rng(0)
    data, rows = rng.random((n_data, p)), rng.random((n, p))
    for matrix in (data, rows):
        matrix[:, p // 2 :] = np.floor(5 * matrix[:, p // 2 :])  # half of the columns are levels
    gower = Gower(np.where(np.arange(p) < p // 2, 1.0, -1.0), np.full(p, 1 / p))
    table = []
    for k in (1, 5):
        gower.nearest(rows[:3], data[:50], k)  # compiles
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
        gower.nearest(rows, data, k)
        seconds = time.perf_counter() - start
        peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        megabytes = {
            "more memory, MB": peak,
            "data, MB": data.nbytes / 2**20,
            "all distances, MB": 8 * n * n_data / 2**20,
        }
        table.append(
            {"rows": n, "data rows": n_data, "columns": p, "k": k, "ms per row": 1000 * seconds / n, **megabytes}
        )
    return table


# Peers


def ask_peer(peers: str, script: str, method: str, case: Case) -> tuple[list[float], list[np.ndarray]]:
    """Seconds per explanation without the model's, and the encoded rows found for each instance."""
    seconds, found = run_peer(peers, script, method, case.X, case.y, case.instances, case.model.booster)
    rows = found.drop(columns="instance")
    encoded = case.schema.encode(rows) if len(rows) else np.empty((0, case.X.shape[1]))
    return seconds, [encoded[found["instance"].to_numpy() == i] for i in range(len(case.instances))]


def run_peer(
    peers: str,
    script: str,
    method: str,
    X: pd.DataFrame,
    y: pd.Series,
    instances: pd.DataFrame,
    booster: xgboost.Booster,
    patience: float | None = None,
) -> tuple[list[float], pd.DataFrame]:
    """Seconds per explanation, and a frame like X of all rows found, after the position of their instance.

    Levels of categories are codes as text. After `patience` seconds the peer is stopped.
    """
    levels = {name: int for name in X.select_dtypes("category")}
    with tempfile.TemporaryDirectory() as folder:
        data, asked, model = (str(Path(folder) / name) for name in ("data.csv", "instances.csv", "model.json"))
        X.astype(levels).assign(y=y.astype(int)).to_csv(data, index=False)
        instances.astype(levels).to_csv(asked, index=False)
        booster.save_model(model)
        done = subprocess.run(
            [peers, "-W", "ignore", str(Path(__file__).with_name(script)), data, asked, model, method],
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            timeout=patience,
        )
    if done.returncode:
        raise RuntimeError(f"{script} {method} failed:\n{done.stderr[-2000:]}")
    seconds, _, table = done.stdout.partition("\n")
    found = pd.read_csv(io.StringIO(table), float_precision="round_trip")
    rows = found.drop(columns="instance").astype(levels).astype(dict.fromkeys(levels, str)).astype(X.dtypes)
    rows.insert(0, "instance", found["instance"])
    return [float(one) for one in seconds.split()], rows


def show(title: str, rows: list[dict], digits: str) -> None:
    print(f"\n{title}")
    print(pd.DataFrame(rows).to_string(index=False, float_format=digits.format, na_rep=""), flush=True)


def main(arguments: list[str] | None = None) -> None:
    tables = ("speed", "many", "quality", "claims", "neighbours")
    known = [name for name, contender in CONTENDERS.items() if contender.method in EXPLAINERS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", help="folder with the published sets")
    parser.add_argument("--generated", action="store_true", help="our own sets; also without --paper")
    parser.add_argument("--methods", nargs="+", choices=known, default=known)
    parser.add_argument("--peers", help="Python of the environment that has the peers; without it they are left out")
    parser.add_argument("--only", nargs="+", choices=tables, default=tables)
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000, help="for `many`")
    parser.add_argument("--data-rows", type=int, default=5000, help="for `claims`")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", DensityWarning)
    judged = [name for name in options.methods if name not in ONLY_SPEED]
    if {"speed", "many"} & set(options.only):
        case = speed_case(options.paper, options.instances)
    if "speed" in options.only:
        title = f"One explanation on {case.name}, one thread, without the model's time"
        show(title, list(speed(case, options.methods, options.repeats, options.peers)), "{:.4g}")
    if "many" in options.only:
        show(f"explain_many on {case.name}, default settings", many(case, options.rows), "{:.4g}")
    if "claims" in options.only:
        title = f"How true typicality is, {options.data_rows} rows, {options.instances} instances"
        show(title, list(claims(options.instances, options.data_rows)), "{:.3f}")
    if "neighbours" in options.only:
        show("Gower neighbours, one thread", neighbours(), "{:.4g}")
    if "quality" in options.only:
        title = f"Plausible hypervolume, 1,000 evaluations, {options.instances} instances, {options.seeds} seeds"
        if options.generated or not options.paper:
            rows = list(quality_on_generated(judged, options.instances, options.seeds, options.peers))
            show(f"{title}, sets of our own", rows, "{:.3f}")
        if options.paper:
            rows = list(quality_on_paper(options.paper, judged, options.instances, options.seeds))
            show(f"{title}, published sets", rows, "{:.3f}")


if __name__ == "__main__":
    main()
