"""Settings of all tests: property tests draw the same examples each time in a merge check."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# The machines of merge checks are shared and slow at times; time is measured in benchmarks only.
settings.register_profile(
    "dev", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
