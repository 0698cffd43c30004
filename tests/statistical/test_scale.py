"""A million rows: memory stays in bounds and the density is still near the truth."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "bench_scale.py"


@pytest.mark.full
def test_a_million_rows_fit_in_six_gigabytes():
    command = [sys.executable, str(SCRIPT), "--one", "1000000", "--trees", "100"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["peak GB"] < 6
    assert result["leaves"] > 100_000
