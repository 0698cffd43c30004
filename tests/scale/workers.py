"""Functions that clusters run in their workers."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any, NamedTuple

from countarfactuals.scale import Job


class Assassinated(NamedTuple):
    """A job whose first worker is killed when it comes to a certain row, and then no other."""

    job: Job
    row: str
    witness: str

    def __call__(self, part: Any) -> Any:
        lines = self.job(part)
        if self.row in map(str, part["id"]):
            try:
                Path(self.witness).touch(exist_ok=False)
            except FileExistsError:
                return lines
            os.kill(os.getpid(), signal.SIGKILL)
        return lines

    def no_lines(self, part: Any) -> Any:
        return self.job.no_lines(part)

    def needed_key(self, engine: str) -> str:
        return self.job.needed_key(engine)
