"""How kernels are compiled, and where they are kept.

1. A `kernel` is called from Python. numba compiles it at its first call and keeps it on disk.
2. An `inner` kernel is called by kernels alone, so that it needs no wrapper that takes Python's objects apart. One of
   a forest or a table of leaves is longer than most kernels, and takes longer to compile. Its callers link its code
   (`_linked`), so that it is optimised and made machine code once, with them.
3. Neither has the wrapper for C, which numba makes unless it is told not to. Numbers that kernels hand to each other
   are 64-bit integers and floats, so that one specialisation of each is enough.
4. Kernels that were compiled ahead are looked for first: in the folder that the environment variable
   COUNTARFACTUALS_KERNELS names, else in `compiled` beside this file. It may be read-only, and shared by users and
   machines with the same processor: numba's own cache must be writable, and has a place for each user. A kernel that
   is not there is kept where numba keeps it (NUMBA_CACHE_DIR).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from countarfactuals._ahead import watch
from countarfactuals._linked import KernelCompiler, LinkedCompiler

FOLDER = "COUNTARFACTUALS_KERNELS"
WRITING = "COUNTARFACTUALS_KERNELS_WRITTEN"  # set in processes that fill the folder
BESIDE = Path(__file__).with_name("compiled")
_PACKAGE = Path(__file__).parent


def folder() -> Path:
    """Where kernels that were compiled ahead are."""
    return Path(os.environ.get(FOLDER) or BESIDE)


class _Ahead(_CacheLocator):
    """The place of a kernel that was compiled ahead: by its module and the content of its file, wherever that is."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._function, self._file = function, file

    def get_cache_path(self) -> str:
        return str(folder() / os.path.relpath(os.path.dirname(self._file), _PACKAGE))

    def get_source_stamp(self) -> str:
        return _checksum(self._file)

    def get_disambiguator(self) -> str:
        return str(self._function.__code__.co_firstlineno)

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Ahead:
        return cls(function, file)


@cache
def _checksum(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


class _AheadImpl(CompileResultCacheImpl):
    _locator_classes = (_Ahead,)


class _AheadCache(FunctionCache):
    _impl_class = _AheadImpl


class _Kept:
    """numba's cache of a kernel, with what was compiled ahead before it."""

    def __init__(self, function: Callable[..., Any], own: Any) -> None:
        self._ahead, self._own = _AheadCache(function), own
        self._is_writing = bool(os.environ.get(WRITING))

    def load_overload(self, signature: Any, context: Any) -> Any:
        found = None
        with suppress(ImportError, AttributeError):  # kernels of another version, which speak of other modules
            found = self._ahead.load_overload(signature, context)
        return found if found is not None or self._is_writing else self._own.load_overload(signature, context)

    def save_overload(self, signature: Any, result: Any) -> None:
        place = self._ahead if self._is_writing else self._own
        os.makedirs(place.cache_path, exist_ok=True)
        place.save_overload(signature, result)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """The decorator of a kernel with further options of numba."""

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = njit(nogil=True, no_cfunc_wrapper=True, **{"pipeline_class": KernelCompiler, **options})(function)
        with suppress(RuntimeError):  # no place can be written to, so that nothing can be kept
            dispatcher.enable_caching()
        if folder().is_dir() or os.environ.get(WRITING):
            dispatcher._cache = _Kept(function, dispatcher._cache)
        return dispatcher

    return decorate


kernel = compiled()
inner = compiled(no_cpython_wrapper=True, pipeline_class=LinkedCompiler)
watch()
