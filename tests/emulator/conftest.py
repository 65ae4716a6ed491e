"""Fixtures of the emulator's tests."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from asking import NOW, Ask, asker
from sitestats.emulator import Emulator


@pytest.fixture
def emulator() -> Emulator:
    """An emulator in March 2026 with one private website, in UTC, without rows."""
    emulator = Emulator(now=NOW)
    emulator.add_website("example.com")
    return emulator


@pytest.fixture
def ask(emulator: Emulator) -> Iterator[Ask]:
    """Ask for statistics of example.com, with version 6 and no prose."""
    with asker(emulator) as client:

        def ask(
            hostname: str = "example.com", /, **params: str | int
        ) -> httpx.Response:
            asked = {"version": 6, "info": "false", **params}
            return client.get(f"/{hostname}.json", params=asked)

        yield ask
