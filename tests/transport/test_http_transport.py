"""The transports of httpx: what is replaced in them, and what stays."""

from __future__ import annotations

from typing import Any

import httpcore
import httpx
import pytest

from sender_variants import open_sender
from sitestats import AsyncHTTPTransport, HTTPTransport
from sitestats._common.errors import ConfigurationError
from sitestats._transport.http_transport import send_along
from sitestats._transport.route import Route
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


@pytest.mark.parametrize(("kind", "pool"), KINDS)
def test_the_name_of_the_pool_does_not_matter(kind: Any, pool: type) -> None:
    """In a version of httpx with another name for its pool, that is the one."""
    transport = kind()
    is_blocking = kind is HTTPTransport
    other = httpcore.ConnectionPool if is_blocking else httpcore.AsyncConnectionPool
    vars(transport).clear()
    transport.connections = other()
    send_along(transport, Route(None, verify=True))
    assert {name: type(it) for name, it in vars(transport).items()} == {
        "connections": pool
    }


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
