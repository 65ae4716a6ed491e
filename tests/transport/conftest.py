"""The three ways to send: blocking, under asyncio and under trio."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from sender_variants import VARIANTS


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> str:
    """Run the test in each of the three ways."""
    name: str = request.param
    return name


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """A test that closes its sender leaves no thread."""
    before = {*threading.enumerate()}
    yield
    left = [thread.name for thread in {*threading.enumerate()} - before]
    assert "sitestats-watchdog" not in left
