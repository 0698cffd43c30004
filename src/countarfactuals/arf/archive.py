"""Forests in files without pickle: NumPy arrays and one JSON text in a zip archive.

1. `pack` takes a fitted forest apart into JSON types and arrays; `unpack` puts it together again, of arrays that are
   sound (`soundness`).
2. `write_archive` writes both whole or not at all, with a digest of all of it. `read_archive` reads them with care
   (`stored_arrays`) and compares the digest, the format's name and its version. Files of version 0.1 have no digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from countarfactuals.arf.atoms import Values
from countarfactuals.arf.copula import no_copula
from countarfactuals.arf.forest import Forest, Layout
from countarfactuals.arf.leaves import LeafTable, with_shortcuts
from countarfactuals.arf.soundness import sound_correlations, sound_forest, sound_leaves
from countarfactuals.exceptions import StorageError
from countarfactuals.files import whole_file
from countarfactuals.schema import Schema
from countarfactuals.stored_arrays import read_arrays

# they follow from the rest
_SHORTCUTS = ("inverse", "log_norms", "few_start", "few_logp", "list_column", "list_size", "atoms_of")
_COPULA = ("region", "correlation")
_META = "meta"
_DIGEST = "digest"
# what NumPy, zipfile and json raise for bytes that are not theirs, and what stored values raise where they do not fit
_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    SyntaxError,
    TokenError,  # numpy reads the headers of arrays as Python
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


@contextmanager
def faults_named(path: str | os.PathLike[str]) -> Iterator[None]:
    """What stored values raise where they do not fit, as an error that names the file."""
    try:
        yield
    except StorageError:
        raise
    except _UNREADABLE as error:
        said = f"the key {error}" if isinstance(error, KeyError) else error
        raise StorageError(f"{os.fspath(path)!r} lacks or garbles a part: {said}. Save it again.") from error


def pack(forest: Forest, leaves: LeafTable) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What JSON holds of a forest and its leaves, and the arrays."""
    arrays = {f"forest.{name}": value for name, value in forest._asdict().items() if name != "depth"}
    kept = set(LeafTable._fields) - {"closed", "values", "copula", *_SHORTCUTS}
    arrays |= {f"leaves.{name}": value for name, value in leaves._asdict().items() if name in kept}
    arrays |= {f"values.{name}": value for name, value in leaves.values._asdict().items()}
    arrays |= {f"copula.{name}": getattr(leaves.copula, name) for name in _COPULA}
    return {"depth": forest.depth, "closed": leaves.closed}, arrays


def unpack(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray], schema: Schema) -> tuple[Forest, LeafTable]:
    """The inverse of `pack`; KeyError or ValueError for what can not be walked."""
    layout = Layout.of(schema)
    forest = sound_forest(_under("forest", arrays), layout)
    values, copula = Values.plain(np.zeros(len(schema.columns))), no_copula()
    if "copula.region" in arrays:  # files of version 0.1 have independent leaves and know nothing of values
        values = layout.values
        _compare(values, _under("values", arrays))
        n_numbers = int((layout.n_levels == 0).sum())
        copula = copula._replace(**sound_correlations(_under("copula", arrays), forest.n_leaves, n_numbers))
    found = sound_leaves(_under("leaves", arrays), layout, values, forest.n_leaves)
    rest = dict.fromkeys(_SHORTCUTS)
    leaves = LeafTable(**found, closed=bool(meta["closed"]), values=values, copula=copula, **rest)  # type: ignore[arg-type]
    return forest, with_shortcuts(leaves)


def _under(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays whose names begin so, by the rest of their names."""
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _compare(values: Values, stored: Mapping[str, np.ndarray]) -> None:
    """Refuse stored values that are not those of the schema."""
    if other := [name for name, expected in values._asdict().items() if not np.array_equal(stored[name], expected)]:
        raise ValueError(f"{other[0]!r} does not fit its columns")


def write_archive(path: str | os.PathLike[str], meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write `meta` (JSON types) and `arrays` to a file."""
    text = np.frombuffer(json.dumps(dict(meta), default=_plain).encode(), np.uint8)
    every = {_META: text, **arrays}
    with whole_file(path) as unfinished, unfinished.open("wb") as file:
        np.savez(file, **every, **{_DIGEST: digest_of(every)})  # type: ignore[arg-type]


def digest_of(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """A digest of names, types, shapes and content, whatever the order."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(array.data.cast("B") if array.size else b"")
    return np.frombuffer(digest.digest(), np.uint8)


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
        arrays = read_arrays(Path(path))
        digest = arrays.pop(_DIGEST, None)
        is_whole = digest is None or np.array_equal(digest, digest_of(arrays))
        meta = json.loads(bytes(arrays.pop(_META)))
    except _UNREADABLE as error:
        raise StorageError(
            f"{os.fspath(path)!r} is no readable {format_name} file: it is damaged or was written by something else "
            f"({type(error).__name__}: {error}). Save the object again."
        ) from error
    if not isinstance(meta, dict) or meta.get("format") != format_name:
        found = meta.get("format") if isinstance(meta, dict) else meta
        raise StorageError(f"{os.fspath(path)!r} holds {found!r}, not {format_name!r}.")
    if meta.get("version") not in (version, *older):
        raise StorageError(
            f"{os.fspath(path)!r} has version {meta.get('version')!r} of the {format_name} format, this package reads "
            f"version {version}. Load it with the package version that wrote it ({meta.get('written_by', 'unknown')})."
        )
    if not is_whole:
        raise StorageError(f"{os.fspath(path)!r} is damaged: its digest does not fit what it holds. Save it again.")
    return meta, arrays
