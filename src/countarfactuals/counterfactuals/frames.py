"""Rows and what is known of them, as frames of the user's library.

Numpy arrays have no names, so wherever columns are added their users get pandas. A column that is added gives way to
a feature of the same name: it gets an underscore at its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd

from countarfactuals.schema import Schema, free_name

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals

_TYPES: dict[str, Any] = {"counterfactual": np.int64, "consequence": np.bool_}  # of columns of our own


Cells = dict[int, dict[int, Any]]  # by column and row


def frame_of(
    schema: Schema,
    rows: np.ndarray,
    after: Mapping[str, Any],
    before: Mapping[str, Any] | None = None,
    cells: Cells | None = None,
) -> Any:
    """The native frame of `rows` between the columns `before` and `after`; `cells` as in `Schema.decode`."""
    if schema.backend == "numpy":
        schema = replace(schema, backend="pandas")
    frame = schema.decode(rows, cells=cells)
    taken = set(schema.names)
    leading = {_taken_name(name, taken): values for name, values in (before or {}).items()}
    trailing = {_taken_name(name, taken): values for name, values in after.items()}
    if schema.backend == "pandas":
        return _with_pandas_columns(frame, leading, trailing)
    return _with_columns(frame, leading, trailing)


def unchanged_cells(results: Sequence[Counterfactuals]) -> Cells:
    """Of the rows of results, below each other, the cells that are those of x as they came."""
    cells: Cells = {}
    start = 0
    for result in results:
        for j, cell in result.x_cells.items():
            kept = np.flatnonzero(~result.changed[:, j]) + start
            cells.setdefault(j, {}).update(dict.fromkeys(kept.tolist(), cell))
        start += len(result)
    return cells


def _taken_name(name: str, taken: set[Any]) -> str:
    """A free name, which is taken from now on."""
    name = free_name(name, taken)
    taken.add(name)
    return name


def _with_pandas_columns(frame: Any, leading: Mapping[str, Any], trailing: Mapping[str, Any]) -> Any:
    # by hand: narwhals knows neither nested names nor names that are not strings
    rest = [""] * (frame.columns.nlevels - 1)
    for position, (name, values) in enumerate(leading.items()):
        frame.insert(position, (name, *rest) if rest else name, _pandas_series(values))
    for name, values in trailing.items():
        frame[(name, *rest) if rest else name] = _pandas_series(values)
    return frame


def _pandas_series(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return pd.Series(values.copy())
    return pd.Series(_objects(values)).infer_objects()


def _objects(values: Sequence[Any]) -> np.ndarray:
    # not np.array: it would take tuples apart
    return np.fromiter(values, dtype=object, count=len(values))


def _with_columns(frame: Any, leading: Mapping[str, Any], trailing: Mapping[str, Any]) -> Any:
    table = nw.from_native(frame, eager_only=True)
    names = table.columns
    backend = table.implementation

    def series(name: str, values: Any) -> Any:
        if isinstance(values, np.ndarray):
            types: dict[str, Any] = {"b": nw.Boolean, "f": nw.Float64, "i": nw.Int64}
            return nw.new_series(name, values.tolist(), types[values.dtype.kind], backend=backend)
        cells = [cell.item() if isinstance(cell, np.generic) else cell for cell in values]
        # of no cell at all no type can be told
        return nw.new_series(name, cells, None if cells else nw.String, backend=backend)

    table = table.with_columns(*(series(name, values) for name, values in {**leading, **trailing}.items()))
    return table.select(*leading, *names, *trailing).to_native()


def measures(
    score_names: Sequence[str],
    scores: np.ndarray,
    labels: Sequence[Any],
    objectives: Mapping[str, np.ndarray],
    others: Mapping[str, np.ndarray],
) -> dict[str, Any]:
    """What is known of the rows, by the name of its column; a regression's prediction is its score."""
    columns: dict[str, Any] = {name: scores[:, i] for i, name in enumerate(score_names)}
    columns.setdefault("prediction", list(labels))
    for name, values in {**objectives, **others}.items():
        columns[free_name(name, columns)] = values
    return columns


def change_list(result: Counterfactuals) -> dict[str, list[Any]]:
    """Changed cells as long columns: counterfactual, feature, from, to, consequence."""
    schema = result.schema
    at = [(int(i), int(j)) for i, j in zip(*np.nonzero(result.changed), strict=True)]
    return {
        "counterfactual": [i for i, _ in at],
        "feature": [schema.names[j] for _, j in at],
        "from": [result.x_cells.get(j, schema.decode_value(j, float(result.x[j]))) for _, j in at],
        "to": [schema.decode_value(j, float(result.rows[i, j])) for i, j in at],
        "consequence": [bool(result.consequence[i, j]) for i, j in at],
    }


def long_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A pandas frame whose cells stay the Python values they are."""
    frame = pd.DataFrame(index=pd.RangeIndex(len(columns["counterfactual"])))
    for name, values in columns.items():
        frame[name] = pd.Series(_objects(values), dtype=_TYPES.get(name, object))
    return frame
