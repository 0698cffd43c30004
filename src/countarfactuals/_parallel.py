"""One pool of processes for the whole package, and what joblib's `parallel_config` sets instead.

1. Processes have their share of the cores: what libraries read for their number of threads is set for each.
2. What all tasks need goes to each process once, through a file that exists as long as the call. joblib's memory maps
   would be read-only arrays, for which numba compiles every kernel anew. A call that was killed leaves its file: the
   next one removes files that nobody holds locked.
3. An error, or Ctrl-C, ends the processes: nothing goes on behind the user's back.
4. Another backend of joblib's, such as threads or Dask, gets the work where `parallel_config` sets one. What all tasks
   need goes to its workers as one array of bytes, which joblib maps or scatters as it does with any.
5. Kernels write to arrays that their threads share, and so run in threads whatever is set.
"""

from __future__ import annotations

import hashlib
import pickle
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import cloudpickle
import numpy as np
from joblib import Parallel, cpu_count, effective_n_jobs, parallel_config
from joblib.externals.loky import get_reusable_executor
from joblib.parallel import BACKENDS, DEFAULT_BACKEND, get_active_backend
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


def threads(n_jobs: int | None) -> Parallel:
    """So many threads for kernels, or as many as `parallel_config` sets jobs."""
    return Parallel(n_jobs=effective_n_jobs(n_jobs), require="sharedmem")


def other_backend() -> Any:
    """The backend that `parallel_config` sets; None for joblib's own processes, which have a pool here."""
    backend, _ = get_active_backend()
    return None if type(backend) is BACKENDS[DEFAULT_BACKEND] else backend


def threads_of_each(n: int) -> int:
    """How many threads each of n processes has: its share of the cores, or what `parallel_config` sets."""
    backend, _ = get_active_backend()
    return getattr(backend, "inner_max_num_threads", None) or max(1, cpu_count() // n)


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
    content = _pickled(value)
    _sweep()
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        path = Path(folder) / _SHARED
        with path.open("wb") as file:
            _lock(file)  # as long as the file is open, also if the process is killed
            file.write(content)
            file.flush()
            yield str(path)


def _pickled(value: Any) -> bytes:
    try:
        return cloudpickle.dumps(value)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise ModelTypeError(
            f"The model, or a function that was passed, can not be sent to other processes ({error}). Use n_jobs=1."
        ) from error


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
        _keep(path, Path(path).read_bytes())
    return _RECEIVED[path]


class Sent(NamedTuple):
    """A value for the workers of any backend; made by `sent`."""

    content: np.ndarray
    digest: str

    def value(self) -> Any:
        """The value, which a process unpacks once."""
        if self.digest not in _RECEIVED:
            _keep(self.digest, self.content)
        return _RECEIVED[self.digest]


def sent(value: Any) -> Sent:
    """A value as one array of bytes."""
    content = _pickled(value)
    return Sent(np.frombuffer(content, np.uint8), hashlib.sha256(content).hexdigest())


def _keep(name: str, content: Any) -> None:
    value = cloudpickle.loads(content)
    _RECEIVED.clear()
    _RECEIVED[name] = value
