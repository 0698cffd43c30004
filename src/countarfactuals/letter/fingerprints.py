"""Hashes of model, data and explainer, so that a letter can be traced to them.

1. A model's file is hashed byte for byte, as `sha256sum` does. Without one the fitted model itself is pickled, read
   back and hashed by its content, as joblib does. Reading it back makes it what a later process would load, so that the
   hash is the same there. A function has no content that could be hashed, and some models refuse; of these only class
   and name are, and the letter says so.
2. Data: the columns with their kinds and levels, and the matrix.
3. Explainer: what `save` would store, without the number of threads and the version that wrote it.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
from joblib.hashing import NumpyHasher

from countarfactuals.exceptions import StorageError
from countarfactuals.explainers import Explainer, explainer_file
from countarfactuals.files import checksum
from countarfactuals.letter.contents import CONTENT, DESCRIPTION, FILE, Fingerprint
from countarfactuals.schema import Schema

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType)
_NO_RESULT = ("n_jobs",)  # parameters that change nothing but the time


def fingerprints_of(explainer: Explainer, model_file: str | os.PathLike[str] | None) -> dict[str, Fingerprint]:
    """By "model", "data" and "explainer"."""
    background = explainer.background_
    return {
        "model": model_fingerprint(explainer.model, model_file),
        "data": Fingerprint(CONTENT, _data_digest(background.schema, background.matrix)),
        "explainer": Fingerprint(CONTENT, _explainer_digest(explainer)),
    }


def model_fingerprint(model: Any, model_file: str | os.PathLike[str] | None = None) -> Fingerprint:
    """Of its file, else of its content, else of its description."""
    if model_file is not None:
        return Fingerprint(FILE, _file_digest(model_file))
    if not isinstance(model, _FUNCTIONS):
        try:
            return Fingerprint(CONTENT, NumpyHasher(hash_name="sha256").hash(pickle.loads(pickle.dumps(model))))
        except Exception:  # whatever a model raises when it is taken apart: it can only be described
            pass
    kind = type(model)
    text = f"{kind.__module__}.{kind.__qualname__} {_ADDRESS.sub('', repr(model))}"
    return Fingerprint(DESCRIPTION, hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest())


def _file_digest(path: str | os.PathLike[str]) -> str:
    try:
        return checksum(path)
    except OSError as error:
        raise StorageError(
            f"The model's file {os.fspath(path)!r} can not be read: {error.strerror}. Give the path of the file that "
            "the model came from, or none."
        ) from error


def _data_digest(schema: Schema, matrix: np.ndarray) -> str:
    return _digest({"schema": schema.to_dict()}, {"matrix": matrix})


def _explainer_digest(explainer: Explainer) -> str:
    meta, arrays = explainer_file.contents(explainer)
    parameters = {name: value for name, value in meta["parameters"].items() if name not in _NO_RESULT}
    forest = {name: value for name, value in meta["forest_parameters"].items() if name not in _NO_RESULT}
    kept = {name: value for name, value in meta.items() if name != "written_by"}
    return _digest({**kept, "parameters": parameters, "forest_parameters": forest}, arrays)


def _digest(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(meta, sort_keys=True, default=str).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        digest.update(f"{name} {array.dtype.newbyteorder('<').str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()
