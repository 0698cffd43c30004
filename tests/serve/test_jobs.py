"""Jobs go on when the connection is lost, and are told of when the service was ended in between."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from countarfactuals.serve import ServiceError, client
from countarfactuals.serve.jobs import Job, Jobs

from .processes import server

MANY = "v1/explainers/loan/explain-many"


def ended(address: str, id: str, seconds: float = 60) -> dict:
    latest = time.monotonic() + seconds
    while time.monotonic() < latest:
        told = client(address, f"v1/jobs/{id}")
        if told["state"] not in ("queued", "running"):
            return told
        time.sleep(0.05)
    raise AssertionError("the job does not end")


def test_a_job_goes_on_by_itself(address):
    job = client(address, MANY, {"keys": list(range(12)), "target": "good", "top": 1}, as_job=True)
    assert job["total"] == 12
    told = ended(address, job["job"])
    assert (told["state"], told["done"]) == ("done", 12)
    lines = list(client(address, f"v1/jobs/{job['job']}/lines"))
    assert sorted(line["key"] for line in lines) == list(range(12))
    assert list(client(address, f"v1/jobs/{job['job']}/lines?from=9")) == lines[9:]
    assert job["job"] in [one["id"] for one in client(address, "v1/jobs")["jobs"]]
    client(address, f"v1/jobs/{job['job']}", method="DELETE")
    with pytest.raises(ServiceError, match="no such job"):
        client(address, f"v1/jobs/{job['job']}")


def test_a_job_can_be_cancelled(address):
    job = client(address, MANY, {"keys": list(range(500)), "target": "good"}, as_job=True)
    told = client(address, f"v1/jobs/{job['job']}", method="DELETE")
    assert told["state"] == "cancelled"
    assert told["done"] < 500
    assert len(list(client(address, f"v1/jobs/{job['job']}/lines"))) == told["done"]


def test_what_is_wrong_with_all_rows_is_told_at_once(address):
    for wrong in ({"keys": [10**6]}, {"rows": [{"agee": 1}]}, {"keys": [1], "constraints": {"fix": []}}, {}):
        with pytest.raises(ServiceError):
            client(address, MANY, {"target": "good", **wrong}, as_job=True)


def test_half_written_files_are_removed_and_jobs_told_to_be_interrupted(tmp_path):
    place = tmp_path / "jobs" / "abcdefghijklmnopqrst"
    place.mkdir(parents=True)
    job = Job(place.name, "loan", "running", 5, "2026-01-01T00:00:00+00:00", done=2)
    (place / "job.json").write_text(json.dumps(vars(job)))
    (place / "lines-0.ndjson").write_text('{"key":0}\n{"key":1}\n')
    (place / ".lines-2.ndjson.4711.unfinished").write_text('{"key":')
    (tmp_path / "jobs" / "no-job-of-ours-at-all").mkdir()
    jobs = Jobs(tmp_path / "jobs", 10)
    assert [(one.state, one.done) for one in jobs.every()] == [("interrupted", 2)]
    assert sorted(path.name for path in place.iterdir()) == ["job.json", "lines-0.ndjson"]
    assert (tmp_path / "jobs").stat().st_mode & 0o777 in (0o700, 0o755, 0o775)
    assert list(jobs.lines(place.name, 1)) == [b'{"key":1}\n']


def test_the_oldest_jobs_make_room(tmp_path):
    for k in range(4):
        place = tmp_path / f"job-number-{k}-of-four"
        place.mkdir()
        job = Job(place.name, "loan", "done", 0, f"2026-01-0{k + 1}T00:00:00+00:00")
        (place / "job.json").write_text(json.dumps(vars(job)))
    jobs = Jobs(tmp_path, 3)
    jobs._make_room()
    assert [job.id[11] for job in jobs.every()] == ["3", "2"]


def test_a_killed_server_leaves_nothing_half_written(folder, tmp_path):
    jobs = tmp_path / "jobs"
    with server(folder, jobs) as (address, process):
        job = client(address, MANY, {"keys": list(range(400)), "target": "good", "top": 1}, as_job=True)
        while client(address, f"v1/jobs/{job['job']}")["done"] < 20:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)
    whole = [json.loads(line) for path in _parts(jobs / job["job"]) for line in path.read_text().splitlines()]
    with server(folder, jobs) as (address, process):
        told = client(address, f"v1/jobs/{job['job']}")
        lines = list(client(address, f"v1/jobs/{job['job']}/lines"))
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=15)
    assert told["state"] == "interrupted"
    assert told["done"] == len(lines) == len(whole) >= 20
    assert lines == whole
    assert len({line["key"] for line in lines}) == len(lines)
    assert not list(jobs.rglob("*.unfinished"))
    assert f"job {job['job']} was interrupted after {told['done']} of 400 rows" in errors


def _parts(place: Path) -> list[Path]:
    return sorted(place.glob("lines-*.ndjson"), key=lambda path: int(path.stem.removeprefix("lines-")))
