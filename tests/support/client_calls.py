"""Calls with every client variant: sync, asyncio and trio, on a socket and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from attrs import define

from sitestats import AsyncClient, Client, RetryPolicy, StatsQuery
from sitestats.emulator import Emulator

HOST = "semicomplete.com"


QUICK = RetryPolicy(wait_initial=0.001, wait_max=0.002)


TOTALS = StatsQuery(HOST).fields("pageviews", "visitors").last(days=30)


@define
class ClientVariant:
    """Runs calls with one kind of client, on one loop, over a socket or without."""

    emulator: Emulator
    backend: str
    address: str | None

    def __call__(self, call: Callable[[Any], Any], **options: Any) -> Any:
        """The value of *call* for a client, awaited where the client is async."""
        if self.backend == "blocking":
            with self._client(Client, **options) as client:
                return call(client)
        return anyio.run(self._call_async, call, options, backend=self.backend)

    async def _call_async(
        self, call: Callable[[Any], Any], options: dict[str, Any]
    ) -> Any:
        async with self._client(AsyncClient, **options) as client:
            return await call(client)

    def _client(self, cls: Any, **options: Any) -> Any:
        options = {
            "api_key": self.emulator.api_key,
            "user_id": self.emulator.user_id,
            "retries": QUICK,
            **options,
        }
        if self.address is not None:
            return cls(self.address, **options)
        if cls is Client:
            return self.emulator.client(**options)
        return self.emulator.async_client(**options)


@pytest.fixture
def emulator() -> Emulator:
    """Real traffic, for one test alone."""
    return Emulator.demo()


@pytest.fixture(params=["blocking", "asyncio", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    """The client variant's loop, or ``"blocking"``."""
    return str(request.param)


@pytest.fixture(params=["no socket", "loopback socket"])
def run(
    request: pytest.FixtureRequest, emulator: Emulator, backend: str
) -> Iterator[ClientVariant]:
    """Runs calls with every client variant."""
    if request.param == "no socket":
        yield ClientVariant(emulator, backend, None)
    else:
        with emulator.serve() as address:
            yield ClientVariant(emulator, backend, address)
