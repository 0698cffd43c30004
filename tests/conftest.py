"""Hypothesis profiles: few examples by default, 10,000 in `make test-full`. Plug-ins last as long as their test."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from countarfactuals.explainers import registry

from .browser import browser

__all__ = ["browser"]  # a fixture of all tests

os.environ.setdefault("COUNTARFACTUALS_COMPILE_ALONE", "1")  # several processes of tests share the cores already
# a run in the background is started with interrupts ignored, and hands that on to the processes that tests interrupt
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("fast", max_examples=50, deadline=None, derandomize=True)
settings.register_profile(
    "full", max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("fast")


@pytest.fixture(autouse=True)
def _methods_of_one_test() -> Iterator[None]:
    """A method that a test registers, as pages of the documentation do, is unknown to the next one."""
    before = dict(registry._METHODS)
    yield
    registry._METHODS.clear()
    registry._METHODS.update(before)
