"""Disks that are full, read-only or forbidden: an error of ours, nothing unfinished, and what was there stays.

1. Full: a file may not grow beyond a random size; and a small file system in memory, where one can be mounted.
2. Forbidden: the folder is not writable for the user whose rights the forked process has; needs root to change them.
3. Read-only: the small file system mounted anew.

What can not be made here is skipped, and said so. Run it: `python -m tests.torture.disks 20`
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from countarfactuals.exceptions import CountarfactualsError
from tests.torture.chores import FIT, FOREST, REPORT, SAVE, Chore, Failed
from tests.torture.forks import forked

_NOBODY = 65534
_CHORES = (SAVE, FOREST, REPORT, FIT)
_OURS = 7  # the exit code of a chore that ended by an error of ours
_LARGEST = 200_000


def attack(count: int, seed: int) -> dict[str, Any]:
    """How many of the attempts ended by a foreign error or a damaged file; what was skipped, and why."""
    rng = np.random.default_rng(seed)
    figures: Counter[str] = Counter({"attempts": 0, "refused by us": 0, "foreign errors": 0, "damaged": 0})
    for k in range(count):
        _full(_CHORES[k % len(_CHORES)], int(rng.integers(0, _LARGEST)), figures)
    skipped = []
    if os.geteuid() == 0:
        for chore in (SAVE, FOREST, REPORT):
            _forbidden(chore, figures)
    else:
        skipped.append("forbidden folders: needs root")
    for kind in ("full", "read-only"):
        with _small_disk() as folder:
            if folder is None:
                skipped.append(f"a {kind} file system: none can be mounted")
                continue
            _on_disk(folder, kind, figures)
    return {**figures, **({"skipped": "; ".join(skipped)} if skipped else {})}


def _guarded(chore: Chore, folder: Path) -> None:
    """The chore; an error of ours ends the process by a code of its own."""
    try:
        chore.do(folder)
    except (CountarfactualsError, Failed):
        os._exit(_OURS)


def _judge(chore: Chore, folder: Path, code: int, figures: Counter[str]) -> None:
    figures["attempts"] += 1
    figures["refused by us"] += code == _OURS
    figures["foreign errors"] += code not in (0, _OURS)
    try:
        figures["damaged"] += not chore.is_whole(folder)
    except Exception as error:
        print(f"{chore.name}: {type(error).__name__}: {error}", file=sys.stderr)
        figures["damaged"] += 1


def _full(chore: Chore, size: int, figures: Counter[str]) -> None:
    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        _guarded(chore, folder)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chore.do(folder)
        _judge(chore, folder, forked(work), figures)


def _forbidden(chore: Chore, figures: Counter[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chore.do(folder)
        folder.chmod(0o555)
        _judge(chore, folder, forked(lambda: _guarded(chore, folder), user=_NOBODY), figures)


def _on_disk(folder: Path, kind: str, figures: Counter[str]) -> None:
    chore = SAVE
    chore.do(folder)
    if kind == "full":
        with contextlib.suppress(OSError):
            (folder / "filler").write_bytes(bytes(2**24))
    else:
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True, capture_output=True)
    _judge(chore, folder, forked(lambda: _guarded(chore, folder)), figures)


@contextlib.contextmanager
def _small_disk() -> Iterator[Path | None]:
    """A file system of two megabytes; None where none can be mounted."""
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder]
        try:
            is_mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0
        except OSError:
            is_mounted = False
        try:
            yield Path(folder) if is_mounted else None
        finally:
            if is_mounted:
                subprocess.run(["umount", folder], check=True, capture_output=True)


if __name__ == "__main__":
    print(attack(int(sys.argv[1]), seed=1))
