"""Routes: what an error says of the proxy on the way, and which certificates count."""

from __future__ import annotations

import socket

import pytest

from loopback import AUTHORITY, Connection, contexts, polite, serve
from sender_variants import ADD, open_sender
from sitestats._common.errors import (
    ConnectionFailedError,
    RequestTimeoutError,
)


def test_a_proxy_gets_nothing_that_is_for_the_service(variant: str) -> None:
    """A proxy behind TLS is neither shown the certificate of the client nor trusted by
    the authorities that are for the service.
    """
    behind, ours = contexts("localhost")
    AUTHORITY.issue_cert("client.example").configure_cert(ours)
    with (
        serve(polite, behind) as proxy,
        open_sender(
            variant, "http://stats.example", proxy=proxy.address, verify=ours
        ) as sender,
        pytest.raises(ConnectionFailedError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        sender.send()
    assert proxy.requests == []


def test_a_dead_proxy_is_named(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of a proxy that is not there names it, and where it is from."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    address = f"http://user:p4ssw0rd@127.0.0.1:{port}"
    settings = {"proxy": address, "from_environment": frozenset({"proxy"})}
    with (
        open_sender(variant, "https://stats.example", **settings) as sender,
        pytest.raises(ConnectionFailedError) as caught,
    ):
        sender.send(ADD)
    assert str(caught.value).startswith(
        "could not connect to https://stats.example:443: the proxy "
        f"http://127.0.0.1:{port} (HTTPS_PROXY or ALL_PROXY): "
    )
    assert not caught.value.maybe_sent


def test_a_proxy_that_does_not_respond_is_named(variant: str) -> None:
    """The error of a proxy that is silent names it."""

    def silent(connection: Connection) -> None:
        connection.wait()
        connection.wait()

    with (
        serve(silent) as proxy,
        open_sender(variant, "https://stats.example", proxy=proxy.address) as sender,
        pytest.raises(RequestTimeoutError) as caught,
    ):
        sender.send(ADD, timeout=0.05)
    assert str(caught.value).startswith(
        f"no way by the proxy {proxy.address} to https://stats.example:443 within"
    )
    assert not caught.value.maybe_sent


def test_a_proxy_that_is_silent(variant: str) -> None:
    """The total timeout includes setting up the tunnel."""

    def silent(connection: Connection) -> None:
        connection.request()
        connection.drip(b"HTTP/1.1 200 Go on\r\nX: " + b"x" * 3000)

    with (
        serve(silent) as proxy,
        open_sender(variant, "https://stats.example", proxy=proxy.address) as sender,
        pytest.raises(RequestTimeoutError, match="before total_timeout"),
    ):
        sender.send(total=0.1)
