"""A small dose of each attack; `make torture` has the full one."""

from __future__ import annotations

from importlib import import_module

import pytest

from .torture.__main__ import wrong

# those of constraints and sameness are tests/contracts/test_random_constraints.py and test_reproducible.py
DOSES = {"threads": 7, "memory": 20, "kills": 4, "disks": 4}


@pytest.mark.skipif("not hasattr(__import__('os'), 'fork')", reason="processes are forked")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("name", DOSES)
def test_a_small_dose_does_no_harm(name):
    figures = import_module(f"tests.torture.{name}").attack(DOSES[name], seed=1)
    assert wrong(figures) == [], figures
    assert sum(value for value in figures.values() if isinstance(value, int | float)) > 0
