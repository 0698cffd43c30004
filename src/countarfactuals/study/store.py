"""The files of a study. Each is written whole or not at all, so that a process may be killed at any time.

OUT/design.json                              what is studied; a study is only resumed with the same
OUT/data/<set>/…                             generated data, in the published layout
OUT/work/<set>/forest.npz, forest.json       what all methods share, the forest and other judges, and its seconds
OUT/work/<set>/<method>/fit.json             seconds of what the method fits on its own
OUT/work/<set>/<method>/<instance>.parquet   candidates of one explanation, its seconds in the metadata
OUT/environment.json                         every environment that worked on the study, the first one first
OUT/figures/…                                pictures
OUT/…                                        tables and the report, see `study`

A folder may hold files of others, a folder that becomes a study may not. What killed processes left is removed by
exact names in exact places, so that no other file is touched.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from countarfactuals._optional import optional
from countarfactuals.exceptions import StorageError, listed
from countarfactuals.files import is_unfinished, unfinished_beside, whole_file

needed = partial(optional, what="The study needs", extra="study")
_META = b"countarfactuals.study"
_DIGEST = b"countarfactuals.digest"
DESIGN, ENVIRONMENT, REPORT, CANDIDATES = "design.json", "environment.json", "report.html", "counterfactuals.parquet"
TABLES = ("per_instance", "summary", "pooled_correlations", "fit_seconds", "trade_off", "calibration", "findings")
FIGURES = ("boxes", "attainment_distance", "attainment_changed", "correlations", "calibration")


def replace(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file by a function of its path; a crash leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as unfinished:
        write(unfinished)


@contextmanager
def finished_folder(path: Path) -> Iterator[Path]:
    """A folder that appears under its name when all of it is written."""
    unfinished = unfinished_beside(path)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        try:
            unfinished.rename(path)
        except OSError:
            if not path.is_dir():  # else a process that outlived its study has written the same
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def write_json(path: Path, content: Any) -> None:
    """JSON for people to read."""
    replace(path, lambda place: place.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8"))


def read_json(path: Path) -> Any:
    """What `write_json` wrote."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_csv(path: Path, frame: pd.DataFrame) -> None:
    """A table; numbers have as many digits, up to 17, as they need to be read back the same."""
    replace(path, lambda place: frame.to_csv(place, index=False, lineterminator="\n"))


def write_parquet(path: Path, frame: pd.DataFrame, meta: dict[str, Any] | None = None) -> None:
    """A table and what is known of it, with a digest of both and checksums of its pages."""
    arrow, parquet = needed("pyarrow"), needed("pyarrow.parquet")
    table = arrow.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    text = json.dumps(meta or {}).encode()
    table = table.replace_schema_metadata({_META: text, _DIGEST: _digest(text, table.to_pandas())})
    replace(path, lambda place: parquet.write_table(table, place, write_page_checksum=True))


def read_parquet(path: Path) -> pd.DataFrame:
    """The table that `write_parquet` wrote; StorageError for one that was damaged since."""
    try:
        table = needed("pyarrow.parquet").read_table(path, page_checksum_verification=True)
        meta = table.schema.metadata or {}
        frame = table.replace_schema_metadata(None).to_pandas()
        is_whole = _META in meta and meta.get(_DIGEST, b"") in (b"", _digest(meta[_META], frame))
    except (OSError, ValueError, ArithmeticError, LookupError, TypeError, NotImplementedError, MemoryError) as error:
        raise StorageError(f"{str(path)!r} is damaged: {error}. Resume the study, which makes it anew.") from error
    if not is_whole:
        raise StorageError(f"{str(path)!r} is damaged: its digest does not fit. Resume the study, which makes it anew.")
    return frame


def _digest(text: bytes, frame: pd.DataFrame) -> bytes:
    """A digest of what is known of a table and of all of its cells."""
    digest = hashlib.sha256(text)
    for name in frame:
        values = frame[name].to_numpy()
        digest.update(f"{name!r} {values.dtype}".encode())
        digest.update(values.tobytes() if values.dtype.kind in "biuf" else repr(values.tolist()).encode())
    return digest.hexdigest().encode()


def read_meta(path: Path) -> dict[str, Any]:
    """What is known of the table, without reading it."""
    found: dict[str, Any] = json.loads(needed("pyarrow.parquet").read_schema(path).metadata[_META])
    return found


class Store:
    """The places of a study's files."""

    def __init__(self, out: str | Path) -> None:
        self.out = Path(out)

    @property
    def data(self) -> Path:
        """Where generated data lies."""
        return self.out / "data"

    def forest(self, dataset: str) -> Path:
        """The shared forest, an explainer's file."""
        return self.out / "work" / dataset / "forest.npz"

    def forest_record(self, dataset: str) -> Path:
        """Written after the forest: its seconds and what it is like."""
        return self.out / "work" / dataset / "forest.json"

    def fit_record(self, dataset: str, method: str) -> Path:
        """Seconds of a method's own fit."""
        return self.out / "work" / dataset / method / "fit.json"

    def explanation(self, dataset: str, method: str, instance: int) -> Path:
        """Candidates of an explanation; instances count from 1, as published."""
        return self.out / "work" / dataset / method / f"{instance:03d}.parquet"

    def begin(self, identity: dict[str, Any], resume: bool) -> None:
        """Claim the folder for a study, or find that it holds the same one."""
        path = self.out / DESIGN
        if not path.exists():
            self._claim()
            write_json(path, identity)
            return
        if not resume:
            raise StorageError(
                f"{str(self.out)!r} holds a study already. Pass --resume to go on with it, or give another folder."
            )
        begun = self._design()
        if other := [name for name in identity if begun.get(name) != identity[name]]:
            raise StorageError(
                f"The study in {str(self.out)!r} has another {listed(other)}, such as {begun.get(other[0])!r} instead "
                f"of {identity[other[0]]!r}. Resume it with the options it was begun with, or give another folder."
            )

    def _claim(self) -> None:
        """Refuse a folder that holds anything but what a study leaves that was killed at its very start."""
        if self.out.exists() and not self.out.is_dir():
            raise StorageError(f"{str(self.out)!r} is a file. Give a new folder.")
        there = sorted(self.out.iterdir()) if self.out.exists() else []
        if foreign := [path.name for path in there if not is_unfinished(path.name, re.escape(DESIGN))]:
            raise StorageError(
                f"{str(self.out)!r} is not empty and holds no study: it has {listed(foreign, 3)} but no {DESIGN!r}. "
                "Give a new folder."
            )

    def _design(self) -> dict[str, Any]:
        try:
            content = read_json(self.out / DESIGN)
        except ValueError:
            content = None
        if not isinstance(content, dict):
            raise StorageError(f"{str(self.out / DESIGN)!r} is not the design of a study. Give a new folder.")
        return content

    def record_environment(self, environment: dict[str, Any]) -> list[dict[str, Any]]:
        """Add an environment to those that worked on the study, unless the last one was the same; all of them."""
        path = self.out / ENVIRONMENT
        found = read_json(path) if path.exists() else {"environments": []}
        every: list[dict[str, Any]] = found.get("environments", [found])  # once there was one only
        if not every or _without_date(every[-1]) != _without_date(environment):
            every = [*every, environment]
        write_json(path, {"environments": every})
        return every

    def environments(self) -> list[dict[str, Any]]:
        """Every environment that worked on the study."""
        found: list[dict[str, Any]] = read_json(self.out / ENVIRONMENT)["environments"]
        return found

    def sweep(self, datasets: Iterable[str], methods: Iterable[str]) -> None:
        """Remove what killed processes left unfinished, and nothing else; no other may be at work."""
        datasets = list(datasets)
        for folder, names in self._files(datasets, list(methods)):
            for path in _inside(folder):
                if is_unfinished(path.name, names) and path.is_file() and not path.is_symlink():
                    path.unlink(missing_ok=True)
        for path in _inside(self.data):
            if is_unfinished(path.name, _one_of(datasets)) and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)

    def _files(self, datasets: list[str], methods: list[str]) -> Iterator[tuple[Path, str]]:
        """Each folder that files are written to, and their names there, as a pattern."""
        tables = [f"{name}.csv" for name in TABLES]
        yield self.out, _one_of([DESIGN, ENVIRONMENT, REPORT, CANDIDATES, *tables])
        pictures = _one_of([*FIGURES, *(f"pairs_{name}" for name in datasets)])
        yield self.out / "figures", rf"({pictures})\.(png|pdf)"
        for dataset in datasets:
            yield self.out / "work" / dataset, r"forest\.(json|npz)"
            for method in methods:
                yield self.out / "work" / dataset / method, r"fit\.json|\d{3,}\.parquet"


def _one_of(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, names))


def _inside(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _without_date(environment: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in environment.items() if name != "written"}
