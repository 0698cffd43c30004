"""`Jobs`: batches that go on when the connection is lost, with their progress, in files that are whole or not there.

    folder/ID/job.json      what was asked, and its state
    folder/ID/lines-N.ndjson  lines as they were told, from line N on

1. Lines are gathered for a second and written as one file, so that a crash costs the last second and leaves no half.
2. When the service starts, jobs that were running are told to be interrupted; what they had done is kept.
3. Of jobs that have ended the oldest make room for new ones.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from countarfactuals.files import is_unfinished, whole_file
from countarfactuals.serve.problems import Refusal

QUEUED, RUNNING, DONE, CANCELLED, INTERRUPTED, FAILED = (
    "queued",
    "running",
    "done",
    "cancelled",
    "interrupted",
    "failed",
)
_GOING = (QUEUED, RUNNING)
_JOB, _LINES = "job.json", re.compile(r"lines-(\d+)\.ndjson")
_ID = re.compile(r"[A-Za-z0-9_-]{16,64}")
_GATHERED = 1.0  # seconds
_MOST_GATHERED = 200  # lines
_AT_ONCE = 2  # jobs that run


@dataclass(frozen=True)
class Job:
    """A job as it is told.

    Parameters
    ----------
    id : not to be guessed.
    explainer : its name.
    state : "queued", "running", "done", "cancelled", "interrupted" or "failed".
    done, total : lines there are, and will be.
    created, ended : when, with the time zone; "" where it is not yet so.
    """

    id: str
    explainer: str
    state: str
    total: int
    created: str
    done: int = 0
    ended: str = ""

    @property
    def is_going(self) -> bool:
        """Whether there will be more lines."""
        return self.state in _GOING


class Jobs:
    """All jobs, in a folder.

    Parameters
    ----------
    folder : which is made, for its owner alone.
    most : how many are kept.
    """

    def __init__(self, folder: Path, most: int) -> None:
        self.folder = folder
        self.most = most
        self._jobs: dict[str, Job] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._is_stopping = False
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for place in sorted(folder.iterdir()):
            if _ID.fullmatch(place.name) and place.is_dir():
                self._found(place)

    def _found(self, place: Path) -> None:
        """Take up a job of an earlier run; what was half written, or was no job yet, is removed."""
        for path in place.iterdir():
            if is_unfinished(path.name, r".+"):
                path.unlink(missing_ok=True)
        try:
            job = Job(**json.loads((place / _JOB).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            shutil.rmtree(place, ignore_errors=True)
            return
        if job.is_going:
            job = replace(job, state=INTERRUPTED, ended=_now(), done=sum(1 for _ in self._lines(job.id, 0)))
        self._jobs[job.id] = job
        self._write(job)

    @property
    def interrupted(self) -> list[Job]:
        """Those that were going when the service ended."""
        return [job for job in self._jobs.values() if job.state == INTERRUPTED]

    def every(self) -> list[Job]:
        """All, the newest first."""
        return sorted(self._jobs.values(), key=lambda job: job.created, reverse=True)

    def get(self, id: str) -> Job:
        """A job by its id."""
        if id not in self._jobs:
            raise Refusal(404, "There is no such job.", "It may have been removed; begin another one.", "id")
        return self._jobs[id]

    def start(self, explainer: str, total: int, lines: AsyncIterator[bytes]) -> Job:
        """Begin a job that writes lines down."""
        self._make_room()
        job = Job(secrets.token_urlsafe(16), explainer, QUEUED, total, _now())
        (self.folder / job.id).mkdir(mode=0o700)
        self._keep(job)
        self._tasks[job.id] = asyncio.create_task(self._run(job.id, lines))
        return job

    def _make_room(self) -> None:
        ended = [job for job in reversed(self.every()) if not job.is_going]
        for job in ended[: max(0, len(self._jobs) - self.most + 1)]:
            self._remove(job)
        if len(self._jobs) >= self.most:
            raise Refusal(429, f"{self.most} jobs are going already.", "Come again later.", retry_after=60)

    async def end(self, id: str) -> Job:
        """Cancel a job that is going, or remove one that has ended."""
        job = self.get(id)
        task = self._tasks.get(id)
        if not job.is_going:
            self._remove(job)
        elif task is not None:
            task.cancel()
            await asyncio.wait([task])
        return self._jobs.get(id, job)

    async def stop(self) -> None:
        """End all that is going; they are told to be interrupted."""
        self._is_stopping = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def lines(self, id: str, start: int) -> Iterator[bytes]:
        """The lines there are, from one on, each with its line feed."""
        self.get(id)
        return self._lines(id, start)

    def _lines(self, id: str, start: int) -> Iterator[bytes]:
        found = [
            (int(match[1]), path) for path in (self.folder / id).iterdir() if (match := _LINES.fullmatch(path.name))
        ]
        parts = sorted(found)
        for k, (first, path) in enumerate(parts):
            if k + 1 < len(parts) and parts[k + 1][0] <= start:
                continue  # all of it lies before
            for number, line in enumerate(path.read_bytes().splitlines(keepends=True), start=first):
                if number >= start:
                    yield line

    async def _run(self, id: str, lines: AsyncIterator[bytes]) -> None:
        state = FAILED
        try:
            async with self._room:
                self._keep(replace(self._jobs[id], state=RUNNING))
                await self._write_down(id, lines)
                state = DONE
        except asyncio.CancelledError:
            state = INTERRUPTED if self._is_stopping else CANCELLED
        finally:
            self._keep(replace(self._jobs[id], state=state, ended=_now()))
            self._tasks.pop(id, None)

    async def _write_down(self, id: str, lines: AsyncIterator[bytes]) -> None:
        gathered: list[bytes] = []
        written = time.monotonic()
        try:
            async for line in lines:
                gathered.append(line)
                if time.monotonic() - written >= _GATHERED or len(gathered) >= _MOST_GATHERED:
                    await asyncio.to_thread(self._append, id, gathered)
                    gathered, written = [], time.monotonic()
        finally:
            self._append(id, gathered)
            await lines.aclose()  # type: ignore[attr-defined]  # they are a generator

    def _append(self, id: str, lines: list[bytes]) -> None:
        if not lines:
            return
        job = self._jobs[id]
        with whole_file(self.folder / id / f"lines-{job.done}.ndjson") as unfinished:
            unfinished.write_bytes(b"".join(line + b"\n" for line in lines))
        self._keep(replace(job, done=job.done + len(lines)))

    def _keep(self, job: Job) -> None:
        self._jobs[job.id] = job
        self._write(job)

    def _write(self, job: Job) -> None:
        with whole_file(self.folder / job.id / _JOB) as unfinished:
            unfinished.write_text(json.dumps(asdict(job)), encoding="utf-8")

    def _remove(self, job: Job) -> None:
        self._jobs.pop(job.id, None)
        shutil.rmtree(self.folder / job.id, ignore_errors=True)


def state_folder() -> Path:
    """Where jobs are kept unless it is said."""
    root = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(root) / "countarfactuals" / "jobs"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
