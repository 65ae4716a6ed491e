"""The one private name of httpx in use, and sending without it."""

from __future__ import annotations

import httpx
import pytest

from broken_servers import BROKEN
from loopback import Connection, serve
from sender_variants import ADD, open_sender
from sitestats._common.errors import ConnectionFailedError, RequestTimeoutError
from sitestats._transport import http_transport


def test_httpx_sends_by_its_pool() -> None:
    """The installed version of httpx, the lowest as the newest, has the private name by
    which a transport sends.
    """
    assert http_transport._HAS_POOL
    for kind in (httpx.HTTPTransport, httpx.AsyncHTTPTransport):
        assert hasattr(kind(verify=False), "_pool")


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of httpx that sends by something else."""
    monkeypatch.setattr(http_transport, "_HAS_POOL", False)
    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", None)
    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", None)


@pytest.mark.usefixtures("unknown")
def test_without_the_name_requests_are_sent(variant: str) -> None:
    """A version of httpx without that name sends over one connection as before."""

    def script(connection: Connection) -> None:
        while connection.request():
            connection.respond(b"{}", 200, "A: b")

    with serve(script) as server, open_sender(variant, server.address) as sender:
        for _ in range(3):
            response = sender.send()
            assert (response.status, response.body) == (200, b"{}")
            assert response.headers["a"] == "b"
    assert server.connections == 1


@pytest.mark.usefixtures("unknown")
@pytest.mark.parametrize("fault", ["cuts the body", "resets within the headers"])
def test_without_the_name_faults_are_ours(variant: str, fault: str) -> None:
    """A fault of the network is the same error, and so is a limit."""
    with (
        serve(BROKEN[fault]) as server,
        open_sender(variant, server.address) as sender,
        pytest.raises(ConnectionFailedError) as caught,
    ):
        sender.send(ADD)
    assert caught.value.maybe_sent


@pytest.mark.usefixtures("unknown")
def test_without_the_name_limits_hold(variant: str) -> None:
    """A call ends within its limit while a server drips."""

    def drip(connection: Connection) -> None:
        connection.request()
        connection.drip(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 3000)

    with (
        serve(drip) as server,
        open_sender(variant, server.address) as sender,
        pytest.raises(RequestTimeoutError, match="before total_timeout"),
    ):
        sender.send(total=0.1)
