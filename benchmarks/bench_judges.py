"""What judges of plausibility gain and cost, on sets whose density is known and on which nothing was chosen.

    python benchmarks/bench_judges.py                          ten planes, ten networks of 5 to 30 features
    python benchmarks/bench_judges.py --against FOLDER         what this version costs beside the sources in FOLDER
    options: [--seeds 1] [--instances 20] [--repeats 5] [--paper FOLDER]

1. `judges`: plausible hypervolume and error of claimed typicality (see `bench_explain`) of the default explainer, whose
   judges must agree, and of one that has the forest alone. Means over instances: on planes medians jump.
2. `cost`: seconds of `fit` and milliseconds of one explanation without the model's, one thread, by this version and
   another, which take turns in fresh processes: least and median of all fits and explanations. Sets are a plane and
   networks of 9 and 19 features, cassini, bn_10 and bn_20 with `--paper`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
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


def cost_cases(paper: str | None, n_instances: int) -> list[Case]:
    if paper:
        return [paper_case(paper, name, n_instances) for name in ("bn_10", "bn_20", "cassini")]
    return [
        generated_case("plane 50*", random_plane(random_state=50), n_instances),
        *(
            generated_case(f"network {p}*", random_learnable_network(p, random_state=100 * p + 50), n_instances)
            for p in (9, 19)
        ),
    ]


def cost(against: str, cases: Sequence[Case], repeats: int) -> Iterator[dict]:
    """Both versions take turns, in fresh processes."""
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            pd.to_pickle((case.X, case.instances), Path(folder) / f"{case.name}.pkl")
            case.model.booster.save_model(Path(folder) / f"{case.name}.json")

        def run(source: str) -> dict[str, dict[str, list[float]]]:
            script, own = Path(__file__).with_name("peer_version.py"), {"PYTHONPATH": source, "OMP_NUM_THREADS": "1"}
            command = [sys.executable, "-W", "ignore", str(script), folder]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | own)
            return json.loads(done.stdout)

        this = str(Path(__file__).parents[1] / "src")
        runs = [(run(against), run(this)) for _ in range(repeats)]
    for name in (case.name for case in cases):
        for what in ("fit s", "explain ms"):
            other, own = ([value for run in runs for value in run[k][name][what]] for k in (0, 1))
            row = {"set": name, "what": what}
            for summary in (np.min, np.median):
                before, now = summary(other), summary(own)
                row |= {
                    f"{summary.__name__}, other": before,
                    f"{summary.__name__}, this": now,
                    f"{summary.__name__}, ratio": now / before,
                }
            yield row


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", help="folder `src` of another version")
    parser.add_argument("--paper", help="folder with the published sets")
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", DensityWarning)
    if options.against:
        rows = list(cost(options.against, cost_cases(options.paper, options.instances), options.repeats))
        show("Cost beside another version, one thread", rows, "{:.4g}")
        return
    rows = list(judges(options.instances, options.seeds))
    show(
        f"Forest alone, and judges that must agree; {options.instances} instances, {options.seeds} seeds",
        rows,
        "{:.3f}",
    )
    print(told(rows))


if __name__ == "__main__":
    main()
