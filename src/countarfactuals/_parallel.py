"""One pool of processes for the whole package.

1. Processes have their share of the cores: what libraries read for their number of threads is set for each.
2. What all tasks need goes to each process once, through a file that exists as long as the call. joblib's memory maps
   would be read-only arrays, for which numba compiles every kernel anew. A call that was killed leaves its file: the
   next one removes files that nobody holds locked.
3. An error, or Ctrl-C, ends the processes: nothing goes on behind the user's back.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import cloudpickle
from joblib import parallel_config
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import ThreadpoolController

from countarfactuals.exceptions import ModelTypeError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_PREFIX, _SHARED = "countarfactuals-", "shared"
_BEGINNING = 60.0  # seconds within which a folder may still be without its file
_RECEIVED: dict[str, Any] = {}


@contextmanager
def few_threads() -> Iterator[None]:
    """One thread for each call of a model: to start more takes longer than scoring the few rows of a search.

    joblib's setting and OpenMP's number of threads belong to the thread that sets them, so that explaining in several
    threads is safe.
    """
    with parallel_config(backend="sequential"), _controller().limit(limits=1, user_api="openmp"):
        yield


@cache
def _controller() -> ThreadpoolController:
    """What limits threads; to look for libraries takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def processes(n: int, n_threads: int = 1) -> Iterator[Any]:
    """An executor of n processes with so many threads each; they stay for the next call."""
    executor = get_reusable_executor(n, env=dict.fromkeys(THREADS, str(n_threads)))
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False, kill_workers=True)
        raise


@contextmanager
def shared(value: Any) -> Iterator[str]:
    """The path from which processes receive a value."""
    try:
        content = cloudpickle.dumps(value)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise ModelTypeError(
            f"The model, or a function that was passed, can not be sent to other processes ({error}). Use n_jobs=1."
        ) from error
    _sweep()
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        path = Path(folder) / _SHARED
        with path.open("wb") as file:
            _lock(file)  # as long as the file is open, also if the process is killed
            file.write(content)
            file.flush()
            yield str(path)


def _sweep() -> None:
    """Remove what calls that were killed have left."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another user's, or another process was faster
            if time.time() - folder.stat().st_mtime > _BEGINNING and not _is_held(folder / _SHARED):
                shutil.rmtree(folder)


def _is_held(path: Path) -> bool:
    """Whether the process that shares a file lives."""
    if not path.exists():
        return False
    with path.open("rb+") as file:
        return not _lock(file)


def _lock(file: Any) -> bool:
    """Lock a file that is open; False where another process has."""
    if fcntl is None:  # where there are no such locks, open files can not be removed
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def received(path: str) -> Any:
    """The value that is shared at a path, which a process reads once."""
    if path not in _RECEIVED:
        _RECEIVED.clear()
        _RECEIVED[path] = cloudpickle.loads(Path(path).read_bytes())
    return _RECEIVED[path]
