"""pytest fixtures: an emulator for each test, and its clients.

pytest finds this plugin by itself. To give all of your tests the same websites and
rows, override ``sitestats_emulator`` in your ``conftest.py``. The clients use it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import sitestats.emulator

if TYPE_CHECKING:
    from sitestats import AsyncClient, Client
    from sitestats.emulator import Emulator


@pytest.fixture
def sitestats_emulator() -> Emulator:
    """An emulator without websites, for one test."""
    return sitestats.emulator.Emulator()


@pytest.fixture
def sitestats_client(sitestats_emulator: Emulator) -> Iterator[Client]:
    """A sync client of ``sitestats_emulator``, closed after the test."""
    with sitestats_emulator.client() as client:
        yield client


@pytest.fixture
def sitestats_async_client(sitestats_emulator: Emulator) -> Iterator[AsyncClient]:
    """An async client of ``sitestats_emulator``, closed after the test.

    It works in any event loop, and needs no plugin for async fixtures.
    """
    import anyio

    client = sitestats_emulator.async_client()
    yield client
    # The test's event loop may be closed, which is fine without a socket.
    anyio.run(client.aclose)
