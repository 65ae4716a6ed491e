"""Overhead that a request avoids: URL parsing, tracing, reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_strategies import queries
from sitestats import AsyncClient, Client, StatsQuery
from sitestats._query.builder import requested

BASES = st.sampled_from(
    [
        ("https://stats.example", ""),
        ("http://[::1]:8080", "/api-root"),
        ("https://stats.example:8443", "/a%20b/c"),
    ]
)


@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
@given(BASES, queries())
def test_a_query_is_sent_as_httpx_would(
    base: tuple[str, str], query: StatsQuery
) -> None:
    """A query has the target that httpx would send, though nothing parses it."""
    target = requested(query).request.target
    if "/." not in requested(query).address:
        url = httpx.URL("".join(base) + target)
        assert url.raw_path.decode("ascii") == base[1] + target


class Canned(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport that responds without a network."""

    BODY = b'{"ok":true,"hostname":"example.com","pageviews":66}'

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=httpx.ByteStream(self.BODY))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=httpx.ByteStream(self.BODY))


@pytest.fixture
def unfreed() -> Iterator[Callable[[], list[object]]]:
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
        gc.enable()


OURS = ("sitestats", "httpx")
QUERY = StatsQuery("example.com").fields("pageviews")


def test_a_call_leaves_no_cycles(unfreed: Callable[[], list[object]]) -> None:
    """A sync call leaves no reference cycle for the garbage collection."""
    http = httpx.Client(transport=Canned())
    with Client("https://stats.example", http_client=http) as client:
        client.stats.get(QUERY)
        unfreed()
        for _ in range(3):
            client.stats.get(QUERY)
        assert unfreed() == []


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_awaited_call_leaves_no_cycles(
    unfreed: Callable[[], list[object]], backend: str
) -> None:
    """An async call leaves no reference cycle, on both loops."""

    async def main() -> list[object]:
        http = httpx.AsyncClient(transport=Canned())
        async with AsyncClient("https://stats.example", http_client=http) as client:
            await client.stats.get(QUERY)
            unfreed()
            for _ in range(3):
                await client.stats.get(QUERY)
            return unfreed()

    assert anyio.run(main, backend=backend) == []
