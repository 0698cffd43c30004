"""A server as a process of its own, as users start it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

Process = subprocess.Popen[str]


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "countarfactuals", *map(str, arguments)]


@contextmanager
def server(folder: str, jobs: Path, *options: object, **environment: str) -> Iterator[tuple[str, Process]]:
    """Its address and its process, which is killed in the end if it is still there."""
    arguments = ["serve", "--explainer", folder, "--port", 0, "--no-browser", "--jobs-folder", jobs, *options]
    process = subprocess.Popen(
        command(*arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert "http://" in told, process.communicate(timeout=10)[1]
        yield next(word for word in told.split() if word.startswith("http://")).rstrip("/"), process
    finally:
        process.kill()
        process.wait(10)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
