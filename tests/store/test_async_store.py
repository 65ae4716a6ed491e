"""A store that is awaited, and what is not a store."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from sitestats import (
    AsyncClient,
    Client,
    ConfigurationError,
    SiteStatsWarning,
    StatsQuery,
)
from sitestats.emulator import Emulator

DAY = StatsQuery("semicomplete.com").fields("visitors").on("yesterday").timezone("UTC")


class Awaited:
    """Its methods are coroutine functions."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def get(self, key: str) -> bytes | None:
        await anyio.lowlevel.checkpoint()
        return self.kept.get(key)

    async def set(self, key: str, value: bytes) -> None:
        await anyio.lowlevel.checkpoint()
        self.kept[key] = value


class OfRedis(Awaited):
    """Its methods return what is awaited, as those of redis.asyncio."""

    def get(self, key: str) -> Awaitable[bytes | None]:  # type: ignore[override]
        return super().get(key)

    def set(self, key: str, value: bytes) -> Awaitable[None]:  # type: ignore[override]
        return super().set(key, value)

    async def __aenter__(self) -> None:
        """Connect."""


class Hidden:
    """Nothing tells that it is awaited, until it is used."""

    def __init__(self) -> None:
        self.inner = Awaited()

    def get(self, key: str) -> Any:
        return self.inner.get(key)

    set = get


async def twice(store: Any) -> list[bool]:
    """Whether the store had the responses to two calls."""
    async with Emulator.demo().async_client(store=store) as client:
        return [(await client.stats.get(DAY)).from_store for _ in range(2)]


@pytest.mark.parametrize("kind", [Awaited, OfRedis])
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_an_async_store_is_awaited(loop: str, kind: type[Any]) -> None:
    """The second call gets what the first one stored."""
    assert anyio.run(twice, kind(), backend=loop) == [False, True]


def test_what_turns_out_to_be_asynchronous() -> None:
    """It is not used, with one warning that tells why, and no other."""
    with pytest.warns(SiteStatsWarning, match="async def") as warned:
        assert anyio.run(twice, Hidden()) == [False, False]
    assert len(warned) == 1


@pytest.mark.parametrize("kind", [Awaited, OfRedis])
def test_a_blocking_client_takes_no_async_store(kind: type[Any]) -> None:
    """It is refused when the client is made."""
    with pytest.raises(ConfigurationError, match="AsyncClient"):
        Client("https://x.example", store=kind())


@pytest.mark.parametrize("client", [Client, AsyncClient])
@pytest.mark.parametrize("store", [object(), {}, 7, b"stats.sqlite"])
def test_what_is_no_store(client: type[Any], store: Any) -> None:
    """It is refused when the client is made, by its type alone."""
    with pytest.raises(ConfigurationError, match=type(store).__name__):
        client("https://x.example", store=store)
