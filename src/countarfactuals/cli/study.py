"""`countarfactuals study`: the study's own command, with its errors told like those of the others."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stderr
from typing import Any, TextIO

from countarfactuals.cli.arguments import PROGRAM
from countarfactuals.study import command

_COULD_NOT_BE_RUN, _MENDABLE = 2, 1  # its exit code, and ours for what a user can mend


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this subcommand."""
    command.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the study; the code is 1 where it could not be run."""
    signed: Any = _Signed(sys.stderr)
    with redirect_stderr(signed):
        code = command.run(options)
    return _MENDABLE if code == _COULD_NOT_BE_RUN else code


class _Signed:
    """Standard error on which the line of an error begins with the program's name."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if text.startswith("error: "):
            text = f"{PROGRAM}: {' '.join(text.split())}"
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
