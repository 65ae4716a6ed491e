"""Fixtures for tests of code that uses ``sitestats``; pytest finds them by itself.

A test that takes ``sitestats_client`` asks an emulator of its own, without a
socket. Override ``sitestats_emulator`` in your ``conftest.py`` to give all of
your tests the same websites and rows; the clients follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import anyio
import pytest

from ._emulator import Emulator

if TYPE_CHECKING:
    from sitestats import AsyncClient, Client


@pytest.fixture
def sitestats_emulator() -> Emulator:
    """An emulator for this test alone, without websites."""
    return Emulator()


@pytest.fixture
def sitestats_client(sitestats_emulator: Emulator) -> Iterator[Client]:
    """A blocking client of ``sitestats_emulator``, closed after the test."""
    with sitestats_emulator.client() as client:
        yield client


@pytest.fixture
def sitestats_async_client(sitestats_emulator: Emulator) -> Iterator[AsyncClient]:
    """An async client of ``sitestats_emulator``, closed after the test.

    It serves any event loop, and needs no plugin for async fixtures.
    """
    client = sitestats_emulator.async_client()
    yield client
    # The test's event loop may have ended; there is no socket that would mind.
    anyio.run(client.aclose)
