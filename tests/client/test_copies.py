"""Copies by ``with_options``: each is closed for itself, the last closes for all."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from both_clients import QUERY, VARIANTS, opened
from loopback import Server, counting, serve, wait_until
from sitestats import AsyncClient, Client, ClientClosedError, StatsQuery


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that responds to each request."""
    with serve(counting) as server:
        yield server


def all_are_closed(server: Server) -> bool:
    """Whether clients have closed all of their connections."""
    return all(connection.closed for connection in server.open)


@pytest.mark.parametrize("variant", VARIANTS)
def test_leaving_the_block_of_a_copy_ends_the_copy_alone(
    variant: str, server: Server
) -> None:
    """Its calls raise; the client goes on, over the same connection."""
    with opened(variant, server.address) as client:
        assert client.stats.get(QUERY).pageviews == 3
        with client.with_options(timeout=9.0) as copy:
            assert copy.stats.get(QUERY).pageviews == 3
        with pytest.raises(ClientClosedError, match="was closed"):
            copy.stats.get(QUERY)
        with pytest.raises(ClientClosedError, match="was closed"):
            copy.with_options(retries=0)
        assert client.stats.get(QUERY).pageviews == 3
    assert server.connections == 1


def test_the_last_open_client_closes_the_connections(server: Server) -> None:
    """A copy goes on after the client that it is of, and then closes for both."""
    client = Client(server.address, proxy=None)
    copy = client.with_options(timeout=9.0)
    client.stats.get(QUERY)
    client.close()
    with pytest.raises(ClientClosedError):
        client.stats.get(QUERY)
    assert copy.stats.get(QUERY).pageviews == 3
    assert not all_are_closed(server)
    copy.close()
    copy.close()
    wait_until(lambda: all_are_closed(server))
    assert server.connections == 1


def test_a_block_of_a_copy_alone_leaks_nothing(server: Server) -> None:
    """In ``with Client(…).with_options(…)`` the copy is the last of its client."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Client(server.address, proxy=None).with_options(timeout=9.0) as copy:
            gc.collect()
            assert copy.stats.get(QUERY).pageviews == 3
        wait_until(lambda: all_are_closed(server))
        with pytest.raises(ClientClosedError):
            copy.stats.get(QUERY)

        async def main() -> None:
            client = AsyncClient(server.address, proxy=None)
            async with client.with_options(timeout=9.0) as copy:
                del client
                await copy.stats.get(QUERY)

        asyncio.run(main())
        wait_until(lambda: all_are_closed(server))
        gc.collect()


def test_a_copy_that_is_collected_closes_what_it_was_the_last_to_use(
    server: Server,
) -> None:
    """Nothing warns of a copy whose client was closed: that is what blocks are for."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Client(server.address, proxy=None) as client:
            copy = client.with_options(timeout=9.0)
            copy.stats.get(QUERY)
        del copy
        gc.collect()
        wait_until(lambda: all_are_closed(server))


@pytest.mark.parametrize("kept", ["copy", "API"])
def test_what_outlives_its_block_does_not_warn(kept: str, server: Server) -> None:
    """A copy of a copy whose block was left, and an API whose client is gone and that
    is still used.
    """

    def end_block() -> Client:
        with Client(server.address, proxy=None).with_options(timeout=9.0) as copy:
            other = copy.with_options(retries=0)
            other.stats.get(QUERY)
            return other

    def drop_client() -> Any:
        client = Client(server.address, proxy=None)
        client.stats.get(QUERY)
        return client.stats

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if kept == "copy":
            end_block().stats.get(QUERY)
            gc.collect()
            return
        api = drop_client()
        assert api.get(QUERY).pageviews == 3
    with pytest.warns(ResourceWarning, match="never closed"):
        del api


def test_copies_of_copies_use_no_memory_for_those_that_are_gone() -> None:
    """A program may replace its client by a copy as often as it likes."""
    client = Client("https://analytics.example", proxy=None)

    def replace() -> int:
        nonlocal client
        for _ in range(200):
            client = client.with_options(retries=1)
        gc.collect()
        return len(gc.get_objects())

    assert replace() + 100 > replace()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_hundred_handlers_with_copies_of_their_own(
    variant: str, server: Server
) -> None:
    """Each has a block of a copy, beside running calls; none ends another's call."""
    with (
        opened(variant, server.address, max_connections=8) as client,
        ThreadPoolExecutor(16) as pool,
    ):

        def handle(number: int) -> Any:
            if number % 4 == 0:
                return client.stats.get(QUERY).pageviews
            with client.with_options(timeout=9.0 + number) as copy:
                return copy.stats.get(QUERY).pageviews

        assert [*pool.map(handle, range(100))] == [3] * 100
        assert client.stats.get(QUERY).pageviews == 3
        assert server.connections <= 8


def test_a_closed_copy_uses_no_store(server: Server, tmp_path: Path) -> None:
    """What is stored is not for a client that was closed either."""
    past = StatsQuery("example.com").fields("pageviews").on("2026-03-01")
    with Client(server.address, proxy=None, store=tmp_path / "store") as client:
        copy = client.with_options(timeout=9.0)
        copy.stats.get(past)
        copy.close()
        with pytest.raises(ClientClosedError):
            copy.stats.get(past)
        assert client.stats.get(past).pageviews == 3
