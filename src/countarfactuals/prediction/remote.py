"""Models that are asked over HTTP: rows as JSON, or the open inference protocol (version 2).

| protocol | asked with | answered with |
|---|---|---|
| "rows" | `{"rows": [{column: cell}]}` | `{"predictions": […]}` or a list |
| "instances" | the same under "instances", as KServe and TensorFlow Serving take it | the same |
| "dataframe_records" | the same under "dataframe_records", as MLflow takes it | the same |
| "v2" | one tensor per column, or one of all numbers where the model's metadata asks for it | `{"outputs": […]}` |

A prediction is a number, a list of numbers, or an object with "scores" or "probabilities". A missing cell is `null`;
dates and times are ISO texts.

1. A call that fails because of the network, of too little time, or with a status that says "later" is tried again,
   after a pause that doubles, or that the service asks for.
2. After all tries failed, the service is tried once per call until it answers, so that many rows do not wait in vain.
3. Everything else is an error at once: another try would give the same.
4. An answer is read up to `most_bytes` and within `timeout` seconds in all, however slowly it drips.
"""

from __future__ import annotations

import http.client
import json
import math
import textwrap
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any
from urllib.parse import SplitResult, urlsplit

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from countarfactuals.exceptions import ModelError, ParameterError
from countarfactuals.parameters import check_choice, check_float, check_int
from countarfactuals.prediction import inference_protocol
from countarfactuals.prediction.inference_protocol import Unreadable

_UNDER = ("rows", "instances", "dataframe_records")
_UNDER_NAMES = ("scores", "probabilities")  # of an object that is one prediction
_V2 = "v2"
_PROTOCOLS = (*_UNDER, _V2)
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0  # seconds
_MOST_BYTES = 200_000_000
_CHUNK = 65536
_SHORTEST, _LONGEST = 1e-3, 1e6  # seconds
_SHOWN = 200  # characters of what a service says of an error


class _Later(Exception):
    """A failure that another try may mend, and the pause that the service asks for."""

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


class RemoteModel:
    """A prediction service as a function from a frame to scores.

    Parameters
    ----------
    url : where rows are sent to, http or https.
    protocol : "rows", "instances", "dataframe_records" or "v2"; None for "v2" where the path of the URL is one of it,
        `/v2/models/NAME` or `/v2/models/NAME/infer`, else for "rows".
    timeout : seconds that one try may take.
    tries : how often a call is tried.
    headers : of every call, such as {"Authorization": "Bearer …"}.
    output : with "v2" the name of the output tensor; None for one that is named like probabilities, else the first.
    most_at_once : how many calls run at a time, where rows are asked about apart.
    most_bytes : most bytes of an answer.
    """

    def __init__(
        self,
        url: str,
        *,
        protocol: str | None = None,
        timeout: float = 30.0,
        tries: int = 4,
        headers: Mapping[str, str] | None = None,
        output: str | None = None,
        most_at_once: int = 8,
        most_bytes: int = _MOST_BYTES,
    ) -> None:
        check_choice("protocol", protocol, (None, *_PROTOCOLS))
        check_float("timeout", timeout, _SHORTEST, _LONGEST)
        for name, number in (("tries", tries), ("most_at_once", most_at_once), ("most_bytes", most_bytes)):
            check_int(name, number, 1)
        parts = _checked_url(url)
        self.protocol = protocol or (_V2 if inference_protocol.is_of(parts.path) else "rows")
        self.url = inference_protocol.infer_url(url) if self.protocol == _V2 else url
        self.timeout = timeout
        self.tries = tries
        self.headers = dict(headers or {})
        self.output = output
        self.most_at_once = most_at_once
        self.most_bytes = most_bytes
        self._is_down = False
        self._metadata: Mapping[str, Any] | None = None

    @property
    def __name__(self) -> str:
        """Host and path, without what may be secret."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def __repr__(self) -> str:
        return f"RemoteModel({self.__name__!r}, protocol={self.protocol!r})"

    def __call__(self, frame: Any) -> np.ndarray:
        """The scores of a frame."""
        columns = _columns(frame)
        if self.protocol == _V2:
            reply = self._asked(inference_protocol.request(columns, self._described()))
        else:
            reply = self._asked({self.protocol: _records(columns)})
        try:
            return inference_protocol.scores(reply, self.output) if self.protocol == _V2 else _scores(reply)
        except Unreadable as error:
            raise self._error(f"its answer can not be read: {error}", "Check the URL and `protocol`.") from error

    def ask_each(self, frames: Sequence[Any]) -> list[Any]:
        """The scores of each frame, or the exception that asking about it gave; some calls run at a time."""
        with ThreadPoolExecutor(min(self.most_at_once, max(len(frames), 1))) as pool:
            pending = [pool.submit(self, frame) for frame in frames]
            return [asked.exception() or asked.result() for asked in pending]

    def _described(self) -> Mapping[str, Any]:
        """What the service says of the model's inputs, asked once; nothing where it does not say."""
        if self._metadata is None:
            try:
                reply = self._sent(inference_protocol.metadata_url(self.url), None)
            except (_Later, ModelError):
                reply = {}
            self._metadata = reply if isinstance(reply, Mapping) else {}
        return self._metadata

    def _asked(self, body: Mapping[str, Any]) -> Any:
        """What the service answers, after as many tries as it may have."""
        content = json.dumps(body, allow_nan=False).encode()
        for pause in [*_pauses(1 if self._is_down else self.tries), None]:
            try:
                reply = self._sent(self.url, content)
            except _Later as error:
                if pause is None:
                    self._is_down = True
                    raise self._error(f"{error}{self._after_tries()}", "Check that the service runs.") from error
                time.sleep(pause if error.pause is None else min(error.pause, _LONGEST_PAUSE))
            else:
                self._is_down = False
                return reply
        raise AssertionError  # the last try returns or raises

    def _after_tries(self) -> str:
        return f", and so in {self.tries} tries" if self.tries > 1 else ""

    def _sent(self, url: str, content: bytes | None) -> Any:
        """One try."""
        headers = {"Accept": "application/json", **({"Content-Type": "application/json"} if content else {})}
        call = urllib.request.Request(url, content, headers | self.headers)
        latest = time.monotonic() + self.timeout
        try:
            with urllib.request.urlopen(call, timeout=self.timeout) as response:
                read = b"".join(self._chunks(response, latest))
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from error
        except TimeoutError as error:
            raise _Later(f"it did not answer within {self.timeout:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            if isinstance(getattr(error, "reason", None), TimeoutError):
                raise _Later(f"it did not answer within {self.timeout:g} s") from error
            raise _Later(f"it can not be reached ({getattr(error, 'reason', None) or error!r})") from error
        try:
            return json.loads(read)
        except ValueError as error:
            shown = _shown(read)
            raise self._error(f"its answer is no JSON: {shown!r}", "Check the URL.") from error

    def _chunks(self, response: http.client.HTTPResponse, latest: float) -> Iterator[bytes]:
        """What is read bit by bit, as a service that drips would never let a single read run out of time."""
        n_bytes = 0
        while chunk := response.read1(_CHUNK):
            n_bytes += len(chunk)
            if n_bytes > self.most_bytes:
                raise self._error(f"its answer has more than {self.most_bytes} bytes", "Raise `most_bytes` if need be.")
            if time.monotonic() > latest:
                raise TimeoutError
            yield chunk

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        reply = _shown(error.read(_CHUNK))
        reason = f"it answered with status {error.code}{f': {reply}' if reply else ''}"
        if error.code in _LATER:
            return _Later(reason, _seconds(error.headers.get("Retry-After")))
        return self._error(reason, "Check the URL, `headers` and the columns that it takes.")

    def _error(self, reason: str, todo: str) -> ModelError:
        return ModelError(f"The model at {self.__name__} failed: {reason.rstrip('.')}. {todo}")

    def __getstate__(self) -> dict[str, Any]:
        """Whether the service is down is for each process to find out."""
        return vars(self) | {"_is_down": False}


def _pauses(tries: int) -> list[float]:
    """Seconds before each further try.

    >>> _pauses(4)
    [0.25, 0.5, 1.0]
    """
    return [min(_FIRST_PAUSE * 2.0**i, _LONGEST_PAUSE) for i in range(tries - 1)]


def _checked_url(url: Any) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except (TypeError, ValueError, AttributeError):
        is_usable = False
    if not is_usable:
        raise ParameterError(f"The URL of a model must begin with http:// or https:// and name a host, got {url!r}.")
    return parts


def _columns(frame: Any) -> dict[str, list[Any]]:
    """The cells of a frame or array as JSON knows them, by column; those of an array are named by their number."""
    if isinstance(frame, np.ndarray):
        cells: dict[str, list[Any]] = {str(j): column.tolist() for j, column in enumerate(frame.T)}
    else:
        cells = {str(name): list(column) for name, column in nw.from_native(frame).to_dict(as_series=False).items()}
    return {name: [_plain(cell) for cell in column] for name, column in cells.items()}


def _records(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _plain(cell: Any) -> Any:
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is None or cell is pd.NA or cell != cell:
        return None
    if isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    return cell.isoformat() if isinstance(cell, date) else str(cell)


def _scores(reply: Any) -> np.ndarray:
    """The scores in an answer, (n, columns); `Unreadable` where it has none."""
    every = reply.get("predictions") if isinstance(reply, Mapping) else reply
    if not isinstance(every, list) or not every:
        raise Unreadable("it is neither a list nor an object with a list of `predictions`")
    try:
        scores = np.asarray([_of_one(score) for score in every], np.float64)
    except (TypeError, ValueError) as error:
        raise Unreadable(
            f"not every prediction is a number or a list of as many numbers ({_shown(every[0])})"
        ) from error
    return scores.reshape(len(every), -1)


def _of_one(prediction: Any) -> Any:
    if isinstance(prediction, Mapping):
        return next((prediction[name] for name in _UNDER_NAMES if name in prediction), None)
    return prediction


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text) if text else math.nan
    except ValueError:  # a date
        return None
    return seconds if seconds >= 0.0 else None


def _shown(reply: Any) -> str:
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else str(reply)
    return textwrap.shorten(text, _SHOWN, placeholder=" …")
