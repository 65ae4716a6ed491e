"""Byte streams: which address is connected to, and handshakes of TLS."""

from __future__ import annotations

import socket
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from broken_servers import silent
from loopback import Connection, Script, contexts, polite, resolving, serve
from sender_variants import open_sender
from sitestats._common.errors import ConnectionFailedError, RequestTimeoutError


def info(address: str, port: int) -> tuple[Any, ...]:
    """An address as ``getaddrinfo`` gives it."""
    return (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))


@contextmanager
def full_port() -> Iterator[int]:
    """A port of this machine that drops whoever wants to connect."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        for _ in range(4):
            sock = socket.socket()
            sock.setblocking(False)  # noqa: FBT003 - its only argument
            sock.connect_ex(listener.getsockname())
            waiting.append(sock)
        try:
            yield listener.getsockname()[1]
        finally:
            for sock in waiting:
                sock.close()


@pytest.mark.skipif(sys.platform != "linux", reason="others refuse at a full port")
def test_dead_addresses_share_one_limit(variant: str) -> None:
    """A thousand addresses that drop connections end in the limit of a call."""
    with full_port() as port:
        addresses = [info("127.0.0.1", port)] * 1000
        with (
            resolving(lambda: addresses),
            open_sender(variant, "http://many.test") as sender,
            pytest.raises(RequestTimeoutError) as caught,
        ):
            sender.send(total=0.5)
    assert not caught.value.maybe_sent


@pytest.mark.skipif(sys.platform != "linux", reason="others refuse at a full port")
def test_a_dead_address_does_not_hide_a_good_one(variant: str) -> None:
    """The next address is tried while the one before has not connected."""
    with serve(polite) as server, full_port() as port:
        addresses = [info("127.0.0.1", port), info("127.0.0.1", server.port)]
        with (
            resolving(lambda: addresses),
            open_sender(variant, "http://many.test") as sender,
        ):
            assert sender.send().status == 200


def test_a_refusing_address_is_passed_over(variant: str) -> None:
    """What is refused at once costs nothing, and the last refusal is reported."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        refusing = closed.getsockname()[1]
    with serve(polite) as server:
        addresses = [info("127.0.0.1", refusing), info("127.0.0.1", server.port)]
        with (
            resolving(lambda: addresses),
            open_sender(variant, "http://many.test") as sender,
        ):
            assert sender.send().status == 200
    with (
        resolving(lambda: [info("127.0.0.1", refusing)] * 2),
        open_sender(variant, "http://many.test") as sender,
        pytest.raises(ConnectionFailedError, match="refused"),
    ):
        sender.send()


pytestmark = pytest.mark.slow


def handshakes_slowly(connection: Connection) -> None:
    """Do a TLS handshake a byte at a time."""
    # The header of a record of 4,000 bytes.
    connection.drip(b"\x16\x03\x03\x0f\xa0" + bytes(4000))


@pytest.mark.parametrize("script", [silent, handshakes_slowly])
def test_a_handshake_ends_within_the_total_limit(variant: str, script: Script) -> None:
    """A slow handshake ends at the total timeout, and nothing was sent."""
    with (
        serve(script) as server,
        open_sender(variant, f"https://127.0.0.1:{server.port}") as sender,
        pytest.raises(RequestTimeoutError, match="before total_timeout") as caught,
    ):
        sender.send(total=0.1)
    assert not caught.value.maybe_sent


def test_a_silent_handshake_is_no_connection(variant: str) -> None:
    """A silent handshake ends after timeout, as connecting does."""
    with (
        serve(silent) as server,
        open_sender(variant, f"https://127.0.0.1:{server.port}") as sender,
        pytest.raises(RequestTimeoutError, match="no connection to") as caught,
    ):
        sender.send(timeout=0.05)
    assert not caught.value.maybe_sent


def test_tls_errors_have_readable_reasons() -> None:
    """The message has the reason of the TLS library."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with (
        serve(polite, context) as server,
        open_sender("blocking", server.address) as sender,
        pytest.raises(ConnectionFailedError, match=r"(?i)handshake|alert"),
    ):
        sender.send()


@pytest.mark.parametrize("ending", ["said", "cut"])
def test_a_body_without_a_length_ends_by_an_alert(variant: str, ending: str) -> None:
    """Over TLS a body that lasts until the end is whole where that end was announced:
    anybody on the way can close a connection.
    """
    behind, trusting = contexts("localhost")

    def script(connection: Connection) -> None:
        connection.request()
        connection.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}")
        if ending == "said":
            sock: Any = connection._sock
            sock.settimeout(1)
            with suppress(OSError):
                sock.unwrap()

    with (
        serve(script, behind) as server,
        open_sender(variant, server.address, verify=trusting) as sender,
    ):
        if ending == "said":
            assert sender.send().body == b"{}"
        else:
            with pytest.raises(ConnectionFailedError, match="EOF"):
                sender.send()
