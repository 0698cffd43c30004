"""What a call shares with its processes is gone when it ends, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from countarfactuals._parallel import received, shared

SCRIPT = """
import time
from countarfactuals._parallel import shared
with shared({"a": 1}) as path:
    print(path, flush=True)
    time.sleep(60)
"""


def test_what_is_shared_is_gone_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with shared({"a": [1, 2]}) as path:
        assert received(path) == {"a": [1, 2]}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="elsewhere files that are open can not be removed")
def test_what_a_killed_call_left_is_swept_and_what_a_living_one_shares_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True, env=environment) as other:
        assert other.stdout is not None
        left = Path(other.stdout.readline().strip())
        os.utime(left.parent, (0, 0))  # long ago
        with shared(1):
            assert left.exists()
        other.send_signal(signal.SIGKILL)
        other.wait()
    os.utime(left.parent, (0, 0))
    with shared(1) as mine:
        assert [path.name for path in tmp_path.iterdir()] == [Path(mine).parent.name]
