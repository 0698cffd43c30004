"""Many rows: in processes, with progress, within a time budget, one failing row at a time.

Each row's generator depends on the row alone, so that order and number of processes change nothing. The explainer goes
to each process once, through a file that exists as long as the call.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
import time
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs
from tqdm.auto import tqdm

from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.exceptions import ConstraintError, DataError, DataTypeError, ModelTypeError
from countarfactuals.prediction import resolve

if TYPE_CHECKING:
    from countarfactuals.explainers.base import Explainer

Task = tuple[int, Any]  # position and the encoded row, or the error that reading it gave
_LOADED: dict[str, Any] = {}
_ROWS_ASKED = 5


def explain_rows(
    explainer: Explainer,
    X: Any,
    target: Any,
    constraints: Constraints,
    n_jobs: int | None,
    progress: bool,
    time_budget: float | None,
    on_error: str,
) -> CounterfactualsBatch:
    """Explain every row of a frame."""
    tasks, labels = _read(explainer, X, on_error)
    _check_request(explainer, target, constraints)
    deadline = None if time_budget is None else time.monotonic() + time_budget
    done: dict[int, Counterfactuals] = {}
    bar = tqdm(total=len(tasks), disable=not (progress and _is_watched()), unit="row", desc="explaining")
    workers = min(effective_n_jobs(n_jobs), len(tasks))
    try:
        results = _one_by_one if workers == 1 else _in_processes
        for position, result in results(explainer, tasks, target, constraints, on_error, deadline, workers):
            done[position] = result
            bar.update()
    except KeyboardInterrupt:
        pass  # what is finished is returned; the rest is listed as unfinished
    finally:
        bar.close()
    finished = sorted(done)
    return CounterfactualsBatch(
        tuple(done[position] for position in finished),
        tuple(labels[position] for position in finished),
        unfinished=tuple(label for position, label in enumerate(labels) if position not in done),
    )


def _read(explainer: Explainer, X: Any, on_error: str) -> tuple[list[Task], list[Hashable]]:
    """The encoded rows; where the frame as a whole can not be read, row by row, so that a bad row costs itself only."""
    schema = explainer.schema_
    schema.check_columns(X)  # wrong columns are the frame's fault, not a row's
    labels = X.index.tolist() if isinstance(X, pd.DataFrame) else list(range(len(X)))
    try:
        return list(enumerate(_encoded(explainer, X))), labels
    except (DataError, DataTypeError):
        if on_error == "raise":
            raise
    tasks: list[Task] = []
    for position in range(len(labels)):
        row = X.iloc[[position]] if isinstance(X, pd.DataFrame) else X[position : position + 1]
        try:
            tasks.append((position, _encoded(explainer, row)[0]))
        except (DataError, DataTypeError) as error:
            tasks.append((position, error))
    return tasks, labels


def _encoded(explainer: Explainer, X: Any) -> np.ndarray:
    background = explainer.background_
    return background.representable(background.check_whole(background.schema.encode(X)))


def _check_request(explainer: Explainer, target: Any, constraints: Constraints) -> None:
    """Refuse at once a target or constraints that no row could have: a misspelt name would fail for each of them.

    Judged by real rows, without asking the model; what only one row contradicts is that row's own error.
    """
    background = explainer.background_
    resolve(target, background.predictor, background.scores[0])
    errors = []
    for row in background.matrix[:_ROWS_ASKED]:
        try:
            constraints.bind(background.schema, row)
        except ConstraintError as error:
            errors.append(error)
    if len(errors) == len(background.matrix[:_ROWS_ASKED]):
        raise errors[0]


def _one_by_one(
    explainer: Explainer,
    tasks: list[Task],
    target: Any,
    constraints: Constraints,
    on_error: str,
    deadline: float | None,
    workers: int,
) -> Iterator[tuple[int, Counterfactuals]]:
    for position, row in _until(tasks, deadline):
        yield position, explain_one(explainer, row, target, constraints, on_error)


def _in_processes(
    explainer: Explainer,
    tasks: list[Task],
    target: Any,
    constraints: Constraints,
    on_error: str,
    deadline: float | None,
    workers: int,
) -> Iterator[tuple[int, Counterfactuals]]:
    with tempfile.TemporaryDirectory(prefix="countarfactuals-") as folder:
        path = str(Path(folder) / "explainer")
        Path(path).write_bytes(_pickled((explainer, target, constraints)))
        parallel = Parallel(n_jobs=workers, return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)
        yield from parallel(
            delayed(_explain_there)(path, position, row, on_error) for position, row in _until(tasks, deadline)
        )


def _pickled(sent: Any) -> bytes:
    try:
        return bytes(cloudpickle.dumps(sent))
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise ModelTypeError(
            f"The model, or a function that was passed, can not be sent to other processes ({error}). Use n_jobs=1."
        ) from error


def _until(tasks: list[Task], deadline: float | None) -> Iterator[Task]:
    for task in tasks:
        if deadline is not None and time.monotonic() >= deadline:
            return
        yield task


def _explain_there(path: str, position: int, row: Any, on_error: str) -> tuple[int, Counterfactuals]:
    """Explain in a process of its own, which reads the explainer once."""
    if path not in _LOADED:
        _LOADED.clear()
        _LOADED[path] = cloudpickle.loads(Path(path).read_bytes())
    explainer, target, constraints = _LOADED[path]
    return position, explain_one(explainer, row, target, constraints, on_error)


def explain_one(
    explainer: Explainer, row: np.ndarray | Exception, target: Any, constraints: Constraints, on_error: str
) -> Counterfactuals:
    """The result of one row, or what went wrong."""
    try:
        if isinstance(row, Exception):
            raise row
        return explainer._explain(row, target, constraints)
    except Exception as error:
        if on_error == "raise":
            raise
        return Counterfactuals.empty(
            explainer.schema_,
            None if isinstance(row, Exception) else row,
            target=str(target) if target is not None else "the other class",
            method=explainer.method,
            status="error",
            error=f"{type(error).__name__}: {error}",
        )


def _is_watched() -> bool:
    """Whether someone sees a progress bar: a terminal or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules
