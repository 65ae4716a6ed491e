"""Sender variants: sync, asyncio and trio; and the two event loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import pytest

from sender_variants import VARIANTS


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> str:
    """Run the test with each sender variant."""
    name: str = request.param
    return name


@pytest.fixture(params=["asyncio", "trio"])
def loop(request: pytest.FixtureRequest) -> str:
    """Run the test on both loops."""
    name: str = request.param
    return name


@pytest.fixture
def run(loop: str) -> Callable[..., Any]:
    """Run an asynchronous function on one of the two loops."""
    return partial(anyio.run, backend=loop)
