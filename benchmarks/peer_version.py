"""What one version of countarfactuals takes on sets in a folder; `bench_judges.py --against` runs it for two versions.

    PYTHONPATH=<sources> python benchmarks/peer_version.py FOLDER

For each `<set>.pkl` of X and of rows to explain, with the model `<set>.json` beside it, JSON tells the seconds of every
fit after the first one, and the milliseconds of every explanation without the model's after two: those before compile.
Seconds are of this process, so that others do not count. It asks for nothing that version 0.1 has not.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import pandas as pd
import xgboost

from countarfactuals import ARFExplainer, Target

FITS = 3


class Model:
    """A booster as a function of a frame, one thread; it counts its own seconds."""

    def __init__(self, file):
        self.booster, self.seconds = xgboost.Booster(model_file=file), 0.0
        self.booster.set_param({"nthread": 1})

    def __call__(self, frame):
        start = time.process_time()
        scores = self.booster.inplace_predict(frame.astype(float).to_numpy())
        self.seconds += time.process_time() - start
        return scores


def measured(X, instances, model):
    """Seconds of fits and milliseconds of explanations."""
    fits, explained = [], []
    for _ in range(1 + FITS):
        start = time.process_time()
        explainer = ARFExplainer(model, n_jobs=1, random_state=1).fit(X)
        fits.append(time.process_time() - start)
    rows = [instances.iloc[[i]] for i in range(len(instances))]
    for x in [*rows[:2], *rows]:
        target = Target(above=0.5) if model(x)[0] < 0.5 else Target(below=0.5)
        start, before = time.process_time(), model.seconds
        explainer.explain(x, target)
        explained.append(1000 * (time.process_time() - start - (model.seconds - before)))
    return {"fit s": fits[1:], "explain ms": explained[2:]}


warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
sets = sorted(folder.glob("*.pkl"))
print(json.dumps({file.stem: measured(*pd.read_pickle(file), Model(file.with_suffix(".json"))) for file in sets}))
