"""A piece of work in a forked process: what was imported and fitted is there at once, and it can be killed."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable


def forked(work: Callable[[], object], kill_after: float | None = None, user: int | None = None) -> int:
    """The exit code: 0, or 1 if `work` raised, or minus the signal. `user` is whose rights it has."""
    process = os.fork()
    if process == 0:
        _child(work, user)
    if kill_after is not None:
        time.sleep(kill_after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _child(work: Callable[[], object], user: int | None) -> None:
    """Never returns: what the parent would do at its end is not for the child to do."""
    code = 1
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        if user is not None:
            os.setgid(user)
            os.setuid(user)
        work()
        code = 0
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(code)
