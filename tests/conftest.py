"""How Hypothesis looks for examples."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Plain runs find the same on every machine: whoever tries the project should not
# be the one who meets a rare failure. The other two look in new places.
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    # A slow machine is no reason to fail.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("dev", deadline=None, max_examples=200)
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=5_000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
