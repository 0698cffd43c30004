"""Files without pickle: NumPy arrays and one JSON text in a zip archive.

Reading checks the archive's checksums, the format's name and version, and that every array is there.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from countarfactuals.exceptions import StorageError
from countarfactuals.files import whole_file

_META = "meta"
# what NumPy, zipfile and json raise for bytes that are not theirs
_UNREADABLE = (
    ValueError,
    KeyError,
    OSError,
    EOFError,
    TypeError,
    AttributeError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


def write_archive(path: str | os.PathLike[str], meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write `meta` (JSON types) and `arrays` to a file."""
    text = np.frombuffer(json.dumps(dict(meta), default=_plain).encode(), np.uint8)
    with whole_file(path) as unfinished, unfinished.open("wb") as file:
        np.savez(file, **{_META: text, **arrays})  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    """A NumPy scalar as JSON knows it."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} can not be stored")


def read_archive(
    path: str | os.PathLike[str], format_name: str, version: int, older: Collection[int] = ()
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The meta text and the arrays of a file of the given format; versions but this and some older are refused."""
    if not Path(path).is_file():
        raise StorageError(f"There is no file {os.fspath(path)!r}. Give the path that was passed to `save`.")
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        meta = json.loads(bytes(arrays.pop(_META)))
    except _UNREADABLE as error:
        raise StorageError(
            f"{os.fspath(path)!r} is no readable {format_name} file: it is damaged or was written by something else "
            f"({type(error).__name__}). Save the object again."
        ) from error
    if not isinstance(meta, dict) or meta.get("format") != format_name:
        found = meta.get("format") if isinstance(meta, dict) else meta
        raise StorageError(f"{os.fspath(path)!r} holds {found!r}, not {format_name!r}.")
    if meta.get("version") not in (version, *older):
        raise StorageError(
            f"{os.fspath(path)!r} has version {meta.get('version')!r} of the {format_name} format, this package reads "
            f"version {version}. Load it with the package version that wrote it ({meta.get('written_by', 'unknown')})."
        )
    return meta, arrays
