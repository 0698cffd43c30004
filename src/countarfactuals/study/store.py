"""The files of a study. Each is written whole or not at all, so that a process may be killed at any time.

OUT/design.json                              what is studied; a study is only resumed with the same
OUT/data/<set>/…                             generated data, in the published layout
OUT/work/<set>/forest.npz, forest.json       the forest that all methods share, and its seconds
OUT/work/<set>/<method>/fit.json             seconds of what the method fits on its own
OUT/work/<set>/<method>/<instance>.parquet   candidates of one explanation, its seconds in the metadata
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from countarfactuals.exceptions import MissingDependencyError, StorageError, listed

_META = b"countarfactuals.study"


def replace(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file by a function of its path; a crash leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        write(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def finished_folder(path: Path) -> Iterator[Path]:
    """A folder that appears under its name when all of it is written."""
    unfinished = path.with_name(f".{os.getpid()}.{path.name}")
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
    """A table, with ten digits."""
    replace(path, lambda place: frame.to_csv(place, index=False, float_format="%.10g", lineterminator="\n"))


def write_parquet(path: Path, frame: pd.DataFrame, meta: dict[str, Any] | None = None) -> None:
    """A table and what is known of it."""
    arrow, parquet = _arrow()
    table = arrow.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({_META: json.dumps(meta or {}).encode()})
    replace(path, lambda place: parquet.write_table(table, place))


def read_parquet(path: Path) -> pd.DataFrame:
    """The table that `write_parquet` wrote."""
    _, parquet = _arrow()
    return parquet.read_table(path).to_pandas()


def read_meta(path: Path) -> dict[str, Any]:
    """What is known of the table, without reading it."""
    _, parquet = _arrow()
    found: dict[str, Any] = json.loads(parquet.read_schema(path).metadata[_META])
    return found


def _arrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingDependencyError(
            "The study needs pyarrow for its tables. Install it with `pip install 'countarfactuals[study]'`."
        ) from error


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
        path = self.out / "design.json"
        if not path.exists():
            if self.out.exists() and any(self.out.iterdir()) and not resume:
                raise StorageError(f"{str(self.out)!r} is not empty. Give a new folder.")
            write_json(path, identity)
            return
        known = read_json(path)
        if not resume:
            raise StorageError(
                f"{str(self.out)!r} holds a study already. Pass --resume to go on with it, or give another folder."
            )
        if other := [name for name in identity if known.get(name) != identity[name]]:
            raise StorageError(
                f"The study in {str(self.out)!r} has another {listed(other)}, such as {known.get(other[0])!r} instead "
                f"of {identity[other[0]]!r}. Resume it with the options it was begun with, or give another folder."
            )

    def sweep(self) -> None:
        """Remove what killed processes left unfinished; no other may be at work."""
        for path in [*self.out.rglob(".[0-9]*.*"), *self.out.rglob("forest.npz.*.unfinished")]:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
