"""Results of parts as files of one folder: written whole, found again after a kill, never mistaken for others.

    _manifest.json        what was asked: explainer, target, constraints, input
    part-000017.parquet   the lines of part 17

1. `begin` writes the manifest, or compares it with what is asked now: results of two different questions would be mixed
   silently. Names that begin with an underscore or a dot are passed over by readers of Parquet folders.
2. `write_part` moves a file to its place when it is complete. In it are its number and a checksum of the question, that
   number and all cells; not the bytes, as they differ between versions of pyarrow.
3. `finished_part` believes a file if these agree: one that is damaged, of another part or another question does not.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from countarfactuals._optional import optional
from countarfactuals.exceptions import StorageError, listed
from countarfactuals.files import is_unfinished, whole_file, write_whole

_MANIFEST = "_manifest.json"
_FORMAT, _VERSION = "countarfactuals.parts", 1
_PART = r"part-\d{6,}\.parquet"
_ABOUT, _CHECKSUM = b"countarfactuals.rows", b"countarfactuals.checksum"

Counts = dict[str, int]  # rows by status


def begin(folder: Path, asked: Mapping[str, Any], *, resume: bool) -> str:
    """Make a folder ready for the answers to a question, in JSON types; what identifies it.

    Parameters
    ----------
    folder : where the answers are written.
    asked : the question.
    resume : whether an earlier run may be continued.
    """
    manifest = {"format": _FORMAT, "version": _VERSION, **asked}
    text = json.dumps(manifest, indent=1, ensure_ascii=False, default=str)
    if not folder.exists() or not any(folder.iterdir()):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / _MANIFEST, text + "\n")
    else:
        _check_continued(folder, json.loads(text), resume)
    return hashlib.sha256(text.encode()).hexdigest()


def _check_continued(folder: Path, asked: Mapping[str, Any], resume: bool) -> None:
    """Refuse a folder that has other things, or answers to something else."""
    if not (folder / _MANIFEST).is_file():
        raise StorageError(f"The folder {str(folder)!r} holds something else than such results. Name another one.")
    if not resume:
        raise StorageError(
            f"The folder {str(folder)!r} has results already. Pass --resume to go on with them, or name another one."
        )
    try:
        before = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        names = list(dict.fromkeys([*before, *asked]))
    except (ValueError, TypeError) as error:
        raise StorageError(f"{str(folder / _MANIFEST)!r} is damaged ({error}). Begin in another folder.") from error
    if differing := [name for name in names if before.get(name) != asked.get(name)]:
        raise StorageError(
            f"The results in {str(folder)!r} were begun with another {listed(differing)}. Say the same as then, or "
            f"name another folder. First difference: {_shown(before, differing[0])} then, "
            f"{_shown(asked, differing[0])} now."
        )
    for path in folder.iterdir():
        if is_unfinished(path.name, f"{_PART}|{re.escape(_MANIFEST)}"):
            path.unlink()  # a process was killed while it wrote


def _shown(manifest: Mapping[str, Any], name: str) -> str:
    text = json.dumps(manifest.get(name), ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"


def check_strangers(folder: Path, n_parts: int) -> None:
    """Refuse Parquet files that are no parts of these results: who reads the folder would count them in."""
    own = {_part_name(number) for number in range(n_parts)}
    if strangers := sorted(path.name for path in folder.glob("*.parquet") if path.name not in own):
        raise StorageError(f"The folder {str(folder)!r} holds {listed(strangers)} besides its parts. Move them away.")


def _part_name(number: int) -> str:
    """The file of a part."""
    return f"part-{number:06d}.parquet"


def write_part(folder: Path, number: int, lines: Any, question: str) -> Counts:
    """Write the lines of a part, a pyarrow table with the columns "status" and "rank"; how many rows have which status.

    Parameters
    ----------
    folder, question : as in `begin`.
    number : of the part.
    lines : of its rows.
    """
    parquet = optional("pyarrow.parquet", "Parquet files need", "cli")
    is_first = [rank is None or rank == 1 for rank in lines["rank"].to_pylist()]
    counts = Counter(status for status, first in zip(lines["status"].to_pylist(), is_first, strict=True) if first)
    about = json.dumps(dict(sorted(counts.items())))
    marks = {_ABOUT: about.encode(), _CHECKSUM: _checksum(lines, number, question, about).encode()}
    with whole_file(folder / _part_name(number)) as unfinished:
        parquet.write_table(lines.replace_schema_metadata(marks), unfinished)
    return dict(counts)


def finished_part(folder: Path, number: int, question: str) -> Counts | None:
    """How many rows of a part have which status; None if its file is not there, or is not to be believed."""
    parquet = optional("pyarrow.parquet", "Parquet files need", "cli")
    try:
        # not `read_table`, which takes partitions from names of folders
        lines = parquet.ParquetFile(folder / _part_name(number)).read()
        marks = lines.schema.metadata
        about = marks[_ABOUT].decode()
        if _checksum(lines, number, question, about) != marks[_CHECKSUM].decode():
            return None
        return {str(status): int(n) for status, n in json.loads(about).items()}
    except Exception:  # pyarrow has errors of its own for each way in which bytes can be wrong
        return None


def _checksum(lines: Any, number: int, question: str, about: str) -> str:
    digest = hashlib.sha256(json.dumps([question, number, about]).encode())
    for field, column in zip(lines.schema, lines.columns, strict=True):
        digest.update(json.dumps([field.name, str(field.type), column.to_pylist()], default=str).encode())
    return digest.hexdigest()
