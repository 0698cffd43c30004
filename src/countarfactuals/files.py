"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from countarfactuals.exceptions import StorageError


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place to write to, beside `path` and moved there when complete: a crash leaves no half of a file.

    What stood at `path` is replaced; if the writing fails, it stays.
    """
    target = Path(path)
    if not target.absolute().parent.is_dir():
        raise StorageError(
            f"There is no folder {os.fspath(target.parent)!r} to write {target.name!r} to. Create it first."
        )
    unfinished = unfinished_beside(target)
    try:
        yield unfinished
        unfinished.replace(target)
    except OSError as error:
        raise StorageError(f"{os.fspath(target)!r} can not be written: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def unfinished_beside(path: Path) -> Path:
    """Where a process writes what shall stand at `path` when it is complete."""
    return path.with_name(f".{path.name}.{os.getpid()}.unfinished")


def is_unfinished(name: str, of: str) -> bool:
    """Whether a file of this name is what a killed process left of one whose name matches the pattern `of`.

    >>> is_unfinished(".forest.npz.4711.unfinished", r"forest\\.(npz|json)")
    True
    """
    return re.fullmatch(rf"\.({of})\.\d+\.unfinished", name) is not None
