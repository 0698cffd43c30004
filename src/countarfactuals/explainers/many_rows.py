"""Many rows: in processes, with progress, within a time budget, one failing row at a time.

1. All rows are read at once, and each gets its wish (`row_wishes`).
2. Where the model takes rows one by one, one call of it asks about all, and finds those that have the outcome already.
3. The others are explained in order, many in step (`rows_in_step`), where the model takes rows one by one. If that was
   only measured, and turns out to be wrong, all are explained anew, one after the other.
4. Several processes take blocks of rows, smaller and smaller ones, so that all end at about the same time. So do the
   workers of another backend that joblib's `parallel_config` sets.

Each row's generator depends on the row and its goal alone, so that order, blocks and processes change nothing.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from countarfactuals._parallel import (
    Sent,
    few_threads,
    other_backend,
    processes,
    received,
    sent,
    shared,
    threads_of_each,
)
from countarfactuals._progress import tqdm
from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.exceptions import ConstraintError, CountarfactualsError, DataError, DataTypeError, TargetError
from countarfactuals.explainers.answer import Own
from countarfactuals.explainers.questions import alone
from countarfactuals.explainers.row_wishes import Wish, Wishes, wishes_of
from countarfactuals.explainers.rows_in_step import Done, Request, Task, Tasks, explained, in_step
from countarfactuals.explainers.together import Dependent
from countarfactuals.plausibility.panel import Claims
from countarfactuals.prediction import resolve
from countarfactuals.prediction.rowwise import is_rowwise

if TYPE_CHECKING:
    from countarfactuals.explainers.background import Background
    from countarfactuals.explainers.base import Explainer

_ROWS_ASKED = 5
_AHEAD = 2  # blocks that wait for each process, so that none idles while this one is busy
_LARGEST, _SMALLEST = 32, 4  # rows of a block that are searched in step


def explain_rows(
    explainer: Explainer,
    X: Any,
    wanted: tuple[Any, Any],
    on_error: str,
    n_jobs: int | None,
    progress: bool,
    time_budget: float | None,
    together: bool | None,
) -> CounterfactualsBatch:
    """Explain every row of a frame; `wanted` is the target and the constraints, for all rows or one per row."""
    rows, labels, odd = _read(explainer, X, on_error)
    wishes = wishes_of(*wanted, X, labels)
    _check_request(explainer, wishes)
    left = Tasks(rows, math.inf if time_budget is None else time.time() + time_budget)
    request = Request(explainer, wishes, on_error, *_way_of_asking(explainer, together, left))
    done: dict[int, Counterfactuals] = {}
    bar = tqdm(total=len(rows), disable=not (progress and _is_watched()), unit="row", desc="explaining")
    workers = min(effective_n_jobs(n_jobs), len(rows))
    try:
        for position, result in _answers(request, left, workers):
            done[position] = result.with_cells(odd[position])
            bar.update(len(done) - bar.n)
    except KeyboardInterrupt:
        _warn(
            f"Interrupted: {len(done)} of {len(rows)} rows are finished and returned. The others are listed in "
            f"`unfinished`; {len(left.left)} of them were not begun."
        )
    except BrokenExecutor as error:
        if request.on_error == "raise":
            raise
        _warn(
            f"A process ended unexpectedly ({error}). What was finished is returned; explain the rows in `unfinished` "
            "with n_jobs=1 and together=False to see which one ends it."
        )
    finally:
        bar.close()
    finished = sorted(done)
    return CounterfactualsBatch(
        tuple(done[position] for position in finished),
        tuple(labels[position] for position in finished),
        unfinished=tuple(label for position, label in enumerate(labels) if position not in done),
    )


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=4)


def _way_of_asking(explainer: Explainer, together: bool | None, tasks: Tasks) -> tuple[bool, bool]:
    """Whether questions of many rows may be joined, and whether to verify that it makes no difference."""
    if together is not None:
        return together, False
    known = is_rowwise(explainer.model)
    if known is not None:
        return known, False
    if len(tasks.left) < 2 or not tasks.is_time:
        return False, False
    with few_threads():
        return explainer.background_.scores_rows_alike, True


def _read(explainer: Explainer, X: Any, on_error: str) -> tuple[list[Task], list[Hashable], list[dict[int, Any]]]:
    """The encoded rows, their labels, and cells that came as objects which codes can not tell.

    Where the frame as a whole can not be read it is read row by row, so that a bad row costs itself only.
    """
    schema = explainer.schema_
    schema.check_columns(X)  # wrong columns are the frame's fault, not a row's
    labels = X.index.tolist() if isinstance(X, pd.DataFrame) else list(range(len(X)))
    try:
        return [Task(*row) for row in enumerate(_encoded(explainer, X))], labels, schema.odd_cells(X)
    except (DataError, DataTypeError):
        if on_error == "raise":
            raise
    tasks: list[Task] = []
    odd: list[dict[int, Any]] = [{} for _ in labels]
    for position in range(len(labels)):
        row = X.iloc[[position]] if isinstance(X, pd.DataFrame) else X[position : position + 1]
        try:
            tasks.append(Task(position, _encoded(explainer, row)[0]))
            odd[position] = schema.odd_cells(row)[0]
        except (DataError, DataTypeError) as error:
            # it was read as a frame of one row
            tasks.append(Task(position, error.having(row=position) if "row" in error.fields else error))
    return tasks, labels, odd


def _encoded(explainer: Explainer, X: Any) -> np.ndarray:
    background = explainer.background_
    return background.representable(background.check_whole(background.schema.encode(X)))


def _check_request(explainer: Explainer, wishes: Wishes) -> None:
    """Refuse at once a target or constraints that no row could have: a misspelt name would fail for each of them.

    Judged by real rows, without asking the model; what only one row contradicts is that row's own error.
    """
    background, wish = explainer.background_, wishes.common
    if wish is None:
        return
    target, constraints = wish
    _raise_if_always([partial(resolve, target, background.predictor, own) for own in background.scores[:_ROWS_ASKED]])
    if isinstance(constraints, Constraints):
        rows = background.matrix[:_ROWS_ASKED]
        _raise_if_always([partial(constraints.bind, background.schema, row) for row in rows])


def _raise_if_always(trials: Sequence[Callable[[], Any]]) -> None:
    errors = []
    for trial in trials:
        try:
            trial()
        except (TargetError, ConstraintError) as error:
            errors.append(error)
    if errors and len(errors) == len(trials):
        raise errors[0]


def _answers(request: Request, tasks: Tasks, workers: int) -> Iterator[Done]:
    """First the rows that have the outcome already, which needs no process, then the others."""
    every = list(tasks.left)
    if tasks.is_time:
        tasks.left = deque(_asked_at_once(request, every))
    settled = _settled(request, tasks.left)
    yield from settled.items()
    tasks.skip(settled)
    try:
        yield from _searched(request, tasks, workers)
    except Dependent:
        tasks.left = deque(every)
        yield from _searched(request._replace(joint=False), tasks, workers)


def _searched(request: Request, tasks: Tasks, workers: int) -> Iterator[Done]:
    if workers <= 1:
        return in_step(request, tasks)
    backend = other_backend()
    return _in_processes(request, tasks, workers) if backend is None else _by_backend(request, tasks, workers, backend)


def _asked_at_once(request: Request, tasks: Sequence[Task]) -> Sequence[Task]:
    """The tasks with the scores of their rows, where the model gives a row the same ones as it does alone."""
    read = [task for task in tasks if isinstance(task.row, np.ndarray)]
    if len(read) < 2 or not request.joint:
        return tasks
    try:
        with few_threads():
            scores = request.explainer.background_.predictor.scores(np.array([task.row for task in read]))
    except CountarfactualsError:
        return tasks  # a row on which the model fails is told apart by asking about each
    own = {task.position: Own(scores[i : i + 1]) for i, task in enumerate(read)}
    return [task._replace(own=own.get(task.position)) for task in tasks]


def _settled(request: Request, tasks: Iterable[Task]) -> dict[int, Counterfactuals]:
    """The results of rows that are known to have the outcome already."""
    background = request.explainer.background_
    there = [(task, task.own.scores) for task in tasks if task.own is not None]
    there = [
        (task, scores) for task, scores in there if _is_there(request.wishes.of(task.position), background, scores)
    ]
    if not there:
        return {}
    rows = np.array([task.row for task, _ in there])
    log_density, claims = background.plausibility.log_density(rows), background.plausibility.claims(rows)
    settled = {}
    for i, (task, scores) in enumerate(there):
        one = slice(i, i + 1)
        own = Own(scores, (log_density[one], Claims(*(part[one] for part in claims))))
        settled[task.position] = alone(explained(request, task._replace(own=own)), background.predictor)
    return settled


def _is_there(wish: Wish, background: Background, scores: np.ndarray) -> bool:
    """Whether a row with these scores has the outcome; a wish that does not suit it is an error for later."""
    try:
        return bool(resolve(wish.target, background.predictor, scores[0]).reached(scores)[0])
    except TargetError:
        return False


def _in_processes(request: Request, tasks: Tasks, workers: int) -> Iterator[Done]:
    """This process takes rows as well, so that both cores work while others start."""
    n_threads = threads_of_each(workers)
    sent: set[Any] = set()
    own: Iterator[Done] = iter(())
    with shared(request) as path, processes(workers - 1, n_threads) as pool, threadpool_limits(n_threads):
        while True:
            while tasks.left and tasks.is_time and len(sent) < _AHEAD * (workers - 1):
                sent.add(pool.submit(_explain_there, path, _block(request, tasks, workers), tasks.latest))
            finished = next(own, None)
            if finished is not None:
                yield finished
            elif tasks.left and tasks.is_time:
                own = in_step(request, Tasks(_block(request, tasks, workers), tasks.latest))
            elif not sent:
                return
            else:
                wait(sent, return_when=FIRST_COMPLETED)
            for future in [future for future in sent if future.done()]:
                sent.remove(future)
                yield from future.result()


def _by_backend(request: Request, tasks: Tasks, workers: int, backend: Any) -> Iterator[Done]:
    """Blocks go to the workers of a backend of joblib's, as they are done with others."""
    in_place = getattr(backend, "supports_sharedmem", False)
    explain, told = (_explain_block, (request,)) if in_place else (_explain_sent, sent(request))
    blocks = iter(partial(_block, request, tasks, workers), [])
    as_they_come = getattr(backend, "supports_return_generator", False)  # with "multiprocessing" all come at the end
    run = Parallel(n_jobs=workers, return_as="generator_unordered" if as_they_come else "list")
    for done in run(delayed(explain)(*told, block, tasks.latest) for block in blocks):
        yield from done


def _block(request: Request, tasks: Tasks, workers: int) -> list[Task]:
    """The next rows for one process, out of those that are left; one where none are searched in step."""
    share = math.ceil(len(tasks.left) / (2 * workers))
    size = min(max(share, _SMALLEST), _LARGEST) if request.joint else 1
    return list(islice(tasks, size))


def _explain_there(path: str, block: Sequence[Task], latest: float) -> list[Done]:
    """Explain rows in a process of its own, which reads the request once."""
    return _explain_block(received(path), block, latest)


def _explain_sent(content: np.ndarray, digest: str, block: Sequence[Task], latest: float) -> list[Done]:
    """The same where the request was sent along."""
    return _explain_block(Sent(content, digest).value(), block, latest)


def _explain_block(request: Request, block: Sequence[Task], latest: float) -> list[Done]:
    """Explain those rows for which it is not too late."""
    return list(in_step(request, Tasks(block, latest)))


def _is_watched() -> bool:
    """Whether someone sees a progress bar: a terminal or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules
