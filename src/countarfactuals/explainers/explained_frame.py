"""`explain_frame`: a frame of rows in, a frame of counterfactuals out, in the same library.

1. The key of a row is the cell of a column, or its label, or its position. Columns that are neither the key nor a
   feature are left out; a function that says what is wanted of a row sees them all.
2. Blocks of rows are explained by `explain_many`, and of each result only its lines are kept, so that memory is bounded
   by the block and the lines. An error costs its row. It takes one process: engines have their own.
3. Nothing depends on the other rows of the frame: parts of a table give the lines of the whole.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd

from countarfactuals.counterfactuals.lines import Line, line_frame, lines_of
from countarfactuals.exceptions import ConstraintError, DataError, TargetError, did_you_mean, listed
from countarfactuals.explainers.row_wishes import per_row

if TYPE_CHECKING:
    from countarfactuals.counterfactuals import Counterfactuals
    from countarfactuals.explainers.base import Explainer

_BLOCK = 500  # rows whose results are in memory at once


def explained_frame(
    explainer: Explainer,
    frame: Any,
    target: Any,
    constraints: Any,
    top: int | None,
    key: Hashable | None,
) -> Any:
    """The lines of all rows of a frame; for the parameters see `Explainer.explain_frame`."""
    keys, rows = _keys(frame, key), _features(explainer, frame)
    n = len(keys)
    wanted = [
        per_row("target", target, frame, range(n), TargetError),
        per_row("constraints", constraints, frame, range(n), ConstraintError),
    ]
    positions: list[int] = []
    lines: list[Line] = []
    for start in range(0, n, _BLOCK):
        block = slice(start, start + _BLOCK)
        said = (
            of_all if each is None else each[block] for each, of_all in zip(wanted, (target, constraints), strict=True)
        )
        batch = explainer.explain_many(_taken(rows, block), *said, n_jobs=1, progress=False)
        if batch.unfinished:
            raise KeyboardInterrupt  # else a part of the rows would pass for all of them
        for position, result in enumerate(batch, start=start):
            own = list(lines_of(_told_by_key(result, keys, position), top))
            positions += [position] * len(own)
            lines += own
    return line_frame(keys, positions, lines)


def _told_by_key(result: Counterfactuals, keys: Any, position: int) -> Counterfactuals:
    """The result, with its error about the row's key: its number would be another one in another part of the table."""
    failure = result.failure
    if failure is None or "row" not in failure.fields:
        return result
    label = keys.iloc[position] if isinstance(keys, pd.Series) else keys[position]
    return replace(result, error=f"{type(failure).__name__}: {failure.having(row=label)}")


def no_lines(frame: Any, key: Hashable | None) -> Any:
    """The empty frame that explaining no row of such a frame gives; engines ask for it."""
    return line_frame(_keys(frame, key), [], [])


def _keys(frame: Any, key: Hashable | None) -> Any:
    """The key of every row, in its own type."""
    if key is None:
        if isinstance(frame, pd.DataFrame) and frame.index.nlevels > 1:
            raise DataError(
                f"The rows have labels of several parts, {listed(frame.index.names)}. Make them columns by "
                "`reset_index()`, and name the one that tells rows apart by `key`."
            )
        if isinstance(frame, pd.DataFrame):
            return frame.index
        if isinstance(frame, np.ndarray):
            return pd.RangeIndex(len(frame))
        table = nw.from_native(frame, eager_only=True)
        return nw.new_series("row", list(range(len(table))), nw.Int64, backend=table.implementation)
    names = _names(frame)
    if not _is_among(key, names):
        raise DataError(
            f"The frame has no column {key!r} to be the key; it has {listed(names)}.{did_you_mean(key, names)}"
        )
    return frame[key] if isinstance(frame, pd.DataFrame) else nw.from_native(frame, eager_only=True)[str(key)]


def _is_among(key: Any, names: list[Hashable]) -> bool:
    try:
        return key in set(names)  # a set, as `pd.NA` can not be compared
    except TypeError:  # arrays, and tuples of them
        return False


def _names(frame: Any) -> list[Hashable]:
    if isinstance(frame, np.ndarray):
        return []
    if isinstance(frame, pd.DataFrame):
        return frame.columns.tolist()
    return list(nw.from_native(frame, eager_only=True).columns)


def _features(explainer: Explainer, frame: Any) -> Any:
    """The frame without columns that are no features."""
    if isinstance(frame, np.ndarray):
        return frame
    known = set(explainer.schema_.names)
    names = [name for name in _names(frame) if name in known]
    if absent := [name for name in explainer.schema_.names if name not in names]:
        raise DataError(f"The frame lacks the column(s) {listed(absent)}. Add them; unknown cells may be missing.")
    return frame[names] if isinstance(frame, pd.DataFrame) else nw.from_native(frame).select(*names).to_native()


def _taken(rows: Any, block: slice) -> Any:
    if isinstance(rows, np.ndarray):
        return rows[block]
    return rows.iloc[block] if isinstance(rows, pd.DataFrame) else nw.from_native(rows)[block].to_native()
