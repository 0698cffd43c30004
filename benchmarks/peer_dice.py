"""Counterfactuals by DiCE, and the seconds each took without the model's; runs in the peers' environment.

    .venv-peers/bin/python benchmarks/peer_dice.py data.csv instances.csv model.json random|genetic [rows]

Files and output are those of `peer_nice.py`; ten rows are asked for unless told otherwise. Two settings are kinder than
DiCE's own. It would take the precision of numbers from the digits of the most frequent value, about 1e-7, and walk in
such steps; here numbers have as many decimals as the data writes, or three (more where values are tiny) if these are
too many, and changes that are not needed are sought by bisection. As DiCE rounds every number, one that is x's but for
the rounding is written as x's.
"""

import contextlib
import random
import sys
import time
import warnings

import dice_ml
import numpy as np
import pandas as pd
import xgboost
from raiutils.exceptions import UserConfigValidationException

DECIMALS, MOST_DECIMALS = 3, 6


class Model:
    """A booster whose score is cut at 0.5, as a scikit-learn classifier; it counts its own seconds."""

    classes_ = (0, 1)

    def __init__(self, path):
        self.booster = xgboost.Booster({"nthread": 1}, model_file=path)
        self.seconds = 0.0

    def predict_proba(self, frame):
        start = time.perf_counter()
        matrix = frame[features].to_numpy(object).astype(np.float64)
        score = np.clip(self.booster.inplace_predict(matrix), 0.0, 1.0)
        self.seconds += time.perf_counter() - start
        return np.column_stack([1.0 - score, score])

    def predict(self, frame):
        return self.predict_proba(frame).argmax(axis=1)


def decimals(values):
    """How many a column of numbers has."""
    for n in range(MOST_DECIMALS):
        if (values.round(n) == values).all():
            return n
    return max(DECIMALS, int(np.ceil(2 - np.log10(values.std()))))


def counterfactuals(x):
    """The rows that DiCE finds for a frame of one row, as numbers."""
    try:
        result = explainer.generate_counterfactuals(
            x, total_CFs=n_rows, desired_class="opposite", posthoc_sparsity_algorithm="binary", verbose=False
        )
    except UserConfigValidationException:  # its way to say that nothing was found
        return np.empty((0, len(features)))
    found = result.cf_examples_list[0].final_cfs_df_sparse
    if found is None or len(found) == 0:
        return np.empty((0, len(features)))
    return found[features].to_numpy(object).astype(np.float64)


data, instances = (pd.read_csv(path, float_precision="round_trip") for path in sys.argv[1:3])
model, method = Model(sys.argv[3]), sys.argv[4]
n_rows = int(sys.argv[5]) if len(sys.argv) > 5 else 10
features = list(instances.columns)
numbers = [name for name in features if data[name].dtype.kind == "f"]
precision = {name: decimals(data[name]) for name in numbers}
levels = {name: str for name in features if name not in numbers}
instances = instances.astype(levels)
warnings.simplefilter("ignore")
random.seed(1)  # DiCE's own seed would draw the same quantile for every feature
np.random.seed(1)  # noqa: NPY002 - what DiCE draws from
rounding = np.array([0.51 * 10.0 ** -precision[name] if name in precision else 0.0 for name in features])
seconds, rows = [], []
with contextlib.redirect_stdout(sys.stderr):
    explainer = dice_ml.Dice(
        dice_ml.Data(
            dataframe=data[[*features, "y"]].astype(levels),
            continuous_features=numbers,
            outcome_name="y",
            continuous_features_precision=precision,
        ),
        dice_ml.Model(model=model, backend="sklearn"),
        method=method,
    )
    for i in range(len(instances)):
        start, before = time.perf_counter(), model.seconds
        found = counterfactuals(instances.iloc[[i]])
        seconds.append(time.perf_counter() - start - (model.seconds - before))
        x = instances.iloc[i].to_numpy(object).astype(np.float64)
        found = np.where(np.abs(found - x) <= rounding, x, found)
        rows.append(pd.DataFrame(found, columns=features).assign(instance=i))
print(*seconds)
print(pd.concat(rows)[["instance", *features]].to_csv(index=False), end="")
