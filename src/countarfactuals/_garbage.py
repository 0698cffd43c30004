"""Garbage is not collected while much is made that stays: kernels that are compiled, modules that are imported.

Collections would take a seventh of the time of compiling, and a third of a second of an import, and find nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Meanwhile garbage is not collected.

    Afterwards all that is there counts as old: as young, all of it would be looked through at once.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()
        gc.enable()
