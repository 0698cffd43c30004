"""What a study that is resumed finds damaged, is removed and named, so that it is made anew.

1. A forest counts as made by its record; a record that is no JSON, or a forest whose digest does not fit, goes with the
   other.
2. An explanation must be readable, fit its digest and be of the data set, method and instance that its path tells: a
   file that was copied over another is whole and wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from countarfactuals.exceptions import StorageError
from countarfactuals.explainers.explainer_file import check_whole
from countarfactuals.study.measures import KEYS
from countarfactuals.study.store import Store, read_json, read_meta, read_parquet

Key = tuple[str, str, int]


def mend(store: Store, sets: Iterable[str], keys: Iterable[Key]) -> Iterator[Path]:
    """Remove what is damaged, and say which files these were."""
    keys = list(keys)
    for name in sets:
        record, forest = store.forest_record(name), store.forest(name)
        if record.exists() and not (_is_record(record) and _is_whole(forest)):
            record.unlink()
            forest.unlink(missing_ok=True)
            yield forest
    for record in dict.fromkeys(store.fit_record(name, method) for name, method, _ in keys):
        if record.exists() and not _is_record(record):
            record.unlink()
            yield record
    for key in keys:
        path = store.explanation(*key)
        if path.exists() and not _is_of(path, key):
            path.unlink()
            yield path


def _is_record(path: Path) -> bool:
    try:
        return isinstance(read_json(path).get("seconds"), int | float)
    except (OSError, ValueError, AttributeError):
        return False


def _is_whole(path: Path) -> bool:
    try:
        check_whole(path)
    except StorageError:
        return False
    return True


def _is_of(path: Path, key: Key) -> bool:
    """Whether a file is whole, and of this explanation."""
    try:
        frame = read_parquet(path)
    except StorageError:
        return False
    meta = read_meta(path)
    told = [meta.get(name, value) for name, value in zip(KEYS, key, strict=True)]  # once only cells told it
    return told == list(key) and bool((frame[list(KEYS)] == list(key)).all(axis=None))
