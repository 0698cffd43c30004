"""Compiling ahead, in two processes, and what is told meanwhile.

1. `compile_all` starts two processes. One takes the list of kernels from its beginning, the other from its end; what
   one has compiled the other loads, so that they meet in the middle. Each tells in a line what it has done.
2. `FirstUse` hears when a kernel is compiled because it is needed now. At the first one, where a person
   waits, a process is started that compiles the others from the end of the list, as the program comes to them last.
3. A terminal is told what is compiled and how far it is, once that takes longer than two seconds.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from numba.core import event

from countarfactuals.exceptions import StorageError

ALONE = "COUNTARFACTUALS_COMPILE_ALONE"  # set where no second process shall compile, as in that process itself
_FORWARDS, _BACKWARDS = "forwards", "backwards"
_PATIENCE = 2.0  # seconds until a terminal is told
_ERASE = "\r\x1b[K"


def compile_all(report: Callable[[str, int, int], None], environment: dict[str, str]) -> int:
    """Compile every kernel of the list; `report` is told the last one, how many are done, and of how many."""
    from countarfactuals._signatures import load

    total, done = len(load()), set[str]()
    lines: SimpleQueue[str | None] = SimpleQueue()
    helpers = [_start(way, environment, subprocess.PIPE) for way in (_FORWARDS, _BACKWARDS)]
    readers = [Thread(target=_pass_on, args=(helper, lines), daemon=True) for helper in helpers]
    for reader in readers:
        reader.start()
    try:
        for line in _until_ended(lines, len(readers)):
            done.add(line)
            report(line.split()[-1], len(done), total)
    finally:
        for helper in helpers:
            helper.kill() if helper.poll() is None and len(done) < total else helper.wait()
    if failed := [helper for helper in helpers if helper.wait() != 0]:
        raise StorageError(f"A process that compiles ended with code {failed[0].returncode}. Its message stands above.")
    return total


def _until_ended(lines: SimpleQueue[str | None], n: int) -> Iterator[str]:
    """What n processes say, until all have ended."""
    while n:
        line = lines.get()
        if line is None:
            n -= 1
        else:
            yield line


def _pass_on(helper: subprocess.Popen[str], lines: SimpleQueue[str | None]) -> None:
    assert helper.stdout is not None
    for line in helper.stdout:
        lines.put(line.strip())
    lines.put(None)


def _start(way: str, environment: dict[str, str], out: int) -> subprocess.Popen[str]:
    source = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    told = {**os.environ, **environment, ALONE: "1", "PYTHONPATH": path}
    return subprocess.Popen([sys.executable, "-m", __name__, way], stdout=out, env=told, text=True)


class FirstUse(event.Listener):
    """What happens when kernels are compiled because they are needed now."""

    def __init__(self) -> None:
        self._depth, self._began, self._names = 0, 0.0, list[str]()

    def on_start(self, what: Any) -> None:
        """A kernel is about to be compiled, maybe for another one."""
        self._depth += 1
        if self._depth > 1 or not _is_ours(what):
            return
        if not self._names:
            self._get_help()
        self._began = self._began or time.perf_counter()
        if time.perf_counter() - self._began > _PATIENCE and sys.stderr.isatty():
            _tell(_name(what), self._names)

    def on_end(self, what: Any) -> None:
        """It is compiled."""
        self._depth -= 1
        if self._depth == 0 and _is_ours(what) and sys.stderr.isatty():
            print(_ERASE, end="", file=sys.stderr, flush=True)

    def _get_help(self) -> None:
        """A second process, where there is a core for it and a person waits."""
        from countarfactuals._signatures import load

        self._names = [entry.name for entry in load()]
        if (os.cpu_count() or 1) > 1 and _somebody_waits():
            helper = _start(_BACKWARDS, {}, subprocess.DEVNULL)
            atexit.register(helper.kill)


def _somebody_waits() -> bool:
    """At a terminal or in a notebook. Workers, tests and services share their cores with others who compile too."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def watch() -> None:
    """Hear of kernels that are compiled."""
    if ALONE not in os.environ:
        event.register("numba:compile", FirstUse())


def _is_ours(what: Any) -> bool:
    return what.data["dispatcher"].py_func.__module__.startswith("countarfactuals.")


def _name(what: Any) -> str:
    return str(what.data["dispatcher"].py_func.__name__)


def _tell(name: str, listed: list[str]) -> None:
    from countarfactuals.language import tr

    line = tr("compiling for the first use: {kernel}", kernel=name.strip("_"))
    far = f" ({listed.index(name) + 1}/{len(listed)})" if name in listed else ""
    print(f"{_ERASE}countarfactuals: {line}{far}", end="", file=sys.stderr, flush=True)


def _help(way: str) -> None:
    """Compile the list from one of its ends; each kernel is told in a line."""
    from countarfactuals._signatures import load

    entries = load()
    for number, entry in enumerate(entries) if way == _FORWARDS else reversed(list(enumerate(entries))):
        entry.compile()
        print(number, entry.name, flush=True)


if __name__ == "__main__":
    _help(sys.argv[1])
