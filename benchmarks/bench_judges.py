"""What judges of plausibility gain and cost, on sets whose density is known and on which nothing was chosen.

    python benchmarks/bench_judges.py                          ten planes, ten networks of 5 to 30 features
    python benchmarks/bench_judges.py --against FOLDER         and what this version costs beside the sources in FOLDER
    options: [--seeds 1] [--instances 20] [--repeats 3] [--paper FOLDER]

1. `judges`: plausible hypervolume and error of claimed typicality (see `bench_explain`) of the default explainer, whose
   judges must agree, and of one that has the forest alone. Means over instances: on planes medians jump.
2. `cost`: seconds of `fit` and milliseconds of one explanation without the model's, one thread, by this version and
   another, which take turns: the least of all runs of each. The set is the largest, bn_20 with `--paper`, and a plane.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
from bench_explain import Case, generated_case, paper_case, show, truth_of_claims

from countarfactuals import ARFExplainer
from countarfactuals.datasets import random_learnable_network, random_plane
from countarfactuals.exceptions import DensityWarning

FEATURES = (5, 7, 9, 11, 14, 17, 20, 23, 26, 30)


def cases(n_instances: int) -> Iterator[Case]:
    for seed in range(60, 70):
        yield generated_case(f"plane {seed}*", random_plane(random_state=seed), n_instances)
    for n_features in FEATURES:
        process = random_learnable_network(n_features, random_state=100 * n_features + 60)
        yield generated_case(f"network {n_features}*", process, n_instances)


def judged(case: Case, measure: str | None, seed: int) -> dict[str, float]:
    """Hypervolume, and how true the claims are, with all judges (None) or the forest's measure alone."""
    explainer = ARFExplainer(case.model, measure=measure, n_jobs=1, random_state=seed).fit(case.X)
    found = [(x, explainer.explain(x, case.target(x))) for x in case.rows()]
    hypervolume = float(np.mean([case.plausible_hypervolume(x, result.rows) for x, result in found]))
    claims = truth_of_claims(case, [result for _, result in found if len(result)])
    return {"hypervolume": hypervolume, "error": claims["error"], "error of 3": claims["error of 3"]}


def judges(n_instances: int, seeds: int) -> Iterator[dict]:
    for case in cases(n_instances):
        alone, agreed = ([judged(case, measure, seed) for seed in range(seeds)] for measure in ("median", None))
        row: dict = {"set": case.name}
        for what in ("hypervolume", "error", "error of 3"):
            row |= {
                f"{what}, forest": np.mean([r[what] for r in alone]),
                f"{what}, all": np.mean([r[what] for r in agreed]),
            }
        yield {**row, "gained": row["hypervolume, all"] - row["hypervolume, forest"]}


def told(rows: list[dict]) -> str:
    networks = [row for row in rows if row["set"].startswith("network")]
    least = min(rows, key=lambda row: row["gained"])
    return (
        f"Least gain by judges: {least['gained']:.3f} ({least['set']}). Mean error over the networks: all rows "
        f"{np.mean([row['error, all'] for row in networks]):.3f} (forest alone "
        f"{np.mean([row['error, forest'] for row in networks]):.3f}), select(3) "
        f"{np.mean([row['error of 3, all'] for row in networks]):.3f}."
    )


# Cost


def seconds(case: Case) -> dict[str, float]:
    """Least seconds of two fits, and the median of explanations after two that compile."""
    fits = []
    for _ in range(3):
        start = time.perf_counter()
        explainer = ARFExplainer(case.model, n_jobs=1, random_state=1).fit(case.X)
        fits.append(time.perf_counter() - start)
    explained = []
    for x in [*case.rows()[:2], *case.rows()]:
        start, before = time.perf_counter(), case.model.seconds
        explainer.explain(x, case.target(x))
        explained.append(time.perf_counter() - start - (case.model.seconds - before))
    return {"fit s": min(fits[1:]), "explain ms": 1000 * float(np.median(explained[2:]))}


def cost_cases(paper: str | None, n_instances: int) -> list[Case]:
    if paper:
        return [paper_case(paper, name, n_instances) for name in ("bn_20", "cassini")]
    network = random_learnable_network(19, random_state=1950)
    return [
        generated_case("network 19*", network, n_instances),
        generated_case("plane 50*", random_plane(random_state=50), n_instances),
    ]


def cost(against: str, paper: str | None, n_instances: int, repeats: int) -> Iterator[dict]:
    arguments = ["--measure", "--instances", str(n_instances), *(["--paper", paper] if paper else [])]

    def run(source: str | None) -> dict[str, dict[str, float]]:
        path = {"PYTHONPATH": source} if source else {}
        command = [sys.executable, "-W", "ignore", __file__, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **path})
        return json.loads(done.stdout)

    runs = [(run(against), run(None)) for _ in range(repeats)]
    for name in runs[0][0]:
        row: dict = {"set": name}
        for what in ("fit s", "explain ms"):
            before, now = (min(run[k][name][what] for run in runs) for k in (0, 1))
            row |= {f"{what}, other": before, f"{what}, this": now, f"{what}, ratio": now / before}
        yield row


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", help="folder `src` of another version")
    parser.add_argument("--paper", help="folder with the published sets")
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", DensityWarning)
    if options.measure:
        print(json.dumps({case.name: seconds(case) for case in cost_cases(options.paper, options.instances)}))
        return
    if options.against:
        rows = list(cost(options.against, options.paper, options.instances, options.repeats))
        show("Cost beside another version, one thread", rows, "{:.4g}")
    rows = list(judges(options.instances, options.seeds))
    show(
        f"Forest alone, and judges that must agree; {options.instances} instances, {options.seeds} seeds",
        rows,
        "{:.3f}",
    )
    print(told(rows))


if __name__ == "__main__":
    main()
