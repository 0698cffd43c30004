"""Counterfactuals by NICEx, and the seconds each took without the model's; runs in the peers' environment.

    .venv-peers/bin/python benchmarks/peer_nice.py data.csv instances.csv model.json sparsity

The data holds features and y; whole numbers are levels of categories. The last argument is what NICE optimises:
sparsity, proximity, or none for the nearest row itself. It gives one row per instance. Printed are a line with the
seconds per explanation and then, as CSV, the rows with the position of their instance.
"""

import sys
import time

import numpy as np
import pandas as pd
import xgboost
from nice import NICE


class Model:
    """A booster whose score is cut at 0.5, as class probabilities; it counts its own seconds."""

    def __init__(self, path):
        self.booster = xgboost.Booster({"nthread": 1}, model_file=path)
        self.seconds = 0.0

    def __call__(self, matrix):
        start = time.perf_counter()
        score = self.booster.inplace_predict(np.asarray(matrix, np.float64))
        self.seconds += time.perf_counter() - start
        return np.column_stack([1.0 - score, score])


data, instances = (pd.read_csv(path, float_precision="round_trip") for path in sys.argv[1:3])
model, optimised = Model(sys.argv[3]), sys.argv[4]
features = list(instances.columns)
explainer = NICE(
    predict_fn=model,
    X_train=data[features].to_numpy(np.float64),
    cat_feat=[j for j, name in enumerate(features) if data[name].dtype.kind == "i"],
    y_train=data["y"].to_numpy(),
    optimization=optimised,
)
seconds, rows = [], []
for x in instances.to_numpy(np.float64):
    start, before = time.perf_counter(), model.seconds
    rows.append(explainer.explain(x[None].copy())[0])  # a copy, as NICE writes into it
    seconds.append(time.perf_counter() - start - (model.seconds - before))
print(*seconds)
found = pd.DataFrame(np.array(rows), columns=features)
found.insert(0, "instance", range(len(found)))
print(found.to_csv(index=False), end="")
