"""Overhead that a request avoids: URL parsing, tracing, reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from both_clients import QUERY, WITH_TRIO, opened
from query_strategies import queries
from sitestats import StatsQuery
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


@pytest.mark.parametrize("variant", WITH_TRIO)
def test_a_call_leaves_no_cycles(
    variant: str, unfreed: Callable[[], list[object]]
) -> None:
    """A call leaves no reference cycle for the garbage collection."""
    with opened(variant) as client:
        client.stats.get(QUERY)
        unfreed()
        for _ in range(3):
            client.stats.get(QUERY)
        assert unfreed() == []
