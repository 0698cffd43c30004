"""An autoencoder as a measure of how unusual a row is, for NICE.

1. Inputs are numbers scaled to [0, 1] and one-hot levels. A missing number is the mean and a missing level has no 1;
   columns that have missing cells get an indicator of them.
2. A network with a bottleneck (scikit-learn's) is trained to give back its inputs, on at most 10,000 real rows.
3. The error of a row is the mean squared difference of inputs and outputs. Unusual rows are given back badly.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from countarfactuals.schema import Schema

_MOST_ROWS = 10_000  # that the network is fitted to


class Autoencoder(NamedTuple):
    """The network, and how rows become its inputs."""

    schema: Schema
    low: np.ndarray
    scale: np.ndarray
    mean: np.ndarray
    has_missing: np.ndarray
    network: MLPRegressor

    @classmethod
    def fit(cls, schema: Schema, matrix: np.ndarray, seed: int) -> Autoencoder:
        """Train it on real rows."""
        rng = np.random.default_rng([seed, 2])
        low, high, mean = np.nanmin(matrix, axis=0), np.nanmax(matrix, axis=0), np.nanmean(matrix, axis=0)
        scale = np.where(high > low, high - low, 1.0)
        has_missing = np.isnan(matrix).any(axis=0)
        if len(matrix) > _MOST_ROWS:
            matrix = matrix[rng.choice(len(matrix), _MOST_ROWS, replace=False)]
        encoder = cls(schema, low, scale, mean, has_missing, None)
        inputs = encoder._inputs(matrix)
        width = inputs.shape[1]
        outer = min(max(2 * width, 8), 64)
        network = MLPRegressor(
            hidden_layer_sizes=(outer, max(1, min(width // 2, 16)), outer),
            batch_size=min(64, len(inputs)),
            learning_rate_init=0.003,
            max_iter=100,
            random_state=int(rng.integers(2**31)),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # rows are compared, so a good fit will do
            network.fit(inputs, inputs[:, 0] if width == 1 else inputs)
        return encoder._replace(network=network)

    def error(self, rows: np.ndarray) -> np.ndarray:
        """Mean squared difference of inputs and outputs, shape (n,)."""
        inputs = self._inputs(rows)
        outputs = self.network.predict(inputs).reshape(inputs.shape)
        return np.asarray(((outputs - inputs) ** 2).mean(axis=1))

    def _inputs(self, rows: np.ndarray) -> np.ndarray:
        parts = []
        for j, column in enumerate(self.schema.columns):
            cells = rows[:, j]
            if column.is_number:
                cells = np.where(np.isnan(cells), self.mean[j], cells)
                parts.append(((cells - self.low[j]) / self.scale[j])[:, None])
            else:
                parts.append((cells[:, None] == np.arange(column.n_levels)).astype(np.float64))
            if self.has_missing[j]:
                parts.append(np.isnan(rows[:, j : j + 1]).astype(np.float64))
        return np.concatenate(parts, axis=1)
