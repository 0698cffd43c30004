"""What `fit` learns of more rows than memory holds (`schema.pieces` says where they may come from).

1. One pass finds the schema of all rows and draws a sample of as many as memory holds (`sketch`). Which rows these are
   depends on their places alone. Where all fit, the sample is the frame itself, and nothing below happens.
2. The sample is the background: neighbours, judges, distances and relations are those of its rows.
3. The model is asked about all rows once, piece by piece. Features and scores are written to a temporary file.
4. The forest is grown on batches of that file, and its leaves describe all rows (`arf.grown_on_parts`).

Where a Dask client is active, its workers ask the model about a Dask frame and grow the trees (`arf.grown_on_dask`).

Models are asked with pandas frames, whoever made the pieces, as Parquet files say nothing of the model's library.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.arf.grown_on_dask import rows_on_dask
from countarfactuals.exceptions import DataError
from countarfactuals.explainers.background import Background, matrix_with_scores
from countarfactuals.language import counted
from countarfactuals.prediction import Predictor
from countarfactuals.schema import Schema, Values
from countarfactuals.schema.column import sorted_levels
from countarfactuals.schema.pieces import Pieces, as_pieces
from countarfactuals.schema.sketches import SampledRows, Sketch, infer_sketched, sketch

_BATCH = 65_536  # rows


class LargeData(NamedTuple):
    """Data of which a sample is held."""

    pieces: Pieces
    sampled: SampledRows

    def grow(
        self, forest: AdversarialRandomForest, full_schema: Schema, predictor: Predictor
    ) -> AdversarialRandomForest:
        """Fit a forest to the features and the model's scores of all rows."""
        n_columns, n_rows = len(full_schema.columns), self.sampled.n_rows
        there = rows_on_dask(self.pieces.partitions, partial(_with_scores, predictor), n_columns)
        if there is not None:
            return forest.fit_batches(full_schema, there, n_rows)
        with TemporaryDirectory(prefix="countarfactuals-") as folder:
            file = Path(folder) / "rows"
            with file.open("wb") as opened:
                for rows in self.pieces.read():
                    opened.write(_with_scores(predictor, rows).tobytes())
            return forest.fit_batches(full_schema, lambda: _batches(file, n_columns), n_rows)

    def refuse_outcome(self) -> None:
        """Refuse to learn an observed outcome, of which there is no telling whose row it belongs to."""
        n_rows, n_held = self.sampled.n_rows, len(self.sampled.places)
        raise DataError(
            f"The data has {n_rows:,} rows, of which memory shall hold {n_held:,}; y, and `outcome='observed'`, need "
            "all of them in memory. Fit to a frame with a sample of the rows and their y, or pass "
            f"density=AdversarialRandomForest(rows_in_memory={n_rows}) if they fit."
        )


def read_data(
    X: Any, most_rows: Callable[[int], int], ordered: Mapping[Hashable, Sequence[Any]] | None, values: Values
) -> tuple[Any, Schema, LargeData | None]:
    """The frame that is held, the schema of all rows, and where these are if the frame is but a sample."""
    pieces = as_pieces(X)
    if pieces is None:
        return X, Schema.infer(X, ordered=ordered, values=values), None
    found = sketch(pieces.read(), most_rows)
    found = replace(found, sample=_as_pandas(found))
    schema = infer_sketched(found, ordered=ordered, values=values)
    if found.is_whole:
        return found.sample, schema, None
    return found.sample, schema, LargeData(pieces, SampledRows(found.places, found.n_rows))


def sampled_rows(background: Background) -> list[str]:
    """A sentence on the rows that were kept, if these are not all.

    >>> from types import SimpleNamespace
    >>> sampled_rows(SimpleNamespace(sampled=SampledRows(np.arange(600), 2000)))
    ['Neighbours, typicality and relations are those of 600 rows, drawn at random from 2,000.']
    """
    if background.sampled is None:
        return []
    return [
        counted(
            len(background.sampled.places),
            "Neighbours, typicality and relations are those of {n:,} row, drawn at random from {total:,}.",
            "Neighbours, typicality and relations are those of {n:,} rows, drawn at random from {total:,}.",
            total=background.sampled.n_rows,
        )
    ]


def _with_scores(predictor: Predictor, rows: Any) -> np.ndarray:
    """The features of a frame and what the model says of them, as a matrix."""
    matrix = predictor.schema.encode(rows)
    return matrix_with_scores(matrix, predictor.scores(matrix), predictor)


def _as_pandas(found: Sketch) -> Any:
    """The sample as a pandas frame; categories that none of its rows has are those of all rows."""
    frame = found.sample.to_pandas() if type(found.sample).__module__.startswith("pyarrow") else found.sample
    for name in frame.select_dtypes("category"):
        known = set(frame[name].cat.categories)
        further = [level for level in sorted_levels(found.columns[name].levels) if level not in known]
        if further:
            frame = frame.assign(**{name: frame[name].cat.add_categories(further)})
    return frame


def _batches(file: Path, n_columns: int) -> Iterator[np.ndarray]:
    with file.open("rb") as opened:
        while len(cells := np.fromfile(opened, count=_BATCH * n_columns)):
            yield cells.reshape(-1, n_columns)
