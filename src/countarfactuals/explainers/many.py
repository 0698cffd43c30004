"""Many rows: in processes, with progress, within a time budget, one failing row at a time.

Each row's generator depends on the row alone, so that order and number of processes change nothing. What is asked goes
to each process once, through a file that exists as long as the call.
"""

from __future__ import annotations

import math
import pickle
import sys
import tempfile
import time
import warnings
from collections.abc import Hashable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import cloudpickle
import numpy as np
import pandas as pd
from joblib import cpu_count, effective_n_jobs
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.exceptions import ConstraintError, DataError, DataTypeError, ModelTypeError
from countarfactuals.prediction import resolve

if TYPE_CHECKING:
    from countarfactuals.explainers.base import Explainer

Row = np.ndarray | Exception  # encoded, or the error that reading it gave
Task = tuple[int, Row]  # with the row's position
Answer = tuple[int, Counterfactuals]
_LOADED: dict[str, Any] = {}
_ROWS_ASKED = 5
_AHEAD = 2  # rows that wait for each process, so that none idles while this one is busy
# what libraries read for their number of threads: each process is to have its share of the cores
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Request(NamedTuple):
    """What is asked of every row."""

    explainer: Explainer
    target: Any
    constraints: Constraints
    on_error: str


def explain_rows(
    request: Request, X: Any, n_jobs: int | None, progress: bool, time_budget: float | None
) -> CounterfactualsBatch:
    """Explain every row of a frame."""
    tasks, labels = _read(request.explainer, X, request.on_error)
    _check_request(request)
    done: dict[int, Counterfactuals] = {}
    bar = tqdm(total=len(tasks), disable=not (progress and _is_watched()), unit="row", desc="explaining")
    workers = min(effective_n_jobs(n_jobs), len(tasks))
    try:
        results = _one_by_one if workers <= 1 else _in_processes
        for position, result in results(request, _Tasks(tasks, time_budget), workers):
            done[position] = result
            bar.update()
    except KeyboardInterrupt:
        pass  # what is finished is returned; the rest is listed as unfinished
    except BrokenExecutor as error:
        if request.on_error == "raise":
            raise
        warnings.warn(
            f"A process ended unexpectedly ({error}). What was finished is returned; explain the rows in `unfinished` "
            "with n_jobs=1 to see which one ends it.",
            UserWarning,
            stacklevel=3,
        )
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
            # it was read as a frame of one row
            tasks.append((position, type(error)(str(error).replace("in row 0 ", f"in row {position} "))))
    return tasks, labels


def _encoded(explainer: Explainer, X: Any) -> np.ndarray:
    background = explainer.background_
    return background.representable(background.check_whole(background.schema.encode(X)))


def _check_request(request: Request) -> None:
    """Refuse at once a target or constraints that no row could have: a misspelt name would fail for each of them.

    Judged by real rows, without asking the model; what only one row contradicts is that row's own error.
    """
    background = request.explainer.background_
    resolve(request.target, background.predictor, background.scores[0])
    errors = []
    for row in background.matrix[:_ROWS_ASKED]:
        try:
            request.constraints.bind(background.schema, row)
        except ConstraintError as error:
            errors.append(error)
    if len(errors) == len(background.matrix[:_ROWS_ASKED]):
        raise errors[0]


def _one_by_one(request: Request, tasks: _Tasks, workers: int) -> Iterator[Answer]:
    for position, row in tasks:
        yield position, explain_one(request, row)


def _in_processes(request: Request, tasks: _Tasks, workers: int) -> Iterator[Answer]:
    """This process takes rows as well, so that both cores work while others start."""
    n_threads = max(1, cpu_count() // workers)
    with tempfile.TemporaryDirectory(prefix="countarfactuals-") as folder:
        path = str(Path(folder) / "request")
        Path(path).write_bytes(_pickled(request))
        executor = get_reusable_executor(workers - 1, env=dict.fromkeys(THREADS, str(n_threads)))
        sent: set[Any] = set()
        try:
            with threadpool_limits(n_threads):
                while True:
                    for position, row in islice(tasks, _AHEAD * (workers - 1) - len(sent)):
                        sent.add(executor.submit(_explain_there, path, position, row, tasks.latest))
                    own = next(tasks, None)
                    if own is not None:
                        yield own[0], explain_one(request, own[1])
                    elif not sent:
                        return
                    else:
                        wait(sent, return_when=FIRST_COMPLETED)
                    for future in [future for future in sent if future.done()]:
                        sent.remove(future)
                        position, result = future.result()
                        if result is not None:
                            yield position, result
        except BaseException:  # an error, or Ctrl-C: nothing is to go on behind the user's back
            executor.shutdown(wait=False, kill_workers=True)
            raise


def _pickled(sent: Any) -> bytes:
    try:
        return bytes(cloudpickle.dumps(sent))
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise ModelTypeError(
            f"The model, or a function that was passed, can not be sent to other processes ({error}). Use n_jobs=1."
        ) from error


class _Tasks:
    """The tasks as long as there is time to begin one."""

    def __init__(self, tasks: list[Task], time_budget: float | None) -> None:
        self._left = iter(tasks)
        # by the clock on the wall, which processes share
        self.latest = math.inf if time_budget is None else time.time() + time_budget

    def __iter__(self) -> Iterator[Task]:
        return self

    def __next__(self) -> Task:
        if time.time() >= self.latest:
            raise StopIteration
        return next(self._left)


def _explain_there(path: str, position: int, row: Row, latest: float) -> tuple[int, Counterfactuals | None]:
    """Explain in a process of its own, which reads the request once; None if it is too late to begin."""
    if time.time() >= latest:
        return position, None
    if path not in _LOADED:
        _LOADED.clear()
        _LOADED[path] = cloudpickle.loads(Path(path).read_bytes())
    return position, explain_one(_LOADED[path], row)


def explain_one(request: Request, row: Row) -> Counterfactuals:
    """The result of one row, or what went wrong."""
    explainer, target = request.explainer, request.target
    try:
        if isinstance(row, Exception):
            raise row
        return explainer._explain(row, target, request.constraints)
    except Exception as error:
        if request.on_error == "raise":
            raise
        return Counterfactuals.empty(
            explainer.schema_,
            None if isinstance(row, Exception) else row,
            target=str(target) if target is not None else "the other class",
            method=explainer.name,
            status="error",
            error=f"{type(error).__name__}: {error}",
        )


def _is_watched() -> bool:
    """Whether someone sees a progress bar: a terminal or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules
