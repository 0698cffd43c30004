"""`countarfactuals compile`: the kernels ahead of time, for images, clusters and packages that can not be written to.

1. Two processes compile what nearly everyone uses (`kernels.json`) into a folder.
2. A terminal is told what and how far; at the end, where the kernels are and how they are found there.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from countarfactuals._ahead import compile_all
from countarfactuals._kernels import BESIDE, FOLDER, WRITING
from countarfactuals.cli.arguments import DONE
from countarfactuals.exceptions import StorageError
from countarfactuals.language import tr

_ERASE = "\r\x1b[K"


def run(options: argparse.Namespace) -> int:
    """Compile; always 0."""
    folder = Path(options.out).resolve() if options.out else BESIDE
    _check_writable(folder)
    started = time.perf_counter()
    total = compile_all(_report, {FOLDER: str(folder), WRITING: "1"})
    if sys.stderr.isatty():
        print(_ERASE, end="", file=sys.stderr)
    seconds = time.perf_counter() - started
    print(tr("{n} kernels are in {folder}, after {seconds:.0f} s.", n=total, folder=str(folder), seconds=seconds))
    if folder != BESIDE:
        print(tr("They are found where the environment says so: {setting}", setting=f"{FOLDER}={folder}"))
    return DONE


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(_refusal(folder, error.strerror)) from error
    if not os.access(folder, os.W_OK):
        raise StorageError(_refusal(folder, "it can not be written to"))


def _refusal(folder: Path, reason: str | None) -> str:
    return f"Kernels can not be kept in '{folder}': {reason}. Give another folder by --out, and name it in {FOLDER}."


def _report(name: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        line = tr("compiled {k} of {n}: {kernel}", k=done, n=total, kernel=name.strip("_"))
        print(f"{_ERASE}{line}", end="", file=sys.stderr, flush=True)
