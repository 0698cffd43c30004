"""Hypothesis profiles: few examples by default, 10,000 in `make test-full`."""

from hypothesis import HealthCheck, settings

settings.register_profile("fast", max_examples=50, deadline=None, derandomize=True)
settings.register_profile(
    "full", max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("fast")
