"""Kernels that are compiled ahead: found again in another process and place, complete, and told of."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from countarfactuals._kernels import FOLDER, WRITING
from countarfactuals._signatures import load, read, spelled
from countarfactuals.cli import main

HEAR = """
import sys
from numba.core import event
class Heard(event.Listener):
    names = []
    def on_start(self, what):
        function = what.data["dispatcher"].py_func
        if function.__module__.startswith("countarfactuals."):
            self.names.append(function.__name__)
    def on_end(self, what):
        pass
event.register("numba:compile", Heard())
"""
ONE = f"""{HEAR}
from countarfactuals._signatures import load
next(entry for entry in load() if entry.name == "ndtri_").compile()
from countarfactuals.arf.truncnorm import ndtri_
assert ndtri_(0.5) == 0.0
print(*Heard.names)
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess:
    told = {**os.environ, **environment}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=told, timeout=590)
    assert done.returncode == 0, done.stderr
    return done


def files(folder: Path) -> dict[str, float]:
    return {str(path): path.stat().st_mtime for path in folder.rglob("*") if path.is_file()}


def test_types_are_spelled_as_they_are_read():
    for entry in load():
        assert [spelled(read(argument)) for argument in entry.arguments] == entry.arguments


def test_a_kernel_compiled_ahead_is_found_by_others_who_write_nothing_there(tmp_path):
    ahead, own = tmp_path / "ahead", tmp_path / "own"
    written = run(ONE, **{FOLDER: str(ahead), WRITING: "1", "NUMBA_CACHE_DIR": str(tmp_path / "unused")})
    assert "ndtri_" in written.stdout.split()
    before = files(ahead)
    assert before
    found = run(ONE, **{FOLDER: str(ahead), "NUMBA_CACHE_DIR": str(own)})
    assert found.stdout.split() == []
    assert found.stderr == ""  # nothing is told where it is no terminal
    assert files(ahead) == before
    elsewhere = run(ONE, **{FOLDER: str(tmp_path / "nowhere"), "NUMBA_CACHE_DIR": str(own)})
    assert "ndtri_" in elsewhere.stdout.split()  # the test can fail
    for path in ahead.rglob("*.nbi"):  # as a version with other modules may have left it
        path.write_bytes(pickle.dumps(numba.__version__) + b"ccountarfactuals.gone\nKernel\n.")
    anew = run(ONE, **{FOLDER: str(ahead), "NUMBA_CACHE_DIR": str(tmp_path / "anew")})
    assert "ndtri_" in anew.stdout.split()


def test_a_folder_that_can_not_be_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["compile", "--out", str(tmp_path / "file" / "kernels")]) == 1
    assert "--out" in capsys.readouterr().err


@pytest.mark.full
def test_nothing_is_left_to_compile(tmp_path):
    """Everything that the sessions of `kernels.py` need, and nothing of it twice."""
    ahead, own = str(tmp_path / "ahead"), str(tmp_path / "own")
    told = {**os.environ, "NUMBA_CACHE_DIR": own}
    command = [sys.executable, "-m", "countarfactuals", "compile", "--out", ahead]
    subprocess.run(command, env=told, check=True, timeout=590, capture_output=True)
    sessions = f"{HEAR}\nsys.path.insert(0, {str(Path(__file__).parent)!r})\nimport kernels\n"
    sessions += "kernels.first_session()\nkernels.density_session()\n"
    sessions += "print(*Heard.names)"
    assert run(sessions, **{FOLDER: ahead, "NUMBA_CACHE_DIR": own}).stdout.split() == []
