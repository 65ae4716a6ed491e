"""Sender variants: sync, asyncio and trio."""

from __future__ import annotations

import pytest

from sender_variants import VARIANTS


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> str:
    """Run the test with each sender variant."""
    name: str = request.param
    return name
