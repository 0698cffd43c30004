"""Files that are there whole or not at all.

1. What is written goes to a name of its own beside the target: no other thread, process or machine that shares the
   folder has the same one.
2. The file is flushed to the disk, moved over the target in one step, and the folder is flushed too, so that a reader
   sees the old content or the new one, also after the power fails.
3. Names of unfinished files can be told (`is_unfinished`), so that what a killed process left is swept later.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
        flush(unfinished)
        unfinished.replace(target)
        flush(target.absolute().parent)
    except OSError as error:
        raise StorageError(f"{os.fspath(target)!r} can not be written: {error}") from error
    finally:
        with suppress(OSError):  # where nothing could be written, nothing can be removed
            unfinished.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file as `whole_file` does; text is UTF-8, and its lines end alike on every system."""
    with whole_file(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


def checksum(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, byte for byte."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def flush(path: Path) -> None:
    """Wait until a file, or a folder's list of files, is on the disk; systems that can not do it for folders do not."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unfinished_beside(path: Path) -> Path:
    """A new name for what shall stand at `path` when it is complete; short, as a name has 255 bytes at most."""
    return path.with_name(f".{path.name[:50]}.{os.getpid()}-{secrets.token_hex(8)}.unfinished")


def is_unfinished(name: str, of: str) -> bool:
    """Whether a file of this name is what a killed process left of one whose name matches the pattern `of`.

    >>> is_unfinished(".forest.npz.4711-00f1e2d3c4b5a697.unfinished", r"forest\\.(npz|json)")
    True
    """
    return re.fullmatch(rf"\.({of})\.\d+(-[0-9a-f]{{16}})?\.unfinished", name) is not None
