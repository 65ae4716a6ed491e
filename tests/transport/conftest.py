"""Sender variants: sync, asyncio and trio; and a check for threads left behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from sender_variants import VARIANTS


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> str:
    """Run the test with each sender variant."""
    name: str = request.param
    return name


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Check that no test leaves a watchdog thread."""
    before = {*threading.enumerate()}
    yield
    left = [thread.name for thread in {*threading.enumerate()} - before]
    assert "sitestats-watchdog" not in left
