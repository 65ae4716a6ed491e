"""The transports of httpx: what is replaced in them, and what stays."""

from __future__ import annotations

from typing import Any

import httpcore
import httpx
import pytest

from loopback import polite, serve
from sender_variants import open_sender
from sitestats import AsyncHTTPTransport, HTTPTransport
from sitestats._common.errors import ConfigurationError
from sitestats._transport.slot_pools import AsyncSlotPool, SlotPool

KINDS = (HTTPTransport, SlotPool), (AsyncHTTPTransport, AsyncSlotPool)


@pytest.mark.parametrize(("kind", "pool"), KINDS)
def test_the_pool_of_httpx_is_replaced(kind: Any, pool: type) -> None:
    """In the installed version of httpx, the lowest as the newest, ours is the one
    pool of a transport, and the methods that others patch are those of httpx.
    """
    pools = [
        value
        for value in vars(kind()).values()
        if isinstance(value, (httpcore.ConnectionPool, httpcore.AsyncConnectionPool))
    ]
    assert [type(one) for one in pools] == [pool]
    assert not {"handle_request", "handle_async_request"} & set(vars(kind))


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of httpx that has another name for its pool."""
    renamed = property(
        lambda self: self.connections,
        lambda self, pool: setattr(self, "connections", pool),
    )
    for kind in (httpx.HTTPTransport, httpx.AsyncHTTPTransport):
        monkeypatch.setattr(kind, "_pool", renamed, raising=False)


@pytest.mark.usefixtures("renamed")
def test_the_name_of_the_pool_does_not_matter(variant: str) -> None:
    """A version of httpx with another name for it sends over our slots."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        for _ in range(3):
            assert sender.send().status == 200
        assert sender.sender._pool.is_open
    assert server.connections == 1


def test_without_a_pool_nothing_is_sent(
    monkeypatch: pytest.MonkeyPatch, variant: str
) -> None:
    """A version of httpx without one is refused when a client is made: by another way
    a request would go past mocks, or past limits.
    """

    def init(self: Any, **options: Any) -> None:
        pass

    for kind in (httpx.HTTPTransport, httpx.AsyncHTTPTransport):
        monkeypatch.setattr(kind, "__init__", init)
    with (
        pytest.raises(ConfigurationError, match=rf"httpx {httpx.__version__} sends"),
        open_sender(variant, "http://127.0.0.1:9"),
    ):
        pass
