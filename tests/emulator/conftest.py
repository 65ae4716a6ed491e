"""Fixtures of the emulator's tests."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from bare_client import NOW, GetStats, bare_client
from sitestats.emulator import Emulator


@pytest.fixture
def emulator() -> Emulator:
    """An emulator in March 2026 with one private website, in UTC, without rows."""
    emulator = Emulator(now=NOW)
    emulator.add_website("example.com")
    return emulator


@pytest.fixture
def get_stats(emulator: Emulator) -> Iterator[GetStats]:
    """Request statistics of example.com, in version 6 and without prose."""
    with bare_client(emulator) as client:

        def get_stats(
            hostname: str = "example.com", /, **params: str | int
        ) -> httpx.Response:
            query = {"version": 6, "info": "false", **params}
            return client.get(f"/{hostname}.json", params=query)

        yield get_stats


@pytest.fixture(params=["in process", "socket"])
def http(request: pytest.FixtureRequest, emulator: Emulator) -> Iterator[httpx.Client]:
    """A client of the emulator, in process or over a socket."""
    with bare_client(emulator) as inside:
        if request.param == "in process":
            yield inside
            return
        with (
            emulator.serve() as address,
            httpx.Client(
                base_url=address, headers=inside.headers, trust_env=False
            ) as outside,
        ):
            yield outside
