"""Overhead that a request avoids: URL parsing, tracing, reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from loopback import polite, serve
from sender_variants import SyncSender, settings_for

from query_strategies import queries
from sitestats import AsyncClient, Client, StatsQuery
from sitestats._common.wire import HttpRequest
from sitestats._protocol.requests import stats_request
from sitestats._query.builder import requested
from sitestats._transport.connection import PooledConnection
from sitestats._transport.httpx_private import joined

BASES = st.sampled_from(
    [
        ("https://stats.example", ""),
        ("http://[::1]:8080", "/api-root"),
        ("https://stats.example:8443", "/a%20b/c"),
    ]
)


def same(ours: httpx.URL, theirs: httpx.URL) -> bool:
    """Whether two URLs are equal in all that httpx reads of them."""
    return (
        ours == theirs
        and str(ours) == str(theirs)
        and ours.raw_path == theirs.raw_path
        and ours.params == theirs.params
        and (ours.raw_scheme, ours.raw_host, ours.port, ours.userinfo)
        == (theirs.raw_scheme, theirs.raw_host, theirs.port, theirs.userinfo)
    )


@settings(max_examples=50)
@given(BASES, st.from_regex(r"/[!-~é]{0,20}(\?[!-~é]{0,20})?", fullmatch=True))
@example(("https://stats.example", ""), "/a/../b.json?c=d")
@example(("https://stats.example", ""), "/.json")
@example(("https://stats.example", ""), "/a%2fb%zz")
@example(("https://stats.example", ""), "/a?b?c#d")
@example(("https://stats.example", ""), "//evil.example/")
def test_a_joined_address_is_the_parsed_one(base: tuple[str, str], target: str) -> None:
    """A URL that was joined equals the one that httpx parses."""
    ours = joined(httpx.URL("".join(base)), base[1], target)
    assert ours is None or same(ours, httpx.URL("".join(base) + target))


@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
@settings(max_examples=30)
@given(BASES, queries())
def test_no_query_is_parsed(base: tuple[str, str], query: StatsQuery) -> None:
    """The URL of every query is joined without parsing, and equals the parsed one."""
    target = stats_request(requested(query)).target
    ours = joined(httpx.URL("".join(base)), base[1], target)
    if "/." not in requested(query).address:
        assert ours is not None
        assert same(ours, httpx.URL("".join(base) + target))


def test_an_address_that_is_too_long_is_parsed() -> None:
    """A URL that is too long is parsed, so httpx refuses it with its own message."""
    base = httpx.URL("https://stats.example")
    assert joined(base, "", "/" + "a" * 70_000) is None


def test_another_httpx_parses() -> None:
    """With an httpx whose URLs differ inside, they are parsed."""
    stranger: Any = object()
    assert joined(stranger, "", "/a") is None


def test_a_used_connection_is_not_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request on a kept connection traces its connection once only."""
    traced: list[str] = []
    trace = PooledConnection[Any].trace

    def counted(self: PooledConnection[Any], event: str, info: dict[str, Any]) -> None:
        traced.append(event)
        trace(self, event, info)

    monkeypatch.setattr(PooledConnection, "trace", counted)
    with serve(polite) as server:
        blocking = SyncSender(settings_for(server.address), None)
        try:
            blocking.send(HttpRequest("GET", "/first"))
            assert any("connect_tcp.complete" in event for event in traced)
            traced.clear()
            blocking.send(HttpRequest("GET", "/second"))
        finally:
            blocking.close()
    assert len({event.rpartition(".")[0] for event in traced}) == 1


class Canned(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport that responds without a network."""

    ANSWER = b'{"ok":true,"hostname":"example.com","pageviews":66}'

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=httpx.ByteStream(self.ANSWER))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=httpx.ByteStream(self.ANSWER))


@pytest.fixture
def kept() -> Iterator[Callable[[], list[object]]]:
    """Our objects that the garbage collection had to free."""

    def collected() -> list[object]:
        gc.collect()
        ours = [one for one in gc.garbage if type(one).__module__.startswith(OURS)]
        gc.garbage.clear()
        return ours

    gc.collect()
    gc.disable()
    gc.freeze()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield collected
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.unfreeze()
        gc.enable()


OURS = ("sitestats", "httpx")
QUERY = StatsQuery("example.com").fields("pageviews")


def test_a_call_leaves_no_cycles(kept: Callable[[], list[object]]) -> None:
    """A sync call leaves no reference cycle for the garbage collection."""
    with Client("https://stats.example", transport=Canned()) as client:
        client.stats.get(QUERY)
        kept()
        for _ in range(3):
            client.stats.get(QUERY)
        assert kept() == []


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_awaited_call_leaves_no_cycles(
    kept: Callable[[], list[object]], backend: str
) -> None:
    """An async call leaves no reference cycle, on both loops."""

    async def main() -> list[object]:
        async with AsyncClient("https://stats.example", transport=Canned()) as client:
            await client.stats.get(QUERY)
            kept()
            for _ in range(3):
                await client.stats.get(QUERY)
            return kept()

    assert anyio.run(main, backend=backend) == []
