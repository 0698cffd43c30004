"""Files that are there whole or not at all."""

from __future__ import annotations

import os
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
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        unfinished.replace(target)
    except OSError as error:
        raise StorageError(f"{os.fspath(target)!r} can not be written: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)
