"""Arrays in zip archives, read with care: a file from elsewhere may claim anything.

1. Members must be stored as they are, as `numpy.savez` stores them. What they claim to hold is then part of the file,
   so that all of them together take no more room than the file does.
2. The header of an array is read first. Its type must be a plain number, and what its shape asks for must be there,
   before any room is made for it.
3. `taken` hands out one array of those that were read: of the type, shape and range that whoever reads it trusts.
"""

from __future__ import annotations

import math
import mmap
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

_MOST_MEMBERS = 100_000
_LONGEST_HEADER = 10_000
_ENTRY = b"PK\x01\x02"  # what begins each entry of an archive's list


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an archive; ValueError, or what `zipfile` raises, for one that can not be trusted."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if _n_entries(file, size) > _MOST_MEMBERS:
            raise ValueError(f"it lists more than {_MOST_MEMBERS:,} arrays")
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if len({member.filename for member in members}) < len(members):
                raise ValueError("it has two arrays of one name")
            if any(member.compress_type != zipfile.ZIP_STORED for member in members):
                raise ValueError("it is compressed")
            if sum(member.file_size for member in members) > size:
                raise ValueError("it claims to hold more than there is")
            return {member.filename.removesuffix(".npy"): _read_array(archive, member) for member in members}


def _n_entries(file: Any, size: int) -> int:
    """At most how many members an archive lists, counted before they are read."""
    if size == 0:
        return 0
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        n, place = 0, content.find(_ENTRY)
        while place >= 0 and n <= _MOST_MEMBERS:
            n, place = n + 1, content.find(_ENTRY, place + len(_ENTRY))
        return n


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(member) as content:
        version = npy.read_magic(content)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{member.filename!r} has version {version} of NumPy's format")
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, is_transposed, dtype = read_header(content, max_header_size=_LONGEST_HEADER)
        if dtype.kind not in "biuf" or dtype.subdtype is not None:
            raise ValueError(f"{member.filename!r} holds {dtype}, not numbers")
        if (
            any(length < 0 for length in shape)
            or math.prod(shape) * dtype.itemsize != member.file_size - content.tell()
        ):
            raise ValueError(f"{member.filename!r} claims the shape {shape}, which is not what it holds")
        flat = np.empty(math.prod(shape), dtype)
        _fill(content, flat.data.cast("B") if flat.nbytes else memoryview(bytearray()))
        return flat.reshape(shape[::-1]).T if is_transposed else flat.reshape(shape)


def _fill(content: Any, room: memoryview) -> None:
    """Read bytes to their place, to the end, where the archive's checksum is compared."""
    done = 0
    while n := content.readinto(room[done:]):
        done += n
    if done < len(room) or content.read(1):
        raise EOFError("an array is cut off")


def taken(
    arrays: Mapping[str, np.ndarray],
    name: str,
    kind: type[np.generic],
    shape: tuple[int | None, ...],
    low: float = -math.inf,
    high: float = math.inf,
    *,
    gaps: bool = False,
    unbounded: bool = False,
) -> np.ndarray:
    """One of the arrays; KeyError where it is not there, ValueError where it is not what it should be.

    Parameters
    ----------
    kind : what its values are converted to, where nothing is lost by it.
    shape : its lengths, None where any will do.
    low, high : between which its values lie.
    gaps, unbounded : whether NaN, and infinite values within `low` and `high`, are allowed.
    """
    array = arrays[name]
    if not np.can_cast(array.dtype, kind):
        raise ValueError(f"{name!r} holds {array.dtype}, not {np.dtype(kind)}")
    if array.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name!r} has the shape {array.shape}")
    array = np.ascontiguousarray(array, kind)
    if array.dtype.kind != "b" and array.size and not _within(array, low, high, gaps, unbounded):
        raise ValueError(f"{name!r} has values that can not be")
    return array


def _within(array: np.ndarray, low: float, high: float, gaps: bool, unbounded: bool) -> bool:
    """Whether all values lie between `low` and `high`; without a copy of them."""
    least, largest = (np.fmin.reduce(array, None), np.fmax.reduce(array, None)) if gaps else (array.min(), array.max())
    if np.isnan(least):
        return gaps  # nothing but gaps
    return bool(low <= least and largest <= high and (unbounded or math.isfinite(float(least) + float(largest) * 0.5)))
