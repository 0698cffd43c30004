"""Ways to damage a file of arrays: bytes, headers, single arrays, the JSON text.

Each takes the content and a generator and gives the damaged content. What changes arrays or the text also puts the
digest right, so that it is the checks behind it that are tried.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from countarfactuals.arf.archive import digest_of

_ODD_NUMBERS = (-1, 0, 1, 2, 7, 10**6, 2**31 - 1, -(2**31), 2**62, 0.5, -1e308, 1e308, 1e-320, np.nan, np.inf, -np.inf)
_ODD_JSON = (
    None,
    [],
    {},
    "",
    "x",
    -1,
    0,
    3,
    10**9,
    10**400,
    1.5,
    1e308,
    float("nan"),
    True,
    [1, 2],
    {"a": 1},
    "é" * 999,
)
_TYPES = ("f4", "f8", ">f8", "i1", "i4", "i8", "u8", "?", "c16", "S3", "U2", "M8[s]", "f2")


def bytes_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Bits flipped, a part lost, doubled or blanked."""
    changed = bytearray(content)
    start = int(rng.integers(len(changed)))
    stop = min(start + int(rng.integers(1, 5000)), len(changed))
    match int(rng.integers(5)):
        case 0 | 1:
            for place in rng.integers(len(changed), size=int(rng.integers(1, 9))).tolist():
                changed[place] ^= 1 << int(rng.integers(8))
        case 2:
            del changed[start:]
        case 3:
            changed[start:start] = changed[start:stop]
        case _:
            changed[start:stop] = bytes(stop - start)
    return bytes(changed)


def arrays_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """One to three arrays changed, the rest as it was."""
    arrays = _read(content)
    names = [name for name in arrays if name != "meta"]
    for name in rng.choice(names, int(rng.integers(1, 4))).tolist():
        if name in arrays:
            _change(arrays, name, names, rng)
    return _written(arrays)


def _change(arrays: dict[str, np.ndarray], name: str, names: list[str], rng: np.random.Generator) -> None:
    array = arrays[name].copy()
    match int(rng.integers(12)):
        case 0 | 1 | 2 | 3:
            _put_odd(array, rng, share=float(rng.choice([0.0, 0.1, 1.0])))
        case 4 | 5:
            if array.size and array.dtype.kind in "if":
                at = int(rng.integers(array.size))
                array.flat[at] += array.dtype.type(rng.choice([-1, 1]))
        case 6:
            rng.shuffle(array.reshape(-1))
        case 7:
            array = array[: int(rng.integers(len(array) + 1))] if array.ndim else array
        case 8:
            array = array.astype(str(rng.choice(_TYPES)), casting="unsafe")
        case 9:
            array = [array[None], array.T, array.reshape(-1), np.concatenate([array, array])][int(rng.integers(4))]
        case 10:
            del arrays[name]
            return
        case _:
            array = arrays.get(str(rng.choice(names)), array)
    arrays[name] = array


def _put_odd(array: np.ndarray, rng: np.random.Generator, share: float) -> None:
    if array.size == 0:
        return
    which = rng.random(array.size) < share
    which[int(rng.integers(array.size))] = True
    number = np.float64(_ODD_NUMBERS[int(rng.integers(len(_ODD_NUMBERS)))])
    with np.errstate(all="ignore"):
        array.reshape(-1)[which] = number.astype(array.dtype)


def text_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Something in the JSON text is another value, twice there, or gone."""
    arrays = _read(content)
    meta = json.loads(bytes(arrays["meta"]))
    for _ in range(int(rng.integers(1, 3))):
        _change_json(meta, rng)
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    return _written(arrays)


def _change_json(meta: Any, rng: np.random.Generator) -> None:
    node = meta
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = keys[int(rng.integers(len(keys)))]
        if not isinstance(node[key], dict | list) or not node[key] or rng.random() < 0.1:
            break
        node = node[key]
    match int(rng.integers(4)):
        case 0:
            del node[key]
        case 1 if isinstance(node, list):
            node.append(node[key])
        case _:
            node[key] = _ODD_JSON[int(rng.integers(len(_ODD_JSON)))]


def headers_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Claims of what is not there: shapes of terabytes, bombs, sizes in the archive's list."""
    match int(rng.integers(3)):
        case 0:
            return _with_shape(content, rng)
        case 1:
            return _bomb(content, rng)
        case _:
            return _with_sizes(content, rng)


def _with_shape(content: bytes, rng: np.random.Generator) -> bytes:
    """One array claims another shape, up to 8 TB."""
    shape = [(10**12,), (2**40, 1), (-1,), (2**63, 2**63), (0,), (10**6, 10**6), ()][int(rng.integers(7))]
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(written, "w") as new:
        chosen = str(rng.choice(old.namelist()))
        for name in old.namelist():
            data = old.read(name)
            if name == chosen:
                header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
                data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data[-64:]
            new.writestr(name, data)
    return written.getvalue()


def _bomb(content: bytes, rng: np.random.Generator) -> bytes:
    """Compressed members that unpack to a hundred times the file."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        new.writestr("bomb.npy", bytes(int(rng.integers(10**6, 10**8))))
    return written.getvalue()


def _with_sizes(content: bytes, rng: np.random.Generator) -> bytes:
    """A size or place in the list at the archive's end is another one."""
    changed = bytearray(content)
    start = content.find(b"PK\x01\x02")
    entries = [i for i in range(start, len(content) - 46) if content[i : i + 4] == b"PK\x01\x02"]
    entry = entries[int(rng.integers(len(entries)))]
    offset = [20, 24, 42][int(rng.integers(3))]  # packed size, size, place of the member
    value = int(rng.choice([0, 1, 100, 10**6, 2**31, 2**32 - 1]))
    changed[entry + offset : entry + offset + 4] = struct.pack("<I", value)
    return bytes(changed)


WAYS: tuple[Callable[[bytes, np.random.Generator], bytes], ...] = (
    bytes_changed,
    arrays_changed,
    arrays_changed,
    arrays_changed,
    text_changed,
    text_changed,
    headers_changed,
)


def _read(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content)) as archive:
        return {name: archive[name] for name in archive.files if name != "digest"}


def _written(arrays: dict[str, np.ndarray]) -> bytes:
    written = io.BytesIO()
    is_plain = all(array.dtype.kind in "biuf" and array.dtype.isnative for array in arrays.values())
    np.savez(written, **arrays, **({"digest": digest_of(arrays)} if is_plain else {}))
    return written.getvalue()
