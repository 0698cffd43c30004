"""The open inference protocol, version 2, for tables: what is sent, and what comes back.

1. Numbers and booleans go in one tensor (n, p) where the model's metadata names one input of two dimensions; else each
   column is a tensor (n, 1) of its own, as servers with a codec for frames take it, named as the column.
2. A missing cell is `null`; a column of texts, dates or mixed cells is of type BYTES.
3. Scores are the output that was named, or one whose name tells of probabilities or scores, or the first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np

from countarfactuals.exceptions import listed

Columns = Mapping[str, Sequence[Any]]  # cells as JSON knows them, by name
_PATH, _INFER = "/v2/models/", "/infer"
_TELLING = ("proba", "prob", "score")


class Unreadable(Exception):
    """An answer has no scores that can be read; the text says why."""


def is_of(path: str) -> bool:
    """Whether the path of a URL is of the protocol.

    >>> is_of("/v2/models/loan/infer"), is_of("/predict")
    (True, False)
    """
    return _PATH in path


def infer_url(url: str) -> str:
    """Where rows are sent to; `metadata_url` is the same without the last part.

    >>> infer_url("http://host/v2/models/loan?a=1"), metadata_url("http://host/v2/models/loan/infer")
    ('http://host/v2/models/loan/infer?a=1', 'http://host/v2/models/loan')
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return urlunsplit(parts._replace(path=path if path.endswith(_INFER) else path + _INFER))


def metadata_url(url: str) -> str:
    """Where the model is described."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.removesuffix(_INFER)))


def request(columns: Columns, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a call about some rows.

    >>> request({"age": [20, 30]}, {})["inputs"]
    [{'name': 'age', 'shape': [2, 1], 'datatype': 'INT64', 'data': [20, 30]}]
    """
    n_rows = len(next(iter(columns.values()), []))
    inputs = metadata.get("inputs") or []
    only = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], Mapping) else {}
    if len(only.get("shape") or ()) == 2 and (len(columns) > 1 or only.get("name") not in columns):
        data = [cells[i] for i in range(n_rows) for cells in columns.values()]
        shape = [n_rows, len(columns)]
        tensor = {"name": only["name"], "shape": shape, "datatype": only.get("datatype", "FP64"), "data": data}
        return {"inputs": [tensor]}
    tensors = [_column(name, cells) for name, cells in columns.items()]
    return {"parameters": {"content_type": "pd"}, "inputs": tensors}


def _column(name: str, cells: Sequence[Any]) -> dict[str, Any]:
    kinds = {type(cell) for cell in cells if cell is not None}
    datatype = "BYTES"
    if kinds <= {bool}:
        datatype = "BOOL"
    elif kinds <= {int} and None not in cells:
        datatype = "INT64"
    elif kinds <= {int, float}:
        datatype = "FP64"
    tensor: dict[str, Any] = {"name": name, "shape": [len(cells), 1], "datatype": datatype, "data": list(cells)}
    return tensor | ({"parameters": {"content_type": "str"}} if datatype == "BYTES" else {})


def scores(reply: Any, output: str | None) -> np.ndarray:
    """The scores of an answer, (n, columns); `Unreadable` where it has none.

    >>> scores({"outputs": [{"name": "probabilities", "shape": [2, 1], "datatype": "FP64", "data": [0.1, 0.9]}]}, None)
    array([[0.1],
           [0.9]])
    """
    outputs = reply.get("outputs") if isinstance(reply, Mapping) else None
    if not isinstance(outputs, list) or not outputs or not all(isinstance(tensor, Mapping) for tensor in outputs):
        raise Unreadable("it has no `outputs`")
    chosen = _chosen(outputs, output)
    try:
        values = np.asarray(chosen["data"], np.float64).ravel()
        shape = [int(n) for n in chosen["shape"]]
    except (KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"its output {chosen.get('name')!r} is no tensor of numbers") from error
    if not shape or math.prod(shape) != values.size:
        raise Unreadable(f"its output {chosen.get('name')!r} has {values.size} numbers and the shape {shape}")
    return values.reshape(shape[0], -1)


def _chosen(outputs: Sequence[Mapping[str, Any]], output: str | None) -> Mapping[str, Any]:
    names = [str(tensor.get("name")) for tensor in outputs]
    if output is not None and output not in names:
        raise Unreadable(f"it has no output {output!r}, only {listed(names)}")
    telling = [i for i, name in enumerate(names) if any(part in name.lower() for part in _TELLING)]
    return outputs[names.index(output) if output is not None else telling[0] if telling else 0]
