"""What needs threads goes on where the system gives no more of them."""

from __future__ import annotations

import _thread
import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from both_clients import QUERY
from loopback import Connection, Server, serve
from sitestats import AsyncClient, Client, StatsQuery

DAY = StatsQuery("example.com").fields("pageviews").on("2026-03-01").timezone("UTC")


def script(connection: Connection) -> None:
    """Respond to each request."""
    while connection.request():
        connection.respond(b'{"ok": true, "pageviews": 3}')


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server whose threads run, while no other thread can start."""
    allowed = 0
    starts = _thread.start_new_thread

    def start(*given: Any) -> Any:
        nonlocal allowed
        name = getattr(getattr(given[0], "__self__", None), "name", "")
        if "get-many" in name and allowed:
            allowed -= 1
        elif "get-many" in name or name.startswith("AnyIO") or "work" in repr(given[0]):
            raise RuntimeError("can't start new thread")
        return starts(*given)

    with serve(script) as running:
        monkeypatch.setattr(_thread, "start_new_thread", start)
        # Python 3.15 does not have it.
        monkeypatch.setattr(threading, "_start_new_thread", start, raising=False)
        yield running


def address_of(server: Server) -> str:
    """The address with a name, which has to be looked up."""
    return server.address.replace("127.0.0.1", "localhost")


def test_a_blocking_client(server: Server, tmp_path: Path) -> None:
    """One call, and many at once, run in the caller's thread."""
    with Client(address_of(server), store=tmp_path / "stats.sqlite") as client:
        assert client.stats.get(QUERY).pageviews == 3
        assert len(client.stats.get_many([QUERY] * 5).collect().succeeded) == 5


def test_an_async_client(server: Server, tmp_path: Path) -> None:
    """Look-ups and the store run in the loop's thread."""

    async def main() -> None:
        async with AsyncClient(address_of(server), store=tmp_path / "stats") as client:
            assert (await client.stats.get(DAY)).pageviews == 3
            outcomes = await client.stats.get_many([QUERY] * 5).collect()
            assert len(outcomes.succeeded) == 5

    asyncio.run(main())
