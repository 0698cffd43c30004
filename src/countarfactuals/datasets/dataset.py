"""A data set whose process is known."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from countarfactuals.datasets.process import Process


@dataclass(frozen=True)
class Dataset:
    """Features, label and the process that they were drawn from."""

    name: str
    X: pd.DataFrame
    y: pd.Series
    process: Process
