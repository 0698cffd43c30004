"""The page "From one row to a cluster": its blocks for Spark and Ray; those for Dask run with all other pages."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "how-to" / "scale.md"
BLOCK = re.compile(r"^```python ?(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.scale
@pytest.mark.parametrize("engine", ["spark", "ray"])
def test_the_blocks_of_an_engine_run(engine, tmp_path, monkeypatch):
    if engine == "spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed; its tests are left out")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    namespace: dict[str, object] = {}
    blocks = [block for block in BLOCK.finditer(text) if block[1] in ("", engine)]
    assert [block[1] for block in blocks].count(engine) == 1
    for block in blocks:
        exec(compile("\n" * text.count("\n", 0, block.start(2)) + block[2], PAGE.name, "exec"), namespace)
