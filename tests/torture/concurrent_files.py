"""Writers of one file, in threads and processes that all believe to have one process id, beside readers.

Containers that share a folder have equal process ids; `os.getpid` is replaced to be like that.

Run it: `python -m tests.torture.concurrent_files 20`
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

_PROCESSES, _THREADS = 3, 4
_SIZE = 20_000


def attack(seconds: int, seed: int, folder: Path | None = None) -> dict[str, Any]:
    """Reads, and how many of them were damaged, in so many seconds."""
    if folder is None:
        with tempfile.TemporaryDirectory() as name:
            return attack(seconds, seed, Path(name))
    path = folder / "shared"
    path.write_bytes(_content(0))
    command = [sys.executable, "-m", __name__ if __spec__ is None else __spec__.name, "--write", str(path)]
    writers = [
        subprocess.Popen([*command, str(seconds), str(seed + k)], stdout=subprocess.PIPE) for k in range(_PROCESSES)
    ]
    reads = damaged = 0
    while any(writer.poll() is None for writer in writers):
        content = path.read_bytes()
        reads += 1
        damaged += content != _content(content[0]) if content else 1
        time.sleep(1e-4)
    told = [json.loads(writer.communicate()[0] or '{"writes": 0, "failed": 1}') for writer in writers]
    return {
        "reads": reads,
        "damaged reads": damaged,
        "writes": sum(one["writes"] for one in told),
        "failed writes": sum(one["failed"] for one in told),
    }


def _content(k: int) -> bytes:
    return bytes([k]) * _SIZE


def _write(path: Path, seconds: float, seed: int) -> None:
    """Write in threads until the time is over, and tell how often."""
    os.getpid = lambda: 1
    from countarfactuals.files import whole_file

    end = time.monotonic() + seconds
    writes, failed = [0] * _THREADS, [0] * _THREADS

    def work(thread: int) -> None:
        while time.monotonic() < end:
            try:
                with whole_file(path) as unfinished:
                    unfinished.write_bytes(_content((seed * _THREADS + thread) % 256))
                writes[thread] += 1
            except Exception:
                failed[thread] += 1

    threads = [threading.Thread(target=work, args=(k,)) for k in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"writes": sum(writes), "failed": sum(failed)}))


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        _write(Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
    else:
        print(json.dumps(attack(int(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 1), indent=1))
