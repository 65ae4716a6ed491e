"""What an update says before its first request."""

from __future__ import annotations

import pytest

from sitestats.warehouse import Estimate

pytestmark = pytest.mark.once


def test_the_pace_of_the_last_update_is_what_minutes_are_reckoned_with() -> None:
    """A last update of few requests tells no pace: an assumption is named instead."""
    estimate = Estimate.of(30_000, 2_000, 40.0, 20)
    assert str(estimate) == (
        "at most 30,000 requests, about 10 min at the pace of the last update; the "
        "last update made 2,000"
    )
    assert estimate.minutes == pytest.approx(10)
    estimate = Estimate.of(30_000, 3, 40.0, 20)
    assert estimate.minutes == pytest.approx(5)
    assert "if 20 at a time take 0.2 s each" in str(estimate)


@pytest.mark.parametrize(
    ("requests", "last", "large"),
    [
        (10_001, 0, True),
        (10_000, 0, False),
        (20_000, 10_000, False),
        (20_001, 10_000, True),
    ],
)
def test_a_large_update(requests: int, last: int, large: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """It is above 10,000 requests, and above twice those of the last one."""
    assert Estimate.of(requests, last, 1.0, 20).is_large is large
