"""The observed outcomes, y, as every method that takes them reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.exceptions import DataError


def checked_outcome(y: Any, n: int) -> np.ndarray:
    """y as an array, (n,); one outcome for each of n rows, none missing."""
    if y is None:
        raise DataError("`outcome='observed'` needs the outcome: call `fit(X, y)`.")
    outcome = np.asarray(y)
    if outcome.ndim != 1 or len(outcome) != n:
        raise DataError(f"y must hold one outcome for each of the {n} rows, got shape {outcome.shape}.")
    if pd.isna(outcome).any():
        raise DataError("y has missing values. Drop these rows.")
    return outcome
